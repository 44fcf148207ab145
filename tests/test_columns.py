"""Eight columns at once: the curvature of pairs of bodies, against that of each row, and solutions against one."""

import numpy as np
import pytest
from random_mechanisms import random_body, random_closed, random_joint, random_velocity_state

import varint as vi
from varint.base.numba import njit
from varint.model.joints import REGISTRY
from varint.step.configuration import place_anew
from varint.step.derivatives.columns import allowed_motions, changes_of_velocities
from varint.step.measures import weighted_curvature
from varint.step.pairs import bend_rows, curve_pairs
from varint.step.workspace import tangent_work, workspace


@njit
def pairs_of(plan, ws, work):
    curve_pairs(plan, ws, work, 0)
    bend_rows(plan, ws, work, 0)


@njit
def curvature_of(plan, ws, r, motion, out):
    weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], motion, out)


def placed(mechanism, state):
    compiled = mechanism.compiled
    ws = workspace(compiled.plan, functions=compiled.functions)
    ws.position[0, :-1], ws.quat[0, :-1] = state.position[compiled.order], state.quat_wxyz[compiled.order]
    place_anew(compiled.plan, ws, 0)
    return compiled.plan, ws


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("kind", sorted(REGISTRY))
@pytest.mark.parametrize("reverse", [False, True])
def test_curvature_of_pairs(kind, reverse, rng):
    """Of a joint to the world and one between two bodies that turn, by units of all motions of each row."""
    bodies = [random_body(rng, name) for name in ("one", "two")]
    ends = [("world", "one"), ("two", "one") if reverse else ("one", "two")]
    joints = [random_joint(rng, kind, f"{kind} {k}", *pair, rng.uniform(-1, 1, 3)) for k, pair in enumerate(ends)]
    mechanism = vi.Mechanism("pairs", bodies, joints)
    plan, ws = placed(mechanism, random_velocity_state(rng, mechanism, 0.5))
    ws.multiplier[:] = rng.standard_normal(ws.multiplier.size)
    ws.velocity[:] = rng.standard_normal(ws.velocity.shape)
    work, nb = tangent_work(plan), 2
    pairs_of(plan, ws, work)
    ends, change = np.vstack([ws.velocity, np.zeros(6)]), np.zeros((2, 6))
    for p, sides in enumerate(work.pair):
        exact = np.zeros((12, 12))
        for r in range(work.pair_row[p], work.pair_row[p + 1]):
            K = np.zeros((12, 12))
            for j in range(12):
                if sides[j // 6] < nb:
                    curvature_of(plan, ws, r, np.eye(12)[j].reshape(2, 6), change)
                    K[:, j] = change.ravel()
            K[[6 * s + k for s in (0, 1) if sides[s] == nb for k in range(6)]] = 0.0
            exact += ws.multiplier[r] * K
            assert np.abs(ends[sides].ravel() @ K - work.bend[r]).max() < 1e-12 * max(1.0, np.abs(K).max())
        found = work.curve[p].copy()
        found[[6 * s + k for s in (0, 1) if sides[s] == nb for k in range(6)]] = 0.0
        assert np.abs(found - exact).max() < 1e-12 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("seed", range(3))
def test_columns_do_not_depend_on_each_other(seed):
    """More than eight, with loops: each as if it were alone."""
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, 6, 2)
    plan, ws = placed(mechanism, random_velocity_state(rng, mechanism, 0.3))
    ws.momentum[:], work = rng.standard_normal(ws.momentum.shape), tangent_work(plan)
    nb = plan.bodies.mass.size
    changes, pushes = rng.standard_normal((11, nb, 12)), rng.standard_normal((11, 2, 6))
    bodies, motions = rng.integers(0, nb + 1, (11, 2)), np.zeros((11, nb, 6))
    together = changes.copy()
    changes_of_velocities(plan, ws, work, together)
    allowed_motions(plan, ws, work, bodies, pushes, motions)
    for n in range(11):
        alone, motion = changes[n : n + 1].copy(), np.zeros((1, nb, 6))
        changes_of_velocities(plan, ws, work, alone)
        allowed_motions(plan, ws, work, bodies[n : n + 1], pushes[n : n + 1], motion)
        assert np.abs(alone[0] - together[n]).max() < 1e-13 * np.abs(alone).max()
        assert np.abs(motion[0] - motions[n]).max() < 1e-13 * max(np.abs(motion).max(), 1.0)


@pytest.mark.parametrize("reverse", [False, True])
def test_motions_of_a_ball_chain(reverse, rng):
    """Whose joints are eliminated in a way of their own (step/ball_pairs.py), against the dense equations."""
    bodies = [random_body(rng, f"body {k}") for k in range(3)]
    ends = [("world", "body 0"), *((f"body {k}", f"body {k + 1}") for k in range(2))]
    joints = [
        random_joint(rng, "Spherical", f"ball {k}", *(pair[::-1] if reverse else pair), rng.uniform(-1, 1, 3))
        for k, pair in enumerate(ends)
    ]
    mechanism = vi.Mechanism("balls", bodies, joints)
    plan, ws = placed(mechanism, random_velocity_state(rng, mechanism, 0.3))
    motions, pushes = np.zeros((9, 3, 6)), rng.standard_normal((9, 2, 6))
    moved = np.tile([0, 2], (9, 1))
    allowed_motions(plan, ws, tangent_work(plan), moved, pushes, motions)
    size, rows = 18, plan.rows.role.size
    A, b = np.zeros((size + rows, size + rows)), np.zeros((size + rows, 9))
    for i in range(3):
        A[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = plan.bodies.mass[i] * np.eye(3)
        A[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = plan.bodies.inertia[i]
    for r in range(rows):
        for s, i in enumerate(plan.measures.body[r]):
            if i < 3:
                A[size + r, 6 * i : 6 * i + 6] = ws.jacobian[0, r, s]
    A[:size, size:] = -A[size:, :size].T
    b[:6], b[12:18] = pushes[:, 0].T, pushes[:, 1].T
    exact = np.linalg.solve(A, b)[:size].T.reshape(9, 3, 6)
    assert np.abs(motions - exact).max() < 1e-12 * np.abs(exact).max()
