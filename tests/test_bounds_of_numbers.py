"""Numbers and meshes beyond what a machine holds are refused by name; meshes are read without other files."""

import numpy as np
import pytest

import varint as vi
from varint.model.mesh_file import read_mesh


@pytest.fixture
def pendulum():
    return vi.mechanisms.double_pendulum()


def test_more_times_than_memory(pendulum):
    with pytest.raises(vi.ArgumentError, match=r"output_times must be at most 1e\+09 numbers"):
        vi.simulate(pendulum, 1.0, 1e-3, output_times=np.broadcast_to(0.5, 10**10))


def test_a_load_of_more_nodes_than_memory(pendulum):
    force = {pendulum.bodies[0].name: np.broadcast_to(0.5, (10**10, 3))}
    with pytest.raises(vi.ArgumentError, match=r"must be"):
        vi.simulate(pendulum, 1.0, 1e-3, force=force)


@pytest.mark.parametrize("face", ["f 0 1 2", "f 1//1 0//1 2//1", "f 1 2 0", "f\t1 2 0/3"])
def test_faces_of_obj_count_from_one(face, tmp_path):
    pytest.importorskip("trimesh")
    path = tmp_path / "a.obj"
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{face}\n")
    with pytest.raises(vi.FileError, match="index 0"):
        read_mesh(path)
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n# f 0\n")
    assert len(read_mesh(path).faces) == 1


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb", "off", "dae"])
def test_no_other_file_is_looked_for_beside_a_mesh(suffix, tmp_path, monkeypatch):
    """Nor is anything written of pictures that it names and that are not there."""
    trimesh = pytest.importorskip("trimesh")
    if suffix == "dae":
        pytest.importorskip("collada")
    path = tmp_path / f"a.{suffix}"
    trimesh.creation.box([1, 2, 3]).export(path)

    def looked(*_, **__):
        pytest.fail("files beside it are looked for")

    monkeypatch.setattr(trimesh.resolvers.FilePathResolver, "__init__", looked)
    assert read_mesh(path).extents == pytest.approx([1, 2, 3])
    assert trimesh.util.log.handlers
