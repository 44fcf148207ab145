"""One step's equations, and Newton's method for them (VI section 4.1, in node-momentum form).

Unknown are the velocities (v, w) of the bodies, constant over the step, and the impulse of each row, ``ws.multiplier``.
With u = h w / 2 and c = sqrt(1 - u . u) the residuals are

    body   [m v; c J w + u x J w] - goal - G^T multiplier          N s, N m s     (VI eqs. 26, 33)
    row    g(x + h v, q (c, u)) / h                                m/s, rad/s     (VI eqs. 27, 32)

``goal``: the momenta that the step starts from, see `step._kick`. G: the Jacobian of the rows at the start of the step.
Laws, loads and other roles add their part to the residuals (roles.py). Newton's matrix: docs/theory.md section 4.

The multipliers enter linearly, so Newton's iterates of the velocities do not depend on the multipliers' start values.
But an increment leaves a round-off in proportion to its size. So a step of a tree, of one stage, starts them from those
of the last step. All others start them at zero: those of redundant closures would grow.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.quaternion import advance, rotation_matrix
from varint.mathematics.sums import two_sums
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.border import solve_bordered
from varint.step.contacts.rows import has_contacts
from varint.step.dense import copy_motions
from varint.step.intervals import StepSpan
from varint.step.measures import POINT
from varint.step.momentum import angular_momentum, momentum_derivative
from varint.step.pair_impulses import pair_impulses
from varint.step.plan import JOINT
from varint.step.roles import add_matrices, add_residuals, place_role_rows, unfold_roles
from varint.step.rows import evaluate_rows

CONVERGED, NOT_CONVERGED = 0, 1
ITERATIONS = 25  # of a step, at most
HALVINGS = 12  # of an increment, at most
ATTACH_ABOVE = 1e-3  # m/s: after smaller increments joints are closed enough without `_attach`, which moves velocities
ATTACH_START_ABOVE = 1e-6  # m/s: in trees start values less wrong leave only round-off without it
ROTATION_BOUND = 0.25  # of |h w / 2|: a step in which a body turns further, 29 degrees, is rejected and done in halves
DIRECTION_BOUND = 0.15  # rad: the same for the direction of a rod or a taut tether
LEAST_COSINE = math.cos(DIRECTION_BOUND)
SHRUNK = 0.01  # the next increment takes the same factors where the last one left this share of the residual, or less
SHARP = 0.125  # share of the floor below which a residual is nothing but round-off
ROUNDED = 0.25  # the same after an increment too small to leave anything else: the places of two bodies are rounded
NOTHING = 1e-6  # share of the floor: what is left of a residual below that does not move the energy in 1e8 steps
CURVED = 10.0  # times h and the square of an increment, over the size of the parts: residual that it leaves, at most
ROUND_OFF = 1e4  # times the floor: a residual that is accepted where increments have come down to round-off
EPSILON = 2.220446049250313e-16


@njit
def _attach(plan, i, position, rotation):
    """Shift body i in ``position`` (nb + 1, 3) so that the POINT rows of its tree joint hold; its parent is in place.

    ``rotation`` (nb + 1, 3, 3). Then Newton's method has only rotations to find. Near a singular pose this keeps it on
    its branch of solutions.
    """
    side_a = plan.joints.first_body[i]
    a, b = plan.joints.side[i, side_a], plan.joints.side[i, 1 - side_a]
    A, B = rotation[a], rotation[b]
    sign = 1.0 if side_a == 0 else -1.0
    for r in range(plan.joints.rows[i], plan.joints.rows[i + 1]):
        if plan.measures.kind[r] != POINT or plan.rows.role[r] != JOINT:
            continue
        u, w = plan.measures.u[r], plan.measures.w[r]
        d0 = A[0, 0] * u[0] + A[0, 1] * u[1] + A[0, 2] * u[2]
        d1 = A[1, 0] * u[0] + A[1, 1] * u[1] + A[1, 2] * u[2]
        d2 = A[2, 0] * u[0] + A[2, 1] * u[1] + A[2, 2] * u[2]
        off = -plan.measures.c[r]
        off += d0 * (position[b, 0] - position[a, 0] + B[0, 0] * w[0] + B[0, 1] * w[1] + B[0, 2] * w[2])
        off += d1 * (position[b, 1] - position[a, 1] + B[1, 0] * w[0] + B[1, 1] * w[1] + B[1, 2] * w[2])
        off += d2 * (position[b, 2] - position[a, 2] + B[2, 0] * w[0] + B[2, 1] * w[1] + B[2, 2] * w[2])
        position[i, 0] += sign * off * d0
        position[i, 1] += sign * off * d1
        position[i, 2] += sign * off * d2


@njit
def _attach_finely(plan, i, position, rest, rotation):
    """Do `_attach` in steps with contacts: places are ``position`` + ``rest``, the part that rounding takes off.

    ``position`` (nb + 1, 3), ``rest`` (nb, 3), ``rotation`` (nb + 1, 3, 3). Start values are often solutions there. The
    round-off of joints would add up along a chain to more than these may miss.
    """
    nb, side_a = plan.bodies.mass.size, plan.joints.first_body[i]
    a, b = plan.joints.side[i, side_a], plan.joints.side[i, 1 - side_a]
    sign, x, left = 1.0 if side_a == 0 else -1.0, position[i], rest[i]
    for r in range(plan.joints.rows[i], plan.joints.rows[i + 1]):
        if plan.measures.kind[r] != POINT or plan.rows.role[r] != JOINT:
            continue
        apart = sub(vector(position[b]), vector(position[a]))
        if a != nb:
            apart = sub(apart, vector(rest[a]))
        if b != nb:
            apart = add(apart, vector(rest[b]))
        along = rotate(rotation[a], vector(plan.measures.u[r]))
        off = dot(along, add(apart, rotate(rotation[b], vector(plan.measures.w[r])))) - plan.measures.c[r]
        shifted = add(vector(left), scale(sign * off, along))
        (x[0], x[1], x[2]), (left[0], left[1], left[2]) = two_sums(vector(x), shifted)


@njit
def _directions_kept(plan, ws, start, end):
    """Return whether all rods and lengths that are constraints turn by less than DIRECTION_BOUND from pose to pose.

    ``start``, ``end``: the poses, 0 or 1, whose ``ws.jacobian`` (2, nr, 2, 6) is compared. The impulse of such a row
    acts along its direction at the start of the step, which must not differ much at the end.
    """
    for n in range(plan.rows.pointing.size):
        r = plan.rows.pointing[n]
        if ws.released[r] > 0.0:
            continue
        a, b = vector(ws.jacobian[start, r, 0]), vector(ws.jacobian[end, r, 0])
        if not dot(a, b) >= LEAST_COSINE * math.sqrt(dot(a, a) * dot(b, b)):
            return False
    return True


@njit
def _steepness(plan, r, gradient):
    """Return the amplification from body motion (scaled to m) to the joint coordinate of row r; at least 1.

    ``gradient`` (2, 6). Where two hinges of a joint are nearly parallel, a body that moves by its round-off changes
    their coordinates by far more, and no step can close the row nearer than that.
    """
    length, total = plan.bodies.length[0], 0.0
    for side in range(2):
        for k in range(3):
            total += gradient[side, k] ** 2 + (gradient[side, 3 + k] / length) ** 2
    return max(1.0, plan.rows.scale[r] * math.sqrt(total))


@njit(inline="always")
def _weigh_bodies(plan, ws, merit, moved):
    """Add the squares of the bodies' residuals to ``merit``; return it, the largest, and ``moved`` with momenta.

    The residuals of a body, ``ws.residual_body`` (nb, 6), are its impulse and its impulsive torque, scaled to m/s; the
    squares of both are compared. ``moved``, m/s: largest impulse so far.
    """
    unbalanced, moved = 0.0, moved * moved
    for i in range(plan.bodies.mass.size):
        r, start = ws.residual_body[i], ws.goal[i]
        linear, angular = plan.bodies.scale[i, 0], plan.bodies.scale[i, 1]
        linear, angular = linear * linear, angular * angular
        a = linear * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        b = angular * (r[3] * r[3] + r[4] * r[4] + r[5] * r[5])
        merit += a + b
        unbalanced = max(unbalanced, max(a, b))
        moved = max(moved, linear * (start[0] * start[0] + start[1] * start[1] + start[2] * start[2]))
        moved = max(moved, angular * (start[3] * start[3] + start[4] * start[4] + start[5] * start[5]))
    return merit, math.sqrt(unbalanced), math.sqrt(moved)


@njit(inline="always")
def _weigh_row(plan, ws, r, gradient, h, weights):
    """Divide the residual of row r, with its ``gradient`` (2, 6), by ``h``; return (merit, worst, moved) with it.

    The residual is in ``ws.residual_row``, and its impulse in ``ws.multiplier``.
    """
    merit, worst, moved = weights
    ws.residual_row[r] /= h
    size = plan.rows.scale[r] * abs(ws.residual_row[r])
    if plan.measures.product[r] >= 0 and plan.rows.role[r] != JOINT:
        size /= _steepness(plan, r, gradient)
    return merit + size * size, max(worst, size), max(moved, plan.rows.push[r] * abs(ws.multiplier[r]))


@njit(inline="always")
def _weigh_pair(plan, ws, upper, j, h, weights):
    """Weigh the rows of the lower pair of joint j as `_weigh_row`; take their impulses into its bodies' residuals.

    ``ws.residual_body`` (nb, 6) of its two bodies. ``weights``: (merit, worst, moved) so far; ``upper``: pose along
    whose rows the impulses act, 0 or 1; ``h``, s.
    """
    first, rows, points = natural(plan.joints.rows[j]), natural(plan.joints.pair[j]), natural(plan.joints.points[j])
    if rows == 5 and points == 3:  # loops over numbers known here unroll
        return _weigh_rows(plan, ws, upper, j, first, 5, 3, h, weights)
    return _weigh_rows(plan, ws, upper, j, first, rows, points, h, weights)


@njit(inline="always")
def _weigh_rows(plan, ws, upper, j, first, rows, points, h, weights):
    """Weigh ``rows`` rows from ``first`` on, ``points`` of them of the kind POINT, as `_weigh_pair` does.

    Divides ``ws.residual_row`` by ``h``; adds the impulses to ``ws.residual_body``. ``weights``: (merit, worst, moved)
    so far, returned with the rows.
    """
    merit, worst, moved = weights
    for number in range(first, first + rows):
        r = natural(number)
        open_by = ws.residual_row[r] / h
        ws.residual_row[r] = open_by
        size = plan.rows.scale[r] * abs(open_by)
        merit, worst = merit + size * size, max(worst, size)
        moved = max(moved, plan.rows.push[r] * abs(ws.multiplier[r]))
    push, turn, back = pair_impulses(ws.multiplier, ws.jacobian[upper], first, rows, points)
    child, parent = ws.residual_body[j], natural(plan.joints.parent[j])
    write(child, sub(vector(child), push), sub(turn_of(child), turn))
    if parent != plan.bodies.mass.size:
        other = ws.residual_body[parent]
        write(other, add(vector(other), push), sub(turn_of(other), back))
    return merit, worst, moved


@njit(inline="always")
def _take_impulses(plan, ws, upper, first, end, j, side):
    """Subtract the impulses of the rows ``first`` to ``end`` - 1 of joint j from the residual of the body at a side.

    ``ws.residual_body`` (nb, 6); ``upper``: pose along whose rows they act, 0 or 1; ``side``: 0 or 1.
    """
    i = natural(plan.joints.side[j, side])
    if i == plan.bodies.mass.size:
        return
    residual = ws.residual_body[i]  # in registers over all rows
    r0, r1, r2, r3, r4, r5 = residual[0], residual[1], residual[2], residual[3], residual[4], residual[5]
    for number in range(first, end):
        r = natural(number)
        if ws.released[r] > 0.0:
            continue
        f, G = -ws.multiplier[r], ws.jacobian[upper, r, side]
        r0, r1, r2 = r0 + f * G[0], r1 + f * G[1], r2 + f * G[2]
        r3, r4, r5 = r3 + f * G[3], r4 + f * G[4], r5 + f * G[5]
    residual[0], residual[1], residual[2], residual[3], residual[4], residual[5] = r0, r1, r2, r3, r4, r5


@njit
def evaluate_step(plan, ws, start, end, h, upper, increment):
    """Write the residuals of a step of ``h`` seconds with ``ws.velocity`` (nb, 6) and ``ws.multiplier`` (nr,).

    Writes the pose ``end`` (``ws.position``, ``ws.jacobian``, ...), ``ws.residual_body``, ``ws.residual_row`` and
    ``ws.missed``. The impulses act along the rows of the pose ``upper``. ``increment``: the largest change of a
    velocity that led here, m/s; above ATTACH_ABOVE anchors of tree joints are closed, which changes ``ws.velocity``;
    with contacts callers clear ``ws.position_rest``.

    Returns four numbers, all NaN where a body or a rod turns further than a step may, or a residual is not finite:
    merit        sum of the squares of all residuals, each scaled to m/s
    largest      of the residuals, m/s
    unbalanced   largest residual of a body over the largest momentum or impulse
    size         m/s, largest velocity and largest position over ``h``: what the round-off of a row is relative to

    Released rows, which are no constraints, are not divided by ``h``, and count only if their efforts are unknowns.
    """
    nb, half_step, length = plan.bodies.mass.size, 0.5 * h, plan.bodies.length[0]
    start, end, upper = natural(start), natural(end), natural(upper)
    fastest = quickest = farthest = 0.0
    for i in range(nb):
        v = ws.velocity[i]
        if not half_step * half_step * dot(turn_of(v), turn_of(v)) <= ROTATION_BOUND * ROTATION_BOUND:
            return math.nan, math.nan, math.nan, math.nan
        q, q_rest = ws.quat, ws.quat_rest
        advance(q[start, i], q_rest[start, i], v[3], v[4], v[5], half_step, q[end, i], q_rest[end, i])
        rotation_matrix(ws.quat[end, i], ws.rotation[end, i])
        x, x_rest, before = ws.position[end, i], ws.position_rest[end, i], ws.position[start, i]
        moved = add(vector(ws.position_rest[start, i]), scale(h, vector(v)))
        (x[0], x[1], x[2]), (x_rest[0], x_rest[1], x_rest[2]) = two_sums(vector(before), moved)
        if increment > ATTACH_ABOVE:
            fine = has_contacts(plan)
            if fine:
                _attach_finely(plan, i, ws.position[end], ws.position_rest[end], ws.rotation[end])
            else:
                _attach(plan, i, ws.position[end], ws.rotation[end])
            for k in range(3):
                x_rest[k] = x_rest[k] if fine else 0.0
                v[k] = (x[k] - before[k] - ws.position_rest[start, i, k]) / h
        for k in range(3):
            farthest, fastest = max(farthest, abs(x[k])), max(fastest, abs(v[k]))
            quickest = max(quickest, abs(v[3 + k]))
        line, turn = scale(plan.bodies.mass[i], vector(v)), turn_of(v)
        turn = angular_momentum(plan.bodies.inertia[i], turn, half_step)
        write(ws.residual_body[i], sub(line, vector(ws.goal[i])), sub(turn, turn_of(ws.goal[i])))
    evaluate_rows(plan, ws, ws.position[end], ws.rotation[end], ws.residual_row, ws.jacobian[end])
    for k in range(3):
        ws.missed[k] = 0.0
    place_role_rows(plan, ws, end)
    add_residuals(plan, ws, start, end, h)
    if plan.rows.pointing.size and not _directions_kept(plan, ws, start, end):
        return math.nan, math.nan, math.nan, math.nan
    weights = ws.missed[0], ws.missed[1], ws.missed[2]
    for j in range(plan.joints.side.shape[0]):
        first, last = plan.joints.rows[j], plan.joints.rows[j + 1]
        if j < nb and plan.joints.pair[j] > 0:
            weights = _weigh_pair(plan, ws, upper, j, h, weights)
            first += plan.joints.pair[j]
        if first == last:
            continue
        for number in range(first, last):
            r = natural(number)
            if ws.released[r] == 0.0:
                weights = _weigh_row(plan, ws, r, ws.jacobian[end, r], h, weights)
        _take_impulses(plan, ws, upper, first, last, j, 0)
        _take_impulses(plan, ws, upper, first, last, j, 1)
    merit, worst, moved = weights
    merit, unbalanced, moved = _weigh_bodies(plan, ws, merit, moved)
    if not math.isfinite(merit):
        return math.nan, math.nan, math.nan, math.nan
    relative = unbalanced / moved if moved > 0.0 else 0.0
    return merit, max(worst, unbalanced), relative, max(fastest, length * quickest) + farthest / abs(h)


@njit
def newton_increment(plan, ws, end, h, upper, factored):
    """Solve Newton's system (VI eq. 39): return the largest change of a velocity, m/s (`Bodies.length` times rad/s).

    Writes the changes (dv, dw) of the velocities to ``ws.increment_body`` and those of the multipliers to
    ``ws.increment_row``. ``factored``: with the factors that are in ``ws.ldu``, of an iterate before, in place of new
    ones, which start with an empty border, ``ws.border``.
    """
    half_step, step = 0.5 * h, StepSpan(upper, end, h)
    for i in range(plan.bodies.mass.size):
        r = ws.residual_body[i]
        write(ws.increment_body[i], scale(-1.0, vector(r)), scale(-1.0, turn_of(r)))
    for r in range(plan.rows.role.size):
        ws.increment_row[r] = -ws.residual_row[r]
    if not factored:
        ws.border.count[0] = 0
        for i in range(plan.bodies.mass.size):
            w = ws.velocity[i]
            momentum_derivative(plan.bodies.mass[i], plan.bodies.inertia[i], w[3], w[4], w[5], half_step, ws.ldu.D[i])
    add_matrices(plan, ws, upper, end, h, factored)
    solve_bordered(plan, ws, step, factored, ws.increment_body, ws.increment_row)
    unfold_roles(plan, ws)
    largest = turned = 0.0
    for i in range(plan.bodies.mass.size):
        w, d = ws.velocity[i], ws.increment_body[i]
        u, turn = scale(half_step, turn_of(w)), turn_of(d)
        c = math.sqrt(1.0 - dot(u, u))
        d[3], d[4], d[5] = add(scale(c, turn), cross(u, turn))
        for k in range(3):
            largest, turned = max(largest, abs(d[k])), max(turned, abs(d[3 + k]))
    return max(largest, plan.bodies.length[0] * turned)


@njit
def move_velocities(base, velocity, share, increment_body):
    """Set ``velocity`` to ``base`` plus a ``share`` of the increment ``increment_body``.

    ``velocity``, ``base`` and ``increment_body`` (nb, 6).
    """
    for i in range(velocity.shape[0]):
        v, d = base[i], increment_body[i]
        write(velocity[i], add(vector(v), scale(share, vector(d))), add(turn_of(v), scale(share, turn_of(d))))


@njit
def add_multipliers(multiplier, share, increment_row):
    """Add a ``share`` of the increment ``increment_row`` to ``multiplier``; ``increment_row``, ``multiplier`` (nr,)."""
    for r in range(multiplier.size):
        multiplier[r] += share * increment_row[r]


@njit
def _leaves_nothing(plan, ws, h, increment, floor):
    """Return whether an ``increment``, m/s, leaves a residual of less than NOTHING of ``floor``, m/s.

    Where Newton's matrix is exact that is of second order in the increment, over the pivots of closures, the least of
    ``ws.ldu.last_pivot`` (nn,). ``h``: size of the step, s.
    """
    least = 1.0 if ws.extended.exact[0] else 0.0
    for n in range(ws.ldu.last_pivot.size):
        least = min(least, ws.ldu.last_pivot[n])
    return abs(h) * increment * increment <= least * NOTHING * floor * plan.bodies.length[0]


@njit(inline="always")
def solve_step(plan, ws, start, end, h, tol, further, sharpened, missed):
    """Solve a step of ``h`` seconds from the pose ``start``, with the momenta ``ws.goal``.

    ``ws.velocity`` and ``ws.multiplier`` hold the start values of the iteration, and then the solution; the pose
    ``end`` with its Jacobian and the residuals belong to it. ``missed``: how wrong the start values may be, m/s.
    Returns (status, iterations, upper), ``upper`` the pose whose rows the impulses act along.

    Converged when no residual is above ``tol`` (m/s) or above its floor, the round-off of its terms; or when increments
    are at round-off. At most ``further`` more increments, by the factors at hand, then take the residuals down to where
    the next one would be NOTHING, else they move the mean energy. `sharpen` (``sharpened``) may replace these and, in
    trees of lower pairs under loads alone, the evaluation after a first increment (``ws.extended.evaluated``).

    At a singular pose the rows are dependent, and not every residual has an impulse that closes it. Where one stays
    open for that reason, the impulses of this step act along the rows at its end in place of those at its start.
    """
    # factored: the increment reuses the last factors; it is undone if it does not shrink the residual
    # left: further increments allowed, fewer once it has converged: a failure then returns that solution
    # An increment is halved until merit falls. floor: round-off of a residual's terms
    simple = ws.extended.joints_alone[0] and plan.rows.eliminated.size == 0
    skips, ws.extended.evaluated[0] = simple and sharpened, True
    attaches = missed > ATTACH_START_ABOVE or ws.ldu.K.size > 0
    upper, increment, factored, left = start, math.inf if attaches else 0.0, False, further
    merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
    if not math.isfinite(merit):
        return NOT_CONVERGED, 0, upper
    for iteration in range(1, ITERATIONS + 1):
        increment = newton_increment(plan, ws, end, h, upper, factored)
        if not math.isfinite(increment):
            return NOT_CONVERGED, iteration, upper
        previous, share = merit, 1.0
        copy_motions(ws.velocity, ws.base)
        move_velocities(ws.base, ws.velocity, share, ws.increment_body)
        add_multipliers(ws.multiplier, share, ws.increment_row)
        bend = CURVED * abs(h) * increment * increment / plan.bodies.length[0]
        if skips and iteration == 1 and bend <= SHARP * 8.0 * EPSILON * size:
            ws.extended.evaluated[0] = False
            return CONVERGED, iteration, upper
        merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
        floor = 8.0 * EPSILON * size
        halvings = 0
        while not (merit < previous or worst <= floor):
            if factored:  # old factors: the increment is taken back below
                break
            if increment <= 64.0 * floor and math.isfinite(merit):
                if worst <= max(tol, ROUND_OFF * floor):
                    return CONVERGED, iteration, upper
                if upper == end:
                    return NOT_CONVERGED, iteration, upper
                upper = end  # a row stays open that no impulse along the rows at the start can close
                for r in range(ws.multiplier.size):
                    ws.multiplier[r] = 0.0
                merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
                break
            halvings += 1
            if halvings > HALVINGS:
                return NOT_CONVERGED, iteration, upper
            share *= 0.5
            move_velocities(ws.base, ws.velocity, share, ws.increment_body)
            add_multipliers(ws.multiplier, -share, ws.increment_row)
            merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
        if factored and not (merit < previous or worst <= floor):  # undo, and factor anew
            move_velocities(ws.base, ws.velocity, 0.0, ws.increment_body)
            add_multipliers(ws.multiplier, -1.0, ws.increment_row)
            merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, 0.0)
            if left < further:
                return CONVERGED, iteration, upper
            factored = False
            continue
        if share == 1.0 and (worst <= tol or worst <= floor):
            open_by = (ROUNDED if _leaves_nothing(plan, ws, h, increment, floor) else SHARP) * floor
            sharp = (further == 1 or simple) and unbalanced <= 4.0 * EPSILON and worst <= open_by
            after_next = merit / math.sqrt(previous)  # if the next increment shrinks the residual as the last one did
            nothing = after_next <= NOTHING * floor
            if left == 0 or upper == end or sharp or (sharpened and nothing):
                return CONVERGED, iteration, upper
            left, factored = 0 if nothing else left - 1, True
        else:
            factored = share == 1.0 and upper == start and merit < SHRUNK * SHRUNK * previous
    return CONVERGED if left < further else NOT_CONVERGED, ITERATIONS, upper
