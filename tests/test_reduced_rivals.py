"""Rivals in reduced coordinates: fixed explicit steps, dense matrices, Gauss collocation, variational integrators."""

import numpy as np
import pytest
from force_samples import SAMPLES, sample_mechanism, with_forces
from random_mechanisms import random_closed, random_tree, random_velocity_state
from test_reduced_runs import check as check_resumed
from test_reduced_runs import differing, servo

import varint as vi
from varint.cli import main
from varint.methods.reduced.canonical import Canonical
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators import INTEGRATORS, Task
from varint.methods.reduced.integrators.symplectic import newton_matrix, tableau
from varint.methods.reduced.start import start_of
from varint.results.inputs.at_times import InputsAtTimes

pytestmark = pytest.mark.slow  # they compile functions that few others need

EXPLICIT = ("heun", "rk4")
TREES = [name for name, kind in INTEGRATORS.items() if kind.trees_only]
VARIATIONAL = [name for name in TREES if INTEGRATORS[name].tol]


def rods(angle, gravity=(0.0, 0.0, -9.81)):
    """Two rods of 1 kg and 1 m, 0.1 m by 0.1 m, the first at ``angle``, and their start."""
    bodies = [vi.Body.box(f"rod {k}", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5 - k)) for k in range(2)]
    joints = [
        vi.Revolute("shoulder", "world", "rod 0", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("elbow", "rod 0", "rod 1", point=(0, 0, -1), axis=(0, 1, 0)),
    ]
    mechanism = vi.Mechanism("rods", bodies, joints, gravity=gravity)
    return mechanism, mechanism.state(coordinates={"shoulder": angle})


def equations_of(mechanism, state=None, **options):
    equations = Equations(mechanism, lambda compiled: InputsAtTimes(mechanism, compiled, 10, 0.1), 1.0, **options)
    return equations, *start_of(equations, state or mechanism.state(), {})


# ---------------------------------------------------------------------------------------- orders

TREE_CASES = {
    "spherical": (1, lambda: vi.mechanisms.double_pendulum(joint="spherical")),
    "tree": (1, lambda: vi.mechanisms.tree(depth=2)),
    "servo": (3, lambda: servo()[0]),  # with a spring, a damper and an integral gain, in shorter steps
}
METHODS = {  # order, steps, options
    "heun": (2, (40, 80, 160), {}),
    "rk4": (4, (20, 40, 80), {}),
    "variational2": (2, (20, 40, 80), {"tol": 1e-12}),
    "variational2_recursive": (2, (20, 40, 80), {"tol": 1e-12}),
    "variational3": (3, (20, 40, 80), {"tol": 1e-12}),
    "gauss 1": (2, (40, 80), {"stages": 1}),
    "gauss 2": (4, (10, 20, 40), {"stages": 2}),
    "gauss 3": (6, (6, 12, 18), {}),
}
ORDER_8 = {"gauss 4": (8, (6, 12), {"stages": 4})}  # above round-off on one tree


def errors(mechanism, integrator, T, counts, **options):
    """Largest errors of positions and velocities (K, 2) at the nodes that all have, by ``counts`` of steps up to T."""
    nodes = np.gcd.reduce(counts)
    exact = vi.redmax.simulate(mechanism, T, dt=T / nodes, rtol=1e-13)
    largest = []
    for n in counts:
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator, every=n // nodes, **options)
        largest.append([np.abs(getattr(run, a) - getattr(exact, a)).max() for a in ("position", "velocity")])
    return np.array(largest)


def slopes(counts, largest):
    return -np.polyfit(np.log(counts), np.log(largest), 1)[0]


def each(cases, methods):
    return [(name, method) for name in cases for method in methods]


@pytest.mark.many
@pytest.mark.parametrize(("name", "method"), [*each(TREE_CASES, METHODS), ("spherical", "gauss 4")])
def test_order_on_trees(name, method):
    order, counts, options = (METHODS | ORDER_8)[method]
    factor, build = TREE_CASES[name]
    mechanism, T, counts = build(), 0.4, factor * np.array(counts)
    largest = errors(mechanism, method.split()[0], T, counts.tolist(), **options)
    bound = 0.2 if order < 8 else 0.4  # 12 steps of order 8 err by 1e-13, of which half may be round-off of ``exact``
    assert slopes(counts, largest) == pytest.approx(np.full(2, order), abs=bound)


@pytest.mark.parametrize(("name", "integrator"), each(("four_bar", "three_link_loop", "slider_crank"), EXPLICIT))
def test_order_on_loops(name, integrator):
    mechanism, T, counts = getattr(vi.mechanisms, name)(), 0.4, (80, 160, 320)
    largest = errors(mechanism, integrator, T, counts)
    assert slopes(counts, largest) == pytest.approx(np.full(2, INTEGRATORS[integrator].order), abs=0.2)


@pytest.mark.parametrize("stages", range(1, 7))
def test_order_of_all_numbers_of_stages(stages):
    """A mass on a spring, whose phase is off by a power of the step."""
    body = vi.Body("m", mass=1.0, inertia=np.eye(3), position=(0, 0, 0))
    slide = vi.Prismatic("slide", "world", "m", point=(0, 0, 0), axis=(1, 0, 0))
    pull = vi.Spring("spring", "world", "m", point_a=(-3.0, 0, 0), point_b=(0, 0, 0), stiffness=4.0, rest_length=3.0)
    mechanism = vi.Mechanism("oscillator", [body], [slide], gravity=(0, 0, 0), forces=[pull])
    state, T, counts = mechanism.state(coordinates={"slide": 1.0}), 4.0, np.array([4, 5, 6]) * (1 if stages > 3 else 4)
    largest = []
    for n in counts:
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator="gauss", stages=stages, state=state)
        assert run.settings["order"] == 2 * stages
        largest.append(abs(run.coordinates["slide"][-1] - np.cos(2.0 * T)))
    assert slopes(counts, largest) == pytest.approx(2 * stages, abs=0.2)


# ---------------------------------------------------------------------------------------- dense matrices


def matrix_of(equations, q, qdot):
    return INTEGRATORS["matrix"](equations, q, qdot, Task(1.0, None, 1e-6, 1e-8))


def test_dense_matrices_are_the_recursions(rng):
    for k in range(6):
        mechanism = random_closed(rng, 7, 2) if k % 2 else random_tree(rng, 7, floating=True)
        state = random_velocity_state(rng, mechanism)
        driven = {}
        if k > 3:
            name = next(name for name in Equations(mechanism).tree.columns if name in mechanism.joint_index)
            a, b = rng.standard_normal((2, mechanism.joint(name).dof))
            driven = {name: lambda t, a=a, b=b: (a + b * t, b, 0 * b)}
        equations, q, qdot = equations_of(mechanism, state, prescribed=driven)
        dense = matrix_of(equations, q, qdot).acceleration(0.1, q, qdot)
        recursive = equations.acceleration(0.1, q, qdot)
        assert dense == pytest.approx(recursive, abs=1e-9 * np.abs(recursive).max())


@pytest.mark.parametrize("name", ["double_pendulum", "governor", "four_bar", "slider_crank", "stewart_platform"])
def test_matrix_and_recursion_take_the_same_steps(name):
    """Itype 2 of the paper, and the recursions."""
    mechanism = getattr(vi.mechanisms, name)()
    runs = [vi.redmax.simulate(mechanism, 0.3, 0.05, integrator=name, rtol=1e-8) for name in ("rk45", "matrix")]
    assert abs(runs[0].steps - runs[1].steps) <= 1
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-7)


def test_all_dense_scenes():
    for number in (0, 4, 7, 8, 11, 15, 21):
        mechanism = getattr(vi.mechanisms, f"redmax_{number:02d}")()
        runs = [vi.redmax.simulate(mechanism, 0.2, 0.1, integrator=name, rtol=1e-7) for name in ("rk45", "matrix")]
        assert runs[0].position == pytest.approx(runs[1].position, abs=1e-7)


# ---------------------------------------------------------------------------------------- equations


def differences(function, x, size=1e-5):
    """(..., n) derivatives of the arrays that ``function`` returns by ``x`` (n,), of fourth order."""
    parts = []
    for step in size * np.eye(x.size):
        near, far = ([np.array(function(x + k * step)) for k in (n, -n)] for n in (1, 2))
        parts.append((8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * size))
    return np.stack(parts, axis=-1)


def check_canonical(mechanism, state):
    equations, q, v = equations_of(mechanism, state)
    canonical, M = Canonical(equations), None
    p, F = canonical.momentum_and_force(0.1, q, v)
    by_p, by_F = canonical.by_motion()
    equations.place(q)
    M = equations.mass_matrix()
    assert p == pytest.approx(M @ v, abs=1e-12 * np.abs(p).max())
    assert canonical.rates_of_momentum(q, p) == pytest.approx(v, abs=1e-10 * max(1.0, np.abs(v).max()))
    assert canonical.force(0.1, q, v) == pytest.approx(F, abs=1e-12 * np.abs(F).max())
    by_q = differences(lambda x: canonical.momentum_and_force(0.1, x, v), q)
    by_v = differences(lambda x: canonical.momentum_and_force(0.1, q, x), v)
    for exact, numbers in zip((by_p, by_F), zip(by_q, by_v, strict=True), strict=True):
        for one, other in zip(exact, numbers, strict=True):
            assert one == pytest.approx(other, abs=1e-7 * max(1.0, np.abs(np.array(numbers)).max()))
    rate = by_q[0] @ v + M @ equations.acceleration(0.1, q, v)
    assert rate == pytest.approx(F, abs=1e-7 * np.abs(F).max())  # dp/dt = F


def test_momenta_and_forces_against_differences(rng):
    for _ in range(4):
        mechanism = random_tree(rng, 5, floating=True)
        check_canonical(mechanism, random_velocity_state(rng, mechanism))


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"PathMass"}))  # no law, and refused by these methods
def test_forces_of_laws_against_differences(name, rng):
    mechanism = sample_mechanism(rng, SAMPLES[name])
    if Equations(mechanism).row_count:
        pytest.skip("a coupling")
    check_canonical(mechanism, random_velocity_state(rng, mechanism, 0.5))


def test_tableaus_are_symplectic():
    for nodes in [(0.5,), (1 / 3, 1.0), tuple(0.5 + 0.5 * np.polynomial.legendre.leggauss(4)[0])]:
        c, b, a, conjugate, onward = tableau(nodes)
        assert b[:, None] * conjugate + (b[:, None] * a).T == pytest.approx(np.outer(b, b))
        assert a.sum(axis=1) == pytest.approx(c)
        assert onward @ c**0 == pytest.approx(c**0)
        assert onward @ c ** (c.size - 1) == pytest.approx((1 + c) ** (c.size - 1))
        if len(nodes) != 2:  # of Gauss
            assert conjugate == pytest.approx(a, abs=1e-14)


def test_matrix_of_newtons_method(rng):
    mechanism = vi.mechanisms.double_pendulum(joint="spherical")
    equations, q, v = equations_of(mechanism, random_velocity_state(rng, mechanism))
    canonical, table, h, shape = Canonical(equations), tableau((1 / 3, 1.0)), 0.05, (2, q.size)

    def residual(x):
        V = x.reshape(shape)
        pairs = [canonical.momentum_and_force(0.0, q + h * row @ V, own) for row, own in zip(table.a, V, strict=True)]
        p, F = np.array(pairs).swapaxes(0, 1)
        return (p - h * table.conjugate @ F).ravel()

    V = v + 0.1 * rng.standard_normal(shape)
    parts = []
    for row, own in zip(table.a, V, strict=True):
        canonical.momentum_and_force(0.0, q + h * row @ V, own)
        parts.append(canonical.by_motion())
    by_p, by_F = (np.array(part) for part in zip(*parts, strict=True))
    expected = differences(residual, V.ravel())
    assert newton_matrix(h, table, by_p, by_F) == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def one_step(mechanism, z, h, integrator, **options):
    """(q, p) after a step from (q, p) = ``z`` (2 nq,)."""
    equations = vi.EquationsOfMotion(mechanism)
    q, p = np.split(z, 2)
    start = vi.redmax.ReducedState(q, np.linalg.solve(equations.mass_matrix(q), p))
    run = vi.redmax.simulate(mechanism, h, dt=h, integrator=integrator, state=start, **options)
    return np.concatenate([run.q[-1], equations.mass_matrix(run.q[-1]) @ run.qdot[-1]])


@pytest.mark.parametrize(
    ("integrator", "options"),
    [("gauss", {"stages": 2}), *((name, {"tol": 1e-13}) for name in VARIATIONAL)],
)
def test_a_step_is_symplectic(integrator, options):
    mechanism, h = rods(0.5)[0], 0.1
    z = np.array([0.9, -0.4, 1.3, 0.6])
    D = differences(lambda x: one_step(mechanism, x, h, integrator, **options), z, 1e-3)
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert pytest.approx(J, abs=1e-9) == D.T @ J @ D
    explicit = differences(lambda x: one_step(mechanism, x, h, "heun"), z, 1e-3)
    assert np.abs(explicit.T @ J @ explicit - J).max() > 1e-4


def test_midpoint_rule_obeys_the_discrete_equations():
    """D2 L(q0, q1) + D1 L(q1, q2) = 0 with L(a, b) = h L((a + b) / 2, (b - a) / h), by differences."""
    mechanism, h = rods(1.0)[0], 0.02
    state = mechanism.state(coordinates={"shoulder": 1.0}, rates={"elbow": 2.0})
    equations = vi.EquationsOfMotion(mechanism)
    run = vi.redmax.simulate(mechanism, 2 * h, dt=h, integrator="variational2", tol=1e-13, state=state)

    def action(a, b):
        q, v = (a + b) / 2, (b - a) / h
        return h * (0.5 * v @ equations.mass_matrix(q) @ v - equations.energy(q, np.zeros(2)))

    before, now, after = run.q
    sides = (lambda x: action(before, x)), (lambda x: action(x, after))
    slopes_of_action = [differences(side, now, 1e-3) for side in sides]
    assert sum(slopes_of_action) == pytest.approx(np.zeros(2), abs=1e-9 * np.abs(slopes_of_action).max())


def test_midpoint_rule_three_times():
    """By Newton's method, by the recursive quasi-Newton method, and as collocation of Gauss with one stage."""
    mechanism, state = rods(1.2)
    runs = [
        vi.redmax.simulate(mechanism, 0.5, dt=0.02, state=state, integrator=name, **options)
        for name, options in (
            ("gauss", {"stages": 1}),
            ("variational2", {"tol": 1e-12}),
            ("variational2_recursive", {"tol": 1e-12}),
        )
    ]
    for run in runs[1:]:
        assert run.q == pytest.approx(runs[0].q, abs=1e-10)
    assert runs[1].newton_iterations < runs[2].newton_iterations


@pytest.mark.parametrize("integrator", ["gauss", "variational2_recursive"])
def test_compiled_iterations_are_those_in_python(integrator):
    """They are not compiled where a load has one value a node."""
    mechanism, pull = servo()[0], np.array([0.3, 0.1, -2.0])
    runs = [
        vi.redmax.simulate(mechanism, 0.4, dt=0.01, integrator=integrator, force={mechanism.bodies[1].name: force})
        for force in (pull, np.tile(pull, (41, 1)))
    ]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-12)
    assert runs[0].newton_iterations == pytest.approx(runs[1].newton_iterations, rel=0.1)
    assert runs[0].law_states == pytest.approx(runs[1].law_states, abs=1e-12)


@pytest.mark.parametrize(
    ("integrator", "options"),
    [
        ("gauss", {}),
        *((name, {"tol": 1e-13}) for name in ("variational2", "variational2_recursive")),
    ],
)
def test_time_reversal(integrator, options):
    mechanism = vi.mechanisms.double_pendulum(joint="spherical")
    there = vi.redmax.simulate(mechanism, 0.4, dt=0.02, integrator=integrator, **options)
    turned = vi.redmax.ReducedState(there.q[-1], -there.qdot[-1])
    back = vi.redmax.simulate(mechanism, 0.4, dt=0.02, integrator=integrator, state=turned, **options)
    assert back.position[-1] == pytest.approx(there.position[0], abs=1e-10)
    assert back.velocity[-1] == pytest.approx(-there.velocity[0], abs=1e-9)


@pytest.mark.parametrize("integrator", TREES)
def test_momentum_of_a_symmetry_is_kept(integrator):
    """Without gravity the shoulder's momentum is that of the whole about its axis."""
    mechanism = rods(0.0, gravity=(0, 0, 0))[0]
    state = mechanism.state(coordinates={"elbow": 0.8}, rates={"shoulder": 3.0, "elbow": -2.0})
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.02, integrator=integrator, state=state)
    equations = vi.EquationsOfMotion(mechanism)
    momenta = [(equations.mass_matrix(q) @ v)[0] for q, v in zip(run.q, run.qdot, strict=True)]
    assert momenta == pytest.approx(np.full(51, momenta[0]), abs=1e-12 * abs(momenta[0]))


# ---------------------------------------------------------------------------------------- long runs


@pytest.mark.parametrize(
    ("angle", "drift", "starts", "bound"),
    [
        (np.pi / 4, 0.011, 1, 0.1),
        pytest.param(np.pi / 2, 0.100, 12, 0.25, marks=pytest.mark.long),
    ],
)
def test_heun_gains_energy(angle, drift, starts, bound):
    """VI Fig. 4a: after a minute in steps of 10 ms; where the motion is chaotic, the mean over starts next to it.

    Their gains, 0.06 to 0.14 J, depend on round-off: their mean is known to 0.007 J.
    """
    gained = []
    for k in range(starts):
        mechanism, state = rods(angle + 1e-13 * k)
        run = vi.redmax.simulate(mechanism, 60.0, dt=0.01, integrator="heun", state=state, every=10)
        gained.append(run.energy[-1] - run.energy[0])
    assert np.mean(gained) == pytest.approx(drift, rel=bound)


def test_energy_of_gauss_has_no_trend():
    mechanism, state = rods(np.pi / 4)
    run = vi.redmax.simulate(mechanism, 200.0, dt=0.01, integrator="gauss", state=state, every=10)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-10
    trend = vi.energy_trend(run)
    assert abs(trend.slope) < 3 * trend.error


def test_work_of_forces_is_integrated_by_the_stages():
    mechanism = servo()[0]
    for integrator, options in (("rk4", {}), ("gauss", {"stages": 2})):
        runs = [vi.redmax.simulate(mechanism, 0.4, dt=dt, integrator=integrator, **options) for dt in (0.02, 0.01)]
        coarse, fine = (np.abs(run.energy_balance).max() for run in runs)
        assert np.log2(coarse / fine) > 3.5


# ---------------------------------------------------------------------------------------- interface


@pytest.mark.parametrize("integrator", TREES)
def test_runs_resume_to_the_same_bits(integrator, tmp_path):
    options = {"stages": 2} if integrator == "gauss" else {"tol": 1e-8}
    check_resumed(servo()[0], 0.2, tmp_path / "run.h5", dt=0.01, integrator=integrator, **options)


def test_another_tolerance_is_another_run(tmp_path):
    arguments = {"dt": 0.01, "integrator": "variational2", "output": tmp_path / "run.h5"}
    vi.redmax.simulate(vi.mechanisms.double_pendulum(), 0.1, **arguments)
    with pytest.raises(vi.FileError, match="tol"):
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 0.2, tol=1e-6, resume=True, **arguments)


PENDULUM = vi.mechanisms.double_pendulum()
NOT_TREES = {
    "joint 'rocker pin' closes a loop": (vi.mechanisms.four_bar(), {}),
    "gear 'gear' couples coordinates": (
        with_forces(PENDULUM, vi.Gear("gear", joint_a="joint 1", joint_b="joint 2", radius_a=0.1, radius_b=0.2)),
        {},
    ),
    "prescribed": (PENDULUM, {"prescribed": {"joint 1": lambda t: (0.1 * t, 0.1, 0.0)}}),
    "prescribes the motion": (with_forces(PENDULUM, vi.PrescribedMotion("m", joint="joint 1", rate=0.1)), {}),
    "is hard": (with_forces(PENDULUM, vi.JointStop("stop", joint="joint 1", upper=0.1)), {}),
}


@pytest.mark.parametrize("integrator", TREES)
@pytest.mark.parametrize("words", NOT_TREES)
def test_what_trees_have_not_is_refused(words, integrator):
    mechanism, options = NOT_TREES[words]
    with pytest.raises(vi.ArgumentError, match=words):
        vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator=integrator, **options)


WRONG = {
    "stages belongs to integrator 'gauss', not to 'bdf2'": {"integrator": "bdf2", "stages": 2},
    "tol belongs to integrator 'variational2', .*, not to 'gauss'": {"integrator": "gauss", "tol": 1e-6},
    "stages must be a whole number from 1 up to 6, got 7": {"integrator": "gauss", "stages": 7},
    "tol must be": {"integrator": "variational2", "tol": 0.0},
    "needs dt=": {"integrator": "gauss", "dt": None},
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments(message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.Reduced(**{"dt": 0.01} | WRONG[message])


@pytest.mark.parametrize("integrator", EXPLICIT)
def test_rate_of_stabilisation_is_bounded(integrator):
    with pytest.raises(vi.ArgumentError, match="must be less than"):
        vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, dt=0.01, integrator=integrator, baumgarte=300.0)


@pytest.mark.parametrize("integrator", ["variational2", "variational2_recursive", "variational3", "gauss"])
def test_steps_without_a_solution_end_the_run(integrator, monkeypatch):
    monkeypatch.setattr("varint.methods.reduced.integrators.symplectic.ITERATIONS", 1)
    with pytest.raises(vi.ConvergenceError, match="did not converge, nor does it in a step of") as caught:
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, dt=0.05, integrator=integrator)
    assert not caught.value.trajectory.success


def test_stiff_forces_fall_to_newtons_method():
    """Gauss with a damper that iterations in linear time cannot follow."""
    mechanism = with_forces(PENDULUM, vi.JointDamper("damper", joint="joint 2", damping=2e3))
    exact = vi.redmax.simulate(mechanism, 0.3, rtol=1e-10, integrator="radau")
    with pytest.warns(vi.UnresolvedWarning, match="'gauss' leaves 92% of such a motion"):
        run = vi.redmax.simulate(mechanism, 0.3, dt=0.01, integrator="gauss")
    assert run.position[-1] == pytest.approx(exact.position[-1], abs=1e-5)
    with pytest.raises(vi.ConvergenceError):
        vi.redmax.simulate(mechanism, 0.3, dt=0.01, integrator="variational2_recursive")


def test_no_gradient():
    for name in ("heun", "matrix", *TREES):
        with pytest.raises(vi.ArgumentError, match="scheme must be one of"):
            vi.redmax.gradient(PENDULUM, lambda s: s.position[0, 0], 0.1, 0.01, scheme=name, with_respect_to=["start"])


def test_command_and_comparison(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    argv = ["run", "double_pendulum", "--duration", "0.1", "--dt", "0.01"]
    for name, options in (("gauss", ("--stages", "2")), ("variational2", ("--tol", "1e-6"))):
        assert main([*argv, "--integrator", name, *options, "-o", f"{name}.h5"]) == 0
        given = {options[0][2:]: float(options[1]) if name != "gauss" else 2}
        run = vi.redmax.simulate(PENDULUM, 0.1, dt=0.01, integrator=name, **given)
        assert not differing(vi.load(f"{name}.h5"), run)
    assert main([*argv, "--integrator", "heun", "--stages", "2"]) == 2
    assert "stages belongs to integrator 'gauss'" in capsys.readouterr().err
    methods = ["heun", "variational3", vi.Reduced("gauss", 0.01, stages=1), vi.Reduced("gauss", 0.01, stages=2)]
    compared = vi.compare(PENDULUM, 0.2, (0.02, 0.01, 0.005), order=2, integrators=methods)
    assert {"REDMAX gauss stages=1", "REDMAX gauss stages=2", "REDMAX heun"} <= {one.name for one in compared.series}
    members = vi.ensemble(
        vi.mechanisms.double_pendulum, {"angle": [0.1, 0.2]}, 0.1, 0.01, formulation="reduced", integrator="gauss",
        stages=2, workers=1,
    )  # fmt: skip
    assert not members.failures
