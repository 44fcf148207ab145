"""Gradients back along the steps of a run of collocation.

With the gradients e by the momenta and c by the pose at the end of a step, and V_q = e, the derivative of Phi
(transposed.py) by the poses at the nodes 1 .. q and by the impulses along rows, plus c at the end, is to vanish: that
gives the rates of the duals at the nodes before the last, and mu. The gradient by the momenta at the start is then V_0,
and by the pose there the derivative of Phi by it.

This matrix is the transpose of Newton's. Lobatto's nodes lie alike from both ends, and the action has symmetric second
derivatives: so it is Newton's matrix of the same step with its nodes in the opposite order, and `eliminate` factors it.
What is left out there, as the curvature of rows, and what is not symmetric in time, as a damping that changes over the
step, is found by iteration with the exact derivative.
"""

import math

from varint.base.numba import Float1, Float2, Float3, Int1, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.collocation.by_numbers import add_step
from varint.step.collocation.closures import move_multipliers
from varint.step.collocation.effort_blocks import note_along, note_efforts
from varint.step.collocation.efforts import evaluate_node, is_pushed
from varint.step.collocation.elimination import eliminate, solve_turns
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.steps import evaluate, place_nodes, pull_link, start_poses
from varint.step.collocation.tape import StepTape, play_step
from varint.step.collocation.transposed import (
    TransposedWork,
    carry_pulls,
    motions_back,
    push,
    show_duals,
    spread_duals,
    transpose,
)
from varint.step.collocation.tree_rows import (
    add_tree_rows,
    find_impulses,
    find_multipliers_of_tree,
    tree_rows_back,
)
from varint.step.dense import copy_motions, dot6
from varint.step.newton import CONVERGED, NOT_CONVERGED
from varint.step.plan import EFFORT, ByNumbers, Plan, Tangent, Tape, Workspace

ITERATIONS = 50  # of a step, at most
ENOUGH = 1e-13  # of what the first duals leave: no more than that is round-off
SMALL, STALLED = 1e-10, 0.3  # the same, where the share of the last pass is above that


@njit
def _reverse(plan, tree, closures, work, other):
    """Copy what the elimination takes of a step, ``work``, to ``other``, with the nodes in the opposite order.

    Both are a `NodeWorkspace`: arrays (s, nl, ...) of links, (s, nb, ...) of bodies, (s, rows, 2, 6) of closures.
    """
    q, nl = work.by.shape[0] - 1, tree.mass.size
    for j in range(q + 1):
        k = q - j
        for i in range(nl):
            for a in range(3):
                other.position[j, i, a], other.axis[j, i, a] = work.position[k, i, a], work.axis[k, i, a]
                other.offset[j, i, a], other.moment[j, i, a] = work.offset[k, i, a], work.moment[k, i, a]
                for b in range(3):
                    other.rotation[j, i, a, b], other.spread[j, i, a, b] = (
                        work.rotation[k, i, a, b],
                        work.spread[k, i, a, b],
                    )
                    other.tilt[j, i, a, b] = work.tilt[k, i, a, b]
            for a in range(6):
                other.wrench[j, i, a], other.carried[j, i, a] = work.wrench[k, i, a], work.carried[k, i, a]
            other.stiff[j, i], other.damp[j, i] = work.stiff[k, i], work.damp[k, i]
        if closures.rows[1] > closures.rows[0]:
            for b in range(tree.link.size):
                for a in range(3):
                    for c in range(3):
                        other.body_rotation[j, b, a, c] = work.body_rotation[k, b, a, c]
            one, two = other.closures, work.closures
            for r in range(closures.rows[0], closures.rows[1]):
                one.by_value[j, r], one.by_rate[j, r] = two.by_value[k, r], two.by_rate[k, r]
                for side in range(2):
                    for a in range(6):
                        one.gradient[j, r, side, a] = two.gradient[k, r, side, a]


@njit
def prepare_step(plan, ws, tree, closures, rule, work, given, h):
    """Evaluate a solved step, played from the tape, with all that its derivatives take.

    ``given`` (s, ne): inputs at the nodes; ``h``: size of the step, s. Writes ``work.wrench`` (s, nl, 6) and others.
    """
    last = rule.weight.size - 1
    evaluate(plan, ws, tree, closures, rule, work, given, h)
    if is_pushed(plan, work):
        evaluate_node(plan, ws, tree, rule, work, given, h, last)
        if closures.rows[1] > closures.rows[0]:
            note_efforts(plan, ws, closures, rule, work, h, last)
        note_along(plan, ws, tree, rule, work, h, last)
    for i in range(tree.mass.size):
        if tree.mass[i] > 0.0:
            pull_link(tree, rule, work, h, i, last)


@njit
def _leave(plan, tree, closures, work, own):
    """Write what the duals leave to ``reversed.open`` (s, nl) and to the rows of its closures, after `transpose`.

    Returns the largest of the first. The rows are exact in the matrix: each solution leaves round-off of them.
    """
    q, other, largest = own.rate.shape[0], own.reversed, 0.0
    for j in range(q):
        carry_pulls(tree, work, own.pull[q - j], q - j, other.open[j])
    for i in range(tree.mass.size):
        other.open[0, i] += own.by_coordinate[0, i]
    for r in range(closures.rows[0], closures.rows[1]):
        at = (r - closures.rows[0]) * q
        for j in range(q):
            total = 0.0
            for side in range(2):
                b = plan.measures.body[r, side]
                if b < tree.link.size and plan.rows.role[r] != EFFORT:
                    i, G = natural(tree.link[b]), work.closures.gradient[j, r, side]
                    V, R = own.dual[j, i], work.body_rotation[j, natural(b)]
                    total += dot(vector(G), vector(V)) + dot(rotate(R, turn_of(G)), turn_of(V))
            other.closures.row[at + q - 1 - j] = total
    for j in range(q):
        for i in range(tree.mass.size):
            largest = max(largest, abs(other.open[j, i]) * tree.unit[i])
    return largest


@njit
def _solve(plan, ws, tree, closures, rule, work, own, tangent, given, h):
    """Find the rates of the duals, ``own.rate`` (q, nl), and the multipliers of the rows. Returns a status.

    Leaves the derivative of Phi by the poses at node 0 in ``own.pull[0]`` (links, 6).

    ``own.by_coordinate`` is that of the coordinates at the end, and ``own.dual`` there the gradient by the momenta.
    """
    q, other = own.rate.shape[0], own.reversed
    own.rate[:] = 0.0
    own.dual[:q] = 0.0
    other.closures.multiplier[:] = 0.0
    _reverse(plan, tree, closures, work, other)
    eliminate(plan, ws, tree, closures, rule, other, h)
    first = previous = 0.0
    for iteration in range(ITERATIONS):
        transpose(plan, ws, tree, closures, rule, work, own, tangent, given, h, 0 if iteration > 0 else q)
        motions_back(tree, work, own)
        left = _leave(plan, tree, closures, work, own)
        if not left < math.inf:
            return NOT_CONVERGED
        if left <= ENOUGH * first or (left <= SMALL * first and left > STALLED * previous):
            return CONVERGED
        if iteration == 0:
            first = left
        previous = left
        solve_turns(plan, tree, closures, other)
        move_multipliers(plan, closures, other)
        for i in range(tree.mass.size):
            for j in range(q):
                own.rate[j, i] += other.turn[i, q - 1 - j]
        spread_duals(tree, work, own)
    return NOT_CONVERGED


@njit
def _balls_to_coordinates(tree, work, k, by):
    """Replace the torques of balls in ``by`` (nl,) by the gradient by their coordinates at node k."""
    for n in range(tree.ball.size):
        first = natural(tree.ball[n])
        torque = by[first], by[first + 1], by[first + 2]
        for m in range(3):
            by[first + m] = dot(torque, vector(work.axis[k, first + m]))


@njit
def _balls_to_torques(tree, work, k, by):
    """Replace the gradient ``by`` (nl,) by the coordinates of balls at node k by their torques."""
    for n in range(tree.ball.size):
        first = natural(tree.ball[n])
        a, b, c = vector(work.axis[k, first]), vector(work.axis[k, first + 1]), vector(work.axis[k, first + 2])
        share = 1.0 / dot(a, cross(b, c))
        torque = add(scale(by[first] * share, cross(b, c)), scale(by[first + 1] * share, cross(c, a)))
        torque = add(torque, scale(by[first + 2] * share, cross(a, b)))
        by[first], by[first + 1], by[first + 2] = torque


@njit
def _end_in_rows(plan, ws, tree, closures, work, own, by):
    """Let the joints of the tree be rows: add their terms to ``by``; ``own.by_pose`` becomes that at the start.

    After `transpose`, with ``own.pull`` (s, nl + 1, 6). ``own.by_pose`` is (nl + 1, 6), ``own.mu`` (s, rows).
    """
    q, free = own.rate.shape[0], own.reversed.open[0]
    find_impulses(plan, ws, tree, work, own)
    tree_rows_back(plan, ws, tree, work, own)
    for i in range(tree.mass.size):
        for a in range(6):
            own.pull[q, i, a] += own.by_pose[i, a]
    copy_motions(own.pull[0], own.by_pose)
    for k in range(1, q + 1):
        carry_pulls(tree, work, own.pull[k], k, free)
        find_multipliers_of_tree(plan, tree, work, own, own.pull[k], k)
    add_tree_rows(plan, ws, tree, closures, work, own, by)


@njit(seconds=40, what="derivatives of collocation")
def steps_back(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace,
    own: TransposedWork, tangent: Tangent, steps: StepTape, tape: Tape, first: int, last: int, by: ByNumbers,
) -> int:  # fmt: skip
    """Take the gradients ``own.by_coordinate`` and ``own.by_momentum`` back over the steps ``first`` to ``last`` - 1.

    ``by_momentum`` is (nb, 6), by momenta in world axes. ``steps``: of the run. ``tape``, ``by``: nodes of the steps as
    stages, s for each step; adds the gradient by numbers; with those of joints of the tree where ``by.wanted`` says so,
    and then the gradient by poses is ``own.by_pose``. Returns the number of the step whose duals were not found, -1 for
    none.
    """
    q = rule.weight.size - 1
    for k in range(last - 1, first - 1, -1):
        h, given = steps.h[k], steps.given[k]
        play_step(plan, ws, tree, closures, work, steps, k)
        prepare_step(plan, ws, tree, closures, rule, work, given, h)
        own.dual[q] = 0.0
        for b in range(tree.link.size):
            write(own.dual[q, tree.link[b]], vector(own.by_momentum[b]), turn_of(own.by_momentum[b]))
        if by.wanted[0]:
            copy_motions(own.by_pose, own.pull[0])
            carry_pulls(tree, work, own.pull[0], q, own.by_coordinate[0])
        else:
            _balls_to_coordinates(tree, work, q, own.by_coordinate[0])
        if _solve(plan, ws, tree, closures, rule, work, own, tangent, given, h) != CONVERGED:
            return k
        add_step(plan, ws, tree, closures, rule, work, own, tangent, given, h, k * (q + 1), tape, by)
        if by.wanted[0]:
            transpose(plan, ws, tree, closures, rule, work, own, tangent, given, h, 0)
            _end_in_rows(plan, ws, tree, closures, work, own, by)
        else:
            carry_pulls(tree, work, own.pull[0], 0, own.by_coordinate[0])
            _balls_to_torques(tree, work, 0, own.by_coordinate[0])
        for b in range(tree.link.size):
            V = own.dual[0, tree.link[b]]
            write(own.by_momentum[b], vector(V), turn_of(V))
    return -1


@njit(seconds=10, what="derivatives of collocation")
def add_node_gradient(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, work: NodeWorkspace, own: TransposedWork,
    given: Float1, state: Float2, by: ByNumbers,
) -> None:  # fmt: skip
    """Add a gradient ``state`` (nb, 12) by pose and momenta at the present node, body axes, to those of ``own``.

    Coordinates of the node are those of ``work``; ``given`` (ne,): inputs.
    """
    start_poses(plan, ws, tree, closures, work, given)
    pull = own.pull[0]
    pull[:] = 0.0
    for b in range(tree.link.size):
        i = natural(tree.link[b])
        R, change = work.rotation[0, i], state[b]
        spin, momentum = turn_of(work.momentum[i]), rotate(R, vector(change[9:]))
        push(own.by_momentum[b], vector(change[6:]), momentum)
        # the momentum is held in axes of the world here, in those of the body there
        push(pull[i], vector(change), sub(rotate(R, vector(change[3:])), cross(spin, momentum)))
    if by.wanted[0]:
        for i in range(tree.mass.size):
            push(own.by_pose[i], vector(pull[i]), turn_of(pull[i]))
        return
    along = work.open[0]
    carry_pulls(tree, work, pull, 0, along)
    _balls_to_torques(tree, work, 0, along)
    for i in range(tree.mass.size):
        own.by_coordinate[0, i] += along[i]


@njit(seconds=10, what="derivatives of collocation")
def push_stages(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace,
    steps: StepTape, stages: Int1, by: ByNumbers, out: Float1,
) -> None:  # fmt: skip
    """Write to ``out`` (n,) the sums of the loads of ``plan`` at nodes of steps, each times the gradient by it.

    For each of ``stages`` (n,), numbers of the nodes of all steps on the tape; the motion is that of the tape.
    """
    s, played = rule.node.size, -1
    for n in range(stages.size):
        k, total = natural(stages[n]), 0.0
        if k // s != played:
            played = k // s
            play_step(plan, ws, tree, closures, work, steps, played)
            place_nodes(tree, rule, work)
        evaluate_node(plan, ws, tree, rule, work, steps.given[played], steps.h[played], k % s)
        for b in range(tree.link.size):
            total += dot6(by.push[k, b], work.load[b])
        out[n] = total


@njit(seconds=10, what="derivatives of collocation")
def link_motions(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, work: NodeWorkspace, own: TransposedWork,
    given: Float1, out: Float3,
) -> None:  # fmt: skip
    """Write the motions of the bodies at the present node by each coordinate, body axes, to ``out`` (nl, nb, 6).

    ``given`` (ne,): inputs. Uses ``own.rate`` and ``own.dual``.
    """
    start_poses(plan, ws, tree, closures, work, given)
    own.dual[:] = 0.0
    for i in range(tree.mass.size):
        own.rate[:] = 0.0
        own.rate[0, i] = 1.0
        spread_duals(tree, work, own)
        show_duals(tree, work, own, 0)
        for b in range(tree.link.size):
            write(out[i, b], vector(own.body[b]), turn_of(own.body[b]))
