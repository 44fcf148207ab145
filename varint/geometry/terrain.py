"""Features by which a height field faces a convex polyhedron or a cylinder: those that are near to its triangles.

Corners and rims of the shape face triangles, its edges and rims face ridges, edges of triangles where the ground bends
down, and its faces and sides face peaks, points of the grid above the lines between their opposite neighbours. A corner
below the ground is below the triangle in whose column it is, so that triangles have no sides. There is no axis: all
normals lead out of the ground, within the cones of a ridge or a peak. In the table a height field has its points as
vertices, one edge along its x, as long as the spacing, with its x and y as ``inward``, and one face, its direction up,
whose corners are the points along y at x = 0.
"""

import math

from varint.base.numba import njit
from varint.geometry.cores import BESIDE, NONE, SLACK, put_features, reaches_down
from varint.geometry.cylinders import LEVEL, add_edge, add_point, end_of, is_due, of_cylinder, put_rim
from varint.geometry.features import LINE_LINE, POINT_PLANE
from varint.geometry.half_spaces import QUARTERS, UPRIGHT
from varint.geometry.nearest import is_above, nearest_lines
from varint.geometry.separation import edge_opens
from varint.geometry.shape_records import CYLINDER
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

STEEP = 1e-3  # least share of a normal along the field's down: slopes are up to 89.94 degrees
BENT = 1e-9  # of the spacing: from which height on a ridge or a peak is above the plane of its neighbours
ACROSS = ((1, 0), (0, 1), (1, 1))  # the other ends of the three edges that begin at a point of the grid
BESIDES = (((1, 1), (0, -1)), ((-1, 0), (1, 1)), ((1, 0), (0, 1)))  # third points of the triangles to both sides
# of each half of a cell its sides: the point where it begins and its number, cell and half beyond it
SIDES = (
    ((0, 0, 0, 0, -1, 1), (1, 0, 1, 1, 0, 1), (0, 0, 2, 0, 0, 1)),
    ((0, 0, 2, 0, 0, 0), (0, 1, 0, 0, 1, 0), (0, 0, 1, -1, 0, 0)),
)


@njit
def _grid(shapes, s):
    """Return the first vertex, numbers of points along x and y, spacing and axes of a height field."""
    face, edge, first = shapes.first_face[s], shapes.first_edge[s], shapes.first_vertex[s]
    columns = shapes.first_corner[face + 1] - shapes.first_corner[face]
    rows = (shapes.first_vertex[s + 1] - first) // columns
    axes = vector(shapes.inward[edge, 0]), vector(shapes.inward[edge, 1]), vector(shapes.normal[face])
    return first, rows, columns, shapes.length[edge], axes


@njit
def _has(grid, i, j):
    """Return whether a grid has a point (i, j)."""
    return 0 <= i < grid[1] and 0 <= j < grid[2]


@njit
def _at(shapes, grid, i, j):
    """Return the point (i, j) of a grid, axes of its body."""
    return vector(shapes.vertex[grid[0] + i * grid[2] + j])


@njit
def _place(shapes, grid, p):
    """Return coordinates of a point, axes of the field's body, along x and y of the grid, in spacings."""
    away = sub(p, vector(shapes.vertex[grid[0]]))
    return dot(away, grid[4][0]) / grid[3], dot(away, grid[4][1]) / grid[3]


@njit
def _cells(shapes, grid, p, within):
    """Return first and last numbers, along x and y, of the cells ``within`` (m) of a point, along either axis."""
    x, y = _place(shapes, grid, p)
    around = min(within / grid[3], 1.0 * (grid[1] + grid[2]))
    x, y = min(max(x, -9.0 - around), grid[1] + 9.0 + around), min(max(y, -9.0 - around), grid[2] + 9.0 + around)
    low, high = max(math.floor(x - around), 0), min(math.floor(x + around), grid[1] - 2)
    return low, high, max(math.floor(y - around), 0), min(math.floor(y + around), grid[2] - 2)


@njit
def _triangle(shapes, grid, i, j, half):
    """Return the first corner and upward unit normal of a half of the cell (i, j)."""
    p, q = _at(shapes, grid, i, j), _at(shapes, grid, i + 1, j + 1)
    w = _at(shapes, grid, i, j + 1) if half else _at(shapes, grid, i + 1, j)
    n = cross(sub(q, p), sub(w, p)) if half else cross(sub(w, p), sub(q, p))
    return p, scale(1.0 / math.sqrt(dot(n, n)), n)


@njit
def _is_in(i, j, half, place, slack):
    """Return whether coordinates of the grid are in a half of the cell (i, j)."""
    x, y = place[0] - i, place[1] - j
    low, high = (x, y) if half else (y, x)
    return low >= -slack and high <= 1.0 + slack and low <= high + slack


@njit
def _is_valley(shapes, grid, i, j, edge):
    """Return whether the ground bends up at edge ``edge`` of the three that begin at the point (i, j)."""
    di, dj = ACROSS[edge]
    (u, v), (s, t) = BESIDES[edge]
    if not (_has(grid, i + di, j + dj) and _has(grid, i + u, j + v) and _has(grid, i + s, j + t)):
        return False
    ends = add(_at(shapes, grid, i, j), _at(shapes, grid, i + di, j + dj))
    return dot(grid[4][2], sub(ends, add(_at(shapes, grid, i + u, j + v), _at(shapes, grid, i + s, j + t)))) < 0.0


@njit
def _faces_triangle(shapes, grid, cell, p, gap, n, slack):
    """Return whether a point faces a triangle, ``cell``: i, j, half.

    It is in its column, or above its plane and either its foot is on it or it is beyond one of its sides where the
    ground bends up: what slides into a valley has to see its other side before.
    """
    (i, j, half), place, slack = cell, _place(shapes, grid, p), slack / grid[3]
    if _is_in(i, j, half, place, slack):
        return True
    if gap < 0.0:
        return False
    if _is_in(i, j, half, _place(shapes, grid, sub(p, scale(gap, n))), slack):
        return True
    for k in range(3):
        di, dj, edge, u, v, other = SIDES[half][k]
        if _is_in(i + u, j + v, other, place, slack) and _is_valley(shapes, grid, i + di, j + dj, edge):
            return True
    return False


@njit
def _ridge(shapes, grid, i, j, edge):
    """Return edge ``edge`` of the three from the point (i, j), see `cylinders.edge_of`, and whether it is a ridge."""
    di, dj = ACROSS[edge]
    P, missing = _at(shapes, grid, i, j), NONE
    if not _has(grid, i + di, j + dj):
        return (0, P, P, 0.0, (NONE, NONE)), False
    Q, up = _at(shapes, grid, i + di, j + dj), grid[4][2]
    bend, border, sides = dot(up, add(P, Q)), False, (missing, missing)
    for k in range(2):
        u, v = BESIDES[edge][k]
        if _has(grid, i + u, j + v):
            third = _at(shapes, grid, i + u, j + v)
            bend -= dot(up, third)
            side = sub(third, P)
        else:
            border, side = True, scale(-1.0, up)
        sides = (side, sides[1]) if k == 0 else (sides[0], side)
    if not border and bend <= BENT * grid[3]:
        return (0, P, P, 0.0, sides), False
    along = sub(Q, P)
    length = math.sqrt(dot(along, along))
    along = scale(1.0 / length, along)
    left, right = sides
    left, right = sub(left, scale(dot(left, along), along)), sub(right, scale(dot(right, along), along))
    left, right = scale(1.0 / math.sqrt(dot(left, left)), left), scale(1.0 / math.sqrt(dot(right, right)), right)
    return (3 * (i * grid[2] + j) + edge, P, along, length, (left, right)), True


@njit
def _is_peak(shapes, grid, i, j):
    """Return whether a point of the grid is above the lines between opposite neighbours."""
    P, up = _at(shapes, grid, i, j), grid[4][2]
    for edge in range(3):
        di, dj = ACROSS[edge]
        if not (_has(grid, i + di, j + dj) and _has(grid, i - di, j - dj)):
            continue
        both = add(_at(shapes, grid, i + di, j + dj), _at(shapes, grid, i - di, j - dj))
        if 2.0 * dot(up, P) - dot(up, both) <= BENT * grid[3]:
            return False
    return True


@njit
def _rises(shapes, grid, i, j, n):
    """Return whether no edge leads from a point of the grid steeply along ``n``, axes of the field's body."""
    P = _at(shapes, grid, i, j)
    for edge in range(3):
        for sign in (-1, 1):
            u, v = i + sign * ACROSS[edge][0], j + sign * ACROSS[edge][1]
            if _has(grid, u, v):
                t = sub(_at(shapes, grid, u, v), P)
                if dot(n, t) > SLACK * math.sqrt(dot(t, t)):
                    return False
    return True


@njit
def _out_of(shapes, a, p):
    """Return the distance, m, of a point, body axes, outside of a polyhedron a along the best of its normals."""
    most = -math.inf
    for f in range(shapes.first_face[a], shapes.first_face[a + 1]):
        most = max(most, dot(vector(shapes.normal[f]), p) - shapes.offset[f])
    return most


@njit
def _is_below(shapes, grid, p, slack):
    """Return whether a point, axes of the field's body, is below the triangle in whose column it is, within a slack."""
    x, y = _place(shapes, grid, p)
    if not (0.0 <= x < grid[1] - 1.0 and 0.0 <= y < grid[2] - 1.0):
        return False
    i, j = math.floor(x), math.floor(y)
    foot, n = _triangle(shapes, grid, i, j, 1 if y - j > x - i else 0)
    return dot(n, sub(p, foot)) <= slack


@njit
def _corners(shapes, pair, frame, grid, scene, count, out):
    """Add the corners of a polyhedron a with the triangles that they face; the new count."""
    (a, b), (relative, d), (deepest, reach), slack = pair, frame, scene[2], scene[3]
    size = min(shapes.bound[a], shapes.bound[b])
    for v in range(shapes.first_vertex[a], shapes.first_vertex[a + 1]):
        corner = vector(shapes.vertex[v])
        p = rotate_back(relative, sub(corner, d))
        i0, i1, j0, j1 = _cells(shapes, grid, p, max(reach, 0.0) + slack)
        for cell in range((i1 - i0 + 1) * (j1 - j0 + 1) * 2 if i1 >= i0 and j1 >= j0 else 0):
            half, across = cell % 2, j1 - j0 + 1
            i, j = i0 + cell // 2 // across, j0 + cell // 2 % across
            foot, n = _triangle(shapes, grid, i, j, half)
            gap = dot(n, sub(p, foot))
            if not (deepest <= gap < reach) or not _faces_triangle(shapes, grid, (i, j, half), p, gap, n, slack):
                continue
            up = rotate(relative, n)
            if reaches_down(shapes, a, v, up):
                keys = v, 2 * (i * grid[2] + j) + half
                ends, place = (corner, NONE, foot, n), (sub(corner, scale(0.5 * gap, up)), scale(-1.0, up))
                count = put_features(out, count, POINT_PLANE, False, keys, ends, (0.0, 0.0), gap, place, size)
    return count


@njit
def _edges(shapes, pair, frame, grid, ridge, scene, count, out):
    """Add the edges of a polyhedron a that cross a ridge; the new count."""
    (a, b), (relative, d), (number, P, turned, span, (left, right)) = pair, frame, ridge
    size, slack = min(shapes.bound[a], shapes.bound[b]), scene[3]
    foot, along = add(d, rotate(relative, P)), rotate(relative, turned)
    for e in range(shapes.first_edge[a], shapes.first_edge[a + 1]):
        n, gap, on_e, on_f = nearest_lines(shapes, e, 0, along, foot)
        if dot(n, scene[0]) < 0.0:
            n, gap = scale(-1.0, n), -gap
        inside = -slack <= on_e <= shapes.length[e] + slack and -slack <= on_f <= span + slack
        if not (inside and dot(n, n) > 0.0 and is_due(gap, n, scene) and edge_opens(shapes, e, n, SLACK)):
            continue
        out_of = scale(-1.0, rotate_back(relative, n))
        if dot(out_of, left) > SLACK or dot(out_of, right) > SLACK:
            continue
        u = vector(shapes.along[e])
        start = vector(shapes.vertex[shapes.edge[e, 0]])
        clear = gap < 0.0 and _out_of(shapes, a, add(foot, scale(on_f, along))) > slack
        if clear and not _is_below(shapes, grid, rotate_back(relative, sub(add(start, scale(on_e, u)), d)), slack):
            continue  # the edge is on the other side of a steep ridge
        w = scale(-1.0, turned) if dot(cross(u, along), n) > 0.0 else turned  # first x second points from b to a
        place = add(add(start, scale(on_e, u)), scale(0.5 * gap, n)), n
        count = put_features(out, count, LINE_LINE, False, (e, number), (start, u, P, w), (0.0, 0.0), gap, place, size)
    return count


@njit
def _faces(shapes, pair, frame, grid, peak, scene, count, out):
    """Add a peak, ``peak``: i, j, with the faces of a polyhedron a that are above it; the new count."""
    (a, b), (relative, d), (i, j) = pair, frame, peak
    size, P = min(shapes.bound[a], shapes.bound[b]), _at(shapes, grid, i, j)
    point = add(d, rotate(relative, P))
    for f in range(shapes.first_face[a], shapes.first_face[a + 1]):
        n = vector(shapes.normal[f])
        gap = dot(n, point) - shapes.offset[f]
        if not (is_due(gap, n, scene) and is_above(shapes, f, point, scene[3])):
            continue
        if gap < 0.0 and gap < _out_of(shapes, a, point) - scene[3]:
            continue  # another face is nearer
        if _rises(shapes, grid, i, j, scale(-1.0, rotate_back(relative, n))):
            ends, keys = (P, NONE, scale(shapes.offset[f], n), n), (grid[0] + i * grid[2] + j, f)
            place = sub(point, scale(0.5 * gap, n)), n
            count = put_features(out, count, POINT_PLANE, True, keys, ends, (0.0, 0.0), gap, place, size)
    return count


@njit
def _rims(shapes, pair, frame, grid, cell, scene, count, out):
    """Add the rims of a cylinder a that face a triangle, ``cell``: i, j, half; the new count."""
    (a, b), (relative, d), (_, e, _, r) = pair, frame, of_cylinder(shapes, pair[0])
    size, slack = min(shapes.bound[a], shapes.bound[b]), scene[3]
    foot, normal = _triangle(shapes, grid, cell[0], cell[1], cell[2])
    n = scale(-1.0, rotate(relative, normal))
    level = dot(e, n)
    down = sub(n, scale(level, e))
    sine = math.sqrt(dot(down, down))
    u = scale(1.0 / sine, down) if sine > UPRIGHT else vector(shapes.inward[shapes.first_edge[a], 0])
    w = cross(e, u)
    for side in range(2):
        centre, sign = end_of(shapes, a, e, side)
        if sign * level < -SLACK:
            continue
        if dot(normal, sub(rotate_back(relative, sub(centre, d)), foot)) - r * sine >= scene[2][1]:
            continue
        for k in range(4 if sine < LEVEL else 1):
            point = add(centre, add(scale(QUARTERS[k][0] * r, u), scale(QUARTERS[k][1] * r, w)))
            seen = rotate_back(relative, sub(point, d))
            gap = dot(normal, sub(seen, foot))
            if not (is_due(gap, n, scene) and _faces_triangle(shapes, grid, cell, seen, gap, normal, slack)):
                continue
            key = shapes.first_vertex[a] + side, 2 * (cell[0] * grid[2] + cell[1]) + cell[2]
            whole = k == 0 and sine > UPRIGHT
            count = put_rim(out, count, key, (centre, e, r), (foot, normal), point, gap, n, size, whole)
    return count


@njit
def _of_cell(shapes, pair, frame, grid, corner, scene, count, out):
    """Add the features that face the ridges and the peak at the point ``corner``, (i, j); return the new count.

    For a cylinder also those that face the triangles that begin there.
    """
    a, (relative, _), (i, j) = pair[0], frame, corner
    round_about = shapes.kind[a] == CYLINDER
    for half in range(2 if round_about and _has(grid, i + 1, j + 1) else 0):
        count = _rims(shapes, pair, frame, grid, (i, j, half), scene, count, out)
    for edge in range(3):
        ridge, rises = _ridge(shapes, grid, i, j, edge)
        if rises and round_about:
            count = add_edge(shapes, pair, frame, of_cylinder(shapes, a), ridge, scene, count, out)
        elif rises:
            count = _edges(shapes, pair, frame, grid, ridge, scene, count, out)
    if not _is_peak(shapes, grid, i, j):
        return count
    if not round_about:
        return _faces(shapes, pair, frame, grid, corner, scene, count, out)
    vertex = grid[0] + i * grid[2] + j, _at(shapes, grid, i, j), False
    more = add_point(shapes, pair, frame, of_cylinder(shapes, a), vertex, scene, count, out)
    if more > count and not _rises(
        shapes, grid, i, j, scale(-1.0, rotate_back(relative, vector(out.place[more - 1, 3:])))
    ):
        return count
    return more


@njit
def terrain_features(shapes, pair, frame, reach, out):
    """Write the features of a polyhedron or a cylinder a and a height field b within ``reach``; how many.

    See `core_features`. Corners deeper in the ground than the radius of the sphere about a are left out.
    """
    (a, b), (relative, d), grid = pair, frame, _grid(shapes, pair[1])
    down = scale(-1.0, rotate(relative, grid[4][2]))
    scene = down, STEEP, (-shapes.bound[a], reach), BESIDE * min(shapes.bound[a], shapes.bound[b])
    count = 0
    if shapes.kind[a] != CYLINDER:
        count = _corners(shapes, pair, frame, grid, scene, count, out)
    middle = rotate_back(relative, sub(vector(shapes.centre[a]), d))
    i0, i1, j0, j1 = _cells(shapes, grid, middle, shapes.bound[a] + max(reach, 0.0))
    for i in range(i0, i1 + 2 if i1 >= i0 and j1 >= j0 else i0):
        for j in range(j0, j1 + 2):
            count = _of_cell(shapes, pair, frame, grid, (i, j), scene, count, out)
    return count
