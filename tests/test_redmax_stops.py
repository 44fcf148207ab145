"""Hard stops in reduced coordinates: against closed forms and the variational integrator, energy, complementarity."""

import numpy as np
import pytest
from random_mechanisms import random_tree
from test_stops import GRAVITY, ball, pendulum

import varint as vi
from varint.methods.reduced.contacts import Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.saddle import LinearStep


def euler(mechanism, duration, dt, **options):
    return vi.redmax.simulate(mechanism, duration, dt=dt, integrator="euler", **options)


def chain(restitution, n=6, lower=-0.5, upper=0.5):
    plain = vi.mechanisms.n_pendulum(n=n, angle=1.5)
    stops = [
        vi.JointStop(f"stop {joint.name}", joint=joint.name, lower=lower, upper=upper, restitution=restitution)
        for joint in plain.joints[1:]
    ]
    return vi.Mechanism("chain", plain.bodies, plain.joints, forces=stops)


@pytest.mark.parametrize("integrator", ["rk4", "heun", "dop853"])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_stop_that_is_reached_at_a_node_has_its_impact(integrator, restitution):
    """At 5 rad/s from 0 to 1 rad the step of 1 ms ends on the stop, to round-off."""
    disc = vi.Body.cylinder("disc", 0.1, 0.02, 1.0)
    hinge = vi.Revolute("hinge", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    stop = vi.JointStop("stop", joint="hinge", upper=1.0, restitution=restitution)
    mechanism = vi.Mechanism("m", [disc], [hinge], gravity=(0, 0, 0), forces=[stop])
    state = mechanism.state(rates={"hinge": 5.0})
    run = vi.redmax.simulate(mechanism, 0.3, 1e-3, state=state, integrator=integrator)
    assert run.coordinates["hinge"][-1] == pytest.approx(1.0 - restitution * 5.0 * 0.1, abs=1e-9)
    assert run.rates["hinge"][-1] == pytest.approx(-restitution * 5.0, abs=1e-9)


@pytest.mark.slow
def test_ball_follows_the_geometric_decay():
    e, fall = 0.5, np.sqrt(2 / GRAVITY)
    errors = []
    for dt in (0.002, 0.001):
        run = euler(ball(e), 3.0, dt)
        height = run.coordinates["slide"] + 1.0
        times = [fall * (1 + sum(2 * e**k for k in range(1, bounce)) + e**bounce) for bounce in range(1, 4)]
        errors.append(np.abs(np.interp(times, run.t, height) - e ** (2 * np.arange(1.0, 4.0))).max())
        assert height.min() > -1e-12
        rest = run.t > fall * (1 + 2 * e / (1 - e)) + 0.05
        assert np.abs(height[rest]).max() < 1e-9
        assert np.abs(run.velocity[rest]).max() < 1e-9
        assert run.dissipated["floor"][-1] == pytest.approx(GRAVITY, rel=1e-6)
    assert errors[0] < 0.02
    assert errors[1] < 0.7 * errors[0]


@pytest.mark.long
@pytest.mark.slow
def test_elastic_ball_bounces_for_ever():
    """In free fall the positions of the scheme lie on a parabola: an impact at a node leaves its top where it was."""
    run = euler(ball(1.0), 100.0, 0.01)
    v = run.velocity[:, 0, 2]
    assert np.count_nonzero((v[:-1] < 0) & (v[1:] > 0)) > 100
    assert run.energy - 0.5 * GRAVITY * 0.01 * v == pytest.approx(np.full(len(v), GRAVITY), abs=1e-7)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_converges_to_the_variational_integrator(restitution):
    mechanism, T = pendulum(lower=-0.8, restitution=restitution), 2.0
    exact = vi.simulate(mechanism, T, 1e-4, every=1000)
    assert exact.coordinates["joint 1"].min() < -0.7
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        run = euler(mechanism, T, dt, every=round(0.1 / dt))
        errors.append(np.abs(run.position - exact.position).max())
        assert run.coordinates["joint 1"].min() > -0.8 - 1e-9
    assert errors[2] < 5e-3
    assert errors[2] < 0.7 * errors[1] < 0.5 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "limit"),
    [("rocker pivot", {"upper": 0.3}), pytest.param("rocker pin", {"lower": -0.3}, marks=pytest.mark.slow)],
)
def test_loop_converges_to_the_variational_integrator(joint, limit):
    """The rocker's pin is the cut joint."""
    plain, T = vi.mechanisms.four_bar(), 1.0
    assert (joint in vi.redmax.coordinates(plain)) == (joint == "rocker pivot")
    stop = vi.JointStop("stop", joint=joint, restitution=0.3, **limit)
    mechanism = vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=[stop], start=dict(plain.start))
    exact = vi.simulate(mechanism, T, 1e-4, every=1000)
    assert exact.dissipated["stop"][-1] > 0.1
    for dt in (2e-3, 1e-3, 5e-4):
        # where in a step the impact falls is a matter of chance
        run = euler(mechanism, T, dt, every=round(0.1 / dt))
        assert np.abs(run.position - exact.position).max() < 15.0 * dt
        side = 1.0 if "upper" in limit else -1.0
        assert (side * run.coordinates[joint]).max() < 0.3 + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_chain_with_many_stops(restitution):
    balances = []
    for dt in (0.004, 0.002):
        run = euler(chain(restitution), 1.5, dt)
        angles = np.array([run.coordinates[joint.name] for joint in run.mechanism.joints[1:]])
        assert np.abs(angles).max() < 0.5 + 1e-9
        impacts = np.array([run.dissipated[f"stop {joint.name}"] for joint in run.mechanism.joints[1:]])
        assert impacts.max() < 1e-6 if restitution == 1.0 else impacts[:, -1].max() > 0.1
        balances.append(np.abs(run.energy_balance).max())
    assert balances[1] < 0.7 * balances[0]


@pytest.mark.slow
def test_no_impact_adds_energy_and_impulses_are_complementary(rng):
    """Without other forces: what a step gives to 1/2 v^T M v is what the impulses do, and that is never positive."""
    for _ in range(20):
        plain = random_tree(rng, 5, ("Revolute", "Prismatic"), gravity=(0, 0, 0))
        stops = [
            vi.JointStop(f"s{k}", joint=joint.name, lower=-0.1, upper=0.1, restitution=rng.uniform(0.0, 1.0))
            for k, joint in enumerate(plain.joints)
        ]
        equations = Equations(vi.Mechanism("tree", plain.bodies, plain.joints, forces=stops))
        q, v, h = rng.uniform(-0.1, 0.1, equations.nq), 20.0 * rng.standard_normal(equations.nq), 0.01
        equations.place(q)
        equations.move(q, v)
        equations.load(0.0)
        M, none = equations.mass_matrix(), np.zeros((0, equations.nq))
        contacts = Contacts(equations)
        after = contacts.solve(h, v, LinearStep(M, M @ v, none, np.zeros(0)), np.zeros(equations.nq))
        gain = 0.5 * (after @ M @ after - v @ M @ v)
        size = 0.5 * v @ M @ v
        assert gain < 1e-9 * size
        assert contacts.work.sum() == pytest.approx(gain, abs=1e-9 * size)
        assert np.abs(q + h * after).max() < 0.1 + 1e-9
        # only stops that are met at their bound push
        effort = M @ (after - v)
        open_ = (np.abs(q + h * after) < 0.1 - 1e-6) & (after * v > 0)
        assert np.abs(effort[open_]).max(initial=0.0) < 1e-7 * np.abs(M @ v).max()


# ---------------------------------------------------------------------------------------- forces


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_force_of_a_stop_at_rest_is_the_weight(side):
    body = vi.Body("rod", mass=3.0, inertia=np.eye(3), position=(0, 0, -0.8))
    hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    limit = -0.4 if side == "upper" else 0.4
    stop = vi.JointStop("stop", joint="hinge", **{side: limit})
    mechanism = vi.Mechanism("leaning", [body], [hinge], forces=[stop])
    run = euler(mechanism, 0.2, 0.01, state=mechanism.state(coordinates={"hinge": limit}), every=4)
    moment = 3.0 * GRAVITY * 0.8 * np.sin(limit)
    assert run.force["stop"] == pytest.approx(np.full(len(run.t), moment), rel=1e-7)
    # nothing moves: the joint bears the weight, the stop takes the moment about it
    assert np.abs(run.acceleration).max() < 1e-6
    expected = np.tile([0.0, 0.0, 3.0 * GRAVITY], (len(run.t), 1))
    assert run.reactions["hinge"].force == pytest.approx(expected, abs=1e-6)
    assert np.abs(run.reactions["hinge"].torque).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 10])
def test_impulse_of_an_impact_is_in_the_force(every):
    """The momentum that a floor gives back, and what it takes out."""
    run = euler(ball(0.5), 0.6, 0.001, every=every)
    v = run.velocity[:, 0, 2]
    impulse = np.sum(run.force["floor"][1:] * np.diff(run.t))
    assert impulse == pytest.approx(v[-1] + GRAVITY * 0.6, abs=1e-9)
    assert -np.sum(run.power["floor"][1:] * np.diff(run.t)) == pytest.approx(run.dissipated["floor"][-1], abs=1e-9)


def test_tether_carries_its_weight():
    weight = vi.Body("w", mass=3.0, inertia=np.eye(3), position=(0, 0, -2.0))
    rope = vi.LengthStop("rope", "world", "w", point_a=(0, 0, 0), point_b=(0, 0, -2.0), upper=2.0)
    run = euler(vi.Mechanism("hung", [weight], [vi.Free("base", "world", "w")], forces=[rope]), 0.1, 0.01)
    assert run.force["rope"] == pytest.approx(np.full(len(run.t), -3.0 * GRAVITY), rel=1e-6)
    assert np.abs(run.acceleration).max() < 1e-5


# ---------------------------------------------------------------------------------------- with prescribed joints


@pytest.mark.slow
@pytest.mark.parametrize("below", ["platform", "world"])
def test_lift_pushes_its_load_up(below):
    """A platform that is moved up and down faster than things fall: the load on it leaves it and lands again."""
    bodies = [
        vi.Body("platform", mass=5.0, inertia=np.eye(3)),
        vi.Body("load", mass=2.0, inertia=np.eye(3), position=(0, 0, 1)),
    ]
    joints = [
        vi.Prismatic("lift", "world", "platform", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Prismatic("slide", below, "load", point=(0, 0, 1), axis=(0, 0, 1)),
    ]
    floor = vi.LengthStop("floor", "platform", "load", point_a=(0, 0, 0), point_b=(0, 0, 1), lower=1.0)
    mechanism = vi.Mechanism("lift", bodies, joints, forces=[floor])
    w = 10.0
    motion = {"lift": lambda t: (0.2 * (1 - np.cos(w * t)), 0.2 * w * np.sin(w * t), 0.2 * w * w * np.cos(w * t))}
    balances = []
    for dt in (0.004, 0.002):
        run = euler(mechanism, 1.0, dt, prescribed=motion)
        carried = run.t < np.arccos(-GRAVITY / (0.2 * w * w)) / w - 2 * dt  # until it falls behind
        force = 2.0 * (GRAVITY + 0.2 * w * w * np.cos(w * run.t))
        carried[:2] = False  # of the first step the speed is that of its middle
        assert run.force["floor"][carried] == pytest.approx(force[carried], abs=500 * dt)
        drive = 7.0 * GRAVITY + 7.0 * 0.2 * w * w * np.cos(w * run.t)
        assert run.driving["lift"][carried, 0] == pytest.approx(drive[carried], abs=1000 * dt)
        height = run.position[:, 1, 2] - run.position[:, 0, 2]
        assert height.min() > 1.0 - 1e-9
        assert height.max() > 1.1
        balances.append(np.abs(run.energy_balance).max())
    assert balances[1] < 0.7 * balances[0]


def test_motion_into_its_own_stop_is_named():
    mechanism = pendulum(angle=0.0, upper=0.3)
    motion = {"joint 1": lambda t: (t, 1.0, 0.0)}
    with pytest.raises(vi.ConvergenceError, match="'stop' on joint 'joint 1', the motion prescribed for revolute") as e:
        euler(mechanism, 1.0, 0.01, prescribed=motion)
    assert e.value.trajectory.t[-1] == pytest.approx(0.3, abs=0.02)
    rests = euler(mechanism, 0.1, 0.01, prescribed={"joint 1": lambda t: (0.3, 0.0, 0.0)})
    assert np.abs(rests.force["stop"]).max() == 0.0


def test_contradiction_names_the_stops_and_their_joint():
    plain = vi.mechanisms.n_pendulum(n=1, angle=0.4)
    stops = [
        vi.JointStop("low", joint="joint 1", lower=0.5),
        vi.JointStop("high", joint="joint 1", upper=0.3),
    ]
    mechanism = vi.Mechanism("squeezed", plain.bodies, plain.joints, forces=stops)
    message = "no motion obeys all of jointstop 'low' on joint 'joint 1', jointstop 'high' on joint 'joint 1' at once"
    with pytest.raises(vi.ConvergenceError, match=message):
        euler(mechanism, 1.0, 0.01, state=mechanism.state(beyond_stops="come back"))


def test_starts_beyond_a_limit_come_back():
    mechanism = pendulum(angle=0.0, lower=0.2)
    run = euler(mechanism, 1.0, 0.01, baumgarte=5.0, state=mechanism.state(beyond_stops="come back"))
    gap = run.coordinates["joint 1"] - 0.2
    beyond = gap[:-1] < 0.0
    assert gap[0] == pytest.approx(-0.2)
    assert np.all(gap[1:][beyond] > gap[:-1][beyond] * (1 - 5.0 * 0.01) - 1e-9)
    assert gap[-1] >= -1e-12
    assert run.rates["joint 1"].max() < 5.0 * 0.2 + 1e-9
