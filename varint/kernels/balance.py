"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The momenta on both sides of a node differ by the impulse of the rows there, which is as large on either side as its
piece of a step. Without it they are those of the velocity at the node, as far as rows and forces change little from
one piece to the next: an estimate of the kinetic energy that needs no projection. Where it leaves a doubt the momenta
are projected. What the energy gained since the start beyond the work of loads, forces, impacts and constraints of
forces is its error. The part of it that comes back, the oscillation of steps of one size, is taken off.

Each component is judged by itself: bodies that joints or forces connect, other than through the world. A change of its
error within the recent steps is compared with the work in these steps, not with that since the start:
the work of a motor and of its brake grows with time, and what is small beside it may be large for the motion.
"""

from varint._numba import njit
from varint.algebra.vectors import add, cross, dot, rotate, scale, sub, vector
from varint.kernels.dense import add_scaled6
from varint.kernels.momentum import angular_momentum
from varint.kernels.projection import project

LARGEST_CHANGE = 0.006  # within the recent steps, of the largest kinetic energy so far or the work in these steps
LARGEST_ERROR = 0.05  # since the start or the last unresolved step, of the largest kinetic energy or work so far
RECENT = 6  # nodes
DOUBT = 0.5  # share of these from which on the kinetic energy is found by a projection
SLOWEST = 1e-5  # of the size of the parts in a step: slower motions are not judged


@njit
def start_balance(plan, ws, dt, before):
    """Initialise at the first node, with steps of ``dt``; ``before``: size of the step that led there, s, or zero."""
    balance = ws.balance
    for c in range(balance.error.size):
        balance.largest[c] = balance.load[c] = balance.due[c] = 0.0
    for i in range(plan.bodies.mass.size):
        balance.largest[plan.bodies.component[i]] += (
            0.5 * plan.bodies.mass[i] * (SLOWEST * plan.bodies.length[0] / dt) ** 2
        )
    for c in range(balance.error.size):
        balance.scale[c] = balance.largest[c]
    balance.dt[0], balance.size[0], balance.at_node[0] = dt, before, True


@njit
def copy_balance(balance, to):
    """Copy all fields but ``redo``, which a run keeps, and scratch."""
    to.at_node[0], to.nodes[0], to.smooth[0] = balance.at_node[0], balance.nodes[0], balance.smooth[0]
    to.dt[0], to.size[0], to.alike[0] = balance.dt[0], balance.size[0], balance.alike[0]
    to.unresolved[0] = balance.unresolved[0]
    for c in range(balance.error.size):
        to.kinetic[0, c], to.kinetic[1, c], to.due[c] = balance.kinetic[0, c], balance.kinetic[1, c], balance.due[c]
        to.load[c], to.loaded[c], to.error[c] = balance.load[c], balance.loaded[c], balance.error[c]
        to.oscillation[c], to.bend[c], to.scale[c] = balance.oscillation[c], balance.bend[c], balance.scale[c]
        to.largest[c], to.exchange[c] = balance.largest[c], balance.exchange[c]
        for k in range(RECENT):
            to.recent[c, 0, k], to.recent[c, 1, k] = balance.recent[c, 0, k], balance.recent[c, 1, k]
    for e in range(balance.acted.size):
        to.works[e], to.acted[e] = balance.works[e], balance.acted[e]


@njit
def add_event(plan, ws, element, work):
    """Account for an event of that work, J, of an element, which left momenta that the rows do not forbid."""
    balance = ws.balance
    balance.due[plan.elements.component[element]] += work
    balance.works[element] += work
    balance.size[0], balance.smooth[0] = 0.0, 0


@njit
def weigh_node(plan, ws, start, h):
    """Update the energy residuals at the node with the pose ``start``, and judge those of the node before.

    A solved piece of ``h`` seconds begins at the node.
    """
    # With T the kinetic energy at a node, W the work since the node before (``due`` and ``driven``), of a component:
    #   residual_n = residual_n-1 + T_n - (T_n-1 + W)
    # T is estimated from the impulses of the rows. If that leaves a doubt, the momenta are projected and T is exact.
    balance, before, projected = ws.balance, ws.balance.size[0], False
    share = before / (h + before)  # part of the impulses of the rows at the node that belongs to the piece before it
    _estimate(plan, ws, start, h, share)
    for c in range(balance.error.size):
        balance.driven[c] = 0.0
    for k in range(plan.constraints.row.size):
        r, c = plan.constraints.row[k], plan.elements.component[plan.constraints.element[k]]
        balance.driven[c] += share * ws.multiplier[r] * ws.efforts.target_rate[r]
    _scale(plan, ws)
    composed = ws.history.shape[0] > 1  # such steps have little to come back
    for c in range(balance.error.size):
        kinetic, driven = balance.present[c], balance.driven[c]
        expected = kinetic if balance.nodes[0] == 0 else balance.kinetic[0, c] + balance.due[c] + driven
        error = balance.error[c] + kinetic - expected
        if not _resolved(balance, c, error, _oscillation(balance, c, kinetic), DOUBT, False):
            if not projected:
                project(plan, ws, start)
                _energy_of_projected(plan, ws)
                projected = True
            kinetic = balance.projected[c]
            error = balance.error[c] + kinetic - expected
        balance.oscillation[c] = _oscillation(balance, c, kinetic)
        if balance.nodes[0] > 1:
            error += _judge(plan, ws, c)
        balance.kinetic[1, c], balance.kinetic[0, c], balance.due[c] = balance.kinetic[0, c], kinetic, -driven
        balance.error[c], balance.bend[c] = error, 0.0
    balance.alike[0] = 0.0
    if not composed:
        _bend(plan, ws, ws.history[0, 0], ws.velocity, h)
        balance.alike[0] = h * before / balance.dt[0] ** 2
    balance.at_node[0] = False
    balance.nodes[0] += 1
    balance.smooth[0] += 1


@njit
def _scale(plan, ws):
    """Update the energies that errors are compared with, at a node of the present kinetic energies."""
    # ``total`` (work since the start) is summed in ``projected``, which is free until momenta are projected
    balance = ws.balance
    for c in range(balance.error.size):
        balance.projected[c] = abs(balance.load[c])
        balance.exchange[c] = (1.0 - 1.0 / RECENT) * balance.exchange[c] + abs(balance.load[c] - balance.loaded[c])
        balance.loaded[c] = balance.load[c]
    for e in range(ws.efforts.work.size):
        c, work = plan.elements.component[e], ws.efforts.work[e]
        balance.projected[c] += abs(work)
        balance.exchange[c] += abs(work - balance.acted[e])
        balance.acted[e] = work
    for c in range(balance.error.size):
        balance.largest[c] = max(balance.largest[c], balance.present[c])
        balance.scale[c] = max(balance.scale[c], max(balance.present[c], balance.projected[c]))


@njit
def _judge(plan, ws, c):
    """Judge the error of component c at the last node; returns what is added to its errors from now on, J."""
    balance = ws.balance
    error, oscillation, recent = balance.error[c], balance.oscillation[c], balance.recent[c]
    if balance.nodes[0] == 2:  # the first oscillation that is known is taken for that at the start
        _start_anew(balance, c)
    if _resolved(balance, c, error, oscillation, 1.0, True):
        for k in range(RECENT - 1, 0, -1):
            recent[0, k], recent[1, k] = recent[0, k - 1], recent[1, k - 1]
        recent[0, 0], recent[1, 0] = error, error - oscillation
        return 0.0
    if balance.unresolved[0] < 0:
        balance.unresolved[0] = _most_changed(plan, ws.history[-1, 1], c)
    _start_anew(balance, c)
    return -error


@njit
def _start_anew(balance, c):
    """Reset the energy residual of component c at the recent nodes to the present oscillation."""
    for k in range(RECENT):
        balance.recent[c, 0, k], balance.recent[c, 1, k] = 0.0, -balance.oscillation[c]


@njit
def _resolved(balance, c, error, oscillation, part, lasting):
    """Whether an error of component c, J, or what its oscillation leaves of it, is small.

    ``part``: of the bound of its change. ``lasting``: whether a change counts only where the node before has changed
    by as much.
    """
    left, recent = error - oscillation, balance.recent[c]
    before, left_before = (recent[0, 0], recent[1, 0]) if lasting else (error, left)
    change = min(_change(error, before, recent[0]), _change(left, left_before, recent[1]))
    small = change <= part * LARGEST_CHANGE * max(balance.largest[c], balance.exchange[c])
    return small and min(abs(error), abs(left)) <= LARGEST_ERROR * balance.scale[c]


@njit
def _change(value, before, recent):
    """The largest change, from one of the recent values, that ``value`` and the one before it share."""
    largest = 0.0
    for k in range(RECENT):
        a, b = value - recent[k], before - recent[k]
        largest = max(largest, max(min(a, b), -max(a, b)))
    return largest


@njit
def _oscillation(balance, c, kinetic):
    """Part of the energy residual of component c at the last node that comes back, J.

    ``kinetic``: its kinetic energy at the present node, J.

    About an impact it is the last that was known.
    """
    if balance.smooth[0] < 2:
        return balance.oscillation[c]
    bend = kinetic - 2.0 * balance.kinetic[0, c] + balance.kinetic[1, c]
    return balance.alike[0] * bend / 12.0 - balance.bend[c] / 24.0


@njit
def _bend(plan, ws, before, after, h):
    """Add to ``bend`` twice the kinetic energy of the change of all points' velocities, (nb, 6), at a node."""
    for i in range(plan.bodies.mass.size):
        line, turn = sub(vector(after[i]), vector(before[i])), sub(vector(after[i, 3:]), vector(before[i, 3:]))
        w, J = scale(0.5, add(vector(after[i, 3:]), vector(before[i, 3:]))), plan.bodies.inertia[i]
        spin = rotate(J, w)
        bend = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(J, turn))
        bend += h * (2.0 * dot(turn, cross(w, spin)) + h * dot(w, w) * dot(w, spin))
        ws.balance.bend[plan.bodies.component[i]] += bend


@njit
def add_piece(plan, ws, h):
    """Account for a piece of a step of ``h`` seconds; the work of its loads is there already, see `add_load`."""
    balance = ws.balance
    for e in range(ws.efforts.work.size):
        balance.due[plan.elements.component[e]] += ws.efforts.work[e] - balance.works[e]
        balance.works[e] = ws.efforts.work[e]
    balance.size[0] = h


@njit
def add_load(plan, ws, i, work):
    """Account for the work of the load on body i in a piece of a step, J."""
    c = plan.bodies.component[i]
    ws.balance.due[c] += work
    ws.balance.load[c] += work


@njit
def leave_energy(plan, ws, pose, k):
    """Write the kinetic energies at a pose less all work since the start to ``left[k]``: steps should keep them."""
    project(plan, ws, pose)
    _energy_of_projected(plan, ws)
    left, component = ws.balance.left[k], plan.elements.component
    for c in range(left.size):
        left[c] = ws.balance.projected[c] - ws.balance.load[c]
    for e in range(ws.efforts.work.size):
        left[component[e]] -= ws.efforts.work[e]
    for n in range(plan.constraints.row.size):
        r = plan.constraints.row[n]
        left[component[plan.constraints.element[n]]] -= ws.increment_row[r] * ws.efforts.target_rate[r]


@njit
def is_off(ws):
    """Whether `leave_energy` left, of any component, values that differ by more than a step should make."""
    balance = ws.balance
    for c in range(balance.error.size):
        scale = max(balance.largest[c], balance.exchange[c])
        if not abs(balance.left[1, c] - balance.left[0, c]) <= LARGEST_CHANGE * scale:
            return True
    return False


@njit
def _estimate(plan, ws, start, h, share):
    """Estimate ``present``, J, at the node; ``share`` of the impulses of its rows belongs to the piece before it."""
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
    present = ws.balance.present
    for c in range(present.size):
        present[c] = 0.0
    for i in range(nb):
        line, turn = vector(momentum[i]), vector(momentum[i, 3:])
        kinetic = dot(line, line) / plan.bodies.mass[i] + dot(turn, rotate(plan.bodies.inverse_inertia[i], turn))
        present[plan.bodies.component[i]] += 0.5 * kinetic


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
    """Write the kinetic energies with the velocities (nb, 6) that `project` left to ``projected``, J."""
    projected = ws.balance.projected
    for c in range(projected.size):
        projected[c] = 0.0
    for i in range(plan.bodies.mass.size):
        v = ws.increment_body[i]
        line, turn = vector(v), vector(v[3:])
        kinetic = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        projected[plan.bodies.component[i]] += 0.5 * kinetic


@njit
def _most_changed(plan, change, c):
    """Slot of the body of component c with the largest kinetic energy of the change (nb, 6) of its velocity."""
    worst, largest = 0, -1.0
    for i in range(plan.bodies.mass.size):
        line, turn = vector(change[i]), vector(change[i, 3:])
        energy = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        if plan.bodies.component[i] == c and energy > largest:
            worst, largest = i, energy
    return worst
