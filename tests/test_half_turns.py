"""Rotation vectors along which forces act are looked at where they may jump, and nowhere else."""

import numpy as np
from beam_models import cantilever

import varint as vi
from varint.model.rotation_vectors import matrix_from_vector, quat_from_vector, vector_from_matrix
from varint.results.half_turns import HalfTurns


def test_pairs_beyond_a_quarter_of_a_turn_are_found():
    rng = np.random.default_rng(3)
    starts, turns = rng.normal(size=(4, 3)), rng.normal(size=(4, 50, 3))
    bodies = [
        vi.Body.box(f"b{k}", (1, 1, 1), 1.0, position=(k, 0, 0), quat_wxyz=quat_from_vector(start))
        for k, start in enumerate(starts)
    ]
    joints = [vi.Free(f"f{k}", "world", f"b{k}") for k in range(4)]
    ends = [("world", "b0"), ("b0", "b1"), ("b2", "b1"), ("b3", "world")]
    forces = [
        vi.BeamElement(f"e{k}", a, b, point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=np.ones(6))
        for k, (a, b) in enumerate(ends)
    ]
    watch = HalfTurns(vi.Mechanism("four", bodies, joints, forces=forces))
    R = {f"b{k}": matrix_from_vector(turns[k]) @ matrix_from_vector(starts[k]).T for k in range(4)}
    R["world"] = np.broadcast_to(np.eye(3), (50, 3, 3))
    quat = np.stack([quat_from_vector(turn) for turn in turns], axis=1)
    for node in range(50):
        rho = [np.linalg.norm(vector_from_matrix(R[a][node].T @ R[b][node])) for a, b in ends]
        assert list(watch._far(quat[node : node + 1])) == [k for k in range(4) if rho[k] > 2 * np.arccos(0.71)]


def test_a_run_asks_no_force_for_its_elements_again(monkeypatch):
    mechanism = cantilever(2)
    vi.simulate(mechanism, 0.01, 1e-3)
    monkeypatch.setattr(vi.BeamElement, "elements", None)
    vi.simulate(mechanism, 0.01, 1e-3)
