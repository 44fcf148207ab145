"""The block LDU, called as the stepping kernel does, beside assembling and solving the same system by scipy's splu."""

import numpy as np
from common import chain, fastest, march_of
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from varint.base.numba import njit
from varint.step.ldu import solve_newton

LIMIT = 30.0
REPEATS = 20


@njit
def repeat_ldu(plan, ws, D, b_body, b_row, body, row, start, end, repeats):
    """Factor and solve ``repeats`` times, pivots and right-hand side restored each time."""
    for _ in range(repeats):
        for i in range(body.shape[0]):
            for a in range(6):
                body[i, a] = b_body[i, a]
                for k in range(6):
                    ws.ldu.D[i, a, k] = D[i, a, k]
        for r in range(row.size):
            row[r] = b_row[r]
        solve_newton(plan, ws, body, row, start, end)


def measure():
    march = march_of(chain(100))
    march.advance(20)
    plan, ws = march.compiled.plan, march.ws
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    rng = np.random.default_rng(0)
    D = np.zeros((nb, 6, 6))
    D[:, range(3), range(3)] = plan.bodies.mass[:, None]
    D[:, 3:, 3:] = plan.bodies.inertia
    D += 1e-4 * rng.standard_normal(D.shape)
    b = rng.standard_normal(6 * nb + nr)
    b_body, b_row = b[: 6 * nb].reshape(nb, 6), b[6 * nb :]
    body, row = np.empty((nb, 6)), np.empty(nr)
    start, end = march.pose, 1 - march.pose

    def block_ldu():
        repeat_ldu(plan, ws, D, b_body, b_row, body, row, start, end, REPEATS)

    i, j, source = pattern(plan)
    shape = (6 * nb + nr,) * 2

    def values():
        return np.concatenate([D.ravel(), -ws.jacobian[start].ravel()[source], ws.jacobian[end].ravel()[source]])

    def assemble_and_splu():
        return splu(csc_matrix((values(), (i, j)), shape=shape)).solve(b)

    # kinder to splu than any user would be: the pattern is ready, only the values are filled in
    ready = csc_matrix((np.arange(1, len(i) + 1), (i, j)), shape=shape)
    order = ready.data - 1
    matrix = csc_matrix((np.empty(len(order)), ready.indices, ready.indptr), shape=shape)

    def fill_and_splu():
        matrix.data[:] = values()[order]
        return splu(matrix).solve(b)

    ours, theirs, kinder = fastest(block_ldu, 50) / REPEATS, fastest(assemble_and_splu, 20), fastest(fill_and_splu, 20)
    for x in (np.concatenate([body.ravel(), row]), assemble_and_splu(), fill_and_splu()):
        residual = np.abs(matrix @ x - b).max() / (abs(matrix).max() * np.abs(x).max())
        assert residual < 1e-10, residual
    return [
        ("block LDU, n = 100", f"{ours * 1e6:.0f} us", "", None),
        ("assembly and splu of the same system", f"{theirs * 1e6:.0f} us", "", None),
        ("ratio", f"{theirs / ours:.1f}", f">= {LIMIT}", theirs / ours >= LIMIT),
        ("the same with the sparsity pattern ready beforehand", f"{kinder / ours:.1f}", "", None),
    ]


def pattern(plan):
    """Rows and columns of D, -G^T and H blocks, and where G and H stand in ``jacobian[pose].ravel()``."""
    nb = plan.bodies.mass.size
    a, k = np.meshgrid(np.arange(6), np.arange(6), indexing="ij")
    rows = [(6 * i + a).ravel() for i in range(nb)]
    columns = [(6 * i + k).ravel() for i in range(nb)]
    constraint, body, source = [], [], []
    for j, sides in enumerate(plan.joints.side):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            for s, i in enumerate(sides):
                if i < nb:
                    constraint += [6 * nb + r] * 6
                    body += range(6 * i, 6 * i + 6)
                    source += range(12 * r + 6 * s, 12 * r + 6 * s + 6)
    return (
        np.concatenate([*rows, body, constraint]),
        np.concatenate([*columns, constraint, body]),
        np.array(source),
    )
