"""Forces along a coordinate of a joint: springs, dampers, friction, servos, motors."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.measures.spin import Spin
from varint.model.arrays import Values
from varint.model.body import WORLD
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.commanded import Commanded
from varint.model.forces.law import Law
from varint.model.forces.spring import SPRING
from varint.model.motion import Ball
from varint.model.rotation_vectors import rotation_matrix

if TYPE_CHECKING:
    from varint.model.structure import Structure


def _dry_friction(value: float, rate: float, effort: float, smoothing: float) -> tuple[float, float, float]:
    share = math.tanh(rate / smoothing)
    return -effort * share, 0.0, -effort / smoothing * (1.0 - share * share)


def _given(input: float) -> tuple[float, float, float]:
    return input, 0.0, 0.0


def _regulator(value: float, rate: float, input: float, stiffness: float, damping: float) -> tuple[float, float, float]:
    return -stiffness * (value - input) - damping * rate, -stiffness, -damping


def _integral_regulator(
    value: float, rate: float, input: float, state: float, stiffness: float, damping: float, integral: float
) -> tuple[float, ...]:
    effort = -stiffness * (value - input) - damping * rate - integral * state
    return effort, -stiffness, -damping, -integral, value - input, 1.0, 0.0, 0.0


def _speed_regulator(rate: float, input: float, max_effort: float, smoothing: float) -> tuple[float, float, float]:
    share = math.tanh((rate - input) / smoothing)
    return -max_effort * share, 0.0, -max_effort / smoothing * (1.0 - share * share)


DRY_FRICTION = Law("dry friction", _dry_friction, steepest=lambda effort, smoothing: effort / smoothing)
INPUT = Law("input", _given)
SERVO = Law("servo", _regulator)
INTEGRAL_SERVO = Law("servo with integral", _integral_regulator)
SPEED_SERVO = Law("speed servo", _speed_regulator, steepest=lambda max_effort, smoothing: max_effort / smoothing)


@register
@dataclass(frozen=True, eq=False)
class TorsionSpring(AlongCoordinate):
    """A linear spring at a joint coordinate, N m/rad or N/m, at rest at ``rest_angle``, with ``damping``."""

    stiffness: float = field(kw_only=True)
    rest_angle: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    law = SPRING
    coordinate_fields = ("rest_angle",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(stiffness="zero", damping="zero", rest_angle="any")

    def _parameters(self) -> dict[str, float]:
        return {"stiffness": self.stiffness, "rest": self.rest_angle, "damping": self.damping}


@dataclass(frozen=True, eq=False)
class JointResistance(AlongCoordinate):
    """An effort against the motion of a joint; ``coordinate``: by default the first, or of a ball joint all of it.

    All of a ball joint is the angular velocity of body b seen from a, whatever their orientations.
    """

    coordinate: int | None = field(default=None, kw_only=True)  # type: ignore[assignment]

    @property
    def number(self) -> int:
        """Return the number of its coordinate, 0 where that is not named."""
        return self.coordinate or 0

    def of_ball(self, structure: "Structure") -> bool:
        """Return whether it acts against all of the motion of a ball joint."""
        allowed = self._joint(structure, self.joint).allowed
        return self.coordinate is None and self.angles is None and [type(motion) for motion in allowed] == [Ball]

    def elements(self, structure: "Structure") -> list[Element]:
        if not self.of_ball(structure):
            return super().elements(structure)
        joint = self._joint(structure, self.joint)
        axes = np.eye(3) if joint.body_b == WORLD else rotation_matrix(structure.body(joint.body_b).quat_wxyz)
        spins = (Spin(joint.body_a, joint.body_b, axis) for axis in axes.T)
        return [Effort((spin,), self._law(), self._parameters()) for spin in spins]


@register
@dataclass(frozen=True, eq=False)
class JointDamper(JointResistance):
    """Viscous damping of a joint coordinate, N m s/rad or N s/m; of a ball joint of its relative angular velocity.

    Of a ball joint whose ``coordinate`` is not named the torque on body b is -``damping`` times its angular velocity
    seen from a, the same about every axis. Its effort as one number then has no meaning: it is a sum over axes.
    """

    damping: float = field(kw_only=True)

    law = SPRING

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(damping="zero")

    def _parameters(self) -> dict[str, float]:
        return {"stiffness": 0.0, "rest": 0.0, "damping": self.damping}


@register
@dataclass(frozen=True, eq=False)
class JointFriction(JointResistance):
    """Dry friction of a joint coordinate: ``effort`` (N m or N) against the motion, as tanh(rate / ``smoothing``).

    So a joint creeps under less than the ``effort``, under half of it at 0.55 ``smoothing`` (rad/s or m/s): a smaller
    one holds better.

    Of a ball joint whose ``coordinate`` is not named it is friction about each of the three axes of body b by itself,
    as that of MuJoCo's ball joints: up to ``effort`` about each. Its effort as one number then has no meaning.
    """

    effort: float = field(kw_only=True)
    smoothing: float = field(default=1e-2, kw_only=True)

    law = DRY_FRICTION

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(effort="zero", smoothing="positive")


@register
@dataclass(frozen=True, eq=False)
class Motor(Commanded, AlongCoordinate):
    """An effort at a joint coordinate, N m or N, on its body b.

    ``effort``: a number; one a node, (steps + 1,), linear in between, of second order in dt; a function ``f(t)`` of the
    time, s, which is called in the middle of each stage of a step and keeps the order of the scheme; or a function
    ``f(t, state)`` of the time and the `State`. `varint.simulate` calls that at each node, and its value holds until
    the next: first order in dt at any order of the scheme, or second with `varint.extrapolated`. Integrators in reduced
    coordinates with error control call both whenever they need them.
    """

    effort: float | Values | Callable = field(kw_only=True)

    law = INPUT
    command_name = "effort"


@register
@dataclass(frozen=True, eq=False)
class JointServo(Commanded, AlongCoordinate):
    """PID control of a joint coordinate q, taken implicitly.

    The effort is -stiffness (q - target) - damping dq/dt - integral times the integral of (q - target) since the start.
    ``target``: m or rad; ``stiffness``: N m/rad or N/m; ``damping``: N m s/rad or N s/m; ``integral``: N m/(rad s) or
    N/(m s). It has no potential.
    """

    target: float | Values | Callable = field(kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    integral: float = field(default=0.0, kw_only=True)

    law = SERVO
    command_name = "target"
    coordinate_fields = ("target",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(stiffness="zero", damping="zero", integral="zero")

    def _law(self) -> Law:
        return INTEGRAL_SERVO if self.integral else SERVO


@register
@dataclass(frozen=True, eq=False)
class VelocityMotor(Commanded, AlongCoordinate):
    """A motor that holds a rate: the effort max_effort tanh((speed - dq/dt) / smoothing), taken implicitly.

    ``speed`` and ``smoothing``: rad/s or m/s; ``max_effort``: N m or N. With the inertia I that the motor moves, steps
    up to 2 I smoothing / max_effort resolve it. In longer ones of order 2 the rate at the end of each step keeps the
    speed; the effort at the nodes may not be the one that acted, and `simulate` warns of that. A `PrescribedMotion` at
    a constant ``rate`` holds a speed at any step.
    """

    speed: float | Values | Callable = field(kw_only=True)
    max_effort: float = field(kw_only=True)
    smoothing: float = field(default=1e-2, kw_only=True)

    law = SPEED_SERVO
    command_name = "speed"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(max_effort="zero", smoothing="positive")

    @property
    def input_span(self) -> float:
        return 4e-3 * self.smoothing

    def steepness(self) -> float:
        return self.max_effort / self.smoothing
