"""OpenSim: couplers with a factor, default speeds, muscles on welded bodies; what is not read is reported."""

from itertools import pairwise

import numpy as np
import pytest

import varint as vi

BODY = "<mass>1</mass><mass_center>0 -0.5 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia>"
LINE = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"


def link(name, more=""):
    return f'<Body name="{name}">{BODY}{more}</Body>'


def pin(name, q, parent, child, more=""):
    ends = (
        f"<socket_parent_frame>{parent}</socket_parent_frame><socket_child_frame>/bodyset/{child}</socket_child_frame>"
    )
    coordinate = f'<coordinates><Coordinate name="{q}">{more}</Coordinate></coordinates>' if q else ""
    tag = "PinJoint" if q else "WeldJoint"
    return f'<{tag} name="{name}">{ends}{coordinate}</{tag}>'


def whole(bodies, joints, **sets):
    sets = {"BodySet": bodies, "JointSet": joints} | sets
    inside = "".join(f"<{name}><objects>{objects}</objects></{name}>" for name, objects in sets.items())
    return f'<OpenSimDocument Version="40000"><Model name="m">{inside}</Model></OpenSimDocument>'


def two(of_a="", of_body="", **sets):
    joints = pin("p", "qa", "/ground", "a", of_a) + pin("r", "qb", "/bodyset/a", "b")
    return whole(link("a", of_body) + link("b"), joints, **sets)


def coupler(more):
    return (
        f'<CoordinateCouplerConstraint name="c"><coupled_coordinates_function>{LINE}</coupled_coordinates_function>'
        "<independent_coordinate_names>qa</independent_coordinate_names>"
        f"<dependent_coordinate_name>qb</dependent_coordinate_name>{more}</CoordinateCouplerConstraint>"
    )


@pytest.fixture
def read(written):
    return lambda text, **options: vi.load_mechanism(written(text, "m.osim"), **options)


@pytest.mark.parametrize(("more", "factor"), [("<scale_factor>3</scale_factor>", 3.0), ("", 1.0)])
def test_scale_factor_of_a_coupler(read, more, factor):
    (coupling,) = read(two(ConstraintSet=coupler(more)), strict=True).forces
    assert coupling.terms == (("r", 0, 1.0), ("p", 0, -factor))


def test_default_speeds_are_the_start(read):
    mech = read(two("<default_value>0.1</default_value><default_speed_value>2</default_speed_value>"), strict=True)
    state = mech.state()
    assert mech.coordinates(state)["p"] == pytest.approx(0.1)
    assert mech.rates(state)["p"] == pytest.approx(2.0)


BUSHING = '<BushingForce name="f"/>'
LOST = {
    "prescribed": two(f"<prescribed>true</prescribed><prescribed_function>{LINE}</prescribed_function>"),
    "controllers": two(ControllerSet='<PrescribedController name="k"/>'),
    "components": two().replace("</Model>", f"<components>{BUSHING}</components></Model>"),
    "components of a body": two(of_body=f"<components>{BUSHING}</components>"),
    "components of the ground": two().replace(
        "</Model>", f"<Ground><components>{BUSHING}</components></Ground></Model>"
    ),
    "a coupler": two(ConstraintSet=coupler("<weight>2</weight>")),
    "a coupler of zero": two(ConstraintSet=coupler("<scale_factor>0</scale_factor>")),
    "a coordinate": two("<stiffness>2</stiffness>"),
}


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
@pytest.mark.parametrize("text", LOST.values(), ids=LOST.keys())
def test_nothing_is_lost_in_silence(read, text):
    assert len(read(text).import_report.not_understood) == 1
    with pytest.raises(vi.FileError):
        read(text, strict=True)


def test_what_has_no_effect_is_told_once_a_reason(read):
    text = two("<clamped>true</clamped><range>-1 1</range>", ProbeSet="<Probe/>")
    told = [entry.what for entry in read(text, strict=True).import_report.approximated]
    assert told == [
        "<clamped>, <range>, of coordinates, which no simulation holds: left out",
        "<ProbeSet>, of results: left out",
    ]


def test_what_holds_nothing_is_no_loss(read):
    text = two("<prescribed>false</prescribed><clamped>true</clamped><range>-1 1</range>", ControllerSet="")
    read(text.replace("</Model>", "<components/><ProbeSet/></Model>"), strict=True)


@pytest.mark.parametrize("base", ["/ground", "/bodyset/foot"])
def test_muscle_on_a_welded_body(read, base):
    """0.1 + sqrt(0.2^2 + 0.4^2)"""
    points = {"one": ("base", "0.1 0.2 0"), "two": ("base", "0 0.2 0"), "three": ("a", "0.2 -0.2 0")}
    path = "".join(
        f'<PathPoint name="{name}"><socket_parent_frame>/bodyset/{on}</socket_parent_frame><location>{at}</location>'
        "</PathPoint>"
        for name, (on, at) in points.items()
    )
    muscle = (
        '<Thelen2003Muscle name="muscle"><GeometryPath name="path"><PathPointSet>'
        f"<objects>{path}</objects></PathPointSet></GeometryPath></Thelen2003Muscle>"
    )
    joints = pin("w", "", base, "base") + pin("p", "q", "/bodyset/base", "a")
    bodies = link("base") + link("a")
    if base != "/ground":
        joints, bodies = pin("f", "q0", "/ground", "foot") + joints, link("foot") + bodies
    mech = read(whole(bodies, joints, ForceSet=muscle), strict=True)
    path = mech.forces[0].path
    lengths = [np.linalg.norm(np.subtract(one.point, other.point)) for one, other in pairwise(path)]
    assert sum(lengths) == pytest.approx(0.1 + np.sqrt(0.2), rel=1e-12)
    assert {at.body for at in path} == {"world" if base == "/ground" else "foot", "a"}


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
@pytest.mark.parametrize("on", ["point", "surface"])
def test_muscle_on_a_body_without_mass_is_told(read, on):
    light = link("light", "<WrapObjectSet><objects><WrapSphere name='ball'><radius>0.02</radius></WrapSphere></objects>"
                          "</WrapObjectSet>").replace(BODY, "<mass>0</mass>")  # fmt: skip
    ends = ("/ground", "/bodyset/light" if on == "point" else "/bodyset/a")
    path = "".join(
        f'<PathPoint name="p{k}"><socket_parent_frame>{end}</socket_parent_frame>'
        f"<location>0 {k} 0</location></PathPoint>"
        for k, end in enumerate(ends)
    )
    muscle = (
        f'<Thelen2003Muscle name="muscle"><GeometryPath name="path"><PathPointSet><objects>{path}</objects>'
        '</PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>ball</wrap_object></PathWrap></objects>'
        "</PathWrapSet></GeometryPath></Thelen2003Muscle>"
    )
    joints = pin("p", "q", "/ground", "light") + pin("r", "s", "/bodyset/light", "a").replace("Pin", "Slider")
    mech = read(whole(light + link("a"), joints, ForceSet=muscle))
    assert mech.forces == ()
    assert any("'light', on which it is, has no mass" in entry.what for entry in mech.import_report.not_understood)
