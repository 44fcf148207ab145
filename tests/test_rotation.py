"""Rotations against scipy's, near every singular place."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from varint.model import rotation_vectors as rotation

ANGLES = [0.0, 1e-12, 1e-6, 0.3, 2.0, np.pi - 1e-6, np.pi - 1e-12, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_vectors_matrices_and_quaternions(angle, rng):
    for axis in [*np.eye(3), *-np.eye(3), *rng.standard_normal((20, 3))]:
        vector = angle * axis / np.linalg.norm(axis)
        turn = Rotation.from_rotvec(vector)
        R = rotation.matrix_from_vector(vector)
        assert np.abs(R - turn.as_matrix()).max() < 4e-15
        quat = rotation.quat_from_matrix(R)
        assert quat[0] >= 0
        assert np.abs(rotation.rotation_matrix(quat) - R).max() < 4e-15
        assert np.abs(rotation.matrix_from_vector(rotation.vector_from_matrix(R)) - R).max() < 1e-14
        if angle < 3:
            assert np.abs(rotation.vector_from_matrix(R) - vector).max() < 1e-14


def test_arrays_of_rotations(rng):
    quats = rng.standard_normal((4, 5, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    R = rotation.rotation_matrix(quats)
    exact = Rotation.from_quat(quats.reshape(-1, 4), scalar_first=True).as_matrix().reshape(4, 5, 3, 3)
    assert np.abs(R - exact).max() < 4e-15
    assert np.abs(np.abs(np.einsum("abk,abk->ab", rotation.quat_from_matrix(R), quats)) - 1).max() < 1e-14
