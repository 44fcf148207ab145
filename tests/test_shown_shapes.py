"""Which shapes of imported models a picture shows, and that simplified meshes keep their form."""

import numpy as np
import pytest
from test_view_shapes import scene_of

import varint as vi
from varint.views.mesh_files import imported_solids

mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
trimesh = pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")

LEG = """<mujoco model="leg">
<worldbody>
  <body name="skeleton">
    <geom name="skull" type="sphere" size="0.1" pos="0 0 2" contype="0" conaffinity="0"/>
    <geom name="wrap" type="cylinder" size="0.5 1" contype="0" conaffinity="0" group="3"/>
  </body>
  <body name="thigh" pos="0 0 1">
    <geom name="femur" type="capsule" size="0.02 0.2"/>
    <geom name="hull" type="box" size="0.1 0.1 0.3" group="3"/>
    <body name="shank" pos="0 0 -0.5">
      <joint name="knee" axis="0 1 0"/>
      <geom name="tibia" type="capsule" size="0.02 0.2" pos="0 0 -0.2"/>
    </body>
  </body>
</worldbody></mujoco>"""
RING = """<mujoco model="rings"><asset><mesh name="ring" file="ring.stl"/><mesh name="dot" file="dot.stl"/></asset>
<worldbody><body name="b"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom type="mesh" mesh="ring" contype="0" conaffinity="0"/>{dots}</body></worldbody></mujoco>"""


def test_a_fixed_link_that_only_touches_is_seen_beside_what_decorates_and_hidden_groups_are_not():
    mech = vi.load_mechanism(mujoco.MjSpec.from_string(LEG))
    shapes = mech.import_report.shapes
    assert [shape.kind for shape in shapes if shape.hidden] == ["cylinder"]
    solids = imported_solids(mech).solids
    assert [solid.kind for solid in solids["world"]] == ["sphere", "capsule"]  # neither the wrap nor the hull
    assert [solid.kind for solid in solids["shank"]] == ["capsule"]


@pytest.fixture
def rings(tmp_path):
    """A body with a thin ring of some 20,000 triangles and 29 balls of 80."""
    trimesh.creation.torus(0.3, 0.002, major_sections=500, minor_sections=20).export(tmp_path / "ring.stl")
    trimesh.creation.icosphere(subdivisions=1, radius=0.05).export(tmp_path / "dot.stl")
    dots = '<geom type="mesh" mesh="dot" contype="0" conaffinity="0"/>' * 29
    (tmp_path / "rings.xml").write_text(RING.format(dots=dots))
    return tmp_path / "rings.xml"


def test_small_meshes_leave_their_share_to_large_ones_and_thin_ones_keep_their_form(rings):
    pytest.importorskip("fast_simplification", reason="needs varint-dynamics[view]")
    mech = vi.load_mechanism(rings)
    (solids,) = imported_solids(mech, 6000).solids.values()
    counts = sorted(len(solid.triangles) for solid in solids)
    assert counts[:-1] == [80] * 29
    assert 3000 < counts[-1] <= 6000 - 29 * 80
    (ring,) = (solid for solid in solids if len(solid.triangles) == counts[-1])
    assert np.ptp(ring.vertices, axis=0)[:2] == pytest.approx([0.604, 0.604], rel=0.01)
    around = np.sort(np.arctan2(*ring.vertices[:, :2].T))
    assert np.diff(around).max() < 0.1  # rad: no gap


def test_meshes_of_a_model_in_memory_are_those_of_its_files(rings):
    mech = vi.load_mechanism(mujoco.MjSpec.from_file(str(rings)))
    assert all(shape.found for shape in mech.import_report.shapes)
    assert imported_solids(mech).notes == []


def test_the_inertia_of_a_stand_in_is_not_drawn():
    arm = vi.mechanisms.double_pendulum()
    first, second = arm.bodies
    phantom = vi.Body("phantom", mass=1e-3, inertia=np.eye(3), position=second.position)
    weld = vi.Fixed("weld", second.name, "phantom")
    data = scene_of(arm.replace(bodies=[first, second, phantom], joints=[*arm.joints, weld]))
    assert not data["bodies"][2]["parts"]
    assert np.ptp([data["low"], data["high"]], axis=0).max() < 10.0
    alone = vi.Mechanism("alone", bodies=[phantom], joints=[vi.Free("free", "world", "phantom")])
    assert scene_of(alone)["bodies"][0]["parts"]
