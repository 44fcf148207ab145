"""Steps that follow the motion, and steps that are done again where energy comes from nowhere."""

import json

import numpy as np
import pytest
from resolution_runs import JUMP, largest_jump, random_run

import varint as vi
from varint.cli import main
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.results.dissipation import AmplifiedError
from varint.step.pace import keep_pace


def whip():
    return vi.mechanisms.n_pendulum(10, angle=np.pi / 2)


def energy_error(run):
    return np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()


@pytest.mark.long
@pytest.mark.slow
def test_a_whip_keeps_its_energy():
    run = vi.simulate(whip(), 20.0, 0.02, order=4, adaptive=True)
    assert energy_error(run) < 1e-3
    assert run.steps < 5000
    equal = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="ignore")
    assert energy_error(equal) > 0.01  # of about as many steps


def jump(mechanism, state, duration, dt, order):
    """The largest one of the energy, of its scale."""
    run = vi.simulate(mechanism, duration, dt, order=order, state=state, adaptive=True, on_unresolved="ignore")
    return largest_jump(run)[0]


@pytest.mark.long
@pytest.mark.slow
def test_fifty_links_keep_their_energy_at_second_order():
    """Links whose turn a jerk of the whole chain reverses; steps that follow the turn alone leave 1.5 %."""
    run = vi.simulate(vi.mechanisms.n_pendulum(50, angle=np.pi / 2), 10.0, 0.02, adaptive=True)
    assert energy_error(run) < 2e-3


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "dt", "order"),
    [(8, 0.005, 2), (18, 0.01, 2), (18, 0.01, 4), (43, 0.01, 2), (126, 0.005, 4), (126, 0.005, 6), (139, 0.01, 6)],
)
def test_rods_and_loops_near_a_singular_pose_keep_their_energy(seed, dt, order):
    """All velocities change at once, also those of bodies that hardly turn."""
    assert jump(*random_run(seed)[1:], 2.0, dt, order) < JUMP


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_no_energy_jumps_in_a_large_set(order):
    """A part of the set of benchmarks/adaptive.py."""
    made = [
        (f"{mechanism.name} of {len(mechanism.bodies)}", mechanism, mechanism.state(), duration)
        for mechanism, duration in (
            (whip(), 10.0),
            (vi.mechanisms.n_pendulum(50, angle=np.pi / 2), 5.0),
            (vi.mechanisms.rhombus_chain(16), 5.0),
        )
    ]
    for seed in range(200):
        try:
            made.append((*random_run(seed), 2.0))
        except vi.VarintError:  # a mechanism that cannot move
            continue
    assert len(made) > 150
    jumping, refused = [], 0
    for name, *given in made:
        try:
            jumping += [name] if jump(*given, 0.01, order) > JUMP else []
        except AmplifiedError:  # friction that a scheme of order 4 would amplify
            refused += 1
    assert jumping == []
    assert refused < len(made) // 10


@pytest.mark.slow
def test_steps_follow_a_rod():
    """A ball at 1 m from the origin at 40 rad/s, which does not turn itself, without gravity."""
    ball = vi.Body.sphere("ball", 0.1, 1.0, position=(1, 0, 0))
    rod = vi.Rod("rod", "world", "ball", point=(0, 0, 0), point_b=(1, 0, 0))
    sling = vi.Mechanism("sling", [ball], [rod], gravity=(0, 0, 0))
    run = vi.simulate(sling, 0.5, 0.02, state=sling.state(velocity={"ball": (0, 40.0, 0)}), adaptive=0.1)
    assert run.substeps == 0
    steps = np.diff(run.t)[:-1]
    assert 40.0 * steps.max() < 0.1
    assert np.ptp(steps) < 1e-9  # an even motion
    assert run.kinetic == pytest.approx(800.0, rel=1e-9)


@pytest.mark.slow
def test_the_turn_of_a_step_is_smaller_at_second_order():
    turns = [vi.simulate(whip(), 0.1, 0.02, order=order, adaptive=True).settings["turn"] for order in (2, 4, 6)]
    assert turns == [0.05, 0.1, 0.1]


def on_a_rod():
    """A bar that hangs on a rod by one end, and swings."""
    bar = vi.Body.box("bar", (0.1, 0.1, 1.0), 1.0, position=(0.3, 0, -1.5))
    rod = vi.Rod("rod", "world", "bar", point=(0, 0, 0), point_b=(0.3, 0, -1.0))
    return vi.Mechanism("on a rod", [bar], [rod])


@pytest.mark.slow
@pytest.mark.parametrize("build", [lambda: vi.mechanisms.double_pendulum(angle=0.4), vi.mechanisms.four_bar, on_a_rod])
@pytest.mark.parametrize("order", [2, 4, 6])
def test_motion_comes_back_with_the_velocities_turned_round(order, build):
    mechanism = build()
    march = March(mechanism.compiled, scheme(order), 0.02, 1e-13, 1, turn=0.03)
    start = mechanism.state()
    march.start(start)
    steps = np.diff(march.advance(2000).t)
    ws, reached = march.ws, march.time
    assert steps.max() > 1.5 * steps.min()
    for array in (ws.momentum, ws.momentum_rest, ws.velocity, ws.history):
        array *= -1
    keep_pace(mechanism.compiled.plan, ws, march.pose, 0.02)  # from the step behind the last node to the one before
    ws.pace.time[:] = 0.0
    march.advance(2000)
    back = march.state()
    assert march.time == pytest.approx(reached, rel=1e-9)
    assert np.abs(back.position - start.position).max() < 1e-9
    assert np.abs(back.velocity + start.velocity).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("order", [2, 4])
def test_order_of_steps_that_follow_the_motion(name, order):
    mechanism = getattr(vi.mechanisms, name)()
    exact = vi.simulate(mechanism, 0.5, 0.5 / 256, order=8, tol=1e-13, every=256).position[-1]
    errors = []
    for n in (1, 2):
        run = vi.simulate(mechanism, 0.5, 0.02 / n, order=order, adaptive=0.05 / n, tol=1e-13)
        assert np.ptp(np.diff(run.t)[:-1]) > 0.01 * run.t[1]
        errors.append(np.abs(run.position[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


@pytest.mark.slow
def test_ends_at_the_end_and_not_beyond():
    run = vi.simulate(vi.mechanisms.double_pendulum(), 1.0, 0.02, adaptive=0.05)
    assert run.t[0] == 0.0
    assert run.t[-1] == 1.0
    assert (np.diff(run.t) > 0).all()
    assert np.diff(run.t).max() < 0.021
    assert run.steps == len(run) - 2  # the last one is aside
    assert run.drift.max() < 1e-12


@pytest.mark.slow
def test_steps_that_fit_end_with_the_last_of_them():
    """The steps of a slider that glides stay those of dt, and none is left out for round-off."""
    slider = vi.Mechanism(
        "slider",
        [vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0))],
        [vi.Prismatic("rail", "world", "ball", point=(0, 0, 0), axis=(1, 0, 0))],
        gravity=(0, 0, 0),
    )
    run = vi.simulate(slider, 0.3, 0.1, state=slider.state(rates={"rail": 1.0}), adaptive=True)
    assert run.t == pytest.approx([0.0, 0.1, 0.2, 0.3], abs=1e-15)
    assert run.steps == 3


@pytest.mark.slow
def test_a_hard_brake_at_the_start_is_no_step_backward():
    flywheel = vi.Mechanism(
        "flywheel",
        [vi.Body.box("wheel", (0.4, 0.1, 0.4), 3.0, position=(0, 0, 0))],
        [vi.Revolute("axle", "world", "wheel", point=(0, 0, 0), axis=(0, 1, 0))],
        forces=[vi.JointDamper("brake", joint="axle", damping=50.0)],
    )
    run = vi.simulate(flywheel, 1.0, 0.02, state=flywheel.state(rates={"axle": 30.0}), adaptive=True)
    assert (np.diff(run.t) > 0).all()
    assert abs(run.rates["axle"][-1]) < 1.0


@pytest.mark.slow
def test_forces_loops_and_couplings():
    mechanism = vi.mechanisms.governor(damping=1e3)  # as much as order 4 takes in these steps
    run = vi.simulate(mechanism, 0.5, 0.001, order=4, adaptive=0.05)
    assert np.abs(run.energy_balance).max() < 1e-6 * run.kinetic.max()


@pytest.mark.slow
def test_goes_on_after_a_stop_to_the_same_bits(tmp_path):
    mechanism, made = vi.mechanisms.double_pendulum(), {"order": 4, "adaptive": True}
    whole = vi.simulate(mechanism, 3.0, 0.02, **made)
    path = tmp_path / "run.h5"
    vi.simulate(mechanism, 1.3, 0.02, output=path, **made)
    longer = vi.simulate(mechanism, 3.0, 0.02, output=path, resume=True, **made)
    for name in ("t", "position", "quat_wxyz", "velocity"):
        assert np.array_equal(getattr(longer, name), getattr(whole, name)), name


def motor():
    four = vi.mechanisms.four_bar()
    return vi.Mechanism(
        "driven", four.bodies, four.joints, forces=[vi.Motor("m", joint="crank pivot", effort=np.zeros(101))]
    )


@pytest.mark.parametrize(
    ("build", "given", "message"),
    [
        (motor, {"adaptive": True}, "has one input value per node, which adaptive steps do not support"),
        (
            vi.mechanisms.double_pendulum,
            {"adaptive": True, "force": {"link 1": np.zeros((101, 3))}},
            "one value a node",
        ),
        (vi.mechanisms.double_pendulum, {"adaptive": True, "order": 1}, "order 2 or above"),
        (vi.mechanisms.double_pendulum, {"adaptive": -1.0}, "must be positive"),
        (vi.mechanisms.double_pendulum, {"adaptive": "yes"}, "must be a number"),
        (vi.mechanisms.double_pendulum, {"adaptive": True, "dt": "auto"}, "dt = 'auto'"),
    ],
)
def test_what_cannot_be_is_refused(build, given, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.simulate(build(), **({"duration": 1.0, "dt": 0.01} | given))


@pytest.mark.slow
def test_steps_are_done_again_where_energy_comes_from_nowhere():
    told = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="ignore")
    assert energy_error(told) > 0.02
    assert len(told.unresolved)
    run = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="substep")
    assert energy_error(run) < 0.005
    assert not len(run.unresolved)
    assert run.substeps > 0


# ---------------------------------------------------------------------------------------- inputs that vary, and times


def swung(t):
    """rad, of a crank: smooth, and still at the start."""
    return 0.4 * (1.0 - np.cos(3.0 * t)) + 0.1 * np.sin(2.0 * t) ** 2


def braked(t, state):
    return -0.5 * state.angular_velocity[0, 1]


def with_force(force, build=vi.mechanisms.double_pendulum):
    mechanism = build()
    return vi.Mechanism("driven", mechanism.bodies, mechanism.joints, forces=[*mechanism.forces, force])


DRIVEN = {
    "prescribed": (lambda: with_force(vi.PrescribedMotion("m", joint="joint 1", position=swung)), 2),
    "steady": (lambda: with_force(vi.PrescribedMotion("m", joint="joint 1", rate=1.5)), 2),
    "of the state": (lambda: with_force(vi.Motor("m", joint="joint 1", effort=braked)), 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRIVEN)
def test_inputs_that_vary(name):
    """Against short steps of one size; the order is that with which the inputs are followed."""
    build, order = DRIVEN[name]
    mechanism = build()
    exact = vi.simulate(mechanism, 1.0, 1e-4, order=2, every=10_000)
    errors = []
    for n in (1, 2):
        run = vi.simulate(mechanism, 1.0, 0.02 / n, adaptive=0.04 / n)
        assert run.steps > 55 * n
        assert run.t[-1] == 1.0
        assert run.drift.max() < 1e-10
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
        error = run.energy_balance
        assert np.abs(error).max() < 0.05 / n
    assert errors[0] < 5e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_prescribed_motion_is_where_it_should_be(order):
    mechanism = DRIVEN["prescribed"][0]()
    times = np.array([0.1, 0.123456, 0.7, 0.9999])
    run = vi.simulate(mechanism, 1.0, 0.02, order=order, adaptive=True, output_times=times)
    assert run.coordinates["joint 1"] == pytest.approx(swung(run.t), abs=2e-6)
    nodes = vi.simulate(mechanism, 1.0, 0.02, order=order, adaptive=True)
    assert nodes.coordinates["joint 1"][:-1] == pytest.approx(swung(nodes.t[:-1]), abs=1e-10)


@pytest.mark.slow
def test_functions_are_not_asked_for_what_is_after_the_run():
    asked = []

    def position(t):
        asked.append(t)
        return 1.0 - np.cos(t)

    driven = with_force(vi.PrescribedMotion("m", joint="joint 1", position=position))
    vi.simulate(driven, 0.97, 0.02, adaptive=True, output_times=[0.5, 0.9699])
    assert min(asked) >= 0.0
    assert max(asked) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("name", ["whip", "four_bar", *DRIVEN])
@pytest.mark.parametrize("order", [2, 4])
def test_output_times_leave_the_run_as_it_is(name, order):
    """They are those of a step of the scheme's own order from the node before, and the nodes do not change."""
    builds = {"whip": whip, "four_bar": vi.mechanisms.four_bar} | {name: build for name, (build, _) in DRIVEN.items()}
    mechanism = builds[name]()
    made = {"order": order, "adaptive": True}
    nodes = vi.simulate(mechanism, 1.0, 0.02, **made)
    some = nodes.t[[3, 10]]
    times = np.sort(np.concatenate([some, [0.0, 1e-13, 0.2, 0.20001, 0.55, 1.0]]))
    run = vi.simulate(mechanism, 1.0, 0.02, output_times=times, **made)
    assert run.t == pytest.approx(np.concatenate([[0.0, 1e-13], times[2:]]), abs=1e-15)
    assert run.steps == nodes.steps
    for k in (3, 10):
        here = np.flatnonzero(run.t == nodes.t[k])[0]
        assert np.array_equal(run.position[here], nodes.position[k])
        # the end of one step and the start of the next may differ by the last bit of the time
        assert run.command[here] == pytest.approx(nodes.command[k], rel=1e-14) or name == "of the state"
    assert np.array_equal(run.position[-1], nodes.position[-1])
    between = nodes.at(run.t)
    assert run.position == pytest.approx(between.position, abs=1e-4)
    assert run.velocity == pytest.approx(between.velocity, abs=2e-2)
    assert run.drift.max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_order_at_output_times(order):
    mechanism, times = vi.mechanisms.four_bar(), [0.111, 0.333, 0.456]
    exact = vi.simulate(mechanism, 0.5, 0.5 / 256, order=8, tol=1e-13, output_times=times).position[1:-1]
    errors = []
    for n in (1, 2):
        run = vi.simulate(mechanism, 0.5, 0.02 / n, order=order, adaptive=0.05 / n, tol=1e-13, output_times=times)
        errors.append(np.abs(run.position[1:-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", ["whip", "steady"])
@pytest.mark.parametrize("times", [None, np.linspace(0.05, 0.95, 19)])
def test_goes_on_to_the_same_bits_with_inputs_and_times(name, times, tmp_path, monkeypatch):
    mechanism = whip() if name == "whip" else DRIVEN[name][0]()
    made = {"dt": 0.02, "adaptive": True, "output_times": times}
    whole = vi.simulate(mechanism, 1.0, **made)
    path, seen = tmp_path / "run.h5", []

    class Stop(Exception):
        pass

    def progress(done, total):
        seen.append(done)
        if done > 0.5:
            raise Stop

    monkeypatch.setattr("varint.runs.running.LARGEST_BLOCK", 0)
    with pytest.raises(Stop):
        vi.simulate(mechanism, 1.0, output=path, progress=progress, **made)
    assert 0.5 < seen[-1] < 0.9
    longer = vi.simulate(mechanism, 1.0, output=path, resume=True, **made)
    for array in ("t", "position", "quat_wxyz", "velocity", "command", "work"):
        assert np.array_equal(getattr(longer, array), getattr(whole, array)), array


@pytest.mark.slow
def test_times_after_the_last_node_leave_the_end():
    """The last node lies before the end, and so may times: the end is recorded all the same."""
    mechanism = vi.mechanisms.double_pendulum()
    nodes = vi.simulate(mechanism, 1.0, 0.02, adaptive=True)
    between = 0.5 * (nodes.t[-2] + 1.0)
    run = vi.simulate(mechanism, 1.0, 0.02, adaptive=True, output_times=[0.3, between, 1.0 - 1e-7])
    assert run.t.tolist() == [0.0, 0.3, between, 1.0 - 1e-7, 1.0]
    assert np.array_equal(run.position[-1], nodes.position[-1])


@pytest.mark.slow
def test_the_command_tells_the_time_that_was_simulated(capsys):
    assert main(["run", "double_pendulum", "--duration", "1", "--dt", "0.02", "--adaptive", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["simulated"] == 1.0
    assert told["asked_steps"] is None


@pytest.mark.slow
def test_steps_without_end_are_told():
    """A spring of 1e20 N m/rad asks for 10^12 steps a second."""
    plain = vi.mechanisms.double_pendulum()
    spring = vi.TorsionSpring("wall", joint="joint 1", stiffness=1e20)
    stiff = vi.Mechanism("stiff", plain.bodies, plain.joints, forces=[spring])
    with pytest.raises(vi.ConvergenceError, match=r"as short as \d.*more than 1e\+09 of them.*without adaptive=True"):
        vi.simulate(stiff, 1.0, 0.01, state=stiff.state(coordinates={"joint 1": 0.3}), adaptive=True)
