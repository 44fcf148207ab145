"""KKT systems at velocity level in maximal coordinates: orders, known figures, derivatives, entrances."""

import json
from dataclasses import replace

import force_samples
import numpy as np
import pytest
from holonomic import HOLONOMIC
from random_mechanisms import random_velocity_state

import varint as vi
from varint.cli import main
from varint.extras.rivals.maximal import RULES, STABILISATIONS
from varint.extras.rivals.velocity_level import ForceMatrices, SparseSystem, VelocityLevel
from varint.model.known_forces import USES
from varint.runs.method import PLACES, methods_by_integrator
from varint.step.velocity_steps import move_poses

# slow: they compile functions that few others need; joints of some open on purpose
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::varint.base.errors.UnresolvedWarning")]

REFUSED = set(USES["velocity level"].refuses)
SAMPLES = force_samples.SAMPLES
DT, FINE = (0.01, 0.005, 0.0025), (0.00125, 0.000625)
every_rule = pytest.mark.parametrize("integrator", RULES)


def sampled(name):
    return force_samples.sample_mechanism(np.random.default_rng(1), SAMPLES[name])


NOT_TAKEN = {*force_samples.STATES, *force_samples.OF_RATES, *force_samples.RESTRICTED, "Tendon"}
TAKEN = [name for name in SAMPLES if name not in NOT_TAKEN]


def test_samples_are_named_by_what_refuses_them():
    assert {name for name in SAMPLES if any(traits & REFUSED for traits in sampled(name).force_traits)} == NOT_TAKEN


def end_of(mechanism, duration, method, state=None):
    return vi.simulate(vi.Problem(mechanism, duration, state), method, vi.Recording(every=10**6))


def orders(mechanism, spacing, count, steps, **chosen):
    """Orders of positions and velocities, by root mean square errors at ``count`` nodes and the last two ``steps``."""
    exact = vi.simulate(vi.Problem(mechanism, count * spacing), vi.Reduced("dop853", rtol=1e-12, dt=spacing))
    errors = []
    for dt in steps:
        problem, every = vi.Problem(mechanism, count * spacing), round(spacing / dt)
        run = vi.simulate(problem, vi.Maximal(dt=dt, **chosen), vi.Recording(every=every))
        assert len(run) == count + 1
        off = run.position - exact.position, run.velocity - exact.velocity
        errors.append([np.sqrt(np.mean(part**2)) for part in off])
    return np.log2(np.array(errors[-2]) / errors[-1])


# ------------------------------------------------------------------------------------- orders

GRID = [(rule, held) for rule in RULES for held in (None, *STABILISATIONS)]


@pytest.mark.many
@pytest.mark.parametrize(("integrator", "stabilisation"), GRID)
@pytest.mark.parametrize("name", ["double_pendulum", "cart_pole", "four_bar"])
def test_order_one_on_trees_and_loops(name, integrator, stabilisation):
    mechanism = getattr(vi.mechanisms, name)()
    order = orders(mechanism, 0.0125, 8, FINE, integrator=integrator, stabilisation=stabilisation)
    assert (order > 0.75).all()
    if stabilisation is None:  # Baumgarte's rows bring some errors down with the square of the step
        np.testing.assert_allclose(order, 1.0, atol=0.1)


@pytest.mark.many
@pytest.mark.parametrize("name", [name for name in HOLONOMIC if name not in ("free_body", "wrapped_double_pendulum")])
def test_order_one_over_the_catalogue(name):
    """Redundant rows, closures in space and products of exponentials among them; a free body's positions are exact."""
    mechanism = getattr(vi.mechanisms, name)()
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    for integrator in RULES:
        order = orders(mechanism, dt, 5, (dt / 16, dt / 32), integrator=integrator, stabilisation="project")
        assert 0.85 < order[0] < 1.85, integrator


def sprung_body():
    """A body that floats and turns between springs and a damper, without joints."""
    body = vi.Body.box("body", (0.3, 0.2, 0.1), 1.0)
    points = {"point_a": (0.15, 0.1, 0.0), "stiffness": 20.0}
    forces = [
        vi.Spring("a", "body", "world", **points, point_b=(1.0, 0.3, 0.2), rest_length=0.5),
        vi.Spring("b", "body", "world", **points, point_b=(-0.8, 0.5, -0.3), rest_length=0.4, damping=0.2),
    ]
    free = vi.Free("free", "world", "body")
    return vi.Mechanism("sprung body", [body], [free], forces=forces, gravity=np.array([0.0, 0.0, -9.81]))


@every_rule
def test_order_without_joints(integrator):
    """The trapezoidal rule and Bridson and Marino's are of order 2 where no joint acts."""
    mechanism = sprung_body()
    start = mechanism.state()
    start = replace(start, velocity=np.array([[0.3, -0.2, 0.1]]), angular_velocity=np.array([[2.0, 1.0, -3.0]]))
    exact = end_of(mechanism, 0.2, vi.Reduced("dop853", rtol=1e-12, dt=0.2), start)
    runs = [end_of(mechanism, 0.2, vi.Maximal(integrator, dt=dt), start) for dt in DT]
    errors = [abs(run.velocity[-1] - exact.velocity[-1]).max() for run in runs]
    errors = np.array([errors, [abs(run.angular_velocity[-1] - exact.angular_velocity[-1]).max() for run in runs]])
    expected = 2.0 if integrator in ("trapezoidal", "bridson_marino") else 1.0
    np.testing.assert_allclose(np.log2(errors[:, 1] / errors[:, 2]), expected, atol=0.2)


# ------------------------------------------------------------------------------------- known figures

STIFFNESS, MASS = 40.0, 2.5
W = np.sqrt(STIFFNESS / MASS)


def oscillator(damping=0.0):
    """A body on a slider and a spring, 0.1 m out of its rest, and the state that it starts from."""
    body = vi.Body.box("body", (0.1, 0.1, 0.1), MASS)
    slider = vi.Prismatic("slider", "world", "body", axis=(1, 0, 0))
    spring = vi.TorsionSpring("spring", joint="slider", stiffness=STIFFNESS, rest_angle=0.0, damping=damping)
    mechanism = vi.Mechanism("oscillator", [body], [slider], forces=[spring], gravity=np.zeros(3))
    return mechanism, mechanism.state(coordinates={"slider": 0.1})


def oscillations(integrator, h, steps, damping=0.0):
    """Positions and velocities (T,) of the oscillator."""
    mechanism, state = oscillator(damping)
    run = vi.simulate(vi.Problem(mechanism, steps * h, state), vi.Maximal(integrator, dt=h))
    assert len(run) == steps + 1
    return run.position[:, 0, 0], run.velocity[:, 0, 0]


def test_trapezoidal_keeps_the_energy_of_an_oscillator():
    x, v = oscillations("trapezoidal", 0.05, 2000)
    energy = 0.5 * STIFFNESS * x**2 + 0.5 * MASS * v**2
    assert abs(energy / energy[0] - 1.0).max() < 1e-12
    angle = 2.0 * np.arctan(0.5 * 0.05 * W)  # of a step, by the rule's closed form
    np.testing.assert_allclose(x, 0.1 * np.cos(angle * np.arange(2001)), atol=1e-11)


def test_implicit_euler_damps_an_oscillator_by_its_closed_form():
    h = 0.05
    x, v = oscillations("implicit_euler", h, 100)
    amplitude = np.hypot(x, v / W)
    np.testing.assert_allclose(amplitude[1:] / amplitude[:-1], 1.0 / np.sqrt(1.0 + (h * W) ** 2), rtol=1e-12)


def test_symplectic_euler_is_bounded_below_two_over_the_frequency():
    for h, bounded in ((1.98 / W, True), (2.02 / W, False)):
        x, _ = oscillations("symplectic_euler", h, 500)
        assert (abs(x).max() < 2.0) == bounded
    h = 0.05
    x, v = oscillations("symplectic_euler", h, 2000)
    kept = x**2 + (v / W) ** 2 - h * x * v  # of v1 = v - h w^2 x, x1 = x + h v1
    np.testing.assert_allclose(kept, kept[0], rtol=1e-11)


def test_bridson_marino_without_damping_is_velocity_verlet():
    h = 0.05
    x, v = oscillations("bridson_marino", h, 50)
    for n in range(50):
        next_x = x[n] + h * v[n] - 0.5 * h**2 * W**2 * x[n]
        assert x[n + 1] == pytest.approx(next_x, abs=1e-14)
        assert v[n + 1] == pytest.approx(v[n] - 0.5 * h * W**2 * (x[n] + next_x), abs=1e-13)


@pytest.mark.parametrize("integrator", ["implicit_euler", "trapezoidal", "bridson_marino"])
def test_stiff_dampers_do_not_blow_up(integrator):
    x, _ = oscillations(integrator, 0.05, 200, damping=1e4)
    assert abs(x).max() <= 0.1 + 1e-12


def test_screw_motions_of_a_free_body():
    """E exp(h phi): a body that turns and moves keeps its twist in body axes but for the forces of DIFF eq. 1.28."""
    body = vi.Body.box("body", (0.1, 0.2, 0.3), 1.0)
    mechanism = vi.Mechanism("free", [body], [vi.Free("free", "world", "body")], gravity=np.zeros(3))
    w, v, h = np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0, 0.0]), 0.1
    start = replace(mechanism.state(), velocity=v[None], angular_velocity=w[None])
    run = vi.simulate(vi.Problem(mechanism, h, start), vi.Maximal("kkt", dt=h))
    after = v - h * np.cross(w, v)  # in the axes of the body at the start
    c, s = np.cos(0.2), np.sin(0.2)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    mean = np.array([[s, c - 1.0, 0], [1.0 - c, s, 0], [0, 0, 0.2]]) / 0.2  # of the rotations over the step
    np.testing.assert_allclose(run.velocity[1, 0], turn @ after, atol=1e-14)
    np.testing.assert_allclose(run.position[1, 0] - run.position[0, 0], h * mean @ after, atol=1e-14)


# ------------------------------------------------------------------------------------- gaps of joints


@every_rule
def test_gaps_grow_stay_or_vanish(integrator):
    """Free, a gap of order h^2 a step adds up; Baumgarte's stays of order h^2; projection closes to round-off."""
    mechanism = vi.mechanisms.four_bar(rate=3.0)
    gaps = {}
    for held in (None, *STABILISATIONS):
        runs = [vi.simulate(vi.Problem(mechanism, 0.5), vi.Maximal(integrator, dt=dt, stabilisation=held)) for dt in DT]
        gaps[held] = np.array([run.drift[-1] for run in runs])
        half = len(runs[-1]) // 2
        early, late = runs[-1].drift[:half].max(), runs[-1].drift[half:].max()
        assert held is not None or late > 1.5 * early
        assert held != "baumgarte" or late < 5.0 * early
    np.testing.assert_allclose(np.log2(gaps[None][:-1] / gaps[None][1:]), 1.0, atol=0.3)  # h^2 a step, 1 / h steps
    assert (np.log2(gaps["baumgarte"][:-1] / gaps["baumgarte"][1:]) > 1.7).all()
    assert gaps["project"].max() < 1e-12


def test_a_slower_rate_leaves_larger_gaps():
    mechanism = vi.mechanisms.double_pendulum()
    drift = [
        vi.simulate(vi.Problem(mechanism, 0.5), vi.Maximal(dt=0.005, stabilisation="baumgarte", rate=rate)).drift[-1]
        for rate in (200.0, 20.0, 2.0)
    ]
    assert drift[0] < 0.2 * drift[1] < 0.16 * drift[2]


def test_redundant_rows_have_no_effect():
    """A hinge twice: the same motion, through the LDU and through the sparse LU."""
    single = vi.mechanisms.double_pendulum()
    twin = replace(single.joints[0], name="twin")
    double = replace(single, joints=[*single.joints, twin])
    for integrator in ("kkt", "implicit_euler"):
        runs = [
            vi.simulate(vi.Problem(each, 0.2), vi.Maximal(integrator, dt=0.01, stabilisation="baumgarte"))
            for each in (single, double)
        ]
        np.testing.assert_allclose(runs[1].position, runs[0].position, atol=1e-9)


def test_without_forces_implicit_and_symplectic_euler_differ_by_the_gyroscopic_terms_alone():
    """In a plane these vanish: the sparse LU then gives what the LDU gives."""
    mechanism = vi.mechanisms.four_bar(rate=2.0)
    runs = [
        vi.simulate(vi.Problem(mechanism, 0.2), vi.Maximal(integrator, dt=0.01, stabilisation="project"))
        for integrator in ("symplectic_euler", "implicit_euler")
    ]
    np.testing.assert_allclose(runs[1].position, runs[0].position, atol=1e-10)


# ------------------------------------------------------------------------------------- equations against differences


def placed(mechanism, state):
    level = VelocityLevel(mechanism, 0.01, 10, 0.0, 0.0)
    level.take(state)
    return level


def moved_load(level, state, motion, velocity):
    """(6 nb,) load after a motion and a change of velocity (nb, 6)."""
    level.take(state)
    move_poses(level.plan, level.ws, 1.0, motion)
    level.velocity[:] += velocity
    level.evaluate()
    return level.load.ravel().copy()


@pytest.mark.parametrize("name", TAKEN)
def test_derivatives_of_every_force(rng, name):
    mechanism = sampled(name)
    state = random_velocity_state(rng, mechanism, 0.3)
    level = placed(mechanism, state)
    matrices = ForceMatrices(level)
    size, none = level.load.size, np.zeros_like(level.load)
    K, D = (matrices.pattern.matrix(data).toarray() for data in matrices.evaluate())
    scale, h = max(1.0, abs(K).max(), abs(D).max()), 1e-5
    for k in range(size):
        unit = np.zeros(size)
        unit[k] = h
        unit = unit.reshape(none.shape)
        by_pose = (moved_load(level, state, unit, none) - moved_load(level, state, -unit, none)) / (2 * h)
        by_velocity = (moved_load(level, state, none, unit) - moved_load(level, state, none, -unit)) / (2 * h)
        np.testing.assert_allclose(K[:, k], by_pose, atol=2e-6 * scale)
        np.testing.assert_allclose(D[:, k], by_velocity, atol=2e-6 * scale)


@pytest.mark.parametrize("name", ["four_bar", "bennett", "roller_coaster", "governor"])
def test_both_solvers_give_the_accelerations_of_the_package(rng, name):
    """A step of symplectic Euler of a vanishing size from a state at rest moves by h^2 times the accelerations."""
    mechanism = getattr(vi.mechanisms, name)()
    state = mechanism.state()
    state = replace(state, velocity=0 * state.velocity, angular_velocity=0 * state.angular_velocity)
    level, h, slot = placed(mechanism, state), 1e-3, mechanism.compiled.slot
    found = vi.accelerations(mechanism, state)
    expected = np.concatenate([found.linear, found.angular], axis=1)
    matrices = ForceMatrices(level)
    for velocity in (
        level.solved(h * level.load),
        SparseSystem(level, matrices.pattern).solved(matrices.M, h * level.load),
    ):
        np.testing.assert_allclose(velocity[slot] / h, expected, atol=1e-8 * (1 + abs(expected).max()))


# ------------------------------------------------------------------------------------- forces and inputs of time


@every_rule
def test_inputs_of_time_and_of_the_state_act(integrator):
    """A motor that pushes by functions: against the variational integrator."""
    mechanism = vi.mechanisms.cart_pole()
    joint = mechanism.joints[0].name
    for push in (lambda t: 3.0 * np.cos(4.0 * t), lambda t, state: -2.0 * state.velocity[0, 0] + 1.0):
        pushed = replace(mechanism, forces=[vi.Motor("motor", joint=joint, effort=push)])
        exact = [vi.simulate(each, 0.3, 0.001, order=2).position[-1] for each in (pushed, mechanism)]
        errors = []
        for dt in (0.005, 0.0025):
            method = vi.Maximal(integrator, dt=dt, stabilisation="project")
            ends = [end_of(each, 0.3, method).position[-1] for each in (pushed, mechanism)]
            errors.append(abs(ends[0] - ends[1] - (exact[0] - exact[1])).max())
        assert errors[1] < 0.7 * errors[0] < 0.1 * abs(exact[0] - exact[1]).max()


@pytest.mark.parametrize("stabilisation", STABILISATIONS)
def test_prescribed_motions_are_followed(stabilisation):
    mechanism = vi.mechanisms.double_pendulum()
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.3 * np.sin(2.0 * t))
    driven = replace(mechanism, forces=[drive])
    state = driven.state(coordinates={"joint 1": 0.0})
    method = vi.Maximal("symplectic_euler", dt=0.005, stabilisation=stabilisation)
    run = vi.simulate(vi.Problem(driven, 0.5, state), method)
    off = abs(run.coordinates["joint 1"] - 0.3 * np.sin(2.0 * run.t)).max()
    assert off < (1e-12 if stabilisation == "project" else 1e-4)


def test_angles_of_springs_count_their_turns():
    """A spring that is wound up by two turns pulls back by as many."""
    mechanism = vi.mechanisms.double_pendulum()
    hinge = mechanism.joints[0]
    single = replace(mechanism, bodies=mechanism.bodies[:1], joints=[hinge], gravity=np.zeros(3))
    spring = vi.TorsionSpring("spring", joint=hinge.name, stiffness=0.05)
    wound = replace(single, forces=[spring])
    state = wound.state(coordinates={hinge.name: 0.0}, rates={hinge.name: 8.0})
    exact = vi.simulate(vi.Problem(wound, 2.0, state), vi.Reduced("dop853", rtol=1e-10, dt=0.01))
    assert abs(exact.coordinates[hinge.name]).max() > 2.5 * np.pi
    run = vi.simulate(vi.Problem(wound, 2.0, state), vi.Maximal("kkt", dt=0.002))
    assert run.rates[hinge.name][-1] == pytest.approx(exact.rates[hinge.name][-1], abs=0.01)


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - set(TAKEN)))
def test_other_forces_are_refused_by_name(name):
    mechanism = sampled(name)
    with pytest.raises(vi.ArgumentError, match="KKT systems at velocity level do not support"):
        vi.simulate(vi.Problem(mechanism, 0.1), vi.Maximal(dt=0.01))


# ------------------------------------------------------------------------------------- entrances


def test_names_belong_to_methods():
    known = methods_by_integrator()
    assert {known[name] for name in RULES} == {vi.Maximal}
    assert known["dop853"] is vi.Reduced
    assert vi.Maximal.formulation in PLACES


def test_it_is_compared_by_name_and_as_a_method():
    mechanism = vi.mechanisms.double_pendulum()
    held = vi.Maximal("implicit_euler", dt=0.01, stabilisation="project")
    result = vi.compare(mechanism, 0.1, [0.01, 0.005], integrators=["dop853", "kkt", held])
    assert [series.name for series in result.own] == ["kkt", "implicit_euler project"]
    assert result.settings.integrators == ("dop853",)
    assert result.own[1].drift.max() < 1e-12
    assert "user's" not in str(result)


def test_it_runs_in_ensembles():
    options = {"formulation": vi.Maximal.formulation, "integrator": "trapezoidal", "stabilisation": "project"}
    table = vi.ensemble("double_pendulum", {"angle": [0.2, 0.4]}, 0.1, 0.01, workers=1, **options).table
    method = vi.Maximal("trapezoidal", dt=0.01, stabilisation="project")
    runs = [vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(angle=a), 0.1), method) for a in (0.2, 0.4)]
    assert list(table["drift"]) == pytest.approx([run.drift.max() for run in runs], abs=1e-14)
    assert list(table["status"]) == ["done", "done"]


def test_the_command_takes_its_names(capsys):
    short = ["double_pendulum", "--duration", "0.1", "--dt", "0.01"]
    assert main(["run", *short, "--integrator", "bridson_marino", "--stabilisation", "project", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["formulation"], report["integrator"]) == (vi.Maximal.formulation, "bridson_marino")
    assert "stabilisation project" in report["method"]
    assert main(["run", *short, "--integrator", "bdf2", "--stabilisation", "project"]) == 2
    assert "--stabilisation belongs to the integrators of varint.Maximal" in capsys.readouterr().err
    assert main(["run", *short, "--integrator", "kkt", "--rtol", "1e-3"]) == 2
    assert "--rtol belongs to" in capsys.readouterr().err


def test_files_hold_what_was_chosen(tmp_path):
    method = vi.Maximal("kkt", dt=0.01, stabilisation="baumgarte", rate=20.0)
    recording = vi.Recording(output=tmp_path / "run.h5")
    vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.1), method, recording)
    settings = vi.load(tmp_path / "run.h5").settings
    assert (settings["integrator"], settings["stabilisation"], settings["rate"]) == ("kkt", "baumgarte", 20.0)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"integrator": "kk"}, "did you mean 'kkt'"),
        ({"stabilisation": "welded"}, "stabilisation must be one of baumgarte, project"),
        ({"rate": 3.0}, "rate belongs to stabilisation='baumgarte'"),
        ({"stabilisation": "baumgarte", "rate": -1.0}, "rate must be zero or positive"),
        ({"dt": 0.0}, "dt must be positive"),
    ],
)
def test_wrong_arguments_are_named(chosen, words):
    with pytest.raises(vi.ArgumentError, match=words):
        vi.Maximal(**{"dt": 0.01, **chosen})


def test_a_run_that_grows_beyond_numbers_is_stopped():
    mechanism, state = oscillator()
    with pytest.raises(vi.ConvergenceError, match="not finite"):
        vi.simulate(vi.Problem(mechanism, 400.0, state), vi.Maximal("symplectic_euler", dt=1.0))
