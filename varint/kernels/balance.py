"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The momenta on both sides of a node differ by the impulse of the rows there, which is as large on either side as its
piece of a step. Without it they are those of the velocity at the node, as far as rows and forces change little from
one piece to the next: an estimate of the kinetic energy that needs no projection. Where it leaves a doubt the momenta
are projected. What the energy gained since the start beyond the work of loads, forces, impacts and constraints of
forces is its error. The part of it that comes back, the oscillation of steps of one size, is taken off.
"""

from varint._numba import njit
from varint.algebra.vectors import add, cross, dot, rotate, scale, sub, vector
from varint.kernels.dense import add_scaled6
from varint.kernels.momentum import angular_momentum
from varint.kernels.projection import project
from varint.terms.kernels.term_rows import add_pushes, has_contacts, work_at_node, work_before_node

LARGEST_CHANGE = 0.006  # of the scale, the largest kinetic energy or work so far: within the recent steps ...
LARGEST_ERROR = 0.05  # ... and in all since the start, or since the last step that was not resolved
RECENT = 6  # nodes
DOUBT = 0.5  # share of these from which on the kinetic energy is found by a projection
SLOWEST = 1e-5  # of the size of the parts in a step: slower motions are not judged


@njit
def start_balance(plan, ws, dt, before):
    """Initialise at the first node, with steps of ``dt``; ``before``: size of the step that led there, s, or zero."""
    balance, mass = ws.balance, 0.0
    for i in range(plan.bodies.mass.size):
        mass += plan.bodies.mass[i]
    balance.scale[0] = 0.5 * mass * (SLOWEST * plan.bodies.length[0] / dt) ** 2
    balance.dt[0], balance.size[0], balance.at_node[0] = dt, before, True


@njit
def copy_balance(balance, to):
    """Copy all fields but ``redo``, which a run keeps."""
    to.at_node[0], to.nodes[0], to.smooth[0] = balance.at_node[0], balance.nodes[0], balance.smooth[0]
    to.dt[0], to.size[0], to.due[0] = balance.dt[0], balance.size[0], balance.due[0]
    to.kinetic[0], to.kinetic[1] = balance.kinetic[0], balance.kinetic[1]
    to.load[0], to.works[0], to.error[0] = balance.load[0], balance.works[0], balance.error[0]
    to.oscillation[0], to.bend[0], to.alike[0] = balance.oscillation[0], balance.bend[0], balance.alike[0]
    for k in range(RECENT):
        to.recent[0, k], to.recent[1, k] = balance.recent[0, k], balance.recent[1, k]
    to.scale[0], to.unresolved[0] = balance.scale[0], balance.unresolved[0]


@njit
def add_event(ws, work):
    """Account for an event of that work, J, which left momenta that the rows do not forbid."""
    balance = ws.balance
    balance.due[0] += work
    balance.works[0] += work
    balance.size[0], balance.smooth[0] = 0.0, 0


@njit
def weigh_node(plan, ws, start, h):
    """Update the energy residual at the node with the pose ``start``, and judge that of the node before.

    A solved piece of ``h`` seconds begins at the node.
    """
    # With T the kinetic energy at a node, W the work since the node before (``due`` and ``driven``):
    #   residual_n = residual_n-1 + T_n - (T_n-1 + W)
    # T is estimated from the impulses of the rows. If that leaves a doubt, the momenta are projected and T is exact.
    balance, before = ws.balance, ws.balance.size[0]
    share = before / (h + before)  # part of the impulses of the rows at the node that belongs to the piece before it
    kinetic, driven = _estimate(plan, ws, start, h, share), 0.0
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        driven += share * ws.multiplier[r] * ws.efforts.target_rate[r]
    if has_contacts(plan):
        driven += work_before_node(plan, ws, share)
    exchanged = abs(balance.load[0])
    for e in range(ws.efforts.work.size):
        exchanged += abs(ws.efforts.work[e])
    balance.scale[0] = max(balance.scale[0], max(kinetic, exchanged))
    expected = kinetic if balance.nodes[0] == 0 else balance.kinetic[0] + balance.due[0] + driven
    error = balance.error[0] + kinetic - expected
    if not _resolved(balance, error, _oscillation(balance, kinetic), DOUBT, False):
        project(plan, ws, start)
        kinetic = _energy_of_projected(plan, ws)
        error = balance.error[0] + kinetic - expected
    balance.oscillation[0] = _oscillation(balance, kinetic)
    if balance.nodes[0] > 1:
        error += _judge(plan, ws)
    balance.bend[0], balance.alike[0] = 0.0, 0.0
    if ws.history.shape[0] == 1:  # steps that are composed have little to come back
        balance.bend[0] = _bend(plan, ws.history[0, 0], ws.velocity, h)
        balance.alike[0] = h * before / balance.dt[0] ** 2
    balance.kinetic[1], balance.kinetic[0], balance.due[0] = balance.kinetic[0], kinetic, -driven
    balance.error[0], balance.at_node[0] = error, False
    balance.nodes[0] += 1
    balance.smooth[0] += 1


@njit
def _judge(plan, ws):
    """Judge the error at the last node; returns what is added to errors from now on, J."""
    balance = ws.balance
    error, oscillation = balance.error[0], balance.oscillation[0]
    if balance.nodes[0] == 2:  # the first oscillation that is known is taken for that at the start
        _start_anew(balance)
    if _resolved(balance, error, oscillation, 1.0, True):
        for k in range(RECENT - 1, 0, -1):
            balance.recent[0, k], balance.recent[1, k] = balance.recent[0, k - 1], balance.recent[1, k - 1]
        balance.recent[0, 0], balance.recent[1, 0] = error, error - oscillation
        return 0.0
    if balance.unresolved[0] < 0:
        balance.unresolved[0] = _most_changed(plan, ws.history[-1, 1])
    _start_anew(balance)
    return -error


@njit
def _start_anew(balance):
    """Reset the energy residual at the recent nodes to the present oscillation."""
    for k in range(RECENT):
        balance.recent[0, k], balance.recent[1, k] = 0.0, -balance.oscillation[0]


@njit
def _resolved(balance, error, oscillation, part, lasting):
    """Whether an error, J, or what its oscillation leaves of it, is small; ``part`` of the bound of its change.

    ``lasting``: whether a change counts only where the node before has changed by as much.
    """
    left, recent = error - oscillation, balance.recent
    before, left_before = (recent[0, 0], recent[1, 0]) if lasting else (error, left)
    change = min(_change(error, before, recent[0]), _change(left, left_before, recent[1]))
    small = change <= part * LARGEST_CHANGE * balance.scale[0]
    return small and min(abs(error), abs(left)) <= LARGEST_ERROR * balance.scale[0]


@njit
def _change(value, before, recent):
    """The largest change, from one of the recent values, that ``value`` and the one before it share."""
    largest = 0.0
    for k in range(RECENT):
        a, b = value - recent[k], before - recent[k]
        largest = max(largest, max(min(a, b), -max(a, b)))
    return largest


@njit
def _oscillation(balance, kinetic):
    """Part of the energy residual at the last node that comes back, J, given the kinetic energy at the present one.

    About an impact it is the last that was known.
    """
    if balance.smooth[0] < 2:
        return balance.oscillation[0]
    bend = kinetic - 2.0 * balance.kinetic[0] + balance.kinetic[1]
    return balance.alike[0] * bend / 12.0 - balance.bend[0] / 24.0


@njit
def _bend(plan, before, after, h):
    """Twice the kinetic energy, J, of the change of all points' velocities, (nb, 6) before and after a node."""
    bend = 0.0
    for i in range(plan.bodies.mass.size):
        line, turn = sub(vector(after[i]), vector(before[i])), sub(vector(after[i, 3:]), vector(before[i, 3:]))
        w, J = scale(0.5, add(vector(after[i, 3:]), vector(before[i, 3:]))), plan.bodies.inertia[i]
        spin = rotate(J, w)
        bend += plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(J, turn))
        bend += h * (2.0 * dot(turn, cross(w, spin)) + h * dot(w, w) * dot(w, spin))
    return bend


@njit
def add_piece(ws, h, load):
    """Account for a piece of a step of ``h`` seconds, in which loads did the work ``load``, J."""
    balance, works = ws.balance, 0.0
    for e in range(ws.efforts.work.size):
        works += ws.efforts.work[e]
    balance.due[0] += works - balance.works[0] + load
    balance.works[0] = works
    balance.load[0] += load
    balance.size[0] = h


@njit
def left_of_energy(plan, ws, pose):
    """Kinetic energy at a pose less the work of all that acts since the start, J: what steps should not change."""
    project(plan, ws, pose)
    left = _energy_of_projected(plan, ws) - ws.balance.load[0]
    for e in range(ws.efforts.work.size):
        left -= ws.efforts.work[e]
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        left -= ws.increment_row[r] * ws.efforts.target_rate[r]
    if has_contacts(plan):
        left -= work_at_node(plan, ws)
    return left


@njit
def is_off(ws, before, after):
    """Whether `left_of_energy` changed by more than a step should."""
    return not abs(after - before) <= LARGEST_CHANGE * ws.balance.scale[0]


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
    if has_contacts(plan):
        add_pushes(plan, ws, share, momentum)


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
def _most_changed(plan, change):
    """Slot of the body with the largest kinetic energy of the change (nb, 6) of its velocity."""
    worst, largest = 0, -1.0
    for i in range(plan.bodies.mass.size):
        line, turn = vector(change[i]), vector(change[i, 3:])
        energy = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        if energy > largest:
            worst, largest = i, energy
    return worst
