"""A deformable body: a mesh of tetrahedra whose vertices may be attached to bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import (
    array_of,
    choice,
    finite,
    freeze,
    not_negative,
    positive,
    sequence_of,
    shown,
    whole_number,
)
from varint.base.errors import ArgumentError, MechanismError
from varint.mathematics.elasticity.materials import MATERIALS, lame_constants
from varint.mathematics.elasticity.tetrahedra import FLATTEST, TetrahedralMesh, box_mesh, flatness, signed_volumes
from varint.model.arrays import Corners, Points
from varint.model.forces.base import Element, Force, register
from varint.model.forces.soft_mesh import AttachedVertices, SoftMesh, attached_parts, checked_attach
from varint.model.mesh_reader import Chosen, MeshSource, read_tetrahedra

if TYPE_CHECKING:
    from varint.model.structure import Structure

INCOMPRESSIBLE = 0.5 - 1e-6  # Poisson's ratio
MOST_CELLS = 1000  # of a box, along an edge


@register
@dataclass(frozen=True, eq=False)
class DeformableBody(Force):
    """An elastic solid: a mesh of linear tetrahedra with mass, whose vertices may be attached to bodies.

    It stands among the forces of a mechanism. Free vertices move by themselves, attached ones with their bodies, whose
    inertia they add to. For `varint.simulate` of order 2 and 4, and `varint.redmax.simulate` with the implicit
    integrators in steps of dt; ``traj.vertices`` and ``traj.vertex_velocities`` hold
    the motion. See docs/deformable.md.

    Parameters
    ----------
    name : str
    points : (n, 3)
        Vertices, undeformed, m, world, in the reference configuration of the bodies.
    tetrahedra : (m, 4)
        Numbers of the vertices of each, the last on the side of the normal of the other three (right-hand rule).
    E, nu, density : float
        Young's modulus, Pa, Poisson's ratio, above -1 and below 0.5, and kg/m^3.
    material : {"corotated", "neohookean", "stvk"}
        Energy: linear in the stretches, compressible neo-Hookean, or Saint Venant-Kirchhoff.
    damping : float
        Viscous stress (Kelvin-Voigt): the elastic constants times it by the rate of Green's strain, s. Small vibrations
        of w rad/s have w damping / 2 of critical damping.
    attach : dict of body name to numbers of vertices, or sequence of AttachedVertices
        The world among the bodies; nothing is attached where not given.

    Raises
    ------
    MechanismError
        Also for inverted and flat tetrahedra, vertices of none, and vertices of two bodies.
    """

    points: Points
    tetrahedra: Corners
    E: float = field(kw_only=True)
    nu: float = field(kw_only=True)
    density: float = field(kw_only=True)
    material: str = field(default="corotated", kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    attach: Sequence[AttachedVertices] = field(default=(), kw_only=True)

    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        points = array_of(self.points, (None, 3), f"points of {self.label}")
        self._set("points", points)
        self._set("tetrahedra", _checked_tetrahedra(self.tetrahedra, points, self.label))
        self._set("E", positive(self.E, f"E of {self.label}"))
        self._set("density", positive(self.density, f"density of {self.label}"))
        nu = finite(self.nu, f"nu of {self.label}")
        if not -1.0 < nu <= INCOMPRESSIBLE:
            why = ", where the material would be incompressible: 0.45 is near it" if nu > INCOMPRESSIBLE else ""
            raise MechanismError(f"nu of {self.label} must be above -1 and below 0.5, got {nu:g}{why}")
        self._set("nu", nu)
        self._set("damping", not_negative(self.damping, f"damping of {self.label}"))
        choice(self.material, MATERIALS, f"material of {self.label}", MechanismError)
        self._set("attach", checked_attach(self.attach, len(points), self.label))
        if sum(len(part.vertices) for part in self.attach) == len(points):
            raise MechanismError(
                f"attach of {self.label}: every vertex is attached, so that none can move: take a Body"
            )

    @property
    def label(self) -> str:
        """Return the name in messages, see `Force`."""
        return f"deformable body '{self.name}'"

    @classmethod
    def from_mesh(
        cls,
        path: str,
        *,
        E: float,
        nu: float,
        density: float,
        material: str = "corotated",
        damping: float = 0.0,
        attach: Mapping[str, Chosen] | None = None,
        name: str | None = None,
        scale: float = 1.0,
    ) -> "DeformableBody":
        """Read the tetrahedra of a mesh file (.msh, .vtk, .vtu, .inp, ... all formats of meshio).

        Parameters
        ----------
        path : str
            Other cells than tetrahedra of four vertices, and vertices of none of these, are left out.
        E, nu, density, material, damping
            As in `DeformableBody`.
        attach : dict, optional
            Body name to the vertices attached to it: their numbers in the file, a mask of all of them, the name of a
            set of points or cells of the file, such as a physical group of Gmsh, or a function of the points (n, 3), m,
            that gives a mask (n,).
        name : str, optional
            By default the name of the file without its ending.
        scale : float
            Size of the unit of length of the file, m: 0.001 for millimetres.

        Raises
        ------
        FileError, MechanismError
            Also ArgumentError where meshio is not installed.
        """
        mesh = read_tetrahedra(path, positive(scale, "scale", ArgumentError))
        numbers, mesh_name = mesh.attached(attach), mesh.name if name is None else name
        return cls(
            mesh_name,
            mesh.points,
            mesh.tetrahedra,
            E=E,
            nu=nu,
            density=density,
            material=material,
            damping=damping,
            attach=attached_parts(numbers),
        )

    @classmethod
    def box(
        cls,
        name: str,
        size: ArrayLike,
        divisions: Sequence[int],
        *,
        E: float,
        nu: float,
        density: float,
        attach: Mapping[str, Chosen] | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        **others: Any,
    ) -> "DeformableBody":
        """Return a box with edges along the axes.

        Parameters
        ----------
        size : (3,)
            Lengths of its edges, m.
        divisions : (3,)
            Numbers of cells along these, of six tetrahedra each.
        E, nu, density, material=, damping=
            As in `DeformableBody`.
        attach : dict, optional
            As in `from_mesh`, but for names of sets.
        position : (3,)
            Its centre, m, world, in the reference configuration.
        """
        lengths = array_of(size, (3,), f"size of deformable body {shown(name)}")
        if not (lengths > 0.0).all():
            raise MechanismError(f"size of deformable body {shown(name)} must be above zero, got {lengths.tolist()}")
        label = f"divisions of deformable body {shown(name)}"
        counts = sequence_of(divisions, label, "three whole numbers")
        if len(counts) != 3:
            raise MechanismError(f"{label} must be three whole numbers, got {shown(divisions)}")
        nx, ny, nz = (whole_number(count, label, 1, most=MOST_CELLS) for count in counts)
        points, tetrahedra = box_mesh(lengths, (nx, ny, nz))
        points = points + array_of(position, (3,), f"position of deformable body {shown(name)}")
        made = MeshSource(name, points, tetrahedra, np.arange(len(points)), {})
        numbers = made.attached(attach)
        return cls(name, points, tetrahedra, E=E, nu=nu, density=density, attach=attached_parts(numbers), **others)

    @cached_property
    def mesh(self) -> TetrahedralMesh:
        """Return its energy, forces and stiffness as functions of the places of its vertices."""
        mu, lam = lame_constants(self.E, self.nu)
        return TetrahedralMesh(self.points, self.tetrahedra, self.material, mu, lam, self.density, self.damping)

    @cached_property
    def surface(self) -> np.ndarray:
        """Return the faces (f, 3) of its surface as vertices, counter-clockwise from outside."""
        return self.mesh.skin

    @property
    def mass(self) -> float:
        """Return the mass, kg."""
        return float(self.mesh.mass.sum())

    def frequencies(self, count: int = 6) -> np.ndarray:
        """Return the lowest natural frequencies (count,), Hz, undeformed, with the attached vertices at rest.

        A body of which nothing is attached has six of zero first. Raises ArgumentError for more than it has.
        """
        held = [vertex for part in self.attach for vertex in part.vertices]
        free = np.setdiff1d(np.arange(len(self.points)), held)
        count = whole_number(count, "count", 1, ArgumentError)
        if count >= 3 * len(free):
            raise ArgumentError(f"{self.label} has {3 * len(free)} coordinates: count must be less, got {count}")
        shift = -1e-3 * self.E / self.density / np.ptp(self.points, axis=0).max() ** 2
        return self.mesh.frequencies(self.points, free, count, shift)

    def elements(self, structure: "Structure") -> list[Element]:
        for part in self.attach:
            self._body(structure, part.body)
        return [SoftMesh(self.name, self.label, self.mesh, tuple(self.attach))]


def _checked_tetrahedra(listed: ArrayLike, points: np.ndarray, label: str) -> np.ndarray:
    """Return integers (m, 4). Raises MechanismError."""
    subject = f"tetrahedra of {label}"
    array = array_of(listed, (None, 4), subject)
    if not len(array):
        raise MechanismError(f"{subject}: there is none")
    if not np.array_equal(array, np.floor(array)) or array.min() < 0 or array.max() >= len(points):
        raise MechanismError(f"{subject} must be numbers of its {len(points)} points, 0 to {len(points) - 1}")
    tetrahedra = array.astype(np.int64)
    flat = flatness(points, tetrahedra)
    worst = int(np.argmin(np.nan_to_num(flat)))
    if not flat[worst] > FLATTEST:
        volume = signed_volumes(points, tetrahedra)[worst]
        turned = "inverted: exchange two of its vertices" if flat[worst] < -FLATTEST else "flat"
        raise MechanismError(f"{subject}: number {worst} has a volume of {volume:.3g} m^3, it is {turned}")
    _, first, count = np.unique(np.sort(tetrahedra, axis=1), axis=0, return_index=True, return_counts=True)
    if (count > 1).any():
        again = np.sort(tetrahedra, axis=1)
        number = int(first[count > 1].min())
        other = int(np.flatnonzero((again == again[number]).all(axis=1))[1])
        raise MechanismError(
            f"{subject}: number {other} has the same vertices as number {number}, leave one of them out"
        )
    lonely = np.setdiff1d(np.arange(len(points)), tetrahedra)
    if lonely.size:
        raise MechanismError(f"{subject}: point {lonely[0]} belongs to none of them, leave it out")
    return freeze(tetrahedra)
