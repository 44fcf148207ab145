"""Paths of muscles evaluated together, against the measures' own functions, and the rows that they have."""

import numpy as np
import pytest

import varint as vi
from varint.plan import compile_structure
from varint.step.measures import weighted_curvature, weighted_measure
from varint.step.middle import push_change, unknown_to_motion, unknown_to_tangent
from varint.step.paths.measures import bend_paths, evaluate_paths
from varint.step.paths.records import OWN_ROWS
from varint.step.workspace import workspace

GIVEN = {"max_force": 60.0, "optimal_length": 0.5, "slack_length": 0.5, "excitation": 0.7}


def limbs(*paths, smoothing=0.005, **given):
    """Three limbs below one another on spherical joints, with a muscle along each path."""
    names = ["a", "b", "c"]
    bodies = [vi.Body.box(name, (0.1, 0.12, 0.5), 1.0 + k, position=(0, 0, -0.6 * k)) for k, name in enumerate(names)]
    joints = [
        vi.Spherical(f"j{k}", one, other, point=(0, 0, 0.3 - 0.6 * k))
        for k, (one, other) in enumerate(zip(["world", *names], names, strict=False))
    ]
    forces = [
        vi.Musculotendon(f"m{k}", path=path, smoothing=smoothing, **(GIVEN | given)) for k, path in enumerate(paths)
    ]
    return vi.Mechanism("limbs", bodies, joints, forces=forces)


def points(*entries):
    return [vi.At(body, (x, 0.05, z)) for body, x, z in entries]


def around(body, entries, side, ball=False):
    """A path around a roller, or a ball, at the height -0.3."""
    given = {"radius": 0.1, "side": (side, 0, -0.3)}
    shape = (
        vi.SphereSurface((0, 0.02, -0.3), **given) if ball else vi.CylinderSurface((0, 0, -0.3), (0, 1, 0.2), **given)
    )
    first, last = points(*entries)
    return [first, vi.Around(body, shape), last]


PATHS = {
    "one body": points(("world", 0.2, 0.5), ("a", 0.1, -0.1)),
    "neighbours": points(("a", 0.2, 0.1), ("b", 0.1, -0.7)),
    "from the world over two bodies": points(("world", 0.2, 0.5), ("a", 0.2, 0.1), ("b", 0.1, -0.7)),
    "over three bodies": points(("a", 0.2, 0.1), ("b", 0.2, -0.7), ("c", 0.1, -1.3)),
    "roller between": around("a", [("world", 0.15, 0.5), ("b", 0.12, -0.7)], 0.5),
    "roller of the world": around("world", [("a", 0.15, 0.1), ("b", 0.12, -0.7)], 0.5),
    "ball of the last": around("b", [("a", 0.15, 0.1), ("b", 0.15, -0.7)], -0.5, ball=True),
    "roller of three": around("b", [("a", 0.15, 0.1), ("c", 0.12, -1.3)], 0.5),
    "ring": [
        vi.At("a", (0.3, 0, 0.1)),
        vi.Around("b", vi.SphereSurface((0, 0, -0.6), 0.1, side=(0.01, 0, -0.6))),
        vi.At("c", (0.2, 0.05, -1.3)),
    ],
    "pulley": [
        *points(("world", 0.2, 0.5), ("a", 0.1, -0.1)),
        vi.Pulley(2.0),
        *points(("a", 0.2, -0.1), ("b", 0.1, -0.7)),
    ],
}
ROWS = {
    "one body": -1,
    "over three bodies": OWN_ROWS,
    "roller of the world": OWN_ROWS,
    "roller of three": OWN_ROWS,
    "ring": OWN_ROWS,
}


def prepared(mechanism, rng, half_step=0.005):
    """The plan and a workspace in the middle of a step from a random pose, efforts made up."""
    plan = compile_structure(mechanism).plan
    ws = workspace(plan)
    nb = plan.bodies.mass.size
    turns = vi.model.rotation_vectors.rotation_matrix
    quat = np.array([*np.eye(4)[:1].repeat(nb, 0)]) + 0.15 * rng.standard_normal((nb, 4))
    ws.efforts.rotation[:nb] = turns(quat / np.linalg.norm(quat, axis=1, keepdims=True))
    ws.efforts.position[:nb] = [[0, 0, -0.6 * k] for k in range(nb)] + 0.03 * rng.standard_normal((nb, 3))
    T = 0.02 * rng.standard_normal((nb, 3))
    square = (T**2).sum(axis=1)
    ws.efforts.tangent[:nb] = np.column_stack([T, (1 - square) / (1 + square)])
    ws.efforts.sum_effort[:] = rng.uniform(-80.0, -20.0, ws.efforts.sum_effort.shape)
    return plan, ws, half_step


def add_curvature(plan, ws, m, half_step):
    """The change of the effort's direction by the unknowns of each body by itself, by the measure's curvature."""
    work = ws.efforts
    for side in range(2):
        i = plan.measures.body[m, side]
        if i == plan.bodies.mass.size:
            continue
        T, motion = work.tangent[i], np.zeros((2, 6))
        for k in range(6):
            unit, out = np.eye(6)[k], np.zeros((2, 6))
            unknown_to_motion(unit, T, half_step, motion[side])
            work.third[:] = motion[side] if plan.measures.third[m] == i else 0.0
            weighted_curvature(plan, ws, m, work.position, work.rotation, motion, out)
            lean = unknown_to_tangent(unit, T, half_step)
            push_change(work.gradient[m, side], out[side], T, lean, -half_step * work.sum_effort[0], ws.ldu.D[i, :, k])


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_values_gradients_and_blocks_are_those_of_the_measures(name, rng):
    mechanism = limbs(PATHS[name], smoothing=0.0 if name == "ring" else 0.005)
    for _ in range(5):
        plan, ws, half_step = prepared(mechanism, rng)
        work, count = ws.efforts, plan.rows.role.size
        evaluate_paths(plan, ws, work.position, work.rotation)
        own = np.zeros((2, 6))
        for m in range(count, plan.measures.kind.size):
            assert plan.measures.fused[m]
            value = weighted_measure(plan, ws, m, 0.0, work.position, work.rotation, own)
            assert work.value[m] == pytest.approx(value, rel=1e-14)
            own[plan.measures.body[m] == plan.bodies.mass.size] = 0.0  # the world
            assert work.gradient[m] == pytest.approx(own, abs=1e-14)
        ws.ldu.D[:] = 0.0
        bend_paths(plan, ws, half_step)
        found = ws.ldu.D.copy()
        ws.ldu.D[:] = 0.0
        for m in range(count, plan.measures.kind.size):
            add_curvature(plan, ws, m, half_step)
        assert found == pytest.approx(ws.ldu.D, abs=1e-12 * np.abs(ws.ldu.D).max())
        assert np.abs(found).max() > 0.0


@pytest.mark.parametrize("name", PATHS)
def test_rows(name):
    """A path over two moving bodies has one row, over more one for each measure, over one none."""
    plan = (
        compile_structure(limbs(PATHS[name])).plan
        if name != "ring"
        else compile_structure(limbs(PATHS[name], smoothing=0.0)).plan
    )
    row, rows = plan.paths.row[0], plan.rows.role.size - 9
    if ROWS.get(name, 0) < 0:
        assert row == ROWS[name]
        assert rows == (0 if row == -1 else len(plan.measures.kind) - plan.rows.role.size)
    else:
        assert row >= 0
        assert rows == 1
