"""Reduced dynamics: recursions against matrices, and runs against the variational integrator."""

import numpy as np
import pytest
import reference
from holonomic import HOLONOMIC
from random_mechanisms import LOWER, random_closed, random_tree, random_velocity_state
from redmax_matrices import acceleration_by_matrices
from scipy.integrate import DOP853

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators.error_controlled import Adaptive, NotFinite
from varint.model.rotation_vectors import rotation_matrix
from varint.results.inputs.at_times import InputsAtTimes

LOOPS = {name: vi.mechanisms.module(name).EXPECTED["loops"] for name in HOLONOMIC}
every_mechanism = pytest.mark.parametrize("name", HOLONOMIC)


def build(name, **parameters):
    return getattr(vi.mechanisms, name)(**parameters)


def equations_of(mechanism, baumgarte=0.0):
    return Equations(mechanism, lambda compiled: InputsAtTimes(mechanism, compiled, 1, 1.0), baumgarte)


# ---------------------------------------------------------------------------------------- recursion = matrices


@pytest.mark.many
@pytest.mark.slow
@every_mechanism
def test_recursion_is_the_matrix_solution_over_the_catalogue(rng, name):
    mechanism = build(name)
    check_accelerations(rng, equations_of(mechanism), vi.redmax.reduced_state(mechanism, mechanism.state()))


@pytest.mark.slow
def test_recursion_is_the_matrix_solution_on_random_trees(rng):
    for floating in (False, True):
        for _ in range(5):
            mechanism = random_tree(rng, 8, floating=floating)
            check_accelerations(
                rng, equations_of(mechanism), vi.redmax.reduced_state(mechanism, random_velocity_state(rng, mechanism))
            )


@pytest.mark.slow
def test_recursion_is_the_matrix_solution_on_random_loops(rng):
    for _ in range(5):
        mechanism = random_closed(rng, 8, 2)
        state = random_velocity_state(rng, mechanism)
        check_accelerations(rng, equations_of(mechanism, 3.0), vi.redmax.reduced_state(mechanism, state))


def check_accelerations(rng, equations, start):
    tree = not len(equations.closures)
    for _ in range(3):
        q, qdot = start.q, start.qdot
        if tree:
            q, qdot = q + 0.3 * rng.standard_normal(equations.nq), qdot + rng.standard_normal(equations.nq)
        equations.reach(0.0, q, qdot)
        recursive = equations.acceleration(0.0, q, qdot).copy()
        size = np.abs(recursive).max(initial=1e-3)
        dense = acceleration_by_matrices(equations, 0.0, q, qdot)
        assert recursive == pytest.approx(dense, abs=1e-10 * size)
        equations.place(q)
        equations.move(q, qdot)
        equations.factor()
        effort, M = rng.standard_normal(equations.nq), equations.mass_matrix()
        solution = np.linalg.solve(M, effort)
        assert equations.solve(effort) == pytest.approx(solution, abs=1e-10 * np.abs(solution).max(initial=0.0))
        if tree:
            assert M @ recursive == pytest.approx(equations.reduced_force(0.0), abs=1e-10 * np.abs(M).max() * size)


@every_mechanism
def test_accelerations_and_constraints_are_those_of_the_bodies(name):
    """The accelerations of the bodies are those that the maximal form gives (step/nodes/reactions.py)."""
    mechanism = build(name)
    run = vi.simulate(
        mechanism, 2 * vi.mechanisms.module(name).EXPECTED["dt"], vi.mechanisms.module(name).EXPECTED["dt"]
    )
    state = vi.State(run.position[0], run.quat_wxyz[0], run.velocity[0], run.angular_velocity[0])
    equations, reduced = equations_of(mechanism), vi.redmax.reduced_state(mechanism, state)
    equations.reach(0.0, reduced.q, reduced.qdot)
    qddot = equations.acceleration(0.0, reduced.q, reduced.qdot)
    motion = (equations.jacobian() @ qddot + equations.jacobian_rate() @ reduced.qdot).reshape(-1, 6)
    expected = np.hstack([run.acceleration[0], run.angular_acceleration[0]])
    assert motion[equations.compiled.slot] == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def test_prescribed_loads_and_forces_reach_the_bodies(rng):
    """Loads on bodies and every force of the mechanism: the virtual work is that of the maximal form."""
    mechanism = random_tree(rng, 5)
    state = random_velocity_state(rng, mechanism)
    force = {"b2": (1.0, -2.0, 3.0)}
    torque = {"b4": (0.3, 0.2, -0.1)}
    T = 0.5
    runs = [vi.simulate(mechanism, T, T / n, state=state, force=force, torque=torque, tol=1e-12) for n in (200, 400)]
    exact = vi.redmax.simulate(mechanism, T, state=state, force=force, torque=torque, rtol=1e-11)
    errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


# ---------------------------------------------------------------------------------------- against others


@pytest.mark.slow
def test_against_the_independent_reference(rng):
    for mechanism in (random_tree(rng, 3, LOWER, floating=True), build("three_link_loop")):
        state = random_velocity_state(rng, mechanism)
        x, R, v, w = reference.integrate(mechanism, state, 0.5)
        run = vi.redmax.simulate(mechanism, 0.5, state=state, rtol=1e-12)
        assert run.position[-1] == pytest.approx(x, abs=1e-9)
        assert rotation_matrix(run.quat_wxyz[-1]) == pytest.approx(R, abs=1e-9)
        assert run.velocity[-1] == pytest.approx(v, abs=1e-8)
        assert run.angular_velocity[-1] == pytest.approx(w, abs=1e-8)


# start and duration (s) where the catalogue's own will not do for a fit of the order
CASES = {
    "andrews_squeezer": ({}, 0.02),  # then it spins up
    "escapement": ({"bank": 3.0}, 1.0),  # no impacts of the pallets
    "free_body": ({"spin": 3.0, "perturbation": 1.0}, 1.0),
    "minitaur": ({}, 0.08),  # later through singular poses, of which there is a test of its own
    "minitaur_leg": ({}, 0.08),
    "rhombus_chain": ({"m": 1}, 1.0),
}
STEPS = 100
FINER = {"governor": 4, "klann_leg": 4, "spatial_slider_crank": 2, "spinning_top": 4}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if k % 3 else []) for k, name in enumerate(HOLONOMIC)]
)
def test_variational_integrator_converges_to_it_at_order_two(name):
    parameters, T = CASES.get(name, ({}, 1.0))
    mechanism = build(name, **parameters)
    exact = vi.redmax.simulate(mechanism, T, dt=T / 10, rtol=1e-11)
    sizes, errors = [1, 2, 4], []
    start = STEPS * FINER.get(name, 1)
    for refined in sizes:
        run = vi.simulate(mechanism, T, T / (start * refined), tol=1e-13, every=start * refined // 10)
        errors.append(
            [np.abs(getattr(run, a) - getattr(exact, a)).max() for a in ("position", "velocity", "angular_velocity")]
        )
    if name == "free_body":
        errors = np.array(errors)[:, 2:]  # its centre does not move
    slopes = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert np.all((slopes > 1.9) & (slopes < 2.1)), slopes
    assert exact.drift.max() < 1e-10
    assert np.abs(exact.energy_balance).max() < 1e-7 * exact.kinetic.max()


@pytest.mark.parametrize("seed", range(6))
def test_variational_integrator_converges_to_it_on_random_mechanisms(seed):
    rng, T = np.random.default_rng(seed), 0.3
    mechanism = random_closed(rng, 5, 1) if seed % 2 else random_tree(rng, 5, floating=seed % 4 == 0)
    state = random_velocity_state(rng, mechanism)
    exact = vi.redmax.simulate(mechanism, T, state=state, rtol=1e-11)
    sizes, errors = [1, 2, 4], []
    for refined in sizes:
        run = vi.simulate(mechanism, T, T / (200 * refined), state=state, tol=1e-13, every=200 * refined)
        names = "position", "velocity", "angular_velocity"
        errors.append([np.abs(getattr(run, a)[-1] - getattr(exact, a)[-1]).max() for a in names])
    slopes = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert np.all((slopes > 1.9) & (slopes < 2.1)), slopes


@pytest.mark.parametrize("integrator", ["rk45", "dop853", "radau"])
def test_integrators_agree(integrator):
    mechanism = build("double_pendulum", joint="spherical")
    exact = vi.redmax.simulate(mechanism, 1.0, dt=0.25, rtol=1e-12)
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.25, rtol=1e-8, integrator=integrator)
    assert run.t == pytest.approx(np.arange(5) * 0.25)
    assert run.position == pytest.approx(exact.position, abs=1e-6)
    assert run.velocity == pytest.approx(exact.velocity, abs=1e-5)


def test_rotation_vectors_are_shortened_on_the_way():
    """A body that spins for many turns about a changing axis."""
    mechanism = build("free_body", spin=8.0, perturbation=3.0)
    run = vi.redmax.simulate(mechanism, 5.0, rtol=1e-11)
    assert np.linalg.norm(run.q[:, 3:], axis=1).max() > 4.0  # the chart was changed
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8 * run.energy[0]
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-8 * np.linalg.norm(run.angular_momentum[0])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dop853", "bdf2"])
def test_runs_do_not_depend_on_the_chart(integrator):
    mechanism = build("free_body")
    state = mechanism.state(angular_velocity={mechanism.bodies[0].name: (1.0, 6.0, 2.0)})
    settings = {"state": state, "integrator": integrator, "dt": 0.005, "every": 20, "rtol": 1e-11}
    plain = vi.redmax.simulate(mechanism, 1.0, **settings)
    for chart in ("xyz", "zxz"):
        run = vi.redmax.simulate(mechanism, 1.0, chart=chart, **settings)
        (charts,) = run.charts.values()
        assert set(charts) - {chart}  # it was changed on the way, or at the start
        difference = np.abs(rotation_matrix(run.quat_wxyz) - rotation_matrix(plain.quat_wxyz)).max()
        assert difference < (1e-8 if integrator == "dop853" else 0.05)
        assert np.abs(run.energy - run.energy[0]).max() < (1e-8 if integrator == "dop853" else 0.05) * run.energy[0]


@pytest.mark.slow
def test_gaps_close_at_the_rate_of_baumgarte():
    mechanism = build("four_bar")
    reduced = vi.redmax.reduced_state(mechanism, mechanism.state())
    state = vi.redmax.ReducedState(reduced.q + np.array([0.0, 0.0, 1e-3]), reduced.qdot)
    run = vi.redmax.simulate(mechanism, 1.5, dt=0.004, state=state, baumgarte=5.0, integrator="rk4", every=125)
    assert run.drift / run.drift[0] == pytest.approx((1 + 5 * run.t) * np.exp(-5 * run.t), rel=0.2)


@pytest.mark.slow
def test_recorded_nodes_of_loops_are_closed():
    """Positions and rates, whatever the tolerance and the nodes; starts and unstabilised runs are left as they are."""
    four_bar = vi.mechanisms.four_bar()
    for dt in (None, 0.03):
        run = vi.redmax.simulate(four_bar, 1.0, dt=dt, rtol=1e-5)
        assert run.drift.max() < 1e-10 * four_bar.compiled.length
        closed = four_bar.assemble(run.state(-1))
        assert np.abs(closed.velocity - run.velocity[-1]).max() < 1e-9
        assert not run.unresolved.size
    loose = vi.redmax.simulate(four_bar, 1.0, dt=0.03, rtol=1e-5, baumgarte=0.0)
    assert loose.drift.max() > 1e-7
    fine = vi.redmax.simulate(four_bar, 1.0, dt=0.03, rtol=1e-10)
    assert np.abs(run.position - fine.position).max() < 1e-3


@pytest.mark.slow
def test_closing_the_nodes_leaves_each_step_as_it_is(tmp_path):
    """The solution at the end does not depend on what is recorded before it, nor on the run being cut in two."""
    four_bar = vi.mechanisms.four_bar()
    whole = vi.redmax.simulate(four_bar, 0.6, dt=0.02)
    for every in (3, 30):
        assert np.array_equal(vi.redmax.simulate(four_bar, 0.6, dt=0.02, every=every).q[-1], whole.q[-1])
    half = vi.redmax.simulate(four_bar, 0.3, dt=0.02, output=tmp_path / "run.h5")
    assert half.drift.max() < 1e-10
    vi.redmax.simulate(four_bar, 0.6, dt=0.02, output=tmp_path / "run.h5", resume=True)
    assert np.array_equal(vi.load(tmp_path / "run.h5").q, whole.q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "T"), [("minitaur_leg", 0.25), pytest.param("rhombus_chain", 1.0, marks=pytest.mark.slow)]
)
def test_singular_poses_are_passed(name, T):
    """Knees pass each other, rhombi fold flat: the variational integrator still converges to it at order two."""
    mechanism = build(name)
    exact = vi.redmax.simulate(mechanism, T, dt=T / 10, rtol=1e-9)
    errors = []
    for steps in (500, 1000, 2000):
        run = vi.simulate(mechanism, T, T / steps, tol=1e-12, every=steps // 10)
        errors.append(np.abs(run.position - exact.position).max())
    assert -np.polyfit(np.log([1, 2, 4]), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.1)
    assert exact.drift.max() < 1e-10
    assert np.abs(exact.energy_balance).max() < 1e-6 * exact.kinetic.max()


# ---------------------------------------------------------------------------------------- arguments


def test_trajectory_has_names_and_columns():
    mechanism = build("slider_crank")
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.01, every=2)
    assert isinstance(run, vi.Trajectory)
    assert run.t == pytest.approx(np.arange(6) * 0.02)
    assert run.q.shape == run.qdot.shape == (6, 3)
    measured = vi.Trajectory.coordinates.func(run)
    for joint in mechanism.joints:
        assert run.coordinates[joint.name] == pytest.approx(measured[joint.name], abs=1e-9)
    assert set(run.columns) < set(run.rates) == set(mechanism.joint_index)
    for name, own in run.columns.items():
        assert run.rates[name] == pytest.approx(run.qdot[:, own][:, 0], abs=1e-9)
    afloat = vi.redmax.simulate(build("minitaur"), 0.01, dt=0.005)
    base = next(name for name in afloat.columns if name.startswith("base of"))
    assert np.array_equal(afloat.rates[base], afloat.qdot[:, afloat.columns[base]])


def test_wrong_arguments_are_refused():
    mechanism = build("double_pendulum")
    with pytest.raises(vi.ArgumentError, match="integrator must be one of"):
        vi.redmax.simulate(mechanism, 1.0, integrator="euler3")
    with pytest.raises(vi.ArgumentError, match="chart must be one of"):
        vi.redmax.simulate(mechanism, 1.0, chart="xxz")
    with pytest.raises(vi.ArgumentError, match="shorter than one step"):
        vi.redmax.simulate(mechanism, 1.0, dt=2.0)
    with pytest.raises(vi.ArgumentError, match="every"):
        vi.redmax.simulate(mechanism, 1.0, every=0)
    state = mechanism.state()
    with pytest.raises(vi.StateError, match="open"):
        vi.redmax.simulate(
            mechanism, 1.0, state=vi.State(state.position + [[0], [1]], *list(vars(state).values())[1:4])
        )
    still = vi.Mechanism("still", [vi.Body.box("b", (1, 1, 1), 1.0)], [vi.Fixed("f", "world", "b")])
    with pytest.raises(vi.ArgumentError, match="no coordinate"):
        vi.redmax.simulate(still, 1.0)


@pytest.mark.parametrize("where", ["between nodes", "at a new chart"])
def test_accelerations_that_are_not_finite_on_the_way_end_the_run(where, monkeypatch):
    """With the trajectory up to there, also where the solver asks for them outside of its step."""
    calls = []

    def fail_later(*_, **__):
        calls.append(None)
        if len(calls) > 8:
            raise NotFinite
        return real(*_, **__)

    owner, name = (DOP853, "_dense_output_impl") if where == "between nodes" else (Adaptive, "_make_solver")
    real = getattr(owner, name)
    monkeypatch.setattr(owner, name, fail_later)
    monkeypatch.setattr(Adaptive, "_reach", lambda self: where != "between nodes")
    with pytest.raises(vi.ConvergenceError, match="accelerations are not finite") as caught:
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 2.0, dt=0.001)
    assert 0.0 < caught.value.time < 2.0
    assert np.isfinite(caught.value.trajectory.position).all()
