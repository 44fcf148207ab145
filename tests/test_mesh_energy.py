"""The energy that steps with deformable bodies keep: that of a mode of frequency w counts 2 atan(w h / 2) / (w h)."""

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from test_deformable_bodies import pair

import varint as vi
from varint.meshes.attached_meshes import AttachedMeshes
from varint.model.rotation_vectors import rotation_matrix

RIGID = 1.0  # (rad/s)^2, above those of the six rigid motions


def shortfall(run, meshes, k, h):
    """Energy at node k less what the midpoint rule keeps of it, J: the sum over the modes of vertices and bodies there.

    A linear mode turns by 2 atan(w h / 2) a step in place of w h, as a flow for h of the energy times their ratio does.
    """
    mechanism, (name,) = run.mechanism, run.vertices
    x, v = run.vertices[name][k], run.vertex_velocities[name][k]
    nb, slot, free = len(mechanism.bodies), mechanism.compiled.slot, meshes.free
    R, motion, own = np.zeros((nb + 1, 3, 3)), np.zeros((nb, 6)), np.zeros((nb, 6, 6))
    R[nb] = np.eye(3)
    for i, body in enumerate(mechanism.bodies):
        R[slot[i]] = rotation_matrix(run.quat_wxyz[k, i])
        motion[slot[i]] = [*run.velocity[k, i], *run.angular_velocity[k, i]]
        own[slot[i]] = block_diag(body.mass * np.eye(3), body.inertia)
    assert list(meshes.slots) == list(range(nb))
    J, responses = meshes.jacobian(R), meshes.responses(x)
    K, force = meshes.stiffness(responses, 1.0, inertia=False), meshes.forces(x, responses)
    M = block_diag(np.diag(np.repeat(meshes.mass[free], 3)), *(own + meshes.added_inertia(R)))
    mixed = K.mixed @ J
    stiffness = np.block([[K.free.toarray(), mixed], [mixed.T, J.T @ (K.held @ J)]])
    square, Q = eigh(stiffness, M)
    moving = square > RIGID
    w = np.sqrt(square[moving])
    rate = Q.T @ M @ np.concatenate([v[free].ravel(), motion.ravel()])
    pull = Q.T @ np.concatenate([force[free].ravel(), J.T @ force[meshes.held].ravel()])
    energy = 0.5 * (rate[moving] ** 2 + (pull[moving] / w) ** 2)
    return np.sum(energy * (1.0 - 2.0 * np.arctan(0.5 * w * h) / (w * h)))


@pytest.mark.slow
def test_what_the_steps_keep_has_no_trend_where_energy_passes_to_stiff_modes():
    h = 5e-3  # the stiffest mode turns by 3.1 rad a step
    mechanism = pair(divisions=(5, 1, 1))
    run = vi.simulate(mechanism, 400 * h, h, every=4)
    meshes = AttachedMeshes(mechanism, mechanism.compiled)
    short = np.array([shortfall(run, meshes, k, h) for k in range(len(run.t))])
    energy, kept = (
        np.array([part.mean() for part in np.array_split(values, 8)])
        for values in (run.energy_balance, run.energy_balance - short + short[0])
    )
    assert energy[-1] - energy[0] > 5e-5  # J, of 0.33 J
    assert np.ptp(kept) < 0.03 * (energy[-1] - energy[0])
