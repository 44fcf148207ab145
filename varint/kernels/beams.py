"""Elements of beams (measures/middle.py, measures/rotation.py): six generalised forces in one frame.

An element has six measures (strains) in a row, each the only one in its sum. They are evaluated together here; a test
compares the results with those of the measures' own functions.

In a step the efforts of an element are unknowns beside the velocities (compliant_rows.py).

The geometric stiffness in Newton's matrix is that of the frame, to first order in the rotation between the bodies. With
the force F on b and the vector L from a to b, world, changes (dv, dphi) of one body's unknowns change the force and the
torque on it by s/2 dphi x F and -s/2 dv x F - (F . L) dphi / 4 + (L (F . dphi) + F (L . dphi)) / 8, s = 1 for b, -1 for
a, times h^2/4. The torque of the element has no part in it.
"""

import math

from varint._numba import Float2, Float3, indirect, njit
from varint.algebra.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.kernels.plan import Plan, Workspace
from varint.measures.middle import half_turn, lever, to_middle, torque_of
from varint.measures.rotation import SMALL, by_rotation

SIZE = 6  # measures of an element
WHAT = "beams"


@njit
def _factor(size, phi):
    """Return f = (1 - phi cot(phi / 2) / 2) / phi^2 of measures/rotation.py; ``size`` = tan(phi / 4)."""
    if phi <= SMALL:
        return 1.0 / 12.0 + phi * phi / 720.0
    return (1.0 - 0.25 * phi * (1.0 - size * size) / size) / (phi * phi)


@njit
def _turn(k):
    """Return the rotation vector phi n of k = tan(phi / 4) n, and f."""
    size = math.sqrt(dot(k, k))
    phi = 4.0 * math.atan(size)
    return scale(phi / size if size > 1e-8 else 4.0, k), _factor(size, phi)


@njit
def _ends(plan, m, position, rotation):
    """Poses (x_a, A, x_b, B) of the bodies of measure m."""
    first = plan.measures.first[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    return position[a], rotation[a], position[b], rotation[b]


@indirect(seconds=1, what=WHAT)
def evaluate_beams(plan: Plan, ws: Workspace, position: Float2, rotation: Float3) -> None:
    """Write the measures and their gradients at a pose (nb + 1, 3), (nb + 1, 3, 3), world last, to ``ws.efforts``."""
    work = ws.efforts
    for n in range(plan.beams.first.size):
        m = plan.beams.first[n]
        side = plan.measures.first[m]
        x_a, A, x_b, B = _ends(plan, m, position, rotation)
        k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(plan.measures.w[m])
        d = sub(reach, vector(plan.measures.v[m]))
        rho, f = _turn(k)
        for j in range(m, m + 3):
            a = to_middle(k, vector(plan.measures.u[j]))
            z, force = torque_of(k, d, a), rotate(A, a)
            near = add(rotate_back(B, rotate(A, z)), cross(w, rotate_back(B, force)))
            write(work.gradient[j, side], scale(-1.0, force), scale(-1.0, add(cross(reach, a), z)))
            write(work.gradient[j, 1 - side], force, near)
            work.value[j] = dot(a, d) - plan.measures.c[j]
        for j in range(m + 3, m + SIZE):
            v = vector(plan.measures.v[j])
            y = by_rotation(v, rho, f)
            write(work.gradient[j, side], (0.0, 0.0, 0.0), scale(-1.0, y))
            write(work.gradient[j, 1 - side], (0.0, 0.0, 0.0), rotate_back(B, rotate(A, y)))
            work.value[j] = dot(v, rho)


@indirect(seconds=1, what=WHAT)
def measure_beams(plan: Plan, ws: Workspace, pose: int) -> None:
    """Write the values of the measures at ``pose`` of ``ws`` to ``ws.efforts.at_pose``."""
    for n in range(plan.beams.first.size):
        m = plan.beams.first[n]
        x_a, A, x_b, B = _ends(plan, m, ws.position[pose], ws.rotation[pose])
        k, out = half_turn(plan, m, A, B), ws.efforts.at_pose[pose]
        d = to_middle(scale(-1.0, k), sub(lever(plan, m, x_a, A, x_b, B), vector(plan.measures.v[m])))
        rho, _ = _turn(k)
        for j in range(m, m + 3):
            out[j] = dot(vector(plan.measures.u[j]), d) - plan.measures.c[j]
            out[j + 3] = dot(vector(plan.measures.v[j + 3]), rho)


@indirect(seconds=1, what=WHAT)
def stiffen_beams(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Add the geometric stiffness of the elements, blocks of single bodies, to ``ws.ldu.D``. After `apply_efforts`."""
    work = ws.efforts
    for n in range(plan.beams.first.size):
        m, s = plan.beams.first[n], plan.beams.sum[n]
        side = plan.measures.first[m]
        x_a, A, x_b, B = _ends(plan, m, work.position, work.rotation)
        L = rotate(A, sub(lever(plan, m, x_a, A, x_b, B), vector(plan.measures.v[m])))
        F = (0.0, 0.0, 0.0)
        for j in range(3):
            F = add(F, scale(work.sum_effort[s + j], vector(work.gradient[m + j, 1 - side])))
        for b in range(2):
            i = plan.measures.body[m, b]
            if i < plan.bodies.mass.size:
                _add_block(ws.ldu.D[i], work.rotation[i], F, L, -half_step * half_step, 0.5 if b != side else -0.5)


@njit
def _add_block(D, R, F, L, share, half):
    """Add ``share`` times the geometric stiffness of one body, ``half`` = s / 2; R: body to world."""
    along = -0.25 * dot(F, L)
    f, l = rotate_back(R, F), rotate_back(R, L)
    for k in range(3):
        turned = scale(
            share * half, cross((R[0, k], R[1, k], R[2, k]), F)
        )  # change of the force by a rotation about the body's axis k
        for j in range(3):
            D[j, 3 + k] += turned[j]
            D[3 + k, j] += turned[j]
            D[3 + j, 3 + k] += share * (0.125 * (l[j] * f[k] + f[j] * l[k]) + (along if j == k else 0.0))
