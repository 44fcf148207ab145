"""The axis along which two convex cores are furthest apart, or overlap least; in the axes of the first body.

For polyhedra that overlap, the depth is attained along the normal of a face, or square to an edge of each whose normals
meet on the Gauss map (Gottschalk, Lin and Manocha 1996; Gregorius, The separating axis test between convex polyhedra,
2013). For those apart, the axis gives a lower bound of the distance.
"""

import math

from varint.base.numba import njit
from varint.geometry.nearest import is_above, nearest_on_edges
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

NO_AXIS, FACE_OF_FIRST, FACE_OF_SECOND, EDGES = range(4)
CLEARLY = 1e-10  # of the size: by how much two edges have to separate better than a face, which has no round-off
SLANTED = 1e-5  # sine of the angle between edges that define a normal
MANY = 500  # pairs of edges from which on a bound of the distance leaves out most of them


@njit
def edge_opens(shapes, edge, n, slack):
    """Return whether a unit vector square to an edge, axes of its body, is among the outward normals at the edge."""
    return dot(n, vector(shapes.inward[edge, 0])) <= slack and dot(n, vector(shapes.inward[edge, 1])) <= slack


@njit
def has_faces(shapes, s):
    """Return whether the core of a shape is a polyhedron."""
    return shapes.first_face[s] < shapes.first_face[s + 1]


@njit
def lowest_vertex(shapes, s, n):
    """Return the number of the vertex of a shape that is lowest along ``n``, axes of its body, and its height."""
    best, height = -1, math.inf
    for v in range(shapes.first_vertex[s], shapes.first_vertex[s + 1]):
        h = dot(n, vector(shapes.vertex[v]))
        if h < height:
            best, height = v, h
    return best, height


@njit
def best_face(shapes, a, b, relative, d, swapped):
    """Return the face of ``a`` beyond which ``b`` is furthest, its vertex there, and by how much (negative: how deep).

    ``relative`` (3, 3), ``d`` (3,): axes and place of b in those of a; of a in those of b where ``swapped``.
    """
    face, vertex, most = -1, -1, -math.inf
    for f in range(shapes.first_face[a], shapes.first_face[a + 1]):
        n = vector(shapes.normal[f])
        if swapped:  # a vertex w of b is at R^T (w - d) of a
            v, height = lowest_vertex(shapes, b, rotate(relative, n))
            height -= dot(rotate(relative, n), d)
        else:
            v, height = lowest_vertex(shapes, b, rotate_back(relative, n))
            height += dot(n, d)
        if height - shapes.offset[f] > most:
            face, vertex, most = f, v, height - shapes.offset[f]
    return face, vertex, most


@njit
def facing_slab(shapes, a, axis, apart, within):
    """Return heights along an axis that bound the points of a, above, and of b, below, ``within`` the other core.

    The axis separates the cores by ``apart``: a is below its highest vertex, b above that by ``apart``.
    """
    _, lowest = lowest_vertex(shapes, a, scale(-1.0, axis))
    return apart - lowest - within, within - lowest


@njit
def edge_height(shapes, e, n):
    """Return the height along ``n`` of the higher end of an edge."""
    return max(dot(n, vector(shapes.vertex[shapes.edge[e, 0]])), dot(n, vector(shapes.vertex[shapes.edge[e, 1]])))


@njit
def best_edges(shapes, pair, frame, most, axis, slab):
    """Return edges whose common normal separates by more than ``most``: numbers, separation, normal from a to b.

    ``slab``: along ``axis``, see `facing_slab`.
    """
    (a, b), (relative, d), (low, high) = pair, frame, slab
    first, second = -1, -1
    down, lifted, upward = scale(-1.0, rotate_back(relative, axis)), dot(axis, d), axis
    for f in range(shapes.first_edge[b], shapes.first_edge[b + 1]):
        if edge_height(shapes, f, down) - lifted < -high:
            continue
        along = rotate(relative, vector(shapes.along[f]))
        left, right = rotate(relative, vector(shapes.inward[f, 0])), rotate(relative, vector(shapes.inward[f, 1]))
        foot = add(d, rotate(relative, vector(shapes.vertex[shapes.edge[f, 0]])))
        for e in range(shapes.first_edge[a], shapes.first_edge[a + 1]):
            if edge_height(shapes, e, upward) < low:
                continue
            n = cross(vector(shapes.along[e]), along)
            on_a, also_a = dot(n, vector(shapes.inward[e, 0])), dot(n, vector(shapes.inward[e, 1]))
            on_b, also_b = dot(n, left), dot(n, right)
            outward = max(on_a, also_a) <= 0.0 and min(on_b, also_b) >= 0.0
            inward = min(on_a, also_a) >= 0.0 and max(on_b, also_b) <= 0.0
            square = dot(n, n)
            if not (outward or inward) or square < SLANTED * SLANTED:
                continue
            apart = dot(n, sub(foot, vector(shapes.vertex[shapes.edge[e, 0]]))) / math.sqrt(square)
            if inward and not (outward and apart > 0.0):
                apart, n = -apart, scale(-1.0, n)
            if apart > most:
                most, first, second, axis = apart, e, f, scale(1.0 / math.sqrt(square), n)
    return first, second, most, axis


@njit
def _is_realised(shapes, a, b, frame, best):
    """Return whether the vertex nearest to the best face is above it."""
    (relative, d), (kind, first, second) = frame, best
    if kind == FACE_OF_FIRST:
        return is_above(shapes, first, add(d, rotate(relative, vector(shapes.vertex[second]))), 0.0)
    if kind == FACE_OF_SECOND:
        return is_above(shapes, second, rotate_back(relative, sub(vector(shapes.vertex[first]), d)), 0.0)
    return False


@njit
def _witness(shapes, a, b, frame, best):
    """Return the distance, from the other core, of the vertex nearest to the best face: at least that of the cores."""
    (relative, d), (kind, first, second) = frame, best
    if kind == FACE_OF_FIRST:
        _, _, away = nearest_on_edges(shapes, a, add(d, rotate(relative, vector(shapes.vertex[second]))))
    else:
        _, _, away = nearest_on_edges(shapes, b, rotate_back(relative, sub(vector(shapes.vertex[first]), d)))
    return math.sqrt(dot(away, away))


@njit
def separating_axis(shapes, a, b, relative, d, size, enough):
    """Return the kind of the best axis, numbers of features of a and b, separation and axis (3,) from a to b.

    Edges are not looked at where faces alone separate the cores by more than ``enough``, or where the distance from the
    best face is that of the cores.
    """
    kind, first, second, most, axis = NO_AXIS, -1, -1, -math.inf, (0.0, 0.0, 0.0)
    f, v, apart = best_face(shapes, a, b, relative, d, False)
    if f >= 0:
        kind, first, second, most, axis = FACE_OF_FIRST, f, v, apart, vector(shapes.normal[f])
    f, v, apart = best_face(shapes, b, a, relative, d, True)
    if f >= 0 and apart > most:
        kind, first, second, most = FACE_OF_SECOND, v, f, apart
        axis = scale(-1.0, rotate(relative, vector(shapes.normal[f])))
    if most > enough or (most > -CLEARLY * size and _is_realised(shapes, a, b, (relative, d), (kind, first, second))):
        return kind, first, second, most, axis
    slab = -math.inf, math.inf
    edges = shapes.first_edge[a + 1] - shapes.first_edge[a], shapes.first_edge[b + 1] - shapes.first_edge[b]
    if edges[0] * edges[1] > MANY:
        within = max(abs(most), _witness(shapes, a, b, (relative, d), (kind, first, second)))
        slab = facing_slab(shapes, a, axis, most, within)
    e, f, apart, n = best_edges(shapes, (a, b), (relative, d), most + CLEARLY * size, axis, slab)
    if e >= 0:
        kind, first, second, most, axis = EDGES, e, f, apart, n
    return kind, first, second, most, axis
