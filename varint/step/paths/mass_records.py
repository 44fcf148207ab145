"""Arrays of mass along paths in steps of maximal coordinates (paths/masses.py): in a plan, and in a run."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Int1, Int2


@dataclass(frozen=True, eq=False)
class MassivePaths(CompiledRecord):
    """The np paths with mass, their N points one path after another, and the K moving bodies that these are on."""

    first: Int1  # (np + 1,) first point of each path
    slot: Int1  # (N,) body of each point, nb for the world; of both points of an arc that of the surface
    place: Int1  # (N,) its number among ``body``, -1 for the world, and for points of arcs
    # from the centre of mass, body axes, m; of the world the place; of points of arcs the centre
    arm: Annotated[Float2, "N 3"]
    carrier: Int1  # (N,) number among ``body`` of the surface's, -1 for the world, and for points that are on bodies
    wrap: Int1  # (N,) number of the surface of points of arcs, else -1
    axis: Annotated[Float2, "nw 3"]  # of each surface, body axes, zero of a sphere
    side: Annotated[Float2, "nw 3"]  # from the axis, m, body axes
    size: Annotated[Float2, "nw 3"]  # radius, mode and smoothing, see mathematics/wrapping.py
    body: Int1  # (K,) slots; those first that paths couple with others, ``coupled`` of them
    coupled: Int1  # (1,)
    touches: Int2  # (np, K) 1 where a path has a point on a body
    mass: Float1  # (np,) kg
    belly: Annotated[Float2, "np 2"]  # fractions between which the mass is
    lumped: Int1  # (np,) number of particles; zero for the exact integral
    moments: Annotated[Float2, "np 5"]  # kg, of a path of two points, see paths/masses.py; of others zero


@dataclass(frozen=True, eq=False)
class MassivePathWork(CompiledRecord, writable=True):
    """Scratch. Of both poses; arrays by point or by quadrature point hold the last path only where not of N points."""

    x: Annotated[Float3, "2 pathpoints 3"]  # points, m, world
    t: Annotated[Float3, "2 pathpoints 3"]  # unit vectors of the segments, each at its first point
    s: Annotated[Float2, "2 pathpoints"]  # fractions of the length
    length: Annotated[Float2, "2 paths"]  # m
    turned: Annotated[Int1, "pathpoints"]  # whether there is an arc from a point at both poses
    arc: Annotated[Float2, "2 arcpoints"]  # length of the arc from each point, m
    growth: Annotated[Float3, "2 arcpoints 6"]  # its derivatives by both ends of the line, in axes of the surface
    by_line: Annotated[Float3, "arcsides 3 6"]  # G of points of arcs, first pose, second pose, of the next ...
    carried: Annotated[Float2, "arcpoints 6"]  # motion of the body of the surface, world
    relative: Annotated[Float2, "arcpoints 6"]  # motion of the ends of the line as the surface sees it
    by_relative: Annotated[Float2, "arcpoints 6"]  # impulse by that
    at: Annotated[Float2, "arcnodes 3"]  # quadrature points on arcs, m, world, first pose, second pose, of the next ...
    along: Annotated[Float2, "arcnodes 3"]  # their directions
    by_ends: Annotated[Float3, "arcnodes 3 6"]  # and G
    weight: Annotated[Float1, "pathnodes"]  # kg, of the quadrature points
    segment: Annotated[Int2, "pathnodes 2"]  # that each is on, by pose
    part: Annotated[Float2, "pathnodes 2"]  # of the segment before it
    push: Annotated[Float2, "pathnodes 3"]  # impulse at each, N s, world
    shift: Annotated[Float2, "pathpoints 3"]  # motion of the points
    slip: Annotated[Float1, "pathpoints"]  # of the path past the material at the points, along it
    pull: Annotated[Float2, "pathpoints 3"]  # impulse by the motion of each point ...
    drag: Annotated[Float1, "pathpoints"]  # ... and by each slip
    wrench: Annotated[Float2, "pathbodies 6"]  # N s, world, and N m s, body axes
    H: Annotated[Float2, "pathmotions pathmotions"]  # derivative of ``wrench`` at one pose by motions at another
