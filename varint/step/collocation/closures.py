"""Loop closures in a collocation step: rows at the nodes 1 .. q, impulses along them at the nodes 0 .. q - 1.

A closure's impulses at node j act along its gradient there, and make it hold at the nodes after the start. Its rows and
multipliers are q for one of a step of order 2 and stay in the same dense nodes (step/closure_nodes.py), which are
factored with complete pivoting: rows that are redundant in the whole step get no impulse. The curvature of the rows is
left out of Newton's matrix: an iterate leaves a share of the error, about h times the impulses over the masses.

A constraint of forces (step/constraints.py) is a row likewise; where it is a sum of several measures, each has a row
and they share one multiplier (`_chain_rows`). Prescribed motions have their targets at the nodes.

A hard limit that is closed is a row as well (stops.py). Any other row of an effort stands there for its derivative:
a change of its impulses at node j follows from the changes v of the measure,
d lambda_j = h weight_j df/dvalue v_j + weight_j df/drate sum_k slope_jk v_k. The effort itself is in the wrenches
(efforts.py), so these multipliers are not kept.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.collocation.idle_rows import bring_together, gather_busy, solve_busy
from varint.step.collocation.records import SCREW, SLIDE
from varint.step.collocation.shown import show_bodies
from varint.step.collocation.stops import place_stops
from varint.step.configuration import place_anew
from varint.step.constraints import follow_constraints, set_node_rates, set_node_targets, start_constraints
from varint.step.dense import add_scaled6, rank_lu_factor, rank_lu_solve
from varint.step.plan import CONSTRAINT, EFFORT
from varint.step.rows import evaluate_rows


@njit(inline="always")
def free_motion(tree, work, k, n):
    """The shift (3,) and the turn (3,) of link n at node k by its own coordinate."""
    axis = vector(work.axis[k, n])
    if tree.motion[n] == SLIDE:
        return axis, (0.0, 0.0, 0.0)
    line = cross(axis, vector(work.offset[k, n]))
    if tree.motion[n] == SCREW:
        line = add(line, scale(tree.pitch[n], axis))
    return line, axis


@njit
def start_closures(plan, ws, given):
    """Prepare the rows at the start of a run, whose poses (nb, 3), (nb, 4) are at pose 0: targets, rates and turns.

    ``given`` (2, ne): the inputs there, and their rates.
    """
    place_anew(plan, ws, 0)
    set_node_targets(plan, ws, given[0])
    set_node_rates(plan, ws, given[1])
    start_constraints(plan, ws, 0)


@njit
def place_closures(plan, ws, tree, closures, work, given, k):
    """Write values (rows,) and gradients (rows, 2, 6) of the rows at node k, whose inputs are ``given`` (ne,).

    Turns are counted on from node 0, the present one, whose bodies `start_poses` has shown.
    """
    own = work.closures
    if k > 0:
        show_bodies(tree, work, k)
    set_node_targets(plan, ws, given)
    if k == 0:
        follow_constraints(plan, ws, work.body_position[0], work.body_rotation[0])
    evaluate_rows(plan, ws, work.body_position[k], work.body_rotation[k], own.value[k], own.gradient[k])
    if work.watch[0]:
        place_stops(plan, ws, closures, work, k)
    if k > 0:
        q = work.position.shape[0] - 1
        for r in range(closures.rows[0], closures.rows[1]):
            own.row[(r - closures.rows[0]) * q + k - 1] = own.value[k, r]  # zero for rows of efforts


@njit(inline="always")
def is_effort(plan, own, r):
    """Whether row r of the plan stands for the derivative of an effort, and is no constraint.

    ``own``: ``work.closures``, of which ``held`` (rows,) is read.
    """
    return plan.rows.role[r] == EFFORT and not own.held[r]


@njit(inline="always")
def _gradient(plan, work, r, side, k):
    """Gradient (3,), (3,) of row r at node k by motions of the body on a side, in axes of the world."""
    G, R = work.closures.gradient[k, r, side], work.body_rotation[k, natural(plan.measures.body[r, side])]
    return vector(G), rotate(R, turn_of(G))


@njit
def push_closures(plan, tree, closures, work):
    """Add the impulses along the rows to the wrenches (nl, 6) at all nodes but the last."""
    q = work.position.shape[0] - 1
    for r in range(closures.rows[0], closures.rows[1]):
        for side in range(2):
            b = plan.measures.body[r, side]
            if b >= tree.link.size or is_effort(plan, work.closures, r):
                continue
            for j in range(q):
                f = work.closures.multiplier[(r - closures.rows[0]) * q + j]
                force, torque = _gradient(plan, work, r, side, j)
                out = work.wrench[j, tree.link[b]]
                write(out, add(vector(out), scale(f, force)), add(turn_of(out), scale(f, torque)))


@njit
def start_fills(plan, tree, closures, rule, work):
    """Write the gradients into the fills (q q, 6) of the closures' own bodies; clear the rest."""
    own, q = work.closures, work.position.shape[0] - 1
    own.lower[:] = 0.0
    own.upper[:] = 0.0
    own.K[:] = 0.0
    own.scale[:] = 0.0
    for r in range(closures.rows[0], closures.rows[1]):
        pushes, at = is_effort(plan, own, r), (r - closures.rows[0]) * q
        for j in range(q if pushes else 0):
            own.K[closures.start[at + j] + at + j] = own.scale[at + j] = 1.0
        if own.idle[r]:
            continue
        for side in range(2):
            e = plan.loops.row_fill[r, side]
            if e < 0:
                continue
            for j in range(q):
                _add_gradient(plan, work, r, side, j, 1.0, own.upper[e, j * q + j])
                if not pushes:
                    _add_gradient(plan, work, r, side, j + 1, 1.0, own.lower[e, j * q + j])
                    continue
                for k in range(1, q + 1):
                    share = own.by_rate[j, r] * rule.slope[j, k] + (own.by_value[j, r] if j == k else 0.0)
                    if work.ends.any[0]:
                        share += work.ends.by_row[j, r] * rule.top[k]
                    if work.internal.by_row.shape[0] > 0:
                        share += work.internal.by_row[r, j, k - 1]
                    _add_gradient(plan, work, r, side, k, -share, own.lower[e, j * q + k - 1])


@njit(inline="always")
def _add_gradient(plan, work, r, side, k, factor, out):
    """Add a factor times `_gradient` to ``out`` (6,)."""
    force, torque = _gradient(plan, work, r, side, k)
    write(out, add(vector(out), scale(factor, force)), add(turn_of(out), scale(factor, torque)))


@njit(inline="always")
def _block(closures, n):
    """First row of dense node n, the end, where its block starts in K (entries,), how far its rows are apart there."""
    first = closures.node[n]
    return first, closures.node[n + 1], closures.start[first] + first, closures.high[n] - closures.low[n]


@njit
def factor_closures(plan, tree, closures, work, i):
    """Eliminate from K (entries,) the dense nodes whose top is the body in slot i, the last of which is the world."""
    for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
        n = plan.loops.node_order[k]
        _chain_rows(plan, closures, work, n, i)
        _factor_node(closures, work.closures, n)
        if i < plan.bodies.mass.size:
            _fold_node(plan, tree, closures, work, n, i)


@njit
def _chain_rows(plan, closures, work, n, i):
    """Let rows of dense node n that share one multiplier hold their sum, at each node of the step.

    As `_chain_rows` of step/closure_nodes.py does, whose comment has the equations.

    Their blocks of K (entries,) and fills at the top, the body in slot i.
    """
    own, q, K = work.closures, work.position.shape[0] - 1, work.closures.K
    begin, end, start, stride = _block(closures, n)
    width, at = closures.high[n] - begin, start - stride * begin
    for head in range(closures.rows[0] + begin // q, closures.rows[0] + end // q):
        count = plan.rows.chain[head]
        if count == 0:
            continue
        constraint, first = plan.rows.role[head] == CONSTRAINT, (head - closures.rows[0]) * q
        last = first + count * q
        for j in range(q):
            for column in range(width):
                of_chain = first <= begin + column < last and (begin + column - first) % q == j
                total = -1.0 if of_chain and not constraint else 0.0  # the diagonal of an effort's row is one
                for r in range(first + j, last, q):
                    total += K[at + r * stride + column]
                for r in range(first + j, last, q):
                    unit = 1.0 if r == begin + column and not constraint else 0.0
                    K[at + r * stride + column] = 0.0 if constraint and r > first + j else total + unit
            for r in range(first + j + q, last if constraint else first, q):
                scale_r = own.scale[r]
                own.scale[first + j] += scale_r
                K[at + r * stride + r - begin], K[at + r * stride + first + j - begin] = scale_r, -scale_r
            if i < plan.bodies.mass.size:
                _chain_fills(work, plan.loops.node_fill[n] + (first - begin) // q, count, j, constraint)


@njit
def _chain_fills(work, fill, count, j, constraint):
    """Sum rows j of the fills ``lower`` (q q, 6) of ``count`` rows with one effort, from ``fill`` on."""
    lower, q = work.closures.lower, work.position.shape[0] - 1
    for k in range(j * q, j * q + q):
        for a in range(6):
            total = 0.0
            for e in range(fill, fill + count):
                total += lower[e, k, a]
            for e in range(fill, fill + count):
                lower[e, k, a] = 0.0 if constraint and e > fill else total


@njit
def _chain_values(plan, closures, work, n):
    """Sum ``row`` (closed,) of rows of dense node n with one effort, as `_chain_rows` sums their blocks."""
    row, q = work.closures.row, work.position.shape[0] - 1
    begin, end = closures.node[n], closures.node[n + 1]
    for head in range(closures.rows[0] + begin // q, closures.rows[0] + end // q):
        first = (head - closures.rows[0]) * q
        last = first + plan.rows.chain[head] * q
        for j in range(q):
            total = 0.0
            for r in range(first + j, last, q):
                total += row[r]
            for r in range(first + j, last, q):
                row[r] = 0.0 if plan.rows.role[head] == CONSTRAINT and r > first + j else total


@njit
def _factor_node(closures, own, n):
    """Factor K_nn, K_nm = K_nn^-1 K_nm, K_mm -= K_mn K_nm for later rows m; K (entries,)."""
    first, last, start, stride = _block(closures, n)
    size, high, K, column = last - first, closures.high[n], own.K, own.column[0]
    scales, rows, columns = own.scale[first:last], own.pivot[0, first:last], own.pivot[1, first:last]
    busy = own.busy[first:last]
    count = gather_busy(closures, own, n)
    if count < size:
        bring_together(K, start, stride, scales, busy, count)
    rank = rank_lu_factor(K, start, stride, count, scales, rows, columns)[0]
    own.rank[n] = rank
    for s in range(size, high - first):
        for k in range(count):
            column[k] = K[start + busy[k] * stride + s]
        rank_lu_solve(K, start, stride, count, rank, scales, rows, columns, column, own.column[1])
        for k in range(count):
            K[start + busy[k] * stride + s] = column[k]
    for r in range(last, high):
        for m in range(first, last):
            factor = K[closures.start[r] + m]
            if factor != 0.0:
                for s in range(last, high):
                    K[closures.start[r] + s] -= factor * K[closures.start[m] + s]


@njit
def _fold_node(plan, tree, closures, work, n, i):
    """Eliminate node n from its top, the body in slot i: fills ``lower`` (q q, 6) become K_nn^-1 lower."""
    own, q = work.closures, work.position.shape[0] - 1
    first, last, start, stride = _block(closures, n)
    size, rank, column, fill = last - first, own.rank[n], own.column[0], plan.loops.node_fill[n]
    scales, rows, columns = own.scale[first:last], own.pivot[0, first:last], own.pivot[1, first:last]
    busy, count = own.busy[first:last], own.busy_count[n]
    for k in range(q):
        for a in range(6):
            for m in range(count):
                e = busy[m]
                column[m] = own.lower[fill + e // q, (e % q) * q + k, a]
            rank_lu_solve(own.K, start, stride, count, rank, scales, rows, columns, column, own.column[1])
            for m in range(count):
                e = busy[m]
                own.lower[fill + e // q, (e % q) * q + k, a] = column[m]
    D = work.D[tree.link[i]]
    for m in range(count):
        e = busy[m]
        for j in range(q):
            up = own.upper[fill + e // q, j * q + e % q]
            for k in range(q):
                solved = own.lower[fill + e // q, (e % q) * q + k]
                for a in range(6):
                    add_scaled6(D[j * q + k, a], -up[a], solved)
    for e in range(fill + size // q, plan.loops.fill_first[i + 1]):
        r = (plan.loops.fill_row[e] - closures.rows[0]) * q
        if not last <= r < closures.high[n] or own.idle[plan.loops.fill_row[e]]:
            continue
        for j in range(q):
            for b in range(count):
                m = busy[b]
                f, g = own.K[closures.start[r + j] + first + m], own.K[closures.start[first + m] + r + j]
                for k in range(q):
                    add_scaled6(own.lower[e, j * q + k], -f, own.lower[fill + m // q, (m % q) * q + k])
                    add_scaled6(own.upper[e, k * q + j], -g, own.upper[fill + m // q, k * q + m % q])


@njit
def _measure_terms(plan, tree, closures, work, n, e, lower, upper):
    """Let the scales (closed,) of the row of fill e know how large the terms are that link n adds to its pivots.

    By their bounds, not their sums: a row that no motion of the links changes is redundant, whatever its round-off.
    ``lower``, ``upper`` (q q,): scratch, for bounds of the fills along the free motion.
    """
    own, q = work.closures, work.position.shape[0] - 1
    r, slides = (plan.loops.fill_row[e] - closures.rows[0]) * q, tree.motion[n] == SLIDE
    for k in range(q):
        arm, far = vector(work.offset[k, n]), vector(work.offset[k + 1, n])
        pitch = abs(tree.pitch[n])
        length, beyond = math.sqrt(dot(arm, arm)) + pitch, math.sqrt(dot(far, far)) + pitch
        for j in range(q):
            upper[k * q + j] = _bound_along(slides, length, own.upper[e, k * q + j])
            lower[j * q + k] = _bound_along(slides, beyond, own.lower[e, j * q + k])
    for j in range(q):
        size = own.scale[r + j]
        for m in range(q):
            for k in range(q):
                size = max(size, lower[j * q + m] * abs(work.E[n, m, k]) * upper[k * q + j])
        own.scale[r + j] = size


@njit(inline="always")
def _bound_along(slides, length, wrench):
    """A bound of `_along` of a wrench (6,), about a centre that is ``length`` from the joint."""
    force = math.sqrt(dot(vector(wrench), vector(wrench)))
    return force if slides else math.sqrt(dot(turn_of(wrench), turn_of(wrench))) + force * length


@njit
def pass_closures(plan, tree, closures, work, n, i):
    """Eliminate link n, of the joint of the body in slot i, from the fills (q q, 6) and K (entries,)."""
    own, q, n = work.closures, natural(work.position.shape[0] - 1), natural(n)
    first, last = natural(plan.loops.fill_pass[i]), natural(plan.loops.fill_first[i + 1])
    pair, column = natural(closures.pair[n]), own.column[0]
    for e in range(first, last):
        rise, reach = own.rise[pair + e - first], own.reach[pair + e - first]
        if own.idle[plan.loops.fill_row[e]]:
            rise[:] = 0.0
            reach[:] = 0.0
            continue
        _measure_terms(plan, tree, closures, work, n, e, rise, reach)
        for j in range(q):
            for k in range(q):
                rise[j * q + k] = _along(tree, work, n, k + 1, own.lower[e, j * q + k])
        for k in range(q):
            for m in range(q):
                column[m] = _along(tree, work, n, m, own.upper[e, m * q + k])
            for j in range(q):
                total = 0.0
                for m in range(q):
                    total += work.E[n, j, m] * column[m]
                reach[j * q + k] = total
        for j in range(q):
            for m in range(q):
                for k in range(q):
                    add_scaled6(own.lower[e, j * q + k], -rise[j * q + m], work.V[n, m * q + k])
                    add_scaled6(own.upper[e, j * q + k], -reach[m * q + k], work.U[n, j * q + m])
    for e in range(first, last):
        r = (plan.loops.fill_row[e] - closures.rows[0]) * q
        if own.idle[plan.loops.fill_row[e]]:
            continue
        for f in range(first, last):
            if own.idle[plan.loops.fill_row[f]]:
                continue
            s = (plan.loops.fill_row[f] - closures.rows[0]) * q
            rise, reach = own.rise[pair + e - first], own.reach[pair + f - first]
            for j in range(q):
                at = closures.start[r + j] + s
                for m in range(q):
                    for k in range(q):
                        own.K[at + k] -= rise[j * q + m] * reach[m * q + k]


@njit
def lift_closures(plan, tree, work, n, i):
    """Bring the fills (q q, 6) from link n over its arm to its parent, and to the fills of a body there."""
    own, q, p = work.closures, work.position.shape[0] - 1, natural(tree.parent[n])
    above = tree.body[p] != i if p < tree.parent.size else True
    for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
        up = plan.loops.fill_up[e]
        if (above and up < 0) or own.idle[plan.loops.fill_row[e]]:
            continue
        for j in range(q):
            arm = sub(vector(work.position[j, n]), vector(work.position[j, p]))
            for k in range(q):
                beside = sub(vector(work.position[k + 1, n]), vector(work.position[k + 1, p]))
                lower, upper = own.lower[e, j * q + k], own.upper[e, j * q + k]
                line, turn = vector(lower), add(turn_of(lower), cross(beside, vector(lower)))
                force, torque = vector(upper), add(turn_of(upper), cross(arm, vector(upper)))
                if above:
                    lower, upper = own.lower[up, j * q + k], own.upper[up, j * q + k]
                    line, turn = add(line, vector(lower)), add(turn, turn_of(lower))
                    force, torque = add(force, vector(upper)), add(torque, turn_of(upper))
                write(lower, line, turn)
                write(upper, force, torque)


@njit(inline="always")
def _along(tree, work, n, k, wrench):
    """A wrench (6,) about the centre of link n, along its free motion at node k."""
    line, turn = free_motion(tree, work, k, n)
    return dot(line, vector(wrench)) + dot(turn, turn_of(wrench))


@njit
def solve_closures(plan, tree, closures, work, i):
    """Bring ``row`` (closed,) past the dense nodes whose top is the body in slot i, nb for the world."""
    own, q = work.closures, work.position.shape[0] - 1
    for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
        n = plan.loops.node_order[k]
        first, last, start, stride = _block(closures, n)
        _chain_values(plan, closures, work, n)
        solve_busy(own, start, stride, n, first, last)
        for r in range(last, closures.high[n]):
            for m in range(first, last):
                own.row[r] -= own.K[closures.start[r] + m] * own.row[m]
        if i < plan.bodies.mass.size:
            fill = plan.loops.node_fill[n]
            for e in range(last - first):
                for j in range(q):
                    add_scaled6(
                        work.motion[tree.link[i], j], -own.row[first + e], own.upper[fill + e // q, j * q + e % q]
                    )


@njit
def pass_values(plan, closures, work, n, i):
    """Add to ``row`` (closed,) what the turn of link n, with its parent at rest, changes of the rows that reach it."""
    own, q = work.closures, work.position.shape[0] - 1
    first = plan.loops.fill_pass[i]
    for e in range(first, plan.loops.fill_first[i + 1]):
        r = (plan.loops.fill_row[e] - closures.rows[0]) * q
        rise = own.rise[closures.pair[n] + e - first]
        for j in range(q):
            for k in range(q):
                own.row[r + j] += rise[j * q + k] * work.turn[n, k]


@njit
def find_multipliers(plan, tree, closures, work, i):
    """Write changes of multipliers to ``row`` (closed,), of nodes whose top is the body in slot i."""
    own, q = work.closures, work.position.shape[0] - 1
    for at in range(plan.loops.node_first[i + 1] - 1, plan.loops.node_first[i] - 1, -1):
        n = plan.loops.node_order[at]
        first, last = closures.node[n], closures.node[n + 1]
        for r in range(first, last):
            total = -own.row[r]
            for s in range(last, closures.high[n]):
                total -= own.K[closures.start[r] + s] * own.row[s]
            if i < plan.bodies.mass.size:
                e, j = plan.loops.node_fill[n] + (r - first) // q, (r - first) % q
                for k in range(q):
                    x, solved = work.motion[tree.link[i], k], own.lower[e, j * q + k]
                    total -= dot(vector(solved), vector(x)) + dot(turn_of(solved), turn_of(x))
            own.row[r] = total


@njit
def yield_turns(plan, closures, work, n, i):
    """Add to ``work.turn[n]`` (q,) what the changes of the multipliers that reach it make of them."""
    own, q = work.closures, work.position.shape[0] - 1
    first = plan.loops.fill_pass[i]
    for e in range(first, plan.loops.fill_first[i + 1]):
        r = (plan.loops.fill_row[e] - closures.rows[0]) * q
        reach = own.reach[closures.pair[n] + e - first]
        for j in range(q):
            for k in range(q):
                work.turn[n, j] -= reach[j * q + k] * own.row[r + k]


@njit
def finish_closures(plan, ws, closures, work, rates):
    """Add the works of the rows over a step to ``ws.efforts.work``; ``rates`` (s, ne) of their targets at the nodes."""
    q = rates.shape[0] - 1
    for c in range(plan.constraints.row.size):
        r, e = plan.constraints.row[c], plan.constraints.element[c]
        for j in range(q):
            ws.efforts.work[e] += work.closures.multiplier[(r - closures.rows[0]) * q + j] * rates[j, e]
    set_node_rates(plan, ws, rates[q])


@njit
def move_multipliers(plan, closures, work):
    """Take the increments of the multipliers (closed,), but for rows of efforts."""
    q = work.position.shape[0] - 1
    for r in range(work.closures.row.size):
        if not is_effort(plan, work.closures, closures.rows[0] + r // q):
            work.closures.multiplier[r] += work.closures.row[r]


@njit
def change_of_multipliers(plan, closures, work):
    """Return the largest of the last increments of the multipliers (closed,) as a share of the largest of these."""
    own, change, size, q = work.closures, 0.0, 0.0, work.position.shape[0] - 1
    for r in range(own.row.size):
        if not is_effort(plan, own, closures.rows[0] + r // q):
            change, size = max(change, abs(own.row[r])), max(size, abs(own.multiplier[r]))
    return change / max(size, 1e-300)
