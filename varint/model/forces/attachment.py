"""Attachments: points of bodies at the weighted mean of points of others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, check_name, finite, sequence_of, shown
from varint.base.errors import MechanismError
from varint.measures.point import Displacement
from varint.model.arrays import Vector
from varint.model.body import WORLD
from varint.model.forces.base import Constraint, Element, Force, register

if TYPE_CHECKING:
    from varint.model.structure import Structure

AXES = np.eye(3)
NEARLY = 1e-9  # of the largest coordinate: how far the point may be from the mean in the reference configuration


@register
@dataclass(frozen=True, eq=False)
class Attachment(Force):
    """Keeps a point of ``body`` at the weighted mean of points of others; ``to``: one or more of (body, point, weight).

    ``point`` (3,), m, world, reference configuration, by default the centre of mass; it must be at that mean there. The
    points of ``to`` are (3,) in the same axes, "world" is allowed, the weights sum to 1. Bodies may be attached to
    attached ones, in any order but not in a circle. ``body`` turns as its joints let it. Its effort is the force on
    ``body`` (T, 3), N, world (NOTES 0.17, 0.18).
    """

    body: str
    to: Sequence[tuple[str, Vector, float]] = field(kw_only=True)
    point: Vector | None = field(default=None, kw_only=True)

    constraint = True
    of_points = True
    look = "line"

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = sequence_of(self.to, f"to of {self.label}", "(body, point, weight)")
        self._set("to", tuple(self._part(part) for part in parts))
        total = sum(weight for *_, weight in self.to)
        if not abs(total - 1.0) <= NEARLY:
            raise MechanismError(f"the weights of {self.label} must sum to 1, got {total:g}")
        if self.body in (body for body, *_ in self.to):
            raise MechanismError(f"{self.label} attaches body '{self.body}' to itself: leave that part out")
        if self.point is not None:
            self._set("point", array_of(self.point, (3,), f"point of {self.label}"))

    def _part(self, part: object) -> tuple[str, np.ndarray, float]:
        form = "(body, point, weight)"
        parts = sequence_of(part, f"a part of to of {self.label}", form)
        if len(parts) != 3:
            raise MechanismError(f"to of {self.label} must have parts {form}, got {shown(part)}")
        body, point, weight = parts
        body = check_name(body, f"a body in to of {self.label}")
        label = f"of body '{body}' in to of {self.label}"
        weight = finite(weight, f"the weight {label}")
        if weight == 0.0:
            raise MechanismError(f"the weight {label} must not be zero: leave that part out")
        return body, array_of(point, (3,), f"the point {label}"), weight

    def point_of(self, structure: "Structure") -> np.ndarray:
        """Return the point (3,), m, world, reference configuration."""
        return structure.body(self.body).position if self.point is None else self.point

    def tied(self, structure: "Structure") -> tuple[str, np.ndarray, list[str]]:
        return self.body, self.point_of(structure), [body for body, *_ in self.to]

    def elements(self, structure: "Structure") -> list[Element]:
        parts = [(self._moving(structure, self.body), self.point_of(structure), 1.0)]
        parts += [(self._body(structure, body), point, -weight) for body, point, weight in self.to]
        sizes = [abs(weight) * np.abs(point).max() for _, point, weight in parts]
        apart = np.sum([weight * point for _, point, weight in parts], axis=0)
        if not np.abs(apart).max() <= NEARLY * max(1.0, *sizes):
            raise MechanismError(
                f"{self.label}: its point {parts[0][1].tolist()} is not at the mean {(parts[0][1] - apart).tolist()} of"
                " the points it is attached to: move one of them, or change the weights"
            )
        self._refuse_circle(structure)
        moving = [part for part in parts if part[0] != WORLD]
        weights = tuple(weight for *_, weight in moving)

        def shifts(axis: np.ndarray) -> tuple[Displacement, ...]:  # from the reference, where their mean is zero
            return tuple(Displacement(WORLD, body, axis, point, point) for body, point, _ in moving)

        return [Constraint(shifts(axis), weights, rank=self.name) for axis in AXES]

    def _refuse_circle(self, structure: "Structure") -> None:
        """Raise MechanismError if bodies are attached in a circle; the first attachment looks for all of them."""
        attachments = (force for force in structure.forces if isinstance(force, Attachment))
        if next(attachments) is not self:
            return
        masters: dict[str, set[str]] = {}
        for force in (self, *attachments):
            masters.setdefault(force.body, set()).update(body for body, *_ in force.to)
        try:
            TopologicalSorter(masters).prepare()
        except CycleError as problem:
            circle = " to ".join(f"'{body}'" for body in reversed(problem.args[1]))
            raise MechanismError(
                f"attachments go in a circle, of bodies {circle}: remove one, or use joints between these bodies"
            ) from None

    def acts_on(self, structure: "Structure") -> list[str]:
        return list(dict.fromkeys((self.body, *(body for body, *_ in self.to))))

    def branches(self, structure: "Structure") -> list[tuple[list[tuple[str, np.ndarray]], list]]:
        attached = (self.body, self.point_of(structure))
        return [([attached, (body, point)], [None]) for body, point, _ in self.to]
