"""Starts beyond hard stops are refused or come back; those within the tolerance of closed joints are on the limit."""

import dataclasses

import numpy as np
import pytest

import varint as vi


def disc(torque=0.0, restitution=0.0):
    """Return a disc, 0.005 kg m^2, on a hinge with stops at -1 and 1 rad."""
    hinge = vi.Revolute("h", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    stop = vi.JointStop("s", joint="h", lower=-1.0, upper=1.0, restitution=restitution)
    forces = [stop, vi.Motor("t", joint="h", effort=torque)]
    return vi.Mechanism("m", [vi.Body.cylinder("disc", 0.1, 0.02, 1.0)], [hinge], gravity=(0, 0, 0), forces=forces)


RUNS = {
    "maximal": lambda mechanism, state, duration=1.0: vi.simulate(mechanism, duration, 1e-3, state=state),
    "reduced": lambda mechanism, state, duration=1.0: vi.redmax.simulate(mechanism, duration, 1e-2, state=state),
}


BACK = {"beyond_stops": "come back"}


def tether():
    """Return a body of 1 kg at 0.3 m on a tether of at most 0.25 m."""
    body = vi.Body.sphere("b", 0.05, 1.0, position=(0.3, 0, 0))
    stop = vi.LengthStop("l", "world", "b", point_a=(0, 0, 0), point_b=(0.3, 0, 0), upper=0.25)
    return vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], gravity=(0, 0, 0), forces=[stop])


def four_bar():
    """Return a four-bar whose rocker is 0.1 rad beyond its stop at a crank angle of 0.5 rad."""
    plain = vi.mechanisms.four_bar()
    angle = plain.coordinates(plain.state(coordinates={"crank pivot": 0.5}))["rocker pivot"]
    return dataclasses.replace(plain, forces=[vi.JointStop("s", joint="rocker pivot", upper=angle - 0.1)])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("angle", "side"), [(1.0 + 1e-6, "upper"), (1.2, "upper"), (-1.2, "lower")])
def test_starts_beyond_a_stop_are_refused(run, angle, side):
    """The error names the stop, the value and the limit, and how to let it come back."""
    mechanism = disc()
    with pytest.raises(vi.StateError, match=f"'s'.*at {angle:.9g} rad.*{side} limit.*beyond_stops='come back'"):
        RUNS[run](mechanism, mechanism.state(coordinates={"h": angle}))


@pytest.mark.parametrize("run", RUNS)
def test_starts_beyond_a_length_are_refused(run):
    """A tether of 0.25 m whose end starts at 0.3 m."""
    mechanism = tether()
    with pytest.raises(vi.StateError, match=r"'l'.*at 0\.3 m.*upper limit 0\.25 m"):
        RUNS[run](mechanism, mechanism.state())


def test_reduced_states_beyond_a_stop_are_refused():
    """They have no turns and no rule of their own."""
    mechanism = disc()
    start = vi.redmax.reduced_state(mechanism, mechanism.state(coordinates={"h": 1.2}, **BACK))
    with pytest.raises(vi.StateError, match=r"'s'.*at 1\.2 rad"):
        vi.redmax.simulate(mechanism, 0.1, 1e-2, state=start)


def test_other_rules_for_starts_beyond_stops_are_refused():
    """The error lists those that there are."""
    with pytest.raises(vi.StateError, match="beyond_stops of the state must be one of refuse, come back"):
        disc().state(beyond_stops="come bak")


@pytest.mark.parametrize("beyond", [1e-9, 1e-8])
@pytest.mark.parametrize("run", RUNS)
def test_a_start_within_the_tolerance_is_on_the_limit(run, beyond):
    """A torque away lets the disc go, one onto the stop holds it, with the stop's force from the start on."""
    for torque, angle in ((-0.01, 0.0), (0.01, 1.0)):
        mechanism = disc(torque)
        trajectory = RUNS[run](mechanism, mechanism.state(coordinates={"h": 1.0 + beyond}))
        assert float(trajectory.coordinates["h"][-1]) == pytest.approx(angle, abs=1e-4)
        assert trajectory.force["s"] == pytest.approx(min(0.0, -torque), abs=1e-8)


@pytest.mark.parametrize("torque", [1e-31, -1e-31, 0.0])
@pytest.mark.parametrize("run", RUNS)
def test_the_sign_of_a_tiny_force_decides_nothing(run, torque):
    """On the limit, 1e-9 rad beyond it and 0.1 rad beyond: the motion is the same to 1e-9."""
    mechanism, still = disc(torque), disc()
    for angle in (1.0, 1.0 + 1e-9, 1.1):
        ends = [
            float(RUNS[run](each, each.state(coordinates={"h": angle}, **BACK), 0.3).coordinates["h"][-1])
            for each in (mechanism, still)
        ]
        assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("torque", [-0.01, 0.0, 0.01])
@pytest.mark.filterwarnings("ignore::varint.UnresolvedWarning")  # order 1 counts the work of a motor at the mean rate
def test_starts_come_back_at_the_documented_rate(torque, order):
    """From rest the gap follows 0.2 (1 + b t) exp(-b t), b = 5 / s, up to t = 1 / b, or the motion by the torque.

    With I = 0.005 kg m^2 a torque of -0.01 N m moves the disc by -2 rad/s^2, the path by (t - 1 / b) 25 exp(-b t) / b.
    """
    mechanism, I = disc(torque), 0.005
    trajectory = vi.simulate(mechanism, 0.2, 1e-3, state=mechanism.state(coordinates={"h": 1.2}, **BACK), order=order)
    angle, force, t = trajectory.coordinates["h"], trajectory.force["s"], trajectory.t
    path = 1.0 + 0.2 * (1.0 + 5.0 * t) * np.exp(-5.0 * t)
    pushes = I * 5.0 * (5.0 * t - 1.0) * np.exp(-5.0 * t) - torque
    held = np.minimum.accumulate(pushes < 0.0) > 0
    tolerance = 2e-4 if order == 1 else 1e-9
    assert angle[held] == pytest.approx(path[held], abs=1e-12)
    assert force[held][1:-1] == pytest.approx(pushes[held][1:-1], abs=tolerance)
    assert np.all(angle <= path + 1e-9)
    assert np.ptp(trajectory.energy_balance) < (1e-4 if order == 1 else 1e-7)


@pytest.mark.parametrize("build", [tether, four_bar])
@pytest.mark.parametrize("order", [2, 4, 6])
def test_starts_come_back_alike_in_both_formulations(build, order):
    """A tether, and a loop with gravity: poses agree with those of accelerations, whose integrator is exact to 1e-9."""
    mechanism = build()
    state = mechanism.state(coordinates={"crank pivot": 0.5} if build is four_bar else None, **BACK)
    runs = (
        vi.simulate(mechanism, 0.1, 1e-3, state=state, order=order),
        vi.redmax.simulate(mechanism, 0.1, 1e-3, state=state),
    )
    maximal, reduced = (run.position[-1] for run in runs)
    assert maximal == pytest.approx(reduced, abs=1e-8)
    assert np.abs(maximal - state.position).max() > 1e-3
    assert not len(runs[0].unresolved)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_what_moves_back_faster_is_free(order):
    """At 1.1 rad with -1 rad/s: 0.6 rad after 0.5 s; the same for a tether at 1 m/s."""
    mechanism = disc()
    state = mechanism.state(coordinates={"h": 1.1}, rates={"h": -1.0}, **BACK)
    run = vi.simulate(mechanism, 0.5, 1e-2, state=state, order=order)
    assert float(run.coordinates["h"][-1]) == pytest.approx(0.6, abs=2e-5)
    assert not run.force["s"].any()
    body = tether()
    run = vi.simulate(body, 0.1, 1e-2, state=body.state(velocity={"b": (-1.0, 0, 0)}, **BACK), order=order)
    assert run.position[-1, 0, 0] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_what_moves_further_beyond_is_stopped(order):
    """With 0.5 rad/s away from the range the disc loses 0.5 I w^2 to the stop, and comes back as from rest."""
    mechanism = disc()
    rest, moving = (
        vi.simulate(
            mechanism, 0.1, 1e-3, state=mechanism.state(coordinates={"h": 1.2}, rates={"h": rate}, **BACK), order=order
        )
        for rate in (0.0, 0.5)
    )
    assert moving.coordinates["h"] == pytest.approx(rest.coordinates["h"], abs=1e-9)
    assert moving.work[-1, 0] - rest.work[-1, 0] == pytest.approx(-0.5 * 0.005 * 0.25, rel=1e-6)


@pytest.mark.parametrize("order", [2, 4])
def test_a_limit_elsewhere_is_hit_while_a_start_comes_back(order):
    """Two discs that no joint connects: one rebounds from its stop while the other, and its path, goes on."""
    both = [vi.Body.cylinder(name, 0.1, 0.02, 1.0, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 1))]
    hinges = [vi.Revolute(f"h{b.name}", "world", b.name, point=b.position, axis=(0, 0, 1)) for b in both]
    stops = [vi.JointStop(f"s{b.name}", joint=f"h{b.name}", upper=1.0, restitution=0.5) for b in both]
    mechanism = vi.Mechanism("m", both, hinges, gravity=(0, 0, 0), forces=stops)
    state = mechanism.state(coordinates={"ha": 1.2, "hb": 0.95}, rates={"hb": 1.0}, **BACK)
    run = vi.simulate(mechanism, 0.15, 1e-3, state=state, order=order)
    assert float(run.coordinates["ha"][-1]) == pytest.approx(1.0 + 0.2 * 1.75 * np.exp(-0.75), abs=1e-9)
    assert float(run.coordinates["hb"][-1]) == pytest.approx(0.95, abs=1e-6)


METHODS = {
    **{f"order {n}": lambda m, T, s, n=n: vi.simulate(m, T, 1e-2, state=s, order=n) for n in (1, 2, 4)},
    **{
        name: lambda m, T, s, name=name: vi.redmax.simulate(m, T, 1e-2, state=s, integrator=name)
        for name in ("dop853", "rk4", "sdirk2")
    },
}
every_method = pytest.mark.parametrize("run", METHODS.values(), ids=METHODS)


@every_method
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.0])
def test_a_start_that_cannot_come_back_is_named(run, angle):
    """One stop is on the other's way, or both are beyond: the run ends there."""
    stops = [vi.JointStop("low", joint="h", lower=0.5), vi.JointStop("high", joint="h", upper=0.3)]
    mechanism = dataclasses.replace(disc(), forces=stops)
    with pytest.raises(vi.ConvergenceError, match=r"cannot come back: .* jointstop 'low'.* jointstop 'high'.*once"):
        run(mechanism, 1.0, mechanism.state(coordinates={"h": angle}, **BACK))


@pytest.mark.many
@pytest.mark.slow
@every_method
def test_a_start_that_is_held_back_elsewhere_is_named(run):
    """By a rope that goes taut at 0.1 m, where the stop asks for 0.2 m."""
    body = vi.Body.sphere("b", 0.05, 1.0)
    guide = vi.Prismatic("p", "world", "b", point=(0, 0, 0), axis=(1, 0, 0))
    rope = vi.LengthStop("rope", "world", "b", point_a=(-1, 0, 0), point_b=(0, 0, 0), upper=1.1)
    forces = [vi.JointStop("stop", joint="p", lower=0.2), rope]
    mechanism = vi.Mechanism("m", [body], [guide], gravity=(0, 0, 0), forces=forces)
    with pytest.raises(vi.ConvergenceError, match=r"cannot come back: .*jointstop 'stop'.*lengthstop 'rope' at once"):
        run(mechanism, 2.0, mechanism.state(**BACK))


@pytest.mark.parametrize("name", ["order 1", "order 2", "dop853"])
def test_a_start_that_a_contact_holds_back_is_named(name):
    """A wall at 0.1 m, where the stop asks for 0.2 m."""
    body = vi.Body.sphere("b", 0.05, 1.0)
    guide = vi.Prismatic("p", "world", "b", point=(0, 0, 0), axis=(1, 0, 0))
    wall = vi.HardContact("wall", body="b", points=[(0.05, 0, 0)], ground=(0.15, 0, 0), normal=(-1, 0, 0))
    forces = [vi.JointStop("stop", joint="p", lower=0.2), wall]
    mechanism = vi.Mechanism("m", [body], [guide], gravity=(0, 0, 0), forces=forces)
    with pytest.raises(vi.ConvergenceError, match=r"cannot come back: .*jointstop 'stop'.*hardcontact 'wall'"):
        METHODS[name](mechanism, 2.0, mechanism.state(**BACK))


@pytest.mark.parametrize("run", RUNS)
def test_units_of_stops_of_composite_joints_are_named(run):
    """Rad along its turns, m along its slide."""
    parts = [{"type": "Revolute", "axis": (0, 0, 1)}, {"type": "Prismatic", "axis": (1, 0, 0)}]
    joint = vi.Composite("c", "world", "disc", point=(0, 0, 0), parts=[*parts, {"type": "Revolute", "axis": (0, 1, 0)}])
    for coordinate, unit in enumerate(("rad", "m", "rad")):
        stop = vi.JointStop("s", joint="c", coordinate=coordinate, upper=1.0)
        mechanism = dataclasses.replace(disc(), joints=[joint], forces=[stop])
        q = np.where(np.arange(3) == coordinate, 1.5, 0.0)
        with pytest.raises(vi.StateError, match=f"at 1.5 {unit}, by 0.5 {unit} beyond the upper limit 1 {unit}"):
            RUNS[run](mechanism, mechanism.state(coordinates={"c": q}))


@pytest.mark.slow
def test_runs_go_on_from_their_nodes_while_a_start_comes_back(tmp_path):
    """From a node's state, and from a file that was stopped: as the whole run, and to the same bits."""
    mechanism = four_bar()
    state = mechanism.state(coordinates={"crank pivot": 0.5}, **BACK)
    whole = vi.simulate(mechanism, 0.1, 1e-3, state=state)
    later = vi.simulate(mechanism, 0.05, 1e-3, state=whole[50])
    assert later.position == pytest.approx(whole.position[50:], abs=1e-12)
    path = tmp_path / "run.h5"
    vi.simulate(mechanism, 0.04, 1e-3, state=state, output=path)
    resumed = vi.simulate(mechanism, 0.1, 1e-3, state=state, output=path, resume=True)
    assert np.array_equal(resumed.position, whole.position)
    assert vi.load(path)[50].beyond_stops == "come back"


def test_steppers_let_starts_come_back():
    """As the run does, after a reset as well; a state that does not ask for it is refused."""
    mechanism = disc()
    state = mechanism.state(coordinates={"h": 1.2}, **BACK)
    whole = float(vi.simulate(mechanism, 0.1, 1e-3, state=state).coordinates["h"][-1])
    stepper = vi.Stepper(mechanism, 1e-3, state=state)
    for _ in range(2):
        stepper.step(100)
        assert float(stepper.coordinates[0]) == pytest.approx(whole, abs=1e-12)
        stepper.reset(state)
    with pytest.raises(vi.StateError, match="'s'"):
        stepper.reset(mechanism.state(coordinates={"h": 1.2}))


def test_gradients_of_runs_that_come_back_are_refused():
    """By name."""
    mechanism = disc(0.01)
    state = mechanism.state(coordinates={"h": 1.2}, **BACK)
    with pytest.raises(vi.StateError, match="no derivative of a run whose start comes back"):
        vi.gradient(mechanism, lambda s: s.quat_wxyz[0, 3], 0.1, 1e-2, with_respect_to=["t.effort"], state=state)
