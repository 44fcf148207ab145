"""Rows of users' functions of poses (measures/formula.py) where rows between two bodies have shorter ways."""

import numpy as np

from varint.base.numba import Float3, indirect, njit
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


def _sizes(plan, stages):
    """Return the sizes of the scratch: the most operations and results of a function."""
    formulas = plan.formulas
    ends = {"operations": formulas.first, "outputs": formulas.output_first}
    return {name: int(np.diff(first).max(initial=0)) for name, first in ends.items()}


FORMULAS = Role(lambda plan: plan.formulas.formula.size, derivatives={"curve": add_curved_formulas}, sizes=_sizes)
