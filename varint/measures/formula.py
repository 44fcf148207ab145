"""FORMULA: a function that a user wrote of the poses of n bodies (mathematics/formulas/), m.

    g(x_1, R_1, ..., x_n, R_n),    one measure for each pair of its bodies, or for its only body and the world

Their sum has the value and the whole gradient: the first has the value, and all pairs of a body have the same share of
the gradient by it, as the rows of a sum must not be zero to have one effort (step/closure_nodes.py). The curvature of a
pair has the mixed derivatives by its two bodies whole, and a share of those by one body twice. What poses the function
gets, and which part a measure is, stands in `plan.formulas`; there are no numbers.
"""

from dataclasses import dataclass

from varint.base.numba import njit
from varint.mathematics.formulas.sweeps import (
    change_of_gradient,
    evaluate_formula,
    gradient_of_pull,
    move_formula,
    pull_value,
    result_of,
)
from varint.mathematics.formulas.trace import Formula
from varint.mathematics.vectors import add, vector, write
from varint.measures.base import Measure, Numbers, register

NO_CHANGE = 0.0, 0.0, 0.0


@njit
def formula(plan, ws, m, position, rotation, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py.

    ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    pull_value(table, work, f, table.share[part], False)
    for k in range(6):
        G_a[k] = G_b[k] = 0.0
    for s in range(2):
        i = table.end[part, s]
        if i >= 0:
            linear, angular = gradient_of_pull(work.pull, i, rotation[table.body[table.body_first[f] + i]])
            write(G_a if s == 0 else G_b, linear, angular)
    return result_of(table, work, f, 0) if table.leads[part] else 0.0


@njit
def curve_formula(plan, ws, m, position, rotation, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py. ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    for k in range(6):
        out_a[k] = out_b[k] = 0.0
    for moved in range(2):
        if table.end[part, moved] < 0:
            continue
        motion = motions[0] if moved == 0 else motions[1]
        move_formula(table, work, f, rotation, table.end[part, moved], motion)
        for s in range(2):
            i = table.end[part, s]
            if i < 0:
                continue
            pull_value(table, work, f, table.share[part] if s == moved else 1.0, True)
            turn = vector(motion[3:]) if s == moved else NO_CHANGE
            R = rotation[table.body[table.body_first[f] + i]]
            linear, angular = change_of_gradient(work, i, R, turn)
            out = out_a if s == 0 else out_b
            write(out, add(vector(out), linear), add(vector(out[3:]), angular))


@njit
def formula_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Return zero: there are no numbers to add derivatives of to ``by``, and its weight is always one."""
    return 0.0


@dataclass(frozen=True, eq=False)
class FormulaMeasure(Measure):
    """A part of the function ``formula`` of the poses of ``bodies``, see the top of this file.

    ``ends``: numbers of body a and body b among them, -1 for the world; ``share``: of the derivatives by either that it
    has; ``leads``: whether it has the value.
    """

    bodies: tuple[str, ...]
    formula: Formula
    ends: tuple[int, int]
    share: float
    leads: bool

    rare = True
    bends = True
    of_three = True

    def numbers(self, A, x_a, B, x_b):
        return Numbers()


@dataclass(frozen=True, eq=False)
class PoseFormula(FormulaMeasure):
    """A value of poses, m."""

    kind = "formula"


register("formula", formula, curve_formula, formula_numbers, PoseFormula)
