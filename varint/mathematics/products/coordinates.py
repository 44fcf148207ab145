"""The coordinates of products of exponentials at a pose, followed from their last values or found by a search."""

import math

from varint.base.numba import Float2, Float3, indirect, njit
from varint.mathematics.products.records import Products, ProductWork
from varint.mathematics.products.rows import error_of, reduce, relative_pose, slopes, solve
from varint.mathematics.products.stages import (
    BALL,
    CLOSED,
    FACTORS,
    FIRST,
    N1,
    NEXT,
    PERIOD,
    SIZE,
    count,
    pose_of,
    rows_back,
    twist_of,
)
from varint.mathematics.vectors import continued, cross, dot

NEARLY = 1e-4  # of the sizes of a part: a joint that is all but closed
DESCENTS = 100
ROUND_OFF, MOST, TINY = 1e-14, 1e6, 1e-30
TRIES = 4  # seeds in each piece
NEARER = 0.9  # of the distance at the start: an open joint is about as far from other branches of its coordinates
MOST_SEARCHED = 243
LONGEST = 1.2 * math.pi  # rad, of a rotation vector to go on from


@indirect(seconds=2, what="joints as products of exponentials")
def follow(products: Products, work: ProductWork, n: int, position: Float2, rotation: Float3, choose: bool) -> None:
    """Update the coordinates of joint n in ``work`` to poses ``position`` (nb + 1, 3), m, ``rotation`` (nb + 1, 3, 3).

    ``choose``: choose anew the components of e that are solved for from here.
    """
    a, b = products.body[n, 0], products.body[n, 1]
    turn, shift = relative_pose(rotation[a], rotation[b], position[a], position[b])
    follow_pose(products, work, n, turn, shift, choose)


@njit
def follow_pose(products, work, n, turn, shift, choose):
    """Update the coordinates of joint n in ``work`` to a relative pose: rows ``turn`` of its rotation, ``shift``, m.

    They are searched for if the pose is far. A joint without coordinates in ``work`` gets ones in their first period.
    """
    table, joint, length = products.table, products.start[n], products.length[0]
    k, q = count(table, joint), work.q[n]
    new = work.order[n, 0] == work.order[n, 1]
    choose = choose or new
    for c in range(k):
        new = new and q[c] == 0.0
    shorten(table, joint, q, LONGEST)
    exact = _solved(products, work, n, turn, shift)
    if not exact:
        left = _descend(products, work, n, turn, shift)
        if not left < NEARLY * length:
            _search(products, work, n, turn, shift, left)
    if new:
        _in_first_period(table, joint, q)
        shorten(table, joint, q, math.pi)
    R, p = pose_of(table, joint, q)
    _, e_v, X = error_of(R, p, turn, shift, length)
    slopes(table, joint, q, k, e_v, X, length, work.matrix[n])
    reduce(work.matrix[n], k, work.order[n], choose)
    if not exact:  # squares leave half of the digits
        _solved(products, work, n, turn, shift)


@njit
def _solved(products, work, n, turn, shift):
    """Set ``work.q`` of joint n to the result of `solve`; False, and unchanged, if that does not close the joint.

    False too where no order of components to solve for is chosen yet.
    """
    table, joint, length = products.table, products.start[n], products.length[0]
    if work.order[n, 0] == work.order[n, 1]:
        return False
    solve(products, work, n, turn, shift)
    if not _size(table, joint, work.trial[n], turn, shift, length) < NEARLY * length:
        return False
    _nearest_turns(table, joint, work.q[n], work.trial[n])
    for c in range(count(table, joint)):
        work.q[n, c] = work.trial[n, c]
    return True


@njit
def _nearest_turns(table, joint, known, q):
    """Bring turns in ``q`` (6,) within half a turn of ``known`` (6,); ``table`` (rows, WIDTH).

    Where two hinges are parallel Newton's method may go further.
    """
    stage = joint
    while stage >= 0:
        if table[stage, CLOSED] == 0.0:
            c = int(table[stage, FIRST])
            q[c] = continued(table[stage, PERIOD], known[c], q[c])
        stage = int(table[stage, NEXT])


@njit
def _size(table, joint, q, turn, shift, length):
    """Return a distance of the pose from that of the coordinates, m; grows up to half a turn."""
    R, p = pose_of(table, joint, q)
    _, e_v, X = error_of(R, p, turn, shift, length)
    apart = max(0.0, 3.0 - X[0][0] - X[1][1] - X[2][2])  # 4 sin^2 of half the angle
    return math.sqrt(dot(e_v, e_v) + length * length * apart)


@njit
def _descend(products, work, n, turn, shift):
    """Move ``work.q`` of joint n towards a pose by Levenberg's iteration; return the distance that is left, m.

    Writes ``work.matrix``, ``work.right`` and ``work.trial`` of the joint too, as scratch.
    """
    table, joint, length = products.table, products.start[n], products.length[0]
    k, q, trial, right = count(table, joint), work.q[n], work.trial[n], work.right[n]
    M, A = work.matrix[n], work.matrix[n, 36:]
    left, factor = _size(table, joint, q, turn, shift, length), 1.0
    for _ in range(DESCENTS):
        R, p = pose_of(table, joint, q)
        e_w, e_v, X = error_of(R, p, turn, shift, length)
        trace = 0.0
        for i in range(k):
            w, v = twist_of(table, joint, q, i)
            c, lever = rows_back(X, w), cross(w, e_v)
            right[i] = 0.0
            for m in range(3):
                M[m * k + i], M[(3 + m) * k + i] = -length * c[m], -v[m] - lever[m]
                right[i] -= M[m * k + i] * e_w[m] + M[(3 + m) * k + i] * e_v[m]
        for i in range(k):
            for c in range(k):
                A[i * k + c] = 0.0
                for m in range(6):
                    A[i * k + c] += M[m * k + i] * M[m * k + c]
            trace += A[i * k + i]
        damping = factor * min(1.0, left / length) * trace
        for i in range(k):
            A[i * k + i] += damping + TINY
        _solve_positive(A, k, right)
        longest = 0.0
        for i in range(k):
            trial[i] = q[i] + right[i]
            longest = max(longest, abs(right[i]) / (1.0 + abs(q[i])))
        size = _size(table, joint, trial, turn, shift, length)
        better = size < left
        if better:
            for i in range(k):
                q[i] = trial[i]
            left, factor = size, 0.25 * factor
        else:
            factor *= 8.0
        if longest < ROUND_OFF or not factor < MOST:
            break
    return left


@njit
def _solve_positive(A, k, b):
    """Replace ``b`` (k,) by A^-1 b for a positive definite ``A`` (k k,), by elimination, which overwrites A."""
    for c in range(k):
        for m in range(c + 1, k):
            factor = A[m * k + c] / A[c * k + c]
            for n in range(c, k):
                A[m * k + n] -= factor * A[c * k + n]
            b[m] -= factor * b[c]
    for c in range(k - 1, -1, -1):
        for n in range(c + 1, k):
            b[c] -= A[c * k + n] * b[n]
        b[c] /= A[c * k + c]


@njit
def _seed_values(table, stage, d):
    """Return the number of values at which coordinate d of a stage is tried; ``table`` (rows, WIDTH)."""
    pieces = int(table[stage, N1 + d]) if d < 2 and table[stage, BALL] == 0.0 else 1
    return 3 if pieces == 1 and table[stage, CLOSED] == 0.0 else TRIES * pieces


@njit
def _decode(table, joint, number, q):
    """Write the seed of that number into the coordinates ``q`` (6,) of a joint; ``table`` (rows, WIDTH)."""
    stage = joint
    while stage >= 0:
        for d in range(int(table[stage, SIZE])):
            values = _seed_values(table, stage, d)
            place = number % values
            number //= values
            if values == 3:
                place = 2 * place if place < 2 else -2
            q[int(table[stage, FIRST]) + d] = place * (1.0 if values == 3 else 1.0 / TRIES)
        stage = int(table[stage, NEXT])


@njit
def _search(products, work, n, turn, shift, left):
    """Set ``work.q`` of joint n to the best `_descend` from seeds over the whole motion; return its distance, m.

    Coordinates start at 0, 2, -2, or at ``TRIES`` values a piece; the best seed is first. They stay if no result is
    nearer than ``NEARER`` times ``left``, m. Writes ``work.best`` and the scratch of `_descend`.
    """
    table, joint, length = products.table, products.start[n], products.length[0]
    k, q, trial, best_q = count(table, joint), work.q[n], work.trial[n], work.best[n]
    total, stage = 1, joint
    while stage >= 0:
        for d in range(int(table[stage, SIZE])):
            total *= _seed_values(table, stage, d)
        stage = int(table[stage, NEXT])
    left *= NEARER
    best, best_number = math.inf, 0
    for number in range(total):
        _decode(table, joint, number, trial)
        _advance(table, joint, trial, turn, shift, length)
        size = _size(table, joint, trial, turn, shift, length)
        if size < best:
            best, best_number = size, number
    for i in range(k):
        best_q[i] = q[i]
    for number in range(-1, min(total, MOST_SEARCHED)):
        _decode(table, joint, best_number if number < 0 else number, q)
        _advance(table, joint, q, turn, shift, length)
        size = _descend(products, work, n, turn, shift)
        if size < left:
            left = size
            for i in range(k):
                best_q[i] = q[i]
        if left < NEARLY * length:
            break
    for i in range(k):
        q[i] = best_q[i]
    return left


@njit
def _advance(table, joint, q, turn, shift, length):
    """Add whole turns to screws in ``q`` (6,), by the distance of the pose along them; ``table`` (rows, WIDTH)."""
    stage = joint
    while stage >= 0:
        if table[stage, FACTORS] == 1.0 and table[stage, PERIOD] == 0.0:
            first = int(table[stage, FIRST])
            w, v = twist_of(table, joint, q, first)
            if dot(w, w) > 0.0:
                R, p = pose_of(table, joint, q)
                _, along, _ = error_of(R, p, turn, shift, length)
                q[first] += 2.0 * math.pi * round(dot(along, w) / dot(v, w) / (2.0 * math.pi))
        stage = int(table[stage, NEXT])


@njit
def shorten(table, joint, q, longest):
    """Shorten rotation vectors in ``q`` (6,) to ``longest``, rad, by whole turns; ``table`` (rows, WIDTH)."""
    stage = joint
    while stage >= 0:
        if table[stage, BALL] > 0.0:
            first = int(table[stage, FIRST])
            size = math.sqrt(q[first] ** 2 + q[first + 1] ** 2 + q[first + 2] ** 2)
            while size > longest:
                for n in range(3):
                    q[first + n] *= 1.0 - 2.0 * math.pi / size
                size = abs(size - 2.0 * math.pi)
        stage = int(table[stage, NEXT])


@njit
def _in_first_period(table, joint, q):
    """Shift turns in ``q`` (6,) into (-pi, pi], coordinates of closed curves into their period from zero on.

    ``table`` (rows, WIDTH).
    """
    stage = joint
    while stage >= 0:
        first, period = int(table[stage, FIRST]), table[stage, PERIOD]
        if period > 0.0 and table[stage, CLOSED] > 0.0:
            q[first] -= period * math.floor(q[first] / period + 1e-9)
        elif period > 0.0:
            q[first] -= period * math.ceil(q[first] / period - 0.5)
        stage = int(table[stage, NEXT])


@njit(seconds=2, what="joints as products of exponentials")
def coordinates(products, work, R, p, out):
    """Write coordinates of the joint of `one_product` at poses ``R`` (T, 3, 3), ``p`` (T, 3), m, into ``out`` (T, k).

    Each node is followed from the one before it, in ``work``.
    """
    known = work.q[0]
    for node in range(out.shape[0]):
        A = R[node]
        turn = ((A[0, 0], A[0, 1], A[0, 2]), (A[1, 0], A[1, 1], A[1, 2]), (A[2, 0], A[2, 1], A[2, 2]))
        follow_pose(products, work, 0, turn, (p[node, 0], p[node, 1], p[node, 2]), True)
        for n in range(out.shape[1]):
            out[node, n] = known[n]
