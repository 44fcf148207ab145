"""Compiled loops of meshes: sparse factors, coupling with bodies, tangents of flat elements, against dense ones."""

import numpy as np
import pytest
from rubber_pads import pad
from scipy.sparse import csc_array

from varint.mathematics.elasticity.materials import MATERIALS
from varint.meshes import vertex_order
from varint.meshes.vertex_order import OrderedFactors, SlimFactors, VertexOrder
from varint.step.meshes.coupling import schur_complement, vertices_after


def stiff(share=1.0):
    """A sparse, symmetric, positive definite matrix of a mesh."""
    mesh = pad(divisions=(4, 2, 2)).mesh
    K = mesh.stiffness(mesh.points).toarray()
    return csc_array(K + share * np.eye(len(K)) * K.max())


@pytest.mark.parametrize("kind", [SlimFactors, OrderedFactors])
def test_sparse_factors(rng, monkeypatch, kind):
    monkeypatch.setattr(vertex_order, "SLIM", 1e9 if kind is SlimFactors else 0.0)
    matrix = stiff()
    factors = VertexOrder(matrix).factor(matrix)
    assert isinstance(factors, kind)
    for shape in ((), (1,), (17,)):
        right = rng.standard_normal((matrix.shape[0], *shape))
        assert matrix @ factors.solve(right) == pytest.approx(right, abs=1e-11)


@pytest.mark.slow
def test_an_indefinite_matrix_is_left_to_pivoting(rng):
    order = VertexOrder(stiff())
    matrix = stiff(-0.3)
    assert isinstance(order.factor(stiff()), SlimFactors)
    factors = order.factor(matrix)
    assert isinstance(factors, OrderedFactors)
    right = rng.standard_normal(matrix.shape[0])
    assert matrix @ factors.solve(right) == pytest.approx(right, abs=1e-9)
    assert isinstance(order.factor(stiff()), SlimFactors)


def test_products_with_bodies(rng):
    nb, slots, f = 4, np.array([0, 3]), 15
    J0, stiffness = rng.standard_normal((9, 12)) * (rng.random((9, 12)) < 0.5), rng.standard_normal((9, 12))
    before, followed, S = rng.standard_normal((f, 12)), rng.standard_normal((f, 12)), np.zeros((12, 12))
    schur_complement(J0, stiffness, before, followed, S)
    assert pytest.approx(J0.T @ stiffness - before.T @ followed, abs=1e-12) == S
    own, body, change = rng.standard_normal(f), rng.standard_normal((nb, 6)), np.zeros(f)
    vertices_after(own, followed, slots, body, change)
    assert change == pytest.approx(-(own + followed @ body[slots].ravel()), abs=1e-12)


@pytest.mark.slow
def test_corotated_elements_that_are_flat_or_inverted(rng):
    """Their rotations are by singular values; a tangent of whole elements among them is that of these alone."""
    F = np.eye(3) + 0.2 * rng.standard_normal((6, 3, 3))
    F[1], F[3], F[4] = np.diag([1.0, 1.0, 0.0]), np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1e-7, -1e-8])
    law = MATERIALS["corotated"]
    together = law(F, 1.0, 2.0)
    assert np.isfinite(together.tangent).all()
    for k in range(6):
        alone = law(F[k : k + 1], 1.0, 2.0)
        assert np.array_equal(alone.stress[0], together.stress[k])
        assert np.array_equal(alone.tangent[0], together.tangent[k])
    R = F[1] - (together.stress[1] - 2.0 * (np.trace(F[1]) - 3.0) * np.eye(3)) / 2.0
    assert pytest.approx(np.eye(3), abs=1e-12) == R
