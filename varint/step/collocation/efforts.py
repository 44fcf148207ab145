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
from varint.step.collocation.effort_blocks import note_along, note_efforts
from varint.step.collocation.end_rates import add_mean, clear_ends, lead_node, sum_ends
from varint.step.collocation.shown import show_bodies, write_velocities
from varint.step.efforts import has_efforts
from varint.step.laws import has_potential, law_effort, law_potential
from varint.step.nodes.efforts import evaluate_efforts, keep_turns, sum_efforts


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
    _begin_load(work, j)
    evaluate_efforts(plan, ws, work.body_position[j], work.body_rotation[j], ws.velocity, 0.0, work.load, work.power)


@njit
def _begin_load(work, j):
    """Let ``work.load`` (nb, 6) be the loads from outside at node j, N, world, and N m, axes of the body."""
    for b in range(work.load.shape[0]):
        for a in range(6):
            work.load[b, a] = work.given[j, b, a]


@njit
def _evaluate_led(plan, ws, tree, rule, work, given, h, j):
    """Do `evaluate_node`, inputs ``given`` (s, ne), with strong efforts at the rates that lead in a step of ``h`` s.

    Writes ``work.load`` (nb, 6) and ``work.power`` (ne,).
    """
    evaluate_node(plan, ws, tree, rule, work, given, h, j)
    if work.ends.any[0]:
        lead_node(plan, ws, rule, work, h, j)
        _begin_load(work, j)
        sum_efforts(plan, ws.efforts, ws.velocity, work.load, work.power)


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
        _evaluate_led(plan, ws, tree, rule, work, given, h, j)
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
        _evaluate_led(plan, ws, tree, rule, work, given, h, j)
        if work.ends.any[0]:
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
