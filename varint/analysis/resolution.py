"""What is said of a run whose steps did not resolve its motion."""

from typing import NamedTuple

from varint.analysis.derived import energy_gap
from varint.analysis.trajectory import Trajectory

FINER = 4  # times smaller steps are proposed


class Unresolved(NamedTuple):
    """Where a motion was not resolved first: at ``time``, s, worst at ``body``; ``message`` says it in full."""

    message: str
    time: float
    body: str


def find_unresolved(trajectory: Trajectory, dt: float) -> Unresolved | None:
    """What is said of a run with steps of ``dt``, s; None where it resolved its motion."""
    times = trajectory.unresolved
    if not times.size:
        return None
    first, count = float(times[0]), times.size
    body = trajectory.mechanism.bodies[int(trajectory.unresolved_body[trajectory.t == first][0])].name
    often = "then alone" if count == 1 else f"at {count} recorded nodes, the last at t = {times[-1]:g} s"
    gap, kinetic = energy_gap(trajectory, first)
    message = (
        f"the steps of '{trajectory.mechanism.name}' did not resolve its motion, first at t = {first:g} s, where the"
        f" velocity of body '{body}' changed most, {often}: energy came or went without work, {gap:.3g} J at most,"
        f" where {kinetic:.3g} J of kinetic energy were there before. The motion is right up to there at best."
        f" Try dt = {dt / FINER:g} s"
    )
    return Unresolved(message, first, body)
