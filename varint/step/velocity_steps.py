"""Parts of steps that solve for velocities (extras/rivals/maximal.py), at the state in pose 0 of a workspace.

    [ M  -G^T ] [ v ]   [ momenta ]       G: rows at the pose. Redundant rows get no multiplier (ldu.py).
    [ G   0   ] [ y ] = [ rates   ]

Velocities (nb, 6) are m/s, world, and rad/s, body axes; positions are of the centres of mass.
"""

import math

from varint.base.numba import njit
from varint.mathematics.quaternion import multiply, rotation_matrix
from varint.mathematics.vectors import add, cross, rotate, rotate_back, scale, vector
from varint.step.configuration import follow_measured, follow_products, mass_pivots, place
from varint.step.constraints import follow_constraints
from varint.step.dense import dot6
from varint.step.efforts import curvature_factor
from varint.step.laws import evaluate_laws
from varint.step.ldu import solve_newton
from varint.step.loads import differentiate_loads, evaluate_loads
from varint.step.measures import weighted_curvature
from varint.step.nodes.efforts import add_efforts, keep_turns
from varint.step.rows import clear_rows

WHAT = "steps at velocity level"
SMALL_TURN = 0.1  # rad: below, the series are exact to round-off, and the closed forms are not
PROJECTIONS = 20  # corrections of a pose, at most


@njit(seconds=6, what=WHAT)
def evaluate_state(plan, ws, accepted, load):
    """Evaluate the rows of pose 0, and write the forces there to ``load`` (nb, 6), N, world, and N m, body axes.

    Gravity, forces, and the gyroscopic torques -w x J w. ``accepted``: whether angles count their turns from this pose
    on. Inputs and targets are in ``ws.efforts``.
    """
    for i in range(plan.bodies.mass.size):
        rotation_matrix(ws.quat[0, i], ws.rotation[0, i])
    follow_products(plan, ws, ws.position[0], ws.rotation[0])
    if accepted:
        follow_constraints(plan, ws, ws.position[0], ws.rotation[0])
    place(plan, ws, 0)
    clear_rows(plan, ws.released, ws.jacobian[0])
    for i in range(plan.bodies.mass.size):
        w = vector(ws.velocity[i, 3:])
        gyroscopic = cross(w, rotate(plan.bodies.inertia[i], w))
        for k in range(3):
            load[i, k] = plan.bodies.mass[i] * plan.bodies.gravity[k]
            load[i, 3 + k] = -gyroscopic[k]
    follow_measured(plan, ws, ws.position[0], ws.rotation[0])
    evaluate_laws(plan, ws, ws.position[0], ws.rotation[0], ws.velocity, 0.0)
    evaluate_loads(plan, ws, ws.rotation[0], ws.velocity)
    add_efforts(plan, ws.efforts, load)
    if accepted:
        keep_turns(plan, ws.efforts)


@njit(seconds=1, what=WHAT)
def solve_velocities(plan, ws, body, row):
    """Solve the system above in place: momenta (nb, 6) to velocities, rates (nr,) to impulses. After `place`."""
    mass_pivots(plan, ws.ldu.D)
    solve_newton(plan, ws, body, row, 0, 0)


@njit(seconds=1, what=WHAT)
def move_poses(plan, ws, h, velocity):
    """Move pose 0, ``ws.position`` and ``ws.quat``, by ``velocity`` (nb, 6) over h seconds: x + h v, R exp(h w)."""
    for i in range(plan.bodies.mass.size):
        v, q = velocity[i], ws.quat[0, i]
        for k in range(3):
            ws.position[0, i, k] += h * v[k]
        _turn(q, scale(0.5 * h, vector(v[3:])))


@njit
def _turn(q, half):
    """Multiply the unit quaternion ``q`` (4,) by that of a rotation by twice ``half``, body axes."""
    angle = math.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    x, y, z = scale(_sine_over(angle), half)
    turned = multiply((q[0], q[1], q[2], q[3]), (math.cos(angle), x, y, z))
    norm = math.sqrt(turned[0] ** 2 + turned[1] ** 2 + turned[2] ** 2 + turned[3] ** 2)
    for k in range(4):
        q[k] = turned[k] / norm


@njit
def _sine_over(angle):
    """Return sin(angle) / angle."""
    x = angle * angle
    if angle > SMALL_TURN:
        return math.sin(angle) / angle
    return 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0)))


@njit
def _third_over(angle):
    """Return (angle - sin(angle)) / angle^3."""
    x = angle * angle
    if angle > SMALL_TURN:
        return (angle - math.sin(angle)) / (angle * x)
    return (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0)))) / 6.0


@njit(seconds=1, what=WHAT)
def move_along_screws(plan, ws, h, velocity):
    """Move pose 0 by E exp(h phi) (DIFF eq. 1.29): ``velocity`` (nb, 6) is constant in the axes of each body.

    The pose is in ``ws.position``, ``ws.quat`` and ``ws.rotation``. The linear part of ``velocity``, in the axes of the
    world at the start of the step, is changed to those at its end.
    """
    for i in range(plan.bodies.mass.size):
        v, q = velocity[i], ws.quat[0, i]
        turn, line = scale(h, vector(v[3:])), rotate_back(ws.rotation[0, i], vector(v))
        angle = math.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
        a, b = 0.5 * _sine_over(0.5 * angle) ** 2, _third_over(angle)
        across = cross(turn, line)
        shift = rotate(ws.rotation[0, i], add(line, add(scale(a, across), scale(b, cross(turn, across)))))
        for k in range(3):
            ws.position[0, i, k] += h * shift[k]
        _turn(q, scale(0.5, turn))
        rotation_matrix(q, ws.rotation[0, i])
        line = rotate(ws.rotation[0, i], line)
        for k in range(3):
            v[k] = line[k]


@njit(seconds=2, what=WHAT)
def project_pose(plan, ws, tol, body, row):
    """Close the rows of pose 0 to ``tol`` metres by motions that are least in the kinetic metric.

    Returns the largest row that is left, m. Moves ``ws.position`` and ``ws.quat``; ``body`` (nb, 6), ``row`` (nr,):
    scratch, overwritten.
    """
    gap = math.inf
    for _ in range(PROJECTIONS):
        before = gap
        gap = _gap_of_pose(plan, ws)
        if gap <= tol or not gap < before:
            break
        body[:] = 0.0
        for r in range(row.size):
            row[r] = -ws.residual_row[r]
        solve_velocities(plan, ws, body, row)
        move_poses(plan, ws, 1.0, body)
    return gap


@njit(seconds=1, what=WHAT)
def project_velocity(plan, ws, row):
    """Bring ``ws.velocity`` to the rates of the targets by the least change in the kinetic metric.

    Scratch: ``row`` (nr,).
    """
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            ws.velocity[i, k] *= plan.bodies.mass[i]
        spin = rotate(plan.bodies.inertia[i], vector(ws.velocity[i, 3:]))
        for k in range(3):
            ws.velocity[i, 3 + k] = spin[k]
    for r in range(row.size):
        row[r] = ws.efforts.target_rate[r]
    solve_velocities(plan, ws, ws.velocity, row)


@njit
def _gap_of_pose(plan, ws):
    """Place pose 0; return its largest row, m."""
    for i in range(plan.bodies.mass.size):
        rotation_matrix(ws.quat[0, i], ws.rotation[0, i])
    follow_products(plan, ws, ws.position[0], ws.rotation[0])
    place(plan, ws, 0)
    clear_rows(plan, ws.released, ws.jacobian[0])
    gap = 0.0
    for r in range(plan.rows.role.size):
        gap = max(gap, plan.rows.scale[r] * abs(ws.residual_row[r]))
    return gap


@njit(seconds=3, what="derivatives of forces")
def differentiate_forces(plan, ws, turned, along):
    """Write parts of the derivatives of the loads of forces, after `evaluate_state` at the same state.

    Of each measure of a law, n in all: ``turned`` (n, 12, 12), the change of its gradient by motions of its two bodies
    times the effort, and ``along`` (n, 12), the change of its rate with its gradient. Those of loads on single bodies
    are in ``ws.efforts.wrench_by_pose`` and ``wrench_by_velocity``.
    """
    work, first = ws.efforts, plan.rows.role.size
    differentiate_loads(plan, ws, ws.position[0], ws.rotation[0], ws.velocity)
    for s in range(plan.laws.sum_law.size - 1):
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            effort = curvature_factor(plan, work, s, m)
            for column in range(12):
                work.motion[:] = 0.0
                work.third[:] = 0.0
                work.motion[column // 6, column % 6] = 1.0
                weighted_curvature(plan, ws, m, ws.position[0], ws.rotation[0], work.motion, work.change)
                total = 0.0
                for side in range(2):
                    i = plan.measures.body[m, side]
                    for k in range(6):
                        turned[m - first, 6 * side + k, column] = effort * work.change[side, k]
                    if i < plan.bodies.mass.size:
                        total += dot6(work.change[side], ws.velocity[i])
                along[m - first, column] = total
