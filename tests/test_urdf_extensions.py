"""URDF: quaternions of URDF 1.1, joints and rotors of Drake, elements that are there twice, and nothing in silence."""

import numpy as np
import pytest

import varint as vi

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="2" izz="2.5"/></inertial>'


def robot(joint, inertial=INERTIAL, more=""):
    return f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>{joint}{more}</robot>'


def joint(inside="", kind="continuous", tag="joint"):
    return f'<{tag} name="j" type="{kind}"><parent link="a"/><child link="b"/>{inside}</{tag}>'


AXIS = '<axis xyz="0 0 1"/>'
QUARTER = "0.7071067811865476 0 0 0.7071067811865476"  # about x


@pytest.fixture
def read(written):
    return lambda text, **options: vi.load_mechanism(written(text, "r.urdf"), **options)


@pytest.mark.parametrize("turn", [f'quat_xyzw="{QUARTER}"', 'rpy="1.5707963267948966 0 0"'])
def test_quaternions_of_origins(read, turn):
    origin = f'<origin xyz="0 0 1" {turn}/>'
    mech = read(robot(joint(origin + AXIS), INERTIAL.replace("<inertial>", f"<inertial>{origin}")), strict=True)
    assert mech.joint("j").axis == pytest.approx(np.array([0.0, -1.0, 0.0]), abs=1e-12)
    assert mech.body("b").inertia == pytest.approx(np.diag([1.0, 2.5, 2.0]), abs=1e-12)


@pytest.mark.parametrize("wrong", ['quat_xyzw="0 0 0 0"', 'quat_xyzw="1 0 0"', f'rpy="0 0 0" quat_xyzw="{QUARTER}"'])
def test_wrong_quaternions_are_refused(read, wrong):
    with pytest.raises(vi.VarintError, match="quat_xyzw"):
        read(robot(joint(f"<origin {wrong}/>")))


def test_planar_joint_of_drake(read):
    inside = '<origin rpy="1.5707963267948966 0 0"/><dynamics damping="1 2 3"/>'
    mech = read(robot(joint(inside, "planar", "drake:joint")), strict=True)
    acceleration = vi.accelerations(mech, mech.state(rates={"j": (1.0, 1.0, 1.0)}))
    assert acceleration.linear[0] == pytest.approx([-1.0, 0.0, -9.81 - 2.0], abs=1e-9)
    assert acceleration.angular[0][2] == pytest.approx(-3.0 / 2.5, abs=1e-9)  # axes of the link, at its joint's frame


def test_ball_and_universal_joints_of_drake(read):
    ball = read(robot(joint("", "ball", "drake:joint")), strict=True).joint("j")
    cross = read(robot(joint('<dynamics damping="2"/>', "universal", "drake:joint")), strict=True)
    assert type(ball) is vi.Spherical
    assert type(cross.joint("j")) is vi.Universal
    assert tuple(cross.joint("j").axis) == (1.0, 0.0, 0.0)
    assert [force.damping for force in cross.forces] == [2.0, 2.0]


@pytest.mark.parametrize("world", ["", '<link name="world"/>'])
def test_a_parent_that_is_the_world_need_not_be_a_link(read, world):
    """As in Drake, whose files have none."""
    fixed = '<joint name="f" type="fixed"><origin xyz="0 0 2"/><parent link="world"/><child link="a"/></joint>'
    mech = read(robot(joint(AXIS), more=fixed + world), strict=True)
    assert [each.body_a for each in mech.joints] == ["world"]
    assert mech.body("b").position == pytest.approx([0.0, 0.0, 2.0])


def test_rotor_of_a_transmission(read):
    actuator = '<actuator name="m"><drake:rotor_inertia value="0.5"/><drake:gear_ratio value="3"/></actuator>'
    transmission = f'<transmission name="t"><joint name="j"/>{actuator}</transmission>'
    arm = INERTIAL.replace("<inertial>", '<inertial><origin xyz="1 0 0"/>')
    mech = read(robot(joint('<axis xyz="0 1 0"/>'), arm, transmission), strict=True)
    angular = vi.accelerations(mech, mech.state()).angular[mech.body_index["b"]]
    assert angular[1] == pytest.approx(9.81 / (2.0 + 1.0 + 4.5), rel=1e-12)


def test_limits_of_a_continuous_joint_are_reported(read):
    mech = read(robot(joint('<limit lower="-1" upper="1" effort="1" velocity="1"/>')), strict=True)
    assert not mech.forces
    assert any("lower and upper" in entry.what for entry in mech.import_report.approximated)


UNKNOWN = {
    "origin": robot(joint('<origin xyz="0 0 1" quat="1 0 0 0"/>')),
    "axis": robot(joint('<axis xyz="0 0 1" frame="b"/>')),
    "mass": robot(joint(), INERTIAL.replace("value=", 'unit="g" value=')),
    "inertia": robot(joint(), INERTIAL.replace("iyy=", 'iyx="1" iyy=')),
    "parent": robot(joint().replace('link="a"/>', 'link="a" frame="f"/>', 1)),
    "bushing": robot(joint(), more="<drake:linear_bushing_rpy/>"),
    "attribute": robot(joint()).replace("<robot ", '<robot units="mm" '),
    "several coordinates": robot(joint('<limit lower="0" upper="1"/>', "ball", "drake:joint")),
}


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_nothing_is_lost_in_silence(read, text):
    assert len(read(text).import_report.not_understood) == 1
    with pytest.raises(vi.FileError):
        read(text, strict=True)


TWICE = {
    "inertial": robot(joint(AXIS), INERTIAL + INERTIAL.replace('"1"', '"7"')),
    "limit": robot(joint(AXIS + '<limit lower="-1" upper="1"/><limit effort="3"/>', "revolute")),
    "dynamics": robot(joint(AXIS + '<dynamics damping="1"/><dynamics damping="2"/>')),
    "origin": robot(joint(AXIS + "<origin/><origin xyz='1 0 0'/>")),
}


@pytest.mark.parametrize(("tag", "text"), TWICE.items())
def test_the_first_of_two_counts(read, tag, text):
    with pytest.raises(vi.FileError, match=f"one <{tag}>"):
        read(text)
    mech = read(text, repair=True)
    assert [entry.what.partition(">")[0] for entry in mech.import_report.repaired] == [f"second <{tag}"]
    assert mech.body("b").mass == 1.0
    assert tuple(mech.body("b").position) == (0.0, 0.0, 0.0)
    values = [getattr(force, key) for force in mech.forces for key in ("upper", "damping") if getattr(force, key, 0.0)]
    assert values == ([1.0] if tag in ("limit", "dynamics") else [])
