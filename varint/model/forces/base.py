"""What a force is: gauges, scalar functions of the relative pose of two bodies, and a law for the effort along each.

A force's file names its parameters, checks them, and gives its ``elements``. Gradients, energies and
derivatives follow from the gauge and the law (kernels/forces.py), the same for every force.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from varint.errors import MechanismError
from varint.model.checks import Frozen, array_of, check_name
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Slide, Turn
from varint.model.product import Product

FORCES: dict[str, type["Force"]] = {}


def register(cls):
    """Class decorator: add a force to the registry, under its class name."""
    FORCES[cls.__name__] = cls
    return cls


@dataclass(frozen=True)
class Gauge:
    """A scalar of the pose of body b seen from body a, m or rad, or a direction in which b is pushed.

    ``vectors``: world, reference configuration. By ``kind``,

    * "length" between points: (point a, point b);
    * "slide" of a point of b along a direction of a from a point of a: (direction, point b, point a);
    * "turn", the angle atan2(u . d, v . d) of a direction d of b in a plane of a: (u, v, d);
    * "frame", a slide plus n . the rotation vector of b since the reference, in axes of a:
      (direction, point b, point a, n);
    * "dead", "follower", a force and a torque on b fixed in the world or in b: (force, torque, point);
    * "speed" of b's centre of mass, "spin" of b: (); "slip" of a point of b along a plane: (normal, point, ...),
      whose gradients are the direction of the motion. Body a of these and of pushes is the world.
    """

    kind: str
    body_a: str
    body_b: str
    vectors: tuple


@dataclass(frozen=True)
class HardStop:
    """A limit of a gauge: forbidden above (``sign`` 1) or below (-1), with a coefficient of restitution, 0 to 1."""

    limit: float
    sign: int
    restitution: float


@dataclass(frozen=True)
class Element:
    """A gauge and the law of the effort along it, with its parameters (kernels/plan.py), and hard stops.

    ``added``: gauges whose values are added to the first. ``table``: (values, efforts) of a TABLE.
    ``normal``: the element of the normal force of a COULOMB, listed before it. ``weights``: of the gauges of a HOLD, in
    their sum; ``driven``: whether it follows the force's input.
    """

    gauge: Gauge
    law: str
    parameters: tuple = ()
    added: tuple[Gauge, ...] = ()
    table: tuple | None = None
    normal: "Element | None" = None
    stops: tuple = ()
    weights: tuple = ()
    driven: bool = False


@dataclass(frozen=True, eq=False)
class Force(Frozen):
    """A force; ``name`` unique among the forces of a mechanism."""

    name: str

    commanded: ClassVar[bool] = False
    held: ClassVar[bool] = False  # a constraint, whose effort is what it takes
    reduced_only: ClassVar[bool] = False  # known to varint.redmax alone

    def __post_init__(self):
        check_name(self.name, "a force")

    @property
    def label(self) -> str:
        """How errors name the force."""
        return f"{type(self).__name__.lower()} '{self.name}'"

    def elements(self, structure) -> list[Element]:
        """Its elements; raises MechanismError where they do not fit the structure."""
        raise NotImplementedError

    def acts_on(self, structure) -> list[str]:
        """Names of the bodies that it pushes or ties together."""
        elements = self.elements(structure)
        gauges = [gauge for element in elements for gauge in (element.gauge, *element.added)]
        return list(dict.fromkeys(body for gauge in gauges for body in (gauge.body_a, gauge.body_b)))

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def _check(self, **limits):
        """Each named parameter as a finite float: from 0, or above it where the limit is "positive", or "any"."""
        for name, limit in limits.items():
            value = float(array_of(getattr(self, name), (), f"{name} of {self.label}"))
            if (limit == "positive" and value <= 0.0) or (limit == "zero" and value < 0.0):
                least = "positive" if limit == "positive" else "zero or positive"
                raise MechanismError(f"{name} of {self.label} must be {least}, got {value:g}")
            self._set(name, value)

    def _body(self, structure, name):
        if name != "world":
            try:
                structure.body(name)
            except MechanismError as problem:
                raise MechanismError(f"{self.label}: {problem}") from None
        return name

    def _moving(self, structure, name):
        if name == "world":
            raise MechanismError(f"{self.label} acts on a body, not on the world")
        return self._body(structure, name)

    def _joint(self, structure, name, coordinate) -> Gauge:
        """The gauge of a coordinate of joint ``name``."""
        try:
            joint = structure.joint(name)
        except MechanismError as problem:
            raise MechanismError(f"{self.label}: {problem}") from None
        if isinstance(coordinate, bool) or coordinate not in range(joint.dof):
            has = f"only 0 to {joint.dof - 1}" if joint.dof else "it has none"
            raise MechanismError(f"{self.label}: {joint.label} has no coordinate {coordinate!r}, {has}")
        gauge = coordinate_gauge(joint, int(coordinate), *structure.anchors(joint))
        if gauge is None:
            part = "part of a rotation vector" if Ball() in joint.allowed else "one of several that no angle shows"
            if len(joint.allowed) == 1 and isinstance(joint.allowed[0], Product):
                part = "that of a spline"
            raise MechanismError(
                f"{self.label}: coordinate {coordinate} of {joint.label} is {part}, along which no effort is defined"
            )
        return gauge


def coordinate_gauge(joint: Joint, number: int, point_a, point_b) -> Gauge | None:
    """The gauge of a joint's coordinate, None where it has none: a rotation vector, motions after one, a spline.

    With the turns R = R1 R2 about the axes e1, e2: e2 is kept by R2, so R e2 shows R1; e1 by R1, so R^T e1 shows R2.
    """
    counted = [m for m in joint.shown for _ in range(m.size)]
    motion = counted[number]
    before = joint.shown[: joint.shown.index(motion)]
    turns = [m for m in joint.shown if isinstance(m, Turn)]
    axes = joint.frame.T
    if isinstance(motion, Slide) and all(isinstance(m, Slide) for m in before):
        return Gauge("slide", joint.body_a, joint.body_b, (axes[motion.axis], point_b, point_a))
    if not isinstance(motion, Turn) or len(turns) > 2 or any(isinstance(m, Ball) for m in joint.shown):
        return None
    axis = axes[motion.axis]
    if len(turns) == 2 and motion is turns[1]:
        other = axes[turns[0].axis]
        return Gauge("turn", joint.body_b, joint.body_a, (np.cross(other, axis), other, other))
    other = axes[(motion.axis + 1) % 3 if len(turns) == 1 else turns[1].axis]
    return Gauge("turn", joint.body_a, joint.body_b, (np.cross(axis, other), other, other))
