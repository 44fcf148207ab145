"""Mass spread evenly along polylines over points of several bodies: mass matrix and forces, integrated exactly.

A path has the points x_0 .. x_n, segments k from x_k to x_k+1 with unit vectors t_k, and the length l; s_j is the
fraction of the length before x_j. A particle keeps its fraction. Its velocity is affine along a segment, so that the
values at both ends of a segment give the integrals. With c_j = l s_j, and ' for time derivatives or gradients,

    slip      u_j = c_j' - s_j l'                    speed of the path past the material at x_j, negative
    velocity  a_j = x_j' - t_k u_j                   of the particle that is at x_j now, as segment k moves it
    bias      b_j = x_j'' - 2 u_j t_k' - t_k (c_j'' - s_j l'')       its acceleration at ddq = 0

    M = density sum_k ds_k / 6 (2 A^T A + 2 B^T B + A^T B + B^T A),    A, B: gradients of the velocities at the ends
    f = density (sum_k ds_k / 6 (A^T (2 ga + gb) + B^T (2 gb + ga)) + sum_j u_j^2 / l X_j^T (t_j-1 - t_j))

with g = gravity - bias. The last sum is the momentum flux of the material that turns round an inner point.
"""

import math
from dataclasses import dataclass

from varint._numba import CompiledRecord, Float1, Float2, Float3, Int1, njit
from varint.algebra.vectors import cross, rotate
from varint.redmax.kernels.kinematic_recursions import accelerations
from varint.redmax.kernels.matrices import jacobian
from varint.redmax.kernels.tree_records import ReducedWorkspace


@dataclass(frozen=True, eq=False)
class PathTable(CompiledRecord):
    """The np paths, and their N points one path after another."""

    first: Int1  # (np + 1,) first point of each path
    node: Int1  # (N,) tree node of each point; nl for the world
    offset: Float2  # (N, 3) from the node's reference point, axes of the node, m
    mass: Float1  # (np,) kg
    belly: Float2  # (np, 2) fractions between which the mass is
    lumped: Int1  # (np,) number of particles; zero for the exact integral


@dataclass(frozen=True, eq=False)
class PathWorkspace(CompiledRecord, writable=True):
    """Arrays of an evaluation; those by point hold the last path only, from row 0."""

    mass: Float2  # (nq, nq) of all paths
    force: Float1  # (nq,) f of all paths
    J: Float3  # (nl + 1, 6, nq) of the nodes
    still: Float2  # (nl, 6) zero
    acceleration: Float2  # (nl + 1, 6) of the nodes at ddq = 0
    x: Float2  # (N, 3) points, m, world
    v: Float2  # (N, 3) their velocities
    a: Float2  # (N, 3) their accelerations at ddq = 0
    X: Float3  # (N, 3, nq) gradients of v
    t: Float2  # (N, 3) unit vectors of the segments
    t_rate: Float2  # (N, 3)
    s: Float1  # (N,) fractions
    slip: Float1  # (N,) u, m/s
    slip_rate: Float1  # (N,) c'' - s l'' at ddq = 0, m/s^2
    slip_row: Float2  # (N, nq) gradient of u
    near: Float2  # (3, nq) A
    far: Float2  # (3, nq) B


@njit(seconds=3, what="mass along paths")
def evaluate_paths(work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, gravity: Float1) -> None:
    """``ws.mass`` after `place`, and ``ws.force`` after `move`; ``gravity`` (3,), m/s^2."""
    jacobian(work, ws.J)
    accelerations(work, ws.still, ws.acceleration)
    ws.mass[:] = 0.0
    ws.force[:] = 0.0
    g = (gravity[0], gravity[1], gravity[2])
    for p in range(table.mass.size):
        first, count = table.first[p], table.first[p + 1] - table.first[p]
        for j in range(count):
            _move_point(work, table, ws, first + j, j)
        length = _find_fractions(ws, count)
        if table.lumped[p] > 0:
            _add_particles(table, ws, p, count, g)
        else:
            _add_segments(table, ws, p, count, length, g)


@njit
def _move_point(work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, point: int, j: int) -> None:
    i = table.node[point]
    twist, acceleration, J = work.twist[i], ws.acceleration[i], ws.J[i]
    r, w = rotate(work.axes[i], table.offset[point]), (twist[0], twist[1], twist[2])
    turn = cross(w, r)
    centripetal, swing = cross(w, turn), cross((acceleration[0], acceleration[1], acceleration[2]), r)
    for m in range(3):
        ws.x[j, m] = work.point[i, m] + r[m]
        ws.v[j, m] = twist[3 + m] + turn[m]
        ws.a[j, m] = acceleration[3 + m] + swing[m] + centripetal[m]
    for n in range(J.shape[1]):
        lever = cross((J[0, n], J[1, n], J[2, n]), r)
        for m in range(3):
            ws.X[j, m, n] = J[3 + m, n] + lever[m]


@njit
def _find_fractions(ws: PathWorkspace, count: int) -> float:
    """Fractions, slips and their derivatives at the ``count`` points of a path; its length, m."""
    s, slip, slip_rate, row = ws.s, ws.slip, ws.slip_rate, ws.slip_row
    nq = row.shape[1]
    s[0] = slip[0] = slip_rate[0] = 0.0
    row[0] = 0.0
    for k in range(count - 1):  # first c, c', c'' and the gradient of c
        size = 0.0
        for m in range(3):
            size += (ws.x[k + 1, m] - ws.x[k, m]) ** 2
        size = math.sqrt(size)
        rate = bend = 0.0
        for m in range(3):
            ws.t[k, m] = (ws.x[k + 1, m] - ws.x[k, m]) / size
            rate += ws.t[k, m] * (ws.v[k + 1, m] - ws.v[k, m])
        for m in range(3):
            apart = ws.v[k + 1, m] - ws.v[k, m]
            ws.t_rate[k, m] = (apart - ws.t[k, m] * rate) / size
            bend += ws.t[k, m] * (ws.a[k + 1, m] - ws.a[k, m]) + ws.t_rate[k, m] * apart
        s[k + 1], slip[k + 1], slip_rate[k + 1] = s[k] + size, slip[k] + rate, slip_rate[k] + bend
        for n in range(nq):
            row[k + 1, n] = row[k, n]
            for m in range(3):
                row[k + 1, n] += ws.t[k, m] * (ws.X[k + 1, m, n] - ws.X[k, m, n])
    last = count - 1
    length, rate, bend = s[last], slip[last], slip_rate[last]
    for j in range(1, count):
        s[j] /= length
        slip[j] -= s[j] * rate
        slip_rate[j] -= s[j] * bend
    for j in range(1, count):  # the last one, zero, comes last
        for n in range(nq):
            row[j, n] -= s[j] * row[last, n]
    return length


@njit
def _add_segments(table: PathTable, ws: PathWorkspace, p: int, count: int, length: float, gravity: tuple) -> None:
    """The exact integrals over the belly, and the momentum flux at the inner points within it."""
    start, end = table.belly[p, 0], table.belly[p, 1]
    density = table.mass[p] / (end - start)
    for k in range(count - 1):
        low, high = max(ws.s[k], start), min(ws.s[k + 1], end)
        if high > low:
            span = ws.s[k + 1] - ws.s[k]
            cut = (low - ws.s[k]) / span, (high - ws.s[k]) / span
            _add_piece(ws, k, cut, density * (high - low) / 6.0, gravity)
    for j in range(1, count - 1):
        if start < ws.s[j] < end:
            flux = density * ws.slip[j] * ws.slip[j] / length
            for m in range(3):
                along = flux * (ws.t[j - 1, m] - ws.t[j, m])
                for n in range(ws.force.size):
                    ws.force[n] += ws.X[j, m, n] * along


@njit
def _add_particles(table: PathTable, ws: PathWorkspace, p: int, count: int, gravity: tuple) -> None:
    """Equal particles at even fractions, ends of the belly included."""
    start, end, number, k = table.belly[p, 0], table.belly[p, 1], table.lumped[p], 0
    for i in range(number):
        at = start + (end - start) * i / (number - 1)
        while k < count - 2 and at > ws.s[k + 1]:
            k += 1
        beta = (at - ws.s[k]) / (ws.s[k + 1] - ws.s[k])
        _add_piece(ws, k, (beta, beta), table.mass[p] / number / 6.0, gravity)


@njit
def _velocity_gradient(ws: PathWorkspace, k: int, beta: float, out: Float2) -> None:
    """``out`` (3, nq): gradient of the velocity of the particle at the part ``beta`` of segment ``k``."""
    for m in range(3):
        for n in range(out.shape[1]):
            near = ws.X[k, m, n] - ws.t[k, m] * ws.slip_row[k, n]
            far = ws.X[k + 1, m, n] - ws.t[k, m] * ws.slip_row[k + 1, n]
            out[m, n] = (1.0 - beta) * near + beta * far


@njit
def _bias(ws: PathWorkspace, k: int, j: int, m: int) -> float:
    """Component ``m`` of the acceleration at ddq = 0 of the particle that is at point ``j``, an end of segment k."""
    return ws.a[j, m] - 2.0 * ws.slip[j] * ws.t_rate[k, m] - ws.t[k, m] * ws.slip_rate[j]


@njit
def _add_piece(ws: PathWorkspace, k: int, cut: tuple, weight: float, gravity: tuple) -> None:
    """Add segment ``k`` between the parts ``cut`` of it to M and f; ``weight``: a sixth of its mass, kg."""
    A, B, nq = ws.near, ws.far, ws.force.size
    _velocity_gradient(ws, k, cut[0], A)
    _velocity_gradient(ws, k, cut[1], B)
    for m in range(3):
        near, far = gravity[m] - _bias(ws, k, k, m), gravity[m] - _bias(ws, k, k + 1, m)
        ga, gb = near + cut[0] * (far - near), near + cut[1] * (far - near)
        for n in range(nq):
            ws.force[n] += weight * (A[m, n] * (2.0 * ga + gb) + B[m, n] * (2.0 * gb + ga))
            for i in range(nq):
                ws.mass[n, i] += weight * (A[m, n] * (2.0 * A[m, i] + B[m, i]) + B[m, n] * (2.0 * B[m, i] + A[m, i]))
