"""Mechanisms written as MJCF and as URDF, and read again."""

import dataclasses

import numpy as np
import pytest
from holonomic import FLEXIBLE, TOUCHING
from mechanisms_alike import check_alike

import varint as vi
from varint.files.own.mechanism_data import to_data

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo

SAME = 1e-12
NOT_HELD = {
    "escapement": "force 'bank', a JointStop that is soft, bounces, has one side, or is beside another",
    "roller_coaster": "joint 'track', a SplineCurve, in the tree",
    "ball_on_turntable": "force 'contact', a RollingWheel",
    "chaplygin_sleigh": "force 'edge', a KnifeEdge",
    "rolling_disc": "force 'wheel', a RollingWheel",
    "finger_with_flexors": "force 'deep flexor', a Musculotendon",
    "spline_knee": "force 'rolling', a CoordinateMap of functions",
    "wrapped_double_pendulum": "force 'tendon', a Tendon",
    **dict.fromkeys((name for name in FLEXIBLE if name not in ("cable_between_carts", "tensegrity")), "a BeamElement"),
    "net_between_carts": "force 'net', a ParticleNet",
    "starfish": "force 'flesh', a DeformableBody",
    **dict.fromkeys(TOUCHING, "a (Hard)?Contact"),
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_as_mjcf(name, tmp_path):
    given, path = getattr(vi.mechanisms, name)(), tmp_path / "m.xml"
    if name in NOT_HELD:
        with pytest.raises(vi.FileError, match=NOT_HELD[name]):
            vi.save_mechanism(given, path)
        return
    vi.save_mechanism(given, path)
    read = vi.load_mechanism(path, strict=True)
    check_alike(given, read, SAME)
    assert read.diagnose().mobility == given.diagnose().mobility


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", [name for name in vi.mechanisms.NAMES if name not in NOT_HELD])
def test_the_catalogue_with_the_ends_of_joints_changed_over(name, tmp_path):
    """Trees and loops where body a is the child, or closes the loop from the other side."""
    given = getattr(vi.mechanisms, name)()
    state, joints = given.state(), []
    for joint in given.joints:
        point, point_b = given.anchors(joint)
        ends = {"body_a": joint.body_b, "body_b": joint.body_a, "point": point_b, "point_b": point}
        joints.append(dataclasses.replace(joint, **ends))
    keys = ("position", "quat_wxyz", "velocity", "angular_velocity")
    start = {key: dict(zip(given.body_index, getattr(state, key), strict=True)) for key in keys}
    over = dataclasses.replace(given, joints=joints, start=start)
    for suffix in (".xml", ".urdf"):
        path = tmp_path / f"m{suffix}"
        vi.save_mechanism(over, path)
        beside = path.with_suffix(".toml")
        check_alike(over, vi.load_mechanism(beside if beside.exists() else path, strict=True), SAME)


@pytest.mark.slow
def test_forces_as_mjcf(tmp_path):
    """All kinds that it holds, and a joint whose body b is nearer to the ground."""
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(x, 0, 0)) for x, name in enumerate("abcd")]
    joints = [
        vi.Revolute("one", "world", "a", point=(0, 0.1, 0), axis=(0, 1, 1)),
        vi.Prismatic("two", "b", "a", axis=(1, 0, 0)),
        vi.Cylindrical("three", "b", "c", point=(2, 0.3, 0), axis=(1, 1, 0)),
        vi.Spherical("four", "d", "c", point=(2.5, 0, 0)),
    ]
    forces = [
        vi.TorsionSpring("s", joint="two", stiffness=30.0, rest_angle=0.1, damping=0.2),
        vi.TorsionSpring("s2", joint="two", stiffness=10.0, rest_angle=0.4),
        vi.JointDamper("d", joint="three", coordinate=1, damping=0.3),
        vi.JointFriction("f", joint="one", effort=0.2),
        vi.JointStop("stop", joint="one", lower=-1.0, upper=2.0),
        vi.Motor("m", joint="one", effort=0.4),
        vi.JointServo("servo", joint="three", target=0.2, stiffness=5.0, damping=0.1),
        vi.Gear("gear", joint_a="one", joint_b="three", coordinate_b=1, radius_a=1.0, radius_b=2.0),
        vi.Spring("spring", "a", "d", point_a=(0, 1, 0), point_b=(3, 0, 1), stiffness=3.0, damping=0.1),
        vi.MultiPointCable("cable", ["a", "c", "world"], points=np.eye(3), stiffness=4.0, rest_length=2.0),
    ]
    rates = {"one": 0.3, "two": -0.2, "four": (0.1, 0.2, 0.3)}
    coordinates = {"two": 0.1, "four": (0.3, -0.2, 0.1), "three": (0.2, 0.0)}
    given = vi.Mechanism(
        "given", bodies, joints, forces=forces, gravity=(1, 2, 3), start={"coordinates": coordinates, "rates": rates}
    )
    vi.save_mechanism(given, tmp_path / "m.xml")
    read = vi.load_mechanism(tmp_path / "m.xml", strict=True)
    check_alike(given, read, SAME)
    assert read.gravity == pytest.approx([1, 2, 3])
    one, other = (vi.simulate(mechanism, 0.2, 1e-3) for mechanism in (given, read))
    rows = [read.body_index[body.name] for body in given.bodies]
    assert other.position[:, rows] == pytest.approx(one.position, abs=1e-9)


def test_all_that_mjcf_does_not_hold_is_named(tmp_path):
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(x, 0, 0)) for x, name in enumerate("ab")]
    joints = [
        vi.Revolute("one", "world", "a", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Helical("screw", "a", "b", point=(0, 0, 0), axis=(0, 1, 0), lead=0.1),
        vi.Rod("rod", "world", "b", point=(0, 0, 1), point_b=(1, 0, 0)),
    ]
    given = vi.Mechanism("given", bodies, joints, forces=[vi.BodyDamper("air", "a", linear=1.0)])
    with pytest.raises(
        vi.FileError,
        match="'rod', a Rod, in the tree; joint 'screw', a Helical, in the tree; force 'air', a BodyDamper",
    ):
        vi.save_mechanism(given, tmp_path / "m.xml")
    assert not (tmp_path / "m.xml").exists()


def test_coordinates_by_functions_are_refused_in_mjcf(tmp_path):
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(x, 0, 0)) for x, name in enumerate("ab")]
    joints = [vi.Revolute(f"to {name}", "world", name, point=(0, 0, 0), axis=(0, 1, 0)) for name in "ab"]
    bend = vi.CoordinateMap("bend", coordinates=[("to a", 0), ("to b", 0)], functions=[lambda q: (q * q, 2 * q, 2.0)])
    given = vi.Mechanism("given", bodies, joints, forces=[bend])
    with pytest.raises(vi.FileError, match="force 'bend', a CoordinateMap of functions"):
        vi.save_mechanism(given, tmp_path / "m.xml")


@pytest.mark.many
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_as_urdf(name, tmp_path):
    """Trees in one file, all else with a TOML file beside it."""
    given, path = getattr(vi.mechanisms, name)(), tmp_path / "m.urdf"
    if any(shape.hollow for body in given.bodies for shape in body.collision):
        with pytest.raises(vi.FileError, match="URDF has no HollowCylinderShape"):
            vi.save_mechanism(given, path)
        return
    vi.save_mechanism(given, path)
    beside = path.with_suffix(".toml")
    read = vi.load_mechanism(beside if beside.exists() else path, strict=True)
    if any(traits & {"internal", "mesh"} for traits in given.force_traits):  # activations, vertices: not of a state
        assert repr(to_data(read)["forces"]) == repr(to_data(given)["forces"])
    else:
        check_alike(given, read, SAME)
    assert beside.exists() == (name not in ("double_pendulum", "n_pendulum"))


def test_forces_that_are_refused_are_named_with_the_call_that_leaves_them_out(tmp_path):
    motor = vi.VelocityMotor("motor", joint="crank pivot", speed=1.0, max_effort=2.0)
    wind = vi.BodyDamper("wind", "rocker", linear=0.1)
    mechanism = vi.mechanisms.four_bar().with_forces(add=[motor, wind])
    with pytest.raises(vi.FileError) as refusal:
        vi.save_mechanism(mechanism, tmp_path / "m.xml")
    assert str(refusal.value).endswith(
        "force 'motor', a VelocityMotor; force 'wind', a BodyDamper. Leave these forces out by"
        " mech.with_forces(remove=['motor', 'wind']), and write that"
    )
    vi.save_mechanism(mechanism.with_forces(remove=["motor", "wind"]), tmp_path / "m.xml")


def test_a_file_with_loops_says_that_mujoco_holds_them_softly(tmp_path):
    for name, closes in (("four_bar", True), ("double_pendulum", False)):
        vi.save_mechanism(getattr(vi.mechanisms, name)(), tmp_path / "m.xml")
        assert ("In MuJoCo they are soft: solref" in (tmp_path / "m.xml").read_text()) == closes
        vi.load_mechanism(tmp_path / "m.xml", strict=True)


def test_a_mechanism_that_is_closed_from_apart_starts_closed(tmp_path):
    """Its zero pose is open: the file has the closed one as a key."""
    ends = {
        "crank": ((0, 0, 0), (0, 0, 0.1)),
        "rod": ((0, 0, 0.1), (0.32, 0, 0.2)),
        "rocker": ((0.3, 0, 0), (0.3, 0, 0.2)),
    }
    bodies = [vi.Body.rod(name, *points, mass=1.0) for name, points in ends.items()]
    joints = [
        vi.Revolute("pivot", "world", "crank", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("a", "crank", "rod", point=(0, 0, 0.1), axis=(0, 1, 0)),
        vi.Revolute("ground", "world", "rocker", point=(0.3, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("b", "rod", "rocker", point=(0.32, 0, 0.2), point_b=(0.3, 0, 0.2), axis=(0, 1, 0)),
    ]
    vi.save_mechanism(vi.Mechanism("open", bodies, joints), tmp_path / "open.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "open.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    ends = data.site_xpos[model.eq_obj1id], data.site_xpos[model.eq_obj2id]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
