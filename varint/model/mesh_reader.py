"""Tetrahedra from mesh files, by meshio."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import call, known_name, shown
from varint.base.distribution import install_command
from varint.base.errors import ArgumentError, FileError
from varint.base.paths import path_of

Chosen = ArrayLike | str | Callable[[np.ndarray], ArrayLike]  # vertices
INSTALL = f"reading meshes needs meshio: {install_command('fem')}"


@dataclass(frozen=True, eq=False)
class MeshSource:
    """Tetrahedra of a file, or made.

    name : str
    points : (n, 3) m, of those that belong to tetrahedra
    tetrahedra : (m, 4)
    number : (all points of the file,) new numbers, -1 of those left out
    sets : dict of name to numbers in the file
    """

    name: str
    points: np.ndarray
    tetrahedra: np.ndarray
    number: np.ndarray
    sets: dict[str, np.ndarray]

    def attached(self, chosen: Mapping[str, Chosen] | None) -> dict[str, list[int]]:
        """Return the new numbers of the vertices of each body by name. Raises ArgumentError."""
        if chosen is not None and not isinstance(chosen, Mapping):
            raise ArgumentError(f"attach must be a dict of body name to vertices, got {shown(chosen)}")
        return {body: self.numbers(which, body).tolist() for body, which in (chosen or {}).items()}

    def numbers(self, which: Any, body: str) -> np.ndarray:
        """Return new numbers of chosen vertices, see `DeformableBody.from_mesh`. Raises ArgumentError."""
        label = f"the vertices of '{self.name}' attached to '{body}'"
        if isinstance(which, str):
            known_name(which, self.sets, f"{label}: there is no set", ArgumentError)
            return self._kept(self.sets[which], label)
        if callable(which):
            mask = np.asarray(call(which, f"{label}, a function of the points", self.points.copy()))
            if mask.shape != (len(self.points),) or mask.dtype != bool:
                raise ArgumentError(f"{label}: the function must give {len(self.points)} truth values, a mask")
            return self._some(np.flatnonzero(mask), label)
        chosen = np.asarray(which)
        if chosen.dtype == bool:
            if chosen.shape != self.number.shape:
                raise ArgumentError(f"{label}: a mask needs {len(self.number)} values, got shape {chosen.shape}")
            return self._kept(np.flatnonzero(chosen), label)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise ArgumentError(f"{label} must be numbers, a mask, a name or a function, got {shown(which)}")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self.number):
            raise ArgumentError(f"{label} must be between 0 and {len(self.number) - 1}, got {shown(which)}")
        if (self.number[chosen] < 0).any():
            lost = chosen[self.number[chosen] < 0][0]
            raise ArgumentError(f"{label}: point {lost} of the file belongs to no tetrahedron")
        return self.number[chosen]

    def _kept(self, numbers: np.ndarray, label: str) -> np.ndarray:
        return self._some(self.number[numbers][self.number[numbers] >= 0], label)

    @staticmethod
    def _some(numbers: np.ndarray, label: str) -> np.ndarray:
        if not numbers.size:
            raise ArgumentError(f"{label}: there is none")
        return numbers


def read_tetrahedra(path: object, scale: float) -> MeshSource:
    """Read a mesh file; lengths are multiplied by ``scale``.

    Raises ArgumentError where meshio is missing, FileError where the file cannot be read or has no tetrahedra.
    """
    place = Path(path_of(path, "path of the mesh"))
    try:
        import meshio
    except ImportError:
        raise ArgumentError(INSTALL) from None
    if not place.is_file():
        raise FileError(f"there is no file '{place}'")
    try:
        mesh = meshio.read(place)
    except (Exception, SystemExit) as problem:  # meshio leaves what a wrong file makes of it to the caller
        raise FileError(f"'{place}' cannot be read as a mesh: {str(problem) or type(problem).__name__}") from None
    cells = [block.data for block in mesh.cells if block.type == "tetra"]
    if not cells or mesh.points.ndim != 2 or mesh.points.shape[1] != 3:
        kinds = ", ".join(sorted({block.type for block in mesh.cells})) or "nothing"
        raise FileError(f"'{place}' has no tetrahedra of four vertices, only {kinds}")
    tetrahedra = np.concatenate(cells).astype(np.int64)
    if tetrahedra.min() < 0 or tetrahedra.max() >= len(mesh.points):
        raise FileError(f"'{place}': its tetrahedra have vertices that are not there")
    used = np.unique(tetrahedra)
    number = np.full(len(mesh.points), -1)
    number[used] = np.arange(len(used))
    points = scale * np.asarray(mesh.points, dtype=float)[used]
    return MeshSource(place.stem, points, number[tetrahedra], number, _sets(mesh))


def _sets(mesh: Any) -> dict[str, np.ndarray]:
    """Return the points of the sets of a file, and of all cells in its sets of cells."""
    sets = {name: np.unique(np.asarray(points, dtype=np.int64)) for name, points in mesh.point_sets.items()}
    for name, by_block in mesh.cell_sets.items():
        parts = [
            block.data[np.asarray(cells, dtype=np.int64)].ravel()
            for block, cells in zip(mesh.cells, by_block, strict=True)
            if cells is not None and len(cells)
        ]
        if parts and not name.startswith("gmsh:"):
            sets.setdefault(name, np.unique(np.concatenate(parts)))
    return sets
