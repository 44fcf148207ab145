"""The rows of joints that are products of exponentials: the second body keeps to the motions that the joint allows.

A joint of k coordinates has 6 - k rows. With E(q) and the pose T of the second body seen from the first,

    e = (L sin(angle) axis of R_E^T R_T,  R_E^T (p_T - p_E)),      P e = 0 for k components P gives q,

and the rows are the other ones, N e. Which are solved for is decided where the joint was seen last, by complete
pivoting on de/dq, so that it does not change within a step. dg = N de - (N de/dq) (P de/dq)^-1 P de, exactly.
"""

from varint._numba import Float1, Float2, Float3, indirect, njit
from varint.kernels.gauges import cross, dot, turned, turned_back
from varint.kernels.plan import Plan
from varint.kernels.products import back, bracket, count, pose_of, twist_and_rate, twist_of
from varint.kernels.rotation import less, plus, times

# what is known of a joint, in Workspace.row_near: coordinates, order of components; scratch: matrices, coordinates
ORDER, MATRIX, TRIAL, SPARE = 6, 12, 84, 90
ENOUGH = 1e-8  # of the coordinates, or one: the next correction, its square, is round-off
ITERATIONS = 20

Vector = tuple[float, float, float]
Twist = tuple[Vector, Vector]


@njit
def gap(R, p, turn, shift, length):
    """e, and X = R_E^T R_T as three rows; (R, p): E, (turn, shift): T, rotations as three rows."""
    x, y, z = (
        back(R, (turn[0][0], turn[1][0], turn[2][0])),
        back(R, (turn[0][1], turn[1][1], turn[2][1])),
        back(R, (turn[0][2], turn[1][2], turn[2][2])),
    )
    X = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    half = 0.5 * length
    w = (half * (X[2][1] - X[1][2]), half * (X[0][2] - X[2][0]), half * (X[1][0] - X[0][1]))
    return w, back(R, less(shift, p)), X


@njit
def _leans(X, c, length):
    """Rate of e's first part for X changing by X [c]: L (tr X - X^T) c / 2."""
    trace = X[0][0] + X[1][1] + X[2][2]
    return less(times(0.5 * length * trace, c), times(0.5 * length, back(X, c)))


@njit
def slopes(table, joint, q, k, e_v, X, length, matrix):
    """de/dq (6, k) into ``matrix`` (6 k), rows of k."""
    for n in range(k):
        w, v = twist_of(table, joint, q, n)
        turn = _leans(X, back(X, w), length)
        lever = cross(w, e_v)
        for m in range(3):
            matrix[m * k + n] = -turn[m]
            matrix[(3 + m) * k + n] = -v[m] - lever[m]


@njit
def reduce(matrix, k, order, choose):
    """By operations on columns, P M to the identity: N M (P M)^-1 in N's rows, (P M)^-1 in rows 6 : 6 + k.

    ``order`` (6): components P, then N; chosen here by complete pivoting if ``choose``.
    """
    for c in range(k):
        for n in range(k):
            matrix[(6 + c) * k + n] = 1.0 if c == n else 0.0
    if choose:
        for m in range(6):
            order[m] = m
    for c in range(k):
        row, column, largest = c, c, -1.0
        for m in range(c, 6 if choose else c + 1):
            for n in range(c, k):
                size = abs(matrix[int(order[m]) * k + n])
                if size > largest:
                    row, column, largest = m, n, size
        order[c], order[row] = order[row], order[c]
        pivot = int(order[c])
        for m in range(6 + k):
            matrix[m * k + c], matrix[m * k + column] = matrix[m * k + column], matrix[m * k + c]
        scale = 1.0 / matrix[pivot * k + c]
        for m in range(6 + k):
            matrix[m * k + c] *= scale
        for n in range(k):
            if n != c:
                factor = matrix[pivot * k + n]
                for m in range(6 + k):
                    matrix[m * k + n] -= factor * matrix[m * k + c]


@njit
def component(w, v, m):
    return w[m] if m < 3 else v[m - 3]


@njit
def seen_from(A, B, x_a, x_b):
    """Pose of the second body seen from the first: rows of its rotation, its origin."""
    x = turned_back(A, (B[0, 0], B[1, 0], B[2, 0]))
    y = turned_back(A, (B[0, 1], B[1, 1], B[2, 1]))
    z = turned_back(A, (B[0, 2], B[1, 2], B[2, 2]))
    turn = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    return turn, turned_back(A, less(x_b, x_a))


@njit
def solve(table, joint, known, turn, shift, length):
    """Coordinates with P e = 0, into the trial ones, from those known; e, X there and R of E, de/dq reduced."""
    k = count(table, joint)
    q, order, matrix = known[TRIAL:], known[ORDER:], known[MATRIX:]
    for n in range(k):
        q[n] = known[n]
    enough = False
    for trial in range(ITERATIONS):
        R, p = pose_of(table, joint, q)
        e_w, e_v, X = gap(R, p, turn, shift, length)
        slopes(table, joint, q, k, e_v, X, length, matrix)
        reduce(matrix, k, order, False)
        if enough:
            break
        largest = 0.0
        for n in range(k):
            change = 0.0
            for c in range(k):
                change -= matrix[(6 + n) * k + c] * component(e_w, e_v, int(order[c]))
            q[n] += change
            largest = max(largest, abs(change) / (1.0 + abs(q[n])))
        enough = largest < ENOUGH
        if trial == ITERATIONS - 2 and not enough:  # too far from the joint: no solution, what is known has to do
            enough = True
            for n in range(k):
                q[n] = known[n]
    return e_w, e_v, X, R


@njit
def joint_arrays(plan, j, near):
    """Table, its row, and what is known (KNOWN,) of joint j; its first and second body; size of the parts, m."""
    side_a = plan.first_body[j]
    a, b = plan.side[j, side_a], plan.side[j, 1 - side_a]
    return plan.product, plan.joint_product[j], near[plan.joint_known[j] :], a, b, plan.length[0]


@indirect
def on_motions(
    plan: Plan, j: int, position: Float2, rotation: Float3, near: Float1, g: Float1, jacobian: Float3
) -> None:
    """Values ``g`` (nr,) and Jacobian (nr, 2, 6) of the rows of joint j; ``near``: of the last `follow`."""
    table, joint, known, a, b, length = joint_arrays(plan, j, near)
    start, side_a = plan.joint_rows[j], plan.first_body[j]
    A = rotation[a]
    turn, shift = seen_from(A, rotation[b], position[a], position[b])
    e_w, e_v, X, R = solve(table, joint, known, turn, shift, length)
    k, order, matrix = count(table, joint), known[ORDER:], known[MATRIX:]
    for i in range(6 - k):
        r, own = start + i, int(order[k + i])
        g[r] = component(e_w, e_v, own)
        # the covector of e that this row is: its own component less those that q takes up
        c_w, c_v = _unit(own)
        for c in range(k):
            factor = matrix[own * k + c]
            g[r] -= factor * component(e_w, e_v, int(order[c]))
            p_w, p_v = _unit(int(order[c]))
            c_w, c_v = less(c_w, times(factor, p_w)), less(c_v, times(factor, p_v))
        # e_w changes with X [theta_b - R^T theta_a], e_v by R_E^T A^T (dx_b - dx_a) + R_E^T (p x theta_a)
        trace, ahead = X[0][0] + X[1][1] + X[2][2], (dot(X[0], c_w), dot(X[1], c_w), dot(X[2], c_w))
        half = 0.5 * length
        torque = less(times(half * trace, c_w), times(half, ahead))
        force = (dot(R[0], c_v), dot(R[1], c_v), dot(R[2], c_v))  # axes of the first body
        push = turned(A, force)
        G_a, G_b = jacobian[r, side_a], jacobian[r, 1 - side_a]
        facing = (dot(turn[0], torque), dot(turn[1], torque), dot(turn[2], torque))
        lever = cross(shift, force)
        for m in range(3):
            G_b[m], G_a[m] = push[m], -push[m]
            G_b[3 + m], G_a[3 + m] = torque[m], -facing[m] - lever[m]


@njit
def _unit(m):
    return (
        (1.0 if m == 0 else 0.0, 1.0 if m == 1 else 0.0, 1.0 if m == 2 else 0.0),
        (1.0 if m == 3 else 0.0, 1.0 if m == 4 else 0.0, 1.0 if m == 5 else 0.0),
    )


@indirect
def bend_of_rows(
    plan: Plan, j: int, position: Float2, rotation: Float3, near: Float1, twists: tuple[Twist, Twist], out: Float1
) -> None:
    """Second time derivatives ``out`` (nr,) of the rows of joint j at zero acceleration; world twists (v, w) of its
    two bodies.

    For a closed joint: E = T.
    """
    table, joint, known, a, b, length = joint_arrays(plan, j, near)
    start, B, x_a, x_b = plan.joint_rows[j], rotation[b], position[a], position[b]
    (v_a, w_a), (v_b, w_b) = twists
    turn, shift = seen_from(rotation[a], B, x_a, x_b)
    _, _, _, _ = solve(table, joint, known, turn, shift, length)
    k, q, order, matrix = count(table, joint), known[TRIAL:], known[ORDER:], known[MATRIX:]
    # twist of b seen from a, axes of b, and its rate
    apart, parting = less(x_b, x_a), less(v_b, v_a)
    spin = less(w_b, w_a)
    y = less(parting, cross(w_a, apart))
    w, v = turned_back(B, spin), turned_back(B, y)
    dw = turned_back(B, cross(w_b, w_a))
    dv = turned_back(B, less(cross(parting, w_a), cross(w_b, y)))
    # rates of the coordinates: P (twist - S rates) = 0
    rates = known[:6]
    kept = (rates[0], rates[1], rates[2], rates[3], rates[4], rates[5])
    for n in range(k):
        total = 0.0
        for c in range(k):
            total -= matrix[(6 + n) * k + c] * component(times(length, w), v, int(order[c]))
        rates[n] = total
    (c_w, c_v), (b_w, b_v) = twist_and_rate(table, joint, q, rates)
    for n in range(6):
        known[n] = kept[n]
    off = (less(w, c_w), less(v, c_v))
    turned_w, turned_v = bracket(off, (c_w, c_v))
    e_w = times(length, plus(less(dw, b_w), turned_w))
    e_v = plus(plus(less(dv, b_v), turned_v), cross(off[0], off[1]))
    for i in range(6 - k):
        own = int(order[k + i])
        out[start + i] = component(e_w, e_v, own)
        for c in range(k):
            out[start + i] -= matrix[own * k + c] * component(e_w, e_v, int(order[c]))
