"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The momenta on both sides of a node differ by the impulse of the rows there, which is as large on either side as its
piece of a step. Without it they are those of the velocity at the node, without a projection. What the kinetic energy
gained from node to node beyond the work of loads, forces, impacts and constraints of forces came from nowhere.
"""

from varint._numba import njit
from varint.algebra.vectors import dot, rotate, sub, vector
from varint.kernels.dense import add_scaled6

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


@njit
def add_impact(ws, work):
    """After an impact of that work, J, which left momenta that the rows do not forbid."""
    balance = ws.balance
    balance.due[0] += work
    balance.works[0] += work
    balance.size[0] = 0.0


@njit
def weigh_node(plan, ws, start, h):
    """Judge the step that ended at the node, with the pose ``start``, where a solved piece of ``h`` seconds begins.

    The energy that came from nowhere in that step is its jump.
    """
    balance = ws.balance
    share = balance.size[0] / (h + balance.size[0])  # of the piece before the node in the impulses of the rows there
    kinetic, driven = _kinetic(plan, ws, start, share), 0.0
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        driven += share * ws.multiplier[r] * ws.efforts.target_rate[r]
    jump = kinetic - balance.kinetic[0] - balance.due[0] - driven if balance.started[0] else 0.0
    balance.error[0] += jump
    exchanged = abs(balance.load[0])
    for e in range(ws.efforts.work.size):
        exchanged += abs(ws.efforts.work[e])
    balance.scale[0] = max(balance.scale[0], max(kinetic, exchanged))
    if not (abs(jump) <= LARGEST_JUMP * balance.scale[0] and abs(balance.error[0]) <= LARGEST_ERROR * balance.scale[0]):
        balance.error[0] = 0.0
        if balance.unresolved[0] < 0:
            balance.unresolved[0] = _most_changed(plan, ws.history[-1, 0], ws.velocity)
    balance.kinetic[0], balance.due[0] = kinetic, -driven
    balance.at_node[0], balance.started[0] = False, True


@njit
def add_piece(ws, h, load):
    """After a piece of a step of ``h`` seconds, in which loads did the work ``load``, J."""
    balance, works = ws.balance, 0.0
    for e in range(ws.efforts.work.size):
        works += ws.efforts.work[e]
    balance.due[0] += works - balance.works[0] + load
    balance.works[0] = works
    balance.load[0] += load
    balance.size[0] = h


@njit
def _kinetic(plan, ws, start, share):
    """J, at a node: ``share`` of the impulses of the rows at its pose is of the piece before it."""
    nb, momentum = plan.bodies.mass.size, ws.increment_body
    for i in range(nb):
        for k in range(6):
            momentum[i, k] = ws.momentum[i, k]
    for j in range(plan.joints.side.shape[0]):
        near, far = plan.joints.side[j, 0], plan.joints.side[j, 1]
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if ws.compliance[r] > 0.0:
                continue
            impulse = share * ws.multiplier[r]
            if near != nb:
                add_scaled6(momentum[near], impulse, ws.jacobian[start, r, 0])
            if far != nb:
                add_scaled6(momentum[far], impulse, ws.jacobian[start, r, 1])
    kinetic = 0.0
    for i in range(nb):
        line, turn = vector(momentum[i]), vector(momentum[i, 3:])
        kinetic += dot(line, line) / plan.bodies.mass[i] + dot(turn, rotate(plan.bodies.inverse_inertia[i], turn))
    return 0.5 * kinetic


@njit
def _most_changed(plan, before, after):
    """Slot of the body with the largest kinetic energy of the change of its velocity (nb, 6)."""
    worst, largest = 0, -1.0
    for i in range(plan.bodies.mass.size):
        line, turn = sub(vector(after[i]), vector(before[i])), sub(vector(after[i, 3:]), vector(before[i, 3:]))
        energy = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        if energy > largest:
            worst, largest = i, energy
    return worst
