"""The balance of energy from node to node: whether a step resolved the motion (docs/theory.md section 6).

The momenta on both sides of a node differ by the impulse of the rows there, which is as large on either side as its
piece of a step. Without it they are those of the velocity at the node, as far as rows and forces change little from
one piece to the next: an estimate of the kinetic energy that needs no projection. Where it leaves a doubt the momenta
are projected. What the energy gained since the start beyond the work of loads, forces, impacts and constraints of
forces is its error. The part of it that comes back, the oscillation of steps of one size, is taken off.

Each component of the mechanism (bodies that joints or forces connect, other than through the world) is judged by
itself, and a change of its error within the recent steps by the work in these steps. So neither the power that flows
through another component nor the time that a motor has run hides it.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.dense import add_scaled6
from varint.step.momentum import angular_momentum
from varint.step.pair_impulses import pair_impulses
from varint.step.projection import node_works, project
from varint.step.roles import drive_roles

LARGEST_CHANGE = 0.006  # within the recent steps, of the largest kinetic energy so far and the work in these steps ...
LARGEST_ERROR = 0.05  # ... and in all, of the scale, since the start or the last step that was not resolved
RECENT = 6  # nodes
DOUBT = 0.5  # share of these from which on the kinetic energy is found by a projection
SLOWEST = 1e-5  # of the size of the parts in a step: slower motions are not judged


@njit
def start_balance(plan, ws, dt, before):
    """Initialise at the first node, with steps of ``dt``; ``before``: size of the step that led there, s, or zero.

    Writes ``ws.balance``: ``balance.peak``, ``balance.scale``, ``balance.load``, ``balance.size`` and
    ``balance.at_node``.
    """
    balance, parts = ws.balance, plan.components
    for c in range(balance.error.size):
        mass = 0.0
        for n in range(parts.first_body[c], parts.first_body[c + 1]):
            mass += plan.bodies.mass[parts.body[n]]
        balance.peak[c] = 0.5 * mass * (SLOWEST * plan.bodies.length[0] / dt) ** 2
        balance.scale[c] = balance.peak[c]
        balance.load[c] = 0.0
    balance.dt[0], balance.size[0], balance.at_node[0] = dt, before, True


@njit
def weigh_node(plan, ws, start, h):
    """Update the energy residuals at the node with the pose ``start``, and judge the residuals of the node before.

    The node begins a solved piece of ``h`` seconds. Updates ``ws.balance``, and adds energy lost in landings to
    ``ws.efforts.work``.
    """
    # With T the kinetic energy of a component at a node and W the work on it since the node before:
    #   residual_n = residual_n-1 + T_n - (T_n-1 + W)
    # T is estimated from the impulses of the rows. If that leaves a doubt, the momenta are projected and T is exact.
    balance, before, projected = ws.balance, ws.balance.size[0], False
    share = before / (h + before)  # part of the impulses of the rows at the node that belongs to the piece before it
    _add_impulses(plan, ws, start, h, share)
    for c in range(balance.driven.size):
        balance.driven[c] = 0.0
    drive_roles(plan, ws, share)
    if balance.more_inertia[0]:
        project(plan, ws, start)
        projected = True
        for c in range(balance.error.size):
            balance.present[c] = energy_of_projected(plan, ws, c)
    else:
        _energies_of_momenta(plan, ws)
    single = ws.history.shape[0] == 1  # steps that are composed have little to come back
    for c in range(balance.error.size):
        kinetic, driven = balance.present[c], balance.driven[c]
        work, exchanged, total = work_on(plan, ws, ws.efforts.work, c)
        balance.peak[c] = max(balance.peak[c], kinetic)
        balance.scale[c], balance.exchange[c] = max(balance.scale[c], max(kinetic, total)), exchanged
        expected = kinetic if balance.nodes[0] == 0 else balance.kinetic[c, 0] + work + driven - balance.carried[c]
        if balance.landing[c] > 0:
            if not projected:
                project(plan, ws, start)
                projected = True
            kinetic = energy_of_projected(plan, ws, c)
            balance.landing[c] -= 1
            if balance.nodes[0] > 0:
                balance.landed[c] += kinetic - expected
                ws.efforts.work[balance.lander[c]] += kinetic - expected
                expected = kinetic
                if balance.landing[c] == 0:  # energy gained by all of them is an error
                    gained, balance.landed[c] = max(0.0, balance.landed[c]), 0.0
                    ws.efforts.work[balance.lander[c]] -= gained
                    expected -= gained
        error = balance.error[c] + kinetic - expected
        if not is_resolved(balance, c, error, oscillation_of(balance, c, kinetic), DOUBT, False):
            if not projected:
                project(plan, ws, start)
                projected = True
            kinetic = energy_of_projected(plan, ws, c)
            error = balance.error[c] + kinetic - expected
        balance.oscillation[c] = oscillation_of(balance, c, kinetic)
        if balance.nodes[0] > 1:
            error += _judge(plan, ws, c)
        balance.kinetic[c, 1], balance.kinetic[c, 0], balance.carried[c] = balance.kinetic[c, 0], kinetic, driven
        balance.error[c] = error
        balance.bend[c], balance.loaded[c] = 0.0, balance.load[c]
    if single:
        _add_bends(plan, ws.history[0, 0], ws.velocity, h, balance.bend)
    for e in range(balance.acted.size):
        balance.acted[e] = ws.efforts.work[e]
    balance.alike[0] = h * before / balance.dt[0] ** 2 if single else 0.0
    balance.at_node[0] = False
    balance.nodes[0] += 1
    balance.smooth[0] += 1


@njit
def work_on(plan, ws, works, c):
    """Return work on component c since the last node, recent exchange and total exchange, J.

    The exchanges sum the sizes of the parts of the work, of the recent steps and of all. ``works`` (ne,): of all
    elements since the start, J.
    """
    balance, parts = ws.balance, plan.components
    work, total = balance.load[c] - balance.loaded[c], abs(balance.load[c])
    exchanged = abs(work)
    for n in range(parts.first_element[c], parts.first_element[c + 1]):
        e = parts.element[n]
        if works[e] == 0.0 and balance.acted[e] == 0.0:  # pairs of bodies that never touched are many
            continue
        done = works[e] - balance.acted[e]
        work, exchanged, total = work + done, exchanged + abs(done), total + abs(works[e])
    return work, (1.0 - 1.0 / RECENT) * balance.exchange[c] + exchanged, total


@njit
def _judge(plan, ws, c):
    """Judge the error of component c at the last node; return the correction of its later errors, J.

    Updates ``balance.recent``, ``balance.least``, ``balance.most`` and ``balance.unresolved`` of ``ws.balance``.
    """
    balance = ws.balance
    error, oscillation, recent = balance.error[c], balance.oscillation[c], balance.recent[c]
    if balance.nodes[0] == 2:  # the first oscillation that is known is taken for that at the start
        _start_anew(balance, c)
    if is_resolved(balance, c, error, oscillation, 1.0, True):
        for s in range(2):
            new = least = most = error - s * oscillation
            for k in range(RECENT):
                recent[s, k], new = new, recent[s, k]
                least, most = min(least, recent[s, k]), max(most, recent[s, k])
            balance.least[c, s], balance.most[c, s] = least, most
        return 0.0
    if balance.unresolved[0] < 0:
        balance.unresolved[0] = most_changed(plan, ws.history[-1, 1], c)
    _start_anew(balance, c)
    return -error


@njit
def _start_anew(balance, c):
    """Reset ``balance.recent``, ``balance.least`` and ``balance.most`` of component c to the present oscillation."""
    for s in range(2):
        start = -s * balance.oscillation[c]
        balance.least[c, s] = balance.most[c, s] = start
        for k in range(RECENT):
            balance.recent[c, s, k] = start


@njit
def is_resolved(balance, c, error, oscillation, part, lasting):
    """Return whether an error of component c, J, or the error less its oscillation, is small.

    ``part``: of the bound of its change. ``lasting``: whether a change counts only where the node before has changed
    by as much.
    """
    left, recent = error - oscillation, balance.recent[c]
    if not min(abs(error), abs(left)) <= LARGEST_ERROR * balance.scale[c]:
        return False
    before, left_before = (recent[0, 0], recent[1, 0]) if lasting else (error, left)
    bound = part * LARGEST_CHANGE * min(balance.scale[c], balance.peak[c] + balance.exchange[c])
    return _change(balance, c, 0, error, before) <= bound or _change(balance, c, 1, left, left_before) <= bound


@njit
def _change(balance, c, s, value, before):
    """Return the largest change, from one of the recent values, that ``value`` and the one before it share."""
    return max(max(min(value, before) - balance.least[c, s], balance.most[c, s] - max(value, before)), 0.0)


@njit
def oscillation_of(balance, c, kinetic):
    """Return the part of the energy residual of component c at the last node that comes back, J.

    ``kinetic``: its kinetic energy at the present node, J. About an impact it is the last that was known.
    """
    if balance.smooth[0] < 2:
        return balance.oscillation[c]
    bend = kinetic - 2.0 * balance.kinetic[c, 0] + balance.kinetic[c, 1]
    return balance.alike[0] * bend / 12.0 - balance.bend[c] / 24.0


@njit
def _add_bends(plan, before, after, h, bend):
    """Add to ``bend`` (components,) twice the kinetic energy, J, of the change of the velocities of all points.

    ``before`` and ``after`` (nb, 6): the velocities on both sides of a node.
    """
    for i in range(plan.bodies.mass.size):
        u, v, J = before[i], after[i], plan.bodies.inertia[i]
        line, turn = sub(vector(v), vector(u)), sub(turn_of(v), turn_of(u))
        w = scale(0.5, add(turn_of(v), turn_of(u)))
        spin = rotate(J, w)
        change = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(J, turn))
        change += h * (2.0 * dot(turn, cross(w, spin)) + h * dot(w, w) * dot(w, spin))
        bend[plan.components.of_body[i]] += change


@njit
def leave_energy(plan, ws, pose, k):
    """Write the kinetic energies at a pose less all work since the start to ``left[k]``: steps should keep them."""
    balance, parts = ws.balance, plan.components
    project(plan, ws, pose)
    node_works(plan, ws, balance.works)
    for c in range(balance.error.size):
        left = energy_of_projected(plan, ws, c) - balance.load[c]
        for n in range(parts.first_element[c], parts.first_element[c + 1]):
            left -= balance.works[parts.element[n]]
        balance.left[k, c] = left


@njit
def is_off(plan, ws, pose):
    """Return whether any component's `leave_energy` at a pose differs from its value at the start of the sub-step."""
    balance = ws.balance
    leave_energy(plan, ws, pose, 1)
    for c in range(balance.error.size):
        _, exchanged, total = work_on(plan, ws, ws.efforts.work, c)
        reference = min(max(balance.scale[c], total), balance.peak[c] + exchanged)
        if not abs(balance.left[1, c] - balance.left[0, c]) <= LARGEST_CHANGE * reference:
            return True
    return False


@njit
def pass_on(balance):
    """Copy the values of `leave_energy` at the end of a sub-step to the start of the next, ``balance.left[0]``."""
    for c in range(balance.error.size):
        balance.left[0, c] = balance.left[1, c]


@njit
def _add_impulses(plan, ws, start, h, share):
    """Write the momenta at the node and ``share`` of the impulses of its rows to ``ws.increment_body``."""
    nb, momentum = plan.bodies.mass.size, ws.increment_body
    if plan.elements.force.size:
        for i in range(nb):
            for k in range(6):
                momentum[i, k] = ws.momentum[i, k]
        for j in range(plan.joints.side.shape[0]):
            near, far = natural(plan.joints.side[j, 0]), natural(plan.joints.side[j, 1])
            first = plan.joints.rows[j]
            if j < nb and plan.joints.pair[j] > 0:
                _add_pair(plan, ws, start, j, share, momentum)
                first += plan.joints.pair[j]
            for number in range(first, plan.joints.rows[j + 1]):
                r = natural(number)
                if ws.released[r] > 0.0:
                    continue
                impulse = share * ws.multiplier[r]
                if near != nb:
                    add_scaled6(momentum[near], impulse, ws.jacobian[start, r, 0])
                if far != nb:
                    add_scaled6(momentum[far], impulse, ws.jacobian[start, r, 1])
        return
    for i in range(nb):  # nothing but the rows acts on the momenta at the start of the piece
        v, p, goal = ws.velocity[i], ws.momentum[i], ws.goal[i]
        line = sub(scale(plan.bodies.mass[i], vector(v)), vector(goal))
        turn = sub(angular_momentum(plan.bodies.inertia[i], turn_of(v), 0.5 * h), turn_of(goal))
        write(momentum[i], add(vector(p), scale(share, line)), add(turn_of(p), scale(share, turn)))


@njit(inline="always")
def _add_pair(plan, ws, start, j, share, momentum):
    """Add ``share`` of the impulses of the rows of the lower pair of joint j to ``momentum`` (nb, 6)."""
    first, rows, points = natural(plan.joints.rows[j]), natural(plan.joints.pair[j]), natural(plan.joints.points[j])
    if rows == 5 and points == 3:  # loops over numbers known here unroll
        push, turn, back = pair_impulses(ws.multiplier, ws.jacobian[start], first, 5, 3)
    else:
        push, turn, back = pair_impulses(ws.multiplier, ws.jacobian[start], first, rows, points)
    child, parent = momentum[j], natural(plan.joints.parent[j])
    write(child, add(vector(child), scale(share, push)), add(turn_of(child), scale(share, turn)))
    if parent != plan.bodies.mass.size:
        other = momentum[parent]
        write(other, sub(vector(other), scale(share, push)), add(turn_of(other), scale(share, back)))


@njit
def _energies_of_momenta(plan, ws):
    """Write kinetic energies, J, of the components to ``ws.balance.present``.

    With the momenta in ``ws.increment_body`` (nb, 6).
    """
    present = ws.balance.present
    for c in range(present.size):
        present[c] = 0.0
    for i in range(plan.bodies.mass.size):
        p = ws.increment_body[i]
        line, turn = vector(p), turn_of(p)
        twice = dot(line, line) / plan.bodies.mass[i] + dot(turn, rotate(plan.bodies.inverse_inertia[i], turn))
        present[plan.components.of_body[i]] += 0.5 * twice


@njit
def energy_of_projected(plan, ws, c):
    """Return the kinetic energy, J, of component c with the velocities (nb, 6) that `project` wrote."""
    kinetic, parts = 0.0, plan.components
    for n in range(parts.first_body[c], parts.first_body[c + 1]):
        i = parts.body[n]
        v = ws.increment_body[i]
        line, turn = vector(v), vector(v[3:])
        kinetic += plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
    return 0.5 * kinetic + ws.balance.further[c]


@njit
def most_changed(plan, change, c):
    """Return the slot of the body of component c whose velocity changed most, by the kinetic energy of the ``change``.

    ``change`` (nb, 6): of the velocities.
    """
    worst, largest, parts = 0, -1.0, plan.components
    for n in range(parts.first_body[c], parts.first_body[c + 1]):
        i = parts.body[n]
        line, turn = vector(change[i]), vector(change[i, 3:])
        energy = plan.bodies.mass[i] * dot(line, line) + dot(turn, rotate(plan.bodies.inertia[i], turn))
        if energy > largest:
            worst, largest = i, energy
    return worst
