"""Solids by which pictures show a body."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from varint.base.checks import Frozen, array_of, choice, made, sequence_of, shown, unit_quaternion
from varint.base.errors import MechanismError
from varint.model.arrays import Points, Quaternion, Values, Vector
from varint.model.bounds import bounded
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix

SIZES = {"box": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "ellipsoid": 3, "mesh": 0}  # number of sizes of each kind
MOST_VERTICES = 1_000_000


@dataclass(frozen=True, eq=False)
class Solid(Frozen):
    """A solid on a body, for pictures.

    kind : "box", "cylinder", "capsule", "sphere", "ellipsoid" or "mesh"
    sizes : m; of a box its three edges, of a cylinder and a capsule radius and length, along its z, of a sphere its
        radius, of an ellipsoid its three semi-axes
    position, quat_wxyz : pose of the solid's axes relative to the centre of mass of the body, m, body axes
    vertices, triangles : of a mesh (n, 3), m, in the solid's axes, and (k, 3), vertex numbers from 0

    Raises MechanismError.
    """

    kind: str
    sizes: Values = field(default_factory=lambda: np.zeros(0))
    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    vertices: Points = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Points = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def label(self) -> str:
        """Return the name in messages."""
        return f"a solid ({self.kind})"

    def __post_init__(self) -> None:
        set_ = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731
        label = f"a {choice(self.kind, SIZES, 'kind of a solid')}"
        set_("sizes", array_of(self.sizes, (SIZES[self.kind],), f"sizes of {label}"))
        if (self.sizes <= 0).any():
            raise MechanismError(f"sizes of {label} must be positive, got {self.sizes.tolist()}")
        set_("position", array_of(self.position, (3,), f"position of {label}"))
        set_("quat_wxyz", unit_quaternion(self.quat_wxyz, f"quat_wxyz of {label}"))
        corners = (None, 3) if self.kind == "mesh" else (0, 3)
        for name in ("vertices", "triangles"):
            value = np.zeros((0, 3)) if np.size(getattr(self, name)) == 0 else getattr(self, name)
            set_(name, array_of(value, corners, f"{name} of {label}"))
        for values in (self.sizes, self.position, self.vertices):
            bounded(values, f"sizes and position of {label}")
        if len(self.vertices) > MOST_VERTICES:
            raise MechanismError(f"a mesh for pictures has at most {MOST_VERTICES} vertices, got {len(self.vertices)}")
        named = self.triangles
        if named.size and ((named != np.floor(named)) | (named < 0) | (named >= max(1, len(self.vertices)))).any():
            raise MechanismError(f"triangles of {label} must name vertices 0 to {len(self.vertices) - 1}")

    def seen_from(self, position: np.ndarray, quat: np.ndarray, centre: np.ndarray, axes: np.ndarray) -> "Solid":
        """Return this solid, of one body, as a solid of another body that is at the same place.

        position, quat : (3,), m, world, and (4,), the pose of the body that has it
        centre, axes : (3,), m, world, and (4,), the pose of the other body
        """
        of, to = rotation_matrix(quat), rotation_matrix(axes)
        place = to.T @ (position + of @ self.position - centre)
        turn = quat_from_matrix(to.T @ of @ rotation_matrix(self.quat_wxyz))
        return Solid(self.kind, self.sizes, place, turn, self.vertices, self.triangles)


def checked_solids(solids: object, label: str) -> tuple[Solid, ...]:
    """Return ``solids``, a sequence of solids or mappings of their fields, as solids; ``label``: its name in errors.

    Raises MechanismError.
    """
    checked = []
    for number, solid in enumerate(sequence_of(solids, label, "solids")):
        if isinstance(solid, Mapping):
            try:
                solid = made(Solid, solid, f"solid {number}")
            except MechanismError as problem:
                raise MechanismError(f"{label}: {problem}") from None
        if not isinstance(solid, Solid):
            raise MechanismError(
                f"{label}: number {number} must be a Solid or a mapping of its fields, got {shown(solid)}"
            )
        checked.append(solid)
    return tuple(checked)
