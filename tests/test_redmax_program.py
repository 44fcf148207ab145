"""The convex program of a step: its conditions of optimality, infeasible rows, and the missing package."""

import sys

import numpy as np
import pytest

import varint as vi
from varint.methods.reduced.program import Infeasible, solve_program
from varint.methods.reduced.saddle import LinearStep


def random_program(rng, nq, equations, rows, cones):
    root = rng.standard_normal((nq, nq))
    A, b = root @ root.T + 0.1 * np.eye(nq), rng.standard_normal(nq)
    G, g = rng.standard_normal((equations, nq)), rng.standard_normal(equations)
    inside = np.linalg.lstsq(G, g, rcond=None)[0] if equations else np.zeros(nq)
    N = rng.standard_normal((rows, nq))
    n = N @ inside - rng.uniform(0.0, 0.5, rows)
    fields = [(rng.uniform(0.1, 1.0), rng.standard_normal((1 + k % 3, nq))) for k in range(cones)]
    return A, b, G, g, N, n, fields


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shape", [(4, 0, 3, 0), (6, 2, 4, 3), (9, 3, 0, 5), (5, 0, 12, 2), (4, 3, 2, 2)])
def test_conditions_of_optimality(rng, shape, mass):
    for _ in range(5):
        A, b, G, g, N, n, fields = random_program(rng, *shape)
        if len(G):
            G, g = np.vstack([G, G[0] + G[-1]]), np.append(g, g[0] + g[-1])  # one redundant row
        fields = [(mass * c, B) for c, B in fields]
        v, alpha, beta = solve_program(LinearStep(mass * A, mass * b, G, g), N, n, fields)
        alpha, beta = alpha / mass, [part / mass for part in beta]
        assert G @ v == pytest.approx(g, abs=1e-10)
        left = A @ v - b - N.T @ alpha - sum((B.T @ part for (_, B), part in zip(fields, beta, strict=True)), 0 * v)
        multiplier = np.linalg.lstsq(G.T, left, rcond=None)[0] if len(G) else np.zeros(0)
        assert left == pytest.approx(G.T @ multiplier, abs=1e-7)
        assert (N @ v - n).min(initial=0.0) > -1e-8
        assert alpha.min(initial=0.0) > -1e-8
        assert alpha * (N @ v - n) == pytest.approx(np.zeros(len(n)), abs=1e-7)
        for (c, B), part in zip(fields, beta, strict=True):
            sliding = B @ v
            assert np.linalg.norm(part) < c / mass + 1e-8
            # of full size against the sliding velocity
            assert part @ sliding == pytest.approx(-c / mass * np.linalg.norm(sliding), abs=1e-7)


def test_equal_rows_with_others_bounds(rng):
    A, b = np.eye(3), np.zeros(3)
    N = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    v, alpha, _ = solve_program(LinearStep(A, b, np.zeros((0, 3)), np.zeros(0)), N, np.array([1.0, 0.5, -1.0]), [])
    assert v == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert alpha == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


def test_contradictions_name_their_rows():
    N = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(Infeasible) as caught:
        solve_program(LinearStep(np.eye(2), np.zeros(2), np.zeros((0, 2)), np.zeros(0)), N, np.ones(3), [])
    assert caught.value.rows.tolist() == [1, 2]


def test_without_the_package(monkeypatch):
    plain = vi.mechanisms.n_pendulum(n=1)
    stop = vi.JointStop("stop", joint="joint 1", lower=-1.0)
    mechanism = vi.Mechanism("pendulum", plain.bodies, plain.joints, forces=[stop])
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(vi.ArgumentError, match=r'need the package clarabel: pip install "varint-dynamics\[contact\]"'):
        vi.redmax.simulate(mechanism, 1.0, dt=0.1, integrator="euler")
    friction = vi.JointCoulombFriction("rubs", joint="joint 1", coefficient=0.2, radius=0.05)
    run = vi.redmax.simulate(plain.with_forces(add=friction), 0.5, dt=0.01, integrator="euler")
    assert run.dissipated["rubs"][-1] > 0.01
