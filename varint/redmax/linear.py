"""The linearly implicit Euler scheme (DIFF eqs. 2.84, 2.86, 2.108), one linear solve a step.

    (M - h D - h^2 K) v1 - G^T mu = M v0 + h (J^T (f - M Jdot v0) - D v0),    G v1 = -b g,    q1 = q0 + h v1

all at (q0, v0), inputs at the end of the step. D and K are the derivatives of the reduced forces by rates and
coordinates: of laws those along their gauge, and across the motion of dampers; of the directions in which
forces act those of a length, as its bodies see them, symmetrised. Gravity, constant pushes, gyroscopic terms
and the change of J give none. Dampers do not enter the explicit force: D v0 is subtracted.

Of prescribed joints v1 and q1 are those of their motion at the end of the step, by rows v1 = given with multipliers of
their own; where q1 differs from q0 + h v1, K and the gaps of stops take q1 - q0. Integrals of deviations grow by h
times the deviation at the end.
"""

import numpy as np

from varint.kernels.plan import SLIP, SPEED, SPIN
from varint.redmax.contacts import Contacts
from varint.redmax.equations import Equations
from varint.redmax.kernels import force_tangents, kinematics, wrenches
from varint.redmax.saddle import LinearStep, solve_saddle


def euler_step(
    equations: Equations, t: float, h: float, q: np.ndarray, rates: np.ndarray, integral: np.ndarray,
    contacts: Contacts | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """q (nq,) and rates at t + h; ``integral`` (ns,) of deviations; ``contacts``: hard stops and joint friction."""
    equations.integrate_from(integral, h)
    equations.place(q)
    equations.move(q, rates)
    f, M = equations.reduced_force(t + h), equations.mass_matrix()
    D, K = reduced_damping_and_stiffness(equations)
    G, violation = np.zeros((0, equations.nq)), np.zeros(0)
    if equations.row_count:
        violation, _, G = equations.violations(q, rates)
    A, b, g = M - h * D - h * h * K, M @ rates + h * (f - D @ rates), -equations.baumgarte * violation
    driven = equations.driven_columns
    end, given, _ = equations.imposed(t + h, q, rates)
    offset = np.where(driven, (end - q) / h - given, 0.0)
    if driven.any():
        b += h * h * K @ offset
        G, g = np.concatenate([G, np.eye(equations.nq)[driven]]), np.concatenate([g, given[driven]])
    if contacts:
        after = contacts.solve(h, rates, LinearStep(A, b, G, g), offset)
    else:
        after, _ = solve_saddle(A, G, G, b, g)
    return np.where(driven, end, q + h * after), np.where(driven, given, after)


def reduced_damping_and_stiffness(equations: Equations) -> tuple[np.ndarray, np.ndarray]:
    """D, K (nq, nq) of the forces after `Equations.load`, see above."""
    nq, plan = equations.nq, equations.forced.plan
    D, K = np.zeros((nq, nq)), np.zeros((nq, nq))
    ng = plan.gauge_kind.size
    if not ng:
        return D, K
    rows = np.array([_pulled_back(equations, e) for e in range(ng)])
    first = np.flatnonzero(np.diff(plan.gauge_law))
    J = equations.jacobian().reshape(equations.nb, 6, nq)
    for e, after in zip(first, [*first[1:], ng], strict=True):
        row = rows[e:after].sum(axis=0)
        effort, by_value, by_rate = equations.slopes[e]
        K += by_value * np.outer(row, row)
        if plan.gauge_kind[e] in (SPEED, SPIN, SLIP):
            across = effort / equations.rate[e] if equations.rate[e] > 0 else by_rate
            moving = _moving(equations, e, J[plan.gauge_body[e, 1]])
            D += across * moving.T @ moving + (by_rate - across) * np.outer(row, row)
        else:
            D += by_rate * np.outer(row, row)
    turning = _turning_lengths(equations)
    return D, K + 0.5 * (turning + turning.T)


def _pulled_back(equations: Equations, e: int) -> np.ndarray:
    """J^T of the gradient of gauge e, (nq,)."""
    load = np.zeros((equations.nb + 1, 6))
    for s in range(2):
        load[equations.forced.plan.gauge_body[e, s]] += equations.gradient[e, s]
    return equations.generalised(load[:-1])


def _moving(equations: Equations, e: np.integer, J: np.ndarray) -> np.ndarray:
    """The rows (3, nq) of the velocity that SPEED, SPIN or SLIP sees, of the body with rows J (6, nq)."""
    plan = equations.forced.plan
    if plan.gauge_kind[e] != SLIP:
        return J[:3] if plan.gauge_kind[e] == SPEED else J[3:]
    normal, point = plan.gauge_vector[e, :2]
    R = equations.rotation[plan.gauge_body[e, 1]]
    rows = J[:3] + R @ np.cross(J[3:].T, point).T
    return rows - np.outer(normal, normal @ rows)


def _turning_lengths(equations: Equations) -> np.ndarray:
    """(nq, nq) change of the reduced forces of LENGTHs with their directions, at constant effort."""
    n, plan, nq = equations.nodes, equations.forced.plan, equations.nq
    nl, ng = n.parent.size, plan.gauge_kind.size
    node = np.append(n.body_node, nl)
    direction, turned, slope = np.zeros((ng, 2, 6)), np.zeros((ng, 2, 6)), np.zeros((ng, 2))
    pose, still, wrench = np.zeros((nl + 1, 6)), np.zeros((nl + 1, 6)), np.empty((nl + 1, 6))
    out = np.empty((nq, nq))
    force_tangents.to_world(plan.gauge_body, equations.gradient, equations.rotation, direction)
    for k, u in enumerate(np.eye(nq)):
        kinematics.jacobian_product(equations.work, u, pose)
        force_tangents.turn_gauges(
            plan.gauge_body, node, plan.gauge_kind, plan.gauge_vector, equations.position, equations.rotation,
            still, equations.value, direction, pose, still, turned, slope,
        )  # fmt: skip
        wrench[:] = 0.0
        force_tangents.turn_lengths(
            plan.gauge_body, node, plan.gauge_kind, equations.value, equations.slopes, direction, turned, pose, wrench
        )
        wrenches.transpose_product(equations.work, wrench, out[k])
    return -out.T
