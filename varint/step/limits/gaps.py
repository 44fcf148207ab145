"""Gaps of hard limits at a pose."""

from varint.base.numba import Float1, Float2, Float3, njit
from varint.mathematics.vectors import continued
from varint.step.configuration import follow_measured
from varint.step.measures import measure_at
from varint.step.plan import Plan, Workspace


@njit(seconds=1, what="hard stops in reduced coordinates")
def evaluate_gaps(plan: Plan, ws: Workspace, position: Float2, rotation: Float3, gap: Float1, gradient: Float3) -> None:
    """Write the gaps of all limits at a pose to ``gap`` (nl,), m or rad.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3): the pose. ``gradient`` (nl, 2, 6): written, those of their
    measures, by the motions of the two bodies. Turns of measured coordinates are followed to this pose.
    """
    follow_measured(plan, ws, position, rotation)
    for n in range(plan.limits.measure.size):
        m = plan.limits.measure[n]
        value = measure_at(plan, ws, m, position, rotation, gradient[n])
        value = continued(plan.measures.period[m], ws.efforts.value_near[m], value)
        gap[n] = plan.limits.sign[n] * (plan.limits.value[n] - value)
