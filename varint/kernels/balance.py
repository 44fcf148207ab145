"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The velocity at a node lies between those of the pieces of steps on both its sides, nearer to that of the shorter one.
So its kinetic energy is known without a projection, once the first piece of the next step is solved. What it gained
beyond the work of loads, forces, impacts and constraints of forces came from nowhere.

A body that turns steadily by the quaternion (c, h w / 2) in a step has the angular momentum c J w at the nodes, so that
its angular velocity there is c w.
"""

import math

from varint._numba import njit
from varint.algebra.vectors import dot, rotate, sub, vector

LARGEST_JUMP = 0.025  # of the scale, the largest kinetic energy or work so far: in one step ...
LARGEST_ERROR = 0.05  # ... and in all since the start, or since the last step that was not resolved
SLOWEST = 1e-5  # of the size of the parts in a step: slower motions are not judged


@njit
def start_balance(plan, ws, dt, before):
    """At the first node, with steps of ``dt``; ``before``: the size of the step that led there, s, zero for none."""
    balance, mass = ws.balance, 0.0
    for i in range(plan.bodies.mass.size):
        mass += plan.bodies.mass[i]
    balance.scale[0] = 0.5 * mass * (SLOWEST * plan.bodies.length[0] / dt) ** 2
    balance.size[0], balance.at_node[0], balance.started[0] = before, True, False
    _keep_velocity(ws, ws.velocity, 0.5 * before)


@njit
def _cosine(v, half_step):
    """Scalar part of the rotation in a piece with the velocity (6,)."""
    return math.sqrt(1.0 - half_step * half_step * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]))


@njit
def _keep_velocity(ws, velocity, half_step):
    """Take the velocities (nb, 6) of a piece on the left of a node, or with zero for its size those of the node."""
    for i in range(velocity.shape[0]):
        c = _cosine(velocity[i], half_step)
        for k in range(3):
            ws.balance.velocity[i, k] = velocity[i, k]
            ws.balance.velocity[i, 3 + k] = c * velocity[i, 3 + k]


@njit
def end_step(ws):
    """The next piece is the first of a step."""
    ws.balance.at_node[0] = True
    _keep_velocity(ws, ws.velocity, 0.5 * ws.balance.size[0])


@njit
def add_impact(ws, velocity, work):
    """After an impact of that work, J, which left the velocities (nb, 6)."""
    balance = ws.balance
    balance.due[0] += work
    balance.along[0] += work
    balance.size[0] = 0.0
    _keep_velocity(ws, velocity, 0.0)


@njit
def add_piece(plan, ws, h, load):
    """After a piece of a step of ``h`` seconds, in which loads did the work ``load``, J.

    The first piece of a step gives the jump of the step before it: the energy that came from nowhere in it.
    """
    balance = ws.balance
    along, of_constraints, size = _works(plan, ws)
    change = of_constraints - balance.of_constraints[0]
    if balance.at_node[0]:
        share = h / (h + balance.size[0])
        balance.due[0] += (1.0 - share) * change  # an impulse at the node is of both its sides
        change *= share
        _weigh(plan, ws, h, share, size)
    balance.due[0] += along - balance.along[0] + change + load
    balance.along[0], balance.of_constraints[0] = along, of_constraints
    balance.load[0] += load
    balance.size[0] = h


@njit
def _works(plan, ws):
    """Works (J) since the start: of all elements but constraints, of these, and the sum of the sizes of all."""
    work, total, of_constraints, size = ws.efforts.work, 0.0, 0.0, 0.0
    for e in range(work.size):
        total += work[e]
        size += abs(work[e])
    for c in range(plan.constraints.row.size):
        of_constraints += work[plan.constraints.element[c]]
    return total - of_constraints, of_constraints, size


@njit
def _weigh(plan, ws, h, share, size):
    """Judge the step that ended at the node where a piece of ``h`` seconds began.

    ``share``: of the piece before it in the velocities there; ``size``: sum of the works of elements, J.
    """
    balance = ws.balance
    kinetic = _kinetic(plan, balance.velocity, ws.velocity, 0.5 * h, share)
    jump = kinetic - balance.kinetic[0] - balance.due[0] if balance.started[0] else 0.0
    balance.error[0] += jump
    balance.scale[0] = max(balance.scale[0], max(kinetic, abs(balance.load[0]) + size))
    if not (abs(jump) <= LARGEST_JUMP * balance.scale[0] and abs(balance.error[0]) <= LARGEST_ERROR * balance.scale[0]):
        balance.error[0] = 0.0
        if balance.unresolved[0] < 0:
            balance.unresolved[0] = _most_changed(plan, balance.velocity, ws.velocity)
    balance.kinetic[0], balance.due[0] = kinetic, 0.0
    balance.at_node[0], balance.started[0] = False, True


@njit
def _kinetic(plan, before, after, half_step, share):
    """J, between velocities (nb, 6) on both sides of a node: ``share`` of those before it, the rest of those after."""
    kinetic = 0.0
    for i in range(plan.bodies.mass.size):
        a, b, J = before[i], after[i], plan.bodies.inertia[i]
        rest = 1.0 - share
        x, y, z = share * a[0] + rest * b[0], share * a[1] + rest * b[1], share * a[2] + rest * b[2]
        kinetic += plan.bodies.mass[i] * (x * x + y * y + z * z)
        rest *= _cosine(b, half_step)
        x, y, z = share * a[3] + rest * b[3], share * a[4] + rest * b[4], share * a[5] + rest * b[5]
        kinetic += J[0, 0] * x * x + J[1, 1] * y * y + J[2, 2] * z * z
        kinetic += 2.0 * (J[0, 1] * x * y + J[0, 2] * x * z + J[1, 2] * y * z)
    return 0.5 * kinetic


@njit
def _most_changed(plan, before, after):
    """Slot of the body with the largest kinetic energy of the change of its velocity."""
    worst, largest = 0, -1.0
    for i in range(plan.bodies.mass.size):
        line, turn = sub(vector(after[i]), vector(before[i])), sub(vector(after[i, 3:]), vector(before[i, 3:]))
        energy = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        if energy > largest:
            worst, largest = i, energy
    return worst
