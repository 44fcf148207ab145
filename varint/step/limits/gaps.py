"""Gaps of hard limits at a pose."""

from varint.base.numba import Float1, Float2, Float3, njit
from varint.step.configuration import follow_measured
from varint.step.limits.rows import gap_near
from varint.step.plan import Plan, Workspace


@njit(seconds=1, what="hard stops in reduced coordinates")
def evaluate_gaps(plan: Plan, ws: Workspace, position: Float2, rotation: Float3, gap: Float1, gradient: Float3) -> None:
    """Write the gaps of all limits at a pose to ``gap`` (nl,), m or rad.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3): the pose. ``gradient`` (nl, 2, 6): written, those of their
    measures, by the motions of the two bodies. Turns of measured coordinates are followed to this pose.
    """
    follow_measured(plan, ws, position, rotation)
    for n in range(plan.limits.measure.size):
        near = ws.efforts.value_near[plan.limits.measure[n]]
        gap[n] = gap_near(plan, ws, n, near, position, rotation, gradient[n])
