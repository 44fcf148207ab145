"""Methods of users: integrators beside ours in a comparison, the equations they need, the examples of the page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.methods.reduced.states import maximal_state
from varint.methods.variational.schemes import SCHEMES
from varint.runs.method import REGISTERED

PAGE = (Path(__file__).parent.parent / "docs" / "own_methods.md").read_text()
DT = (0.02, 0.01, 0.005)


def run_kutta(mechanism, baumgarte=5.0):
    """The classical method in reduced coordinates."""
    eq = vi.redmax.EquationsOfMotion(mechanism, baumgarte=baumgarte)

    def rate(y):
        q, qdot = np.split(y, 2)
        return np.concatenate([qdot, eq.acceleration(0.0, q, qdot)])

    def rk4(state, dt):
        y = np.concatenate(eq.coordinates(state))
        a = rate(y)
        b = rate(y + dt / 2 * a)
        c = rate(y + dt / 2 * b)
        d = rate(y + dt * c)
        return eq.state(*np.split(y + dt / 6 * (a + 2 * b + 2 * c + d), 2))

    return rk4


def damped():
    springs = [
        vi.TorsionSpring("spring", joint="joint 1", stiffness=3.0, rest_angle=0.4),
        vi.TorsionSpring("damped", joint="joint 2", stiffness=2.0, damping=0.3),
    ]
    return replace(vi.mechanisms.double_pendulum(), forces=springs)


@pytest.fixture(scope="module", autouse=True)
def _run_once():
    """Wall times are of no concern here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("varint.studies.comparison.comparison_run.REPETITIONS", 1)
        yield


# ------------------------------------------------------------------------------------- the page


@pytest.mark.slow
def test_examples_of_the_page_run():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 5
    reduced, matrices, maximal, rival, scheme = ({}, {}, {}, {}, {})
    try:
        for block, names in zip(blocks, (reduced, matrices, maximal, rival, scheme), strict=True):
            exec(block, names)
        rk4, euler = reduced["result"].own
        assert (rk4.name, euler.name) == ("runge_kutta", "symplectic_euler")
        assert rk4.order.position == pytest.approx(4.0, abs=0.1)
        assert euler.order.position == pytest.approx(1.0, abs=0.1)
        assert maximal["result"].own[0].order.position == pytest.approx(1.0, abs=0.15)
        assert maximal["result"].own[0].drift.max() < 1e-9
        mechanism = scheme["traj"].mechanism
        exact = vi.simulate(mechanism, 1.0, 0.002, order=6).position[-1]
        errors = [
            np.abs(vi.simulate(mechanism, 1.0, dt, scheme="triple jump").position[-1] - exact).max()
            for dt in (0.004, 0.002)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.4)
        assert rival["result"].own[0].order.position == pytest.approx(1.0, abs=0.1)
        assert len(rival["traj"]) == 21
        assert list(rival["table"].table["status"]) == ["done", "done"]
    finally:
        SCHEMES.pop("triple jump", None)
        REGISTERED.pop("explicit-euler", None)


# ------------------------------------------------------------------------------------- compare


@pytest.fixture(scope="module")
def loop():
    mechanism = vi.mechanisms.four_bar(rate=3.0)
    return vi.compare(mechanism, 0.2, DT, order=[2, 4], integrators=["bdf2", run_kutta(mechanism), "dop853"])


@pytest.mark.slow
def test_it_stands_among_the_others(loop, tmp_path):
    names = ["VI order 2", "VI order 4", "REDMAX bdf2", "REDMAX dop853", "rk4", "REDMAX dop853 b=0"]
    assert [series.name for series in loop.series] == names
    assert loop.settings.integrators == ("bdf2", "dop853")
    assert loop.settings.own == ("rk4",)
    assert loop.redmax.name == "REDMAX bdf2"
    assert loop.unstabilised.name == "REDMAX dop853 b=0"
    own = loop.own[0]
    assert own.order.velocity == pytest.approx(4.0, abs=0.3)
    assert own.evaluations.tolist() == [0, 0, 0]
    assert [run.steps for run in own.runs] == [10, 20, 40]
    assert all(len(run) == len(loop.t) for run in own.runs)
    assert (own.wall_time > 0).all()
    assert "| rk4 " in str(loop)
    loop.save(tmp_path / "c.json")
    data = json.loads((tmp_path / "c.json").read_text())
    drawn = [line.get_color() for line in loop.plot().axes[0].lines]
    assert len(drawn) == 3 * len(DT) + 3 + 1  # VI, REDMAX, rk4, unstabilised at three tolerances; the reference
    assert [series["name"] for series in data["series"]] == names
    assert data["settings"]["own"] == ["rk4"]
    own.runs[0].save(tmp_path / "r.h5")
    assert own.runs[0].at(0.5 * own.runs[0].t[1]).position.shape == (len(loop.mechanism.bodies), 3)
    assert vi.load(tmp_path / "r.h5").position.tobytes() == own.runs[0].position.tobytes()


def test_energy_of_its_runs_counts_the_work_of_forces():
    mechanism = damped()
    state = mechanism.state(rates={"joint 2": 2.0})
    result = vi.compare(mechanism, 0.2, DT, state=state, integrators=run_kutta(mechanism))
    assert result.redmax is None
    assert result.unstabilised is None
    own = result.own[0]
    assert own.order.position == pytest.approx(4.0, abs=0.2)
    error = np.abs(own.energy).max(axis=1)
    assert error[0] / error[-1] == pytest.approx(16.0, rel=0.2)  # of second order, by the trapezoidal rule
    lost = own.runs[-1].dissipated["damped"][-1]
    assert lost == pytest.approx(result.reference.dissipated["damped"][-1], rel=1e-3)
    assert own.runs[-1].dissipated["spring"] == pytest.approx(0.0, abs=1e-12)


def test_one_that_runs_away_is_stopped():
    mechanism = vi.mechanisms.double_pendulum()

    def blown(state, dt):
        return vi.State(state.position, state.quat_wxyz, 1e200 * (1.0 + state.velocity) ** 3, state.angular_velocity)

    with np.errstate(over="ignore"):
        result = vi.compare(mechanism, 0.1, [0.02, 0.01], integrators=blown)
    run = result.own[0].runs[0]
    assert not run.success
    assert run.t[-1] == pytest.approx(0.02)
    assert np.isnan(result.own[0].error.position).all()
    assert "blown, dt = 0.02: stopped at 0.02 s" in str(result)


@pytest.mark.slow
def test_what_it_gives_is_checked_and_its_errors_name_it():
    mechanism = vi.mechanisms.double_pendulum()

    def broken(state, dt):
        raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine") as caught:
        vi.compare(mechanism, 0.04, [0.02, 0.01], integrators=["dop853", broken])
    assert "raised by integrator 'broken'" in caught.value.__notes__[0]

    start = mechanism.state()
    cases = {
        "no state": (lambda state, dt: None, "what integrator 'mine' gives at t = 0 s must be a State, got None"),
        "shape": (lambda state, dt: replace(start, position=np.zeros(3)), "position of what integrator 'mine'"),
        "norm": (lambda state, dt: replace(start, quat_wxyz=2 * start.quat_wxyz), "quat_wxyz of body.*must have norm"),
    }
    for mine, message in cases.values():
        mine.__name__ = "mine"
        with pytest.raises(vi.ArgumentError, match=message):
            vi.compare(mechanism, 0.04, [0.02, 0.01], integrators=[mine])


def test_wrong_requests_are_named():
    mechanism = vi.mechanisms.double_pendulum()
    rk4 = run_kutta(mechanism)

    class Nameless:
        def __call__(self, state, dt):
            return state

    for integrators, message in (
        ([rk4, rk4], "two are called 'rk4'"),
        ([Nameless()], "has no name to be called by"),
        ([], "integrators is empty"),
        (["rk5", rk4], "integrators must be one of"),
    ):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.compare(mechanism, 0.04, [0.02, 0.01], integrators=integrators)
    servo = vi.JointServo("servo", joint="joint 1", target=0.0, stiffness=1.0, integral=1.0)
    with pytest.raises(vi.ArgumentError, match="jointservo 'servo' has a law with an internal variable"):
        vi.compare(replace(mechanism, forces=[servo]), 0.04, [0.02, 0.01], integrators=rk4)


# ------------------------------------------------------------------------------------- equations


@pytest.mark.parametrize("name", ["four_bar", "cart_pole", "spinning_top", "bennett", "free_body"])
def test_equations_are_those_of_a_run(name):
    mechanism = getattr(vi.mechanisms, name)()
    run = vi.redmax.simulate(mechanism, 0.02, dt=0.01, rtol=1e-10)
    eq = vi.redmax.EquationsOfMotion(mechanism)
    assert eq.size == run.q.shape[1]
    q, qdot = eq.coordinates(run[1])
    state = eq.state(q, qdot)
    for part in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        assert getattr(state, part) == pytest.approx(getattr(run, part)[1], abs=1e-9), part
    ddq = eq.acceleration(0.01, q, qdot)
    assert eq.energy(q, qdot) == pytest.approx(run.energy[1], rel=1e-9, abs=1e-9)
    # M ddq = force + G^T multipliers
    value, rate, G = eq.violations(q, qdot)
    left = eq.mass_matrix(q) @ ddq - eq.force(0.01, q, qdot)
    multipliers = np.linalg.lstsq(G.T, left, rcond=None)[0]
    assert G.T @ multipliers == pytest.approx(left, abs=1e-8 * (1 + abs(left).max()))
    assert max(np.abs([*value, *rate]), default=0.0) < 1e-6
    # and in maximal coordinates: accelerations of the bodies, by differences along the motion
    found = vi.accelerations(mechanism, run[1])
    h = 1e-6
    after, before = (
        maximal_state(mechanism, vi.redmax.ReducedState(q + s * qdot + s * s / 2 * ddq, qdot + s * ddq))
        for s in (h, -h)
    )
    scale = 1 + abs(found.linear).max() + abs(found.angular).max()
    assert found.linear == pytest.approx((after.velocity - before.velocity) / (2 * h), abs=1e-5 * scale)
    spin = (after.angular_velocity - before.angular_velocity) / (2 * h)
    assert found.angular == pytest.approx(spin, abs=1e-5 * scale)


@pytest.mark.slow
def test_open_loops_are_closed():
    mechanism = vi.mechanisms.four_bar(rate=3.0)
    eq = vi.redmax.EquationsOfMotion(mechanism)
    q, qdot = eq.coordinates(mechanism.state())
    opened = q + 1e-3
    assert abs(eq.violations(opened, qdot)[0]).max() > 1e-4
    q, qdot = eq.closed(opened, qdot)
    value, rate, _ = eq.violations(q, qdot)
    assert abs(value).max() < 1e-12
    assert abs(rate).max() < 1e-12


def test_equations_know_forces_drives_and_turns():
    mechanism = damped()
    eq = vi.redmax.EquationsOfMotion(mechanism)
    for q in np.linspace(0.0, 9.0, 10):  # past half a turn the spring goes on
        state = np.array([0.4, q]), np.array([1.0, -2.0])
        eq.acceleration(0.0, *state)
        still = replace(mechanism, forces=())
        plain = vi.redmax.EquationsOfMotion(still)
        assert eq.force(0.0, *state) - plain.force(0.0, *state) == pytest.approx([0.0, -2.0 * q + 0.6], abs=1e-12)
        assert eq.energy(*state) - plain.energy(*state) == pytest.approx(q**2, abs=1e-12)
    drive = vi.PrescribedMotion("drive", joint="joint 1", rate=2.0)
    driven = replace(mechanism, forces=[drive])
    eq = vi.redmax.EquationsOfMotion(driven, vi.redmax.ReducedState([0.3, 0.0], [2.0, 0.0]))
    assert eq.acceleration(0.5, np.zeros(2), np.zeros(2))[0] == 0.0
    run = vi.redmax.simulate(
        driven, 0.5, dt=0.01, state=vi.redmax.ReducedState(np.array([0.3, 0.0]), np.array([2.0, 0]))
    )
    ddq = eq.acceleration(0.5, run.q[-1], run.qdot[-1])
    assert ddq[0] == 0.0
    assert (run.qdot[-1] - run.qdot[-2])[1] / 0.01 == pytest.approx(ddq[1], rel=0.1)
    found = vi.accelerations(driven, run[-1], t=0.5)
    assert found.efforts["drive"] == pytest.approx(run.force["drive"][-1], rel=1e-8)
    assert found.reactions["joint 1"].force == pytest.approx(run.reactions["joint 1"].force[-1], rel=1e-8)


def test_inputs_are_asked_for_at_the_time_and_state():
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t, state: 2.0 * t + state.velocity[0, 0])
    mechanism = replace(vi.mechanisms.double_pendulum(), forces=[motor])
    state = mechanism.state(rates={"joint 1": 1.0})
    found = vi.accelerations(mechanism, state, t=3.0)
    assert found.efforts["motor"] == pytest.approx(6.0 + state.velocity[0, 0])
    eq = vi.redmax.EquationsOfMotion(mechanism)
    plain = vi.redmax.EquationsOfMotion(replace(mechanism, forces=()))
    more = eq.force(3.0, *eq.coordinates(state)) - plain.force(3.0, *eq.coordinates(state))
    assert more == pytest.approx([6.0 + state.velocity[0, 0], 0.0], abs=1e-12)
    sine = vi.PrescribedMotion("sine", joint="joint 1", position=lambda t: np.sin(3.0 * t))
    driven = replace(mechanism, forces=[sine])
    state = driven.state(coordinates={"joint 1": np.sin(0.6)}, rates={"joint 1": 3.0 * np.cos(0.6)})
    spin = vi.accelerations(driven, state, t=0.2).angular[0]
    assert np.linalg.norm(spin) == pytest.approx(9.0 * np.sin(0.6), rel=1e-6)
    eq = vi.redmax.EquationsOfMotion(driven, driven.state(coordinates={"joint 1": 0.0}))
    assert eq.acceleration(0.2, np.zeros(2), np.zeros(2))[0] == pytest.approx(-9.0 * np.sin(0.6), rel=1e-6)


def test_wrong_equations_are_named():
    mechanism = vi.mechanisms.double_pendulum()
    table = vi.Motor("motor", joint="joint 1", effort=np.zeros(5))
    stop = vi.JointStop("stop", joint="joint 1", lower=-1.0)
    rubbing = vi.JointCoulombFriction("rub", joint="joint 1", coefficient=0.1, radius=0.01)
    for force, message in (
        (table, "motor 'motor' has one input value per node"),
        (stop, "jointstop 'stop' is hard"),
        (rubbing, "jointcoulombfriction 'rub' is friction of a joint from its load"),
    ):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.redmax.EquationsOfMotion(replace(mechanism, forces=[force]))
    eq = vi.redmax.EquationsOfMotion(mechanism)
    with pytest.raises(vi.ArgumentError, match=r"q must be an array of numbers of shape \(2,\)|q must be .*got shape"):
        eq.acceleration(0.0, np.zeros(3), np.zeros(2))
    assert np.isnan(eq.acceleration(0.0, np.full(2, np.nan), np.zeros(2))).any()
    loop = vi.redmax.EquationsOfMotion(vi.mechanisms.four_bar())
    assert np.isnan(loop.acceleration(0.0, np.full(3, np.nan), np.zeros(3))).all()


def wound_disc():
    """A disc on a soft torsion spring, which winds it up by more than one turn."""
    disc = vi.Body.cylinder("disc", 0.2, 0.05, 1.0)
    axle = vi.Revolute("axle", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    spring = vi.TorsionSpring("spring", joint="axle", stiffness=0.05)
    return vi.Mechanism("disc", [disc], [axle], gravity=(0, 0, 0), forces=[spring], start={"rates": {"axle": 15.0}})


def test_equations_are_functions_of_their_arguments():
    """Whatever was asked before: the spring is wound up by the angle that is given."""
    equations = vi.redmax.EquationsOfMotion(wound_disc())
    for angle in (8.0, 0.1, -4.0, 3.2, 45.0, -0.3, 8.0):
        assert equations.force(0.0, [angle], [0.0]) == pytest.approx([-0.05 * angle], abs=1e-12)
        assert equations.energy([angle], [0.0]) == pytest.approx(0.025 * angle**2, abs=1e-12)
        moment = equations.mass_matrix([angle])[0, 0]
        assert equations.acceleration(0.0, [angle], [0.0]) == pytest.approx([-0.05 * angle / moment], rel=1e-9)


@pytest.mark.slow
def test_own_integrators_wind_springs_up_in_every_run():
    """Amplitude and energy at each dt, two integrators on the same equations."""
    mechanism = wound_disc()
    equations = vi.redmax.EquationsOfMotion(mechanism)

    def symplectic_euler(state, dt):
        q, qdot = equations.coordinates(state)
        qdot = qdot + dt * equations.acceleration(0.0, q, qdot)
        return equations.state(q + dt * qdot, qdot)

    def other(state, dt):
        return symplectic_euler(state, dt)

    result = vi.compare(mechanism, 2.0, [0.02, 0.01, 0.005], integrators=[symplectic_euler, other])
    assert abs(result.reference.coordinates["axle"]).max() > 2 * np.pi
    for series in result.own:
        assert series.order.orientation > 0.9
        assert max(series.difference.orientation[-1]) < 0.05


def test_loops_too_far_open_are_told():
    equations = vi.redmax.EquationsOfMotion(vi.mechanisms.four_bar())
    with pytest.raises(vi.AssemblyError, match="too far open"):
        equations.closed([3.0, -2.0, 5.0], np.zeros(3))
    four_bar = vi.mechanisms.four_bar()
    state = four_bar.state()
    apart = vi.State(
        state.position + [(0, 0, 0), (0, 0, 0), (0.3, 0, 0)], state.quat_wxyz, state.velocity, state.angular_velocity
    )
    with pytest.raises(vi.StateError, match=r"open: mechanism\.assemble"):
        vi.accelerations(four_bar, apart)


@pytest.mark.parametrize("stages", [[0.2, 0.8], [0.5, 0.6, 0.5], [], [np.nan], "x"])
def test_stages_that_are_no_scheme(stages):
    from varint.methods.variational.schemes import Scheme

    with pytest.raises(vi.ArgumentError, match="stages of scheme 'mine'"):
        Scheme("mine", 4, "wrong", stages)
