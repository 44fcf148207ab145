"""Base of joints: rows they forbid, motions they allow, coordinates they measure.

A joint lives in a frame fixed to each of its two bodies: origin at the anchor (``point`` on body
a, ``point_b`` on body b), axes X, Y, Z that coincide in the reference configuration. A joint's
file names

``forbidden``   the constraint rows, in those axes,
``allowed``     the motions, applied one after another, that take frame a to frame b,
``measure``     the coordinates of these motions, from the relative pose.

The three say the same thing in different words; ``tests/test_joints.py`` proves it for every
joint in the registry. Nothing else in the package names a joint type.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, TypeVar

import numpy as np

from varint.base.checks import (
    Frozen,
    array_of,
    check_name,
    check_plain_fields,
    checked_call,
    freeze,
    in_a_shape,
    not_negative,
    unit_axis,
)
from varint.base.display import field_facts, value_text
from varint.base.errors import MechanismError
from varint.measures.axis import Square
from varint.measures.point import Along
from varint.measures.product import OnMotions
from varint.model.arrays import Vector
from varint.model.bounds import bounded, divisor
from varint.model.motion import Motion

X, Y, Z = 0, 1, 2


ALONG_ALL = (Along(X), Along(Y), Along(Z))
SQUARE_ALL = (Square(X, Y), Square(Y, Z), Square(Z, X))

REGISTRY: dict[str, type["Joint"]] = {}
NAMES: dict[str, type["Joint"]] = {}  # the registry, and other names of its classes
KindOfJoint = TypeVar("KindOfJoint", bound="Joint")


def register(cls: type[KindOfJoint]) -> type[KindOfJoint]:
    """Add a class of joints to the registry, under its class name."""
    REGISTRY[cls.__name__] = NAMES[cls.__name__] = checked_call(cls)
    return cls


def also_called(name: str, cls: type[KindOfJoint]) -> type[KindOfJoint]:
    """Add another name, for scripts and files, of a class of joints, and return the class."""
    NAMES[name] = cls
    return cls


@dataclass(frozen=True, eq=False)
class Joint(Frozen):
    """A joint between ``body_a`` and ``body_b``, either of which may be ``"world"``.

    Its rows forbid motions of b relative to a; each motion that it allows is a joint motion, with a coordinate.

    Parameters
    ----------
    name : str
        Unique in its mechanism.
    body_a, body_b : str
        Coordinates describe the motion of b relative to a.
    point : array_like (3,), optional
        Anchor on body a in the world, reference configuration, m. Where not given: the centre of
        mass of body b (of a, if b is the world).
    point_b : array_like (3,), optional
        Anchor on body b, where it was measured by itself; ``point`` if not given. Where the two differ more than
        the joint allows, the description is open, and ``Mechanism.state`` closes it.
    compliance : float or (rows,), optional
        Of its rows, in the order of ``forbidden``: m/N, for rows of angles rad/(N m); one number for all. A row with a
        compliance is a stiff spring in place of a constraint, without effort in the reference configuration; one of
        zero is rigid. Not for products of exponentials.
    damping_time : float, optional
        Of compliant rows: damping over stiffness, s. Zero where not given; but in runs with friction of hard contacts
        rows that ring too fast for the steps then have half a step.
    """

    name: str
    body_a: str
    body_b: str
    point: Vector | None = field(default=None, kw_only=True)
    point_b: Vector | None = field(default=None, kw_only=True)
    compliance: float | Annotated[np.ndarray, (None,)] | None = field(default=None, kw_only=True)
    damping_time: float | None = field(default=None, kw_only=True)

    needs_point: ClassVar[bool] = True
    older_name: ClassVar[str] = ""  # its "type" in mechanism files without a format mark, where that has changed

    def __post_init__(self) -> None:
        check_name(self.name, "a joint")
        check_plain_fields(self, self.label)
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} connects '{self.body_a}' to itself")
        for which in ("point", "point_b"):
            if getattr(self, which) is not None:
                self._set(which, array_of(getattr(self, which), (3,), f"{which} of {self.label}"))
                bounded(getattr(self, which), f"{which} of {self.label}")
        if self.point is None:
            if self.needs_point:
                raise MechanismError(f"{self.label} needs point=, its anchor in the reference configuration")
            self._set("point", self.point_b)
        elif self.point_b is None:
            self._set("point_b", self.point)
        if not (self.compliance is None and self.damping_time is None):
            self._check_compliance()

    def _check_compliance(self) -> None:
        """Set compliance and damping time to floats that fit the rows."""
        rows = len(self.forbidden)
        if self.compliance is not None:
            if not rows:
                raise MechanismError(f"{self.label} has no rows: leave out compliance")
            compliance = in_a_shape(self.compliance, ((), (rows,)), f"compliance of {self.label}")
            if (compliance < 0.0).any():
                raise MechanismError(f"compliance of {self.label} must be zero or positive, got {compliance.tolist()}")
            for alpha in compliance[compliance > 0.0]:
                divisor(float(alpha), f"compliance of {self.label}")
            self._set("compliance", compliance if compliance.ndim else float(compliance))
        if self.damping_time is not None:
            if self.compliance is None:
                raise MechanismError(f"damping_time of {self.label} needs compliance=")
            self._set("damping_time", not_negative(self.damping_time, f"damping_time of {self.label}"))
            bounded(self.damping_time, f"damping_time of {self.label}")

    @property
    def compliances(self) -> np.ndarray:
        """Return the compliance (rows,) of each row, m/N or rad/(N m)."""
        return np.broadcast_to(0.0 if self.compliance is None else self.compliance, len(self.forbidden))

    @property
    def rigid(self) -> tuple:
        """Return the rows without compliance, which are constraints."""
        if self.compliance is None:
            return self.forbidden
        return tuple(row for row, alpha in zip(self.forbidden, self.compliances, strict=True) if alpha == 0.0)

    @property
    def compliant(self) -> bool:
        """Return whether some of its rows have a compliance."""
        return self.compliance is not None and bool(np.any(self.compliances > 0.0))

    @property
    def label(self) -> str:
        """Name of the joint in errors."""
        return f"{type(self).__name__.lower()} joint '{self.name}'"

    def _facts(self) -> Iterable[str]:
        yield f"{value_text(self.body_a)} - {value_text(self.body_b)}"
        yield from self.own_facts()

    def own_facts(self) -> Iterable[str]:
        """Yield point, axis and the other fields except name and bodies: ``field=value``."""
        same = ("point_b",) if self.point_b is self.point else ()
        yield from field_facts(self, ("name", "body_a", "body_b", *same))

    @property
    def forbidden(self) -> tuple:
        """Return the constraint rows (measures/), in the axes of the frame."""
        return ()

    @property
    def allowed(self) -> tuple[Motion, ...]:
        """Return the motions from frame a to frame b."""
        return ()

    @cached_property
    def frame(self) -> np.ndarray:
        """Return axes X, Y, Z (3, 3) of the joint as columns, in the world, reference configuration."""
        return np.eye(3)

    @property
    def shown(self) -> tuple[Motion, ...]:
        """Return the motions for forces along coordinates."""
        return self.allowed

    @property
    def dof(self) -> int:
        """Return the number of coordinates."""
        return sum(motion.size for motion in self.allowed)

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return coordinates (..., dof) of frame b in frame a: rotations ``R`` (..., 3, 3), origins ``p`` (..., 3)."""
        raise NotImplementedError

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


class ProductJoint(Joint):
    """A joint whose motions say all: its rows keep to them (products/rows.py), its coordinates are searched."""

    @property
    def forbidden(self) -> tuple:
        return (OnMotions(),) * (6 - self.dof)

    def _check_compliance(self) -> None:
        if self.compliance is not None or self.damping_time is not None:
            raise MechanismError(
                f"{self.label} takes no compliance: its rows are those of a product of exponentials. Put a body on a"
                " joint with a compliance in series with it"
            )


@dataclass(frozen=True, eq=False)
class AxisJoint(Joint):
    """A joint with one distinguished axis, Z of its frame; ``axis`` (3,) in the world, reference configuration."""

    axis: Vector = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("axis", unit_axis(self.axis, f"axis of {self.label}"))

    @cached_property
    def frame(self) -> np.ndarray:
        return frame_about(self.axis)

    def with_axes_near(self, frame: np.ndarray) -> "AxisJoint":
        """Return the joint with X next to that of ``frame`` (3, 3), as `frame_about` jumps between equal choices."""
        turned, z = copy(self), self.frame[:, Z]
        x = frame[:, X] - (frame[:, X] @ z) * z
        x = x / np.linalg.norm(x)
        vars(turned)["frame"] = freeze(np.column_stack([x, np.cross(z, x), z]))
        return turned


def frame_about(z: np.ndarray) -> np.ndarray:
    """Return right-handed axes (3, 3), as columns, whose third is the unit vector ``z``."""
    a, b, c = z
    least = np.argmin(np.abs(z))
    x = np.array([(0.0, -c, b), (c, 0.0, -a), (-b, a, 0.0)][least])  # the world axis least along z, times z
    x /= np.sqrt(x @ x)
    y = (b * x[2] - c * x[1], c * x[0] - a * x[2], a * x[1] - b * x[0])
    return freeze(np.column_stack([x, y, z]))


def angle_about_z(R: np.ndarray) -> np.ndarray:
    """Return angles (..., 1) of rotations (..., 3, 3) about Z, rad, in (-pi, pi]."""
    return np.arctan2(R[..., 1, 0] - R[..., 0, 1], R[..., 0, 0] + R[..., 1, 1])[..., None]
