"""Base of forces: efforts along measures by laws, loads on one body, constraints.

A force's file names its parameters, checks them, and gives its ``elements``; each refers to measures (measures/) and
says what is done with them. A law stands in the file of the force that it was made for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from varint.base.checks import (
    Frozen,
    check_name,
    check_plain_fields,
    checked_call,
    finite,
    not_negative,
    positive,
    shown,
)
from varint.base.display import Shown
from varint.base.errors import MechanismError
from varint.measures import Measure
from varint.model.body import WORLD
from varint.model.collision_shapes import CollisionShape
from varint.model.forces.law import Law
from varint.model.forces.measured import coordinate_measure, is_free_rotation
from varint.model.joints.base import Joint

if TYPE_CHECKING:
    from varint.model.structure import Structure


FORCES: dict[str, type["Force"]] = {}
CHECKS = {"any": finite, "zero": not_negative, "positive": positive}
KindOfForce = TypeVar("KindOfForce", bound="Force")


def register(cls: type[KindOfForce]) -> type[KindOfForce]:
    """Add a class of forces to the registry, under its class name."""
    FORCES[cls.__name__] = checked_call(cls)
    return cls


class Element(Shown):
    """One effort of a force, with work of its own; its kinds follow."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """Return the bodies that it connects or acts on, the world among them."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Effort(Element):
    """An effort along the sum of ``measures`` by a ``law`` with its ``parameters``, and ``terms`` of its measure.

    ``weights``: of the measures in the sum, 1 where there are none; ``table``: (values, efforts) of a tabulated law;
    ``function``: of a user's law; ``terms``: as `Limit`; ``start``: of the law's internal variable; ``compliant``:
    whether it is a compliant row of a joint (step/compliant/soft_joints.py).
    """

    measures: tuple[Measure, ...]
    law: Law
    parameters: Mapping[str, float] = field(default_factory=dict)
    table: tuple | None = None
    function: Callable | None = None
    terms: tuple = ()
    weights: tuple[float, ...] = ()
    start: float = 0.0
    compliant: bool = False

    @property
    def bodies(self) -> tuple[str, ...]:
        return _ends(self.measures)


@dataclass(frozen=True, eq=False)
class Constraint(Element):
    """Keeps the weighted sum of ``measures`` at its value at the start, or, where ``driven``, at the force's input.

    ``functions``: of a measure, value -> (value, slope, curvature), in place of the measure itself; None for itself.
    ``rank``: constraints get their rows in the order of their ranks, and those of one rank in that of the description.
    """

    measures: tuple[Measure, ...]
    weights: tuple[float, ...]
    driven: bool = False
    functions: tuple[Callable | None, ...] = ()
    rank: str = ""

    @property
    def bodies(self) -> tuple[str, ...]:
        return _ends(self.measures)


@dataclass(frozen=True, eq=False)
class BodyLoad(Element):
    """A force and a torque on ``body`` that follow from its own motion (step/loads.py).

    kind : {"push", "follower", "resistance", "sliding"}
    force, torque, point : (3,) world, reference configuration
    linear, angular : float
        Coefficients of a resistance.
    power : int
        1 for a resistance in proportion to the speed, 2 to its square.
    friction, smoothing : float
        Of sliding: the coefficient, and the speed, m/s, that it sets in at.
    creep : float
        Of sliding, N s/m: in place of ``smoothing``, friction in proportion to the speed up to its bound; 0 for none.
    radius : float
        Of sliding: of the ball about ``point`` that touches, m.
    pressed_by : Effort, optional
        Of sliding: the element of the normal force, listed before it.
    other, other_point, other_radius
        Of sliding: the body, point and radius of a ball that it slides on, in place of a plane of the world; it gets
        the opposite force.
    """

    kind: str
    body: str
    force: np.ndarray = field(default_factory=lambda: np.zeros(3))
    torque: np.ndarray = field(default_factory=lambda: np.zeros(3))
    point: np.ndarray | None = None
    linear: float = 0.0
    angular: float = 0.0
    power: int = 1
    friction: float = 0.0
    smoothing: float = 1.0
    creep: float = 0.0
    radius: float = 0.0
    pressed_by: Effort | None = None
    other: str | None = None
    other_point: np.ndarray | None = None
    other_radius: float = 0.0

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,) if self.other is None else (self.body, self.other)


@dataclass(frozen=True, eq=False)
class PlaneContact(Element):
    """Points of ``body`` that cannot pass a plane of the world (step/contacts).

    points : (P, 3) world, reference configuration, m
    radius : float
        Of balls about them, m.
    ground, normal : (3,) world
        A point of the plane, and the side where the body is.
    friction, restitution : float
    heights : tuple of Measure
        Of each point over the plane.
    """

    body: str
    points: np.ndarray
    radius: float
    ground: np.ndarray
    normal: np.ndarray
    friction: float
    restitution: float
    heights: tuple[Measure, ...]

    @property
    def bodies(self) -> tuple[str, ...]:
        return (WORLD, self.body)


@dataclass(frozen=True, eq=False)
class BodyContact(Element):
    """Shapes of ``body`` and ``other`` cannot pass each other (step/contacts); ``other`` may be the world.

    shapes, other_shapes : of the two bodies, in their axes
    friction, restitution : float
    rolling : float
        Coefficient of rolling resistance, m.
    apart : Measure
        Between both bodies, in whose place steps write the rows of closed contacts.
    """

    body: str
    other: str
    shapes: tuple[CollisionShape, ...]
    other_shapes: tuple[CollisionShape, ...]
    friction: float
    restitution: float
    rolling: float
    apart: Measure

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.other, self.body)


@dataclass(frozen=True, eq=False)
class BearingFriction(Element):
    """Friction of a joint between the bodies ``ends`` from the load that it transmits.

    The other fields are those of a joint of one coordinate, its ``measure``: steps in maximal coordinates know no
    other.

    joint : its name
    pressure : (n, 6) of each contact point, its friction along the coordinate by the wrench on body b about the anchor
        there, torque first, in axes of frame b: (N m or N) / N m, / N
    """

    ends: tuple[str, ...]
    joint: str = ""
    measure: Measure | None = None
    pressure: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.ends


def _ends(measures: Iterable[Measure]) -> tuple[str, ...]:
    return tuple(body for measure in measures for body in (measure.body_a, measure.body_b))


@dataclass(frozen=True, eq=False)
class Force(Frozen):
    """A force; ``name`` unique among the forces of a mechanism."""

    name: str

    commanded: ClassVar[bool] = False
    constraint: ClassVar[bool] = False  # its effort is whatever keeps a sum of measures at its value
    of_points: ClassVar[bool] = False  # it keeps a sum of points of bodies; its effort is a force, (T, 3)
    of_poses: ClassVar[bool] = False  # it keeps functions of poses at zero
    of_pairs: ClassVar[bool] = False  # it acts between many pairs of bodies, each with a contact force of its own
    restricted: ClassVar[bool] = False  # refused by most uses, see known_forces.py
    solved_for: ClassVar[bool] = False  # its effort follows from the motion that it leaves, as that of a contact
    mean_rates: ClassVar[bool] = False  # its damping goes by mean rates over a step, at any order
    look: ClassVar[str] = "coil"  # of its line in pictures: "coil", "line" or "beam"
    activated: ClassVar[bool] = False  # its law's internal variable, or without one its input, is an activation, 0 to 1

    def __post_init__(self) -> None:
        check_name(self.name, "a force")
        check_plain_fields(self, self.label)

    @property
    def label(self) -> str:
        """Name of the force in errors."""
        return f"{type(self).__name__.lower()} '{self.name}'"

    def elements(self, structure: "Structure") -> list[Element]:
        """Return the elements. Raises MechanismError if they do not fit the structure."""
        raise NotImplementedError

    def check_derivative(self, attribute: str) -> None:
        """Raise MechanismError if its elements do not change smoothly with its number ``attribute``."""

    def course(self) -> list[tuple[str, np.ndarray]]:
        """Return the line of action: names of bodies, each with a point (3,), m, world, reference.

        [] for most forces.
        """
        return []

    def outline(self, structure: "Structure") -> list[tuple[str, np.ndarray]]:
        """Return the line for pictures, as `course`."""
        return self.course()

    def branches(self, structure: "Structure") -> list[tuple[list[tuple[str, np.ndarray]], list]]:
        """Return the lines to draw: a course, and between its points the surface wrapped around or None."""
        course = self.outline(structure)
        return [(course, [None] * (len(course) - 1))] if course else []

    def tied(self, structure: "Structure") -> tuple[str, np.ndarray, list[str]] | None:
        """Return the body, its point (3,), world, reference, m, kept at a mean of others, and their bodies.

        Mostly None.
        """
        return None

    def held_joints(self, structure: "Structure") -> list[str]:
        """Return the joints whose coordinates it constrains, which reduced coordinates must have."""
        return []

    def steepness(self) -> float:
        """Return the largest slope of its effort by a coordinate's rate, if steps may be too long for it."""
        return 0.0

    def joint_range(self) -> tuple[str, int, float, float] | None:
        """Return the joint, the number of its coordinate, and the bounds that it keeps that between; mostly None."""
        return None

    def acts_on(self, structure: "Structure") -> list[str]:
        """Return the bodies that it acts on or ties together, the world among them."""
        elements = self.elements(structure)
        ends = [body for element in elements for body in element.bodies]
        if elements and all(isinstance(element, BodyLoad) for element in elements):
            ends = [WORLD, *ends]
        return list(dict.fromkeys(ends))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check(self, **bounds: str) -> None:
        """Set each named parameter to a finite float: from 0, or above it for the limit "positive", or "any"."""
        for name, bound in bounds.items():
            self._set(name, CHECKS[bound](getattr(self, name), f"{name} of {self.label}"))

    def _body(self, structure: "Structure", name: str) -> str:
        if name != WORLD:
            try:
                structure.body(name)
            except MechanismError as problem:
                raise MechanismError(f"{self.label}: {problem}") from None
        return name

    def _moving(self, structure: "Structure", name: str) -> str:
        if name == WORLD:
            raise MechanismError(f"{self.label} acts on a body, not on the world")
        return self._body(structure, name)

    def _joint(self, structure: "Structure", name: str) -> Joint:
        try:
            return structure.joint(name)
        except MechanismError as problem:
            raise MechanismError(f"{self.label}: {problem}") from None

    def _coordinate(self, structure: "Structure", name: str, coordinate: int, angles: str | None = None) -> Measure:
        """Return the measure of a coordinate of joint ``name``; ``angles``: see `AlongCoordinate`."""
        joint = self._joint(structure, name)
        if coordinate not in range(joint.dof):
            has = f"only 0 to {joint.dof - 1}" if joint.dof else "it has none"
            raise MechanismError(f"{self.label}: {joint.label} has no coordinate {shown(coordinate)}, {has}")
        if angles is not None and not is_free_rotation(joint, coordinate):
            raise MechanismError(
                f"{self.label}: angles={shown(angles)} are for the three coordinates of a free rotation, coordinate"
                f" {coordinate} of {joint.label} is not one of them: leave angles out"
            )
        measure = coordinate_measure(joint, coordinate, *structure.anchors(joint), angles)
        if measure is None:
            raise MechanismError(
                f"{self.label}: coordinate {coordinate} of {joint.label} belongs to a massless intermediate link;"
                " give that link a body with its own joints"
            )
        return measure


def check_limits(forces: Sequence[Force], elements: Sequence[Sequence[Element]]) -> None:
    """Raise MechanismError for two limits at one place: which of them pushes, and rebounds, would not be determined.

    ``elements``: those of each force.
    """
    first: dict[tuple, Force] = {}
    for force, of_force in zip(forces, elements, strict=True):
        for effort in (element for element in of_force if isinstance(element, Effort)):
            for limit in effort.terms:
                along = *(measure.key for measure in effort.measures), effort.weights
                other = first.setdefault((along, limit.sign, round(limit.value, 10)), force)
                if other is not force:
                    raise MechanismError(
                        f"{force.label} has the limit {limit.value:g} of {other.label}: which of them acts? Leave out"
                        " one of them"
                    )
