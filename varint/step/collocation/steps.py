"""Steps of Lobatto IIIA-IIIB collocation: order 2 s - 2 with s nodes (docs/theory.md section 16).

In a step of h seconds positions x and rotation matrices R of all bodies are polynomials through their values at s nodes
of Gauss-Lobatto quadrature, where joints are closed; the action is summed by this quadrature. With the derivatives of
the polynomials at the nodes in the matrix S = `NodeRule.stiffness` / h, the derivative of the action by the pose of a
body at node j is

    force   F_j = m sum_k S_jk x_k + h weight_j m g
    torque  T_j = ax(A_j),   A_j = R_j Q (sum_k S_jk R_k)^T,   ax(A) = (A_yz - A_zy, A_zx - A_xz, A_xy - A_yx)

where Q is the integral of x x^T dm. These, and the momenta p of the start at node 0, do no work in any motion that the
joints allow, for all nodes but the last, where they are the momenta that the next step starts from.

Laws and loads add their impulses to these wrenches (collocation/efforts.py).

The unknowns are turns, slides and screws of links: a joint is a chain of these, the last with its body, the others
without mass, so that the joints of the tree are closed at any iterate. A ball is three turns, counted anew where they
tilt.
Joints that close loops are rows at the nodes, with impulses along them (collocation/closures.py). Newton's matrix has
the graph of the mechanism, with 6 q x 6 q blocks, q = s - 1: links are eliminated from the leaves on.
"""

import math

from varint.base.numba import Float2, Float3, Float4, natural, njit
from varint.mathematics.sums import two_sum
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.collocation.closures import (
    change_of_multipliers,
    finish_closures,
    move_multipliers,
    place_closures,
    push_closures,
    show_bodies,
)
from varint.step.collocation.conditions_on_rates import measure_rates
from varint.step.collocation.efforts import finish_nodes, is_pushed, push_nodes, take_loads
from varint.step.collocation.elimination import eliminate, solve_turns
from varint.step.collocation.end_rates import choose_ends, finish_ends
from varint.step.collocation.friction import finish_friction, rub_nodes
from varint.step.collocation.internal_variables import return_internals, settle_internals, start_internals
from varint.step.collocation.path_masses import push_paths, solve_paths
from varint.step.collocation.records import SCREW, SLIDE, ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.shown import bring_node, write_quaternion
from varint.step.collocation.stops import STOPS, keep_start, lets_go, meets_stops
from varint.step.configuration import follow_products
from varint.step.newton import CONVERGED, NOT_CONVERGED
from varint.step.plan import Plan, Workspace
from varint.step.step import record_node

EVENT = NOT_CONVERGED + 1  # status of a step in which a hard stop is met or lets go: it is not taken
ITERATIONS = 30  # of a step, at most
LONGEST = 1.0  # rad, increment of an angle: a longer one is a step that does not resolve the motion
SHARED = 0.05  # the next increment takes the same factors where the last one was this share of the one before, or less
ENOUGH = 1e-17  # rad: an increment below that is left out
TINY = 1e-300  # of a divisor
SMALL, STALLED = 1e-11, 0.3  # rad, and share of the increment before: increments that are round-off
STALE = 1e-10  # share of the multipliers that factors of another iterate may leave in them
START_AHEAD = 2  # steps before coordinates are extrapolated
GIVEN = -1  # of ``known``: the coordinates at the nodes of the next step are start values already
TILT = 0.3  # rad, of the second angle of a ball: from there on its angles are counted anew


@njit(inline="always")
def _row(M, a):
    return M[a, 0], M[a, 1], M[a, 2]


@njit(inline="always")
def _times(M, N, a):
    """Row a of M N, for (3, 3) arrays."""
    x, y, z = M[a, 0], M[a, 1], M[a, 2]
    return (
        x * N[0, 0] + y * N[1, 0] + z * N[2, 0], x * N[0, 1] + y * N[1, 1] + z * N[2, 1],
        x * N[0, 2] + y * N[1, 2] + z * N[2, 2],
    )  # fmt: skip


@njit(inline="always")
def _turned(row, axis, sine, versine):
    """A row (3,) times (W - 1), of the rotation W about an axis (3,) by an angle of this sine and 1 - cosine."""
    along = versine * dot(row, axis)
    sideways = cross(row, axis)
    return sub(add(scale(along, axis), scale(sine, sideways)), scale(versine, row))


@njit
def start_poses(plan, ws, tree, closures, work, given):
    """Write the poses (nl, 3), (nl, 3, 3) at the present node, node 0, by its coordinates; ``given`` (ne,): inputs."""
    for i in range(tree.mass.size):
        p, axis, R = natural(tree.parent[i]), vector(tree.axis[i]), work.rotation[0, i]
        along = work.coordinate[0, i] + work.coordinate[1, i]
        turn = 0.0 if tree.motion[i] == SLIDE else along
        sine, versine = math.sin(turn), 2.0 * math.sin(0.5 * turn) ** 2
        for a in range(3):
            row = _row(work.turned[i], a)
            x, y, z = add(row, _turned(row, axis, sine, versine))
            work.joint[i, a, 0], work.joint[i, a, 1], work.joint[i, a, 2] = x, y, z
        for a in range(3):
            R[a, 0], R[a, 1], R[a, 2] = _times(work.rotation[0, p], work.joint[i], a)
        lever = vector(tree.lever[i])
        lever = sub(lever, scale(_advance(tree, i, along), axis))
        x = sub(rotate(work.rotation[0, p], vector(tree.anchor[i])), rotate(R, lever))
        x = add(vector(work.position[0, p]), x)
        work.position[0, i, 0], work.position[0, i, 1], work.position[0, i, 2] = x
        _write_axis(tree, work, i, 0)
    show_bodies(tree, work, 0)
    follow_products(plan, ws, work.body_position[0], work.body_rotation[0])  # whose rows here are those of a whole step
    if closures.rows[1] > closures.rows[0]:
        place_closures(plan, ws, tree, closures, work, given, 0)


@njit(inline="always")
def _advance(tree, i, coordinate):
    """The displacement of link i along its axis, m, at a ``coordinate``, a number, rad or m."""
    return coordinate if tree.motion[i] == SLIDE else tree.pitch[i] * coordinate


@njit(inline="always")
def _write_axis(tree, work, i, k):
    """Write the axis (3,) of link i in the world, and the offset (3,) of its centre, at node k."""
    axis, offset = rotate(work.rotation[k, i], vector(tree.axis[i])), rotate(work.rotation[k, i], vector(tree.lever[i]))
    work.axis[k, i, 0], work.axis[k, i, 1], work.axis[k, i, 2] = axis
    work.offset[k, i, 0], work.offset[k, i, 1], work.offset[k, i, 2] = scale(-1.0, offset)


@njit
def move_link(tree, work, i, k):
    """Write the pose (3,), (3, 3) of link i at node k, and its change since the start; its parent is in place."""
    # with C the rotation by the joint, W that by the turn since the start: R = R_p C,  C = C_0 W, so that
    #   R - R_0 = (R_p - R_p0) C_0 W + R_0 (W - 1)
    p, axis = natural(tree.parent[i]), vector(tree.axis[i])
    before, change, R = work.rotation[0, i], work.change[k, i], work.rotation[k, i]
    if tree.motion[i] == SLIDE:
        for a in range(3):
            change[a, 0], change[a, 1], change[a, 2] = _times(work.change[k, p], work.joint[i], a)
            R[a, 0], R[a, 1], R[a, 2] = add(_row(before, a), vector(change[a]))
        lever = sub(vector(tree.lever[i]), scale(work.coordinate[0, i] + work.coordinate[1, i], axis))
        x = sub(scale(work.by[k, i], rotate(R, axis)), rotate(change, lever))
    else:
        angle = work.by[k, i]
        sine, versine = math.sin(angle), 2.0 * math.sin(0.5 * angle) ** 2
        for a in range(3):
            start, carried = _row(before, a), _times(work.change[k, p], work.joint[i], a)
            carried = add(carried, _turned(carried, axis, sine, versine))
            change[a, 0], change[a, 1], change[a, 2] = add(carried, _turned(start, axis, sine, versine))
            R[a, 0], R[a, 1], R[a, 2] = add(start, vector(change[a]))
        x = scale(-1.0, rotate(change, vector(tree.lever[i])))
        if tree.motion[i] == SCREW:
            moved = work.coordinate[0, i] + work.coordinate[1, i]
            x = add(x, scale(tree.pitch[i], add(scale(moved, rotate(change, axis)), scale(angle, rotate(R, axis)))))
    x = add(add(vector(work.shift[k, p]), rotate(work.change[k, p], vector(tree.anchor[i]))), x)
    work.shift[k, i, 0], work.shift[k, i, 1], work.shift[k, i, 2] = x
    x = add(vector(work.position[0, i]), x)
    work.position[k, i, 0], work.position[k, i, 1], work.position[k, i, 2] = x
    _write_axis(tree, work, i, k)


@njit
def place_nodes(tree, rule, work):
    """Write the poses of all links at the nodes after the first, by ``work.by`` (s, nl)."""
    for i in range(tree.mass.size):
        for k in range(1, rule.weight.size):
            move_link(tree, work, i, k)


@njit
def pull_link(tree, rule, work, h, i, j):
    """Write the derivative of the action by the pose of link i at node j to ``work.wrench`` (s, nl, 6)."""
    # divided by h at last: rows of S are zero in sum to the last bit, those of S / h would not be
    m, share = tree.mass[i], h * rule.weight[j]
    line, b, c, d = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(1, rule.weight.size):
        f, M = rule.stiffness[j, k], work.change[k, i]
        line = add(line, scale(f, vector(work.shift[k, i])))
        b, c, d = add(b, scale(f, _row(M, 0))), add(c, scale(f, _row(M, 1))), add(d, scale(f, _row(M, 2)))
    spread, A = work.spread[j, i], work.tilt[j, i]
    for a in range(3):
        x = _times(work.rotation[j, i], tree.moments[i], a)
        spread[a, 0], spread[a, 1], spread[a, 2] = x
        A[a, 0], A[a, 1], A[a, 2] = dot(x, b) / h, dot(x, c) / h, dot(x, d) / h
    turn = A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]
    write(work.wrench[j, i], add(scale(m / h, line), scale(share * m, vector(tree.gravity))), turn)


@njit
def evaluate(plan, ws, tree, closures, rule, work, given, h):
    """Write poses at the nodes by ``work.by`` (s, nl), and efforts that are to vanish, ``work.open`` (s, nl).

    Returns whether the internal variables of laws could be solved for.
    """
    nl, s = tree.mass.size, rule.weight.size
    for i in range(nl):
        for k in range(1, s):
            move_link(tree, work, i, k)
        if tree.mass[i] > 0.0:
            for j in range(s - 1):
                pull_link(tree, rule, work, h, i, j)
    if tree.mover.size:
        push_paths(plan, ws, tree, rule, work, h, 0, s - 1)
    closed = closures.rows[1] > closures.rows[0]
    if closed:
        for k in range(1, s):
            place_closures(plan, ws, tree, closures, work, given[k], k)
        if closures.rated.size:
            measure_rates(plan, ws, tree, closures, rule, work, h)
        if closures.rubs.size:
            rub_nodes(plan, ws, tree, closures, rule, work, h)
        push_closures(plan, tree, closures, work)
    if ws.efforts.state.size and not settle_internals(plan, ws, tree, rule, work, given, h):
        return False
    if is_pushed(plan, work):
        push_nodes(plan, ws, tree, closures, rule, work, given, h)
    for i in range(nl):
        write(
            work.wrench[0, i], add(vector(work.wrench[0, i]), vector(work.momentum[i])),
            add(turn_of(work.wrench[0, i]), turn_of(work.momentum[i])),
        )  # fmt: skip
        for j in range(s - 1):
            write(work.carried[j, i], vector(work.wrench[j, i]), turn_of(work.wrench[j, i]))
    for i in range(nl - 1, -1, -1):
        p = natural(tree.parent[i])
        for j in range(s - 1):
            force, torque = vector(work.carried[j, i]), turn_of(work.carried[j, i])
            moment = add(torque, cross(vector(work.offset[j, i]), force))
            work.moment[j, i, 0], work.moment[j, i, 1], work.moment[j, i, 2] = moment
            axis = vector(work.axis[j, i])
            work.open[j, i] = dot(axis, force if tree.motion[i] == SLIDE else moment)
            if tree.motion[i] == SCREW:
                work.open[j, i] += tree.pitch[i] * dot(axis, force)
            if p < nl:
                arm, above = sub(vector(work.position[j, i]), vector(work.position[j, p])), work.carried[j, p]
                write(above, add(vector(above), force), add(turn_of(above), add(torque, cross(arm, force))))
    return True


@njit
def predict(rule, work):
    """Start values of the coordinates: a polynomial through the last nodes, no motion, or those that are there."""
    if work.known[0] == GIVEN:
        return
    s, past, known = rule.weight.size, work.past.shape[0], work.known[0]
    first = past - s - work.known[1]
    for i in range(work.by.shape[1]):
        for k in range(1, s):
            total = 0.0
            for n in range(first if known >= START_AHEAD else past, past):
                total += rule.ahead[work.known[1], k - 1, n] * work.past[n, i]
            work.by[k, i] = total


@njit
def _remember(rule, work):
    """Choose how many nodes would have been best to extrapolate this step from, and replace the past nodes."""
    s, past, nb = rule.weight.size, work.past.shape[0], work.by.shape[1]
    least = math.inf
    for d in range(s):
        worst = 0.0
        for i in range(nb):
            total = -work.by[s - 1, i]
            for n in range(past - s - d, past):
                total += rule.ahead[d, s - 2, n] * work.past[n, i]
            worst = max(worst, abs(total))
        if worst < least:
            least, work.known[1] = worst, d
    work.known[0] += 1
    for i in range(nb):
        last = work.by[s - 1, i]
        for n in range(s - 1):
            work.past[n, i] = work.past[n + s - 1, i] - last
        for k in range(s):
            work.past[s - 1 + k, i] = work.by[k, i] - last


@njit
def solve_step(plan, ws, tree, closures, rule, work, given, h):
    """Find ``work.by`` (s, nl) of a step of ``h`` s, inputs ``given`` (s, ne). Returns status and iterations."""
    # factors stay while increments shrink fast; the last increment is one that leaves less than ENOUGH. In loops the
    # efforts have to shrink as fast. Without start values multipliers are far off where the coordinates are not: what
    # they leave shows in the third increment. Where rows alone determine the coordinates, increments say nothing of
    # the multipliers: factors of an iterate that is ``drift`` away leave about this share of their last change
    few = 2 if 0 <= work.known[0] < START_AHEAD else 1
    previous, before, factored, closed = math.inf, math.inf, False, closures.rows[1] > closures.rows[0]
    drift = 0.0
    for iteration in range(1, ITERATIONS + 1):
        if not evaluate(plan, ws, tree, closures, rule, work, given, h):
            return NOT_CONVERGED, iteration
        if not factored:
            eliminate(plan, ws, tree, closures, rule, work, h)
            drift = 0.0
        if tree.mover.size:
            increment = solve_paths(plan, ws, tree, closures, rule, work, h, factored)
        else:
            increment = solve_turns(plan, tree, closures, work)
        if not increment < LONGEST:
            return NOT_CONVERGED, iteration
        for i in range(tree.mass.size):
            for k in range(1, rule.weight.size):
                work.by[k, i] += work.turn[i, k - 1]
        move_multipliers(plan, closures, work)
        share = increment / previous  # zero at first
        if closed:
            left_open = _largest_open(work)
            share, before = max(share, left_open / before), max(left_open, TINY)
        left = increment * (share if factored else increment)
        if (
            closed or work.paths.drift.shape[1] > 0 or is_pushed(plan, work)
        ):  # some derivatives are left out: increments shrink by a share
            left = increment * (share if iteration > few else 1.0)
        if left <= ENOUGH or (increment < SMALL and share > STALLED):
            if not (closed and drift * change_of_multipliers(plan, closures, work) > STALE):
                return (CONVERGED if _turns_little(tree, rule, work) else NOT_CONVERGED), iteration
            share = math.inf  # factors anew
        factored, previous, drift = share < SHARED, max(increment, TINY), drift + increment
    return NOT_CONVERGED, ITERATIONS


@njit
def _largest_open(work):
    """Return the largest effort that is to vanish, N s or N m s, as the last iterate left it."""
    largest = 0.0
    for j in range(work.open.shape[0] - 1):
        for i in range(work.open.shape[1]):
            largest = max(largest, abs(work.open[j, i]))
    return largest


@njit
def _turns_little(tree, rule, work):
    """Whether no link turns so far over the step, ``work.by`` (s, nl), that its speed and its turn disagree."""
    for i in range(tree.mass.size):
        if tree.motion[i] != SLIDE and not abs(work.by[rule.weight.size - 1, i]) <= rule.furthest[0]:
            return False
    return True


@njit
def finish_step(plan, ws, tree, closures, rule, work, given, rates, h):
    """Make the end of a solved step of ``h`` s the present node; ``given``, ``rates`` (s, ne): inputs, their rates."""
    nl, last = tree.mass.size, rule.weight.size - 1
    for i in range(nl):
        for k in range(1, last + 1):
            move_link(tree, work, i, k)
        if tree.mass[i] > 0.0:
            pull_link(tree, rule, work, h, i, last)
    if tree.mover.size:
        push_paths(plan, ws, tree, rule, work, h, last, last + 1)
    if ws.efforts.state.size:
        settle_internals(plan, ws, tree, rule, work, given, h)
    if is_pushed(plan, work):
        finish_nodes(plan, ws, tree, closures, rule, work, given, h)
    finish_closures(plan, ws, closures, work, rates)
    if closures.rubs.size:
        finish_friction(plan, ws, tree, closures, rule, work, h)
    for i in range(nl):
        write(work.momentum[i], vector(work.wrench[last, i]), turn_of(work.wrench[last, i]))
    _remember(rule, work)
    for i in range(nl):
        coordinate, rest = two_sum(work.coordinate[0, i], work.coordinate[1, i] + work.by[last, i])
        work.coordinate[0, i], work.coordinate[1, i] = coordinate, rest
    for n in range(tree.ball.size):
        if abs(work.coordinate[0, tree.ball[n] + 1]) > TILT:
            _turn_ball(work, tree.ball[n])
    start_poses(plan, ws, tree, closures, work, given[last])
    for b in range(tree.link.size):  # each step: the sign does not depend on which nodes are recorded
        write_quaternion(work.rotation[0, tree.link[b]], ws.quat[0, b])
    if work.ends.any[0]:
        finish_ends(plan, ws, tree, work)


@njit
def return_to_start(plan, ws, tree, closures, work, given):
    """Bring back what iterates of a step that failed have followed; ``given`` (ne,): inputs at its start."""
    return_internals(ws, work)
    start_poses(plan, ws, tree, closures, work, given)


@njit
def _turn_ball(work, first):
    """Make the present node the zero of a ball's coordinates: angles about axes x, y, z, of links one after another."""
    # with T the rotations at coordinate zero: T_1 Rx(a) T_2 Ry(b) T_3 Rz'(c), T_2 = 1, Rz'(c) = T_3^T Rz(c) T_3
    start, own = work.joint[first], work.turned[first]
    a = work.coordinate[0, first] + work.coordinate[1, first]
    b = work.coordinate[0, first + 1] + work.coordinate[1, first + 1]
    c = work.coordinate[0, first + 2] + work.coordinate[1, first + 2]
    _write_ball(own, a, b, c, start)
    for n in range(work.past.shape[0]):
        x, y, z = a + work.past[n, first], b + work.past[n, first + 1], c + work.past[n, first + 2]
        _write_ball(own, x, y, z, work.joint[first + 1])
        M = work.joint[first + 2]
        for r in range(3):
            for k in range(3):
                M[r, k] = 0.0
                for m in range(3):
                    M[r, k] += start[m, r] * work.joint[first + 1][m, k]
        work.past[n, first] = math.atan2(-M[1, 2], M[2, 2])
        work.past[n, first + 1] = math.asin(max(-1.0, min(1.0, M[0, 2])))
        work.past[n, first + 2] = math.atan2(-M[0, 1], M[0, 0])
    for r in range(3):  # one step of Newton's method for the nearest rotation
        for k in range(3):
            own[r, k] = 1.5 * start[r, k]
            for m in range(3):
                for o in range(3):
                    own[r, k] -= 0.5 * start[r, m] * start[o, m] * start[o, k]
    for m in range(3):
        work.coordinate[0, first + m] = work.coordinate[1, first + m] = 0.0


@njit
def _write_ball(T, a, b, c, out):
    """Write T Rx(a) Ry(b) Rz(c), (3, 3)."""
    ca, sa, cb, sb, cc, sc = math.cos(a), math.sin(a), math.cos(b), math.sin(b), math.cos(c), math.sin(c)
    x = cb * cc, -cb * sc, sb
    y = ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb
    z = sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb
    for r in range(3):
        out[r, 0], out[r, 1], out[r, 2] = add(add(scale(T[r, 0], x), scale(T[r, 1], y)), scale(T[r, 2], z))


@njit
def _record(plan, ws, tree, work, out):
    """Write the present node to ``out``, position (nb, 3) and the others of `record_node`."""
    bring_node(plan, ws, tree, work, 0)
    record_node(plan, ws, 0, False, out)


@njit(seconds=20, what="steps of collocation")
def march_nodes(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace,
    inputs: Float4, loads: Float4, node: int, steps: int, stride: int, h: float,
    out: tuple[Float3, Float3, Float3, Float2, Float2],
) -> tuple[int, int, int]:  # fmt: skip
    """Take steps of ``h`` seconds from ``node`` on and record.

    ``inputs`` (2, steps, s, ne): those of laws, loads and prescribed motions at the nodes of each step, and their
    rates; of one step where they are constant. ``loads`` (steps, s, nb, 6): N, world, and N m, axes of the body, there;
    of one step where they are constant, of none where there are none. Steps end before an event where ``work.watch`` is
    STOPS, with the status EVENT.
    Nodes whose number ``stride`` divides are recorded, and the present one where no step is to be taken. ``out``: the
    first five of those of `step.run`. Returns (status, steps done, iterations).
    """
    position, quat, velocity, energy_work, state = out
    record, iterations, watch = 0, 0, work.watch[0]
    work.is_given[0] = loads.shape[0] > 0
    start_poses(plan, ws, tree, closures, work, inputs[0, 0, 0])
    if steps == 0:
        _record(plan, ws, tree, work, (position[0], quat[0], velocity[0], energy_work[0], state[0]))
    for step in range(steps):
        if work.ends.active[0]:
            choose_ends(plan, ws, tree, work, h)
        predict(rule, work)
        at = min(step, inputs.shape[1] - 1)
        given = inputs[0, at]
        if work.is_given[0]:
            take_loads(work, loads[min(step, loads.shape[0] - 1)])
        start_internals(ws, work)
        if watch:
            keep_start(plan, ws, tree, closures, rule, work, h)
        status, count = solve_step(plan, ws, tree, closures, rule, work, given, h)
        iterations += count
        if watch and status == CONVERGED:
            place_nodes(tree, rule, work)
            if meets_stops(plan, ws, tree, closures, rule, work) and watch == STOPS:
                status = EVENT
        if status != CONVERGED:
            return_to_start(plan, ws, tree, closures, work, given[0])
            return status, step, iterations
        finish_step(plan, ws, tree, closures, rule, work, given, inputs[1, at], h)
        if watch and lets_go(plan, ws, tree, work, given, inputs[1, at], h):
            return_to_start(plan, ws, tree, closures, work, given[0])
            return EVENT, step, iterations
        if (node + step + 1) % stride == 0:
            row = position[record], quat[record], velocity[record], energy_work[record], state[record]
            _record(plan, ws, tree, work, row)
            record += 1
    return CONVERGED, steps, iterations
