"""What looks wrong in descriptions that can run, and loops that a hinge about another axis locks."""

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.kinematics.oddities import oddities

Y = {"axis": (0, 1, 0)}


def of(mechanism):
    return oddities(mechanism, mechanism.compiled)


def two_rods(point=(0.3, 0, 0), scale=1.0, **more):
    ends = np.array([(0, 0, 0), (0.3, 0, 0), (0.6, 0, 0)]) * scale
    bodies = [vi.Body.rod("first", ends[0], ends[1], mass=0.5), vi.Body.rod("second", ends[1], ends[2], mass=0.5)]
    joints = [
        vi.Revolute("shoulder", "world", "first", point=(0, 0, 0), **Y),
        vi.Revolute("elbow", "first", "second", point=np.array(point) * scale, **Y),
    ]
    return vi.Mechanism("two", bodies, joints, **more)


def test_points_far_from_their_rods():
    assert of(two_rods()) == ()
    assert of(two_rods((0.3, 0, 0.05))) == ()
    first, second = of(two_rods((0.3, 0, 0.27)))
    assert first.startswith(
        "the point (0.3, 0, 0.27) of revolute joint 'elbow' is 0.267 m from 'first', which is 0.3 m"
    )
    assert "'second'" in second


def test_lengths_in_millimetres():
    light = of(two_rods(scale=1000.0))
    assert len(light) == 2
    assert light[0].startswith("'first' has 0.5 kg in 8.48e+03 m^3, less than air: lengths are in metres, not in milli")
    rods = [
        vi.Body.rod("long", (0, 0, 0), (100, 0, 0), 50.0, radius=0.01),
        vi.Body.rod("short", (0, 0, 0), (0.05, 0, 0), 0.1),
    ]
    joints = [vi.Revolute(body.name, "world", body.name, point=(0, 0, 0), **Y) for body in rods]
    (apart,) = of(vi.Mechanism("apart", rods, joints))
    assert apart.startswith("'long' is 100 m long, 'short' 0.05 m: lengths are in metres")


def test_rates_in_degrees():
    drive = vi.PrescribedMotion("drive", joint="elbow", rate=90.0)
    motor = vi.VelocityMotor("motor", joint="shoulder", speed=180.0, max_effort=1.0)
    found = of(two_rods(forces=[drive, motor], start={"rates": {"shoulder": 360.0, "elbow": 90.0}}))
    labels = [sentence.partition(":")[0] for sentence in found]
    assert labels == [
        "rates of revolute joint 'shoulder' in start",
        "rates of revolute joint 'elbow' in start",
        "rate of prescribedmotion 'drive'",
        "speed of velocitymotor 'motor'",
    ]
    assert found[0].endswith("360 rad/s, 57.3 turns a second, looks like degrees a second")
    assert of(two_rods(start={"rates": {"shoulder": 150.0, "elbow": -3.0}})) == ()


def hinged(body, points, **more):
    joints = [vi.Revolute("a", "world", body.name, point=points[0], **Y)]
    tip = vi.Body.rod("tip", points[1], np.add(points[1], (0.3, 0, 0)), mass=0.5)
    return vi.Mechanism("h", [body, tip], [*joints, vi.Revolute("b", body.name, "tip", point=points[1], **Y)], **more)


@pytest.mark.parametrize(("density", "unit"), [(7.8, "g/cm^3"), (2.7, "g/cm^3"), (7.8e6, "g/m^3"), (7800.0, None)])
def test_densities_in_other_units(density, unit):
    block = vi.Body.box("block", (0.4, 0.2, 0.2), density=density, position=(0.2, 0, 0))
    found = of(hinged(block, [(0, 0, 0), (0.4, 0, 0)]))
    assert len(found) == (unit is not None)
    if unit:
        assert found[0].startswith(f"'block' has a density of {density:.3g} kg/m^3")
        assert f"in kg/m^3, not in {unit}; water has 1000" in found[0]


def test_a_centre_of_mass_that_was_left_at_the_origin():
    def plate(position, inertia=0.002):
        return vi.Body("plate", mass=1.0, inertia=inertia * np.eye(3), position=position)

    points = [(5.0, 0, 0), (5.4, 0, 0)]
    (found,) = of(hinged(plate((0, 0, 0)), points))
    assert found.startswith("the centre of mass of 'plate', (0, 0, 0), is 5 m from the nearest of its joints")
    assert of(hinged(plate((5.2, 0, 0)), points)) == ()
    (found,) = of(hinged(plate((5.2, 0, 0), inertia=2000.0), points))
    assert "inertias are in kg m^2, not in kg mm^2" in found


def test_millimetres_of_bodies_without_shapes_and_of_gravity():
    bar = vi.Body("bar", mass=0.5, inertia=np.full(3, 3000.0) * np.eye(3), position=(150, 0, 0))
    found = of(hinged(bar, [(0, 0, 0), (300, 0, 0)], gravity=(0, 0, -9810)))
    assert any(each.startswith("'bar' has 0.5 kg over 300 m between its joints: lengths are in") for each in found)
    assert "gravity is 9810 m/s^2: it is in m/s^2, not in mm/s^2" in found


def test_rates_that_are_no_round_degrees():
    (found,) = of(two_rods(start={"rates": {"shoulder": 286.0}}))
    assert found.startswith("rates of revolute joint 'shoulder' in start: 286 rad/s, 45.5 turns a second, moves")
    assert found.endswith("85.8 m/s: rates are in rad/s, not in degrees a second")
    assert of(two_rods(start={"rates": {"shoulder": 149.0}})) == ()


def test_hinges_of_a_planar_loop_that_are_a_degree_off():
    tilt = np.radians(1.0)
    off = four_bar((np.sin(tilt), np.cos(tilt), 0))
    (found,) = of(off)
    assert "1 degrees off" in found
    assert "a planar loop moves only if its hinges are parallel" in found
    assert of(four_bar((0, -1, 0))) == ()


@pytest.mark.slow
def test_nothing_looks_wrong_in_the_catalogue():
    assert {name: of(getattr(vi.mechanisms, name)()) for name in vi.mechanisms.NAMES} == dict.fromkeys(
        vi.mechanisms.NAMES, ()
    )


LINKS = {
    "crank": ((0, 0, 0), (0, 0, 0.1)),
    "coupler": ((0, 0, 0.1), (0.35, 0, 0.1)),
    "rocker": ((0.4, 0, 0), (0.35, 0, 0.1)),
}


def four_bar(axis, **start):
    bodies = [vi.Body.rod(name, *ends, mass=0.2) for name, ends in LINKS.items()]
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=(0, 0, 0), **Y),
        vi.Revolute("crank pin", "crank", "coupler", point=(0, 0, 0.1), axis=axis),
        vi.Revolute("rocker pivot", "world", "rocker", point=(0.4, 0, 0), **Y),
        vi.Revolute("rocker pin", "coupler", "rocker", point=(0.35, 0, 0.1), **Y),
    ]
    return vi.Mechanism("mine", bodies, joints, start=start)


LOCKS = r"revolute joint 'crank pin' turns about \(1, 0, 0\) in the world, the other hinges of .* it cannot turn"


def test_a_hinge_about_another_axis_is_told_as_a_lock():
    mechanism = four_bar((1, 0, 0), rates={"crank pivot": 1.0})
    with pytest.raises(vi.StateError, match=LOCKS) as problem:
        mechanism.state()
    assert "Leave out the rates" not in str(problem.value)
    with pytest.raises(vi.AssemblyError, match=LOCKS):
        mechanism.state(coordinates={"crank pivot": 0.3})
    still = four_bar((1, 0, 0))
    assert "looks wrong: revolute joint 'crank pin' turns about (1, 0, 0)" in str(still.diagnose())
    assert still.diagnose().mobility == 0
    assert of(four_bar((0, -1, 0))) == ()
    with pytest.raises(vi.StateError, match="Leave out the rates that follow from the others"):
        four_bar((0, 1, 0)).state(rates={"crank pivot": 1.0, "rocker pivot": 2.0})


def slider_crank(pin, guide=(1, 0, 0)):
    ends = {"crank": ((0, 0, 0), (0, 0, 0.1)), "rod": ((0, 0, 0.1), (0.3, 0, 0))}
    bodies = [vi.Body.rod(name, *points, mass=0.2) for name, points in ends.items()]
    bodies.append(vi.Body.box("slider", (0.1, 0.06, 0.06), mass=1.0, position=(0.3, 0, 0)))
    joints = [
        vi.Revolute("pivot", "world", "crank", point=(0, 0, 0), **Y),
        vi.Revolute("crank pin", "crank", "rod", point=(0, 0, 0.1), axis=pin),
        vi.Revolute("wrist", "rod", "slider", point=(0.3, 0, 0), **Y),
        vi.Prismatic("guide", "world", "slider", axis=guide),
    ]
    return vi.Mechanism("mine", bodies, joints)


def test_loops_with_a_slider_are_looked_at_too():
    (found,) = of(slider_crank((1, 0, 0)))
    assert found.startswith(
        "revolute joint 'crank pin' turns about (1, 0, 0) in the world, the other hinges of its loop"
    )
    (found,) = of(slider_crank((0, np.cos(0.02), np.sin(0.02))))
    assert "'crank pin' turns about" in found
    assert "1.15 degrees off" in found
    assert of(slider_crank((0, 1, 0))) == ()


def test_info_diagnoses_a_start_that_is_refused_and_run_says_what_looks_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    vi.save_mechanism(four_bar((1, 0, 0), rates={"crank pivot": 1.0}), "locked.toml")
    assert main(["info", "locked.toml"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "looks wrong" in words
    assert (
        "the start is refused, the reference configuration is described here: no velocity of mechanism 'mine'" in words
    )
    vi.save_mechanism(two_rods((0.3, 0, 0.27)), "beside.toml")
    assert main(["run", "beside.toml", "--duration", "0.01", "--dt", "0.01"]) == 0
    assert "looks wrong: the point (0.3, 0, 0.27) of revolute joint 'elbow'" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_phantom_between_joints_is_no_size():
    """As in muscle models: two joints at one point of a massless frame, whose inertia keeps a matrix regular."""
    rod = vi.Body.rod("arm", (0, 0, 0), (0.3, 0, 0), mass=0.5)
    phantom = vi.Body("phantom", mass=1e-7, inertia=1e-4 * np.eye(3), position=(0, 0, 0))
    joints = [
        vi.Revolute("first", "world", "phantom", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("second", "phantom", "arm", point=(0, 0, 0), axis=(0, 1, 0)),
    ]
    small = vi.Body.rod("finger", (0.3, 0, 0), (0.31, 0, 0), mass=0.001, radius=0.002)
    last = vi.Revolute("third", "arm", "finger", point=(0.3, 0, 0), axis=(0, 1, 0))
    assert of(vi.Mechanism("frame", [phantom, rod, small], [*joints, last])) == ()
    hung = vi.Revolute("hung", "arm", "phantom", point=(0.3, 0, 0), axis=(0, 1, 0))
    first = vi.Revolute("second", "world", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    told = of(vi.Mechanism("hung", [rod, phantom, small], [first, hung, last]))
    assert [each for each in told if each.startswith("'phantom' is 110 m long")]
