"""Colours inside mesh files: of materials (OBJ with its MTL, COLLADA, GLB), of faces and of vertices (PLY, GLB)."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from varint.model.mesh_file import opened_scene
from varint.model.mesh_scene import merged

LARGEST_LIBRARY = 1_000_000  # bytes of a file of materials
MOST_COLOURS = 64  # of a file: more are rounded until they are no more
OWN = 0  # number of the colour of faces without one, which have that of their body
Tint = tuple[float, ...]


class ColouredMesh(NamedTuple):
    """A trimesh.Trimesh, its colours (red, green, blue, opacity, or None) and the number (n,) of that of each face.

    ``number``: None where the mesh has one colour.
    """

    mesh: Any
    number: np.ndarray | None
    colours: list[Tint | None]


def coloured_mesh(path: Path) -> ColouredMesh:
    """Return the mesh of a file with the colours of its faces. Raises ImportError, and the errors of its reader."""
    from trimesh.visual import ColorVisuals

    scene = opened_scene(path, MaterialLibraries(path.parent))
    geometries = [each for each in scene.geometry.values() if len(getattr(each, "faces", ()))]
    parts = [_face_colours(each) for each in geometries]
    known = [part for part in parts if part is not None]
    palette = _palette(np.concatenate(known)) if known else np.zeros((0, 4))
    for each, part in zip(geometries, parts, strict=True):
        number = np.full(len(each.faces), OWN) if part is None else 1 + _nearest(palette, part)
        # the number travels through the merging of the scene as if it were a colour
        encoded = np.column_stack([number & 255, number >> 8, np.zeros_like(number), np.full_like(number, 255)])
        each.visual = ColorVisuals(mesh=each, face_colors=encoded.astype(np.uint8))
    mesh = merged(scene)
    encoded = np.asarray(mesh.visual.face_colors, dtype=int)
    colours: list[Tint | None] = [None, *(tuple((colour / 255.0).tolist()) for colour in palette)]
    return ColouredMesh(mesh, encoded[:, 0] + 256 * encoded[:, 1], colours)


class MaterialLibraries:
    """Files of materials beside a mesh, all that a reader may open of the files which the mesh names.

    ``folder``: that of the mesh; a name that leads out of it is refused, as is any other suffix than .mtl.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> bytes:
        """Return the content of a file. Raises FileNotFoundError for one that is not read."""
        path = self._folder / name
        is_beside = Path(name) == Path(Path(name).name) and path.suffix.lower() == ".mtl" and not path.is_symlink()
        if not (is_beside and path.is_file() and path.stat().st_size <= LARGEST_LIBRARY):
            raise FileNotFoundError(f"'{name}' is no file of materials beside the mesh")
        return path.read_bytes()

    __getitem__ = get


def _face_colours(geometry: Any) -> np.ndarray | None:
    """Return red, green, blue, opacity (n, 4), 0 to 255, of the faces of a trimesh.Trimesh; None without any."""
    visual = geometry.visual
    if visual.kind in ("face", "vertex"):
        return np.asarray(visual.face_colors, dtype=float)
    colour = _material_colour(getattr(visual, "material", None))
    return None if colour is None else np.tile(colour, (len(geometry.faces), 1))


def _material_colour(material: Any) -> np.ndarray | None:
    """Return red, green, blue, opacity (4,), 0 to 255, of a material; None if it names no colour."""
    if getattr(material, "baseColorFactor", None) is not None:  # of COLLADA and GLB
        return np.asarray(material.main_color, dtype=float)
    named = getattr(material, "kwargs", {})  # of an MTL
    if "kd" not in named:
        return None
    colour = np.asarray(material.main_color, dtype=float)
    if "d" in named:
        colour[3] = 255.0 * np.clip(float(named["d"][-1]), 0.0, 1.0)
    return colour


def _palette(colours: np.ndarray) -> np.ndarray:
    """Return at most `MOST_COLOURS` colours (k, 4) that are near the ``colours`` (n, 4)."""
    palette, step = np.unique(colours, axis=0), 4.0
    while len(palette) > MOST_COLOURS:
        palette, step = np.unique(np.minimum(step * np.round(palette / step), 255.0), axis=0), 2.0 * step
    return palette


def _nearest(palette: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Return the number (n,) of the nearest colour of a palette (k, 4) to each of (n, 4)."""
    different, number = np.unique(colours, axis=0, return_inverse=True)
    nearest = [int(np.argmin(np.sum((palette - colour) ** 2, axis=1))) for colour in different]
    return np.array(nearest, dtype=int)[number.reshape(-1)]
