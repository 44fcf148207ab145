"""The linearly implicit Euler scheme (DIFF eqs. 2.84, 2.86, 2.108), one linear solve a step.

    (M - h D - h^2 K) v1 - G^T mu = M v0 + h (J^T (f - M Jdot v0) - D v0),    G v1 = -b g + p',    q1 = q0 + h v1

all at (q0, v0), inputs at the end of the step; p' is the mean rate over the step of the targets of points and bodies
that are prescribed. D and K are the derivatives of the reduced forces by rates and coordinates: of laws along their
measure, of loads by the velocity, and of the directions of forces along lengths, as their bodies see them, symmetrised.
Gravity, constant pushes, gyroscopic terms and the change of J are left out. Dampers do not enter the explicit force:
D v0 is subtracted.

Prescribed joints have v1 and q1 of their motion at the end of the step, by rows v1 = given with multipliers of their
own; where q1 differs from q0 + h v1, K and the gaps of stops take q1 - q0. Integrals of deviations grow by h times the
deviation at the end.
"""

import numpy as np

from varint.methods.reduced.contacts import Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.recursions import force_tangents, wrenches
from varint.methods.reduced.recursions import kinematic_recursions as kinematics
from varint.methods.reduced.saddle import LinearStep, solve_saddle


def euler_step(
    equations: Equations, t: float, h: float, q: np.ndarray, rates: np.ndarray, integral: np.ndarray,
    contacts: Contacts | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return q (nq,) and rates at t + h; ``integral`` (ns,) of deviations.

    ``contacts``: hard stops and joint friction.
    """
    equations.integrate_from(integral, h)
    equations.place(q)
    equations.move(q, rates)
    f, M = equations.reduced_force(t + h), equations.mass_matrix()
    D, K = reduced_damping_and_stiffness(equations)
    G, violation = np.zeros((0, equations.nq)), np.zeros(0)
    if equations.row_count:
        equations.closures.at(t)
        violation, _, G = equations.violations(q, rates)
    A, b, g = M - h * D - h * h * K, M @ rates + h * (f - D @ rates), -equations.baumgarte * violation
    driven, aim = equations.driven_columns, equations.closures.targets[0].copy()
    end, given_rates, _ = equations.imposed(t + h, q, rates)
    g[: aim.size] += (equations.closures.targets[0] - aim) / h
    offset = np.where(driven, (end - q) / h - given_rates, 0.0)
    if driven.any():
        b += h * h * K @ offset
        G, g = np.concatenate([G, np.eye(equations.nq)[driven]]), np.concatenate([g, given_rates[driven]])
    if contacts:
        after = contacts.solve(h, rates, LinearStep(A, b, G, g), offset)
    else:
        after, _ = solve_saddle(A, G, G, b, g)
    return np.where(driven, end, q + h * after), np.where(driven, given_rates, after)


def reduced_damping_and_stiffness(equations: Equations) -> tuple[np.ndarray, np.ndarray]:
    """Return D and K (nq, nq) of the forces after `Equations.load`, see above."""
    nq, plan, work = equations.nq, equations.compiled.plan, equations.ws.efforts
    D, K = np.zeros((nq, nq)), np.zeros((nq, nq))
    if not equations.ne:
        return D, K
    for s in range(work.sum_effort.size):
        row = reduced_gradient(equations, equations.ws.efforts.gradient, s)
        K += work.sum_by_value[s] * np.outer(row, row)
        D += work.sum_by_rate[s] * np.outer(row, row)
    if plan.loads.kind.size:
        equations.differentiate_loads()
        J = equations.jacobian().reshape(equations.nb, 6, nq)
        for i, other, by_velocity in zip(plan.loads.body, plan.loads.other, work.wrench_by_velocity, strict=True):
            D += J[i].T @ by_velocity[0] @ J[i]
            if other >= 0:
                D += J[i].T @ by_velocity[1] @ J[plan.loads.body[other]]
    turning = _turning_lengths(equations)
    return D, K + 0.5 * (turning + turning.T)


def reduced_gradient(kinematics: TreeKinematics, gradient: np.ndarray, s: int) -> np.ndarray:
    """Return J^T of the gradient of sum s, (nq,), from ``gradient`` (nm, 2, 6) of the measures."""
    plan, load = kinematics.compiled.plan, np.zeros((kinematics.nb + 1, 6))
    for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        np.add.at(load, plan.measures.body[m], gradient[m])
    return kinematics.generalised(load[:-1])


def _turning_lengths(equations: Equations) -> np.ndarray:
    """Return the changes (nq, nq) of the reduced forces as lengths turn, at constant effort."""
    e, n, nq = equations, equations.nodes, equations.nq
    nl = n.parent.size
    node = np.append(n.body_node, nl)
    pose, still, wrench = np.zeros((nl + 1, 6)), np.zeros((nl + 1, 6)), np.empty((nl + 1, 6))
    motion, faster = np.zeros((2, e.nb, 6))
    out = np.empty((nq, nq))
    for k, u in enumerate(np.eye(nq)):
        kinematics.jacobian_product(e.work, u, pose)
        force_tangents.changes_of_bodies(node, e.rotation, still, pose, still, motion, faster)
        wrench[:] = 0.0
        force_tangents.turn_radial_loads(e.compiled.plan, e.ws, node, e.position, e.rotation, motion, pose, wrench)
        wrenches.transpose_product(e.work, wrench, out[k])
    return -out.T
