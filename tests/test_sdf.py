"""SDF: joints of all its types, frames by name, models in one another; what is read equals what is by hand."""

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix

INERTIA = "<inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia>"
MOMENTS = np.diag([0.02, 0.03, 0.04])


def link(name, pose="0 0 0 0 0 0", mass=1.0, com="0 0 0 0 0 0", more="", to=""):
    to = f' relative_to="{to}"' if to else ""
    inertial = f"<inertial><pose>{com}</pose><mass>{mass}</mass>{INERTIA}</inertial>"
    return f'<link name="{name}"><pose{to}>{pose}</pose>{inertial}{more}</link>'


def axis(xyz, tag="axis", more="", frame=""):
    frame = f' expressed_in="{frame}"' if frame else ""
    return f"<{tag}><xyz{frame}>{xyz}</xyz>{more}</{tag}>"


def joint(name, kind, a, b, *more):
    return f'<joint name="{name}" type="{kind}"><parent>{a}</parent><child>{b}</child>{"".join(more)}</joint>'


def model(*elements, name="m", more=""):
    return f'<model name="{name}"{more}>\n' + "\n".join(elements) + "\n</model>"


@pytest.fixture
def read(tmp_path):
    """A function of elements, one a line from the second on, that gives the mechanism."""

    def read(*elements, version="1.9", **options):
        path = tmp_path / "m.sdf"
        path.write_text(f'<sdf version="{version}">\n' + "\n".join(elements) + "\n</sdf>\n")
        return vi.load_mechanism(path, **options)

    return read


def told(entries):
    return [(entry.line, entry.what) for entry in entries]


def moved_alike(one, other, start, tolerance=1e-9):
    runs = [vi.simulate(m, 0.3, 0.01, state=m.state(**start)) for m in (one, other)]
    assert np.ptp(runs[0].position, axis=0).max() > 1e-3
    assert runs[1].position == pytest.approx(runs[0].position, abs=tolerance)


AT, P = "0 0 1 0 0 0", (0, 0, 1)
OF_EACH = {
    "revolute": (axis("0 1 0"), vi.Revolute("j", "world", "a", point=P, axis=(0, 1, 0)), 0.5),
    "continuous": (axis("0 1 0"), vi.Revolute("j", "world", "a", point=P, axis=(0, 1, 0)), 0.5),
    "prismatic": (axis("1 0 1"), vi.Prismatic("j", "world", "a", point=P, axis=(1, 0, 1)), 0.5),
    "ball": ("", vi.Spherical("j", "world", "a", point=P), (0.5, 0, 0.2)),
    "universal": (
        axis("1 0 0") + axis("0 1 0", "axis2"),
        vi.Universal("j", "world", "a", point=P, axis=(1, 0, 0), axis_b=(0, 1, 0)),
        (0.5, -0.2),
    ),
    "revolute2": (
        axis("1 0 0") + axis("1 1 0", "axis2"),
        vi.Composite(
            "j",
            "world",
            "a",
            point=P,
            parts=[{"type": "Revolute", "axis": (1, 0, 0)}, {"type": "Revolute", "axis": (1, 1, 0)}],
        ),
        (0.5, -0.2),
    ),
    "screw": (
        axis("0 0 1") + "<screw_thread_pitch>0.1</screw_thread_pitch>",
        vi.Helical("j", "world", "a", point=P, axis=(0, 0, 1), lead=0.1),
        0.5,
    ),
}


@pytest.mark.parametrize("kind", OF_EACH)
def test_joints_of_each_type_move_as_those_by_hand(read, kind):
    inside, by_hand, start = OF_EACH[kind]
    read_in = read(model(link("a", AT, com="0.1 0 -0.5 0 0 0"), joint("j", kind, "world", "a", inside)))
    body = vi.Body("a", mass=1.0, inertia=MOMENTS, position=(0.1, 0, 0.5))
    assert type(read_in.joint("j")) is type(by_hand)
    moved_alike(vi.Mechanism("by hand", [body], [by_hand]), read_in, {"coordinates": {"j": start}})


def test_left_handed_threads_of_old_files(read):
    """thread_pitch, rad/m, is -2 pi over the lead."""
    inside = axis("0 0 1") + "<thread_pitch>-62.83185307179586</thread_pitch>"
    assert read(model(link("a"), joint("j", "screw", "world", "a", inside))).joint("j").lead == pytest.approx(0.1)


def test_gearbox_is_a_coupling(read):
    """theta_2 = -ratio theta_1, of the angles from the reference body to the parent and to the child."""
    gears = joint(
        "gear",
        "gearbox",
        "a",
        "b",
        "<gearbox_reference_body>frame</gearbox_reference_body><gearbox_ratio>3</gearbox_ratio>",
        axis("0 1 0"),
        axis("0 1 0", "axis2"),
    )
    read_in = read(
        model(
            link("frame", com="0 0 0 0 0 0"),
            link("a", com="0.2 0 0 0 0 0"),
            link("b", "1 0 0 0 0 0", com="0 0 0.1 0 0 0"),
            joint("ground", "fixed", "world", "frame"),
            joint("ja", "revolute", "frame", "a", axis("0 1 0")),
            joint("jb", "revolute", "b", "frame", axis("0 -1 0")),
            gears,
        )
    )
    traj = vi.simulate(read_in, 0.2, 0.01, state=read_in.state(coordinates={"ja": 0.1}))
    first, second = traj.coordinates["ja"], traj.coordinates["jb"]  # both senses of jb are turned: theta_2 is jb's
    assert np.ptp(first) > 1e-3
    assert second == pytest.approx(-3 * first, abs=1e-9)


def test_frames_are_found_by_name(read):
    """Across models, by joints and frames, with degrees and quaternions."""
    inner = model(
        '<frame name="tip"><pose relative_to="c">0 0 1 0 0 0</pose></frame>',
        link("c", "1 0 0 0 0 0"),
        name="inner",
        more=' placement_frame="tip"',
    )
    inner = inner.replace('"tip">', '"tip"><pose relative_to="f">0 1 0 0 0 0</pose>', 1)
    read_in = read(
        model(
            '<pose degrees="true">0 0 5 0 0 90</pose>',
            '<frame name="f" attached_to="a"><pose>0 0 1 0 0 0</pose></frame>',
            link("a", "1 0 0 0 0 0"),
            link("b", "0 0 1 0 0 0.7071067811865476 0.7071067811865476", to="j").replace(
                'relative_to="j"', 'relative_to="f" rotation_format="quat_xyzw"'
            ),
            joint("j", "revolute", "a", "b", "<pose>0 0 2 0 0 0</pose>", axis("1 0 0", frame="__model__")),
            joint("k", "ball", "inner::tip", "b"),
            inner,
        )
    )
    turn = matrix_from_vector([0, 0, np.pi / 2])
    origin = np.array([0, 0, 5])
    a = origin + turn @ [1, 0, 0]
    b = origin + turn @ [1, 0, 2]
    hinge = read_in.joint("j")
    assert read_in.body("a").position == pytest.approx(a, abs=1e-15)
    assert read_in.body("b").position == pytest.approx(b, abs=1e-15)
    assert rotation_matrix(read_in.body("b").quat_wxyz) == pytest.approx(turn @ turn, abs=1e-15)
    assert hinge.point == pytest.approx(b + [0, 0, 2], abs=1e-15)
    assert hinge.axis == pytest.approx(turn @ [1, 0, 0], abs=1e-15)
    assert read_in.joint("k").body_a == "inner::c"
    tip = origin + turn @ [1, 1, 1]  # where the placement frame of the inner model is put
    assert read_in.body("inner::c").position == pytest.approx(tip - [0, 0, 1], abs=1e-15)


@pytest.mark.parametrize(
    ("version", "inside", "wanted"),
    [
        ("1.9", "", (0, 1, 0)),
        ("1.4", "", (1, 0, 0)),
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (1, 0, 0)),
        ("1.6", "", (0, 1, 0)),
    ],
)
def test_axes_of_old_files(read, version, inside, wanted):
    """Up to 1.4 in the axes of the model, since then in those of the joint."""
    turned = link("a", "0 0 1 0 0 1.5707963267948966")
    read_in = read(model(turned, joint("j", "revolute", "world", "a", axis("1 0 0", more=inside))), version=version)
    assert read_in.joint("j").axis == pytest.approx(wanted, abs=1e-15)


def test_loops_are_joints_like_any_other(read):
    four_bar = model(
        link("crank", com="0 0 0.1 0 0 0", mass=0.5),
        link("coupler", "0 0 0.2 0 0 0", com="0.25 0 0 0 0 0"),
        link("rocker", "0.5 0 0 0 0 0", com="0 0 0.1 0 0 0", mass=0.8),
        joint("a", "revolute", "world", "crank", axis("0 1 0")),
        joint("b", "revolute", "crank", "coupler", axis("0 1 0")),
        joint("d", "revolute", "world", "rocker", axis("0 1 0")),
        joint("c", "revolute", "rocker", "coupler", "<pose>0.5 0 0 0 0 0</pose>", axis("0 1 0")),
    )
    y, places = (0, 1, 0), {"crank": (0, 0, 0.1), "coupler": (0.25, 0, 0.2), "rocker": (0.5, 0, 0.1)}
    masses = {"crank": 0.5, "coupler": 1.0, "rocker": 0.8}
    bodies = [vi.Body(name, mass=masses[name], inertia=MOMENTS, position=at) for name, at in places.items()]
    joints = [
        vi.Revolute("a", "world", "crank", point=(0, 0, 0), axis=y),
        vi.Revolute("b", "crank", "coupler", point=(0, 0, 0.2), axis=y),
        vi.Revolute("d", "world", "rocker", point=(0.5, 0, 0), axis=y),
        vi.Revolute("c", "rocker", "coupler", point=(0.5, 0, 0.2), axis=y),
    ]
    moved_alike(vi.Mechanism("by hand", bodies, joints), read(four_bar), {"coordinates": {"a": 0.4}})


def test_what_acts_along_axes(read):
    more = (
        "<limit><lower>-0.1</lower><upper>1e16</upper><effort>3</effort></limit><dynamics><damping>0.1</damping>"
        "<friction>0.2</friction><spring_reference>0.3</spring_reference><spring_stiffness>4</spring_stiffness></dynamics>"
    )
    inside = axis("1 0 0") + axis("0 1 0", "axis2", more)
    read_in = read(model(link("a", AT), joint("j", "universal", "world", "a", inside)))
    kinds = {type(force): force for force in read_in.forces}
    assert {force.coordinate for force in read_in.forces} == {1}
    stop, spring = kinds[vi.JointStop], kinds[vi.TorsionSpring]
    assert (stop.lower, stop.upper, spring.stiffness, spring.rest_angle) == (-0.1, np.inf, 4.0, 0.3)
    assert (kinds[vi.JointDamper].damping, kinds[vi.JointFriction].effort) == (0.1, 0.2)


def test_worlds_static_models_and_links_without_weight(read):
    """Two models in a world, one static; a link without weight falls as one that gravity does not act on."""
    light = link("a", "0 0 3 0 0 0", more="<gravity>false</gravity>")
    world = '<world name="w"><gravity>0 0 -5</gravity>' + model(link("floor"), "<static>1</static>", name="room")
    read_in = read(world + model(light, link("b", "2 0 0 0 0 0"), name="free") + "</world>")
    assert [body.name for body in read_in.bodies] == ["free::a", "free::b"]
    assert read_in.gravity == pytest.approx([0, 0, -5])
    assert read_in.import_report.body_of["room::floor"] == "world"
    traj = vi.simulate(read_in, 1.0, 0.01)
    fell = traj.position[-1] - traj.position[0]
    assert fell == pytest.approx(np.array([[0, 0, 0], [0, 0, -2.5]]), abs=1e-9)


def test_mimic_of_an_axis(read):
    mimic = '<mimic joint="ja"><multiplier>-2</multiplier></mimic>'
    read_in = read(
        model(
            link("a", com="0 0 -0.3 0 0 0"),
            link("b", "1 0 0 0 0 0", com="0 0 -0.3 0 0 0"),
            joint("ja", "revolute", "world", "a", axis("0 1 0")),
            joint("jb", "revolute", "world", "b", axis("0 1 0", more=mimic)),
        )
    )
    traj = vi.simulate(read_in, 0.2, 0.01, state=read_in.state(coordinates={"ja": 0.2}))
    assert traj.coordinates["jb"] == pytest.approx(-2 * traj.coordinates["ja"], abs=1e-9)


def test_includes_are_local(read, tmp_path):
    folder = tmp_path / "models" / "arm"
    folder.mkdir(parents=True)
    (folder / "arm.sdf").write_text(f'<sdf version="1.6">{model(link("a", AT), name="arm")}</sdf>')
    (folder / "model.config").write_text('<model><sdf version="1.6">arm.sdf</sdf></model>')
    include = "<include><uri>{}</uri><name>{}</name><pose>{} 0 0 0 0 0</pose></include>"
    both = include.format("model://arm", "one", 1) + include.format("models/arm/arm.sdf", "two", 2)
    read_in = read(f'<world name="w">{both}</world>', packages=[tmp_path / "models"])
    assert [body.name for body in read_in.bodies] == ["one::a", "two::a"]
    assert [body.position[0] for body in read_in.bodies] == [1.0, 2.0]
    assert "one::a" in read_in.import_report.body_of
    outside = tmp_path.parent / f"{tmp_path.name}.sdf"
    outside.write_text((folder / "arm.sdf").read_text())
    (folder / "self.sdf").write_text(f'<sdf><model name="s">{include.format("self.sdf", "t", 0)}</model></sdf>')
    for uri, words in {
        "https://models.org/arm": "nothing is fetched",
        "model://leg": "there is no such file",
        f"../{outside.name}": "outside the folder",
        f"file://{outside}": "outside the folder",
        "models/arm/self.sdf": "includes itself",
    }.items():
        with pytest.raises(vi.FileError, match=f"{words}"):
            read(f'<world name="w">{include.format(uri, "x", 0)}</world>', packages=[tmp_path / "models"])


HINGE = joint("j", "revolute", "world", "a", axis("0 1 0"))


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ((), "line 1: the file has no <link>"),
        ((link("a"), link("a")), "line 4: the link 'a' stands at line 3 already"),
        ((link("a"), HINGE, HINGE), "line 5: the joint 'j' stands at line 4 already"),
        ((link("a"), joint("j", "revolute", "b", "a", axis("0 1 0"))), "line 4: no link 'b'"),
        ((link("a"), joint("j", "revolut", "world", "a")), "line 4: joint 'j': no type 'revolut', did you mean 'revol"),
        (
            (link("a"), joint("j", "revolute", "world", "a", axis("0 0 0"))),
            "line 4: <axis> of joint 'j' must not be zero",
        ),
        ((link("a"), joint("j", "universal", "world", "a", axis("0 1 0"))), "line 4: joint 'j' needs an <axis2>"),
        (
            (link("a"), joint("j", "screw", "world", "a", axis("0 1 0"), "<thread_pitch>0</thread_pitch>")),
            "line 4: thread",
        ),
        ((link("a", "0 0 0"),), "line 3: <pose> must be 6 numbers, got '0 0 0'"),
        ((link("a", to="b"),), "line 3: no frame 'b'"),
        ((link("a", to="b"), link("b", to="a")), "needed for itself, by a and b"),
        ((link("a", mass=-1),), "line 3: link 'a' has a negative mass"),
        ((link("a", mass="x"),), "line 3: <mass> must be a number, got 'x'"),
        (('<frame name="f" attached_to="f"/>', link("a"), joint("j", "ball", "f", "a")), "needed for itself|to itself"),
        ((link("a"), '<model name="n"/><model name="n"/>'), "line 4: a model 'n' is there already"),
        (
            (link("a"), joint("g", "gearbox", "world", "a", "<gearbox_reference_body>a</gearbox_reference_body>")),
            "line 4",
        ),
        (("<static>1</static>", link("a")), "has no link with a mass that can move"),
    ],
)
def test_what_is_refused(read, elements, words):
    with pytest.raises((vi.FileError, vi.MechanismError), match=words):
        read(model(*elements))


def test_what_is_not_understood_is_told_with_its_line(read):
    shapes = "<visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry></visual><plugin name='p'/>"
    read_in = read(model(link("a", more=shapes), HINGE.replace("</axis>", "<inertia>1</inertia></axis>"), "<lnk/>"))
    assert told(read_in.import_report.not_understood) == [
        (5, "<lnk> in <model>, did you mean 'link'?"),
        (3, "<plugin> in <link>"),
        (4, "<inertia> in <axis>"),
    ]
    (shape,) = read_in.import_report.shapes
    assert (shape.body, shape.kind, shape.sizes) == ("a", "sphere", (1.0,))


@pytest.mark.parametrize("suffix", [".xml", ".urdf"])
def test_the_content_says_which_format_it_is(read, tmp_path, suffix):
    read(model(link("a"), HINGE))
    (tmp_path / f"m{suffix}").write_text((tmp_path / "m.sdf").read_text())
    assert vi.load_mechanism(tmp_path / f"m{suffix}").joint("j").body_b == "a"
