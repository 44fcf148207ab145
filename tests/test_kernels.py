"""Compiled pieces one by one, compiled and as plain Python; and that stepping allocates nothing."""

import os
import subprocess
import sys
import tempfile

import numba
import numpy as np
import pytest
import quaternion as oracle
from random_mechanisms import random_tree, random_velocity_state

import varint as vi
from varint.base.numba import njit
from varint.mathematics import quaternion
from varint.methods.variational.march import March
from varint.methods.variational.schemes import SCHEMES, scheme
from varint.model.rotation_vectors import rotation_matrix
from varint.step import dense, momentum, step


@pytest.fixture(params=["compiled", "python"])
def variant(request):
    return (lambda f: f) if request.param == "compiled" else (lambda f: f.py_func)


def differences(f, x, step=1e-3):
    """Sixth-order central differences: Jacobian of f at x."""
    columns = []
    for e in np.eye(x.size) * step:
        a, b, c = (np.asarray(f(x + k * e)) - f(x - k * e) for k in (1, 2, 3))
        columns.append((45 * a - 9 * b + c) / (60 * step))
    return np.array(columns).T


@pytest.mark.parametrize("half_step", [0.05, -0.05])
def test_advance_is_a_unit_product(variant, rng, half_step):
    q, w = rng.standard_normal(4), rng.standard_normal(3)
    q /= np.linalg.norm(q)
    out, rest = np.empty((2, 4))
    variant(quaternion.advance)(q, np.zeros(4), *w, half_step, out, rest)
    u = half_step * w
    assert np.abs(out - (oracle.quaternion(*q) * oracle.quaternion(np.sqrt(1 - u @ u), *u)).components).max() < 1e-15
    back = np.empty(4)
    quaternion.advance(out, rest, *w, -half_step, back, np.empty(4))
    assert np.abs(back - q).max() < 1e-15


@pytest.mark.slow
def test_momentum_derivative_against_differences(variant, rng):
    J = np.diag([0.5, 0.8, 1.1]) + 0.1
    w, half_step = 3.0 * rng.standard_normal(3), 0.05
    D = np.empty((6, 6))
    variant(momentum.momentum_derivative)(2.0, J, *w, half_step, D)

    def start_momentum(w):
        return np.array(momentum.angular_momentum(J, tuple(w), half_step))

    u = half_step * w
    c = np.sqrt(1 - u @ u)
    E = c * np.eye(3) + np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    assert np.abs(D[3:, 3:] - differences(start_momentum, w) @ E).max() < 1e-10
    assert (D[:3, :3] == 2.0 * np.eye(3)).all()
    assert (D[:3, 3:] == 0).all()
    assert (D[3:, :3] == 0).all()


def test_phi_is_the_rotation_that_a_change_of_w_gives_the_end_pose(rng):
    """dw = (c I + [u]) dphi turns the end pose by h dphi, body axes (docs/theory.md)."""
    q, w, half_step = np.array([1.0, 0, 0, 0]), rng.standard_normal(3), 0.1
    u = half_step * w
    c = np.sqrt(1 - u @ u)
    E = c * np.eye(3) + np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    end = np.empty(4)
    quaternion.advance(q, np.zeros(4), *w, half_step, end, np.empty(4))

    def turned(phi):
        out = np.empty(4)
        quaternion.advance(q, np.zeros(4), *(w + E @ phi), half_step, out, np.empty(4))
        return 2 * np.array(quaternion.multiply(end * [1, -1, -1, -1], out)[1:])

    assert np.abs(differences(turned, np.zeros(3)) - 2 * half_step * np.eye(3)).max() < 1e-10


def test_free_body_keeps_its_spatial_momentum_in_one_step(rng):
    J, w, half_step = np.diag([0.5, 0.8, 1.1]), rng.standard_normal(3), 0.1
    q, end = np.array([1.0, 0, 0, 0]), np.empty(4)
    quaternion.advance(q, np.zeros(4), *w, half_step, end, np.empty(4))
    start, finish = (np.array(momentum.angular_momentum(J, tuple(w), half)) for half in (half_step, -half_step))
    assert np.abs(rotation_matrix(end) @ finish - start).max() < 1e-15


def test_lu_equals_numpy(variant, rng):
    for n in range(1, 7):
        A = np.zeros((6, 6))
        A[:n, :n] = rng.standard_normal((n, n)) + 4 * np.eye(n)
        b, F = rng.standard_normal(n), A.copy()
        x = b.copy()
        variant(dense.lu_factor)(F, n)
        variant(dense.lu_solve)(F, n, x)
        assert np.abs(x - np.linalg.solve(A[:n, :n], b)).max() < 1e-12


@pytest.mark.slow
def test_wide_solves_equal_numpy(variant, rng):
    """With the right-hand side in a column of its own, and zeros where nothing is."""
    A = rng.standard_normal((6, 6)) + 4 * np.eye(6)
    for n in range(7):
        G, x, y = rng.standard_normal((n, 2, 6)), rng.standard_normal(6), rng.standard_normal(n)
        F, S, X, Y = A.copy(), A.copy(), np.full((6, dense.WIDE), np.nan), np.full((6, dense.WIDE), np.nan)
        variant(dense.lu_factor)(F, 6)
        variant(dense.lower_solve_columns)(F, G, n, x, X)
        variant(dense.upper_solve_wide)(F, 6, X)
        columns = np.zeros((6, dense.WIDE))
        columns[:, :n], columns[:, dense.RIGHT] = G[:, 0].T, x
        assert np.abs(X - np.linalg.solve(A, columns)).max() < 1e-12
        variant(dense.lu_factor)(S, n)
        variant(dense.lower_solve_rows)(S, G, n, y, Y)
        variant(dense.upper_solve_wide)(S, n, Y)
        rows = np.column_stack([G[:, 1], y, np.zeros(n)])
        assert np.isnan(Y[n:]).all()
        assert n == 0 or np.abs(Y[:n] - np.linalg.solve(A[:n, :n], rows)).max() < 1e-12


@pytest.mark.parametrize("n", [1, 2, 9])
def test_pivoted_lu(variant, rng, n):
    """Also where the diagonal is zero, and rows are of very different sizes."""
    A = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-8, 8, (n, 1))
    if n > 1:
        np.fill_diagonal(A, 0.0)
    x, K, order = rng.standard_normal(n), A.flatten(), np.empty(n, dtype=int)
    b = A @ x
    variant(dense.pivoted_lu_factor)(K, n, order, np.empty(n))
    variant(dense.pivoted_lu_solve)(K, n, order, b)
    assert np.abs(b - x).max() < 1e-11


@pytest.mark.parametrize("rank", [0, 1, 3, 5, 7])
def test_rank_revealing_lu(variant, rng, rank):
    n = 7
    size = 10.0 ** rng.uniform(-6, 6, n)  # rows of very different sizes are told from redundant ones
    A = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n)) * np.sqrt(np.outer(size, size))
    b = A @ (rng.standard_normal(n) / np.sqrt(size))
    K, rows, columns = np.concatenate([[9.0], A.ravel()]), np.empty(n, dtype=int), np.empty(n, dtype=int)
    scale = 10 * size
    found, last = variant(dense.rank_lu_factor)(K, 1, n, n, scale, rows, columns)
    assert found == rank
    assert last > 1e-6 if rank else last == 1.0
    x = b.copy()
    variant(dense.rank_lu_solve)(K, 1, n, n, rank, scale, rows, columns, x, np.empty(n))
    assert (np.abs(A @ x - b) / np.sqrt(size)).max() < 1e-11
    assert (x == 0).sum() == n - rank
    assert K[0] == 9.0


@pytest.mark.parametrize("name", SCHEMES)
def test_stages_add_up_and_are_symmetric(name):
    stages, order = SCHEMES[name].stages, SCHEMES[name].order
    assert stages.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.array_equal(stages, stages[::-1])
    for power in range(3, order, 2):  # the order conditions of a composition that sums of odd powers express
        assert abs((stages**power).sum()) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 6])
def test_run_as_plain_python_gives_the_same_motion(order):
    """NUMBA_DISABLE_JIT=1 must work: here the whole step runs uncompiled, one function at a time."""
    code = (
        "import varint as vi, numpy as np\n"
        f"run = vi.simulate(vi.mechanisms.four_bar(), 0.05, 0.01, order={order})\n"
        "np.save(__import__('sys').argv[1], run.position)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plain.npy")
        subprocess.run([sys.executable, "-c", code, path], check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
        plain = np.load(path)
    assert np.abs(plain - vi.simulate(vi.mechanisms.four_bar(), 0.05, 0.01, order=order).position).max() < 1e-13


def test_stepping_allocates_nothing():
    """Kernels are compiled without numba's memory runtime: an allocation in one would not even compile."""
    assert step.run.targetoptions["_nrt"] is False

    @njit
    def allocate(n):
        return np.zeros(n)

    with pytest.raises(numba.TypingError, match="Only accept returning of array passed into the function"):
        allocate(3)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("cut", [1, 7, 50])
def test_blocks_and_restored_checkpoints_give_the_same_bits(cut, order, rng):
    mechanism = random_tree(rng, 4, kinds=("Revolute", "Spherical", "Universal"))
    state = random_velocity_state(rng, mechanism)

    def fresh():
        march = March(mechanism.compiled, scheme(order), 0.01, 1e-10, 1)
        march.start(state)
        return march

    whole = fresh().advance(100)
    march = fresh()
    first = march.advance(cut)
    saved = march.checkpoint()
    march.advance(3)
    other = fresh()
    other.restore(saved)
    second = other.advance(100 - cut)
    assert np.array_equal(np.concatenate([first.position, second.position]), whole.position)
    assert np.array_equal(np.concatenate([first.velocity, second.velocity]), whole.velocity)


def test_long_steps_start_from_many_past_velocities():
    """So that most need one increment; with six velocities 1.8."""
    run = vi.simulate(vi.mechanisms.n_pendulum(n=2), 20.0, 0.01, every=2000)
    assert run.newton_iterations < 1.2 * 2000


def test_no_more_past_velocities_are_kept_up_to_date_than_help():
    """At small steps few bring start values to where one increment leaves nothing."""
    mechanism, depth = vi.mechanisms.n_pendulum(n=2), {}
    for dt in (0.001, 0.01):
        march = March(mechanism.compiled, scheme(2), dt, 1e-10, 1)
        march.start(mechanism.state())
        march.advance(200)
        depth[dt] = int(march.ws.depth[0])
    assert 3 <= depth[0.001] <= 6 < depth[0.01] <= march.ws.history.shape[1]
