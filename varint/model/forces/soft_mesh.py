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
        label = f"the vertices attached to '{self.body}'"
        numbers = sequence_of(self.vertices, label, "numbers of vertices")
        if not numbers:
            raise MechanismError(f"{label}: none is given, leave '{self.body}' out")
        checked = tuple(whole_number(number, f"a number among {label}", 0) for number in numbers)
        if len(set(checked)) < len(checked):
            raise MechanismError(f"{label} must be different, got {shown(self.vertices)}")
        object.__setattr__(self, "vertices", checked)


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
        """Return the number of its vertices."""
        return len(self.mesh.points)

    @property
    def free(self) -> np.ndarray:
        """Return the numbers of the vertices that no body holds."""
        held = [vertex for part in self.attached for vertex in part.vertices]
        return np.setdiff1d(np.arange(self.count), held)


def soft_meshes(structure: "Structure") -> list[SoftMesh]:
    """Return the deformable meshes of a structure, in the order of its forces."""
    return [element for elements in structure.elements for element in elements if isinstance(element, SoftMesh)]


def attached_parts(numbers: Mapping[str, list[int]]) -> list[AttachedVertices]:
    """Return the vertices of each body, by its name."""
    return [AttachedVertices(body, vertices) for body, vertices in numbers.items()]


def checked_attach(attach: object, count: int, label: str) -> tuple[AttachedVertices, ...]:
    """Return the attachments of the body ``label`` with ``count`` vertices. Raises MechanismError."""
    subject = f"attach of {label}"
    if isinstance(attach, Mapping):
        attach = [{"body": body, "vertices": vertices} for body, vertices in attach.items()]
    parts = tuple(_attached(part, subject) for part in sequence_of(attach, subject, "AttachedVertices"))
    owner: dict[int, str] = {}
    for part in parts:
        if part.body in owner.values():
            raise MechanismError(f"{subject}: '{part.body}' is there twice, give all its vertices at once")
        for vertex in part.vertices:
            if vertex >= count:
                raise MechanismError(f"{subject}: there is no vertex {vertex}, only 0 to {count - 1}")
            if vertex in owner:
                raise MechanismError(
                    f"{subject}: vertex {vertex} is attached to '{owner[vertex]}' and to '{part.body}'"
                )
        owner |= dict.fromkeys(part.vertices, part.body)
    return parts


def _attached(part: object, label: str) -> AttachedVertices:
    if isinstance(part, Mapping):
        check_keys(part, ("body", "vertices"), f"a part of {label}")
        if len(part) < 2:
            raise MechanismError(f"a part of {label} needs 'body' and 'vertices'")
        return AttachedVertices(**part)
    return of_type(part, AttachedVertices, f"a part of {label}", MechanismError)
