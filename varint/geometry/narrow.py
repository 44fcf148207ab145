"""Features by which two shapes face each other: the narrow phase, behind bounding spheres.

Closed forms for balls, capsules, boxes, convex polyhedra and planes with one another, for those inside of a hollow ball
or tube, for polyhedra and cylinders above a height field, and for a cylinder with all of these but what is hollow;
where a rim is nearest to an edge or to another rim takes a few iterations. Nothing is remembered between calls: the
same poses give the same features.
"""

import math

from varint.base.numba import njit
from varint.geometry.cores import core_features
from varint.geometry.cylinder_pairs import cylinder_pair_features
from varint.geometry.cylinders import cylinder_features
from varint.geometry.half_spaces import half_space_features
from varint.geometry.hollows import hollow_features
from varint.geometry.shape_records import CYLINDER, HOLLOW, PLANE, ROUND, TERRAIN
from varint.geometry.terrain import terrain_features
from varint.mathematics.vectors import add, dot, rotate, rotate_back, sub, vector


@njit
def spheres_apart(shapes, a, b, pose_a, pose_b):
    """Return the distance of the spheres about two shapes, or of a sphere from a plane, m; negative where they overlap.

    What is hollow has no sphere about it: always -infinity.
    """
    (x_a, A), (x_b, B) = pose_a, pose_b
    first = add(vector(x_a), rotate(A, vector(shapes.centre[a])))
    second = add(vector(x_b), rotate(B, vector(shapes.centre[b])))
    apart = sub(second, first)
    if shapes.kind[a] == HOLLOW or shapes.kind[b] == HOLLOW:
        return -math.inf
    if shapes.kind[a] == PLANE:
        return dot(rotate(A, vector(shapes.normal[shapes.first_face[a]])), apart) - shapes.bound[b]
    if shapes.kind[b] == PLANE:
        return -dot(rotate(B, vector(shapes.normal[shapes.first_face[b]])), apart) - shapes.bound[a]
    return math.sqrt(dot(apart, apart)) - shapes.bound[a] - shapes.bound[b]


@njit
def _swap_pairs(count, out):
    """Exchange the bodies of all pairs: changes ``out.swapped``."""
    for k in range(count):
        out.swapped[k] = not out.swapped[k]


@njit
def find_features(shapes, a, b, pose_a, pose_b, reach, out):
    """Write the pairs of features of shapes ``a`` and ``b`` whose gap is below ``reach`` (m) into ``out``; how many.

    pose_a, pose_b : (position (3,), rotation matrix (3, 3)) of the bodies
    out : Features, with ``out.relative`` (3, 3), from axes of b to a; full, it lacks pairs of the largest gaps

    The smallest gap is the distance of the shapes, if it is below ``reach``; where they overlap it is less the depth,
    the least translation that parts them. The gap of each pair is its own.
    """
    exchanged = shapes.kind[b] in (PLANE, HOLLOW)
    both = exchanged and shapes.kind[a] in (PLANE, HOLLOW)
    if both or spheres_apart(shapes, a, b, pose_a, pose_b) >= reach:
        return 0
    exchanged = exchanged or (shapes.kind[b] == CYLINDER and shapes.kind[a] == ROUND) or shapes.kind[a] == TERRAIN
    if exchanged:
        a, b, pose_a, pose_b = b, a, pose_b, pose_a
    (x_a, A), (x_b, B) = pose_a, pose_b
    for i in range(3):
        for j in range(3):
            out.relative[i, j] = A[0, i] * B[0, j] + A[1, i] * B[1, j] + A[2, i] * B[2, j]
    frame = out.relative, rotate_back(A, sub(vector(x_b), vector(x_a)))
    if shapes.kind[a] == PLANE:
        count = half_space_features(shapes, (a, b), frame, reach, out)
    elif shapes.kind[a] == HOLLOW:
        count = hollow_features(shapes, (a, b), frame, reach, out)
    elif shapes.kind[b] == TERRAIN:
        count = terrain_features(shapes, (a, b), frame, reach, out)
    elif shapes.kind[a] == CYLINDER and shapes.kind[b] == CYLINDER:
        count = cylinder_pair_features(shapes, (a, b), frame, reach, out)
    elif shapes.kind[a] == CYLINDER:
        count = cylinder_features(shapes, (a, b), frame, reach, out)
    else:
        count = core_features(shapes, (a, b), frame, reach, out)
    if exchanged:
        _swap_pairs(count, out)
    return count
