"""Sub-steps in which momenta along strong dampers relax after an impact (docs/theory.md section 10).

An impact changes momenta at once, and a damper c on an inertia m ends the change along it within some m / c. Meanwhile
bodies that it presses onto a limit may rebound from it, which no step much longer than m / c sees. After an impact
beside such a damper, c h / m > STRONG in the step of h seconds, sub-steps therefore begin with FIRST m / c and grow
by GROWTH (restart.py), up to the step, or to the next impact. Where a step ends before, the next one goes on with them.
"""

import math

from varint.base.numba import indirect, njit
from varint.step.damping.choice import find_strengths, rate_along, slope_now
from varint.step.plan import Plan, Workspace

STRONG = 2.0  # c h / m from which on a step is divided
FIRST = 0.1  # of m / c: the first sub-step
SHORTEST = 1e-8  # of the step: below, velocities times the size of a sub-step are round-off of positions
STILL = 1e-9  # of the size of a part, or rad per m of it: what moves less in the step has nothing to relax


@indirect(seconds=1, what="strong damping")
def first_share(plan: Plan, ws: Workspace, pose: int, h: float) -> float:
    """Return the share of a step of ``h`` s that the sub-step after an impact at a pose has; 1 for all that is left.

    ``pose``: number of the pose. c / m is the sum of the rates at which the efforts of ``ws.damping`` end motions along
    themselves, of the bodies in their joints and closed limits; of efforts along which nothing moves zero. Uses
    ``ws.increment_body`` (nb, 6).
    """
    damping = ws.damping
    if damping.count[0] == 0:
        return _share(damping.strongest[0])
    find_strengths(plan, ws, pose, h)
    strength = 0.0
    for n in range(damping.count[0]):
        if h * abs(rate_along(plan, ws, n)) > STILL * plan.bodies.length[0]:
            strength += h * slope_now(plan, ws, n, h) * damping.size[n, n]
    return _share(strength)


@njit
def _share(strength):
    """Return the share of a step with c h / m ``strength``, a power of two: derivatives of runs have no terms by it."""
    return 1.0 if strength <= STRONG else 2.0 ** math.floor(math.log2(max(FIRST / strength, SHORTEST)))
