"""Shapes of imported files as solids, with the meshes of their files where the package trimesh reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from varint.base.display import names_text, shortened
from varint.mechanism.mechanism import Mechanism
from varint.model.import_report import ImportedShape
from varint.model.mesh_file import TO_INSTALL, can_be_mesh, opened_mesh
from varint.model.solid import SIZES, Solid
from varint.views.mesh_colours import ColouredMesh, Tint, coloured_mesh

LONGEST_REASON = 100  # characters
THIN = 3  # how fast triangles may go, 0 to 10; at the usual 7 thin parts vanish whole, ribs of a thorax
LARGE = 60_000  # triangles of all meshes of a mechanism: those that have more than their share are simplified


class TintedSolid(NamedTuple):
    """A solid, and its colour: red, green, blue and opacity from 0 to 1, or None for that of its body."""

    solid: Solid
    colour: Tint | None


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
    shapes = [shape for shape in mechanism.import_report.shapes if _is_seen(shape)]
    visual = {shape.body for shape in shapes if shape.role == "visual"}
    chosen = [shape for shape in shapes if (shape.role == "visual") == (shape.body in visual)]
    solids: dict[str, list[Solid]] = {}
    colours: dict[str, list[tuple[float, ...] | None]] = {}
    notes: dict[str, list[str]] = {}
    read = {k: mesh for k, shape in enumerate(chosen) if shape.kind == "mesh" and (mesh := _read(shape, notes))}
    most = _share([len(each.mesh.faces) for each in read.values()], large)
    for k, shape in enumerate(chosen):
        for solid, colour in _parts(shape, read[k], most, notes) if k in read else _plain(shape):
            solids.setdefault(shape.body, []).append(solid)
            colours.setdefault(shape.body, []).append(colour if shape.rgba is None else shape.rgba)
    return Shapes(solids, colours, [f"{note}: {names_text(dict.fromkeys(files))}" for note, files in notes.items()])


def meshed_solids(mechanism: Mechanism, large: int) -> dict[int, list[Solid]]:
    """Return solids by number of body, -1 the world: of bodies with a mesh, and of an imported file.

    A body with ``solids`` of its own is drawn as these, as in the page.
    """
    return {number: [each.solid for each in parts] for number, parts in tinted_solids(mechanism, large).items()}


def tinted_solids(mechanism: Mechanism, large: int) -> dict[int, list[TintedSolid]]:
    """Return `meshed_solids` with their colours."""
    numbers = {**mechanism.body_index, "world": -1}
    described = {number: list(body.solids) for number, body in enumerate(mechanism.bodies)}
    imported = imported_solids(mechanism, large)
    tinted = {
        numbers[name]: [TintedSolid(*pair) for pair in zip(parts, imported.colours[name], strict=True)]
        for name, parts in imported.solids.items()
        if not described.get(numbers[name])
    }
    return tinted | {
        number: [TintedSolid(solid, None) for solid in parts]
        for number, parts in described.items()
        if any(solid.kind == "mesh" for solid in parts)
    }


def _is_seen(shape: ImportedShape) -> bool:
    return not shape.hidden and (shape.rgba is None or shape.rgba[3] > 0.0)


def _plain(shape: ImportedShape) -> list[TintedSolid]:
    if shape.kind == "mesh" or shape.kind not in SIZES or not np.all(np.array(shape.sizes) > 0):
        return []
    return [TintedSolid(Solid(shape.kind, np.array(shape.sizes), shape.position, shape.quat_wxyz), None)]


def _note(notes: dict[str, list[str]], text: str, shape: ImportedShape) -> None:
    notes.setdefault(text, []).append(Path(shape.mesh).name)


def _read(shape: ImportedShape, notes: dict[str, list[str]]) -> ColouredMesh | None:
    """Return the mesh of a file; None, and a note, if it cannot be read.

    The colours of a shape with one of its own are not looked for.
    """
    path, problem = Path(shape.mesh), ""
    if not shape.found or not can_be_mesh(path):
        problem = "no file of a mesh that can be read"
    else:
        try:
            read = coloured_mesh(path) if shape.rgba is None else ColouredMesh(opened_mesh(path), None, [None])
            if len(read.mesh.faces) and np.isfinite(read.mesh.vertices).all():
                return read
            problem = "nothing to draw in the mesh"
        except ImportError:
            problem = f"not drawn: {TO_INSTALL}"
        except Exception as error:  # of whichever reader the suffix asks for
            problem = f"cannot be read ({type(error).__name__}: {shortened(str(error), LONGEST_REASON)})"
    _note(notes, problem, shape)
    return None


def _share(counts: list[int], large: int) -> int:
    """Return the most triangles of a mesh with which meshes of ``counts`` triangles have ``large`` of them together.

    What small meshes leave of their share goes to the others.
    """
    left, share = large, large
    for place, count in enumerate(sorted(counts)):
        share = left // (len(counts) - place)
        if count > share:
            break
        left -= count
    return max(share, 4)


def _parts(shape: ImportedShape, read: ColouredMesh, most: int, notes: dict[str, list[str]]) -> list[TintedSolid]:
    """Return a mesh with at most some ``most`` triangles, a part for each of its colours."""
    mesh, number, colours = read
    if len(mesh.faces) > most:
        places = None if number is None else mesh.triangles_center
        mesh = _simpler(mesh, most, lambda text: _note(notes, text, shape))
        number = None if number is None else number[cKDTree(places).query(mesh.triangles_center)[1]]
    vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    scale = np.array(shape.sizes if len(shape.sizes) == 3 else (1.0, 1.0, 1.0))
    place, parts = {"position": shape.position, "quat_wxyz": shape.quat_wxyz}, []
    for k, colour in enumerate(colours):
        chosen = faces if number is None else faces[number == k]
        if len(chosen) and (colour is None or colour[3] > 0.0):
            used, triangles = np.unique(chosen, return_inverse=True)
            corners = vertices[used] * scale
            solid = Solid("mesh", vertices=corners, triangles=triangles.reshape(chosen.shape), **place)
            parts.append(TintedSolid(solid, colour))
    return parts


def _simpler(mesh: Any, most: int, note: Callable[[str], object]) -> Any:
    """Return a mesh of fewer triangles, its hull if the package for that is missing."""
    try:
        mesh.merge_vertices(merge_norm=True, merge_tex=True)
        return mesh.simplify_quadric_decimation(face_count=most, aggression=THIN)
    except ImportError:
        note("drawn as hulls, without the package fast-simplification")
        return mesh.convex_hull
