"""Hard limits in the way of a motion: of a start which comes back from beyond others, or of prescribed motions."""

import numpy as np

from varint.methods.variational.march import March
from varint.step.limits.gaps import evaluate_gaps

NEAR = 4.0  # steps of the fastest body: a limit that is met within these may hold a start back


def blocked_limits(march: March) -> list[int]:
    """Return the elements of limits where a start comes back, and of others that may hold it back; else [].

    The others are closed, or near.
    """
    returns = (march.ws.efforts.floor < 0.0) | np.isnan(march.ws.search.rate)
    return met_limits(march, returns) if march.comes_back and returns.any() else []


def met_limits(march: March, others: np.ndarray | bool = False) -> list[int]:
    """Return the elements of limits that are closed or near, and of ``others`` (nl,)."""
    plan, ws = march.compiled.plan, march.ws
    gaps, state = march.gaps.copy(), march.state()
    evaluate_gaps(plan, ws, ws.position[0], ws.rotation[0], gaps, np.zeros((gaps.size, 2, 6)))
    spin = np.abs(state.angular_velocity).max() * max(1.0, march.compiled.length)
    reach = NEAR * march.dt * max(np.abs(state.velocity).max(), spin)
    return plan.limits.element[others | ws.efforts.closed | (gaps <= reach)].tolist()
