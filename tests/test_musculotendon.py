"""Muscles along paths: curves, activation, both formulations, files, wrong input."""

import dataclasses
import math
from base64 import b64decode

import numpy as np
import pytest
from test_wraps import elbow_path, two_links

import varint as vi
from varint.model.forces.musculotendon import GROUPED, LAWS, activation_rate, degroote_curves, mujoco_curves
from varint.model.rotation_vectors import rotation_matrix
from varint.plan import compile_structure
from varint.results.table_columns import columns
from varint.step.laws import evaluate_laws
from varint.step.workspace import workspace
from varint.views.web_frames import ARC_POINTS, frames_data

MUSCLE = {"max_force": 50.0, "optimal_length": 0.5, "slack_length": 1.2}
SHAPE = (0.5, 1.6, 1.3, 1.2)


def muscle(**changes):
    return vi.Musculotendon("biceps", **{"path": elbow_path(), "smoothing": 0.005} | MUSCLE | changes)


def bent(mechanism):
    return mechanism.state(coordinates={"shoulder": 0.3, "elbow": 0.8})


def test_curves_of_degroote():
    """The values of the paper's formulas, by sympy."""
    assert degroote_curves(1.3, 0.0)[4] == pytest.approx(0.11920292202211769, rel=1e-14)
    assert degroote_curves(0.8, 0.0)[0] == pytest.approx(0.8239778842189102, rel=1e-14)
    assert degroote_curves(1.0, 0.0)[0] == pytest.approx(0.994139886622616, rel=1e-14)
    assert degroote_curves(1.0, -0.5)[2] == pytest.approx(0.2438336294197121, rel=1e-13)
    assert degroote_curves(1.0, 0.0)[2] == pytest.approx(1.002320622548512, rel=1e-14)


@pytest.mark.parametrize(
    ("length", "rate", "gain", "bias"),
    [
        (0.5, -1.0, -0.5888, 0.0),
        (0.5, 0.0, -0.92, 0.0),
        (0.5, 1.0, -1.104, 0.0),
        (1.0, 0.0, -0.98611111111111, -0.0180555555555556),
        (1.5, 0.0, None, -0.2888888888888889),
        (2.0, 0.0, None, -0.8666666666666667),
    ],
)
def test_curves_of_mujoco(length, rate, gain, bias):
    """Values of MuJoCo's own functions: length range (0, 1), range (.75, 1.05), force 1, vmax 1.5."""
    optimal = 1.0 / 0.3
    law = LAWS["mujoco", False].effort.py_func
    numbers = (1.0, optimal, -0.75 * optimal, 0.0, 1.5), SHAPE
    passive = law(length, rate, 0.0, *numbers)[0]
    assert passive == pytest.approx(bias, rel=1e-12)
    if gain is not None:
        assert law(length, rate, 1.0, *numbers)[0] - passive == pytest.approx(gain, rel=1e-12)


@pytest.mark.parametrize(
    ("u", "a", "blend", "rate"),
    [
        (1, 0, 0, 200.0),
        (1, 0.5, 0, 40.0),
        (0, 0.5, 0, -15.625),
        (0.3, 0.7, 0, -15.5),
        (0.45, 0.5, 0.2, -1.667698120582391),
    ],
)
def test_activation_of_mujoco(u, a, blend, rate):
    assert activation_rate(float(u), float(a), 0.01, 0.04, float(blend))[0] == pytest.approx(rate, rel=1e-13)


@pytest.mark.parametrize("blend", [0.0, 0.2])
def test_slope_of_the_activation(blend):
    for u, a in ((0.8, 0.3), (0.2, 0.6), (0.55, 0.5), (1.4, 0.9)):
        ahead, back = (activation_rate(u, a + s, 0.01, 0.04, blend)[0] for s in (1e-6, -1e-6))
        assert activation_rate(u, a, 0.01, 0.04, blend)[1] == pytest.approx((ahead - back) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("curves", [degroote_curves, lambda x, v: mujoco_curves(x, v, *SHAPE)])
def test_slopes_of_curves(curves):
    for x in (0.1495, 0.2, 0.62, 0.9, 1.07, 1.21, 1.45, 1.7):
        for v in (-0.8, -0.2, 0.1, 0.6):
            value, step = curves(x, v), 1e-6
            assert np.isfinite(value).all()
            along = np.subtract(curves(x + step, v), curves(x - step, v)) / (2 * step)
            across = np.subtract(curves(x, v + step), curves(x, v - step)) / (2 * step)
            assert (value[1], value[5]) == pytest.approx((along[0], along[4]), abs=1e-7, rel=1e-6)
            assert value[3] == pytest.approx(across[2], abs=1e-7, rel=1e-6)


@pytest.mark.parametrize(("curves", "dynamic"), LAWS)
def test_derivatives_of_laws(curves, dynamic):
    law = LAWS[curves, dynamic]
    numbers = dict(zip(GROUPED["scales"], (30.0, 0.4, 0.5, 0.1, 6.0), strict=True))
    numbers |= dict(zip(GROUPED["shape"] + GROUPED["times"], (*SHAPE, 0.01, 0.04, 0.1), strict=True))
    for value, rate, u, a in ((0.8, 0.3, 0.7, 0.4), (1.0, -0.5, 0.2, 0.5), (0.7, 0.0, 1.0, 0.1)):
        at = numbers | {"value": value, "rate": rate, "input": u, "state": a}
        found = law.effort(*law.call_arguments(law.effort, at))
        for k, name in enumerate(("value", "rate", "state") if dynamic else ("value", "rate")):
            ahead, back = (
                law.effort(*law.call_arguments(law.effort, at | {name: at[name] + s}))[0] for s in (1e-6, -1e-6)
            )
            assert found[1 + k] == pytest.approx((ahead - back) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("curves", ["degroote", "mujoco"])
def test_both_formulations_agree(curves):
    mechanism = two_links(muscle(curves=curves, pennation=0.2, excitation=lambda t: 0.5 + 0.5 * math.sin(5.0 * t)))
    state = bent(mechanism)
    exact = vi.simulate(vi.Problem(mechanism, 0.5, state=state), vi.Reduced("dop853", rtol=1e-11))
    own, least = [], {2: 1e-4, 4: 1e-6}
    for order in least:
        run = vi.simulate(mechanism, 0.5, 0.5 / 400, state=state, order=order)
        assert np.abs(run.position[-1] - exact.position[-1]).max() < least[order]
        own.append(run)
    assert own[1].law_state["biceps"][-1] == pytest.approx(exact.law_state["biceps"][-1], abs=1e-6)
    assert own[1].force["biceps"][-1] == pytest.approx(exact.force["biceps"][-1], abs=1e-4)
    assert exact.force["biceps"].max() < 1.0  # the published passive curve is below zero for short fibres


@pytest.mark.slow
def test_activations_are_solved_for_again_where_anything_changed():
    """A workspace that has solved for an activation gives the bits of a fresh one for another excitation, activation,
    size of the step, or time of rise."""
    plan = compile_structure(two_links(muscle())).plan
    numbers = plan.laws.parameter.copy()
    numbers[-3] *= 2.0
    slow = dataclasses.replace(plan, laws=dataclasses.replace(plan.laws, parameter=numbers))

    def solved(ws, plan, excitation, activation, span):
        work = ws.efforts
        work.input[:], work.state[:] = excitation, activation
        evaluate_laws(plan, ws, work.position, work.rotation, ws.velocity, span)
        return float(work.flow[0]), work.by_state[0].tolist()

    base, used, flows = (plan, 0.7, 0.2, 1e-3), workspace(plan), set()
    others = (
        (slow, *base[1:]),
        (plan, 0.4, *base[2:]),
        (plan, 0.7, 0.5, 1e-3),
        (plan, 0.7, 0.2, 3e-3),
        (plan, 0.7, 0.2, 0.0),
    )
    for case in others:
        for now in (base, base, case):
            found = solved(used, *now)
            assert found == solved(workspace(plan), *now)
        flows.add(found[0])
    assert len(flows) == len(others)


def test_activation_follows_the_excitation():
    """Constant excitation of one: da/dt = (1 - a) / (t1 (1/2 + 3/2 a)), which has a closed form in t."""
    mechanism = two_links(muscle(excitation=1.0))
    run = vi.simulate(mechanism, 0.03, 1e-4, order=4)
    a = run.law_state["biceps"][1:]
    times = -0.01 * (2.0 * np.log1p(-a) + 1.5 * a)
    assert times == pytest.approx(run.t[1:], rel=1e-6)
    assert run.force["biceps"][-1] < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"order": 4}, {"adaptive": 0.05}])
def test_activation_at_the_start(given):
    """Without excitation da/dt = -a (1/2 + 3/2 a) / t2: log(a / (1/2 + 3/2 a)) falls at 1 / (2 t2)."""
    mechanism = two_links(muscle(activation=0.6))

    def scale(a):
        return np.log(a / (0.5 + 1.5 * a))

    run = vi.simulate(mechanism, 0.05, 0.0005, **given)
    a = run.law_state["biceps"]
    assert a[0] == 0.6
    assert scale(a) == pytest.approx(scale(0.6) - 0.5 * run.t / 0.04, abs=1e-4)
    for integrator in ("dop853", "rk4", "sdirk2"):
        method = {"rtol": 1e-10} if integrator == "dop853" else {"dt": 0.0005}
        reduced = vi.redmax.simulate(mechanism, 0.05, integrator=integrator, **method).law_state["biceps"]
        assert reduced[[0, -1]] == pytest.approx(a[[0, -1]], abs=1e-4)


def test_gradients_by_the_activation_at_the_start():
    """Exact derivatives of runs by it against differences of runs, in both formulations."""

    def made(activation):
        return two_links(muscle(excitation=0.3, activation=activation, smoothing=0.01))

    def end(state):
        return float(state.position[1, 0])

    mechanism, name = made(0.5), "biceps.activation"
    state = bent(mechanism)
    exact = [
        vi.gradient(mechanism, end, 0.1, 0.01, with_respect_to=[name], state=state)[name],
        vi.redmax.gradient(mechanism, end, 0.1, 0.01, with_respect_to=[name], state=state, scheme="sdirk2")[name],
    ]
    step = 1e-3
    for found, run in zip(
        exact,
        (
            lambda m: vi.simulate(m, 0.1, 0.01, state=state, tol=1e-13),
            lambda m: vi.redmax.simulate(m, 0.1, dt=0.01, integrator="sdirk2", state=state),
        ),
        strict=True,
    ):
        ends = [end(run(made(0.5 + s)).state(-1)) for s in (step, -step)]
        assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)


def test_rates_of_lengths_and_states_are_tabulated():
    run = vi.simulate(two_links(muscle(excitation=1.0)), 0.1, 0.001, order=4)
    differences = (run.length["biceps"][2:] - run.length["biceps"][:-2]) / 0.002
    assert run.length_rate["biceps"][1:-1] == pytest.approx(differences, abs=1e-3)
    named = [column.heading for what in ("length", "length_rate", "law_state") for column in columns(run, what)]
    assert named == ["biceps length (m)", "biceps length rate (m/s)", "biceps state"]


@pytest.mark.slow
def test_the_page_has_arcs_and_activations():
    """Points along the surface make the length of the path, with the straight parts before and after."""
    mechanism = two_links(muscle(excitation=1.0, activation=0.2))
    run = vi.simulate(mechanism, 0.1, 0.01, state=bent(mechanism))
    data = frames_data(run)
    arcs = np.frombuffer(b64decode(data["arcs"]), "<f4").reshape(11, ARC_POINTS, 3)
    shown = np.frombuffer(b64decode(data["activations"]), "<u1") / 255.0
    assert shown == pytest.approx(run.law_state["biceps"], abs=3e-3)
    for k in (0, 10):
        upper = run.path("upper", (0, 0, -1)).position[k]
        lower = run.path("lower", (0.25, 0.05, -1.4)).position[k]
        R = rotation_matrix(run.quat_wxyz[k, 0])
        on_upper = run.position[k, 0] + arcs[k] @ R.T
        line = np.concatenate([[[0.3, 0, 0.2]], on_upper, [lower]])
        drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        assert np.linalg.norm((on_upper - upper)[:, [0, 2]], axis=1) == pytest.approx(0.2, abs=0.02)
        assert drawn == pytest.approx(run.length["biceps"][k], rel=2e-3)


def test_without_dynamics_the_excitation_is_the_activation():
    law = muscle(excitation=0.5, activation_times=None, pennation=0.0)
    mechanism = two_links(law)
    run = vi.simulate(mechanism, 0.01, 0.01)
    fibre = (run.length["biceps"][0] - 1.2) / 0.5
    active, _, speed, _, passive, _ = degroote_curves(fibre, 0.0)
    assert run.force["biceps"][0] == pytest.approx(-50.0 * (0.5 * active * speed + passive), rel=1e-12)
    assert run.law_state["biceps"].shape == (2, 0)
    with pytest.raises(vi.ArgumentError, match="draw 'command': 'biceps'"):
        run.plot("law_state")


def test_no_force_below_the_slack_length():
    mechanism = two_links(muscle(slack_length=3.0, excitation=1.0))
    run = vi.simulate(mechanism, 0.05, 0.01, state=bent(mechanism))
    assert not run.force["biceps"].any()


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_files_hold_paths(tmp_path, suffix):
    path = [*elbow_path(), vi.Pulley(2.0), vi.At("upper", [0.1, 0, -0.3]), vi.At("lower", [0.1, 0, -1.6])]
    ball = vi.Around("upper", vi.SphereSurface([0, 0, -0.5], 0.05))
    path = [path[0], ball, vi.At("upper", [0.2, 0, -0.7]), *path[1:]]
    mechanism = two_links(
        muscle(path=path, smoothing=0.0, slack_length=2.0), vi.Tendon("t", path=elbow_path(), stiffness=3.0)
    )
    file = tmp_path / f"arm{suffix}"
    vi.save_mechanism(mechanism, file)
    again = vi.load_mechanism(file)
    runs = [vi.simulate(each, 0.2, 0.01) for each in (mechanism, again)]
    assert np.array_equal(runs[0].position, runs[1].position)
    assert isinstance(again.force("biceps").path[1].surface, vi.SphereSurface)
    file.write_text(file.read_text().replace("divisor", "divsor"))
    with pytest.raises(vi.MechanismError, match="divsor"):
        vi.load_mechanism(file)


def test_runs_are_saved_and_loaded(tmp_path):
    mechanism = two_links(muscle(excitation=0.7))
    run = vi.simulate(mechanism, 0.1, 0.01)
    run.save(tmp_path / "run.h5")
    again = vi.load(tmp_path / "run.h5")
    assert np.array_equal(again.length["biceps"], run.length["biceps"])
    assert np.array_equal(again.force["biceps"], run.force["biceps"])


def test_lengths_are_of_forces_with_paths():
    run = vi.simulate(two_links(muscle(), vi.JointDamper("d", joint="elbow", damping=0.1)), 0.1, 0.01)
    assert run.length["biceps"].shape == (11,)
    assert run.length["d"].shape == (11, 0)
    arms = vi.moment_arms(run, "biceps")
    assert {name: arm.shape for name, arm in arms.items()} == {"shoulder": (11,), "elbow": (11,)}
    with pytest.raises(vi.ArgumentError, match="'d' is not along a path"):
        vi.moment_arms(run, "d")
    assert np.array_equal(run.moment_arm("biceps", "elbow"), arms["elbow"])
    reduced = vi.redmax.simulate(run.mechanism, 0.1, rtol=1e-8)
    assert reduced.moment_arm("biceps", "shoulder")[0] == pytest.approx(arms["shoulder"][0], abs=1e-12)
    with pytest.raises(vi.MechanismError, match="elbow"):
        run.moment_arm("biceps", "elbw")
    with pytest.raises(vi.ArgumentError, match="leave it out"):
        vi.moment_arms(run, "biceps", state=run.state(0))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"curves": "degrote"}, "curves of musculotendon 'biceps'.*degroote"),
        ({"pennation": 1.6}, "pennation must be less than pi / 2"),
        ({"optimal_length": 0.0}, "optimal_length"),
        ({"slack_length": -0.1}, "slack_length"),
        ({"activation_times": (0.01, 0.0)}, "activation_times must be positive"),
        ({"shape": (0.5, 0.9, 1.3, 1.2)}, "lmin < 1 < lmax"),
        ({"shape": (0.5, 1.6, 1.3, 0.9)}, "fvmax >= 1"),
        ({"max_velocity": 0.0}, "max_velocity"),
        ({"max_force": -1.0}, "max_force of musculotendon 'biceps' must be zero or positive"),
        ({"mass": -0.1}, "mass of musculotendon 'biceps' must be zero or positive"),
        ({"mass": 0.1, "lumped": True}, "'biceps' leads around a surface: leave out lumped"),
        ({"mass": 0.1, "belly": (0.6, 0.4), "path": elbow_path()[::2]}, "belly of musculotendon 'biceps'"),
        ({"path": [vi.At("upper", (0, 0, -1)), vi.At("lower", (0, 0, -1))]}, "has no length: its points are equal"),
        ({"path": [vi.At("upper", (0, 0, -0.9)), *elbow_path()[1:]]}, "lies within the surface on 'upper': move it"),
        ({"smoothing": -0.01}, "smoothing"),
        ({"activation": 1.1}, "activation must be at most 1"),
        ({"activation": 0.5, "activation_times": None}, "left out where activation_times is None"),
    ],
)
def test_wrong_muscles(changes, words):
    with pytest.raises(vi.MechanismError, match=words):
        muscle(**changes)


def test_an_excitation_replaces_the_activation_of_a_file():
    """Muscles of OpenSim have an activation at the start, 0.05, which `replace` cannot leave out."""
    ready = muscle(activation=0.05)
    for excitation in (0.3, np.linspace(0.0, 1.0, 11), lambda t: t):
        driven = dataclasses.replace(ready, activation_times=None, excitation=excitation)
        assert (driven.activation, driven.activation_times) == (0.0, ())


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
@pytest.mark.parametrize("curves", ["degroote", "mujoco"])
@pytest.mark.parametrize("times", [None, (0.01, 0.04)])
@pytest.mark.parametrize(("beyond", "bound"), [(-0.5, 0.0), (1.5, 1.0)])
def test_excitations_are_clipped(simulate, curves, times, beyond, bound):
    """Constants, one value a node and functions, with and without activation: those beyond 0 to 1 act as the bound."""

    def forces(excitation):
        mechanism = two_links(muscle(curves=curves, activation_times=times, excitation=excitation))
        return simulate(mechanism, 0.02, 2e-3, state=bent(mechanism)).force["biceps"]

    wanted = forces(bound)
    for given in (beyond, np.full(11, beyond), lambda t: beyond):
        np.testing.assert_allclose(forces(given), wanted, rtol=1e-12)
