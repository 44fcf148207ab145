"""Steps that follow the motion and stay reversible (Hairer and Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838).

A step is ``dt / z`` seconds long. Its density z follows the function

    Z = sqrt(1 + (dt W / turn)^2),    W^8 = sum of |w|^8 over the bodies

of the angular velocities w, rad/s. W is close to the |w| of the fastest body, so a step takes at most about ``dt``, and
turns that body by at most about ``turn``, rad.

With z = Z at a node, a run whose velocities are turned round would not take the same steps back. So z belongs to the
interval between two nodes, and at each node ``dt`` times the rate of log Z there is added to it. The rate changes its
sign with the velocities, so the same densities follow backward. Where z and Z are more than a factor FARTHEST apart, z
is set anew from Z, and the run cannot be turned round beyond that node.
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

FARTHEST = 2.0  # largest ratio between z and Z, either way


@indirect(seconds=3, what="adaptive steps")
def start_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """Write the density of the first step to ``ws.pace``, from the state at the first node; ``dt`` in s."""
    square, rate = _density(plan, ws, pose)
    followed = math.sqrt(square)
    ws.pace.density[0] = max(followed + 0.5 * dt * rate, followed / FARTHEST)


@indirect(seconds=3, what="adaptive steps")
def keep_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """Replace the density in ``ws.pace`` by that of the next step, from the state at the node before; ``dt`` in s."""
    square, rate = _density(plan, ws, pose)
    density, followed = ws.pace.density[0], math.sqrt(square)
    if not followed <= FARTHEST * density <= FARTHEST * FARTHEST * followed:
        density = followed - 0.5 * dt * rate
    ws.pace.density[0] = max(density + dt * rate, followed / FARTHEST)


@njit
def _density(plan, ws, pose):
    """Z^2 and the rate of log Z, 1/s, at the node with that pose.

    The rate needs accelerations: those of the rows, laws and loads there. ``ws.base`` holds the velocities for them,
    ``ws.goal`` the loads, ``ws.increment_body`` the accelerations; the Jacobian of the other pose is scratch.
    """
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
