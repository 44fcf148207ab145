"""Triangle meshes of files, read by the package trimesh."""

from pathlib import Path
from typing import Any

from varint.errors import FileError
from varint.model.checks import path_of

MESH_SUFFIXES = (".stl", ".obj", ".dae", ".ply", ".off", ".glb")
LARGEST_FILE = 100_000_000  # bytes
TO_INSTALL = "meshes are read by the package trimesh: pip install 'varint[view]'"


def read_mesh(path: str | Path) -> Any:
    """The mesh of a file, a trimesh.Trimesh. Raises FileError, naming the file."""
    path = Path(path_of(path, "the file of a mesh"))
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise FileError(f"cannot read '{path}': files of meshes end in {', '.join(MESH_SUFFIXES)}")
    if not path.is_file():
        raise FileError(f"cannot read '{path}': no such file")
    if path.stat().st_size > LARGEST_FILE:
        raise FileError(f"cannot read '{path}': more than {LARGEST_FILE // 1_000_000} MB")
    try:
        import trimesh
    except ImportError:
        raise FileError(f"cannot read '{path}': {TO_INSTALL}") from None
    try:
        with path.open("rb") as file:  # by itself: no other file that it names is opened
            return trimesh.load(file, file_type=path.suffix.lower().lstrip("."), force="mesh", skip_materials=True)
    except Exception as problem:  # of whichever reader the suffix asks for
        raise FileError(f"cannot read '{path}': {type(problem).__name__}: {problem}") from None
