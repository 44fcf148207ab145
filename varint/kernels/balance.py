"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The momenta on both sides of a node differ by the impulse of the rows there, which is as large on either side as its
piece of a step. Without it they are those of the velocity at the node, as far as rows and forces change little from
one piece to the next: an estimate of the kinetic energy that needs no projection. Where it leaves a doubt the momenta
are projected. What the energy gained from node to node beyond the work of loads, forces, impacts and constraints of
forces came from nowhere.
"""

from varint._numba import njit
from varint.algebra.vectors import dot, rotate, sub, vector
from varint.kernels.dense import add_scaled6
from varint.kernels.momentum import angular_momentum
from varint.kernels.projection import project

LARGEST_JUMP = 0.025  # of the scale, the largest kinetic energy or work so far: in one step ...
LARGEST_ERROR = 0.05  # ... and in all since the start, or since the last step that was not resolved
DOUBT = 0.5  # share of these from which on the kinetic energy is found by a projection
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
def copy_balance(balance, to):
    """Copy all fields."""
    to.at_node[0], to.started[0], to.exact[0] = balance.at_node[0], balance.started[0], balance.exact[0]
    to.size[0], to.kinetic[0], to.due[0] = balance.size[0], balance.kinetic[0], balance.due[0]
    to.load[0], to.works[0], to.error[0] = balance.load[0], balance.works[0], balance.error[0]
    to.scale[0], to.unresolved[0] = balance.scale[0], balance.unresolved[0]


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
    kinetic, driven, exact = _estimate(plan, ws, start, h, share), 0.0, share == 0.0
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        driven += share * ws.multiplier[r] * ws.efforts.target_rate[r]
    exchanged = abs(balance.load[0])
    for e in range(ws.efforts.work.size):
        exchanged += abs(ws.efforts.work[e])
    scale = balance.scale[0] = max(balance.scale[0], max(kinetic, exchanged))
    before = balance.kinetic[0] + balance.due[0] + driven if balance.started[0] else kinetic
    jump = kinetic - before
    if not _small(jump, balance.error[0] + jump, DOUBT * scale):
        project(plan, ws, start)
        kinetic, exact = _energy_of_projected(plan, ws), True
        jump = kinetic - before
    balance.error[0] += jump
    if exact and not _small(jump if balance.exact[0] else 0.0, balance.error[0], scale):
        balance.error[0] = 0.0
        if balance.unresolved[0] < 0:
            balance.unresolved[0] = _most_changed(plan, ws.history[-1, 0], ws.velocity)
    balance.kinetic[0], balance.due[0], balance.exact[0] = kinetic, -driven, exact
    balance.at_node[0], balance.started[0] = False, True


@njit
def _small(jump, error, scale):
    """Whether a step with that jump and all of them together, J, are resolved."""
    return abs(jump) <= LARGEST_JUMP * scale and abs(error) <= LARGEST_ERROR * scale


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
def _estimate(plan, ws, start, h, share):
    """Kinetic energy at the node, J: ``share`` of the impulses of the rows at its pose is of the piece before it."""
    nb, momentum = plan.bodies.mass.size, ws.increment_body
    if plan.elements.force.size:
        _add_impulses(plan, ws, start, share)
    else:  # nothing but the rows acts on what the piece starts from
        for i in range(nb):
            v, p = ws.velocity[i], momentum[i]
            angular_momentum(plan.bodies.inertia[i], v[3], v[4], v[5], 0.5 * h, p)
            for k in range(3):
                p[k] = plan.bodies.mass[i] * v[k]
            for k in range(6):
                p[k] = ws.momentum[i, k] + share * (p[k] - ws.goal[i, k])
    kinetic = 0.0
    for i in range(nb):
        line, turn = vector(momentum[i]), vector(momentum[i, 3:])
        kinetic += dot(line, line) / plan.bodies.mass[i] + dot(turn, rotate(plan.bodies.inverse_inertia[i], turn))
    return 0.5 * kinetic


@njit
def _add_impulses(plan, ws, start, share):
    """Momenta at the node and ``share`` of the impulses of the rows, to ``ws.increment_body``."""
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


@njit
def _energy_of_projected(plan, ws):
    """Kinetic energy with the velocities (nb, 6) that `project` wrote, J."""
    kinetic = 0.0
    for i in range(plan.bodies.mass.size):
        v = ws.increment_body[i]
        line, turn = vector(v), vector(v[3:])
        kinetic += plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
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
