"""Steps that follow the motion and stay reversible (Hairer and Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838).

A step is ``dt / z`` seconds long. Its density z follows the function

    Z = sqrt(1 + (dt / turn)^2 (W^2 + S^2))
    W^8 = sum of (|w|^4 + |a|^2)^2 over the bodies and the directions of rods
    S^2 = A^2 / (V^2 + 2 WAY L M A)

of the angular velocities w, rad/s, and accelerations a, rad/s^2. W is close to the |w| or the sqrt(|a|) of the body for
which it is largest, so a step takes at most about ``dt`` and turns no body by much more than ``turn``, rad. V^2 and A^2
are sums over all points, of mass times the square of their velocity and of their acceleration: S is the share of all
velocities that changes in a second, which is large where a mechanism passes next to a singular pose. M^2 is the mass of
all and L the size of a part: where everything stands still for an instant, the speed is taken from the way WAY L.

With z = Z at a node, a run whose velocities are turned round would not take the same steps back. So z belongs to the
interval between two nodes, and at each node log z changes by what log Z does over a step there: a difference of two
states before and after the node, to which velocities and accelerations at the node lead. It changes its sign with the
velocities, so the same densities follow backward. Where z and Z are more than a factor FARTHEST apart, z is set anew
from Z, and the run cannot be turned round beyond that node.
"""

import math

from varint.base.numba import Float2, indirect, njit
from varint.mathematics.quaternion import advance
from varint.mathematics.vectors import add, cross, dot, rotate, scale, vector
from varint.step.configuration import place, place_anew
from varint.step.laws import evaluate_laws
from varint.step.loads import evaluate_loads
from varint.step.nodes.efforts import add_efforts
from varint.step.nodes.reactions import accelerate
from varint.step.plan import Plan, Workspace
from varint.step.projection import project
from varint.step.restart import copy_start
from varint.step.rows import clear_rows

FARTHEST = 2.0  # largest ratio between z and Z, either way
MOST = 0.7  # largest change of log z at a node
NEAR = 1e-3  # of a step, from a node to the states whose difference is taken
WAY = 0.01  # of the size of a part


@indirect(seconds=1, what="adaptive steps")
def start_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """Write the density of the first step to ``ws.pace.density`` (1,), from the state at the first node; ``dt`` in s.

    ``pose``: number of the pose at the node, 0 or 1.
    """
    followed, change = _density(plan, ws, pose, dt)
    ws.pace.density[0] = followed * math.exp(0.5 * change)


@indirect(seconds=1, what="adaptive steps")
def keep_pace(plan: Plan, ws: Workspace, pose: int, dt: float) -> None:
    """Replace the density in ``ws.pace`` by that of the next step, from the state at the node before; ``dt`` in s.

    ``ws.pace.density`` (1,); ``pose``: number of the pose at the node, 0 or 1.
    """
    followed, change = _density(plan, ws, pose, dt)
    density = ws.pace.density[0]
    if not followed <= FARTHEST * density <= FARTHEST * FARTHEST * followed:
        density = followed * math.exp(-0.5 * change)
    ws.pace.density[0] = max(density * math.exp(change), followed / FARTHEST)


@njit
def _density(plan, ws, pose, dt):
    """Return Z at the node with that pose, and the change of log Z over a step there, no larger than MOST.

    ``pose``: 0 or 1; ``dt`` in s. Leaves the velocities and accelerations (nb, 6) at the node in ``ws.pace``.
    """
    nb, pace = plan.bodies.mass.size, ws.pace
    project(plan, ws, pose)
    for i in range(nb):
        for k in range(6):
            pace.velocity[i, k] = ws.increment_body[i, k]
    square = _square(plan, ws, pose, pace.velocity)
    for i in range(nb):
        for k in range(6):
            pace.acceleration[i, k] = ws.increment_body[i, k]
    followed = math.sqrt(square)
    near = NEAR * dt / followed
    has_products = plan.products.start.size > 0  # whose coordinates follow the poses
    if has_products:
        copy_start(plan, ws, pose, False)
    before = _displaced(plan, ws, pose, -near)
    after = _displaced(plan, ws, pose, near)
    if has_products:
        copy_start(plan, ws, pose, True)
        place(plan, ws, pose)
    change = 0.25 * math.log(after / before) / NEAR
    return followed, MOST * math.tanh(change / MOST)


@njit
def _displaced(plan, ws, pose, span):
    """Return `_square` where velocities and accelerations at a node lead within ``span`` s; overwrite the other pose.

    They are those of ``ws.pace``, (nb, 6); ``pose``: 0 or 1, the one at the node. Negative spans lead backward. The
    other pose is in ``ws.position``, ``ws.quat``; its velocities in ``ws.base``.
    """
    other, half, velocity = 1 - pose, 0.5 * span, ws.base
    for i in range(plan.bodies.mass.size):
        v, a = ws.pace.velocity[i], ws.pace.acceleration[i]
        for k in range(3):
            ws.position[other, i, k] = ws.position[pose, i, k] + span * (v[k] + half * a[k])
        turn = add(vector(v[3:]), scale(half, vector(a[3:])))
        advance(
            ws.quat[pose, i], ws.quat_rest[pose, i], turn[0], turn[1], turn[2], half,
            ws.quat[other, i], ws.quat_rest[other, i],
        )  # fmt: skip
        for k in range(6):
            velocity[i, k] = v[k] + span * a[k]
    place_anew(plan, ws, other)
    clear_rows(plan, ws.released, ws.jacobian[other])
    return _square(plan, ws, other, velocity)


@njit
def _square(plan, ws, pose, velocity):
    """Return Z^2 at a pose with ``velocity`` (nb, 6); the accelerations are left in ``ws.increment_body``."""
    accelerate_node(plan, ws, pose, velocity)
    total = mass = moving = bending = 0.0
    for i in range(plan.bodies.mass.size):
        m, J = plan.bodies.mass[i], plan.bodies.inertia[i]
        v, w = vector(velocity[i]), vector(velocity[i, 3:])
        a, b = vector(ws.increment_body[i]), vector(ws.increment_body[i, 3:])
        total += (dot(w, w) ** 2 + dot(b, b)) ** 2
        mass += m
        moving += m * dot(v, v) + dot(w, rotate(J, w))
        bending += m * dot(a, a) + dot(b, rotate(J, b))
    for n in range(plan.rows.pointing.size):
        rate, bend = _turning(plan, ws, pose, plan.rows.pointing[n], velocity, ws.increment_body)
        total += (rate * rate + bend) ** 2
    square = total**0.25
    if bending > 0.0:
        square += bending / (moving + 2.0 * WAY * plan.bodies.length[0] * math.sqrt(mass * bending))
    return 1.0 + ws.pace.factor[0] ** 2 * square


@indirect(seconds=3, what="accelerations within steps")
def accelerate_node(plan: Plan, ws: Workspace, pose: int, velocity: Float2) -> None:
    """Write accelerations of the rows, laws and loads to ``ws.increment_body``; ``ws.goal`` holds the loads.

    ``velocity`` (nb, 6): m/s, world, and rad/s, body axes; accelerations alike, per second; ``pose``: 0 or 1.
    """
    nb = plan.bodies.mass.size
    for i in range(nb):
        for k in range(6):
            ws.goal[i, k] = ws.load[i, k]
    evaluate_laws(plan, ws, ws.position[pose], ws.rotation[pose], velocity, 0.0)
    evaluate_loads(plan, ws, ws.rotation[pose], velocity)
    add_efforts(plan, ws.efforts, ws.goal)
    for i in range(nb):
        for k in range(6):
            ws.increment_body[i, k] = ws.goal[i, k]
    accelerate(plan, ws, pose, ws.pace.rows, velocity, ws.pace.bend, ws.efforts.curved)


@njit
def sum_of_forces(plan, ws):
    """Return the sum of the sizes of applied and centripetal forces on bodies at a node, N; after `accelerate_node`.

    That was called with the velocities ``ws.pace.velocity`` (nb, 6).
    """
    total, length = 0.0, plan.bodies.length[0]
    for i in range(plan.bodies.mass.size):
        v, w = vector(ws.pace.velocity[i]), vector(ws.pace.velocity[i, 3:])
        total += (plan.bodies.mass[i] * dot(v, v) + dot(w, rotate(plan.bodies.inertia[i], w))) / length
        for k in range(3):
            total += abs(ws.goal[i, k]) + abs(ws.goal[i, 3 + k]) / length
    return total


@njit
def _turning(plan, ws, pose, r, velocity, acceleration):
    """Return squares of rate, 1/s^2, and second rate, 1/s^4, of the line between the points of row r, over its length.

    ``velocity``, ``acceleration`` (nb, 6): of the bodies, m/s, world, and rad/s, body axes, and per second.
    """
    line, rate, second = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    first = plan.measures.first[r]
    for s in range(2):
        i, R = plan.measures.body[r, s], ws.rotation[pose, plan.measures.body[r, s]]
        sign, arm = (-1.0, vector(plan.measures.u[r])) if s == first else (1.0, vector(plan.measures.w[r]))
        line = add(line, scale(sign, add(vector(ws.position[pose, i]), rotate(R, arm))))
        if i == velocity.shape[0]:
            continue
        w, a = vector(velocity[i, 3:]), vector(acceleration[i, 3:])
        moved = cross(w, arm)
        rate = add(rate, scale(sign, add(vector(velocity[i]), rotate(R, moved))))
        bend = add(cross(a, arm), cross(w, moved))
        second = add(second, scale(sign, add(vector(acceleration[i]), rotate(R, bend))))
    size = dot(line, line)
    return dot(rate, rate) / size, dot(second, second) / size
