"""An interior-point method for the law of contact: a start for Newton's method where that cycles (theory, section 14).

With the impulses z, N s, of all contacts that take part, their mobility W, 1/kg, and the rates b without impulses, m/s,
each contact with a normal and two tangential components, the law is a complementarity of second-order cones (De Saxce,
Feng 1998, The bipotential method)

    y = W z + b + mu |y_t| e_n,     |z_t| <= mu z_n,     mu |y_t| <= y_n,     z . y = 0.

In z' = (mu z_n, z_t) and y' = (y_n / mu, y_t) both cones are the Lorentz cone. Newton's method solves z' o y' = sigma e
for sigma that goes to zero, where z' o y' = (z' . y', z'_n y'_t + y'_n z'_t) and e = (1, 0, 0) (Acary, Armand, Nguyen,
Shpakovych 2023, Second-order cone programming for frictional contact mechanics).

A rolling resistance (rolling.py) is a second cone on the normal impulse of its contact. It has a share q of the normal
rate: y_n = W z + b + mu |y_t| + mu_r |w| - q of the contact, q of its own. Both cones then have the form above, and
q is the unknown where z_n of a contact is.

Arguments: ``work``, ``ws.contacts``; ``count``, number of contacts that take part, ``inside`` (count,); ``smoothing``,
s as at SMOOTHING, m/s; ``share``, of the changes, from 0 to 1.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.step.contacts.features import rate_along
from varint.step.contacts.rolling import is_rolling
from varint.step.dense import add_scaled6, pivoted_lu_factor, pivoted_lu_solve
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_again
from varint.step.plan import Plan, Workspace

PASSES = 60  # at most
COARSE = 1e-4  # relative: from there Newton's method mostly finds the modes of contacts ...
SHARP = 1e-13  # ... and from there where slips are small beside the rates without impulses, as of a nose in a notch
LEAST = 1e-6  # a smaller coefficient of friction counts as none
SHORTENED = 0.99  # of the way to the boundary of the cones
STARTED = 1.5  # times the largest rate without impulses: the size of the normal rates at the start
SMOOTHING = 0.01  # s over the largest rate at first, where |y_t| is replaced by (|y_t|^2 + s^2)^(1/2)


@indirect(seconds=2, what="contacts")
def start_inside(plan: Plan, ws: Workspace, step: StepSpan, enough: float) -> bool:
    """Write approximate impulses of the contacts to ``ws.contacts.z`` (nk, 3), N s, a start for Newton's method.

    ``ws.contacts.rate`` (nk, 3) has the rates with the impulses at hand, m/s, and ``ws.contacts.row`` their gradients.
    ``step``: as in `solve_again`, whose factors are those without contacts. ``enough``: `COARSE` or `SHARP`. Returns
    False if more contacts take part than there is space for; True does not promise that the method converged.
    """
    work, count, space = ws.contacts, 0, ws.contacts.inside.size
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k]:
            if count == space:
                return False
            work.inside[count] = k
            count += 1
    _find_parents(plan, work, count)
    _write_mobility(plan, ws, step, count)
    for m in range(count):
        k = work.inside[m]
        work.inside_friction[m] = plan.contacts.friction[k] * work.share[0]
        work.inside_rows[0, 3 * m] = 0.0
        for a in range(1 if work.inside_parent[m] >= 0 else 0, 3):
            total, row = work.rate[k, a], (3 * m + a) * 3 * count
            for j in range(3 * count):
                total -= work.inside_mobility[row + j] * work.z[work.inside[j // 3], j % 3]
            work.inside_rows[0, 3 * m + a] = total
    _solve_inside(work, count, enough)
    for m in range(count):
        for a in range(3):
            work.z[work.inside[m], a] = work.inside_rows[1, 3 * m + a]
    return True


@njit
def _find_parents(plan, work, count):
    """Write the places of the contacts of rolling resistances in the list, ``inside_parent`` (count,), else -1."""
    for m in range(count):
        work.inside_parent[m] = -1
        for n in range(count if is_rolling(plan, work.inside[m]) else 0):
            if work.inside[n] == plan.contacts.parent[work.inside[m]]:
                work.inside_parent[m] = n


@njit
def push_column(plan, ws, step, contact, row):
    """Write the motion by the unit impulse along a ``row`` of a ``contact``, or by all impulses if that is negative.

    ``contact``: its number; ``row``: 0 to 2, the component. ``step``: as in `solve_again`. The motion, m/s and rad/s,
    goes to ``ws.contacts.column_body`` (nb, 6), the multipliers to ``column_row`` (nr,).
    """
    work, nb = ws.contacts, plan.bodies.mass.size
    work.column_body[:] = 0.0
    work.column_row[:] = 0.0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k] or (contact >= 0 and k != contact):
            continue
        for a in range(3):
            share = work.z[k, a] if contact < 0 else (1.0 if a == row else 0.0)
            add_scaled6(work.column_body[plan.contacts.body[k]], share, work.upper[k, a])
            if plan.contacts.other[k] != nb:
                add_scaled6(work.column_body[plan.contacts.other[k]], share, work.upper[k, a, 6:])
    solve_again(plan, ws, step, work.column_body, work.column_row)


@njit
def _write_mobility(plan, ws, step, count):
    """Write W (3 m, 3 m) of the listed contacts to ``ws.contacts.inside_mobility``."""
    work, size = ws.contacts, 3 * count
    for column in range(size):
        push_column(plan, ws, step, work.inside[column // 3], column % 3)
        for m in range(count):
            for a in range(3):
                known = a == 0 and work.inside_parent[m] >= 0  # the normal row of a rolling resistance is no second one
                rate = 0.0 if known else rate_along(plan, work.row, work.inside[m], a, work.column_body)
                work.inside_mobility[(3 * m + a) * size + column] = rate


@njit
def _solve_inside(work, count, enough):
    """Follow the central path of ``count`` contacts until the law is met to ``enough`` of the largest rate, or ends.

    Rows of ``inside_rows`` (7, 3 count): 0 b, 1 z, 2 y, 3 the residual of y, 4 and 5 the changes of z and y.
    """
    b, z, y = work.inside_rows[0], work.inside_rows[1], work.inside_rows[2]
    W, mu, size = work.inside_mobility, work.inside_friction, 3 * count
    largest = 0.0
    for n in range(size):
        largest = max(largest, abs(b[n]))
        z[n] = y[n] = 0.0
    if largest == 0.0:
        return
    for m in range(count):
        n, scale = 3 * m, mu[m] if mu[m] > LEAST else 1.0
        mean = (W[n * size + n] + W[(n + 1) * size + n + 1] + W[(n + 2) * size + n + 2]) / 3.0
        z[n], y[n] = largest / (max(mean, 1e-300) * scale), STARTED * largest * scale
    _share_normals(work, count, 1)
    smoothing = SMOOTHING * largest
    for _ in range(PASSES):
        worst = _open_rates(work, count, smoothing)
        mean, missed = _complementarity(work, count)
        missed /= largest
        if max(worst, missed) <= enough * largest:
            return
        if not _factor_inside(work, count, smoothing):
            return
        share = _direction(work, count, 0.0, smoothing)
        ahead = _mean_ahead(work, count, share)
        # Mehrotra's rule; where the way straight to zero is short, the iterate is brought back to the middle first
        centring = min(max((ahead / mean) ** 3, 0.5 if share < 0.1 else 1e-3), 0.8)
        share = _direction(work, count, centring * mean, smoothing)
        if not share > 0.0:
            return
        for n in range(size):
            z[n] += share * work.inside_rows[4, n]
            y[n] += share * work.inside_rows[5, n]
        _share_normals(work, count, 1)
        smoothing = min(smoothing, SMOOTHING * max(missed, worst))


@njit
def _share_normals(work, count, row):
    """Let rolling resistances have the normal impulses, or their changes, of their contacts.

    ``row``: of ``inside_rows`` (7, 3 count), 1 or 4.
    """
    for m in range(count):
        if work.inside_parent[m] >= 0:
            work.inside_rows[row, 3 * m] = work.inside_rows[row, 3 * work.inside_parent[m]]


@njit
def _slip_of(work, m, smoothing):
    """Return mu y_t / l (two numbers) and mu l, m/s, of contact m of the list, with l = (|y_t|^2 + s^2)^(1/2).

    ``smoothing``: s, m/s; y is row 2 of ``inside_rows`` (7, 3 count).
    """
    first, second = work.inside_rows[2, 3 * m + 1], work.inside_rows[2, 3 * m + 2]
    length, mu = math.sqrt(first * first + second * second + smoothing * smoothing), work.inside_friction[m]
    return mu * first / length, mu * second / length, mu * length


@njit
def _add_slips(work, count, smoothing):
    """Add the changes of mu |y_t| to the changes of y_n, in row 5 of ``inside_rows``, (3 count,), m/s."""
    dy = work.inside_rows[5]
    for m in range(count):
        parent, (g, h, _) = work.inside_parent[m], _slip_of(work, m, smoothing)
        dy[3 * (parent if parent >= 0 else m)] += g * dy[3 * m + 1] + h * dy[3 * m + 2]


@njit
def _open_rates(work, count, smoothing):
    """Write W z + b + mu |y_t| e_n - y to row 3 of ``inside_rows``; return its largest, m/s.

    Rows as in `_solve_inside`, (3 count,) each. Of contacts that resist rolling, see the top of this file.
    """
    b, z, y, left = work.inside_rows[0], work.inside_rows[1], work.inside_rows[2], work.inside_rows[3]
    size, worst = 3 * count, 0.0
    for n in range(size):
        total = b[n] - y[n]
        for j in range(size):
            total += work.inside_mobility[n * size + j] * z[j]
        left[n] = total
    for m in range(count):
        parent = work.inside_parent[m]
        if parent >= 0:
            left[3 * m] = 0.0
            left[3 * parent] -= y[3 * m]
        left[3 * (parent if parent >= 0 else m)] += _slip_of(work, m, smoothing)[2]
    for n in range(size):
        worst = max(worst, abs(left[n]))
    return worst


@njit
def _scaled(work, m, row):
    """Return contact m of z (``row`` 1), y (2), or their changes (4, 5), scaled so that its cone is the Lorentz cone.

    Three numbers. Without friction the normal component alone, and zeros.
    """
    n, mu = 3 * m, work.inside_friction[m]
    x = work.inside_rows[row]
    if mu <= LEAST:
        return x[n], 0.0, 0.0
    return (x[n] * mu if row in (1, 4) else x[n] / mu), x[n + 1], x[n + 2]


@njit
def _complementarity(work, count):
    """Return the mean of z' . y' over the contacts, J, and the largest part of z' o y' over their masses, (m/s)^2."""
    total = worst = 0.0
    size, W = 3 * count, work.inside_mobility
    for m in range(count):
        p, q, n = _scaled(work, m, 1), _scaled(work, m, 2), 3 * m
        product = p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
        largest = max(abs(product), max(abs(p[0] * q[1] + q[0] * p[1]), abs(p[0] * q[2] + q[0] * p[2])))
        mean = (W[n * size + n] + W[(n + 1) * size + n + 1] + W[(n + 2) * size + n + 2]) / 3.0
        total, worst = total + product, max(worst, largest * mean)
    return total / count, worst


@njit
def _factor_inside(work, count, smoothing):
    """Write and factor the matrix of Newton's method for z; return False where it is not finite.

    The matrix, ``work.inside_block``, is (3 count, 3 count), row-major.
    """
    size, W, A = 3 * count, work.inside_mobility, work.inside_block
    for m in range(count):  # in the first row of each contact: the changes of its y_n by the unknowns
        for j in range(size):
            A[3 * m * size + j] = W[3 * m * size + j]
    for m in range(count):
        parent, (g, h, _) = work.inside_parent[m], _slip_of(work, m, smoothing)
        row = 3 * (parent if parent >= 0 else m) * size
        for j in range(size):
            A[row + j] += g * W[(3 * m + 1) * size + j] + h * W[(3 * m + 2) * size + j]
        if parent >= 0:
            A[3 * m * size + 3 * m], A[row + 3 * m] = 1.0, -1.0
    for m in range(count):
        n, p, q, mu = 3 * m, _scaled(work, m, 1), _scaled(work, m, 2), work.inside_friction[m]
        normal_at = 3 * work.inside_parent[m] if work.inside_parent[m] >= 0 else n
        for j in range(size):
            first, second, normal = W[(n + 1) * size + j], W[(n + 2) * size + j], A[n * size + j]
            if mu <= LEAST:
                A[n * size + j] = p[0] * normal
                A[(n + 1) * size + j] = A[(n + 2) * size + j] = 0.0
                continue
            A[n * size + j] = p[0] * normal / mu + p[1] * first + p[2] * second
            A[(n + 1) * size + j] = p[1] * normal / mu + p[0] * first
            A[(n + 2) * size + j] = p[2] * normal / mu + p[0] * second
        if mu <= LEAST:
            A[n * size + normal_at] += q[0]
            A[(n + 1) * size + n + 1] = A[(n + 2) * size + n + 2] = 1.0
            continue
        A[n * size + normal_at] += mu * q[0]
        A[(n + 1) * size + normal_at] += mu * q[1]
        A[(n + 2) * size + normal_at] += mu * q[2]
        A[n * size + n + 1] += q[1]
        A[n * size + n + 2] += q[2]
        A[(n + 1) * size + n + 1] += q[0]
        A[(n + 2) * size + n + 2] += q[0]
    for n in range(size * size):
        if not math.isfinite(A[n]):
            return False
    pivoted_lu_factor(A, size, work.inside_order, work.inside_rows[6])
    return True


@njit
def _direction(work, count, goal, smoothing):
    """Write the changes of z and y towards z' o y' = ``goal`` e; return the share of them that stays inside.

    ``goal``: J. The changes are rows 4 and 5 of ``inside_rows``, (3 count,) each. Call after `_factor_inside`.
    """
    size, W, mu = 3 * count, work.inside_mobility, work.inside_friction
    left, dz, dy = work.inside_rows[3], work.inside_rows[4], work.inside_rows[5]
    for n in range(size):
        dy[n] = left[n]
    _add_slips(work, count, smoothing)
    for m in range(count):
        n, p, q, normal = 3 * m, _scaled(work, m, 1), _scaled(work, m, 2), dy[3 * m]
        if mu[m] <= LEAST:
            dz[n], dz[n + 1], dz[n + 2] = goal - p[0] * q[0] - p[0] * normal, 0.0, 0.0
            continue
        normal /= mu[m]
        product = p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
        dz[n] = goal - product - (p[0] * normal + p[1] * left[n + 1] + p[2] * left[n + 2])
        dz[n + 1] = -(p[0] * q[1] + q[0] * p[1]) - (p[1] * normal + p[0] * left[n + 1])
        dz[n + 2] = -(p[0] * q[2] + q[0] * p[2]) - (p[2] * normal + p[0] * left[n + 2])
    pivoted_lu_solve(work.inside_block, size, work.inside_order, dz)
    for n in range(size):
        total = left[n]
        for j in range(size):
            total += W[n * size + j] * dz[j]
        dy[n] = total
        if not math.isfinite(total):
            return 0.0
    for m in range(count):
        if work.inside_parent[m] >= 0:
            dy[3 * m] = dz[3 * m]
            dy[3 * work.inside_parent[m]] -= dz[3 * m]
    _add_slips(work, count, smoothing)
    _share_normals(work, count, 4)
    share = 1.0
    for m in range(count):
        share = min(share, SHORTENED * _way_inside(_scaled(work, m, 1), _scaled(work, m, 4)))
        share = min(share, SHORTENED * _way_inside(_scaled(work, m, 2), _scaled(work, m, 5)))
    return share


@njit
def _mean_ahead(work, count, share):
    """Return the mean of z' . y', J, after a ``share`` of the changes.

    These are rows 4 and 5 of ``inside_rows``, (3 count,) each.
    """
    total = 0.0
    for m in range(count):
        p, q, dp, dq = _scaled(work, m, 1), _scaled(work, m, 2), _scaled(work, m, 4), _scaled(work, m, 5)
        for a in range(3):
            total += (p[a] + share * dp[a]) * (q[a] + share * dq[a])
    return max(total / count, 0.0)


@njit
def _way_inside(x, d):
    """Return the largest t >= 0 for which x + t d stays in the Lorentz cone that x is in, or infinity.

    ``x``, ``d``: three numbers each, the first along the axis of the cone. At the boundary a t^2 + 2 b t + c = 0, of
    which q / a and c / q are the roots.
    """
    a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2]
    c = max(x[0] * x[0] - x[1] * x[1] - x[2] * x[2], 0.0)
    way = -x[0] / d[0] if d[0] < 0.0 else math.inf
    if c == 0.0 and (b < 0.0 or (b == 0.0 and a < 0.0)):
        return 0.0  # at the boundary, and d leads out
    root = b * b - a * c
    if root < 0.0 or (a >= 0.0 and b >= 0.0):
        return way
    if a == 0.0:
        return min(way, -0.5 * c / b)
    q = -(b + math.copysign(math.sqrt(root), b))
    for t in (q / a, c / q if q != 0.0 else math.inf):
        if t > 0.0:
            way = min(way, t)
    return way
