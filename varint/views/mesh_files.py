"""Shapes of imported files as solids, with the meshes of their files where the package trimesh reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from varint.base.display import names_text, shortened
from varint.mechanism.mechanism import Mechanism
from varint.model.import_report import ImportedShape
from varint.model.mesh_file import TO_INSTALL, can_be_mesh, opened_mesh
from varint.model.solid import SIZES, Solid

LONGEST_REASON = 100  # characters
LARGE = 60_000  # triangles of all meshes of a mechanism: those that have more than their share are simplified


class Shapes(NamedTuple):
    """Solids by the name of their body, or "world"; ``notes``: what is not drawn as the file has it.

    ``colours``: of each solid, red, green, blue and opacity from 0 to 1, or None.
    """

    solids: dict[str, list[Solid]]
    colours: dict[str, list[tuple[float, ...] | None]]
    notes: list[str]

    def of(self, body: str) -> list[Solid]:
        """Return the solids of a body."""
        return self.solids.get(body, [])


def imported_solids(mechanism: Mechanism, large: int = LARGE) -> Shapes:
    """Return the visual shapes of an imported mechanism; for bodies without, their contact shapes.

    ``large``: triangles of all meshes together, above which they are simplified.
    """
    shapes = mechanism.import_report.shapes
    visual = {shape.body for shape in shapes if shape.role == "visual"}
    chosen = [shape for shape in shapes if (shape.role == "visual") == (shape.body in visual) and _is_seen(shape)]
    solids: dict[str, list[Solid]] = {}
    colours: dict[str, list[tuple[float, ...] | None]] = {}
    notes: dict[str, list[str]] = {}
    most = large // max(1, sum(shape.kind == "mesh" for shape in chosen))
    for shape in chosen:
        solid = _mesh(shape, most, notes) if shape.kind == "mesh" else _plain(shape)
        if solid is not None:
            solids.setdefault(shape.body, []).append(solid)
            colours.setdefault(shape.body, []).append(shape.rgba)
    return Shapes(solids, colours, [f"{note}: {names_text(dict.fromkeys(files))}" for note, files in notes.items()])


def meshed_solids(mechanism: Mechanism, large: int) -> dict[int, list[Solid]]:
    """Return solids by number of body, -1 the world: of bodies with a mesh, and of an imported file.

    A body with ``solids`` of its own is drawn as these, as in the page.
    """
    numbers = {**mechanism.body_index, "world": -1}
    described = {number: list(body.solids) for number, body in enumerate(mechanism.bodies)}
    imported_by_body = imported_solids(mechanism, large).solids.items()
    solids = {numbers[name]: imported for name, imported in imported_by_body if not described.get(numbers[name])}
    return solids | {
        n: imported for n, imported in described.items() if any(solid.kind == "mesh" for solid in imported)
    }


def _is_seen(shape: ImportedShape) -> bool:
    return shape.rgba is None or shape.rgba[3] > 0.0


def _plain(shape: ImportedShape) -> Solid | None:
    if shape.kind not in SIZES or not np.all(np.array(shape.sizes) > 0):
        return None
    return Solid(shape.kind, np.array(shape.sizes), shape.position, shape.quat_wxyz)


def _mesh(shape: ImportedShape, most: int, notes: dict[str, list[str]]) -> Solid | None:
    """Return the mesh of a file with at most ``most`` triangles; None, and a note, if it cannot be read."""
    path = Path(shape.mesh)

    def note(text: str) -> Solid | None:
        notes.setdefault(text, []).append(path.name)
        return None

    if not shape.found or not can_be_mesh(path):
        return note("no file of a mesh that can be read")
    try:
        mesh = opened_mesh(path)
        if len(mesh.faces) > most:
            mesh = _simpler(mesh, most, note)
    except ImportError:
        return note(f"not drawn: {TO_INSTALL}")
    except Exception as problem:  # of whichever reader the suffix asks for
        why = f"{type(problem).__name__}: {shortened(str(problem), LONGEST_REASON)}"
        return note(f"cannot be read ({why})")
    vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    if not len(faces) or not np.isfinite(vertices).all():
        return note("nothing to draw in the mesh")
    scale = np.array(shape.sizes if len(shape.sizes) == 3 else (1.0, 1.0, 1.0))
    return Solid("mesh", position=shape.position, quat_wxyz=shape.quat_wxyz, vertices=vertices * scale, triangles=faces)


def _simpler(mesh: Any, most: int, note: Callable[[str], object]) -> Any:
    """Return a mesh of fewer triangles, its hull if the package for that is missing."""
    try:
        mesh.merge_vertices(merge_norm=True, merge_tex=True)
        return mesh.simplify_quadric_decimation(face_count=most)
    except ImportError:
        note("drawn as hulls, without the package fast-simplification")
        return mesh.convex_hull
