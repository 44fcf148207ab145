"""What is read of URDF equals what MuJoCo's own compiler makes of it, and moves the same way."""

import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from robot_files import found
from test_robots import ROBOTS

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

mujoco = pytest.importorskip("mujoco", reason="needs the package mujoco")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo

KNOWN = 1e-10
SHAPES = ("visual", "collision", "material", "transmission", "gazebo")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """MuJoCo may write a log."""
    monkeypatch.chdir(tmp_path)


def in_mujoco(path):
    """MuJoCo's model of the file without its shapes, whose meshes it would want."""
    root = ElementTree.fromstring(path.read_bytes().lstrip())
    for parent in (root, *root.iter("link")):
        for element in [child for child in parent if child.tag in SHAPES]:
            parent.remove(element)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def compare(path):
    """Raises AssertionError where bodies or joints differ; how many joints were compared."""
    mechanism, model = vi.load_mechanism(path), in_mujoco(path)
    data = mujoco.MjData(model)
    begin = dict.fromkeys(mechanism.joint_index, 0.0)
    for entry in mechanism.import_report.approximated:
        if "the offset of <mimic>" in entry.what:
            begin[entry.what.split("'")[1]] = float(entry.what.split(" zero at ")[1].split(",")[0])
    for name, value in begin.items():
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number >= 0 and mechanism.joint(name).dof == 1:
            data.qpos[model.jnt_qposadr[number]] = value
    mujoco.mj_forward(model, data)
    repaired = {
        entry.what.split("'")[1]
        for entry in mechanism.import_report.approximated
        if "largest moment of inertia" in entry.what
    }
    counted = 0
    for joint in mechanism.joints:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        if number < 0 or joint.dof != 1:
            continue
        counted += 1
        body, other = mechanism.body(joint.body_b), model.jnt_bodyid[number]
        turn = data.ximat[other].reshape(3, 3)
        R = rotation_matrix(body.quat_wxyz)
        assert body.mass == pytest.approx(model.body_mass[other], rel=KNOWN)
        assert body.position == pytest.approx(data.xipos[other], abs=KNOWN)
        if body.name not in repaired:
            inertia = turn @ np.diag(model.body_inertia[other]) @ turn.T
            assert R @ body.inertia @ R.T == pytest.approx(inertia, abs=KNOWN)
        assert joint.axis == pytest.approx(data.xaxis[number], abs=KNOWN)
        if isinstance(joint, vi.Revolute):
            assert joint.point == pytest.approx(data.xanchor[number], abs=KNOWN)
    return counted


def test_the_arm_of_the_examples():
    assert compare(ROBOTS / "arm.urdf") == 3


def test_a_run_of_the_arm():
    """MuJoCo's Runge-Kutta steps of 0.1 ms, of fourth order, beside an integrator with error control."""
    path = ROBOTS / "arm.urdf"
    read = vi.load_mechanism(path)
    free = dataclasses.replace(read, forces=[one for one in read.forces if not isinstance(one, vi.JointStop)])
    ours = vi.redmax.simulate(free, 0.5, 0.05, integrator="dop853", rtol=1e-12)
    model = in_mujoco(path)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.jnt_limited[:] = 0
    data = mujoco.MjData(model)
    for _ in range(5000):
        mujoco.mj_step(model, data)
    last = [ours.coordinates[joint.name][-1] for joint in free.joints]
    assert np.abs(last).max() > 0.3
    assert last == pytest.approx(data.qpos.tolist(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", found(".urdf") or [pytest.param(None, marks=pytest.mark.skip("needs varint-dynamics[test-peers]"))], ids=str
)
def test_robots_of_other_packages(path):
    try:
        vi.load_mechanism(path)
        in_mujoco(path)
    except (vi.VarintError, ValueError, ElementTree.ParseError):
        pytest.skip("one of both refuses it")
    masses = ElementTree.fromstring(path.read_bytes().lstrip()).iterfind("link/inertial/mass")
    if any(float(mass.get("value")) == 0.0 for mass in masses):
        pytest.skip("MuJoCo leaves out the moments of fixed links without mass, which we and Pinocchio add")
    compare(path)
