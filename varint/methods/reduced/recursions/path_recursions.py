"""Mass spread evenly along paths over points of several bodies and around surfaces: mass matrix and forces.

A path has the points x_0 .. x_n, segments k from x_k to x_k+1 with unit vectors t_k, and the length l; s_j is the
fraction of the length before x_j. A particle keeps its fraction. Its velocity is affine along a segment, so that the
values at both ends of a segment give the integrals. With c_j = l s_j, and ' for time derivatives or gradients,

    slip      u_j = c_j' - s_j l'                    speed of the path past the material at x_j, negative
    velocity  a_j = x_j' - t_k u_j                   of the particle that is at x_j now, as segment k moves it
    bias      b_j = x_j'' - 2 u_j t_k' - t_k (c_j'' - s_j l'')       its acceleration at ddq = 0

    M = density sum_k ds_k / 6 (2 A^T A + 2 B^T B + A^T B + B^T A),    A, B: gradients of the velocities at the ends
    f = density (sum_k ds_k / 6 (A^T (2 ga + gb) + B^T (2 gb + ga)) + sum_j u_j^2 / l X_j^T (t_j-1 - t_j))

with g = gravity - bias. The last sum is the momentum flux of the material that turns round an inner point.

A line around a surface has two points more, the ends of its arc. They move as `algebra.arcs` says, and the path has no
corner there. On the arc x is a point at a fixed part of it, t and t' are taken there, its curvature k adds u^2 k to the
bias, and Gauss's rule gives the integrals. Where the line is straight, both are in its middle.
"""

import math
from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Int1, njit
from varint.mathematics.arcs import ARC_PARTS, ARC_WEIGHTS, arc_along, arc_length, arc_of, arc_point, turns_around
from varint.mathematics.vectors import add, cross, rotate, rotate_back, scale, sub, vector
from varint.methods.reduced.recursions.kinematic_recursions import accelerations
from varint.methods.reduced.recursions.matrices import jacobian
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace


@dataclass(frozen=True, eq=False)
class PathTable(CompiledRecord):
    """The np paths, and their N points one path after another."""

    first: Int1  # (np + 1,) first point of each path
    node: Int1  # (N,) tree node of each point; nl for the world
    offset: Float2  # (N, 3) from the node's reference point, axes of the node, m
    mass: Float1  # (np,) kg
    belly: Float2  # (np, 2) fractions between which the mass is
    lumped: Int1  # (np,) number of particles; zero for the exact integral
    wrap: Int1  # (N,) number of the surface at both ends of an arc, whose node and centre are given here; else -1
    axis: Float2  # (nw, 3) of each surface in axes of its node, zero of a sphere
    side: Float2  # (nw, 3) from the axis, m
    size: Float2  # (nw, 3) radius, mode and smoothing, see mathematics/wrapping.py


@dataclass(frozen=True, eq=False)
class PathWorkspace(CompiledRecord, writable=True):
    """Arrays of an evaluation; arrays by point hold the last path only, from row 0. Their last row is for arcs."""

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
    arc: Float2  # (N, 3) length of the arc from each point, and its first two derivatives at ddq = 0
    arc_row: Float2  # (N, nq) gradient of it
    relative: Float2  # (6, nq) gradients of the ends of a line as its surface sees them
    by_ends: Float3  # (ARC_NODES, 3, 6) derivatives of points of an arc by these ends


@njit(seconds=3, what="mass along paths")
def evaluate_paths(work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, gravity: Float1) -> None:
    """Write ``ws.mass`` after `place`, and ``ws.force`` after `move`; ``gravity`` (3,), m/s^2."""
    jacobian(work, ws.J)
    accelerations(work, ws.still, ws.acceleration)
    ws.mass[:] = 0.0
    ws.force[:] = 0.0
    g = (gravity[0], gravity[1], gravity[2])
    for p in range(table.mass.size):
        first, count = table.first[p], table.first[p + 1] - table.first[p]
        for j in range(count):
            if table.wrap[first + j] < 0:
                _move_point(work, table, ws, first + j, j)
        for j in range(1, count - 2):
            if _starts_arc(table, first + j):
                _find_arc(work, table, ws, first + j, j)
        length = _find_fractions(table, ws, first, count)
        if table.lumped[p] > 0:
            _add_particles(table, ws, p, count, g)
        else:
            _add_segments(work, table, ws, p, count, length, g)


@njit
def _move_point(work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, point: int, j: int) -> None:
    """Write row j of ``ws.x``, ``ws.v``, ``ws.a`` and ``ws.X``: place and motion of ``point``, at ddq = 0."""
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
def _starts_arc(table: PathTable, point: int) -> bool:
    """Return whether an arc begins at a point."""
    return table.wrap[point] >= 0 and table.wrap[point] == table.wrap[point + 1]


@njit
def _surface(table: PathTable, w: int) -> tuple:
    """Return the axis of surface ``w``, and its parameters in ``table`` (radius, mode, smoothing, side)."""
    size = table.size[w]
    return vector(table.axis[w]), (size[0], size[1], size[2], vector(table.side[w]))


@njit
def _seen(work: ReducedWorkspace, ws: PathWorkspace, i: int, centre: tuple, j: int) -> tuple:
    """Return place, velocity and acceleration at ddq = 0 of point j from a ``centre``, in axes of node i."""
    R, twist, rate = work.axes[i], work.twist[i], ws.acceleration[i]
    w, r = vector(twist), sub(vector(ws.x[j]), vector(work.point[i]))
    turn = cross(w, r)
    apart = sub(sub(vector(ws.v[j]), vector(twist[3:])), turn)
    bend = sub(sub(vector(ws.a[j]), vector(rate[3:])), add(cross(vector(rate), r), cross(w, turn)))
    bend = sub(bend, scale(2.0, cross(w, apart)))
    return sub(rotate_back(R, r), centre), rotate_back(R, apart), rotate_back(R, bend)


@njit
def _write_relative(work: ReducedWorkspace, ws: PathWorkspace, i: int, j: int) -> None:
    """Write the gradients of the places of points j - 1 and j + 2 in axes of node i to ``ws.relative``."""
    R, J = work.axes[i], ws.J[i]
    for side in range(2):
        end = j - 1 + 3 * side
        r = sub(vector(ws.x[end]), vector(work.point[i]))
        for n in range(J.shape[1]):
            lever = cross((J[0, n], J[1, n], J[2, n]), r)
            apart = rotate_back(
                R,
                (
                    ws.X[end, 0, n] - J[3, n] - lever[0],
                    ws.X[end, 1, n] - J[4, n] - lever[1],
                    ws.X[end, 2, n] - J[5, n] - lever[2],
                ),
            )
            for m in range(3):
                ws.relative[3 * side + m, n] = apart[m]


@njit
def _carry(
    work: ReducedWorkspace, ws: PathWorkspace, i: int, centre: tuple, seen: tuple, by_ends: Float2, j: int
) -> None:
    """Write point j, which node i carries, to ``ws.x``, ``ws.v``, ``ws.a`` and ``ws.X``.

    ``seen``: its place, velocity and acceleration from the ``centre``; ``by_ends`` (3, 6): derivatives by the ends of
    its line.
    """
    R, twist, rate, J = work.axes[i], work.twist[i], ws.acceleration[i], ws.J[i]
    w, r, apart = vector(twist), rotate(R, add(centre, seen[0])), rotate(R, seen[1])
    turn = cross(w, r)
    bend = add(add(cross(vector(rate), r), cross(w, turn)), add(scale(2.0, cross(w, apart)), rotate(R, seen[2])))
    for m in range(3):
        ws.x[j, m] = work.point[i, m] + r[m]
        ws.v[j, m] = twist[3 + m] + turn[m] + apart[m]
        ws.a[j, m] = rate[3 + m] + bend[m]
    for n in range(J.shape[1]):
        lever, moved = cross((J[0, n], J[1, n], J[2, n]), r), (0.0, 0.0, 0.0)
        for k in range(6):
            column = by_ends[0, k], by_ends[1, k], by_ends[2, k]
            moved = add(moved, scale(ws.relative[k, n], column))
        moved = rotate(R, moved)
        for m in range(3):
            ws.X[j, m, n] = J[3 + m, n] + lever[m] + moved[m]


@njit
def _find_arc(work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, point: int, j: int) -> None:
    """Write the ends of an arc, points j and j + 1, by the ends of its line, points j - 1 and j + 2, and its length.

    Writes ``ws.x``, ``ws.v``, ``ws.a``, ``ws.X``, ``ws.arc``, ``ws.arc_row`` and ``ws.by_ends``.
    """
    i, centre, nq = table.node[point], vector(table.offset[point]), ws.force.size
    axis, surface = _surface(table, table.wrap[point])
    p, q = _seen(work, ws, i, centre, j - 1), _seen(work, ws, i, centre, j + 2)
    ws.arc[j] = 0.0
    ws.arc_row[j] = 0.0
    if not turns_around(p[0], q[0], axis, surface):
        for end in range(j, j + 2):
            for m in range(3):
                ws.x[end, m] = 0.5 * (ws.x[j - 1, m] + ws.x[j + 2, m])
                ws.v[end, m] = 0.5 * (ws.v[j - 1, m] + ws.v[j + 2, m])
                ws.a[end, m] = 0.5 * (ws.a[j - 1, m] + ws.a[j + 2, m])
                for n in range(nq):
                    ws.X[end, m, n] = 0.5 * (ws.X[j - 1, m, n] + ws.X[j + 2, m, n])
        return
    _write_relative(work, ws, i, j)
    arc = arc_of(p, q, axis, surface)
    ws.arc[j, 0], ws.arc[j, 1], ws.arc[j, 2] = arc_length(arc)
    for k in range(6):
        along = arc_along(p[0], q[0], axis, surface, k)
        slope = arc_length(along)[1]
        for n in range(nq):
            ws.arc_row[j, n] += slope * ws.relative[k, n]
        for side in range(2):
            moved = arc_point(along, float(side))[0][1]
            for m in range(3):
                ws.by_ends[side, m, k] = moved[m]
    for side in range(2):
        _carry(work, ws, i, centre, arc_point(arc, float(side))[0], ws.by_ends[side], j + side)


@njit
def _add_arc(
    work: ReducedWorkspace,
    table: PathTable,
    ws: PathWorkspace,
    point: int,
    j: int,
    cut: tuple,
    mass: float,
    gravity: tuple,
) -> None:
    """Add the ``mass``, kg, on an arc between the parts ``cut`` of it to ``ws.mass`` and ``ws.force``.

    ``j``: row of its ``point``; ``gravity`` (3,), m/s^2. Uses ``ws.by_ends``, ``ws.near`` and the last rows.
    """
    i, centre, nq, A, spare = table.node[point], vector(table.offset[point]), ws.force.size, ws.near, ws.s.size - 1
    R, w = work.axes[i], vector(work.twist[i])
    axis, surface = _surface(table, table.wrap[point])
    p, q = _seen(work, ws, i, centre, j - 1), _seen(work, ws, i, centre, j + 2)
    _write_relative(work, ws, i, j)
    for k in range(6):
        along = arc_along(p[0], q[0], axis, surface, k)
        for node in range(len(ARC_PARTS)):
            moved = arc_point(along, cut[0] + ARC_PARTS[node] * (cut[1] - cut[0]))[0][1]
            for m in range(3):
                ws.by_ends[node, m, k] = moved[m]
    arc = arc_of(p, q, axis, surface)
    for node in range(len(ARC_PARTS)):
        part, weight = cut[0] + ARC_PARTS[node] * (cut[1] - cut[0]), mass * ARC_WEIGHTS[node]
        seen, tangent, bend = arc_point(arc, part)
        _carry(work, ws, i, centre, seen, ws.by_ends[node], spare)
        t = rotate(R, tangent[0])
        t_rate, bend = add(cross(w, t), rotate(R, tangent[1])), rotate(R, bend)
        slip = (1.0 - part) * ws.slip[j] + part * ws.slip[j + 1]
        slip_rate = (1.0 - part) * ws.slip_rate[j] + part * ws.slip_rate[j + 1]
        for m in range(3):
            for n in range(nq):
                row = (1.0 - part) * ws.slip_row[j, n] + part * ws.slip_row[j + 1, n]
                A[m, n] = ws.X[spare, m, n] - t[m] * row
            bias = ws.a[spare, m] - 2.0 * slip * t_rate[m] + slip * slip * bend[m] - t[m] * slip_rate
            for n in range(nq):
                ws.force[n] += weight * A[m, n] * (gravity[m] - bias)
                for other in range(nq):
                    ws.mass[n, other] += weight * A[m, n] * A[m, other]


@njit
def _find_fractions(table: PathTable, ws: PathWorkspace, first: int, count: int) -> float:
    """Write fractions, slips and their derivatives at the ``count`` points of a path; return its length, m.

    Writes ``ws.s``, ``ws.slip``, ``ws.slip_rate``, ``ws.slip_row``, ``ws.t`` and ``ws.t_rate``.
    """
    s, slip, slip_rate, row = ws.s, ws.slip, ws.slip_rate, ws.slip_row
    nq = row.shape[1]
    s[0] = slip[0] = slip_rate[0] = 0.0
    row[0] = 0.0
    for k in range(count - 1):  # first c, c', c'' and the gradient of c
        if _starts_arc(table, first + k):
            s[k + 1], slip[k + 1], slip_rate[k + 1] = (
                s[k] + ws.arc[k, 0],
                slip[k] + ws.arc[k, 1],
                slip_rate[k] + ws.arc[k, 2],
            )
            for n in range(nq):
                row[k + 1, n] = row[k, n] + ws.arc_row[k, n]
            continue
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
def _add_segments(
    work: ReducedWorkspace, table: PathTable, ws: PathWorkspace, p: int, count: int, length: float, gravity: tuple
) -> None:
    """Add the exact integrals over the belly, and the momentum flux at the inner points in it.

    Adds to ``ws.mass`` and ``ws.force``.
    """
    first, start, end = table.first[p], table.belly[p, 0], table.belly[p, 1]
    density = table.mass[p] / (end - start)
    for k in range(count - 1):
        low, high = max(ws.s[k], start), min(ws.s[k + 1], end)
        if high > low:
            span = ws.s[k + 1] - ws.s[k]
            cut = (low - ws.s[k]) / span, (high - ws.s[k]) / span
            if _starts_arc(table, first + k):
                _add_arc(work, table, ws, first + k, k, cut, density * (high - low), gravity)
            else:
                _add_piece(ws, k, cut, density * (high - low) / 6.0, gravity)
    for j in range(1, count - 1):
        if table.wrap[first + j] < 0 and start < ws.s[j] < end:
            flux = density * ws.slip[j] * ws.slip[j] / length
            for m in range(3):
                along = flux * (ws.t[j - 1, m] - ws.t[j, m])
                for n in range(ws.force.size):
                    ws.force[n] += ws.X[j, m, n] * along


@njit
def _add_particles(table: PathTable, ws: PathWorkspace, p: int, count: int, gravity: tuple) -> None:
    """Add equal particles at even fractions, ends of the belly included, to ``ws.mass`` and ``ws.force``."""
    start, end, number, k = table.belly[p, 0], table.belly[p, 1], table.lumped[p], 0
    for i in range(number):
        at = start + (end - start) * i / (number - 1)
        while k < count - 2 and at > ws.s[k + 1]:
            k += 1
        beta = (at - ws.s[k]) / (ws.s[k + 1] - ws.s[k])
        _add_piece(ws, k, (beta, beta), table.mass[p] / number / 6.0, gravity)


@njit
def _velocity_gradient(ws: PathWorkspace, k: int, beta: float, out: Float2) -> None:
    """Write the gradient of the velocity of the particle at the part ``beta`` of segment ``k`` to ``out`` (3, nq)."""
    for m in range(3):
        for n in range(out.shape[1]):
            near = ws.X[k, m, n] - ws.t[k, m] * ws.slip_row[k, n]
            far = ws.X[k + 1, m, n] - ws.t[k, m] * ws.slip_row[k + 1, n]
            out[m, n] = (1.0 - beta) * near + beta * far


@njit
def _bias(ws: PathWorkspace, k: int, j: int, m: int) -> float:
    """Return component ``m`` of the acceleration at ddq = 0 of the particle at point ``j``, an end of segment k."""
    return ws.a[j, m] - 2.0 * ws.slip[j] * ws.t_rate[k, m] - ws.t[k, m] * ws.slip_rate[j]


@njit
def _add_piece(ws: PathWorkspace, k: int, cut: tuple, weight: float, gravity: tuple) -> None:
    """Add segment ``k`` between the parts ``cut`` of it to ``ws.mass`` and ``ws.force``.

    ``weight``: a sixth of its mass, kg; ``gravity`` (3,), m/s^2.
    """
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
