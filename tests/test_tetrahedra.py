"""Elastic tetrahedra: materials, forces and stiffness of meshes."""

import numpy as np
import pytest
from rubber_pads import RUBBER, pad
from scipy.optimize import brentq

import varint as vi
from varint.mathematics.elasticity.materials import MATERIALS, lame_constants
from varint.mathematics.elasticity.tetrahedra import box_mesh
from varint.model.rotation_vectors import rotation_matrix

E, NU = 1e6, 0.3
# (material, stretch): P11 and the stretch across it of a bar with free sides, by own derivation
BARS = {
    ("stvk", 1.1): (115500.0, 0.967987603),
    ("stvk", 1.5): (937500.0, 0.790569415),
    ("stvk", 2.0): (3e6, 0.316227766),
    ("neohookean", 1.1): (93077.43218408, 0.971492946),
    ("neohookean", 1.5): (378280.17639432, 0.880174592),
    ("neohookean", 2.0): (646744.66017361, 0.798077545),
    ("corotated", 1.1): (1e5, 0.97),
    ("corotated", 1.5): (5e5, 0.85),
    ("corotated", 2.0): (1e6, 0.7),
}


def random_deformations(rng, count=6):
    F = np.eye(3) + 0.2 * rng.standard_normal((count, 3, 3))
    return np.where(np.linalg.det(F)[:, None, None] > 0.2, F, np.diag([1.2, 0.8, 1.1]))


def rotation(rng):
    q = rng.standard_normal(4)
    return rotation_matrix(q / np.linalg.norm(q))


# materials and meshes


@pytest.mark.parametrize("material", MATERIALS)
def test_stress_and_tangent_are_derivatives(rng, material):
    mu, lam = lame_constants(1.0, NU)
    F, law = random_deformations(rng), MATERIALS[material]
    direction, step = rng.standard_normal(F.shape), 1e-5
    after, before, here = law(F + step * direction, mu, lam), law(F - step * direction, mu, lam), law(F, mu, lam)
    rate = np.sum(here.stress * direction, axis=(1, 2))
    assert (after.energy - before.energy) / (2 * step) == pytest.approx(rate, abs=1e-8)
    change = np.einsum("mijkl,mkl->mij", here.tangent, direction)
    assert (after.stress - before.stress) / (2 * step) == pytest.approx(change, abs=1e-7)


@pytest.mark.parametrize(("material", "stretch"), BARS)
def test_bars(material, stretch):
    mu, lam = lame_constants(E, NU)

    def stress(across):
        return MATERIALS[material](np.diag([stretch, across, across])[None], mu, lam).stress[0]

    across = brentq(lambda s: stress(s)[1, 1], 0.2, 1.05, xtol=1e-15)
    along, wanted = BARS[material, stretch]
    assert stress(across)[0, 0] == pytest.approx(along, rel=1e-10)
    assert across == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("material", MATERIALS)
def test_turned_elements_have_no_energy_and_no_force(rng, material):
    mesh = pad((2, 2, 2), material=material).mesh
    x = mesh.points @ rotation(rng).T + [1.0, -2.0, 0.5]
    scale = mesh.mu * 0.1**2  # stress times the area of a face
    assert np.abs(mesh.forces(x)).max() <= 1e-12 * scale
    assert abs(mesh.energy(x)) <= 1e-12 * scale * 0.1


@pytest.mark.parametrize("material", MATERIALS)
def test_patch(rng, material):
    """In a mesh that is irregular inside, the vertices inside have no force where the deformation is the same."""
    points, tetrahedra = box_mesh(np.array([0.3, 0.3, 0.3]), (3, 3, 3))
    inside = (np.abs(points) < 0.149).all(axis=1)
    points[inside] += rng.uniform(-0.02, 0.02, (inside.sum(), 3))
    mesh = vi.DeformableBody("patch", points, tetrahedra, material=material, **RUBBER).mesh
    F = np.eye(3) + 0.1 * rng.standard_normal((3, 3))
    forces = mesh.forces(points @ F.T)
    assert inside.sum() == 8
    assert np.abs(forces[inside]).max() <= 1e-12 * np.abs(forces).max()
    assert np.abs(mesh.deformation(points @ F.T) - F).max() <= 1e-12


@pytest.mark.parametrize("material", MATERIALS)
def test_stiffness_is_the_derivative_of_the_forces(rng, material):
    mesh = pad((2, 1, 1), material=material).mesh
    x = mesh.points @ rotation(rng).T + 0.01 * rng.standard_normal(mesh.points.shape)
    direction, step = rng.standard_normal(x.shape), 1e-6
    change = (mesh.forces(x - step * direction) - mesh.forces(x + step * direction)) / (2 * step)
    K = mesh.stiffness(x)
    assert (K @ direction.ravel()).reshape(-1, 3) == pytest.approx(change, abs=1e-6 * np.abs(change).max())
    assert abs(K - K.T).max() <= 1e-12 * abs(K).max()


def test_projected_stiffness_is_the_nearest_that_is_not_negative(rng):
    mesh = pad((2, 1, 1), material="stvk").mesh
    x = mesh.points * [0.5, 1.0, 1.0]  # far beyond where the bar buckles and softens
    exact, projected = (mesh.stiffness(x, which).toarray() for which in (False, True))
    assert np.linalg.eigvalsh(exact)[0] < -1e-3 * abs(exact).max()
    assert np.linalg.eigvalsh(projected)[0] > -1e-10 * abs(exact).max()
    stretched = mesh.points * [1.1, 1.0, 1.0]
    assert mesh.stiffness(stretched, True).toarray() == pytest.approx(mesh.stiffness(stretched).toarray(), abs=1e-6)


def test_inverted_elements_of_neo_hooke_have_infinite_energy():
    mesh = pad((1, 1, 1), {}, material="neohookean").mesh
    assert mesh.energy(mesh.points * [-1.0, 1.0, 1.0]) == np.inf


def test_mass_and_surface():
    body = pad((4, 2, 3))
    assert body.mass == pytest.approx(500.0 * 0.3 * 0.1 * 0.1, rel=1e-13)
    faces = body.points[body.surface]
    normal = 0.5 * np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    assert np.linalg.norm(normal, axis=1).sum() == pytest.approx(2 * (0.3 * 0.1 + 0.3 * 0.1 + 0.1 * 0.1))
    assert np.sum(normal * faces.mean(axis=1)) / 3 == pytest.approx(0.003)  # outward: the volume
