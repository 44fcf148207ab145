"""Hard stops in collocation: impacts within a step, stops that stay closed and let go, and runs that go on."""

import numpy as np
import pytest
from test_stepper import assert_same, stepped
from test_stops import GRAVITY, ball, tethered
from test_stops_at_every_order import RESTITUTION, check_five_impacts, end_of, limited, slack_at

import varint as vi


def simulate(mechanism, duration, dt, order=8, state=None, **recording):
    method = vi.Lobatto(dt, order, on_unresolved="ignore")
    return vi.simulate(vi.Problem(mechanism, duration, state), method, vi.Recording(**recording))


@pytest.mark.parametrize("order", [4, 8])
def test_instants_and_energies_of_a_ball(order):
    run = simulate(ball(RESTITUTION), 3.0, 0.04, order)
    check_five_impacts(run, 1e-12, 1e-12)
    assert np.abs(run.energy_balance).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (140, 280, 560)), (6, (80, 113, 160))])
def test_the_order_holds_between_impacts(order, steps):
    """After six impacts, against an integrator with error control in reduced coordinates."""
    mechanism, state = limited()
    exact, errors = end_of(vi.redmax.simulate(mechanism, 1.4, state=state, rtol=1e-12)), []
    for count in steps:
        run = simulate(mechanism, 1.4, 1.4 / count, order, state)
        assert run.substeps == 6
        errors.append(np.abs(end_of(run) - exact).max())
    slope = np.log(errors[0] / errors[-1]) / np.log(steps[-1] / steps[0])
    assert slope == pytest.approx(order, abs=0.3)
    assert np.abs(end_of(simulate(mechanism, 1.4, 0.01, 8, state)) - exact).max() < 1e-9


@pytest.mark.parametrize(("order", "error"), [(4, 1e-6), (6, 1e-9), (8, 1e-12)])
def test_a_tether_lets_go_within_a_step(order, error):
    mechanism = tethered(0.0)
    state = mechanism.state(position={"box": (0, 0, -1)}, velocity={"box": (np.sqrt(3.5 * GRAVITY), 0, 0)})
    run = simulate(mechanism, 1.2, 0.02, order, state)
    assert np.abs(np.array([run.position[-1, 0, ::2], run.velocity[-1, 0, ::2]]) - slack_at()).max() < error


@pytest.mark.parametrize("order", [4, 8])
def test_what_is_pressed_onto_a_stop_leaves_it_when_the_force_turns(order):
    """A force of -2 + 3 t N holds 1 kg on its stop up to 2/3 s, and then lifts it by (t - 2/3)^3 / 2 m."""
    box = vi.Body.box("box", (0.2, 0.2, 0.2), 1.0, position=(0, 0, 0))
    slide = vi.Prismatic("slide", "world", "box", point=(0, 0, 0), axis=(0, 0, 1))
    stop = vi.JointStop("floor", joint="slide", lower=0.0)
    push = vi.Motor("push", joint="slide", effort=lambda t: 3.0 * t - 2.0)
    run = simulate(vi.Mechanism("lift", [box], [slide], forces=[stop, push], gravity=(0, 0, 0)), 1.5, 0.04, order)
    late = np.maximum(run.t - 2 / 3, 0.0)
    assert np.abs(run.coordinates["slide"] - 0.5 * late**3).max() < 1e-12
    assert np.abs(run.velocity[:, 0, 2] - 1.5 * late**2).max() < 1e-12


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_what_comes_to_rest_on_a_stop_stays(restitution):
    run = simulate(ball(restitution), 2.0, 0.02)
    still = run.t > 1.5
    assert np.abs(run.coordinates["slide"][still] + 1.0).max() < 1e-10
    assert np.abs(run.velocity[still]).max() < 1e-10
    assert run.dissipated["floor"][-1] == pytest.approx(GRAVITY, rel=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-12


def test_several_stops_at_one_instant():
    """Three balls that fall together are three that fall alone."""
    names = ["a", "b", "c"]
    balls = [vi.Body.sphere(name, 0.05, 1.0 + k, position=(k, 0, 1)) for k, name in enumerate(names)]
    slides = [vi.Prismatic(f"slide {b.name}", "world", b.name, point=b.position, axis=(0, 0, 1)) for b in balls]
    stops = [vi.JointStop(f"stop {n}", joint=f"slide {n}", lower=-1.0, restitution=0.8) for n in names]
    run = simulate(vi.Mechanism("balls", balls, slides, forces=stops), 2.0, 0.04)
    alone = simulate(ball(0.8), 2.0, 0.04)
    for k in range(3):
        assert np.abs(run.position[:, k, 2] - alone.position[:, 0, 2]).max() < 1e-12
        assert np.abs(run.velocity[:, k, 2] - alone.velocity[:, 0, 2]).max() < 1e-11


@pytest.mark.parametrize("name", ["chain", "four-bar", "universal", "driven"])
def test_motions_between_stops_agree_with_reduced_coordinates(name):
    """A chain that comes to rest against several stops, one in a loop, limits of a joint of two hinges, a drive.

    The link behind the drive rests on its stop for a while, so that rows alone determine the motion.
    """
    mechanism, state, duration, dt = cases()[name]
    run = simulate(mechanism, duration, dt, 8, state)
    exact = vi.redmax.simulate(mechanism, duration, state=state, rtol=1e-12)
    assert run.substeps > 1
    assert np.abs(end_of(run) - end_of(exact)).max() < 1e-8
    assert np.abs(run.energy_balance).max() < 1e-9
    assert run.drift.max() < 1e-11


def cases():
    """Mechanism, start, duration and step."""
    chain, plain = vi.mechanisms.n_pendulum(n=3, angle=1.0), vi.mechanisms.four_bar()
    stops = [vi.JointStop(f"stop {k}", joint=f"joint {k}", lower=-0.3, upper=0.3) for k in (2, 3)]
    spring = vi.TorsionSpring("spring", joint="joint 2", stiffness=3.0, damping=0.2)  # on the row of a stop
    cross = vi.Body.box("bob", (0.1, 0.2, 0.6), 1.0, position=(0, 0, -0.3))
    hinge = vi.Universal("hinge", "world", "bob", point=(0, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    of_hinge = [
        vi.JointStop(f"stop {k}", joint="hinge", coordinate=k, lower=-0.4, upper=0.5, restitution=0.7) for k in (0, 1)
    ]
    universal = vi.Mechanism("universal", [cross], [hinge], forces=of_hinge)
    start = universal.state(coordinates={"hinge": (0.3, 0.2)}, rates={"hinge": (-3.0, 4.0)})
    rocker = vi.JointStop("stop", joint="rocker pivot", upper=0.3, restitution=0.6)
    links = vi.Mechanism("chain", chain.bodies, chain.joints, forces=[*stops, spring], start=chain.start)
    bars = vi.Mechanism("bars", plain.bodies, plain.joints, forces=[rocker], start=dict(plain.start))
    plain = vi.mechanisms.double_pendulum()
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.3 + t + 2.0 * t * np.sin(t) ** 2)
    elbow = vi.JointStop("stop", joint="joint 2", lower=-0.6, upper=0.5)
    led = vi.Mechanism("led", plain.bodies, plain.joints, forces=[drive, elbow])
    moving = led.state(coordinates={"joint 1": 0.3, "joint 2": 0.1}, rates={"joint 1": 1.0, "joint 2": -2.0})
    return {
        "driven": (led, moving, 1.2, 0.01),
        "chain": (links, None, 1.0, 0.01),
        "four-bar": (bars, None, 1.0, 0.005),
        "universal": (universal, start, 1.0, 0.005),
    }


# runs


def driven(effort):
    """A link between stops that a motor drives."""
    plain = vi.mechanisms.n_pendulum(n=1, angle=0.2)
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.3, upper=0.4, restitution=0.3)
    motor = vi.Motor("motor", joint="joint 1", effort=effort)
    return vi.Mechanism("driven", plain.bodies, plain.joints, forces=[motor, stop], start=plain.start)


def swung(t, state):
    return 6.0 * np.sin(4.0 * t) - 0.1 * state.angular_velocity[0, 1]


@pytest.mark.parametrize("follows", [False, True])
def test_bits_of_simulate_in_a_stepper(follows):
    effort, dt = vi.extrapolated(swung) if follows else swung, 0.02
    run = simulate(driven(effort), 80 * dt, dt)
    assert run.substeps > 5
    sim = vi.Stepper(driven(0.0), vi.Lobatto(dt, on_unresolved="ignore"), every=1, extrapolate=follows)
    assert_same(stepped(sim, swung, 80), run)


def test_a_stepper_goes_back_to_what_it_saved():
    mechanism = ball(0.5)
    sims = [vi.Stepper(mechanism, vi.Lobatto(0.03)) for _ in range(2)]
    assert sims[0].step(13)
    saved = sims[0].save()
    ends = []
    for sim in (*sims, sims[0]):
        sim.restore(saved)
        for n in (1, 50):
            assert sim.step(n)
        ends.append(np.concatenate([sim.state.position.ravel(), sim.state.velocity.ravel()]))
    assert ends[0].tolist() == ends[1].tolist() == ends[2].tolist()


@pytest.mark.parametrize("restitution", [0.3, 0.9])
def test_runs_of_files_go_on_to_the_same_bits(tmp_path, restitution):
    whole = simulate(ball(restitution), 2.4, 0.03)
    for duration in (0.6, 1.2, 2.4):  # before an impact, between, and at rest
        joined = simulate(
            ball(restitution), duration, 0.03, output=tmp_path / "run.h5", resume=(tmp_path / "run.h5").exists()
        )
    for name in ("position", "velocity", "work"):
        assert getattr(whole, name).tobytes() == getattr(joined, name).tobytes()


def test_instants_between_nodes_about_an_impact():
    """In closed form, and the run is as if it had not been asked."""
    times = np.array([0.1, 0.4515, 0.452, 0.46, 0.59])
    run, whole = simulate(ball(0.5), 0.9, 0.03, output_times=times), simulate(ball(0.5), 0.9, 0.03)
    assert len(set(times) & set(run.t)) == len(times)
    fall, times = np.sqrt(2 / GRAVITY), run.t
    after = times - fall
    height = np.where(after < 0, 1 - 0.5 * GRAVITY * times**2, 0.5 * GRAVITY * fall * after - 0.5 * GRAVITY * after**2)
    assert np.abs(run.coordinates["slide"] + 1.0 - height).max() < 1e-12
    assert (run.steps, run.substeps) == (whole.steps, whole.substeps)


def test_starts_on_and_beyond_a_stop():
    mechanism = ball(0.5)
    down = mechanism.state(coordinates={"slide": -1.0}, rates={"slide": -2.0})
    run = simulate(mechanism, 0.1, 0.02, 8, down)
    assert run.velocity[-1, 0, 2] == pytest.approx(1.0 - GRAVITY * 0.1, abs=1e-12)
    lying = simulate(mechanism, 0.2, 0.02, 8, mechanism.state(coordinates={"slide": -1.0}))
    assert np.abs(lying.coordinates["slide"] + 1.0).max() < 1e-11
    with pytest.raises(vi.StateError, match="beyond"):
        simulate(mechanism, 0.1, 0.02, 8, mechanism.state(coordinates={"slide": -1.2}))


@pytest.mark.parametrize("order", [4, 8])
def test_starts_come_back_at_the_documented_rate(order):
    """From rest the gap follows 0.2 (1 + b t) exp(-b t), b = 5 / s, while the stop pushes, up to t = 1 / b."""
    mechanism = ball(0.0, height=0.0)
    up = vi.Mechanism("up", mechanism.bodies, mechanism.joints, forces=mechanism.forces, gravity=(0, 0, 0))
    state = up.state(coordinates={"slide": -0.2}, beyond_stops="come back")
    run = simulate(up, 0.2, 0.02, order, state)
    assert run.coordinates["slide"] == pytest.approx(-0.2 * (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t), abs=1e-12)
    pushes = -5.0 * (5.0 * run.t - 1.0) * np.exp(-5.0 * run.t)
    assert run.force["floor"][1:-1] == pytest.approx(pushes[1:-1], abs=1e-9)
    assert np.abs(run.energy_balance).max() < (1e-6 if order == 4 else 1e-11)
