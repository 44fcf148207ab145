"""Steps that follow the motion and stay reversible (Hairer and Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838).

The size of a step is ``dt / z``. The density z lives between the nodes and changes at each node by a function of the
state there, ``dt`` times the logarithmic rate of

    sqrt(1 + (dt W / turn)^2),    W^8 = sum of |w|^8 over the bodies,

so it follows this function of the angular velocities, and with the velocities turned round it takes the same values
backward. A step is then at most about ``dt`` long, and turns the fastest body by about ``turn``. The power of eight
lets the fastest body decide. Where a step was too long for the rate to tell what became of the function, z is set
anew from the state, and the run cannot be turned round beyond that node.
"""

import math

from varint._numba import indirect, njit
from varint.kernels.laws import evaluate_laws
from varint.kernels.loads import evaluate_loads
from varint.kernels.newton import has_efforts
from varint.kernels.nodes import add_efforts
from varint.kernels.plan import Plan, Workspace
from varint.kernels.projection import project
from varint.kernels.reactions import accelerate

FARTHEST = 2.0  # factor between z and what it follows


@indirect(seconds=3, what="adaptive steps")
def start_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """The density of the first step, from the state at the first node."""
    square, rate = _density(plan, ws, pose)
    followed = math.sqrt(square)
    ws.pace.density[0] = max(followed + 0.5 * dt * rate, followed / FARTHEST)


@indirect(seconds=3, what="adaptive steps")
def keep_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """The density of the next step, from the state at the node behind a step."""
    square, rate = _density(plan, ws, pose)
    density, followed = ws.pace.density[0], math.sqrt(square)
    if not followed <= FARTHEST * density <= FARTHEST * FARTHEST * followed:
        density = followed - 0.5 * dt * rate
    ws.pace.density[0] = max(density + dt * rate, followed / FARTHEST)


@njit
def _density(plan, ws, pose):
    """The square of the density that z follows, and its logarithmic rate, 1/s, at a node."""
    nb, velocity = plan.bodies.mass.size, ws.base
    project(plan, ws, pose)
    for i in range(nb):
        for k in range(6):
            velocity[i, k] = ws.increment_body[i, k]
            ws.goal[i, k] = ws.load[i, k]
    if has_efforts(plan):
        evaluate_laws(plan, ws, ws.position[pose], ws.rotation[pose], velocity, 0.0)
        evaluate_loads(plan, ws, ws.rotation[pose], velocity)
        add_efforts(plan, ws.efforts, ws.goal)
    for i in range(nb):
        for k in range(6):
            ws.increment_body[i, k] = ws.goal[i, k]
    accelerate(plan, ws, pose, ws.pace.rows, velocity, ws.pace.bend, ws.jacobian[1 - pose])
    total = change = 0.0
    for i in range(nb):
        w, a = velocity[i], ws.increment_body[i]
        square = w[3] * w[3] + w[4] * w[4] + w[5] * w[5]
        total += square**4
        change += square**3 * (w[3] * a[3] + w[4] * a[4] + w[5] * a[5])
    if total == 0.0:
        return 1.0, 0.0
    factor = ws.pace.factor[0] * ws.pace.factor[0]
    density = 1.0 + factor * total**0.25
    return density, factor * total**-0.75 * change / density
