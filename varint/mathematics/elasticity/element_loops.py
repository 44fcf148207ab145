"""Loops over linear tetrahedra, compiled: deformation gradients, corotated stress and tangent, forces and stiffness.

Arrays are as in tetrahedra.py and materials.py; results go to the last arguments.
"""

from varint.base.numba import njit

WHAT = "deformable bodies"


@njit(seconds=1, what=WHAT)
def deform(x, elements, gradient, F):
    """Write deformation gradients of ``elements`` (m, 4) with vertices at ``x`` (n, 3) into ``F`` (m, 3, 3).

    ``gradient`` (m, 4, 3), 1/m: of the shape functions of the four vertices, at rest.
    """
    for m in range(elements.shape[0]):
        first = elements[m, 0]
        for i in range(3):
            a = x[elements[m, 1], i] - x[first, i]
            b = x[elements[m, 2], i] - x[first, i]
            c = x[elements[m, 3], i] - x[first, i]
            for j in range(3):
                F[m, i, j] = a * gradient[m, 1, j] + b * gradient[m, 2, j] + c * gradient[m, 3, j]


@njit
def _cofactors(X, C):
    """Write the cofactors of ``X`` (3, 3) into ``C`` (3, 3); return its determinant."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            k, l = (j + 1) % 3, (j + 2) % 3
            C[i, j] = X[a, k] * X[b, l] - X[a, l] * X[b, k]
    return X[0, 0] * C[0, 0] + X[0, 1] * C[0, 1] + X[0, 2] * C[0, 2]


@njit(seconds=2, what=WHAT)
def polar_rotations(F, least, last, most, scratch, R, whole):
    """Write the rotations nearest to ``F`` (m, 3, 3) into ``R`` (m, 3, 3); mark where there is one in ``whole`` (m,).

    It exists where the volume is above ``least`` of the cube of the norm of F; elsewhere ``R`` holds F. Newton's method
    for the polar factor (Higham 1986), ended after a change of no more than ``last``, or ``most`` iterations.
    ``scratch`` (3, 3).
    """
    for m in range(F.shape[0]):
        X, square = R[m], 0.0
        for i in range(3):
            for j in range(3):
                X[i, j] = F[m, i, j]
                square += X[i, j] * X[i, j]
        volume = _cofactors(X, scratch)
        whole[m] = square**1.5 * least < volume
        if not whole[m]:
            continue
        for _ in range(most):
            change = 0.0
            for i in range(3):
                for j in range(3):
                    before = X[i, j]
                    X[i, j] = 0.5 * (before + scratch[i, j] / volume)
                    change = max(change, abs(X[i, j] - before))
            if not change > last:
                break
            volume = _cofactors(X, scratch)


@njit(seconds=1, what=WHAT)
def corotated_stress(F, R, mu, lam, energy, stress):
    """Write energy densities and stresses of corotated elements into ``energy`` (m,) and ``stress`` (m, 3, 3), Pa.

    ``F`` (m, 3, 3): deformation gradients; ``R`` (m, 3, 3): the rotations nearest to them; ``mu``, ``lam``: Lame's, Pa.
    """
    for m in range(F.shape[0]):
        square, excess = 0.0, -3.0
        for i in range(3):
            for j in range(3):
                change = F[m, i, j] - R[m, i, j]
                square += change * change
                excess += R[m, i, j] * F[m, i, j]
                stress[m, i, j] = 2.0 * mu * change
        for i in range(3):
            for j in range(3):
                stress[m, i, j] += lam * excess * R[m, i, j]
        energy[m] = mu * square + 0.5 * lam * excess * excess


@njit
def _turn_inverse(R, F, flat, G):
    """Write the inverse of tr(S) - S, S = R^T F, into ``G`` (3, 3); False if an eigenvalue of it is at most ``flat``.

    ``R``, ``F`` (3, 3). ``G`` is left alone where the result is False.
    """
    s00 = R[0, 0] * F[0, 0] + R[1, 0] * F[1, 0] + R[2, 0] * F[2, 0]
    s11 = R[0, 1] * F[0, 1] + R[1, 1] * F[1, 1] + R[2, 1] * F[2, 1]
    s22 = R[0, 2] * F[0, 2] + R[1, 2] * F[1, 2] + R[2, 2] * F[2, 2]
    s01 = R[0, 0] * F[0, 1] + R[1, 0] * F[1, 1] + R[2, 0] * F[2, 1]
    s02 = R[0, 0] * F[0, 2] + R[1, 0] * F[1, 2] + R[2, 0] * F[2, 2]
    s12 = R[0, 1] * F[0, 2] + R[1, 1] * F[1, 2] + R[2, 1] * F[2, 2]
    a, b, c = s11 + s22, s00 + s22, s00 + s11
    second = (a - flat) * (b - flat) - s01 * s01
    third = (c - flat) * second - (a - flat) * s12 * s12 - (b - flat) * s02 * s02 - 2.0 * s01 * s02 * s12
    if not (a > flat and second > 0.0 and third > 0.0):
        return False
    c00, c11, c22 = b * c - s12 * s12, a * c - s02 * s02, a * b - s01 * s01
    c01, c02, c12 = s02 * s12 + s01 * c, s01 * s12 + s02 * b, s01 * s02 + s12 * a
    scale = 1.0 / (a * c00 - s01 * c01 - s02 * c02)
    G[0, 0], G[1, 1], G[2, 2] = c00 * scale, c11 * scale, c22 * scale
    G[0, 1], G[0, 2], G[1, 2] = c01 * scale, c02 * scale, c12 * scale
    G[1, 0], G[2, 0], G[2, 1] = G[0, 1], G[0, 2], G[1, 2]
    return True


@njit(seconds=2, what=WHAT)
def corotated_tangent(F, R, mu, lam, flat, scratch, tangent, regular):
    """Write tangents of corotated elements into ``tangent`` (m, 3, 3, 3, 3), Pa, and mark them in ``regular`` (m,).

    Elements where the sum of two stretches is ``flat`` or less are left out. With w the turn of R by dF,
    (tr(S) - S) w = axial(R^T dF - dF^T R), S = R^T F. ``F``, ``R`` (m, 3, 3), ``mu``, ``lam``: see `corotated_stress`;
    ``scratch`` (3, 3, 3).
    """
    inverse, turn = scratch[0], scratch[1]
    for m in range(F.shape[0]):
        regular[m] = _turn_inverse(R[m], F[m], flat, inverse)
        if not regular[m]:
            continue
        excess = -3.0
        for i in range(3):
            for j in range(3):
                excess += R[m, i, j] * F[m, i, j]
        rate, T = lam * excess - 2.0 * mu, tangent[m]
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    for l in range(3):
                        T[i, j, k, l] = lam * R[m, i, j] * R[m, k, l]
                T[i, j, i, j] += 2.0 * mu
        # the planes (1, 2), (2, 0), (0, 1): a turn about axis a of R moves column a + 1 to a + 2
        for a in range(3):
            for b in range(3):
                share = rate * inverse[a, b]
                a1, a2, b1, b2 = (a + 1) % 3, (a + 2) % 3, (b + 1) % 3, (b + 2) % 3
                for i in range(3):
                    turn[i, 0], turn[i, 1] = share * R[m, i, a2], share * R[m, i, a1]
                for i in range(3):
                    for k in range(3):
                        T[i, a1, k, b1] += turn[i, 0] * R[m, k, b2]
                        T[i, a1, k, b2] -= turn[i, 0] * R[m, k, b1]
                        T[i, a2, k, b1] -= turn[i, 1] * R[m, k, b2]
                        T[i, a2, k, b2] += turn[i, 1] * R[m, k, b1]


@njit(seconds=1, what=WHAT)
def add_forces(elements, gradient, volume, stress, force):
    """Add the nodal forces, N, of the ``stress`` (m, 3, 3), Pa, to ``force`` (n, 3), on the vertices.

    ``elements`` (m, 4): vertices; ``gradient`` (m, 4, 3), 1/m, as in `deform`; ``volume`` (m,), m^3.
    """
    for m in range(elements.shape[0]):
        for i in range(3):
            for a in range(4):
                total = 0.0
                for j in range(3):
                    total += stress[m, i, j] * gradient[m, a, j]
                force[elements[m, a], i] -= volume[m] * total


@njit(seconds=1, what=WHAT)
def stiffness_blocks(tangent, gradient, volume, scratch, blocks):
    """Write volume g_a . T . g_b of the ``tangent`` (m, 3, 3, 3, 3), Pa, into ``blocks`` (m, 12, 12), N/m.

    ``gradient`` (m, 4, 3), 1/m, as in `deform`; ``volume`` (m,), m^3; ``scratch`` (3, 3, 3, 4).
    """
    for m in range(tangent.shape[0]):
        T, g = tangent[m], gradient[m]
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    for b in range(4):
                        scratch[i, j, k, b] = (
                            T[i, j, k, 0] * g[b, 0] + T[i, j, k, 1] * g[b, 1] + T[i, j, k, 2] * g[b, 2]
                        )
        for a in range(4):
            g0, g1, g2 = volume[m] * g[a, 0], volume[m] * g[a, 1], volume[m] * g[a, 2]
            for i in range(3):
                for b in range(4):
                    for k in range(3):
                        blocks[m, 3 * a + i, 3 * b + k] = (
                            g0 * scratch[i, 0, k, b] + g1 * scratch[i, 1, k, b] + g2 * scratch[i, 2, k, b]
                        )
