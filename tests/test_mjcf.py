"""MJCF, against MuJoCo."""

import re

import numpy as np
import pytest
from mujoco_peer import Peer

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo

KNOWN, MOVED = 1e-10, 1e-9
TREE = """<mujoco model="tree">
  <compiler angle="degree"/>
  <option gravity="0.3 -1 -9"/>
  <default><joint armature="0.02"/><geom density="700"/></default>
  <worldbody>
    <body name="post" pos="0 0 0.1"><geom size=".1"/>
    <body name="a" pos="0 0 1" euler="10 20 30">
      <joint name="one" axis="0 1 0.2" pos="0 .1 0" ref="20" springref="35" stiffness="2" damping=".3"/>
      <geom type="box" size=".1 .2 .3" pos=".2 0.1 0" euler="0 40 0"/>
      <body name="on a" pos=".1 .2 .3" euler="5 0 0"><geom type="capsule" size=".1 .2"/></body>
      <body name="b" pos="1 0 0" gravcomp="0.4">
        <joint name="two" axis="0 1 0" damping="0.1"/><joint name="three" axis="1 0 1" pos="0 .1 0" stiffness="3"/>
        <joint name="slide" type="slide" axis="0 1 1" ref="0.3" springref="0.1" stiffness="50"/>
        <geom size=".1" pos=".2 0 0"/><site name="p" pos="0.1 0 0.2"/>
        <body name="c" pos=".3 0 0">
          <joint name="ball" type="ball" stiffness="4" armature="0"/>
          <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.2 0.4 0.01 -0.02 0.03"/>
        </body>
      </body>
    </body></body>
    <body name="floats" pos="1 2 3" euler="0 0 30"><freejoint/>
      <geom type="ellipsoid" size=".1 .2 .3" pos=".1 0 0"/>
      <site name="q"/>
      <body name="arm"><joint name="last" type="slide" axis="1 2 3"/><geom size=".2" pos="0 0 .1"/></body>
    </body>
    <site name="ground" pos="0 0 2"/>
  </worldbody>
  <tendon>
    <spatial name="spring" stiffness="20" damping="1"><site site="p"/><site site="q"/><site site="ground"/></spatial>
    <spatial name="cable" stiffness="20" springlength="0 0.1"><site site="p"/><site site="ground"/></spatial>
    <fixed name="single" stiffness="5" damping="0.2" springlength="0.3"><joint joint="last" coef="-2"/></fixed>
  </tendon>
  <actuator>
    <position name="servo" joint="one" kp="7" kv="0.5" gear="2"/>
    <motor name="motor" joint="two" gear="3"/>
    <velocity name="speed" joint="three" kv="2"/>
    <general name="all" joint="last" gainprm="2" biastype="affine" biasprm="1 -3 -0.1" gear="-1.5"/>
  </actuator>
</mujoco>"""


def check_bodies(peer):
    """Masses, centres, inertias, axes and joints in the zero pose of the file."""
    m, d = peer.model, peer.data
    mujoco.mj_resetData(m, d)
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    for body in peer.mechanism.bodies:
        if body.name not in peer.bodies:
            continue
        first, members = peer.links(body.name)
        assert body.mass == pytest.approx(m.body_mass[members].sum(), rel=KNOWN)
        assert rotation_matrix(body.quat_wxyz) == pytest.approx(d.xmat[first].reshape(3, 3), abs=KNOWN)
        near = 1e-8 if m.body_sameframe[members].any() else KNOWN  # MuJoCo takes frames that differ by less as one
        assert body.position == pytest.approx(peer.centre(members), abs=near)
        inertia = np.zeros((3, 3))
        for i in members:
            R, arm = d.ximat[i].reshape(3, 3), d.xipos[i] - body.position
            inertia += (R * m.body_inertia[i]) @ R.T + m.body_mass[i] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        R = rotation_matrix(body.quat_wxyz)
        assert R @ body.inertia @ R.T == pytest.approx(inertia, abs=KNOWN * np.abs(inertia).max())
    moved = {body.name for body in peer.mechanism.bodies} & set(peer.bodies)
    for joint in peer.mechanism.joints:
        first = joint.name.split(" + ")[0]
        if first not in peer.joints or joint.body_b not in moved:
            continue
        number = peer.joints[first]
        assert m.body_weldid[m.jnt_bodyid[number]] == m.body_weldid[peer.bodies[joint.body_b]]
        above = m.body_weldid[m.body_parentid[m.body_weldid[peer.bodies[joint.body_b]]]]
        assert above == (0 if joint.body_a == "world" else m.body_weldid[peer.bodies[joint.body_a]])
        assert joint.point == pytest.approx(d.xanchor[number], abs=KNOWN)
        if hasattr(joint, "axis"):
            assert joint.axis == pytest.approx(d.xaxis[number], abs=KNOWN)
    balls = {name for name, number in peer.joints.items() if m.jnt_type[number] == 1}
    ours = {joint.name for joint in peer.mechanism.joints if isinstance(joint, vi.Spherical)}
    in_series = {part for joint in peer.mechanism.joints if " + " in joint.name for part in joint.name.split(" + ")}
    assert balls - in_series == ours & set(peer.joints)


def test_bodies_and_joints(written):
    peer = Peer(written(TREE))
    check_bodies(peer)
    assert len(peer.mechanism.bodies) == 5 + 5  # post is the ground; rotors
    assert not peer.report.not_understood


def test_accelerations_of_a_tree(written):
    peer, rng = Peer(written(TREE)), np.random.default_rng(5)
    for _ in range(5):
        peer.randomise(rng)
        assert peer.errors_of_accelerations() < MOVED


def advance(peer, time, dt):
    """MuJoCo's own Runge-Kutta method of order 4."""
    peer.model.opt.timestep, peer.model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(round(time / dt)):
        mujoco.mj_step(peer.model, peer.data)
    peer.forward()


@pytest.mark.slow
def test_a_passive_run_is_that_of_mujoco(written):
    """A second, ours of order 4, without the cable, whose stiffness jumps."""
    text = "\n".join(line for line in TREE.splitlines() if "cable" not in line)
    peer = Peer(written(text))
    mujoco.mj_resetData(peer.model, peer.data)
    peer.forward()
    traj = vi.simulate(peer.mechanism, 1.0, 2e-3, order=4)
    advance(peer, 1.0, 1e-4)
    wanted = peer.state()
    assert np.ptp(traj.position, axis=0).max() > 0.5
    moved = [number for number, body in enumerate(peer.mechanism.bodies) if body.name in peer.bodies]
    assert traj.position[-1][moved] == pytest.approx(wanted.position[moved], abs=1e-7)
    assert traj.velocity[-1][moved] == pytest.approx(wanted.velocity[moved], abs=1e-6)


LOOP = """<mujoco><option gravity="4 0 -9"/>
  <worldbody>
    <body name="crank"><joint name="j1" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
      <body name="rod" pos="0 0 .3"><joint name="j2" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 1 0 .2"/><site name="end" pos="1 0 .2"/></body></body>
    <body name="rocker" pos="1 0 0"><joint name="j3" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 0 0 .5"/>
      <site name="top" pos="0 0 .5"/></body>
  </worldbody>
  <equality>{}</equality>
</mujoco>"""


@pytest.mark.parametrize(
    "closure",
    [
        '<connect name="pin" body1="rod" body2="rocker" anchor="1 0 .2"/>',
        '<connect name="pin" site1="end" site2="top"/>',
        '<connect body1="rocker" body2="rod" anchor="0 0 .5"/>',
    ],
)
def test_a_connect_is_a_joint_that_holds(written, closure):
    read = vi.load_mechanism(written(LOOP.format(closure)), strict=True)
    given = vi.Mechanism(
        "given",
        read.bodies,
        [*read.joints[:3], vi.Revolute("pin", "rod", "rocker", point=(1, 0, 0.5), axis=(0, 1, 0))],
        gravity=(4, 0, -9),
    )
    runs = [vi.simulate(mechanism, 1.0, 2e-3) for mechanism in (read, given)]
    assert runs[0].drift.max() < 1e-9
    assert np.ptp(runs[0].position, axis=0).max() > 0.1
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-9)


@pytest.mark.slow
def test_a_loop_moves_as_mujocos_where_its_constraints_are_stiff(written):
    """MuJoCo's equalities are springs: the difference falls with their time constant."""
    text = LOOP.format(
        '<connect name="pin" body1="rod" body2="rocker" anchor="1 0 .2" solref="{:g} 1" solimp="1 1 0.1"/>'
    )
    errors = []
    for stiff in (8e-3, 2e-3):
        peer = Peer(written(text.format(stiff)))
        peer.forward()
        traj = vi.simulate(peer.mechanism, 0.3, 1e-3)
        advance(peer, 0.3, 1e-4)
        errors.append(np.abs(traj.position[-1] - peer.state().position).max())
    assert np.ptp(traj.position, axis=0).max() > 0.02
    assert errors[1] < 2e-4
    assert errors[1] < errors[0]


WELD = """<mujoco><worldbody>
  <body name="a"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
  <body name="b" pos="1 0 0" euler="0 0 40"><freejoint/><geom type="box" size=".1 .2 .1"/></body>
</worldbody><equality><weld name="w" body1="a" body2="b" {}/></equality></mujoco>"""


@pytest.mark.parametrize("given", ["", 'anchor="0.1 0.2 0.3"'])
def test_a_weld_is_a_fixed_joint(written, given):
    mech = vi.load_mechanism(written(WELD.format(given)), strict=True)
    assert isinstance(mech.joints[-1], vi.Fixed)
    assert mech.is_closed
    state = mech.state(angular_velocity={"a": (1, 2, 3)})
    traj = vi.simulate(mech, 0.5, 1e-3, state=state)
    assert traj.drift.max() < 1e-9
    assert mech.diagnose().mobility == 6


def test_a_weld_with_a_turn_of_its_own_is_refused(written):
    path = written(WELD.format('relpose="1 0 0 1 0 0 0"'))
    with pytest.raises(vi.MechanismError, match="line 4: weld 'w' holds a turn that 'a' and 'b' do not have"):
        vi.load_mechanism(path)


JOINTS = """<mujoco><worldbody>
  <body name="a"><joint name="x" axis="0 1 0" ref="0.1"/><geom size=".1" pos=".3 0 0"/></body>
  <body name="b" pos="0 1 0"><joint name="y" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
  <body name="c" pos="0 2 0"><joint name="z" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
</worldbody><tendon><fixed name="t"><joint joint="x" coef="2"/><joint joint="z" coef="-3"/></fixed></tendon>
<equality>{}</equality></mujoco>"""


def test_equalities_of_joints_are_couplings(written):
    text = JOINTS.format('<joint name="e" joint1="y" joint2="x" polycoef="0.2 -1.5 0 0 0"/><tendon tendon1="t"/>')
    mech = vi.load_mechanism(written(text), strict=True)
    assert [force.terms for force in mech.forces] == [(("y", 0, 1.0), ("x", 0, 1.5)), (("x", 0, 2.0), ("z", 0, -3.0))]
    assert mech.body("b").position == pytest.approx([0.3 * np.cos(0.2), 1.0, -0.3 * np.sin(0.2)])  # y begins at 0.2
    traj = vi.simulate(mech, 0.5, 1e-3)
    x, y, z = (traj.coordinates[name].ravel() for name in "xyz")
    assert np.ptp(x) > 0.1
    assert y == pytest.approx(-1.5 * x, abs=1e-9)
    assert 3.0 * z == pytest.approx(2.0 * x, abs=1e-9)


def test_polynomials_of_joints_are_coordinate_maps(written):
    text = JOINTS.format('<joint name="e" joint1="y" joint2="x" polycoef="0.2 -0.5 0.3 0 0.1"/>')
    mech = vi.load_mechanism(written(text), strict=True)
    (curve,) = mech.forces
    assert curve.coordinates == (("x", 0), ("y", 0))
    assert curve.polynomials == ((0.0, -0.5, 0.3, 0.0, 0.1),)
    assert mech.body("b").position == pytest.approx([0.3 * np.cos(0.2), 1.0, -0.3 * np.sin(0.2)])  # y begins at 0.2
    traj = vi.simulate(mech, 0.3, 2e-3)
    x, y = (traj.coordinates[name].ravel() for name in "xy")
    assert np.ptp(x) > 0.05
    assert y == pytest.approx(-0.5 * x + 0.3 * x**2 + 0.1 * x**4, abs=1e-9)


def test_an_equality_of_one_joint_fixes_it(written):
    mech = vi.load_mechanism(written(JOINTS.format('<joint joint1="y" polycoef="0.3 0 0 0 0"/>')), strict=True)
    assert [joint.name for joint in mech.joints] == ["x", "z"]
    assert [body.name for body in mech.bodies] == ["a", "c"]


REFUSED = {
    '<joint joint1="y" joint2="z" polycoef="1 1 0 0 0"/><joint name="e" joint1="x" joint2="y" polycoef="0 1 2 0 0"/>': (
        "line 6: equality 'e' is a polynomial of joint 'y', which another equality moves"
    ),
    '<tendon name="e" tendon1="t" polycoef="0.5 0 0 0 0"/>': "line 6: equality 'e' with polycoef",
    '<joint joint1="nobody"/>': "MuJoCo's compiler says: .*nobody",
    "<flex/>": "line 6: <flex> is not read",
    '<include file="../other.xml"/>': "line 6: <include> of '../other.xml': there is no such file in the folder",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_held_is_refused_by_name(written, text):
    written("<mujoco/>", "other.xml")
    (written("", "x").parent / "inside").mkdir()
    with pytest.raises((vi.FileError, vi.MechanismError), match=REFUSED[text]):
        vi.load_mechanism(written(JOINTS.format(text), "inside/m.xml"))


def test_a_start_at_a_limit_leaves_all_else_in_its_place(written):
    path = written("""<mujoco><default><joint axis="0 1 0" armature="0.01"/></default><worldbody>
      <body name="a"><joint name="hip"/><geom size=".1" pos=".5 0 0"/><body name="b" pos="1 0 0">
      <joint name="knee" range="-90 -20"/><geom size=".1" pos=".5 0 0"/></body></body></worldbody></mujoco>""")
    run = vi.simulate(vi.load_mechanism(path), 1e-3, 1e-3)
    assert run.coordinates["hip"][0] == pytest.approx(0.0, abs=1e-12)
    for name in ("knee", "rotor of knee"):
        assert run.coordinates[name][0] == pytest.approx(np.radians(-20))


def test_bodies_without_a_name_get_one_that_no_other_has(written):
    path = written("""<mujoco><worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body>
      <body name="body" pos="1 0 0"><joint/><geom size=".1" pos=".1 0 0"/></body></worldbody></mujoco>""")
    assert [body.name for body in vi.load_mechanism(path).bodies] == ["body 2", "body"]


def test_shapes_of_plugins_are_left_out_where_they_give_no_mass(written):
    text = """<mujoco><asset><mesh name="ring"><plugin plugin="mujoco.sdf.torus"/></mesh></asset><worldbody>
      <body name="a"><joint axis="0 1 0"/><geom type="sdf" mesh="ring"/>
      <inertial pos=".1 0 0" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
    mech = vi.load_mechanism(written(text))
    assert mech.bodies[0].mass == 1.0
    assert "shape 'ring' of 'a' is left out" in str(mech.import_report)
    with pytest.raises(vi.MechanismError, match="line 2: shape 'ring' of 'a' gives the body its mass, and plugins"):
        vi.load_mechanism(written(re.sub("<inertial.*?/>", "", text)))


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
def test_what_mujoco_makes_of_a_file_is_read_or_refused_by_name():
    mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    plugin = """<mujoco model="m"><extension><plugin plugin="mujoco.pid"/></extension><worldbody><body name="a">
        <joint name="j" axis="0 1 0"/><geom size="1"/></body></worldbody><actuator><plugin plugin="mujoco.pid"
        joint="j"><config key="kp" value="1"/></plugin></actuator></mujoco>"""
    (entry,) = vi.load_mechanism(mujoco.MjSpec.from_string(plugin)).import_report.not_understood
    assert "plugins that act on bodies and in actuators" in entry.what
    soft = """<mujoco model="m"><worldbody><body name="a"><flexcomp name="net" rigid="true" type="grid"
        count="3 3 1" radius=".01" mass="1"/></body></worldbody></mujoco>"""
    with pytest.raises(vi.FileError, match="'m' has 1 flexible bodies"):
        vi.load_mechanism(mujoco.MjSpec.from_string(soft))


def test_includes_defaults_and_a_key(written):
    written('<mujoco><default><joint damping="0.7"/></default></mujoco>', "defaults.xml")
    written('<body name="b" pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1" pos=".2 0 0"/></body>'.join(
        ["<mujocoinclude>", "</mujocoinclude>"]), "body.xml")  # fmt: skip
    path = written("""<mujoco><compiler angle="radian"/><include file="defaults.xml"/><worldbody>
      <body name="a"><joint name="x" axis="0 1 0" ref="0.1"/><geom size=".1" pos=".3 0 0"/></body>
      <include file="body.xml"/></worldbody>
      <actuator><position name="p" joint="x" kp="2"/></actuator>
      <keyframe><key qpos="0.4 0.8 0 0.6 0" qvel="2 0 0 0" ctrl="0.5"/></keyframe></mujoco>""")
    mech = vi.load_mechanism(path, strict=True)
    assert mech.start["coordinates"]["ball"] == pytest.approx([0, 2 * np.arccos(0.8), 0])
    assert (mech.start["coordinates"]["x"], mech.start["rates"]["x"]) == (pytest.approx([0.3]), pytest.approx([2.0]))
    damping, ball, servo = mech.forces
    assert (damping.damping, ball.damping, servo.target, servo.stiffness) == (0.7, 0.7, pytest.approx(0.4), 2.0)
    assert "line 1: joint 'ball' (ball) is a Spherical" in str(mech.import_report)


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
def test_what_is_not_understood_is_listed(written):
    path = written("""<mujoco><option density="1000"/><worldbody>
      <body name="a">
      <joint name="ball" type="ball" range="0 1" limited="true"/><geom size=".1" pos=".3 0 0"/><site name="s"/></body>
      <site name="t" pos="0 .1 0"/></worldbody>
      <tendon><spatial name="w" stiffness="1"><site site="s"/><site site="t"/><pulley divisor="2"/><site site="s"/>
      <site site="t"/></spatial></tendon>
      <actuator>
        <muscle name="m" tendon="w"/>
      </actuator>
      <contact><exclude body1="a" body2="world"/></contact></mujoco>""")
    report = vi.load_mechanism(path).import_report
    told = [(entry.line, entry.what) for entry in report.not_understood]
    assert told == [
        (3, "limit of ball joint 'ball'"),
        (1, "density of <option>, the fluid around the bodies"),
        (8, "muscle 'm' without a lengthrange: write it out"),
    ]
    assert "exclude" not in str(report)  # it is kept
    with pytest.raises(vi.FileError, match=r"line 3: limit .* line 8: muscle 'm'"):
        vi.load_mechanism(path, strict=True)


@pytest.mark.parametrize(
    ("joint", "motor"),
    [('actuatorfrcrange="-1 1"', ""), ("", 'ctrllimited="true" ctrlrange="-1 1"'), ("", 'forcerange="-1 1"')],
)
def test_bounds_of_actuators_are_told(written, joint, motor):
    path = written(f"""<mujoco><worldbody>
      <body><joint name="j" {joint}/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <actuator>
        <motor name="m" joint="j" {motor}/></actuator></mujoco>""")
    told = [(entry.line, entry.what) for entry in vi.load_mechanism(path).import_report.approximated]
    assert (4, "bounds of controls and forces of actuators: left out, 1 in all") in told


def test_without_mujoco_a_message_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(vi.FileError, match=r'pip install "varint-dynamics\[mjcf\]"'):
        vi.load_mechanism(written(TREE))


BALLS = """<mujoco model="balls"><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1" euler="0.3 0.2 0.1">
    <joint name="one" type="ball" armature="0.3" damping="0.2" frictionloss="0.15"/>
    <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.2 0.4 0.01 -0.02 0.03"/>
    <body name="b" pos="0.5 0 0" euler="0.5 0 0.7">
      <joint name="two" type="ball" damping="0.4" frictionloss="0.1"{}/>
      <inertial pos="0.2 0 0.1" mass="1" fullinertia="0.2 0.1 0.15 0.01 0 0.02"/>
    </body></body></worldbody></mujoco>"""


def test_balls_have_armature_damping_and_friction(written):
    """Accelerations at random poses and rates, where friction does not stick, are MuJoCo's."""
    path, rng = written(BALLS.format("")), np.random.default_rng(5)
    peer = Peer(path)
    peer.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
    peer.model.opt.tolerance = 1e-14
    peer.mechanism = vi.load_mechanism(path)
    assert not peer.report.not_understood
    assert [type(force).__name__ for force in peer.mechanism.forces] == 2 * ["JointFriction", "JointDamper"]
    assert peer.mechanism.body("a").inertia[0, 0] == pytest.approx(0.6)
    for _ in range(5):
        peer.randomise(rng)
        peer.data.qvel[:] = rng.choice([-1, 1], 6) * rng.uniform(0.5, 2.0, 6)
        peer.forward()
        assert peer.errors_of_accelerations() < 1e-9


def test_armature_of_a_ball_between_bodies_is_left_out_aloud(written):
    path = written(BALLS.format(' armature="0.05"'))
    with pytest.warns(vi.LeftOutWarning, match=r"line 6: armature of joint 'two', 0\.05 kg m\^2, is left out: it is"):
        report = vi.load_mechanism(path).import_report
    assert [entry.line for entry in report.not_understood] == [6]


def test_balls_are_written(written, tmp_path):
    path = tmp_path / "again.xml"
    vi.save_mechanism(vi.load_mechanism(written(BALLS.format(""))), path)
    again = vi.load_mechanism(path, strict=True)
    found = {force.name: vars(force) for force in again.forces}
    assert (found["damping of two"]["damping"], found["friction of two"]["effort"]) == (0.4, 0.1)
    turned = vi.Mechanism("turned", again.bodies[:1], [vi.Spherical("one", "a", "world", point=(0, 0, 1))])
    forces = [vi.JointFriction("f", joint="one", effort=0.1)]
    with pytest.raises(vi.FileError, match="about the axes of the parent"):
        vi.save_mechanism(vi.Mechanism("turned", turned.bodies, turned.joints, forces=forces), path)
