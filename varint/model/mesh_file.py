"""Triangle meshes of files, read by the package trimesh."""

import io
import logging
import re
from pathlib import Path
from typing import Any

from varint.base.distribution import install_command
from varint.base.errors import FileError
from varint.base.paths import path_of
from varint.model.mesh_scene import check_nodes, merged

MESH_SUFFIXES = (".stl", ".obj", ".dae", ".ply", ".off", ".glb")
LARGEST_FILE = 100_000_000  # bytes
OBJ_ZERO = re.compile(rb"(?m)^f[ \t](?:[^\n]*[ \t])?0+(?:[/ \t\r\n]|\Z)")  # which trimesh takes for the last vertex
UNHEARD = logging.NullHandler()
TO_INSTALL = f"meshes are read by the package trimesh: {install_command('view')}"


def can_be_mesh(path: Path) -> bool:
    """Return whether a file exists, is not too large, and has a suffix of meshes."""
    return path.suffix.lower() in MESH_SUFFIXES and path.is_file() and path.stat().st_size <= LARGEST_FILE


def opened_mesh(path: Path) -> Any:
    """Return the mesh of a file, a trimesh.Trimesh. Raises ImportError, and the errors of its reader."""
    return merged(opened_scene(path, None))


def opened_scene(path: Path, materials: Any) -> Any:
    """Return the scene of a file, a trimesh.Scene. Raises ImportError, and the errors of its reader.

    ``materials``: its ``get(name)`` returns the content of a file that the mesh names; None where none is read.
    """
    import trimesh

    trimesh.util.log.addHandler(UNHEARD)  # it writes of pictures that it does not find, which are not needed
    kind, content = path.suffix.lower().lstrip("."), path.read_bytes()
    if kind == "obj" and OBJ_ZERO.search(content):
        raise ValueError("a face has the index 0, and vertices are counted from 1")
    if kind == "dae":
        check_nodes(content)
    bare = io.BytesIO(content)  # without a name: no other file that it names is looked for beside it
    options = {"skip_materials": True} if materials is None else {"resolver": materials}
    return trimesh.load(bare, file_type=kind, force="scene", **options)


def read_mesh(path: str | Path) -> Any:
    """Return the mesh of a file, a trimesh.Trimesh. Raises FileError, naming the file."""
    path = Path(path_of(path, "the file of a mesh"))
    if not can_be_mesh(path):
        raise FileError(
            f"cannot read '{path}': a mesh is a file that ends in {', '.join(MESH_SUFFIXES)},"
            f" of at most {LARGEST_FILE // 1_000_000} MB"
        )
    try:
        return opened_mesh(path)
    except ImportError:
        raise FileError(f"cannot read '{path}': {TO_INSTALL}") from None
    except Exception as problem:  # of whichever reader the suffix asks for
        raise FileError(f"cannot read '{path}': {type(problem).__name__}: {problem}") from None
