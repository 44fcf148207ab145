"""Reactions, accelerations and efforts at nodes where a motion rests on hard stops."""

import numpy as np
import pytest
from file_runs import same
from force_samples import with_forces

import varint as vi

G = 9.81


def shelf(**stop):
    """A bar of 2 kg and 1 m, hinged at the origin about y, held level by a stop."""
    bar = vi.Body.box("bar", (1.0, 0.1, 0.1), 2.0, position=(0.5, 0, 0))
    hinge = vi.Revolute("hinge", "world", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("shelf", [bar], [hinge], forces=[vi.JointStop("stop", joint="hinge", **stop)])


def test_a_bar_on_a_stop():
    run = vi.simulate(shelf(lower=-1.0, upper=0.0), 0.1, 0.01)
    np.testing.assert_allclose(run.position[-1], run.position[0], atol=1e-12)
    np.testing.assert_allclose(run.acceleration, 0.0, atol=1e-9)
    np.testing.assert_allclose(run.force["stop"], -2.0 * G * 0.5, rtol=1e-9)
    np.testing.assert_allclose(run.reactions["hinge"].force, np.tile([0, 0, 2.0 * G], (len(run), 1)), atol=1e-9)
    np.testing.assert_allclose(run.power["stop"], 0.0, atol=1e-9)


def test_a_stop_does_not_pull():
    run = vi.simulate(shelf(lower=0.0, upper=1.0), 0.1, 0.01)
    assert run.position[-1, 0, 2] < -0.01
    np.testing.assert_array_equal(run.force["stop"], 0.0)
    inertia = 2.0 * (1.0 + 0.01) / 12 + 2.0 * 0.25
    assert run.angular_acceleration[0, 0, 1] == pytest.approx(2.0 * G * 0.5 / inertia, rel=1e-12)


def test_an_arm_falls_onto_a_stop_and_rests():
    """After the impact the stop bears the moment of the weight, and beyond a turn as well."""
    for turns in (0.0, 2 * np.pi):
        mechanism = shelf(upper=0.4 + turns)
        start = mechanism.state(rates={"hinge": 0.5 + 10 * turns})
        motor = vi.Motor("motor", joint="hinge", effort=1.0)
        run = vi.simulate(with_forces(mechanism, *mechanism.forces, motor), 1.0, 1e-3, state=start)
        assert run.coordinates["hinge"][-1] == pytest.approx(0.4 + turns, abs=1e-9)
        assert run.force["stop"][-1] == pytest.approx(-1.0 - 2.0 * G * 0.5 * np.cos(0.4), rel=1e-9)
        assert run.force["stop"][0] == 0.0


def test_curves_of_hard_stops_are_marked_as_those_without_impacts():
    soft = vi.JointStop("soft stop", joint="hinge", upper=1.0, stiffness=1e3)
    mechanism = shelf(upper=0.4)
    run = vi.simulate(with_forces(mechanism, *mechanism.forces, soft), 0.5, 1e-3)
    assert run.force["stop"][0] == 0.0 > run.force["stop"][-1]
    for what, word in (("force", "effort"), ("power", "power")):
        (axes,) = run.plot(what).axes
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        assert names == [f"stop {word}, without impacts", f"soft stop {word}"]


def test_two_links_on_two_stops():
    """Links in line, held at both joints; a load lifts the outer one, whose stop opens."""
    bodies = [vi.Body.box(f"link {k}", (1.0, 0.1, 0.1), 1.0, position=(k + 0.5, 0, 0)) for k in range(2)]
    joints = [
        vi.Revolute(f"joint {k}", ("world", "link 0")[k], f"link {k}", point=(k, 0, 0), axis=(0, 1, 0))
        for k in range(2)
    ]
    stops = [vi.JointStop(f"stop {k}", joint=f"joint {k}", upper=0.0) for k in range(2)]
    mechanism = vi.Mechanism("arm", bodies, joints, forces=stops)
    run = vi.simulate(mechanism, 0.02, 0.01)
    np.testing.assert_allclose(run.force["stop 0"], -G * (0.5 + 1.5), rtol=1e-9)
    np.testing.assert_allclose(run.force["stop 1"], -G * 0.5, rtol=1e-9)
    lifted = vi.simulate(mechanism, 0.02, 0.01, force={"link 1": (0, 0, 12.0)})
    assert lifted.force["stop 1"][0] == 0.0
    second = 12.0 - G  # N, on the outer link, which turns upwards about its joint
    inertia = 1.01 / 12
    carried = second * (1 - 0.25 / (0.25 + inertia))  # of it to the inner link, by the joint
    assert lifted.force["stop 0"][0] == pytest.approx(-(0.5 * G - carried), rel=1e-9)


def test_a_tether_that_is_taut():
    bob = vi.Body.sphere("bob", 0.1, 3.0, position=(0, 0, -1))
    tether = vi.LengthStop("rope", body_a="world", body_b="bob", point_a=(0, 0, 0), point_b=(0, 0, -1), upper=1.0)
    mechanism = vi.Mechanism("bob", [bob], [vi.Free("free", "world", "bob")], forces=[tether])
    run = vi.simulate(mechanism, 0.05, 0.01)
    np.testing.assert_allclose(run.force["rope"], -3.0 * G, rtol=1e-9)
    np.testing.assert_allclose(run.acceleration, 0.0, atol=1e-9)


def test_a_loop_on_a_stop():
    """Against the work of the weights over a virtual turn of the crank."""
    plain = vi.mechanisms.four_bar()
    start = vi.simulate(plain, 0.01, 0.01, state=plain.state(rates={"crank pivot": 0.0}))
    angle = float(start.coordinates["crank pivot"][0])
    pushed = plain.state(rates={"crank pivot": 1.0})
    power = sum(body.mass * -G * v[2] for body, v in zip(plain.bodies, pushed.velocity, strict=True))
    limits = {"upper": angle} if power > 0 else {"lower": angle}  # where the weights press
    mechanism = with_forces(plain, vi.JointStop("stop", joint="crank pivot", **limits))
    run = vi.simulate(mechanism, 0.01, 0.005, state=start.state(0))
    np.testing.assert_allclose(run.force["stop"], -power, rtol=1e-7)
    assert abs(power) > 1.0


@pytest.mark.slow
def test_a_run_that_rests_goes_on_to_the_same_bits(tmp_path):
    """With limits on both sides, of which one is closed."""
    mechanism, path = shelf(lower=-1.0, upper=0.0), tmp_path / "run.h5"
    whole = vi.simulate(mechanism, 0.2, 0.01)
    vi.simulate(mechanism, 0.1, 0.01, output=path)
    assert same(vi.simulate(mechanism, 0.2, 0.01, output=path, resume=True), whole)
    at_times = vi.simulate(mechanism, 0.2, 0.01, output_times=[0.055, 0.105])
    np.testing.assert_allclose(at_times.position[-1], whole.position[-1], atol=1e-12)
