"""Rows of users' functions (measures/formula.py) where rows between two bodies have shorter ways."""

import numpy as np

from varint.base.numba import Float3, indirect, njit
from varint.mathematics.formulas.sweeps import (
    coefficients_of,
    evaluate_formula,
    gradient_of_pull,
    pull_results,
)
from varint.mathematics.quaternion import multiply
from varint.mathematics.vectors import add, cross, rotate, rotate_back, scale, sub, vector, write
from varint.step.measures import weighted_curvature
from varint.step.plan import Plan, Workspace
from varint.step.role import Role


@njit
def is_formula(plan, r):
    """Return whether row r is of a user's function, which depends on more bodies than its two, and on where they are.

    It is no function of their relative pose alone.
    """
    return plan.formulas.formula.size > 0 and plan.formulas.part_of[r] >= 0


@indirect(seconds=1, what="derivatives of users' constraints")
def add_curved_formulas(plan: Plan, ws: Workspace, pose: int, moves: Float3, factor: float, out: Float3) -> None:
    """Add to ``out`` (nb, 6, 8) the changes of the impulses of these rows, times a factor: see `pairs.add_curved`.

    By motions ``moves`` (nb, 6 or more, 8) from the pose. Uses ``ws.efforts.motion`` and ``ws.efforts.change``.
    """
    motion, change = ws.efforts.motion, ws.efforts.change
    for r in range(plan.rows.role.size):
        if plan.formulas.part_of[r] < 0 or ws.released[r] > 0.0 or ws.multiplier[r] == 0.0:
            continue
        for c in range(out.shape[2]):
            for s in range(2):
                i = plan.measures.body[r, s]
                for k in range(6):
                    motion[s, k] = moves[i, k, c] if i < out.shape[0] else 0.0
            weighted_curvature(plan, ws, r, ws.position[pose], ws.rotation[pose], motion, change)
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < out.shape[0]:
                    for k in range(6):
                        out[i, k, c] += factor * ws.multiplier[r] * change[s, k]


@njit
def _turned(ws, start, end, b):
    """Return the turn of the body in slot b over a step, 2 sin(phi / 2) n, world axes, and cos(phi / 2)."""
    q, p = ws.quat[end, b], ws.quat[start, b]
    turn = multiply((q[0], q[1], q[2], q[3]), (p[0], -p[1], -p[2], -p[3]))
    sign = 2.0 if turn[0] >= 0.0 else -2.0  # the shorter rotation
    return (sign * turn[1], sign * turn[2], sign * turn[3]), 0.5 * sign * turn[0]


@indirect(seconds=1, what="users' constraints on velocities")
def evaluate_formula_rate(plan: Plan, ws: Workspace, r: int, start: int, end: int) -> None:
    """Write the value of row r over a step, m, to ``ws.residual_row``, and its derivatives to ``ws.jacobian[end]``.

    With the factors a, b of `FORMULA_RATE` at the start and a', b' at the end, the displacement d of each body and its
    turn t = 2 sin(phi / 2) n: sum_i (a_i + a_i') / 2 . d_i + (b_i + b_i') / 2 . t_i, which changes its sign where start
    and end are exchanged. The first measure of a sum has the value. Scratch: ``ws.formulas.factor`` and ``start``.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[r]
    f, value = table.formula[part], 0.0
    first, count = table.output_first[f], table.body_first[f + 1] - table.body_first[f]
    evaluate_formula(table, work, f, ws.position[start], ws.rotation[start])
    for k in range(6 * count):
        work.start[k] = work.value[table.output[first + k]]
    evaluate_formula(table, work, f, ws.position[end], ws.rotation[end])
    for i in range(count):
        b = table.body[table.body_first[f] + i]
        moved = sub(vector(ws.position[end, b]), vector(ws.position[start, b]))
        turned, _ = _turned(ws, start, end, b)
        for k in range(3):
            work.factor[6 * i + k], work.factor[6 * i + 3 + k] = 0.5 * moved[k], 0.5 * turned[k]
    for k in range(6 * count):
        value += work.factor[k] * (work.start[k] + work.value[table.output[first + k]])
    ws.residual_row[r] = value if table.leads[part] else 0.0
    pull_results(table, work, f, False)
    for s in range(2):
        side = plan.measures.first[r] if s == 0 else 1 - plan.measures.first[r]
        i = table.end[part, s]
        if i < 0:
            continue
        b = table.body[table.body_first[f] + i]
        R = ws.rotation[end, b]
        turned, c = _turned(ws, start, end, b)
        at_end, half = coefficients_of(table, work.value, f, i, R)
        linear, angular = gradient_of_pull(work.pull, i, R)
        before = work.start[6 * i : 6 * i + 6]
        # a turn of the body at the end by dtheta, body axes: dt = c y + t x y / 2 with y = R_start dtheta
        m = scale(0.5, add(vector(before[3:]), rotate(R, half)))
        pushed = add(scale(c, m), scale(0.5, cross(m, turned)))
        linear = add(linear, scale(0.5, add(vector(before), at_end)))
        angular = add(angular, rotate_back(ws.rotation[start, b], pushed))
        share = table.share[part, s]
        write(ws.jacobian[end, r, side], scale(share, linear), scale(share, angular))


def _sizes(plan, stages):
    """Return the sizes of the scratch: the most operations and results of a function."""
    formulas = plan.formulas
    ends = {"operations": formulas.first, "outputs": formulas.output_first}
    return {name: int(np.diff(first).max(initial=0)) for name, first in ends.items()}


FORMULAS = Role(
    lambda plan: plan.formulas.formula.size,
    derivatives={"curve": add_curved_formulas},
    also=lambda plan, stages: (evaluate_formula_rate,),
    sizes=_sizes,
)
