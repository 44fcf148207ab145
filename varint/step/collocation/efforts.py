"""Impulses and works of laws and loads in a collocation step (collocation/steps.py), by the quadrature of the action.

At node j a force acts by the impulse h weight_j f, with f at the pose and the velocity there; the velocity is the
derivative of the polynomials through the poses (theory.md section 16).

Newton's matrix has the derivative of a law along a measure between the two bodies of a joint of one coordinate, exact
for that, and of all other laws between two bodies by rows (closures.py); of a length the change of the lever is left
out. Derivatives of loads and of efforts with the world are omitted unless they are strong (`damp_blocks`): each
iteration then leaves a share of the error, about h^2 stiffness / mass.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, dot, rotate, scale, turn_of, vector, write
from varint.step.collocation.closures import free_motion, show_bodies
from varint.step.collocation.end_rates import add_mean, clear_ends, lead_node, sum_ends
from varint.step.efforts import has_efforts
from varint.step.laws import has_potential, law_effort, law_potential
from varint.step.nodes.efforts import evaluate_efforts, keep_turns


@njit
def write_velocities(tree, rule, work, velocity, h, j):
    """Write the velocities of all bodies at node j, angular ones in axes of the bodies, to ``velocity`` (nb, 6)."""
    for slot in range(velocity.shape[0]):
        i = natural(tree.link[slot])
        R, line = work.rotation[j, i], (0.0, 0.0, 0.0)
        a, b, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # rows of dR/dt
        for k in range(1, rule.weight.size):
            f, M = rule.slope[j, k] / h, work.change[k, i]
            line = add(line, scale(f, vector(work.shift[k, i])))
            a, b, c = add(a, scale(f, vector(M[0]))), add(b, scale(f, vector(M[1]))), add(c, scale(f, vector(M[2])))
        x, y, z = _column(a, b, c, 0), _column(a, b, c, 1), _column(a, b, c, 2)
        p, q, r = _column_of(R, 0), _column_of(R, 1), _column_of(R, 2)
        turn = dot(r, y) - dot(q, z), dot(p, z) - dot(r, x), dot(q, x) - dot(p, y)
        write(velocity[slot], line, scale(0.5, turn))


@njit(inline="always")
def _column(a, b, c, k):
    """Column k of a matrix of rows a, b, c (3,)."""
    return a[k], b[k], c[k]


@njit(inline="always")
def _column_of(R, k):
    return R[0, k], R[1, k], R[2, k]


@njit
def is_pushed(plan, work):
    """Return whether efforts or loads act."""
    return has_efforts(plan) or work.is_given[0]


@njit
def take_loads(work, loads):
    """Let ``loads`` (s, nb, 6) act at the nodes of the next step: N, world, and N m, axes of the body."""
    for j in range(loads.shape[0]):
        for b in range(loads.shape[1]):
            for a in range(6):
                work.given[j, b, a] = loads[j, b, a]


@njit
def evaluate_node(plan, ws, tree, rule, work, given, h, j):
    """Evaluate laws and loads at node j, inputs ``given`` (s, ne): their sums ``work.load``, powers ``work.power``."""
    show_bodies(tree, work, j)
    write_velocities(tree, rule, work, ws.velocity, h, j)
    for e in range(given.shape[1]):
        ws.efforts.input[e] = given[j, e]
    for n in range(work.internal.node.shape[1]):
        ws.efforts.state[n] = work.internal.node[j, n]
    for b in range(work.load.shape[0]):
        for a in range(6):
            work.load[b, a] = work.given[j, b, a]
    evaluate_efforts(plan, ws, work.body_position[j], work.body_rotation[j], ws.velocity, 0.0, work.load, work.power)


@njit
def add_impulses(tree, rule, work, h, j):
    """Add ``work.load`` times h weight_j to the wrenches (nl, 6) at node j."""
    share = h * rule.weight[j]
    for b in range(work.load.shape[0]):
        i = natural(tree.link[b])
        wrench, load = work.wrench[j, i], work.load[b]
        turn = rotate(work.rotation[j, i], turn_of(load))
        write(
            wrench, add(vector(wrench), scale(share, vector(load))), add(turn_of(wrench), scale(share, turn))
        )  # fmt: skip


@njit
def note_efforts(plan, ws, closures, rule, work, h, j):
    """Keep gradients (2, 6) of measures of efforts with a row of their own at node j, and efforts' derivatives."""
    own, last = work.closures, rule.weight.size - 1
    for s in range(plan.laws.sum_first.size - 1):
        for measure in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(measure)
            r = plan.measures.row[m]
            if r < closures.rows[0] or own.held[r]:
                continue
            own.by_value[j, r] = h * rule.weight[j] * ws.efforts.sum_by_value[s]
            own.by_rate[j, r] = rule.weight[j] * ws.efforts.sum_by_rate[s]
            if work.ends.any[0]:
                work.ends.by_row[j, r] = rule.weight[j] * rule.lead[j] * work.ends.by_rate[s]
            if work.internal.by_row.shape[0] > 0:
                for k in range(last):
                    work.internal.by_row[r, j, k] = work.internal.by_sum[s, j, k]
            for side in range(2):
                for a in range(6):
                    own.gradient[j, r, side, a] = ws.efforts.gradient[m, side, a]
                    if j == last - 1:  # the end takes those of the node before: they are of the matrix alone
                        own.gradient[last, r, side, a] = ws.efforts.gradient[m, side, a]


@njit
def note_along(plan, ws, tree, rule, work, h, j):
    """Add derivatives of efforts along links at node j to ``work.stiff`` and ``work.damp`` (s, nl).

    After `evaluate_node`; ``h``: size of the step, s.
    """
    for s in range(tree.along.size):
        if tree.along[s] < 0:
            continue
        i, m = natural(tree.along[s]), natural(plan.laws.sum_first[s])
        side = natural(0 if plan.measures.body[m, 0] == tree.body[i] else 1)
        gradient, (line, turn) = ws.efforts.gradient[m, side], free_motion(tree, work, j, i)
        along = dot(line, vector(gradient)) + dot(turn, rotate(work.rotation[j, i], turn_of(gradient)))
        work.stiff[j, i] += h * rule.weight[j] * ws.efforts.sum_by_value[s] * along * along
        work.damp[j, i] += rule.weight[j] * ws.efforts.sum_by_rate[s] * along * along
        if work.ends.any[0]:
            work.ends.along[j, i] += rule.weight[j] * rule.lead[j] * work.ends.by_rate[s] * along * along
        if work.internal.by_link.shape[0] > 0:
            for k in range(work.internal.by_link.shape[2]):
                work.internal.by_link[i, j, k] += along * along * work.internal.by_sum[s, j, k]


@njit
def _find_means(plan, ws, tree, closures, rule, work, given, h):
    """Write the parts r' of all rates over a step of ``h`` s, see end_rates.py, to ``work.ends.mean`` (sums,).

    Those of resistances to ``work.ends.load_mean`` (loads, 6). ``given`` (s, ne): inputs at the nodes.
    """
    clear_ends(plan, ws, tree, closures, work)
    for j in range(rule.weight.size):
        evaluate_node(plan, ws, tree, rule, work, given, h, j)
        add_mean(plan, ws, rule, work, j)


@njit
def push_nodes(plan, ws, tree, closures, rule, work, given, h):
    """Add the impulses of laws and loads to the wrenches at all nodes but the last.

    Writes ``work.stiff`` and ``work.damp``, the derivatives of the efforts along links by coordinates and rates.
    ``given`` (s, ne): inputs at the nodes.
    """
    work.stiff[:] = 0.0
    work.damp[:] = 0.0
    if work.ends.any[0]:
        _find_means(plan, ws, tree, closures, rule, work, given, h)
    for j in range(rule.weight.size - 1):
        evaluate_node(plan, ws, tree, rule, work, given, h, j)
        if work.ends.any[0]:
            lead_node(plan, ws, rule, work, h, j)
        add_impulses(tree, rule, work, h, j)
        if closures.rows[1] > closures.rows[0]:
            note_efforts(plan, ws, closures, rule, work, h, j)
        note_along(plan, ws, tree, rule, work, h, j)


@njit
def finish_nodes(plan, ws, tree, closures, rule, work, given, h):
    """Add the impulses of the last node to its wrenches (nl, 6), and the works over the step to ``ws.efforts.work``.

    The effort of a law at rest, where it has a potential, does what that loses over the step: its power is taken off
    the quadrature.
    """
    last, own = rule.weight.size - 1, ws.efforts
    if work.ends.any[0]:
        _find_means(plan, ws, tree, closures, rule, work, given, h)
    for j in range(last + 1):
        evaluate_node(plan, ws, tree, rule, work, given, h, j)
        if work.ends.any[0]:
            lead_node(plan, ws, rule, work, h, j)
            sum_ends(plan, ws, rule, work, h, j)
        share = h * rule.weight[j]
        for e in range(own.work.size):
            own.work[e] += share * work.power[e]
        for s in range(plan.laws.sum_law.size - 1):
            value, rate = own.sum_value[s], own.sum_rate[s]
            for f in range(natural(plan.laws.sum_law[s]), natural(plan.laws.sum_law[s + 1])):
                if not has_potential(plan, f):
                    continue
                e = natural(plan.laws.element[f])
                own.work[e] -= share * rate * law_effort(plan, own, f, value, 0.0, 0.0)[0]
                if j == 0:
                    own.work[e] += law_potential(plan, f, value)
                elif j == last:
                    own.work[e] -= law_potential(plan, f, value)
    add_impulses(tree, rule, work, h, last)
    keep_turns(plan, own)


@njit
def fastest_law(plan, ws, work):
    """Return the element whose law is stiffest for the bodies that it acts on, -1 for none, and its frequency, rad/s.

    At rest in the poses at node 0, ``work.body_position[0]`` (slots, 3) and the rotations, with ``ws.efforts.input``
    (ne,), and as if no joint held the bodies.
    """
    ws.velocity[:] = 0.0
    work.load[:] = 0.0
    evaluate_efforts(plan, ws, work.body_position[0], work.body_rotation[0], ws.velocity, 0.0, work.load, work.power)
    element, most = -1, 0.0
    for s in range(plan.laws.sum_first.size - 1):
        square = 0.0
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            for side in range(2):
                b = plan.measures.body[m, side]
                if b < plan.bodies.mass.size:
                    g = ws.efforts.gradient[m, side]
                    spin = rotate(plan.bodies.inverse_inertia[b], turn_of(g))
                    square += dot(vector(g), vector(g)) / plan.bodies.mass[b] + dot(turn_of(g), spin)
        square *= abs(ws.efforts.sum_by_value[s])
        if square > most:
            element, most = plan.laws.element[plan.laws.sum_law[s]], square
    return element, math.sqrt(most)
