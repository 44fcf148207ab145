"""The block LDU against a dense solve and against scipy's splu, and what it does with redundant rows."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from random_mechanisms import random_closed, random_tree
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

import varint as vi
from varint.base.numba import allocate
from varint.plan import compile_structure
from varint.step.border import border_sizes, solve_border
from varint.step.configuration import place_anew
from varint.step.intervals import StepSpan
from varint.step.ldu import SOLVERS, solve_again, solve_free, solve_newton
from varint.step.solver_records import Border
from varint.step.workspace import workspace


def system(mechanism, rng, clustered=True):
    """Plan, workspace with pivots and rows at two poses, and the same matrix dense."""
    compiled = compile_structure(mechanism, clustered)
    coupled = replace(compiled.plan.bodies, coupled=np.full(len(compiled.order), True))  # pivots are of any form
    plan = replace(compiled.plan, bodies=coupled)
    ws = workspace(plan, 1)
    state = mechanism.state()
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    for pose, shift in enumerate((0.0, 0.02)):
        ws.position[pose, :-1] = state.position[compiled.order] + shift * rng.standard_normal((nb, 3))
        quat = state.quat_wxyz[compiled.order] + shift * rng.standard_normal((nb, 4))
        ws.quat[pose, :-1] = quat / np.linalg.norm(quat, axis=1)[:, None]
        place_anew(plan, ws, pose)
    D = np.array([np.diag([m, m, m, 0, 0, 0]) for m in plan.bodies.mass])
    D[:, 3:, 3:] = plan.bodies.inertia
    D += 0.05 * rng.standard_normal(D.shape)  # neither symmetric nor block diagonal
    ws.ldu.D[:] = D
    A = np.zeros((6 * nb + nr, 6 * nb + nr))
    for i in range(nb):
        A[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = D[i]
    for j, sides in enumerate(plan.joints.side):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            for s, body in enumerate(sides):
                if body < nb:
                    A[6 * body : 6 * body + 6, 6 * nb + r] -= ws.jacobian[0, r, s]
                    A[6 * nb + r, 6 * body : 6 * body + 6] += ws.jacobian[1, r, s]
    return plan, ws, A


def ldu_solve(plan, ws, b):
    nb = plan.bodies.mass.size
    body, row = b[: 6 * nb].reshape(nb, 6).copy(), b[6 * nb :].copy()
    solve_newton(plan, ws, body, row, 0, 1)
    return np.concatenate([body.ravel(), row])


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_equals_dense_and_splu_on_random_trees(seed, floating):
    rng = np.random.default_rng(seed)
    plan, ws, A = system(random_tree(rng, int(rng.integers(1, 13)), floating=floating), rng)
    b = rng.standard_normal(len(A))
    x = ldu_solve(plan, ws, b)
    assert relative(x, np.linalg.solve(A, b)) < 1e-10
    assert relative(x, splu(csc_matrix(A)).solve(b)) < 1e-10


def test_free_bodies_are_solved_each_by_itself(rng):
    bodies = [vi.Body.box(f"box {k}", (1, 2, 3), 1.0 + k, position=(0, 0, 4 * k)) for k in range(3)]
    joints = [vi.Free(body.name, "world", body.name) for body in bodies]
    plan, ws, A = system(vi.Mechanism("boxes", bodies, joints), rng)
    assert SOLVERS[plan.joints.solver[0]] is solve_free
    b = rng.standard_normal(len(A))
    x = np.linalg.solve(A, b)
    assert relative(ldu_solve(plan, ws, b), x) < 1e-12
    again = b.reshape(3, 6)
    solve_free(plan, ws, again, np.zeros(0), 0, 1, True)  # with the factors at hand
    assert relative(again.ravel(), x) < 1e-12


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_equals_dense_and_splu_on_random_closed_mechanisms(seed, clustered):
    rng = np.random.default_rng(100 + seed)
    mechanism = random_closed(rng, int(rng.integers(4, 13)), int(rng.integers(1, 5)))
    plan, ws, A = system(mechanism, rng, clustered)
    assert plan.loops.node_row.size > 1
    b = rng.standard_normal(len(A))
    x = ldu_solve(plan, ws, b)
    assert (ws.ldu.rank == np.diff(plan.loops.node_row)).all()
    assert relative(x, np.linalg.solve(A, b)) < 1e-10
    assert relative(x, splu(csc_matrix(A)).solve(b)) < 1e-10


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("name", ["four_bar", "rhombus_chain", "ladder", "n_four_bar", "scissor_lift", "peaucellier"])
def test_redundant_rows_get_no_multiplier_and_do_not_change_the_motion(name, clustered, rng):
    mechanism = getattr(vi.mechanisms, name)()
    plan, ws, _ = system(mechanism, rng, clustered)
    nb = plan.bodies.mass.size
    ws.position[1], ws.quat[1] = ws.position[0], ws.quat[0]
    place_anew(plan, ws, 1)
    ws.ldu.D[:] = 0
    ws.ldu.D[:, range(6), range(6)] = 1.0
    G = np.zeros((plan.rows.role.size, 6 * nb))
    for j, sides in enumerate(plan.joints.side):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            for s, body in enumerate(sides):
                if body < nb:
                    G[r, 6 * body : 6 * body + 6] += ws.jacobian[0, r, s]
    rank = np.linalg.matrix_rank(G, tol=1e-9)
    redundant = len(G) - rank
    assert redundant > 0
    b = np.concatenate([rng.standard_normal(6 * nb), G @ rng.standard_normal(6 * nb)])
    x = ldu_solve(plan, ws, b)
    closure_rows = np.diff(plan.loops.node_row)
    assert (closure_rows - ws.ldu.rank).sum() == redundant
    assert (x[6 * nb :][plan.loops.node_row[0] :] == 0).sum() >= redundant
    exact = np.linalg.lstsq(np.block([[np.eye(6 * nb), -G.T], [G, np.zeros((len(G),) * 2)]]), b, rcond=1e-11)[0]
    assert np.abs(x[: 6 * nb] - exact[: 6 * nb]).max() < 1e-10
    assert np.abs(G @ x[: 6 * nb] - b[6 * nb :]).max() < 1e-10


def test_clusters_are_independent_loops(rng):
    topology = vi.mechanisms.rhombus_chain(m=5).compiled.topology
    assert [len(cuts) for _, cuts in topology.clusters] == [1] * 5
    single = compile_structure(vi.mechanisms.rhombus_chain(m=5), clustered=False).topology
    assert [len(cuts) for _, cuts in single.clusters] == [5]


@pytest.mark.parametrize(
    ("build", "length"),
    [(vi.mechanisms.n_four_bar, 3), (vi.mechanisms.ladder, 5), (partial(vi.mechanisms.ladder, closed=True), 12)],
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_many_loops_of_one_cluster_stay_short_and_near(build, length, shuffled, rng):
    """Whatever the order bodies and joints are listed in: fills and entries of K are in proportion to the loops."""
    mechanism = build(20)
    if shuffled:
        parts = [list(parts) for parts in (mechanism.bodies, mechanism.joints)]
        for part in parts:
            rng.shuffle(part)
        mechanism = vi.Mechanism("shuffled", *parts)
    compiled = mechanism.compiled
    plan, (nodes,) = compiled.plan, compiled.topology.nodes
    assert len(nodes) in (20, 21)
    passed = (plan.loops.fill_first[1:] - plan.loops.fill_pass).sum()
    assert passed / np.diff(plan.loops.node_row).sum() <= length  # closed, some loops lead all around
    assert len(nodes) == 21 or workspace(plan, 1).ldu.K.size <= 5 * 20 * len(nodes)


def test_a_ring_of_welds_is_redundant_through_and_through():
    """All six rows of its closure are redundant: nothing but round-off is left in the dense node."""
    bodies = [
        vi.Body.box(name, (0.3, 0.2, 0.1), 1.0, position=place) for name, place in zip("abc", np.eye(3), strict=True)
    ]
    joints = [vi.Fixed("1", "a", "b"), vi.Fixed("2", "b", "c"), vi.Fixed("3", "c", "a"), vi.Free("4", "world", "a")]
    ring = vi.Mechanism("ring", bodies, joints, gravity=(0, 0, 0))
    run = vi.simulate(ring, 10.0, 0.01, state=ring.state(angular_velocity={"a": (1, 2, 3)}))
    assert run.substeps == 0
    assert run.drift.max() < 1e-10
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-11


def test_two_hinges_on_one_door():
    """Two joints between the same bodies are a loop; five of the ten rows are redundant."""
    door = vi.Body.box("door", (0.8, 0.04, 2.0), 20.0, position=(0.4, 0, 0))
    points = {"low": (0, 0, -0.8), "high": (0.16, 0, 0.8)}
    hinges = [vi.Revolute(name, "world", "door", point=point, axis=(0.1, 0, 1)) for name, point in points.items()]
    mechanism = vi.Mechanism("door", [door], hinges)
    run = vi.simulate(mechanism, 10.0, 0.01, state=mechanism.state(velocity={"door": (0, 0.5, 0)}))
    assert mechanism.compiled.topology.clusters[0][0] == -1
    assert run.kinetic[0] > 1.0
    assert run.drift.max() < 1e-10
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * run.kinetic.max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_border_equals_a_dense_solve(seed):
    """Of rows of up to three bodies, one of them nobody; then with the factors at hand and other right-hand sides."""
    rng = np.random.default_rng(300 + seed)
    plan, ws, A = system(random_closed(rng, int(rng.integers(4, 9)), 1), rng)
    nb, nr, n, rows = plan.bodies.mass.size, plan.rows.role.size, len(A), 5
    border = allocate(Border, border_sizes(rows, 3, nb, nr))
    border.count[0] = rows
    border.upper[:], border.lower[:] = rng.standard_normal((2, rows, 3, 6))
    whole = np.block([[A, np.zeros((n, rows))], [np.zeros((rows, n)), np.eye(rows)]])
    for r in range(rows):
        border.body[r] = rng.permutation(nb + 1)[:3]
        for s, i in enumerate(border.body[r]):
            if i < nb:
                whole[6 * i : 6 * i + 6, n + r] = -border.upper[r, s]
                whole[n + r, 6 * i : 6 * i + 6] = border.lower[r, s]
    for factored in (False, True):
        b, border.given[:] = rng.standard_normal(n), rng.standard_normal(rows)
        body, row = b[: 6 * nb].reshape(nb, 6).copy(), b[6 * nb :].copy()
        if factored:
            solve_again(plan, ws, StepSpan(0, 1, 0.0), body, row)
        else:
            solve_newton(plan, ws, body, row, 0, 1)
        solve_border(plan, ws, border, StepSpan(0, 1, 0.0), factored, body, row)
        wanted = np.linalg.solve(whole, np.append(b, border.given))
        assert relative(np.concatenate([body.ravel(), row, border.y]), wanted) < 1e-9
