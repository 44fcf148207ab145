"""The coordinates of products of exponentials at a pose: from those known, or searched for over the whole motion."""

import math

from varint._numba import Float1, Float2, Float3, indirect, njit
from varint.kernels.gauges import cross, dot
from varint.kernels.on_motions import (
    MATRIX,
    ORDER,
    SPARE,
    TRIAL,
    gap,
    joint_arrays,
    reduce,
    seen_from,
    slopes,
    solve,
)
from varint.kernels.plan import Plan
from varint.kernels.products import (
    BALL,
    CLOSED,
    FACTORS,
    FIRST,
    N1,
    NEXT,
    PERIOD,
    SIZE,
    back,
    count,
    pose_of,
    twist_of,
)

NEARLY = 1e-4  # of the sizes of a part: a joint that is all but closed
DESCENTS = 100
ROUND_OFF, MOST, TINY = 1e-14, 1e6, 1e-30
TRIES = 4  # seeds in each piece
MOST_SEARCHED = 243
LONGEST = 1.2 * math.pi  # rad, of a rotation vector to go on from


@indirect
def follow(plan: Plan, j: int, position: Float2, rotation: Float3, near: Float1) -> None:
    """`follow_pose` of the second body of joint j seen from the first, into ``near``."""
    table, joint, known, a, b, length = joint_arrays(plan, j, near)
    turn, shift = seen_from(rotation[a], rotation[b], position[a], position[b])
    follow_pose(table, joint, known, turn, shift, length)


@njit
def follow_pose(table, joint, known, turn, shift, length):
    """Take the coordinates of a pose, rows of its rotation and its origin, into ``known``; search if they are far."""
    k = count(table, joint)
    q, matrix = known[:6], known[MATRIX:]
    shorten(table, joint, q, LONGEST)
    exact = _solved(table, joint, k, q, known, turn, shift, length)
    if not exact:
        left = _descend(table, joint, k, q, known, turn, shift, length)
        if not left < NEARLY * length:
            _search(table, joint, k, q, known, turn, shift, length, left)
    R, p = pose_of(table, joint, q)
    _, e_v, X = gap(R, p, turn, shift, length)
    slopes(table, joint, q, k, e_v, X, length, matrix)
    reduce(matrix, k, known[ORDER:], True)
    if not exact:  # squares leave half of the digits
        _solved(table, joint, k, q, known, turn, shift, length)


@njit
def _solved(table, joint, k, q, known, turn, shift, length):
    """Take what `solve` finds, if there is an order of components to solve for and the joint is then closed."""
    if known[ORDER] == known[ORDER + 1]:
        return False
    solve(table, joint, known, turn, shift, length)
    if not _size(table, joint, known[TRIAL:], turn, shift, length) < NEARLY * length:
        return False
    for n in range(k):
        q[n] = known[TRIAL + n]
    return True


@njit
def _size(table, joint, q, turn, shift, length):
    """A distance of the pose from that of the coordinates, m; grows up to half a turn."""
    R, p = pose_of(table, joint, q)
    _, e_v, X = gap(R, p, turn, shift, length)
    apart = max(0.0, 3.0 - X[0][0] - X[1][1] - X[2][2])  # 4 sin^2 of half the angle
    return math.sqrt(dot(e_v, e_v) + length * length * apart)


@njit
def _descend(table, joint, k, q, known, turn, shift, length):
    """Levenberg's iteration for the coordinates nearest to a pose; the distance that is left, m."""
    trial, right, M, A = known[TRIAL:], known[ORDER:], known[MATRIX:], known[MATRIX + 36 :]
    left, factor = _size(table, joint, q, turn, shift, length), 1.0
    for _ in range(DESCENTS):
        R, p = pose_of(table, joint, q)
        e_w, e_v, X = gap(R, p, turn, shift, length)
        trace = 0.0
        for n in range(k):
            w, v = twist_of(table, joint, q, n)
            c, lever = back(X, w), cross(w, e_v)
            right[n] = 0.0
            for m in range(3):
                M[m * k + n], M[(3 + m) * k + n] = -length * c[m], -v[m] - lever[m]
                right[n] -= M[m * k + n] * e_w[m] + M[(3 + m) * k + n] * e_v[m]
        for n in range(k):
            for c in range(k):
                A[n * k + c] = 0.0
                for m in range(6):
                    A[n * k + c] += M[m * k + n] * M[m * k + c]
            trace += A[n * k + n]
        damping = factor * min(1.0, left / length) * trace
        for n in range(k):
            A[n * k + n] += damping + TINY
        _solve_positive(A, k, right)
        longest = 0.0
        for n in range(k):
            trial[n] = q[n] + right[n]
            longest = max(longest, abs(right[n]) / (1.0 + abs(q[n])))
        size = _size(table, joint, trial, turn, shift, length)
        better = size < left
        if better:
            for n in range(k):
                q[n] = trial[n]
            left, factor = size, 0.25 * factor
        else:
            factor *= 8.0
        if longest < ROUND_OFF or not factor < MOST:
            break
    return left


@njit
def _solve_positive(A, k, b):
    """b = A^-1 b for a positive definite matrix, by elimination."""
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
    """How many values a coordinate of a stage is tried at."""
    pieces = int(table[stage, N1 + d]) if d < 2 and table[stage, BALL] == 0.0 else 1
    return 3 if pieces == 1 and table[stage, CLOSED] == 0.0 else TRIES * pieces


@njit
def _decode(table, joint, number, q):
    """The seed of that number."""
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
def _search(table, joint, k, q, known, turn, shift, length, left):
    """`_descend` from coordinates spread over the whole motion, the best of them first: 0, 2, -2, or some a piece."""
    total, stage, trial, best_q = 1, joint, known[TRIAL:], known[SPARE:]
    while stage >= 0:
        for d in range(int(table[stage, SIZE])):
            total *= _seed_values(table, stage, d)
        stage = int(table[stage, NEXT])
    best, found = math.inf, 0
    for number in range(total):
        _decode(table, joint, number, trial)
        _advance(table, joint, trial, turn, shift, length)
        size = _size(table, joint, trial, turn, shift, length)
        if size < best:
            best, found = size, number
    for n in range(k):
        best_q[n] = q[n]
    for number in range(-1, min(total, MOST_SEARCHED)):
        _decode(table, joint, found if number < 0 else number, q)
        _advance(table, joint, q, turn, shift, length)
        size = _descend(table, joint, k, q, known, turn, shift, length)
        if size < left:
            left = size
            for n in range(k):
                best_q[n] = q[n]
        if left < NEARLY * length:
            break
    for n in range(k):
        q[n] = best_q[n]
    return left


@njit
def _advance(table, joint, q, turn, shift, length):
    """Whole turns of screws, by how far the pose is along them."""
    stage = joint
    while stage >= 0:
        if table[stage, FACTORS] == 1.0 and table[stage, PERIOD] == 0.0:
            first = int(table[stage, FIRST])
            w, v = twist_of(table, joint, q, first)
            if dot(w, w) > 0.0:
                R, p = pose_of(table, joint, q)
                _, along, _ = gap(R, p, turn, shift, length)
                q[first] += 2.0 * math.pi * round(dot(along, w) / dot(v, w) / (2.0 * math.pi))
        stage = int(table[stage, NEXT])


@njit
def shorten(table, joint, q, longest):
    """Rotation vectors no longer than ``longest``, rad."""
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
    """Turns in (-pi, pi], coordinates of closed curves from zero on."""
    stage = joint
    while stage >= 0:
        first, period = int(table[stage, FIRST]), table[stage, PERIOD]
        if period > 0.0 and table[stage, CLOSED] > 0.0:
            q[first] -= period * math.floor(q[first] / period + 1e-9)
        elif period > 0.0:
            q[first] -= period * math.ceil(q[first] / period - 0.5)
        stage = int(table[stage, NEXT])


@njit
def coordinates(table, joint, R, p, length, known, out):
    """Coordinates ``out`` (T, k) of poses (T, 3, 3), (T, 3), each found from those before it; ``known`` (KNOWN,)."""
    for node in range(out.shape[0]):
        A = R[node]
        turn = ((A[0, 0], A[0, 1], A[0, 2]), (A[1, 0], A[1, 1], A[1, 2]), (A[2, 0], A[2, 1], A[2, 2]))
        follow_pose(table, joint, known, turn, (p[node, 0], p[node, 1], p[node, 2]), length)
        if node == 0:
            _in_first_period(table, joint, known)
            shorten(table, joint, known, math.pi)
        for n in range(out.shape[1]):
            out[node, n] = known[n]
