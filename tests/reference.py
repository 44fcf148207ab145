"""An independent solution: index-reduced Newton-Euler equations in maximal coordinates, dense, by DOP853.

Shares nothing with the integrator but the row data of the plan: rows and their first and second
derivatives are written anew, in numpy, from their definition

    g = n . p + u . R w - c,  p = R_a^T (x_b - x_a),  R = R_a^T R_b,  n = u or 0        (or a distance)

and the accelerations solve  [M -G^T; G 0] [a; lambda] = [f - bias; -g''(a = 0)]  in the least-squares sense,
so that redundant rows do no harm.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.step.measures import AXIS, DISTANCE
from varint.step.plan import JOINT


def rows_and_derivatives(plan, x, R, v, w):
    """Rows (nr,), Jacobian (nr, 6 nb) in (x, body rotation), and g'' at zero acceleration (nr,), of joints alone."""
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    x, v, w = (np.vstack([array, np.zeros(3)]) for array in (x, v, w))
    R = np.concatenate([R, np.eye(3)[None]])
    g, G, second = np.zeros(nr), np.zeros((nr, 6 * (nb + 1))), np.zeros(nr)
    for j, sides in enumerate(plan.joints.side):
        a, b = sides[plan.joints.first_body[j]], sides[1 - plan.joints.first_body[j]]
        Rab, p, dp = R[a].T @ R[b], R[a].T @ (x[b] - x[a]), R[a].T @ (v[b] - v[a])
        wa, wb = w[a], w[b]
        p1 = dp - np.cross(wa, p)
        p2 = np.cross(wa, np.cross(wa, p)) - 2 * np.cross(wa, dp)
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if plan.rows.role[r] != JOINT:
                continue
            u, arm, c = plan.measures.u[r], plan.measures.w[r], plan.measures.c[r]
            n = np.zeros(3) if plan.measures.kind[r] == AXIS else u
            y, dy = Rab @ arm, Rab @ np.cross(wb, arm)
            y1 = dy - np.cross(wa, y)
            y2 = np.cross(wa, np.cross(wa, y)) - 2 * np.cross(wa, dy) + Rab @ np.cross(wb, np.cross(wb, arm))
            if plan.measures.kind[r] == DISTANCE:
                d = p + y - u
                g[r] = (d @ d - c * c) / (2 * c)
                second[r] = (d @ (p2 + y2) + (p1 + y1) @ (p1 + y1)) / c
                n = u = d / c
            else:
                g[r] = n @ p + u @ y - c
                second[r] = n @ p2 + u @ y2
            z = Rab.T @ u
            G[r, 6 * a : 6 * a + 3] -= R[a] @ n
            G[r, 6 * a + 3 : 6 * a + 6] += np.cross(n, p) + np.cross(u, y)
            G[r, 6 * b : 6 * b + 3] += R[a] @ n
            G[r, 6 * b + 3 : 6 * b + 6] += np.cross(arm, z)
    return g, G[:, : 6 * nb], second


def integrate(mechanism, state, duration, rtol=1e-12):
    """State arrays (x, R, v, w) at ``duration``, in the order of the description."""
    compiled = mechanism.compiled
    plan, order, slot = compiled.plan, compiled.order, compiled.slot
    nb = plan.bodies.mass.size
    M = np.zeros((6 * nb, 6 * nb))
    for i in range(nb):
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = plan.bodies.mass[i] * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = plan.bodies.inertia[i]

    couplings = _couplings_of_translations(mechanism)

    def unpack(y):
        x, q, v, w = np.split(y, np.cumsum([3 * nb, 4 * nb, 3 * nb]))
        return x.reshape(nb, 3), q.reshape(nb, 4), v.reshape(nb, 3), w.reshape(nb, 3)

    def derivative(_, y):
        x, q, v, w = unpack(y)
        R = Rotation.from_quat(q, scalar_first=True).as_matrix()
        _, G, second = rows_and_derivatives(plan, x, R, v, w)
        force = np.zeros((nb, 6))
        force[:, :3] = plan.bodies.mass[:, None] * plan.bodies.gravity
        force[:, 3:] = -np.cross(w, np.einsum("nij,nj->ni", plan.bodies.inertia, w))
        G = np.vstack([G, couplings])
        second = np.concatenate([second, np.zeros(len(couplings))])
        KKT = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
        a = np.linalg.lstsq(KKT, np.concatenate([force.ravel(), -second]), rcond=1e-8)[0][: 6 * nb].reshape(nb, 6)
        s, i, j, k = q.T
        dq = 0.5 * np.stack(
            [
                -i * w[:, 0] - j * w[:, 1] - k * w[:, 2],
                s * w[:, 0] + j * w[:, 2] - k * w[:, 1],
                s * w[:, 1] + k * w[:, 0] - i * w[:, 2],
                s * w[:, 2] + i * w[:, 1] - j * w[:, 0],
            ],
            axis=1,
        )
        return np.concatenate([v.ravel(), dq.ravel(), a[:, :3].ravel(), a[:, 3:].ravel()])

    start = [getattr(state, name)[order].ravel() for name in ("position", "quat_wxyz", "velocity", "angular_velocity")]
    solution = solve_ivp(derivative, (0, duration), np.concatenate(start), method="DOP853", rtol=rtol, atol=1e-13)
    x, q, v, w = unpack(solution.y[:, -1])
    R = Rotation.from_quat(q, scalar_first=True).as_matrix()
    return x[slot], R[slot], v[slot], w[slot]


def _couplings_of_translations(mechanism):
    """(m, 6 nb) rows of couplings, all terms of which are translations in the world, in the order of the kernels."""
    slot, forces = mechanism.compiled.slot, [force for force in mechanism.forces if isinstance(force, vi.Coupling)]
    rows = np.zeros((len(forces), 6 * len(mechanism.bodies)))
    for row, force in zip(rows, forces, strict=True):
        for name, coordinate, factor in force.terms:
            joint = mechanism.joint(name)
            assert isinstance(joint, vi.Translational)
            assert joint.body_a == "world"
            row[6 * slot[mechanism.body_index[joint.body_b]] + coordinate] = factor
    return rows
