"""URDF: what is read equals what is described by hand, and what is not there is told."""

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix

UNIT = '<inertia ixx="0.02" iyy="0.03" izz="0.04"/>'


def link(name, mass=1.0, at="0 0 0", inertia=UNIT, more=""):
    inertial = f'<inertial><origin xyz="{at}"/><mass value="{mass}"/>{inertia}</inertial>' if mass else ""
    return f'<link name="{name}">{inertial}{more}</link>'


def joint(name, kind, a, b, at="0 0 0", axis="0 1 0", more="", rpy="0 0 0"):
    ends = f'<parent link="{a}"/><child link="{b}"/>'
    return (
        f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{at}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'
    )


@pytest.fixture
def read(tmp_path):
    """A function of elements, one a line from the second on, that gives the mechanism."""

    def read(*elements, **options):
        path = tmp_path / "robot.urdf"
        path.write_text('<robot name="robot">\n' + "\n".join(elements) + "\n</robot>\n")
        return vi.load_mechanism(path, **options)

    return read


def told(entries):
    return [(entry.line, entry.what) for entry in entries]


def test_arm_is_the_one_described_by_hand(read):
    """Origins with turns, of joints and of inertials: body axes are those of the link."""
    tilted = '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.04"/>'
    forearm = (
        '<link name="forearm"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"/><mass value="2"/>'
        f"{tilted}</inertial></link>"
    )
    read_in = read(
        link("base", 5.0),
        link("arm", 1.0, "0 0 0.25"),
        forearm,
        joint("shoulder", "continuous", "base", "arm", "0.1 0 0.5", "0 1 0", rpy="0 0 0.7"),
        joint("elbow", "prismatic", "arm", "forearm", "0 0 0.5", "1 2 2", rpy="0.2 0 0"),
    )
    R_arm = matrix_from_vector([0, 0, 0.7])
    R = R_arm @ matrix_from_vector([0.2, 0, 0])
    elbow = np.array([0.1, 0, 1.0])
    turn = matrix_from_vector([0, 0, 0.5]) @ matrix_from_vector([0, -0.4, 0]) @ matrix_from_vector([0.3, 0, 0])
    moments = np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]])
    arm, fore = (read_in.body(name) for name in ("arm", "forearm"))
    assert [body.name for body in read_in.bodies] == ["arm", "forearm"]
    assert arm.position == pytest.approx([0.1, 0, 0.75], abs=1e-15)
    assert fore.position == pytest.approx(elbow + R @ [0.1, 0.2, 0.3], abs=1e-15)
    assert rotation_matrix(fore.quat_wxyz) == pytest.approx(R, abs=1e-15)
    assert fore.inertia == pytest.approx(turn @ moments @ turn.T, abs=1e-15)
    by_hand = [
        vi.Revolute("shoulder", "world", "arm", point=(0.1, 0, 0.5), axis=R_arm @ [0, 1, 0]),
        vi.Prismatic("elbow", "arm", "forearm", point=elbow, axis=R @ [1, 2, 2]),
    ]
    for one, other in zip(read_in.joints, by_hand, strict=True):
        assert (type(one), one.name, one.body_a, one.body_b) == (type(other), other.name, other.body_a, other.body_b)
        assert np.array([one.point, one.axis]) == pytest.approx(np.array([other.point, other.axis]), abs=1e-15)


def test_fixed_links_are_one_body(read):
    """As a composite of them; the root is the world, with what is fixed to it."""
    read_in = read(
        link("base", 5.0),
        link("column", 5.0),
        link("arm", 1.0, "0 0 0.25"),
        link("tool", 0.5, "0.1 0 0"),
        link("tip", 0.0),
        joint("bolts", "fixed", "base", "column", "0 0 1"),
        joint("shoulder", "continuous", "column", "arm"),
        joint("wrist", "fixed", "arm", "tool", "0 0 0.5", rpy="0 0 0.3"),
        joint("end", "fixed", "tool", "tip", "0 0 1"),
    )
    turn = matrix_from_vector([0, 0, 0.3])
    parts = [
        vi.Body("arm", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]), position=(0, 0, 1.25)),
        vi.Body(
            "tool",
            mass=0.5,
            inertia=np.diag([0.02, 0.03, 0.04]),
            position=np.array([0, 0, 1.5]) + turn @ [0.1, 0, 0],
            quat_wxyz=(np.cos(0.15), 0, 0, np.sin(0.15)),
        ),
    ]
    whole = vi.Body.composite("arm", parts)
    (body,) = read_in.bodies
    assert (body.name, body.mass) == ("arm", 1.5)
    assert body.position == pytest.approx(whole.position, abs=1e-15)
    assert body.inertia == pytest.approx(whole.inertia, abs=1e-15)
    report = read_in.import_report
    assert dict(report.body_of) == {"base": "world", "column": "world", "arm": "arm", "tool": "arm", "tip": "arm"}
    assert (5, "link 'tool' is part of body 'arm'") in told(report.read)
    assert not report.not_understood


def test_mimic_holds_multiplier_and_offset(read):
    mimic = '<mimic joint="first" multiplier="-2" offset="0.3"/>'
    read_in = read(
        link("base", 0.0),
        link("a", 1.0, "0 0 -0.5"),
        link("b", 1.0, "0 0 -0.2"),
        joint("first", "continuous", "base", "a"),
        joint("second", "continuous", "a", "b", "0 0 -1", more=mimic),
    )
    assert any("zero at 0.3" in what for _, what in told(read_in.import_report.approximated))
    assert rotation_matrix(read_in.body("b").quat_wxyz) == pytest.approx(matrix_from_vector([0, 0.3, 0]), abs=1e-15)
    traj = vi.simulate(read_in, 0.5, 0.01, state=read_in.state(coordinates={"first": 0.4}))
    first, second = traj.coordinates["first"], traj.coordinates["second"]
    assert np.ptp(first) > 0.1
    assert second == pytest.approx(-2 * first, abs=1e-9)


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
def test_a_chain_of_mimics(read):
    """b follows a, c follows b, each by an offset; what mimics a fixed joint is not understood."""
    read_in = read(
        link("base", 0.0),
        *(link(name, 1.0, "0 0 -0.3") for name in "abcd"),
        joint("a", "continuous", "base", "a"),
        joint("c", "continuous", "b", "c", "0 0 -0.5", more='<mimic joint="b" multiplier="3" offset="0.1"/>'),
        joint("b", "continuous", "a", "b", "0 0 -0.5", more='<mimic joint="a" multiplier="-1" offset="0.2"/>'),
        joint("d", "continuous", "base", "d", "0 1 0", more='<mimic joint="d2"/>'),
        link("e"),
        joint("d2", "fixed", "d", "e"),
    )
    assert rotation_matrix(read_in.body("c").quat_wxyz) == pytest.approx(matrix_from_vector([0, 0.9, 0]), abs=1e-15)
    at = read_in.coordinates(read_in.state(coordinates={"a": 0.3}))
    assert (at["b"], at["c"]) == (pytest.approx(-0.3), pytest.approx(-0.9))
    assert [what for _, what in told(read_in.import_report.not_understood)] == [
        "joint 'd' mimics 'd2': both must be revolute or prismatic, and close no loop"
    ]


@pytest.mark.parametrize(("upper", "stops"), [(2.0, 1), (1.5, 2)])
def test_limits_of_what_mimics_are_kept_where_they_bind(read, upper, stops):
    """The first joint reaches 1, and the second mimics it twice as far."""
    mimic = f'<mimic joint="first" multiplier="2"/><limit lower="-2" upper="{upper}"/>'
    read_in = read(
        link("base", 0.0),
        link("a", 1.0, "0 0 -0.5"),
        link("b", 1.0, "0 0 -0.2"),
        joint("first", "revolute", "base", "a", more='<limit lower="-1" upper="1"/>'),
        joint("second", "revolute", "a", "b", "0 0 -1", more=mimic),
    )
    assert sum(isinstance(force, vi.JointStop) for force in read_in.forces) == stops


def test_what_acts_along_a_joint(read):
    more = '<limit lower="0.2" upper="1" effort="3" velocity="4"/><dynamics damping="0.1" friction="0.2"/>'
    read_in = read(link("base", 0.0), link("a", 1.0, "0 0 1"), joint("hinge", "revolute", "base", "a", more=more))
    kinds = {type(force): force for force in read_in.forces}
    assert set(kinds) == {vi.JointStop, vi.JointDamper, vi.JointFriction}
    stop = kinds[vi.JointStop]
    assert (stop.lower, stop.upper, stop.stiffness, kinds[vi.JointDamper].damping) == (0.2, 1.0, None, 0.1)
    assert kinds[vi.JointFriction].effort == 0.2
    assert read_in.coordinates(read_in.state())["hinge"] == pytest.approx(0.2)
    words = " ".join(what for _, what in told(read_in.import_report.approximated))
    for part in ("starts at 0.2", "nothing sticks", "effort of <limit>", "velocity of <limit>"):
        assert part in words


FOUR_BAR = (
    link("ground", 0.0),
    link("crank", 0.5, "0 0 0.1"),
    link("coupler", 1.0, "0.25 0 0"),
    link("rocker", 0.8, "0 0 0.1"),
    joint("a", "continuous", "ground", "crank"),
    joint("b", "continuous", "crank", "coupler", "0 0 0.2"),
    joint("d", "continuous", "ground", "rocker", "0.5 0 0"),
)
CLOSURES = {
    "a repeated child": link("end", 0.0)
    + joint("weld", "fixed", "coupler", "end", "0.5 0 0")
    + joint("c", "continuous", "rocker", "end", "0 0 0.2"),
    "a loop_joint": (
        '<loop_joint name="c" type="revolute"><link1 link="rocker" xyz="0 0 0.2"/>'
        '<link2 link="coupler" xyz="0.5 0 0"/><axis xyz="0 1 0"/></loop_joint>'
    ),
    "a loop_joint of a ball": (
        '<loop_joint name="c" type="spherical"><link1 link="rocker" xyz="0 0 0.2"/>'
        '<link2 link="coupler" xyz="0.5 0 0"/></loop_joint>'
    ),
}


@pytest.mark.parametrize("closure", CLOSURES.values(), ids=CLOSURES)
def test_loops_move_as_those_described_by_hand(read, closure):
    y, inertia = (0, 1, 0), np.diag([0.02, 0.03, 0.04])
    places = {"crank": (0, 0, 0.1), "coupler": (0.25, 0, 0.2), "rocker": (0.5, 0, 0.1)}
    masses = {"crank": 0.5, "coupler": 1.0, "rocker": 0.8}
    bodies = [vi.Body(name, mass=masses[name], inertia=inertia, position=at) for name, at in places.items()]
    joints = [
        vi.Revolute("a", "world", "crank", point=(0, 0, 0), axis=y),
        vi.Revolute("b", "crank", "coupler", point=(0, 0, 0.2), axis=y),
        vi.Revolute("d", "world", "rocker", point=(0.5, 0, 0), axis=y),
        vi.Revolute("c", "rocker", "coupler", point=(0.5, 0, 0.2), axis=y),
    ]
    by_hand, read_in = vi.Mechanism("by hand", bodies, joints), read(*FOUR_BAR, closure)
    runs = [vi.simulate(m, 0.5, 0.01, state=m.state(coordinates={"a": 0.4})) for m in (by_hand, read_in)]
    for name in places:
        one, other = (run.position[:, run.mechanism.body_index[name]] for run in runs)
        assert np.ptp(one, axis=0).max() > 0.05
        assert other == pytest.approx(one, abs=1e-9)


def test_open_loop_is_closed(read):
    """Anchors that are apart in the zero pose of the file."""
    read_in = read(*FOUR_BAR, CLOSURES["a loop_joint"].replace("0.5 0 0", "0.55 0 0"))
    assert not read_in.is_closed
    state = read_in.state()
    ends = []
    for name, arm in (("coupler", (0.3, 0, 0)), ("rocker", (0, 0, 0.1))):
        number = read_in.body_index[name]
        ends.append(state.position[number] + rotation_matrix(state.quat_wxyz[number]) @ arm)
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_links_without_mass_are_part_of_a_joint(read):
    """Two hinges with a massless cross in between move as a universal joint; a massless end is left out."""
    read_in = read(
        link("base", 0.0),
        link("cross", 0.0),
        link("bob", 1.0, "0 0 -0.5"),
        link("flag", 0.0),
        joint("x", "continuous", "base", "cross", axis="1 0 0"),
        joint("y", "continuous", "cross", "bob", axis="0 1 0"),
        joint("z", "continuous", "bob", "flag", axis="0 0 1"),
    )
    body = vi.Body("bob", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]), position=(0, 0, -0.5))
    universal = vi.Universal("x + y", "world", "bob", point=(0, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    start = {"coordinates": {"x + y": (0.3, 0.5)}, "rates": {"x + y": (1.0, -0.5)}}
    by_hand = vi.Mechanism("by hand", [body], [universal])
    runs = [vi.simulate(m, 0.5, 0.005, state=m.state(**start), order=4) for m in (by_hand, read_in)]
    assert runs[1].position == pytest.approx(runs[0].position, abs=1e-9)
    assert (5, "link 'flag' has no mass and nothing hangs on it: left out, with joint 'z'") in told(
        read_in.import_report.approximated
    )


def test_what_floats(read):
    read_in = read(link("world", 0.0), link("a"), joint("base", "floating", "world", "a", "0 0 1"))
    assert isinstance(read_in.joint("base"), vi.Free)
    alone = read(link("a"), link("b"), joint("glue", "fixed", "a", "b", "1 0 0"))
    assert isinstance(alone.joints[0], vi.Free)
    assert (2, "link 'a', to which all others are fixed, floats") in told(alone.import_report.read)


def test_shapes_are_kept_and_never_needed(read, tmp_path):
    (tmp_path / "there" / "arm").mkdir(parents=True)
    (tmp_path / "there" / "arm" / "a.stl").touch()
    shapes = (
        '<visual><origin xyz="0 0 2"/>'
        '<geometry><mesh filename="package://arm/a.stl" scale="2 2 2"/></geometry></visual>'
        '<collision><geometry><cylinder radius="1" length="2"/></geometry></collision>'
        '<collision><geometry><mesh filename="package://arm/../../etc/passwd"/></geometry></collision>'
        '<visual><geometry><box size="1 2"/></geometry></visual><visual><geometry><cone/></geometry></visual>'
    )
    elements = link("base", 0.0), link("a", 1.0, "0 0 1", more=shapes), joint("j", "continuous", "base", "a")
    report = read(*elements, packages=[tmp_path / "there"]).import_report
    mesh, cylinder, lost = report.shapes
    assert (mesh.body, mesh.role, mesh.kind, mesh.sizes) == ("a", "visual", "mesh", (2.0, 2.0, 2.0))
    assert mesh.mesh == str(tmp_path / "there" / "arm" / "a.stl")
    assert mesh.position == pytest.approx([0, 0, 1.0])
    assert (cylinder.kind, cylinder.sizes, lost.mesh) == ("cylinder", (1.0, 2.0), "package://arm/../../etc/passwd")
    assert [line for line, _ in told(report.not_understood)] == [3, 3]
    assert read(*elements).import_report.shapes[0].mesh == "package://arm/a.stl"


def test_packages_of_the_environment(read, tmp_path, monkeypatch):
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "a.stl").touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'arm'}")
    shape = '<visual><geometry><mesh filename="package://arm/a.stl"/></geometry></visual>'
    elements = link("base", 0.0), link("a", 1.0, "0 0 1", more=shape), joint("j", "continuous", "base", "a")
    assert read(*elements).import_report.shapes[0].mesh == str(tmp_path / "arm" / "a.stl")


def test_what_is_not_understood_is_told_with_its_line(read):
    elements = (
        link("base", 0.0),
        link("a", more="<inertal/>"),
        joint("j", "continuous", "base", "a", more="<limits/><dynamics dampng='1'/>"),
        '<gazebo reference="a"/>',
        '<transmission name="t"/>',
    )
    report = read(*elements).import_report
    assert told(report.not_understood) == [
        (5, "<gazebo> in <robot>"),
        (3, "<inertal> in <link>, did you mean 'inertial'?"),
        (4, "<limits> in <joint>, did you mean 'limit'?"),
        (4, "attribute 'dampng' of <dynamics>, did you mean 'damping'?"),
    ]
    assert any(line == 6 and "<transmission>" in what for line, what in told(report.approximated))
    with pytest.raises(vi.FileError, match=r"line 5: <gazebo>.* line 3: <inertal>"):
        read(*elements, strict=True)


TWO = (link("base", 0.0), link("a", 1.0, "0 0 1"))
HINGE = joint("j", "continuous", "base", "a")


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ((), "line 1: <robot> has no <link>"),
        ((link("a"), link("b")), "line 3: link 'b' is the child of no joint, like 'a' at line 2"),
        ((*TWO, TWO[1], HINGE), "line 4: the link 'a' stands at line 3 already"),
        ((*TWO, HINGE, HINGE), "line 5: the joint 'j' stands at line 4 already"),
        ((*TWO, joint("j", "continuous", "base", "b")), "line 4: joint 'j': no link 'b'"),
        ((*TWO, joint("j", "revolut", "base", "a")), "line 4: joint 'j': no type 'revolut', did you mean 'revolute'"),
        ((*TWO, joint("j", "continuous", "base", "a", axis="0 0 0")), "line 4: the axis of joint 'j' must not be zero"),
        ((*TWO, joint("j", "continuous", "base", "a", at="0 0")), "line 4: 'xyz' of <origin> must be 3 numbers"),
        ((*TWO, '<joint name="j" type="fixed"><parent link="a"/></joint>'), "line 4: <joint> needs an element <child>"),
        ((*TWO, '<joint type="fixed"/>'), "line 4: <joint> needs an attribute 'name'"),
        ((TWO[0], link("a", -1.0), HINGE), "line 3: link 'a' has a negative mass"),
        ((TWO[0], link("a", 1.0, inertia=""), HINGE), "line 3: inertia of body 'a' must be positive definite"),
        (
            (TWO[0], link("a", 1.0, inertia='<inertia ixx="1" iyy="1" izz="3"/>'), HINGE),
            "line 3: inertia of body 'a' breaks the triangle inequality",
        ),
        ((*TWO, joint("j", "fixed", "base", "a"), link("world"), joint("k", "fixed", "a", "world")), "line 5: 'world'"),
        (
            (link("base", 0.0), link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a")),
            "hangs on itself",
        ),
        (
            (*TWO, joint("j", "continuous", "base", "a", more='<mimic joint="i"/>')),
            "line 4: no joint 'i'",
        ),
        (
            (*TWO, joint("j", "continuous", "base", "a", more='<mimic joint="j"/>')),
            "line 4: joint 'j' mimics itself",
        ),
        (
            (
                *TWO[:1],
                link("m", 0.0),
                link("a"),
                link("b"),
                joint("i", "continuous", "base", "m"),
                joint("j", "continuous", "m", "a"),
                joint("k", "continuous", "m", "b"),
            ),
            "line 3: link 'm' has no mass, and the joints 'i', 'j', 'k' meet there",
        ),
        (
            (
                *TWO[:1],
                link("m", 0.0),
                link("a"),
                joint("i", "continuous", "base", "m"),
                joint("j", "continuous", "m", "a", "0 0.5 0", "0 -1 0"),
            ),
            "line 5: the joints 'i', 'j', with links without mass in between, allow a motion twice",
        ),
        ((link("base", 0.0), link("a", 0.0), HINGE), "line 1: 'robot' has no link with a mass that can move"),
        (
            (*FOUR_BAR, CLOSURES["a loop_joint"].replace('xyz="0.5 0 0"', 'xyz="0.5 0 0" rpy="0.1 0 0"')),
            "line 9: the links of joint 'c' are turned against each other",
        ),
        (
            (*FOUR_BAR, CLOSURES["a loop_joint"].replace('type="revolute"', 'type="fixed"').replace("0.5", "0.6")),
            "line 9: joint 'c' fixes two links to one another that are apart",
        ),
    ],
)
def test_what_is_refused(read, elements, words):
    with pytest.raises((vi.FileError, vi.MechanismError), match=words):
        read(*elements)


SIDECAR = """
include = "robot.urdf"
name = "four-bar"
[closures.c]
type = "Revolute"
body_a = "rocker"
body_b = "tip"
point = [0.5, 0, 0.2]
axis = [0, 1, 0]
[forces.spring]
type = "Spring"
body_a = "ground"
body_b = "coupler"
point_a = [0, 0, 1]
point_b = [0, 0, 0.2]
stiffness = 0.0
[start.coordinates]
a = 0.4
"""


def test_closures_beside_a_file_that_is_included(read, tmp_path):
    """In TOML, where links that are part of a body, or of the world, can be named."""
    looped = read(*FOUR_BAR, CLOSURES["a loop_joint"])
    read(*FOUR_BAR, link("tip", 0.0), joint("weld", "fixed", "coupler", "tip", "0.5 0 0"), "<gazebo/>")
    path = tmp_path / "closed.toml"
    path.write_text(SIDECAR)
    closed = vi.load_mechanism(path)
    assert (closed.name, closed.joint("c").body_b, closed.force("spring").body_a) == ("four-bar", "coupler", "world")
    assert [entry.file for entry in closed.import_report.not_understood] == [str(tmp_path / "robot.urdf")]
    with pytest.raises(vi.FileError, match="gazebo"):
        vi.load_mechanism(path, strict=True)
    runs = [
        vi.simulate(closed, 0.3, 0.01),
        vi.simulate(looped, 0.3, 0.01, state=looped.state(coordinates={"a": 0.4})),
    ]
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-9)
    path.write_text(SIDECAR.replace('body_b = "tip"', 'body_b = "tp"'))
    with pytest.raises(vi.MechanismError, match=r"closed.toml', line .*: .*no body 'tp'"):
        vi.load_mechanism(path)
    path.write_text(SIDECAR.replace("axis = [", "axs = ["))
    with pytest.raises(vi.MechanismError, match=r"line 9, column 1: .*unknown key 'axs'"):
        vi.load_mechanism(path)


def test_a_robot_of_macros_alone_names_them(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="arm.xacro"/>'
        '<link name="world"/><xacro:arm prefix=""/></robot>'
    )
    with pytest.raises(vi.MechanismError, match=r"nothing can move; not understood: <xacro:include> .*<xacro:arm>"):
        vi.load_mechanism(path)
