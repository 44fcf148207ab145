"""Momenta of one body over a step with constant velocity (v, w): the discrete Legendre transforms.

With u = h w / 2 and c = sqrt(1 - u.u), the two ends of the step carry the angular momenta (body axes)

    at its start   c J w + u x J w        (VI eq. 33, terms of w_2, times h / 2)
    at its end     c J w - u x J w        (terms of w_1)

and the linear momentum m v at both.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, vector


@njit
def angular_momentum(J, w, half_step):
    """Return c J w + half_step w x J w, three numbers; minus ``half_step`` gives the end of the step."""
    spin, c = rotate(J, w), math.sqrt(1.0 - half_step * half_step * dot(w, w))
    return add(scale(c, spin), scale(half_step, cross(w, spin)))


@njit
def momentum_derivative(mass, J, w0, w1, w2, half_step, D):
    """Write the derivative of the start momenta with respect to (v, phi) into ``D`` (6, 6); ``J`` (3, 3): inertia.

    h phi is the rotation vector (body axes) that a change of w gives the end of the step, dw = (c I + [u]) dphi. In phi
    a row's derivative is its Jacobian at the end pose, and the derivative of the momentum loses its division by c:

        c^2 J + c J [u] - u u-term + ([u] J - [J u]) (c I + [u]),   u u-term = (J u) u^T
    """
    x, y, z = half_step * w0, half_step * w1, half_step * w2
    c = math.sqrt(1.0 - (x * x + y * y + z * z))
    j0 = J[0, 0] * x + J[0, 1] * y + J[0, 2] * z
    j1 = J[1, 0] * x + J[1, 1] * y + J[1, 2] * z
    j2 = J[2, 0] * x + J[2, 1] * y + J[2, 2] * z
    for a in range(6):
        for b in range(6):
            D[a, b] = 0.0
    D[0, 0] = D[1, 1] = D[2, 2] = mass
    for b in range(3):
        # columns of E = c I + [u], then (c J + [u] J - [J u]) E - (J u) u^T
        e0 = c if b == 0 else (-z if b == 1 else y)
        e1 = z if b == 0 else (c if b == 1 else -x)
        e2 = -y if b == 0 else (x if b == 1 else c)
        k0 = J[0, 0] * e0 + J[0, 1] * e1 + J[0, 2] * e2
        k1 = J[1, 0] * e0 + J[1, 1] * e1 + J[1, 2] * e2
        k2 = J[2, 0] * e0 + J[2, 1] * e1 + J[2, 2] * e2
        u = x if b == 0 else (y if b == 1 else z)
        D[3, 3 + b] = c * k0 + y * k2 - z * k1 - (j1 * e2 - j2 * e1) - j0 * u
        D[4, 3 + b] = c * k1 + z * k0 - x * k2 - (j2 * e0 - j0 * e2) - j1 * u
        D[5, 3 + b] = c * k2 + x * k1 - y * k0 - (j0 * e1 - j1 * e0) - j2 * u


@njit
def momenta_of(plan, velocity, out):
    """Write the momenta at a node, M ``velocity``, to ``out``; ``velocity``, ``out`` (nb, 6)."""
    for i in range(velocity.shape[0]):
        spin = rotate(plan.bodies.inertia[i], vector(velocity[i, 3:]))
        for a in range(3):
            out[i, a], out[i, 3 + a] = plan.bodies.mass[i] * velocity[i, a], spin[a]
