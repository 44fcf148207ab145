"""The arrays of collision shapes, and of the features found between two of them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from varint.base.numba import Bool1, CompiledRecord, Float1, Float2, Float3, Int1, Int2

# ROUND: a ball, a capsule or a convex polyhedron with a radius about it; their cores have vertices, edges and faces
# HOLLOW: a ball about its vertex, or a tube about its edge without ends, that others are inside of
# TERRAIN: a height field for shapes with corners or rims; balls and capsules face prisms below its triangles
ROUND, CYLINDER, PLANE, HOLLOW, TERRAIN = range(5)


@dataclass(frozen=True, eq=False)
class ShapeTable(CompiledRecord):
    """Shapes of all bodies, in the axes of their bodies from the centre of mass; of the world in its own axes.

    The core of a ball is a vertex, that of a capsule an edge, that of a box or a mesh its polyhedron. A cylinder has
    the centres of its two ends as vertices, a plane one face without corners. Of a height field see terrain.py.
    """

    body: Int1  # (ns,) slot, -1 for the world
    kind: Int1  # (ns,) ROUND, CYLINDER, PLANE, HOLLOW, TERRAIN
    radius: Float1  # (ns,) m, about the core; of a cylinder its own
    centre: Annotated[Float2, "ns 3"]  # of the sphere about the shape
    bound: Float1  # (ns,) m, its radius; infinite for a plane and what is hollow
    first_vertex: Int1  # (ns + 1,)
    first_edge: Int1  # (ns + 1,)
    first_face: Int1  # (ns + 1,)
    vertex: Annotated[Float2, "nv 3"]  # m
    edge: Annotated[Int2, "ne 2"]  # vertices
    along: Annotated[Float2, "ne 3"]  # unit vector from the first to the second
    length: Float1  # (ne,) m
    # unit vectors square to the edge, each along one of its two faces; zero for a capsule, of a cylinder one
    inward: Annotated[Float3, "ne 2 3"]  # square to its axis
    normal: Annotated[Float2, "nf 3"]  # outward
    offset: Float1  # (nf,) m, of the face along its normal
    first_corner: Int1  # (nf + 1,)
    corner: Int1  # vertices of the faces, each anticlockwise from outside


@dataclass(frozen=True, eq=False)
class Features(CompiledRecord, writable=True):
    """Features of two shapes that face each other, see features.py; space for `capacity` of them.

    ``first`` and ``second`` of a pair are a and b, or b and a where it is ``swapped``.
    """

    kind: Int1  # (n,)
    swapped: Bool1  # (n,)
    point: Annotated[Float3, "n 2 3"]  # of the first and the second, axes of their bodies from the centre of mass, m
    direction: Annotated[Float3, "n 2 3"]  # axes of their bodies; zero where the feature is a point
    radius: Annotated[Float2, "n 2"]  # m
    key: Annotated[Int2, "n 2"]  # number of the vertex, edge or face of the first and the second
    gap: Float1  # (n,) m, negative where they overlap
    # scratch
    relative: Annotated[Float2, "3 3"]  # axes of b in those of a
    place: Annotated[Float2, "n 6"]  # where they face each other, and the normal from a to b, axes of a


def feature_space(capacity: int) -> Features:
    """Return space for that many pairs of features of two shapes."""
    n = capacity
    return Features(
        kind=np.zeros(n, np.int64),
        swapped=np.zeros(n, np.bool_),
        point=np.zeros((n, 2, 3)),
        direction=np.zeros((n, 2, 3)),
        radius=np.zeros((n, 2)),
        key=np.zeros((n, 2), np.int64),
        gap=np.zeros(n),
        relative=np.zeros((3, 3)),
        place=np.zeros((n, 6)),
    )
