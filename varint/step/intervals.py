"""Packed scalars that the functions of a step hand on by name; compiled code takes them without allocating."""

from typing import NamedTuple


class StepSpan(NamedTuple):
    """A step, or a stage, from one pose of the workspace to the other.

    ``h``: its size, s; zero at a node, where both poses are the same.
    """

    upper: int  # pose along whose rows impulses act: the start; the end where these rows are those at the end
    end: int  # pose at the end
    h: float


class Interval(NamedTuple):
    """A part of a step from a node, in units of the spacing ``dt`` of the nodes."""

    node: int
    before: float  # from the node to the beginning of the part
    after: float  # from the node to its end
    dt: float  # s


class NodeGrid(NamedTuple):
    """Steps from a node on; nodes whose number ``stride`` divides are recorded."""

    node: int
    steps: int
    stride: int
    dt: float  # s, between nodes
    end: float  # s: adaptive steps stop at the last node before; else it is not looked at
