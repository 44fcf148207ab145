"""Impulses of one-sided rows and friction whose size depends on them: derivatives, convex programs, hard cases."""

import itertools

import numpy as np
import pytest

import varint as vi
from varint.methods.reduced import contacts
from varint.methods.reduced.program import solve_program
from varint.methods.reduced.recursions import cones
from varint.methods.reduced.recursions.cones import SOLVED, room, solve_cones
from varint.methods.reduced.saddle import LinearStep


def problem(S, free, sizes, F, f, weight, terms, one_sided):
    n, K = len(free), len(sizes)
    first = one_sided + np.cumsum([0, *sizes])
    D = np.diag(S).copy()
    for i, j in itertools.pairwise(first):
        D[i:j] = np.abs(S[i:j, i:j]).sum(axis=1).max()
    term = np.cumsum([0, *terms])
    made = room(n, K, len(f))
    for array, values in zip(made, (S, free, D, first, F, f, weight, term), strict=False):
        array[...] = values
    return made


def random_problem(rng, growth=0.2):
    sizes, terms, one_sided = [1, 2, 3], [2, 3, 1], 3
    n, T = one_sided + sum(sizes), sum(terms)
    R = rng.standard_normal((n, 12))
    F, f = growth * rng.standard_normal((T, n)), rng.standard_normal(T)
    return problem(
        R @ R.T, 3.0 * rng.standard_normal(n), sizes, F, f, rng.uniform(0.1, 1.0, T), terms, one_sided
    ), R  # fmt: skip


def missed(p):
    """How far ``p.z`` is from the laws, written out once more."""
    u = p.S @ p.z + p.free
    m = p.first[0]
    worst = max(-np.append(u[:m], p.z[:m]).min(initial=0.0), np.abs(u[:m] * p.z[:m]).max(initial=0.0))
    for k, (i, j) in enumerate(zip(p.first, p.first[1:], strict=False)):
        terms = slice(p.term[k], p.term[k + 1])
        c, speed = p.weight[terms] @ np.abs(p.F[terms] @ p.z + p.f[terms]), np.linalg.norm(u[i:j])
        worst = max(worst, np.linalg.norm(p.z[i:j]) - c, np.abs(speed * p.z[i:j] + c * u[i:j]).max())
    return worst


def test_laws_hold(rng):
    for _ in range(30):
        p, _ = random_problem(rng)
        assert solve_cones(p, 1.0) <= SOLVED
        assert missed(p) < 1e-8


@pytest.mark.slow
def test_newtons_matrix_is_the_derivative_of_what_is_missed(rng):
    for _ in range(10):
        p, _ = random_problem(rng)
        z = 0.3 * rng.standard_normal(p.z.size)
        p.z[:] = z
        cones._evaluate(p, 1.0)
        cones._linearise(p)
        found, differences = p.matrix[:, :-1].copy(), np.empty((p.z.size, p.z.size))
        assert p.matrix[:, -1] == pytest.approx(-p.missed)
        for j, step in enumerate(1e-6 * np.eye(p.z.size)):
            sides = []
            for sign in (1.0, -1.0):
                p.z[:] = z + sign * step
                cones._evaluate(p, 1.0)
                sides.append(p.missed.copy())
            differences[:, j] = (sides[0] - sides[1]) / 2e-6
        assert found == pytest.approx(differences, abs=1e-7)


def test_at_given_bounds_it_is_the_convex_program(rng):
    """min 1/2 |y|^2 - b y + sum c |B y| with N y >= n, by another method."""
    for _ in range(20):
        p, R = random_problem(rng, growth=0.0)
        m, b = p.first[0], rng.standard_normal(12)
        n = R[:m] @ b - p.free[:m]
        p.free[m:] = R[m:] @ b
        ends = list(zip(p.first, p.first[1:], p.term, p.term[1:], strict=False))
        discs = [(p.weight[s:t] @ np.abs(p.f[s:t]), R[i:j]) for i, j, s, t in ends]
        step = LinearStep(np.eye(12), b, np.zeros((0, 12)), np.zeros(0))
        exact = solve_program(step, R[:m], n, discs)
        assert solve_cones(p, 1.0) <= SOLVED
        assert b + R.T @ p.z == pytest.approx(exact.v, abs=5e-4)  # as exactly as that has it


def test_redundant_rows(rng):
    """Four legs of a table: the load is held, whoever bears it."""
    legs = np.array([[1.0, x, y] for x in (-1, 1) for y in (-1, 1)])
    weight = np.array([-1.0, 0.2, -0.1])
    p = problem(legs @ legs.T, legs @ weight, [], np.zeros((0, 4)), np.zeros(0), np.zeros(0), [], 4)
    assert solve_cones(p, 1.0) <= SOLVED
    assert legs.T @ p.z == pytest.approx(-weight, abs=1e-8)


def test_friction_that_grows_faster_than_what_it_resists():
    """Bounds of nine times the impulses: a joint that jams. Newton's method alone cycles from rest."""
    S = np.array([[1.0, -0.1, 0.26], [-0.1, 1.0, 0.2], [0.26, 0.2, 1.0]])
    F = np.array([[0.4, 0.7, 1.0], [8.9, 0.2, 8.2], [1.2, -0.3, 1.6]])
    for free in ([0.98, 0.36, 0.71], [-1.0, 0.5, 2.0], [0.1, -2.0, 0.3]):
        for sign in ([1, 1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, -1]):
            p = problem(
                S, np.array(free), [1, 1, 1], F * np.array(sign), np.array([0.07, 1.9, 0.04]), np.ones(3), [1, 1, 1], 0
            )
            assert solve_cones(p, 1.0) <= SOLVED
            assert missed(p) < 1e-8


# ---------------------------------------------------------------------------------------- in a run


def pendulum_with_friction():
    plain = vi.mechanisms.n_pendulum(n=2, angle=1.5)
    frictions = [vi.JointCoulombFriction(j.name, joint=j.name, coefficient=0.3, radius=0.05) for j in plain.joints]
    stop = vi.JointStop("stop", joint=plain.joints[1].name, lower=-0.2, upper=0.2)
    return vi.Mechanism("pendulum", plain.bodies, plain.joints, forces=[*frictions, stop])


def test_convex_programs_find_the_same_where_the_solver_does_not(monkeypatch):
    mechanism = pendulum_with_friction()
    expected = vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator="euler")
    calls = []

    def every_other(problem, scale):
        calls.append(solve_cones(problem, scale))
        return calls[-1] if len(calls) % 2 == 0 else 1.0

    monkeypatch.setattr(contacts, "solve_cones", every_other)
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator="euler")
    assert len(calls) == 20
    assert run.position == pytest.approx(expected.position, abs=1e-9)


def test_where_nothing_is_found_the_message_is_true(monkeypatch):
    monkeypatch.setattr(contacts, "solve_cones", lambda problem, scale: 0.25)
    with pytest.raises(vi.ConvergenceError, match=r"'joint 2' was found that agrees .* to more than 0.2 of the step"):
        vi.redmax.simulate(pendulum_with_friction(), 0.3, dt=0.01, integrator="euler")
