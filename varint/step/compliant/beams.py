"""Elements of beams at a pose (measures/middle.py, measures/rotation.py): six generalised forces in one frame.

An element has six measures (strains) in a row, each the only one in its sum. They are evaluated together here, and in
steps by beam_steps.py; a test compares the results with those of the measures' own functions.
"""

import math

from varint.base.numba import Float2, Float3, indirect, njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.middle import half_turn, lever, to_middle, torque_of
from varint.measures.rotation import SMALL, by_rotation
from varint.step.plan import Plan, Workspace

SIZE = 6  # measures of an element
WHAT = "beams"


@njit
def _factor(size, phi):
    """Return f = (1 - phi cot(phi / 2) / 2) / phi^2 of measures/rotation.py; ``size`` = tan(phi / 4)."""
    if phi <= SMALL:
        return 1.0 / 12.0 + phi * phi / 720.0
    return (1.0 - 0.25 * phi * (1.0 - size * size) / size) / (phi * phi)


@njit
def turn_of_half(k):
    """Return the rotation vector phi n of k = tan(phi / 4) n, and f."""
    size = math.sqrt(dot(k, k))
    phi = 4.0 * math.atan(size)
    return scale(phi / size if size > 1e-8 else 4.0, k), _factor(size, phi)


@njit
def ends_of(plan, m, position, rotation):
    """Return the poses (x_a, A, x_b, B) of the bodies of measure m, of ``position`` (nb + 1, 3), ``rotation``.

    ``rotation`` (nb + 1, 3, 3).
    """
    first = plan.measures.first[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    return position[a], rotation[a], position[b], rotation[b]


@indirect(seconds=1, what=WHAT)
def evaluate_beams(plan: Plan, ws: Workspace, position: Float2, rotation: Float3) -> None:
    """Write the measures and their gradients at a pose, world last, to ``ws.efforts``.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3).
    """
    work = ws.efforts
    for n in range(plan.beams.first.size):
        m = plan.beams.first[n]
        side = plan.measures.first[m]
        x_a, A, x_b, B = ends_of(plan, m, position, rotation)
        k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(plan.measures.w[m])
        d = sub(reach, vector(plan.measures.v[m]))
        rho, f = turn_of_half(k)
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


@njit
def measure_beams(plan, ws, position, rotation):
    """Do `evaluate_beams` at a pose, (nb + 1, 3), (nb + 1, 3, 3), in a plan that has elements; to ``ws.efforts``."""
    if plan.beams.first.size:
        evaluate_beams(plan, ws, position, rotation)
