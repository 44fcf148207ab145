"""Energies of a mechanism at one state, at the least cost of a call from Python."""

from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float1, Float2, Int1, njit, record_at
from varint.mathematics.quaternion import rotation_matrix
from varint.mathematics.vectors import dot, rotate, vector
from varint.step.compliant.beams import measure_beams
from varint.step.laws import law_potential
from varint.step.measures import weighted_measure
from varint.step.plan import Plan, Workspace
from varint.step.whole_state import is_whole_body


@dataclass(frozen=True, eq=False)
class EnergyReading(CompiledRecord, writable=True):
    """A state in the order of the description, and its energies."""

    plan: Plan
    ws: Workspace
    order: Int1  # (nb,) body of the description in each slot
    position: Float2  # (nb, 3)
    quat: Float2  # (nb, 4)
    velocity: Float2  # (nb, 3) m/s, world
    spin: Float2  # (nb, 3) rad/s, body
    potential: Float1  # (ne,) J, of each element
    body: Float1  # (2,) J, kinetic and of gravity


energies_at = record_at(EnergyReading)


@njit(seconds=2, what="energies of a state")
def read_energies(word: int) -> bool:
    """Fill an `EnergyReading` by its word; return whether its numbers are valid for a `State`."""
    reading = energies_at(word)
    plan, ws, is_whole = reading.plan, reading.ws, True
    bodies, work, laws, x, R = plan.bodies, ws.efforts, plan.laws, ws.position[0], ws.rotation[0]
    kinetic = gravity = 0.0
    for i in range(bodies.mass.size):
        j = reading.order[i]
        is_whole &= is_whole_body(reading.position[j], reading.quat[j], reading.velocity[j], reading.spin[j])
        v, w = vector(reading.velocity[j]), vector(reading.spin[j])
        kinetic += 0.5 * (bodies.mass[i] * dot(v, v) + dot(w, rotate(bodies.inertia[i], w)))
        gravity -= bodies.mass[i] * dot(vector(bodies.gravity), vector(reading.position[j]))
        for k in range(3):
            x[i, k] = reading.position[j, k]
        rotation_matrix(reading.quat[j], R[i])
    reading.body[0], reading.body[1] = kinetic, gravity
    measure_beams(plan, ws, x, R)
    for m in range(plan.rows.role.size, plan.measures.kind.size):
        if not plan.measures.fused[m]:
            work.value[m] = weighted_measure(plan, ws, m, work.value_near[m], x, R, work.gradient[m])
    for s in range(laws.sum_law.size - 1):
        value = 0.0
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            value += plan.measures.weight[m] * work.value[m]
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            reading.potential[laws.element[f]] = law_potential(plan, f, value)
    return is_whole
