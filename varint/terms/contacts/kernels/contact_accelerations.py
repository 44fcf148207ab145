"""Forces of contacts at recorded nodes, from the accelerations there."""

import math

from varint._numba import indirect, njit
from varint.algebra.vectors import cross, dot, rotate, vector
from varint.kernels.dense import dot6
from varint.kernels.plan import Plan, Workspace
from varint.terms.contacts.kernels.contact_nodes import solve_at_node, take_right_sides
from varint.terms.contacts.kernels.contact_rows import contact_gap, write_upper

NEAR, SLOW = 1e-9, 1e-7  # m, m/s: at a recorded node a contact so near, that parts no faster, rests; or it sticks


@njit
def rest_contacts(plan, ws, velocity):
    """Take the contacts that rest at pose 0 with velocities (nb, 6) into the problem of `accelerate_contacts`."""
    work = ws.contacts
    for k in range(plan.contacts.body.size):
        i = plan.contacts.body[k]
        write_upper(plan, ws, 0, k)
        v, upper = velocity[i], work.upper[k]
        rates = dot6(upper[0], v), dot6(upper[1], v), dot6(upper[2], v)
        work.taking[k] = contact_gap(plan, ws, 0, k) <= NEAR and abs(rates[0]) <= SLOW
        work.sticking[k], work.mode[k] = False, 0
        size = math.sqrt(rates[1] ** 2 + rates[2] ** 2)
        for a in range(2):
            work.direction[k, a] = rates[1 + a] / size if size > SLOW else 0.0
        w, point = vector(v[3:]), vector(plan.contacts.point[k])
        centripetal = rotate(ws.rotation[0, i], cross(w, cross(w, point)))
        for a in range(3):
            work.bias[k, a] = dot(vector(plan.contacts.frame[k, a]), centripetal)


@indirect(seconds=3, what="contacts")
def accelerate_contacts(plan: Plan, ws: Workspace) -> None:
    """Solve for accelerations at pose 0 with the contacts that rest: right sides and solution as `solve_newton`."""
    take_right_sides(ws)
    solve_at_node(plan, ws, 0)


@njit
def forces_of_contacts(plan, ws, out):
    """Write the forces of the contacts at a node, N, world, to ``out`` (nk, 3)."""
    for k in range(plan.contacts.body.size):
        for j in range(3):
            out[k, j] = 0.0
            for a in range(3 if ws.contacts.taking[k] else 0):
                out[k, j] += ws.contacts.z[k, a] * plan.contacts.frame[k, a, j]
