"""One step of order 2 in plain NumPy: the page to read before the kernels, which nothing imports but its test.

It takes rigid bodies with lower-pair joints under gravity, with or without loops, by dense linear algebra: the
equations of docs/theory.md, sections 1 to 4, in the order in which they are solved. The kernels (`varint.step.step`,
`rows`, `momentum`, `newton`, `ldu`, `projection`) solve the same equations in linear time, and add forces, stops and
contacts.

A pose is ``x`` (nb + 1, 3), centres of mass in the world, and ``q`` (nb + 1, 4), unit quaternions, scalar first, body
to world; the last is that of the world, at the origin. ``velocity`` (nb, 6) is that of each centre of mass, world, and
the angular velocity, body axes; ``momentum`` (nb, 6) likewise. SI units.
"""

import numpy as np

RANK = 1e-11  # of the largest singular value: smaller ones are zero, where loops repeat what other joints forbid
ROUND_OFF = 1e-14  # of the largest velocity: a smaller increment is the last
MOST_INCREMENTS = 20  # three or four are usual


def skew(a):
    """Return the cross-product matrix [a]."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


# ---- Joints. A row is one scalar equation between bodies a and b: directions u of body a and w of body b stay at right
# angles (reach 0), or the point w of body b stays in the plane u . point = c of body a (reach 1):
#     d = R_a^T (R_b w + reach (x_b - x_a)),     g = u . d - c = 0
# A hinge has five, a ball joint its first three; other lower pairs are other lists. Points are seen from the centre of
# mass of their body, in its axes.
def hinge(a, b, point_a, point_b, axis_a, axis_b):
    """Return the rows (a, b, u, w, c, reach) of a hinge between the bodies of numbers ``a`` and ``b``, -1 the world."""
    across = np.linalg.svd(axis_a[None])[2][1:]  # two directions at right angles to the axis
    return [*((a, b, u, point_b, u @ point_a, 1.0) for u in np.eye(3)), *((a, b, u, axis_b, 0.0, 0.0) for u in across)]


def evaluate_rows(rows, x, q):
    """Return the values g (nr,) of the rows and their Jacobian G (nr, 6 nb).

    Columns are changes of x, world, and rotation vectors theta in body axes, q -> q exp(theta / 2).
    """
    g, G = np.empty(len(rows)), np.zeros((len(rows), len(x), 6))
    R = [np.eye(3) + 2.0 * scalar * skew(vector) + 2.0 * skew(vector) @ skew(vector) for scalar, *vector in q]
    for r, (a, b, u, w, c, reach) in enumerate(rows):
        d = R[a].T @ (R[b] @ w + reach * (x[b] - x[a]))
        g[r] = u @ d - c
        G[r, a] = *(-reach * R[a] @ u), *np.cross(u, d)
        G[r, b] = *(reach * R[a] @ u), *np.cross(w, R[b].T @ R[a] @ u)
    return g, G[:, :-1].reshape(len(rows), -1)  # the world does not move


# ---- Bodies over a step h with constant (v, w), with u = h w / 2 and s = sqrt(1 - u.u)
def place(x, q, velocity, h):
    """Return the pose at the end of a step: x' = x + h v, q' = q (s, u)."""
    x, q = x.copy(), q.copy()
    for i, (v, u) in enumerate(zip(velocity[:, :3], 0.5 * h * velocity[:, 3:], strict=True)):
        s, scalar, vector = np.sqrt(1.0 - u @ u), q[i, 0], q[i, 1:].copy()
        x[i] += h * v
        q[i] = s * scalar - vector @ u, *(s * vector + scalar * u + np.cross(vector, u))
    return x, q


def momenta(mass, inertia, velocity, half_step):
    """Return the momenta (nb, 6) at the start of a step, (m v, s J w + u x J w); minus ``half_step``: at its end."""
    u, spin = half_step * velocity[:, 3:], np.einsum("iab,ib->ia", inertia, velocity[:, 3:])
    s = np.sqrt(1.0 - np.sum(u * u, axis=1, keepdims=True))
    return np.hstack([mass[:, None] * velocity[:, :3], s * spin + np.cross(u, spin)])


def momentum_derivatives(mass, inertia, velocity, half_step):
    """Return D (6 nb, 6 nb), the derivative of the start momenta by (v, phi), and E, with (dv, dw) = E (dv, dphi).

    h phi is the rotation vector of the end pose, so that the derivative of a row there, over h, is its Jacobian.
    """
    D, E = np.diag(np.repeat(mass, 6)), np.eye(6 * len(mass))
    for i, (J, u) in enumerate(zip(inertia, half_step * velocity[:, 3:], strict=True)):
        s, turn = np.sqrt(1.0 - u @ u), slice(6 * i + 3, 6 * i + 6)
        E[turn, turn] = s * np.eye(3) + skew(u)
        D[turn, turn] = (s * J + skew(u) @ J - skew(J @ u)) @ E[turn, turn] - np.outer(J @ u, u)
    return D, E


# ---- The step
def solve(D, H, G, body, row):
    """Return the solution of [D -G^T; H 0] [motion; multiplier] = [body; row], the least one of redundant rows."""
    # G belongs to a closed pose, so that redundant rows are exactly dependent there, also while H is still open
    system = np.block([[D, -G.T], [H, np.zeros((len(H), len(H)))]])
    solution = np.linalg.lstsq(system, np.concatenate([body, row]), rcond=RANK)[0]
    return solution[: len(D)], solution[len(D) :]


def step(mass, inertia, rows, load, x, q, momentum, h):
    """Return pose and momenta of the next node, ``h`` later; ``load`` (nb, 6) is the force of gravity, (m gravity, 0).

    With c = h / 2, G the rows' Jacobian at the start and impulses ``multiplier`` along the rows,

        m v             = p + c f + (G^T multiplier)_x          x' = x + h v,    q' = q (s, u),    g(x', q') = 0
        s J w + u x J w = l         + (G^T multiplier)_theta
        p' = m v + c f,     l' = s J w - u x J w

    are solved for (v, w) and the multipliers by Newton's method; all residuals are momenta or velocities.
    """
    G = evaluate_rows(rows, x, q)[1]
    velocity, multiplier = np.zeros_like(momentum), np.zeros(len(rows))
    for _ in range(MOST_INCREMENTS):  # the kernels start nearer, and halve increments that turn a body too far
        g, H = evaluate_rows(rows, *place(x, q, velocity, h))
        imbalance = momenta(mass, inertia, velocity, 0.5 * h) - momentum - 0.5 * h * load
        D, E = momentum_derivatives(mass, inertia, velocity, 0.5 * h)
        motion, change = solve(D, H, G, G.T @ multiplier - imbalance.ravel(), -g / h)
        increment = (E @ motion).reshape(velocity.shape)
        velocity, multiplier = velocity + increment, multiplier + change
        if np.max(np.abs(increment)) <= ROUND_OFF * np.max(np.abs(velocity)):
            break
    return *place(x, q, velocity, h), momenta(mass, inertia, velocity, -0.5 * h) + 0.5 * h * load


def project(mass, inertia, rows, x, q, momentum):
    """Return the velocities (nb, 6) at a node: M^-1 ``momentum`` without the part that the rows forbid.

    The step leaves that part in: the next multiplier absorbs it.
    """
    G, M = evaluate_rows(rows, x, q)[1], momentum_derivatives(mass, inertia, momentum, 0.0)[0]
    return solve(M, G, G, momentum.ravel(), np.zeros(len(rows)))[0].reshape(momentum.shape)
