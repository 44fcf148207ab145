"""Mechanisms that joints lock, which a run shows as one that reached its end and never moved."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import LockedWarning
from varint.model.forces.commanded import Commanded

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

STILL = 1e-9  # m of size 1 m, m/s and rad/s: a body that stays within moved by round-off


def locked_message(trajectory: "RecordedMotion") -> str | None:
    """Return the warning if nothing moved though a commanded force acts, since joints allow no motion; else None."""
    mechanism, last = trajectory.mechanism, len(trajectory) - 1
    acting = [force for force in mechanism.forces if isinstance(force, Commanded) and not force.constraint]
    if not acting or trajectory.is_driven or last < 1:
        return None
    first, end = trajectory[0], trajectory[last]
    moved = np.abs(end.position - first.position).max(), np.abs(end.quat_wxyz - first.quat_wxyz).max()
    if max(*moved, np.abs(end.velocity).max(), np.abs(end.angular_velocity).max()) > STILL:
        return None
    if mechanism.diagnose(first).mobility > 0:
        return None
    return (
        f"mechanism '{mechanism.name}' did not move, though {acting[0].label} acts: its joints allow no motion (0"
        " degrees of freedom). An axis that is off by an angle locks a loop; mech.diagnose() lists redundant rows"
    )


def warn_if_locked(trajectory: "RecordedMotion") -> None:
    """Give `locked_message`, if there is one, as a LockedWarning."""
    message = locked_message(trajectory)
    if message is not None:
        warnings.warn(message, LockedWarning, stacklevel=level_of_user())
