"""Elastic meshes whose vertices may be attached to bodies, as an element of a force."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import Frozen, check_keys, check_name, of_type, sequence_of, shown, whole_number
from varint.base.errors import MechanismError
from varint.mathematics.elasticity.elastic_mesh import ElasticMesh
from varint.model.forces.base import Element

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True)
class AttachedVertices(Frozen):
    """Numbers of the ``vertices`` of a deformable body or net that move with ``body``, which may be ``"world"``."""

    body: str
    vertices: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", check_name(self.body, "the body of attached vertices"))
        what = f"the vertices attached to '{self.body}'"
        numbers = sequence_of(self.vertices, what, "numbers of vertices")
        if not numbers:
            raise MechanismError(f"{what}: none is given, leave '{self.body}' out")
        found = tuple(whole_number(number, f"a number among {what}", 0) for number in numbers)
        if len(set(found)) < len(found):
            raise MechanismError(f"{what} must be different, got {shown(self.vertices)}")
        object.__setattr__(self, "vertices", found)


@dataclass(frozen=True, eq=False)
class SoftMesh(Element):
    """A mesh with mass that the steps in maximal coordinates move (methods/variational/deformable_march.py).

    An element without an effort and without work: its energy is its own.

    name, label : of its force
    mesh : ElasticMesh
    attached : vertices that bodies hold; the others are free
    velocities : (n, 3) m/s, at the start, of the free vertices; None where they move along with the bodies
    """

    name: str
    label: str
    mesh: ElasticMesh
    attached: tuple[AttachedVertices, ...]
    velocities: np.ndarray | None = None

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(part.body for part in self.attached)

    @property
    def count(self) -> int:
        """Number of its vertices."""
        return len(self.mesh.points)

    @property
    def free(self) -> np.ndarray:
        """Numbers of the vertices that no body holds."""
        held = [vertex for part in self.attached for vertex in part.vertices]
        return np.setdiff1d(np.arange(self.count), held)


def soft_meshes(structure: "Structure") -> list[SoftMesh]:
    """All such meshes of a structure, in the order of its forces."""
    return [element for elements in structure.elements for element in elements if isinstance(element, SoftMesh)]


def attached_parts(numbers: Mapping[str, list[int]]) -> list[AttachedVertices]:
    """The vertices of each body, by its name."""
    return [AttachedVertices(body, vertices) for body, vertices in numbers.items()]


def checked_attach(given: object, count: int, label: str) -> tuple[AttachedVertices, ...]:
    """The attachments of the body ``label`` with so many vertices; raises MechanismError."""
    what = f"attach of {label}"
    if isinstance(given, Mapping):
        given = [{"body": body, "vertices": vertices} for body, vertices in given.items()]
    parts = tuple(_attached(part, what) for part in sequence_of(given, what, "AttachedVertices"))
    owner: dict[int, str] = {}
    for part in parts:
        if part.body in owner.values():
            raise MechanismError(f"{what}: '{part.body}' is there twice, give all its vertices at once")
        for vertex in part.vertices:
            if vertex >= count:
                raise MechanismError(f"{what}: there is no vertex {vertex}, only 0 to {count - 1}")
            if vertex in owner:
                raise MechanismError(f"{what}: vertex {vertex} is attached to '{owner[vertex]}' and to '{part.body}'")
        owner |= dict.fromkeys(part.vertices, part.body)
    return parts


def _attached(part: object, what: str) -> AttachedVertices:
    if isinstance(part, Mapping):
        check_keys(part, ("body", "vertices"), f"a part of {what}")
        if len(part) < 2:
            raise MechanismError(f"a part of {what} needs 'body' and 'vertices'")
        return AttachedVertices(**part)
    return of_type(part, AttachedVertices, f"a part of {what}", MechanismError)
