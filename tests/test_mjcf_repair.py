"""MJCF that is refused as it is, and read with `repair=True`: what becomes of it, against MuJoCo and by hand."""

import re

import numpy as np
import pytest
from mujoco_peer import Peer, with_first_parameter_twice
from packaging.version import Version
from test_mjcf import MOVED, check_bodies

import varint as vi
from varint.files.mjcf.assembly import _gaps, assemble_welds
from varint.mathematics.elasticity.spring_net import SpringNet
from varint.model.rotation_vectors import rotation_matrix

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo

ARM = '<body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>{}<geom name="g" size=".1" pos=".3 0 .2"/></body>'
TAKEN = ("pos", "quat", "euler")  # attributes that differ with the frame of a body


def model(inside, before="", after=""):
    return f'<mujoco model="m">{before}\n<worldbody>\n{inside}\n</worldbody>{after}</mujoco>'


def repaired(path):
    """The mechanism, which is refused as it is, by an error that names the option."""
    with pytest.raises((vi.FileError, vi.MechanismError), match=r"load the file with repair=True"):
        vi.load_mechanism(path)
    mechanism = vi.load_mechanism(path, repair=True)
    assert mechanism.import_report.repaired
    return mechanism


def changes(mechanism):
    return " ".join(entry.what for entry in mechanism.import_report.repaired)


def closes(mechanism, t=0.1):
    traj = vi.simulate(mechanism, t, 2e-3)
    assert traj.drift.max() < 1e-12
    return traj


# ------------------------------------------------------------------------------------------------- older files


@pytest.mark.parametrize(
    ("text", "right", "what"),
    [
        (
            model(ARM.format(""), '<option collision="predefined" apirate="100"/>'),
            model(ARM.format("")),
            "'collision' of <option>: left out",
        ),
        (
            model(ARM.format('<inertial mass="10"/>'), '<compiler inertiafromgeom="true"/>'),
            model(ARM.format("")),
            "<inertial> of 'arm' without pos: left out",
        ),
        (
            model(ARM.format('<body name="b"><joint type="fixed"/><geom size=".2"/></body>')),
            model(ARM.format('<body name="b"><geom size=".2"/></body>')),
            "<joint> of type 'fixed' of 'b': left out",
        ),
        (
            model(
                ARM.format('<body name="b"><joint name="ball" type="ball"/><geom size=".2"/></body>'),
                after='<tendon><fixed name="t"><joint joint="ball" coef="2"/></fixed></tendon><equality><tendon'
                ' name="e" tendon1="t"/></equality><actuator><motor name="a" tendon="t"/></actuator>',
            ),
            model(ARM.format('<body name="b"><joint name="ball" type="ball"/><geom size=".2"/></body>')),
            "<tendon> 'e' of tendon 't': left out with it <motor> 'a' of tendon 't': left out with it",
        ),
    ],
)
def test_older_elements_and_attributes(text, right, what, written):
    read, by_hand = repaired(written(text)), vi.load_mechanism(written(right, "right.xml"))
    assert what in changes(read)
    assert not by_hand.import_report.repaired
    assert [joint.name for joint in read.joints] == [joint.name for joint in by_hand.joints]
    assert [force.name for force in read.forces] == [force.name for force in by_hand.forces]
    for one, other in zip(read.bodies, by_hand.bodies, strict=True):
        assert one.mass == other.mass
        assert np.array_equal(one.inertia, other.inertia)
        assert np.array_equal(one.position, other.position)


GLOBAL = model(
    """<body name="a" pos="5 5 5" euler="10 20 30"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="h" axis="0 1 0" pos="0 0 1"/><geom type="capsule" fromto="0 0 1 0 0.2 0.4" size=".05"/>
    <body name="b"><joint name="k" axis="0 -1 0" pos="0 .2 .4" damping="0.1"/><site name="s" pos=".1 .2 0"/>
    <inertial pos=".1 .2 0" mass="2" diaginertia=".1 .2 .25" euler="0 0 20"/></body></body>
    <site name="o" pos="0 0 2"/>""",
    '<compiler coordinate="global"/>',
    '<tendon><spatial stiffness="30" springlength="1"><site site="s"/><site site="o"/></spatial></tendon>',
)
LOCAL = model(
    """<body name="a" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="h" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0.2 -0.6" size=".05"/>
    <body name="b" pos="0 .2 -.6"><joint name="k" axis="0 -1 0" damping="0.1"/><site name="s" pos=".1 0 -.4"/>
    <inertial pos=".1 0 -.4" mass="2" diaginertia=".1 .2 .25" euler="0 0 20"/></body></body>
    <site name="o" pos="0 0 2"/>""",
    "",
    '<tendon><spatial stiffness="30" springlength="1"><site site="s"/><site site="o"/></spatial></tendon>',
)


@pytest.mark.slow
def test_global_coordinates(written):
    """The same accelerations as with frames of bodies in one another, written by hand, and as of MuJoCo's model."""
    read, by_hand = repaired(written(GLOBAL)), vi.load_mechanism(written(LOCAL, "local.xml"))
    assert "the frames of 2 bodies are those of the world" in changes(read)
    at = {"coordinates": {"x + h": [0.3, 0.8], "k": [-0.5]}, "rates": {"x + h": [1.0, -2.0], "k": [3.0]}}
    ours, theirs = (vi.accelerations(one, one.state(**at)) for one in (read, by_hand))
    assert ours.linear == pytest.approx(theirs.linear, abs=1e-10)
    assert ours.angular == pytest.approx(theirs.angular, abs=1e-10)
    assert [one.mass for one in read.bodies] == pytest.approx([one.mass for one in by_hand.bodies])
    peer = Peer(written(GLOBAL), repair=True)
    check_bodies(peer)
    peer.randomise(np.random.default_rng(1))
    assert peer.errors_of_accelerations() < MOVED


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('pos="0 0 1"/>', "/>", "<joint> of 'a' needs pos beside coordinate='global'"),
        ('fromto="0 0 1 0 0.2 0.4" size=".05"', 'size=".05 1"', "<geom> of 'a' needs pos or fromto"),
        ("<tendon>", '<keyframe><key qpos="0 0 0"/></keyframe><tendon>', "<key> beside coordinate='global'"),
        ("<tendon>", '<equality><weld body1="a" body2="b"/></equality><tendon>', "<weld> beside coordinate='global'"),
    ],
)
def test_global_coordinates_that_are_not_determined(before, after, words, written):
    assert before in GLOBAL
    with pytest.raises(vi.FileError, match=words):
        vi.load_mechanism(written(GLOBAL.replace(before, after, 1)), repair=True)


# --------------------------------------------------------------------------------------------------- expansion

CHILD = model(
    '<body name="arm"><joint name="j" axis="0 1 0" stiffness="3"/><geom size=".1" pos=".3 0 .2"/></body>',
    '<default><geom density="500"/></default>',
)
PARENT = model(
    '<replicate count="3" euler="0 0 90" sep="-"><frame pos="2 0 0"><attach model="c" body="arm" prefix="p_"/></frame>'
    "</replicate>",
    '<asset><model name="c" file="child.xml"/></asset>',
)


def test_attached_models(written):
    written(CHILD, "child.xml")
    path = written(PARENT)
    read = repaired(path)
    assert "<model> 'c': taken as MuJoCo's compiler expands it" in changes(read)
    assert "<attach> of model 'c': taken as MuJoCo's compiler expands it" in changes(read)
    assert [body.name for body in read.bodies] == ["p_arm-0", "p_arm-1", "p_arm-2"]
    assert read.body("p_arm-1").position == pytest.approx([0.0, 2.3, 0.2])
    assert read.body("p_arm-1").mass == pytest.approx(500 * 4 / 3 * np.pi * 1e-3)
    assert read.joint("p_j-1").axis == pytest.approx([-1.0, 0.0, 0.0])
    assert sum(isinstance(force, vi.TorsionSpring) for force in read.forces) == 3
    lines = {entry.line for entry in read.import_report.read if "joint 'p_j" in entry.what}
    files = {entry.file for entry in read.import_report.read if "joint 'p_j" in entry.what}
    assert (lines, {file.rsplit("/")[-1] for file in files}) == ({3}, {"child.xml"})
    peer = Peer(path, repair=True)
    check_bodies(peer)
    peer.randomise(np.random.default_rng(1))
    assert peer.errors_of_accelerations() < MOVED


def test_attached_models_are_read_from_allowed_folders_alone(written, tmp_path):
    written(CHILD, "child.xml")
    inner = tmp_path / "inner"
    inner.mkdir()
    path = inner / "m.xml"
    path.write_text(PARENT.replace("child.xml", "../child.xml"))
    with pytest.raises(vi.FileError, match="there is no such file in the folder"):
        vi.load_mechanism(path, repair=True)
    assert len(vi.load_mechanism(path, repair=True, packages=[tmp_path]).bodies) == 3
    (inner / "child.xml").write_text(CHILD.replace("<default>", f'<include file="{tmp_path / "child.xml"}"/><default>'))
    path.write_text(PARENT)
    with pytest.raises(vi.FileError, match="there is no such file in the folder"):
        vi.load_mechanism(path, repair=True)


def test_models_that_attach_one_another_are_refused(written):
    written(PARENT.replace("child.xml", "m.xml"), "child.xml")
    with pytest.raises(vi.FileError, match="which is open already, or too many of them"):
        vi.load_mechanism(written(PARENT), repair=True)


RING = model(
    '<body name="ring"><freejoint/><geom type="sdf" mesh="ring"><plugin instance="i"/></geom></body>',
    '<extension><plugin plugin="mujoco.sdf.torus"><instance name="i"><config key="radius1" value="0.4"/></instance>'
    '</plugin></extension><asset><mesh name="ring"><plugin instance="i"/></mesh></asset>',
)


@pytest.mark.slow
def test_meshes_that_plugins_make(written):
    read = repaired(written(RING))
    assert "shape 'ring' of 'ring', of an SDF: MuJoCo's compiler makes its mesh" in changes(read)
    m = mujoco.MjModel.from_xml_string(RING)
    body = read.body("ring")
    assert body.mass == m.body_mass[1]
    assert np.linalg.eigvalsh(body.inertia) == pytest.approx(np.sort(m.body_inertia[1]), rel=1e-12)
    of_no_shape = r"plugins are not run: give it an <inertial>$"
    with pytest.raises(vi.MechanismError, match=of_no_shape):
        vi.load_mechanism(written(RING.replace("mujoco.sdf.torus", "mujoco.elasticity.cable")), repair=True)


def test_meshes_that_the_compiler_makes(written):
    text = model(
        ARM.format('<geom type="mesh" mesh="w" mass="0.2"/>'),
        '<asset><mesh name="w" builtin="sphere" params="3"/></asset>',
    )
    read = repaired(written(text))
    assert "<mesh> 'w' with builtin=: taken as MuJoCo's compiler makes it" in changes(read)
    assert read.body("arm").mass == pytest.approx(0.2 + 1000 * 4 / 3 * np.pi * 1e-3)
    for params, words in (("100000", "at most 500, got 100000"), ("x", "must be numbers, got 'x'")):
        with pytest.raises(vi.FileError, match=words):
            vi.load_mechanism(written(text.replace('params="3"', f'params="{params}"')), repair=True)


# ---------------------------------------------------------------------------------------------------- welds

CRANK = model(
    """<body name="a"><joint name="one" axis="0 0 1" stiffness="2"/><geom type="box" size=".5 .1 .1" pos=".5 0 0"/>
    <body name="b" pos="1 0 0"><joint name="two" axis="0 0 1"/><geom type="box" size=".5 .1 .1" pos=".5 0 0"/>
    <body name="c" pos="1 0 0"><joint name="three" axis="0 0 1"/><geom size=".1" pos=".1 0 0"/></body></body></body>
    <body name="d" pos="{place}"><joint name="x" type="slide" axis="1 0 0" {spring}/><geom size=".3"/></body>""",
    "",
    '<equality><weld name="w" body1="d" body2="c" relpose="0 0 0 {quat}"/></equality>',
)
TURN = np.deg2rad(40.0)


@pytest.mark.slow
def test_welds_with_a_turn_are_assembled(written):
    """A planar arm whose hand is welded to a slider, by 40 degrees: its place and orientation by hand."""
    quat = f"{np.cos(TURN / 2)} 0 0 {np.sin(TURN / 2)}"
    read = repaired(written(CRANK.format(place="1.5 0.4 0", quat=quat, spring="")))
    assert re.search(r"weld 'w' holds a turn .*body 'c' moved by [0-9.]+ m and turned by 0.698 rad", changes(read))
    a, b, c, d = (read.body(name) for name in "abcd")
    arm = rotation_matrix(c.quat_wxyz)
    assert arm @ [1.0, 0.0, 0.0] == pytest.approx([np.cos(TURN), np.sin(TURN), 0.0], abs=1e-12)
    elbow = rotation_matrix(a.quat_wxyz) @ [1.0, 0.0, 0.0]
    wrist = elbow + rotation_matrix(b.quat_wxyz) @ [1.0, 0.0, 0.0]
    assert wrist == pytest.approx(d.position, abs=1e-12)
    assert c.position - d.position == pytest.approx(0.1 * arm[:, 0], abs=1e-12)
    assert d.position[1] == pytest.approx(0.4)
    spring = read.force("spring of one")
    turned = np.arctan2(elbow[1], elbow[0])
    assert spring.rest_angle == pytest.approx(-turned)  # which stays at the zero of the file
    closes(read)


def test_assembled_pose_is_where_constraints_of_mujoco_hold(written):
    quat = f"{np.cos(TURN / 2)} 0 0 {np.sin(TURN / 2)}"
    m = mujoco.MjModel.from_xml_string(CRANK.format(place="1.5 0.4 0", quat=quat, spring=""))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert (d.efc_type[:6] == mujoco.mjtConstraint.mjCNSTR_EQUALITY).all()
    assert np.abs(d.efc_pos[:6]).max() > 0.3
    assert assemble_welds(m, d)
    mujoco.mj_forward(m, d)
    assert np.abs(d.efc_pos[:6]).max() < 1e-12


def test_derivatives_of_gaps(written):
    """Against differences, where the frames coincide: away from there that of the turn is approximate."""
    quat = f"{np.cos(TURN / 2)} 0 0 {np.sin(TURN / 2)}"
    m = mujoco.MjModel.from_xml_string(CRANK.format(place="1.5 0.4 0", quat=quat, spring=""))
    d = mujoco.MjData(m)
    assemble_welds(m, d)
    _, rows = _gaps(m, d, [0])
    place, h = d.qpos.copy(), 1e-6
    for k in range(m.nv):
        sides = []
        for sign in (1.0, -1.0):
            d.qpos[:] = place
            d.qpos[k] += sign * h
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            sides.append(_gaps(m, d, [0])[0])
        assert rows[:, k] == pytest.approx((sides[0] - sides[1]) / (2 * h), abs=1e-9)


def test_welds_that_cannot_be_assembled_are_refused(written):
    out_of_plane = CRANK.format(place="1.5 0.4 0", quat="0.9 0.4 0 0", spring="")
    with pytest.raises(vi.MechanismError, match=r"'w' holds a turn that .* and no pose near it is assembled"):
        vi.load_mechanism(written(out_of_plane), repair=True)
    of_a_ball = model(
        '<body name="a"><joint name="ball" type="ball" {}/><geom size=".1" pos=".3 0 0"/></body>',
        after='<equality><weld name="w" body1="a" relpose="0 0 0 0.9 0.4 0 0"/></equality>',
    )
    with pytest.raises(vi.MechanismError, match="no pose near it is assembled"):
        vi.load_mechanism(written(of_a_ball.format('stiffness="2"')), repair=True)


# --------------------------------------------------------------------------------------------- redundant slides

SLIDES = """<body name="box"><joint name="a" type="slide" axis="1 0 0" {a}/><joint name="b" type="slide" axis="0 1 0"/>
<joint name="c" type="slide" axis="0 0 1" damping="2"/><joint name="d" type="slide" axis="1 1 0" {d}/>
<geom type="box" size=".1 .1 .1" mass="1"/></body>"""


def test_redundant_slides_are_left_out(written):
    """A box on four slides falls against its damper as on three."""
    read = repaired(written(model(SLIDES.format(a="", d=""))))
    assert "slide 'd' of 'box' moves along its other slides: they allow a motion twice; left out" in changes(read)
    (joint,) = read.joints
    assert (joint.name, joint.dof) == ("a + b + c", 3)
    traj = closes(read, 0.5)
    fallen = -9.81 / 2.0 * (0.5 - (1.0 - np.exp(-1.0)) / 2.0)
    assert traj.position[-1, 0] == pytest.approx([0.0, 0.0, fallen], abs=1e-5)
    of_another = repaired(written(model(SLIDES.format(a="", d='stiffness="3"'))))
    assert of_another.joints[0].name == "a + c + d"  # along d a spring acts


def test_slides_along_which_something_acts_are_kept(written):
    for given in ({"a": 'stiffness="1"', "d": 'stiffness="1"'},):
        text = model(SLIDES.format(**given).replace('name="b" type="slide"', 'name="b" type="slide" armature="1"'))
        with pytest.raises(vi.MechanismError, match="allow a motion twice"):
            vi.load_mechanism(written(text), repair=True)
    between = SLIDES.format(a="", d="").replace('<joint name="d"', '<joint name="h" axis="0 0 1"/><joint name="d"')
    with pytest.raises(vi.MechanismError, match="allow a motion twice"):  # at the zero pose alone
        vi.load_mechanism(written(model(between)), repair=True)


# ----------------------------------------------------------------------------------------------- flexible bodies

FLEX = (
    '<flexcomp name="f" type="grid" count="{count}" spacing=".1 .1 .1" radius=".01" dim="{dim}" mass="0.5" pos="0 0 1"'
    ' {more}>{inside}<contact selfcollide="none"/></flexcomp>'
)
ROPE = FLEX.format(count="5 1 1", dim=1, more="", inside='<edge equality="true"/><pin id="0"/>')
SOLID = FLEX.format(
    count="3 3 2", dim=3, more="", inside='<elasticity young="5e4" poisson="0.2" damping="0.002"/><pin id="0 1"/>'
)
NET = FLEX.format(count="5 1 1", dim=1, more="", inside='<edge stiffness="50" damping="0.3"/><pin id="0"/>')
CLOTH = FLEX.format(count="4 3 1", dim=2, more="", inside='<edge equality="true"/><pin id="0"/>')
CUBE = FLEX.format(count="3 3 3", dim=3, more='dof="trilinear"', inside='<edge equality="strain"/><pin id="0"/>')


def displaced(m, size, speed, seed=0):
    """MuJoCo's data with its vertices displaced at random: their displacements, velocities, and passive forces."""
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    rng, places = np.random.default_rng(seed), d.flexvert_xpos.copy()
    free = m.body_dofnum[m.flex_vertbodyid] == 3
    dofs = (m.body_dofadr[m.flex_vertbodyid[free]][:, None] + np.arange(3)).ravel()
    d.qpos[dofs] = size * rng.standard_normal(len(dofs))  # of slides alone
    d.qvel[dofs] = speed * rng.standard_normal(len(dofs))
    x, v = places.copy(), np.zeros_like(places)
    x[free] += d.qpos[dofs].reshape(-1, 3)
    v[free] = d.qvel[dofs].reshape(-1, 3)
    mujoco.mj_forward(m, d)
    return x, v, free, d.qfrc_passive[dofs].reshape(-1, 3)


def test_ropes_are_rods(written):
    """The freedom and masses of MuJoCo's model; a rope whose equality gets stiffer nears this one."""
    text = model(ROPE)
    read = repaired(written(text))
    assert "'f' of 5 vertices, 0.4 kg, is 4 bodies on three slides each, and 4 rods" in changes(read)
    m = mujoco.MjModel.from_xml_string(text)
    assert [body.mass for body in read.bodies] == pytest.approx(m.body_mass[1:])
    assert read.diagnose().mobility == m.nv - m.flex_edgenum[0] == 8
    traj = closes(read, 0.3)
    errors = []
    for time in (0.01, 0.0025):
        m.opt.timestep, m.eq_solref[:, 0], m.eq_solimp[:, :2] = 2e-4, time, 0.99
        d = mujoco.MjData(m)
        mujoco.mj_step(m, d, 1500)
        errors.append(np.abs(d.xpos[1:] - traj.position[-1]).max())
    assert errors[1] < 0.3 * errors[0] < 0.02


def test_elastic_solids_have_the_forces_of_mujoco(written):
    text = model(SOLID + ARM.format(""))
    read = repaired(written(text))
    assert "is a DeformableBody (stvk) of 24 tetrahedra, E 50000 Pa, nu 0.2" in changes(read)
    solid = read.force("f")
    assert solid.mass == pytest.approx(0.5)
    assert [(part.body, part.vertices) for part in solid.attach] == [("world", (0, 1))]
    if Version(mujoco.__version__) < Version("4"):  # which takes the first Lamé parameter twice
        changed = 'young="{!r}" poisson="{!r}"'.format(*with_first_parameter_twice(5e4, 0.2))
        solid = repaired(written(text.replace('young="5e4" poisson="0.2"', changed))).force("f")
    m = mujoco.MjModel.from_xml_string(text)
    x, _, free, forces = displaced(m, 0.01, 0.0)
    assert solid.mesh.forces(x)[free] == pytest.approx(forces, abs=1e-11 * np.abs(forces).max())
    m.opt.timestep = 1e-7  # over which MuJoCo differences the strain
    x, v, free, forces = displaced(m, 0.01, 1.0)
    whole = solid.mesh.forces(x) + solid.mesh.forces(x, solid.mesh.viscosity(x, v))
    assert whole[free] == pytest.approx(forces, abs=1e-5 * np.abs(forces).max())


def test_springs_of_edges_have_the_forces_of_mujoco(written):
    text = model(NET + ARM.format(""))
    read = repaired(written(text))
    assert re.search(r"is a ParticleNet of \d+ springs", changes(read))
    net = read.force("f")
    m = mujoco.MjModel.from_xml_string(text)
    assert net.masses[np.setdiff1d(np.arange(5), net.attach[0].vertices)] == pytest.approx(m.body_mass[1:5])
    x, v, free, forces = displaced(m, 0.01, 1.0)
    mesh = net.mesh
    assert isinstance(mesh, SpringNet)
    whole = mesh.forces(x) + mesh.forces(x, mesh.viscosity(x, v))
    assert whole[free] == pytest.approx(forces, abs=1e-11 * np.abs(forces).max())


def test_bending_leaves_other_flexible_bodies_alone(written):
    bent = """<flexcomp name="bent" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="2 0 0" mass="1" dim="2">
        <elasticity young="1e4" poisson="0" thickness="1e-2" elastic2d="bend"/></flexcomp>"""
    read = repaired(written(model(bent + NET + ARM.format(""))))
    assert re.search(r"'bent' .* is left out: it has bending stiffness", changes(read))
    assert isinstance(read.force("f"), vi.ParticleNet)


@pytest.mark.slow
def test_kept_edges_of_cloth_are_stiff_springs(written):
    """At rest below its pin the cloth is as long as it was, but for the share that is told."""
    read = repaired(written(model(CLOTH + ARM.format(""))))
    assert re.search(
        r"springs of .* N/m, critically damped; the weight of the whole net on one of them would stretch it by 1%",
        changes(read),
    )
    net = read.force("f")
    lengths = np.linalg.norm(np.diff(net.points[net.springs], axis=1)[:, 0], axis=1)
    assert net.stiffness * 0.01 * lengths == pytest.approx(net.mass * 9.81)
    free = net.masses[net.springs]
    both = (free > 0.0).all(axis=1)
    reduced = free[both].prod(axis=1) / free[both].sum(axis=1)
    assert net.damping[both] == pytest.approx(2.0 * np.sqrt(net.stiffness[both] * reduced))
    traj = vi.simulate(read, 0.1, 1e-3)
    stretched = np.linalg.norm(np.diff(traj.vertices["f"][:, net.springs], axis=2)[:, :, 0], axis=2) / lengths
    assert np.abs(stretched - 1.0).max() < 0.02


def test_cells_without_strain_are_rigid(written):
    """Eight corners, one of them pinned, and the others with a seventh of the mass each."""
    read = repaired(written(model(f'<body name="base"><joint name="s" type="slide"/><geom size=".1"/>{CUBE}</body>')))
    assert "is a rigid body in place of its one cell" in changes(read)
    body = read.body("f")
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.1 + [0.0, 0.0, 1.0]
    free = corners[1:]
    assert body.mass == pytest.approx(0.5)
    assert body.position == pytest.approx(free.mean(axis=0))
    apart = free - free.mean(axis=0)
    inertia = 0.5 / 7 * sum(arm @ arm * np.eye(3) - np.outer(arm, arm) for arm in apart)
    R = rotation_matrix(body.quat_wxyz)
    assert R @ body.inertia @ R.T == pytest.approx(inertia)
    joint = read.joint("f on base")
    assert isinstance(joint, vi.Spherical)
    assert joint.point == pytest.approx(corners[0])
    closes(read)


def test_flexible_bodies_that_are_not_read_are_left_out_by_name(written):
    shell = CLOTH.replace('<edge equality="true"/>', '<elasticity young="1e4" thickness="0.01" elastic2d="both"/>')
    read = repaired(written(model(shell + ARM.format(""))))
    assert re.search(r"'f' of 12 vertices, 0.458 kg, is left out: ", changes(read))
    assert [body.name for body in read.bodies] == ["arm"]
    with pytest.raises(vi.MechanismError, match="nothing can move"):
        vi.load_mechanism(written(model(shell)), repair=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (model(ROPE.replace("5 1 1", "100 100 100")), "has 1e[+]06 vertices, more than 20000"),
        (model(ROPE.replace('"grid"', '"mesh" file="a.obj"')), "of files and plugins is not read"),
        (
            model(ROPE, after='<equality><weld body1="f_2"/></equality>'),
            "a connect or weld holds a vertex of flexible body 'f'",
        ),
    ],
)
def test_flexible_bodies_that_are_refused(text, words, written):
    with pytest.raises((vi.FileError, vi.MechanismError), match=words):
        vi.load_mechanism(written(text), repair=True)


def test_a_weld_that_is_not_active_refuses_no_flexible_body(written):
    idle = '<equality><weld body1="f_2" active="false"/></equality>'
    read = repaired(written(model(ROPE, after=idle)))
    assert "is not active: left out" in str(read.import_report)


def test_flexible_bodies_of_models_made_by_mujoco():
    spec = mujoco.MjSpec.from_string(model(SOLID + ARM.format("")))
    with pytest.raises(vi.FileError, match=r"1 flexible bodies \(flex\), which are not read: .* repair=True"):
        vi.load_mechanism(spec)
    assert vi.load_mechanism(spec, repair=True).force("f").E == 5e4
    spec.flexes[0].name = ""
    assert vi.load_mechanism(spec, repair=True).force("flex 0").E == 5e4
