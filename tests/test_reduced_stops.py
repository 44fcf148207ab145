"""Hard stops in reduced coordinates with every integrator that locates them: closed forms, each other, the VI."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import random_tree
from test_redmax_stops import chain
from test_stops import GRAVITY, ball, pendulum

import varint as vi
from varint.cli import main
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.law import complementary
from varint.methods.reduced.events.stops import Stops
from varint.methods.reduced.integrators import INTEGRATORS

LOCATING = [name for name, kind in INTEGRATORS.items() if not (kind.contacts or kind.trees_only)]
SLOW = {"rk45", "bdf1", "sdirk2"}
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in LOCATING]
EXCEEDING = [pytest.param(name, marks=[pytest.mark.slow] if name in {*SLOW, "radau"} else []) for name in LOCATING]
CONTROLLED = [name for name, kind in INTEGRATORS.items() if not kind.fixed]


def double_pendulum():
    plain = vi.mechanisms.double_pendulum(angle=1.5)
    stops = [
        vi.JointStop("shoulder", joint="joint 1", lower=-0.6, upper=2.0, restitution=0.8),
        vi.JointStop("elbow", joint="joint 2", lower=-0.7, upper=0.7, restitution=0.7),
    ]
    return vi.Mechanism("limited", plain.bodies, plain.joints, forces=stops)


def tether():
    """A body that flies, until its rope of 2 m goes taut and stays so."""
    rope = vi.LengthStop("rope", "world", "w", point_a=(0, 0, 0), point_b=(0, 0, -2.0), upper=2.0)
    weight = vi.Body("w", mass=3.0, inertia=np.eye(3), position=(0, 0, -2.0))
    mechanism = vi.Mechanism("tether", [weight], [vi.Free("base", "world", "w")], forces=[rope])
    moving = vi.State([(0.3, 0.0, -1.5)], [(1.0, 0.0, 0.0, 0.0)], [(1.0, 0.2, 0.0)], [(0.1, 0.2, 0.3)])
    return mechanism, {"state": moving}


def slope(errors):
    return np.log2(errors[:-1] / errors[1:])


# ---------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("integrator", [name for name in LOCATING if name != "bdf1"])
def test_ball_bounces_when_it_should(integrator):
    """The first five impacts: their times to 1e-9 s, the energy e^2 of that before to 1e-10."""
    e, fall = 0.8, np.sqrt(2.0 / GRAVITY)
    run = vi.redmax.simulate(ball(e), 3.0, dt=0.01, integrator=integrator)
    height, rate = run.coordinates["slide"] + 1.0, run.rates["slide"]
    energy = GRAVITY
    for impact in range(1, 6):
        time = fall * (1 + 2 * sum(e**k for k in range(1, impact)))
        before = np.searchsorted(run.t, time) - 1
        flight = (rate[before] + np.sqrt(rate[before] ** 2 + 2 * GRAVITY * height[before])) / GRAVITY
        assert run.t[before] + flight == pytest.approx(time, abs=1e-9)
        after = 0.5 * rate[before + 1] ** 2 + GRAVITY * height[before + 1]
        assert after == pytest.approx(e**2 * energy, rel=1e-10)
        energy = after
    assert np.abs(run.energy_balance).max() < 1e-10


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("integrator", EACH)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_rests_with_the_static_torque_until_a_motor_pulls_it_off(integrator, restitution):
    plain = pendulum(lower=-0.7, restitution=restitution)
    body = plain.bodies[0]
    moment = body.mass * GRAVITY * np.linalg.norm(body.position) * np.sin(1.0 - 0.7)
    pull = vi.Motor("pull", joint="joint 1", effort=lambda t: max(0.0, 2.0 * (t - 3.0)))
    mechanism = vi.Mechanism("pulled", plain.bodies, plain.joints, forces=[*plain.forces, pull])
    run = vi.redmax.simulate(mechanism, 4.5, dt=0.01, integrator=integrator)
    angle, released = run.coordinates["joint 1"] + 0.7, 3.0 + moment / 2.0
    assert angle.min() > -1e-8
    rest = (run.t > 2.5) & (run.t < 2.95)  # the step of an integrator with error control may end after the motor begins
    assert np.abs(angle[rest]).max() < 1e-8
    assert np.abs(run.rates["joint 1"][rest]).max() < 1e-8
    assert run.force["stop"][rest] == pytest.approx(np.full(rest.sum(), moment), rel=1e-7)
    held = (run.t > 3.02) & (run.t < released)
    assert run.force["stop"][held] == pytest.approx(moment - 2.0 * (run.t[held] - 0.005 - 3.0), abs=1e-5)
    assert np.abs(run.force["stop"][run.t > released + 0.01]).max() == 0.0
    assert np.abs(angle[run.t < released]).max() > 0.1
    assert np.abs(angle[(run.t > 3.0) & (run.t < released)]).max() < 1e-8
    assert angle[-1] > 0.01


@pytest.mark.parametrize("integrator", EACH)
def test_weight_at_rest_on_a_rope(integrator):
    mechanism, _ = tether()
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator=integrator)
    assert run.force["rope"] == pytest.approx(np.full(len(run.t), -3.0 * GRAVITY), rel=1e-9)
    assert np.abs(run.acceleration).max() < 1e-9


# ---------------------------------------------------------------------------------------- against each other


@pytest.mark.slow
@pytest.mark.parametrize("integrator", CONTROLLED)
def test_double_pendulum_after_six_impacts(integrator):
    reference = vi.redmax.simulate(double_pendulum(), 0.85, integrator="dop853", rtol=1e-12)
    assert np.count_nonzero((np.diff(reference.work, axis=0) < -1e-6).any(axis=1)) == 6
    run = vi.redmax.simulate(double_pendulum(), 0.85, dt=0.85, integrator=integrator, rtol=1e-9)
    assert run.q[-1] == pytest.approx(reference.q[-1], abs=1e-7)
    assert np.abs(reference.energy_balance).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["bdf2", "sdirk2", "vi"])
def test_orders_hold_through_six_impacts(integrator):
    mechanism, T = double_pendulum(), 0.85
    reference = vi.redmax.simulate(mechanism, T, dt=T, integrator="dop853", rtol=1e-12)
    errors = []
    for dt in T / np.array([340, 680, 1360]):
        options = {} if integrator == "vi" else {"integrator": integrator}
        run = (vi.simulate if integrator == "vi" else vi.redmax.simulate)(mechanism, T, dt, **options)
        errors.append(np.abs(run.position[-1] - reference.position[-1]).max())
    assert slope(np.array(errors)) == pytest.approx([2.0, 2.0], abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["radau", "bdf2", pytest.param("sdirk2", marks=pytest.mark.slow)])
def test_tether_keeps_its_length_and_curvature(integrator):
    mechanism, options = tether()
    exact = vi.redmax.simulate(mechanism, 1.5, dt=0.1, integrator="dop853", rtol=1e-11, **options)
    taut = exact.t > 0.3
    assert np.linalg.norm(exact.position[taut, 0], axis=1) == pytest.approx(np.full(taut.sum(), 2.0), abs=1e-10)
    fixed = INTEGRATORS[integrator].fixed
    steps = (0.01, 0.005) if fixed else (0.1,)
    errors = []
    for dt in steps:
        run = vi.redmax.simulate(mechanism, 1.5, dt=dt, every=round(0.1 / dt), integrator=integrator, **options)
        errors.append(np.abs(run.position - exact.position).max())
    assert errors[-1] < (2e-4 if fixed else 1e-6)
    if fixed:
        assert errors[0] / errors[1] > 3.3


@pytest.mark.slow
@pytest.mark.parametrize(("joint", "limit"), [("rocker pivot", {"upper": 0.3}), ("rocker pin", {"lower": -0.3})])
def test_loops_agree_with_the_variational_integrator(joint, limit):
    """The rocker's pin is the cut joint."""
    plain = vi.mechanisms.four_bar()
    stop = vi.JointStop("stop", joint=joint, restitution=0.3, **limit)
    mechanism = vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=[stop], start=dict(plain.start))
    exact = vi.simulate(mechanism, 1.0, 1e-4, every=1000)
    side = 1.0 if "upper" in limit else -1.0
    for integrator, bound in (("dop853", 1e-6), ("radau", 1e-6), ("bdf2", 2e-4), ("sdirk2", 2e-5)):
        run = vi.redmax.simulate(mechanism, 1.0, dt=0.002, every=50, integrator=integrator)
        assert np.abs(run.position - exact.position).max() < bound
        assert (side * run.coordinates[joint]).max() < 0.3 + 1e-9
        assert np.abs(run.energy_balance).max() < 100 * bound


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_chain_with_many_stops(restitution):
    mechanism = chain(restitution)
    runs = [vi.redmax.simulate(mechanism, 1.5, dt=0.01, integrator=name, rtol=1e-9) for name in CONTROLLED]
    for run in runs:
        angles = np.array([run.coordinates[joint.name] for joint in mechanism.joints[1:]])
        assert np.abs(angles).max() < 0.5 + 1e-9
        assert np.abs(run.energy_balance).max() < 1e-6
        assert run.q == pytest.approx(runs[0].q, abs=1e-5)


# ---------------------------------------------------------------------------------------- several at one instant


@pytest.mark.slow
def test_three_balls_at_one_instant():
    """Each as if it were alone, without restitution, with some and with more; all come to rest."""
    boxes = [vi.Body.box(f"b{k}", (0.2, 0.2, 0.2), 1.0, position=(k, 0, 1)) for k in range(3)]
    slides = [vi.Prismatic(f"s{k}", "world", f"b{k}", point=(k, 0, 1), axis=(0, 0, 1)) for k in range(3)]
    floors = [vi.JointStop(f"f{k}", joint=f"s{k}", lower=-1.0, restitution=0.3 * k) for k in range(3)]
    run = vi.redmax.simulate(vi.Mechanism("three", boxes, slides, forces=floors), 2.0, dt=0.01)
    fall, t = np.sqrt(2.0 / GRAVITY), 0.6
    for k in range(1, 3):
        flight, node = t - fall, round(t / 0.01)
        expected = 0.3 * k * GRAVITY * fall * flight - 0.5 * GRAVITY * flight**2
        assert run.q[node, k] + 1.0 == pytest.approx(expected, abs=1e-9)
    assert run.q[-1] == pytest.approx(-np.ones(3), abs=1e-10)
    assert [run.dissipated[f"f{k}"][-1] for k in range(3)] == pytest.approx([GRAVITY] * 3, rel=1e-9)


@pytest.mark.slow
def test_impacts_at_once_take_energy_out_and_are_those_of_maximal_coordinates(rng):
    for _ in range(20):
        plain = random_tree(rng, 5, ("Revolute", "Prismatic"), gravity=(0, 0, 0))
        names = [joint.name for joint in plain.joints]
        forces = [vi.JointStop(f"s{name}", joint=name, upper=0.0, restitution=rng.uniform(0.0, 1.0)) for name in names]
        mechanism = vi.Mechanism("tree", plain.bodies, plain.joints, forces=forces)
        equations = Equations(mechanism)
        stops, q, v = Stops(equations), np.zeros(equations.nq), 20.0 * rng.standard_normal(equations.nq)
        equations.reach(0.0, q, v)
        jump = stops.settle(0.0, q, v)
        equations.place(q)
        M, after = equations.mass_matrix(), v + jump.rates
        push = -M @ jump.rates  # gaps are the coordinates, with the other sign
        assert push.min() > -1e-9 * np.abs(M @ v).max()
        assert after.max() < 1e-8
        gain = 0.5 * (after @ M @ after - v @ M @ v)
        assert gain <= 1e-9
        assert jump.work.sum() == pytest.approx(gain, abs=1e-9 * v @ M @ v)
        state = mechanism.state(rates=dict(zip(names, v, strict=True)))
        runs = vi.simulate(mechanism, 2e-7, 1e-7, state=state), vi.redmax.simulate(mechanism, 2e-7, 1e-7, state=state)
        rates = [[np.diff(run.coordinates[name])[-1] / 1e-7 for name in names] for run in runs]
        np.testing.assert_allclose(*rates, atol=1e-3)


def test_two_stops_at_one_place_let_nothing_through():
    """A joint between an upper and a lower stop that stand at one angle rebounds between them until it is at rest."""
    stops = [vi.JointStop("up", joint="joint 1", upper=0.0, restitution=0.5)]
    stops.append(vi.JointStop("down", joint="joint 1", lower=0.0, restitution=0.5))
    plain = vi.mechanisms.n_pendulum(n=1, angle=0.0)
    mechanism = vi.Mechanism("held", plain.bodies, plain.joints, forces=stops)
    state = mechanism.state(rates={"joint 1": 0.5})
    for run in (vi.simulate(mechanism, 0.1, 0.01, state=state), vi.redmax.simulate(mechanism, 0.1, 0.01, state=state)):
        assert np.abs(run.coordinates["joint 1"]).max() < 1e-10


@pytest.mark.parametrize("integrator", ["radau", "sdirk2", "bdf2"])
def test_a_strong_damper_stops_what_leaves_a_stop(integrator):
    """Within 1e-8 s, so that the link rises by less than what counts as a rebound."""
    plain = vi.mechanisms.n_pendulum(n=1, angle=0.4)
    damper = vi.JointDamper("damper", joint="joint 1", damping=1e11)
    stop = vi.JointStop("stop", joint="joint 1", lower=0.4, restitution=1.0)
    mechanism = vi.Mechanism("held", plain.bodies, plain.joints, forces=[damper, stop])
    state = mechanism.state(coordinates={"joint 1": 0.4}, rates={"joint 1": 1.0})
    run = vi.redmax.simulate(mechanism, 0.02, 0.01, state=state, integrator=integrator)
    assert np.abs(run.coordinates["joint 1"] - 0.4).max() < 1e-4


@pytest.mark.slow
def test_a_rebound_beside_a_taut_length_keeps_its_energy():
    """A bead on a rod bounces off a stop with restitution 1 while its rope across the rod is taut."""
    seed = vi.mechanisms.n_pendulum(n=1, angle=0.4)
    rope = vi.LengthStop("rope", "world", "w", point_a=(0, 0, 0), point_b=(0.6, 0, -0.8), upper=1.0)
    weight = vi.Body("w", mass=3.0, inertia=np.eye(3), position=(0.6, 0, -0.8))
    stop = vi.JointStop("stop", joint=seed.joints[0].name, lower=0.0, restitution=1.0)
    mechanism = vi.Mechanism(
        "beside", [*seed.bodies, weight], [*seed.joints, vi.Free("base", "world", "w")], forces=[rope, stop]
    )
    run = vi.redmax.simulate(mechanism, 2.0, 0.01)
    assert np.abs(run.energy_balance).max() < 1e-6
    assert run.dissipated["stop"][-1] == pytest.approx(0.0, abs=1e-7)


def test_complementary_by_all_cases(rng):
    for k, rank in itertools.product(range(1, 5), range(1, 5)):
        rows = rng.standard_normal((k, max(rank, k)))
        S, c = rows @ rows.T, rng.standard_normal(k)
        z = complementary(S, c)
        assert z.min() >= 0.0
        assert (S @ z + c).min() > -1e-9
        assert np.abs(z * (S @ z + c)).max() < 1e-9
    same = complementary(np.ones((2, 2)), np.array([-1.0, -2.0]))  # two stops at one place: the firmer one counts
    assert same == pytest.approx([0.0, 2.0])


# ---------------------------------------------------------------------------------------- drives, starts, records


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("integrator", EACH)
def test_lift_pushes_its_load_up(integrator):
    bodies = [
        vi.Body("platform", mass=5.0, inertia=np.eye(3)),
        vi.Body("load", mass=2.0, inertia=np.eye(3), position=(0, 0, 1)),
    ]
    joints = [
        vi.Prismatic("lift", "world", "platform", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Prismatic("slide", "world", "load", point=(0, 0, 1), axis=(0, 0, 1)),
    ]
    floor = vi.LengthStop("floor", "platform", "load", point_a=(0, 0, 0), point_b=(0, 0, 1), lower=1.0)
    w = 10.0
    motion = {"lift": lambda t: (0.2 * (1 - np.cos(w * t)), 0.2 * w * np.sin(w * t), 0.2 * w * w * np.cos(w * t))}
    mechanism = vi.Mechanism("lift", bodies, joints, forces=[floor])
    run = vi.redmax.simulate(mechanism, 0.8, dt=0.004, integrator=integrator, prescribed=motion)
    carried = (run.t < np.arccos(-GRAVITY / (0.2 * w * w)) / w) & (run.t > 0.01)
    middle = run.t - 0.002
    force = GRAVITY + 0.2 * w * w * np.cos(w * middle)
    bound = 2.0 if integrator == "bdf1" else 0.05
    assert run.force["floor"][carried] == pytest.approx(2.0 * force[carried], abs=bound)
    assert run.driving["lift"][carried, 0] == pytest.approx(7.0 * force[carried], abs=3.5 * bound)
    height = run.position[:, 1, 2] - run.position[:, 0, 2]
    assert height.min() > 1.0 - 2e-2 * (1.0 if integrator == "bdf1" else 0.01)
    assert height.max() > 1.1


@pytest.mark.parametrize("integrator", EACH)
def test_motion_into_its_own_stop_is_named(integrator):
    mechanism = pendulum(angle=0.0, upper=0.3)
    motion = {"joint 1": lambda t: (t, 1.0, 0.0)}
    with pytest.raises(vi.ConvergenceError, match="'stop' on joint 'joint 1', the motion prescribed for revolute") as e:
        vi.redmax.simulate(mechanism, 1.0, dt=0.01, integrator=integrator, prescribed=motion)
    assert e.value.trajectory.t[-1] == pytest.approx(0.3, abs=1e-9)


def come_back(mechanism, duration, **options):
    """Return a run in reduced coordinates from beyond a stop, that may come back."""
    return vi.redmax.simulate(mechanism, duration, state=mechanism.state(beyond_stops="come back"), **options)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("integrator", EACH)
def test_starts_beyond_a_limit_come_back(integrator):
    run = come_back(pendulum(angle=0.0, lower=0.2), 2.0, dt=0.01, integrator=integrator)
    gap = run.coordinates["joint 1"] - 0.2
    assert gap[0] == pytest.approx(-0.2)
    assert np.diff(gap[gap < -1e-9]).min() > 0.0
    assert abs(gap[-1]) < 1e-3


def exceeding(away, side, *, lands=None):
    """A link ``away``, rad, from where it hangs, and its stop 0.2 rad from there towards ``side``.

    ``lands``: what a box that falls beside it meets, with restitution: its own "stop", or the "ground".
    """
    plain = pendulum(angle=away, **{"lower" if side > 0 else "upper": 0.2 * side})
    if lands is None:
        return plain
    box = vi.Body.box("box", (0.2, 0.2, 0.2), 1.0, position=(5.0, 0.0, 0.5))
    base = vi.Prismatic("base", "world", "box", axis=(0, 0, 1))
    corners = [(5.0 + x, y, 0.4) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    floor = vi.JointStop("floor", joint="base", lower=-0.1, restitution=0.5)
    ground = vi.HardContact("floor", "box", points=corners, restitution=0.5)
    forces = [*plain.forces, floor if lands == "stop" else ground]
    return vi.Mechanism("beside", [*plain.bodies, box], [*plain.joints, base], forces=forces)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", [*EXCEEDING, "euler"])
@pytest.mark.parametrize("side", [1, -1])
def test_exceeded_stop_closes_whatever_the_sign_of_the_force(integrator, side):
    """At rest in equilibrium and next to it: the force, of round-off or below 1e-8 N m, has either sign."""
    angles = []
    for away in (0.0, 1e-9, -1e-9, 1e-15, -1e-15):
        run = come_back(exceeding(away, side), 0.1, dt=0.01, integrator=integrator)
        angles.append(side * run.coordinates["joint 1"])
        assert np.diff(angles[-1]).min() > 0.0
        assert angles[-1] == pytest.approx(angles[0], abs=1e-8)
        bound = {"euler": 0.02, "bdf1": 0.03, "bdf2": 1e-4, "heun": 1e-4}.get(integrator, 1e-6)
        assert np.abs(run.energy_balance).max() < bound
    b, w = 5.0, np.sqrt(1.5 * GRAVITY)
    by_acceleration = 0.2 * (1.0 - (1.0 + b * 0.1) * np.exp(-b * 0.1))
    by_rates = 0.2 * b * np.sin(w * 0.1) / w  # it starts at once, and nothing holds it back but its weight
    implicit = integrator in ("euler", "bdf1", "bdf2", "sdirk2")
    bound = 2e-2 if integrator in ("euler", "bdf1", "heun") else 2e-3
    assert angles[0][-1] == pytest.approx(by_rates if implicit else by_acceleration, rel=bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "lands"), [*((name, None) for name in ["dop853", "rk4", "bdf2", "euler"]), ("dop853", "ground")]
)
def test_exceeded_stop_closes_where_nothing_brings_it_back(integrator, lands):
    """Its weight swings a damped link towards the limit, and lets it hang before it gets there."""
    plain = exceeding(-1.2, 1, lands=lands)
    forces = [replace(plain.forces[0], lower=1.4), vi.JointDamper("damper", joint="joint 1", damping=20.0)]
    mechanism = vi.Mechanism(
        "damped", plain.bodies, plain.joints, forces=[*forces, *plain.forces[1:]], gravity=(0, 0, -400)
    )
    run = come_back(mechanism, 4.0, dt=0.02, integrator=integrator)
    angle = run.coordinates["joint 1"]
    assert np.diff(angle).min() > -1e-9
    assert angle[-1] == pytest.approx(1.4, abs=1e-4)


def test_exceeded_stop_closes_beside_a_contact():
    alone = come_back(exceeding(0.0, 1), 0.1, dt=0.01).coordinates["joint 1"]
    for away in (0.0, 1e-9, -1e-9):
        run = come_back(exceeding(away, 1, lands="ground"), 0.1, dt=0.01)
        assert run.coordinates["joint 1"] == pytest.approx(alone, abs=1e-8)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "lands", "bound"),
    [
        ("dop853", "stop", 1e-7),
        ("dop853", "ground", 1e-7),
        ("rk4", "stop", 1e-7),
        ("bdf2", "stop", 1e-4),
        pytest.param("radau", "ground", 1e-7, marks=pytest.mark.slow),
        pytest.param("sdirk2", "stop", 1e-5, marks=pytest.mark.slow),
    ],
)
def test_exceeded_stop_stays_closed_at_impacts_elsewhere(integrator, lands, bound):
    alone, beside = (
        come_back(exceeding(0.5, 1, lands=other), 0.5, dt=0.01, integrator=integrator) for other in (None, lands)
    )
    assert beside.work[-1, 1] < -0.5  # the box has landed
    assert alone.coordinates["joint 1"][-1] > 0.14
    assert beside.coordinates["joint 1"] == pytest.approx(alone.coordinates["joint 1"], abs=bound)


@pytest.mark.parametrize(
    "beside",
    [
        vi.JointStop("beside", joint="s", lower=-0.1),
        vi.LengthStop("beside", "world", "b", point_a=(0, 0, -1.0), point_b=(0, 0, 0), lower=0.9),
    ],
)
def test_the_return_of_an_exceeded_stop_opens_another_one_that_touches(beside):
    """A ball on a slide 0.1 m below its stop, on another one: it leaves that at the rate b g, exp(-b t) of 0.1 m."""
    body = vi.Body.sphere("b", 0.05, 1.0, position=(0, 0, 0))
    slide, above = vi.Prismatic("s", "world", "b", axis=(0, 0, 1)), vi.JointStop("above", joint="s", lower=0.0)
    mechanism = vi.Mechanism("ball", [body], [slide], forces=[above, beside])
    start = mechanism.state(coordinates={"s": -0.1}, beyond_stops="come back")
    run = vi.redmax.simulate(mechanism, 0.2, dt=0.01, integrator="bdf2", state=start)
    np.testing.assert_allclose(run.coordinates["s"], -0.1 * np.exp(-5.0 * run.t), rtol=0, atol=1e-4)
    assert np.abs(run.energy_balance).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dop853", "bdf2"])
def test_contradiction_is_named(integrator):
    plain = vi.mechanisms.n_pendulum(n=1, angle=0.4)
    stops = [vi.JointStop("low", joint="joint 1", lower=0.5), vi.JointStop("high", joint="joint 1", upper=0.3)]
    mechanism = vi.Mechanism("squeezed", plain.bodies, plain.joints, forces=stops)
    beyond = mechanism.state(beyond_stops="come back")
    with pytest.raises(vi.ConvergenceError, match="'low' on joint 'joint 1', jointstop 'high' on joint 'joint 1'"):
        vi.redmax.simulate(mechanism, 1.0, dt=0.01, integrator=integrator, state=beyond)


def test_nodes_and_times_across_events():
    mechanism = double_pendulum()
    own = vi.redmax.simulate(mechanism, 0.85, rtol=1e-10)
    assert np.diff(own.t).min() > 0.0
    nodes = vi.redmax.simulate(mechanism, 0.85, dt=0.05, rtol=1e-10)
    times = vi.redmax.simulate(mechanism, 0.85, rtol=1e-10, output_times=nodes.t[1:-1])
    assert times.q == pytest.approx(nodes.q, abs=1e-13)
    assert times.work == pytest.approx(nodes.work, abs=1e-13)
    angles = own.q[:, 1]
    assert np.abs(angles).max() == pytest.approx(0.7, abs=1e-11)  # an impact is a node


def test_clarabel_is_needed_with_euler_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    assert vi.redmax.simulate(ball(0.5), 0.5, dt=0.01, integrator="rk45").success
    with pytest.raises(vi.ArgumentError, match="need the package clarabel"):
        vi.redmax.simulate(ball(0.5), 0.5, dt=0.01, integrator="euler")


@pytest.mark.slow
def test_robot_with_joint_limits_is_compared(capsys):
    arm = Path(__file__).parent.parent / "examples" / "robots" / "arm.urdf"
    assert main(["compare", str(arm), "--duration", "1", "--dt", "0.01,0.005"]) == 0
    shown = capsys.readouterr().out
    assert "Differences from the reference" in shown
    assert "REDMAX dop853" in shown


@pytest.mark.parametrize("rest", [0.0, 0.5])
@pytest.mark.parametrize("integrator", ["bdf1", "sdirk2"])
def test_a_gap_that_grows_and_falls_back_within_what_counts_as_closed(integrator, rest):
    """It rises by 1.3e-13 m from -6e-12 m under 64 N: it was said to close and open again without end."""
    stop = vi.JointStop("stop", joint="slide", lower=0.0, restitution=rest)
    slide, body = vi.Prismatic("slide", "world", "b", axis=(0, 0, 1)), vi.Body("b", mass=1.0, inertia=np.eye(3))
    mechanism = vi.Mechanism("held", [body], [slide], gravity=(0, 0, -64.0), forces=[stop])
    state = mechanism.state(coordinates={"slide": -5.8e-12}, rates={"slide": 4e-6})
    run = vi.redmax.simulate(mechanism, 5e-3, 1e-3, state=state, integrator=integrator)
    assert np.abs(run.coordinates["slide"]).max() < 1e-11
    assert run.force["stop"][1:] == pytest.approx(64.0, rel=1e-6)
