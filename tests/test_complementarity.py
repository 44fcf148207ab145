"""Lemke's method: its laws, on problems of full and of low rank, with ties, with bounds, and without a solution."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from varint.methods.reduced.complementarity import Ray, solve_complementarity


def solved(q, M):
    """z, after its laws are checked, relative to its size."""
    z = solve_complementarity(q, lambda j: M[:, j]).z
    w, scale = q + M @ z, 1.0 + np.abs(q).max() + np.abs(z).max()
    assert z.min(initial=0.0) >= 0.0
    assert w.min(initial=0.0) > -1e-10 * scale
    assert np.abs(z * w).max(initial=0.0) < 1e-9 * scale**2
    return z


@pytest.mark.parametrize("tied", [False, True])
def test_laws_or_no_feasible_point(tied):
    """Of random semidefinite matrices, fewer columns than rows among them; a ray only where nothing is feasible."""
    rng, rays = np.random.default_rng(5), 0
    for _ in range(150):
        n = rng.integers(1, 11)
        rows = rng.standard_normal((n, rng.integers(1, n + 3)))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        q = rows @ rng.standard_normal(rows.shape[1]) - 0.1 * rng.random(n)
        if tied:
            q = np.round(2 * q) / 2
        try:
            solved(q, rows @ rows.T)
        except Ray:
            rays += 1
            inside = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=q - 1e-9, bounds=(None, None))
            assert inside.status == 2
    assert 0 < rays < 60


def test_the_only_solution_of_positive_definite_problems():
    """All 2^n bases tried: one of them obeys the laws, and that is found."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        rows = rng.standard_normal((5, 5))
        M, q = rows @ rows.T + 0.1 * np.eye(5), rng.standard_normal(5)
        found = []
        for basis in itertools.product((False, True), repeat=5):
            z, on = np.zeros(5), np.array(basis)
            z[on] = np.linalg.solve(M[np.ix_(on, on)], -q[on])
            if z.min() >= 0.0 and (q + M @ z)[~on].min(initial=0.0) >= 0.0:
                found.append(z)
        assert len(found) == 1
        assert solved(q, M) == pytest.approx(found[0], abs=1e-10)


def test_columns_that_stay_out_are_not_asked_for():
    """Of a hundred rows that do not touch each other those that are short."""
    asked = []

    def column(j):
        asked.append(j)
        return np.eye(100)[j]

    q = np.ones(100)
    q[[3, 50]] = -1.0, -2.0
    found = solve_complementarity(q, column)
    assert sorted(asked) == [3, 50]
    assert found.columns == 2
    assert np.flatnonzero(found.z).tolist() == [3, 50]
    assert solve_complementarity(np.ones(3), column).columns == 0


def test_a_row_that_nothing_moves():
    with pytest.raises(Ray):
        solve_complementarity(np.array([-1.0, 1.0]), lambda j: np.zeros(2))
