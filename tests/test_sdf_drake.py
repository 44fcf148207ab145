"""SDF: elements of Drake and of other programs, placement frames, gravity of older worlds, infinite limits."""

import numpy as np
import pytest
from test_sdf import axis, joint, link, model

import varint as vi

A, B, C = link("a"), link("b", "1 0 0 0 0 0"), link("c", "2 0 0 0 0 0")
WELD = joint("w", "fixed", "world", "a")


@pytest.fixture
def read(written):
    def read(text, name="m.sdf", **options):
        return vi.load_mechanism(written(f'<sdf version="1.9">{text}</sdf>', name), **options)

    return read


def told(mech):
    return " ".join(entry.what for entry in mech.import_report.not_understood)


def test_planar_joint_moves_in_the_plane_of_its_frame(read):
    planar = (
        '<drake:joint name="p" type="planar"><drake:parent>a</drake:parent><drake:child>b</drake:child>'
        "<pose>0 0 0 1.5707963267948966 0 0</pose><drake:damping>1 2 3</drake:damping></drake:joint>"
    )
    mech = read(model(A, B, WELD, planar), strict=True)
    acceleration = vi.accelerations(mech, mech.state(rates={"p": (1.0, 1.0, 1.0)}))
    # the plane is across -y of the world: y of the frame is z of the world, z of the frame is -y
    assert acceleration.linear[0] == pytest.approx([-1.0, 0.0, -9.81 - 2.0], abs=1e-9)
    assert acceleration.angular[0] == pytest.approx([0.0, 3.0 / 0.03, 0.0], abs=1e-6)


def test_screw_of_drake(read):
    screw = (
        '<drake:joint name="s" type="screw"><drake:parent>a</drake:parent><drake:child>b</drake:child>'
        "<drake:screw_thread_pitch>0.2</drake:screw_thread_pitch></drake:joint>"
    )
    helical = read(model(A, B, WELD, screw), strict=True).joint("s")
    assert isinstance(helical, vi.Helical)
    assert helical.lead == 0.2
    assert tuple(helical.axis) == (0.0, 0.0, 1.0)


def test_ball_constraint_closes_a_loop(read):
    ball = (
        "<drake:ball_constraint><drake:ball_constraint_body_A>b</drake:ball_constraint_body_A>"
        "<drake:ball_constraint_body_B>c</drake:ball_constraint_body_B>"
        "<drake:ball_constraint_p_AP>0.5 0 0</drake:ball_constraint_p_AP>"
        "<drake:ball_constraint_p_BQ>-0.5 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>"
    )
    hinge = joint("h", "revolute", "a", "b", axis("0 1 0"))
    mech = read(model(A, B, C, WELD, hinge, ball), strict=True)
    held = mech.joint("ball constraint 0")
    assert (held.body_a, held.body_b) == ("b", "c")
    assert tuple(held.point) == (1.5, 0.0, 0.0)


@pytest.mark.parametrize("inside", [False, True])
def test_rotor_adds_inertia_along_the_joint(read, inside):
    """(1 m^2 * 1 kg + 0.03 + 4 * 0.25) acceleration = 9.81 N m"""
    rotor = "<drake:rotor_inertia>0.25</drake:rotor_inertia><drake:gear_ratio>2</drake:gear_ratio>"
    on = (axis("0 1 0", more=rotor if inside else ""), "" if inside else rotor, "<pose relative_to='a'/>")
    mech = read(model(A, B, WELD, joint("h", "revolute", "a", "b", *on)), strict=True)
    acceleration = vi.accelerations(mech, mech.state())
    assert acceleration.angular[mech.body_index["b"]][1] == pytest.approx(9.81 / 2.03, rel=1e-9)


def test_mimic_of_drake_is_a_coupling(read):
    first = joint("h", "revolute", "a", "b", axis("0 1 0"))
    mimic = '<drake:mimic joint="h" multiplier="-2" offset="0"/>'
    mech = read(model(A, B, C, WELD, first, joint("k", "revolute", "b", "c", axis("0 1 0"), mimic)), strict=True)
    assert mech.forces[0].terms == (("k", 0, 1.0), ("h", 0, 2.0))


OTHERS = {
    "a model": model(A, "<gz:thing/>"),
    "a link": model(link("a", more="<gz:mass_scale>2</gz:mass_scale>")),
    "a joint": model(A, B, WELD, joint("h", "revolute", "a", "b", axis("0 1 0"), "<acme:spring/>")),
    "an axis": model(A, B, WELD, joint("h", "revolute", "a", "b", axis("0 1 0", more="<acme:spring/>"))),
    "a bushing": model(A, "<drake:linear_bushing_rpy/>"),
    "a mass": model(A.replace("<mass>", '<mass gz:unit="g">')),
    "a world": f'<world name="w">{model(A)}<gz:wind/></world>',
    "a model beside a world": f'<world name="w">{model(A)}</world>' + model(B, name="n"),
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_other_elements_are_reported(read, text):
    assert told(read(text))
    with pytest.raises(vi.FileError):
        read(text, strict=True)


def test_declared_namespaces_are_no_elements(read):
    assert not told(read(f'<model name="m" xmlns:gz="x">{A}</model>', strict=True))


INNER = '<frame name="tip" attached_to="a"><pose>0 0 2 0 0 0</pose></frame>'


@pytest.mark.parametrize(
    ("more", "z"),
    [("<placement_frame>tip</placement_frame>", 3.0), ("", 5.0), ("<placement_frame>a</placement_frame>", 5.0)],
)
def test_placement_frame_of_an_include(read, written, more, z):
    written(f'<sdf version="1.9">{model(A, INNER)}</sdf>', "inner.sdf")
    include = f"<include><uri>inner.sdf</uri><pose>0 0 5 0 0 0</pose>{more}</include>"
    assert read(f'<world name="w">{include}</world>', strict=True).bodies[0].position[2] == z


@pytest.mark.parametrize(("inner", "outer", "moves"), [("true", "false", 2), ("false", "true", 1), ("true", "", 1)])
def test_static_of_an_include_counts(read, written, inner, outer, moves):
    written(f'<sdf version="1.9">{model(A, f"<static>{inner}</static>")}</sdf>', "inner.sdf")
    static = f"<static>{outer}</static>" if outer else ""
    world = f'<world name="w"><include><uri>inner.sdf</uri>{static}</include>{model(B, name="o")}</world>'
    assert len(read(world, strict=True).bodies) == moves


MOON = "<physics><gravity>0 0 -1.62</gravity></physics>"
WORLDS = {
    MOON: -1.62,
    "<gravity>0 0 -3</gravity>" + MOON: -3.0,
    MOON + '<physics default="true"><gravity>0 0 -2</gravity></physics>': -2.0,
    MOON + "<physics><gravity>0 0 -2</gravity></physics>": -1.62,
    "<physics/>": -9.81,
}


@pytest.mark.parametrize(("inside", "z"), WORLDS.items())
def test_gravity_of_older_worlds(read, inside, z):
    mech = read(f'<world name="w">{inside}{model(A)}</world>', strict=True)
    assert mech.gravity == pytest.approx(np.array([0.0, 0.0, z]))


@pytest.mark.parametrize(("lower", "upper"), [("-inf", "inf"), ("-1", "+inf"), ("-Infinity", "2")])
def test_infinite_limits(read, lower, upper):
    limit = f"<limit><lower>{lower}</lower><upper>{upper}</upper></limit>"
    mech = read(model(A, B, WELD, joint("h", "revolute", "a", "b", axis("0 1 0", more=limit))), strict=True)
    stops = [(stop.lower, stop.upper) for stop in mech.forces]
    expected = (float(lower), float(upper))
    assert stops == ([] if np.isinf(expected).all() else [expected])
