"""Reduced forward dynamics by dense matrices, in O(n^3): what the recursions are held against."""

import numpy as np
from scipy.linalg import solve_triangular


def acceleration_by_matrices(equations, t, q, rates):
    """ddq (nq,): the same as `Equations.acceleration`."""
    e = equations
    q, rates, second = e.imposed(t, q, rates)
    e.place(q)
    e.move(q, rates)
    plan, w, load, free = e.compiled.plan, e.velocity[:, 3:], e.load(t), ~e.driven_columns
    load[:, :3] += plan.bodies.mass[:, None] * e.gravity
    load[:, 3:] -= np.cross(w, np.einsum("nij,nj->ni", plan.bodies.inertia, w))
    J, a = e.jacobian(), e.jacobian_rate() @ rates
    a += J @ second
    J = J[:, free]
    lower = np.linalg.cholesky(J.T @ times_mass(plan, J))
    u = solve_triangular(lower, J.T @ (load.ravel() - times_mass(plan, a[:, None])[:, 0]), lower=True)
    if e.row_count:
        rows, b = e.closures.evaluate(e.position, e.rotation, e.velocity), e.baumgarte
        G = np.zeros((len(rows.value), e.nb + 1, 6))
        for s in range(2):
            G[np.arange(len(G)), e.closures.side[:, s]] += rows.jacobian[:, s]
        G = G[:, :-1].reshape(len(G), -1)
        C = e.couplings.rows(q)
        wanted = np.concatenate(
            [
                -rows.bias - 2.0 * b * rows.rate - b * b * rows.value - G @ a,
                -2.0 * b * (C @ rates)
                - b * b * (e.couplings.values(q) - e.targets)
                - C @ second
                - e.couplings.bends(q) @ rates**2,
            ]
        )
        A = solve_triangular(lower, np.concatenate([G @ J, C[:, free]]).T, lower=True).T
        u = u + e.constraints.solve(A, wanted - A @ u)
    second[free] = solve_triangular(lower, u, lower=True, trans="T")
    return second


def times_mass(plan, V):
    """M V for V (6 nb, k)."""
    parts = V.reshape(plan.bodies.mass.size, 6, V.shape[1])
    linear, angular = plan.bodies.mass[:, None, None] * parts[:, :3], plan.bodies.inertia @ parts[:, 3:]
    return np.concatenate([linear, angular], axis=1).reshape(V.shape)
