"""Mass along paths in Newton's matrix, and in the velocities at nodes (paths/masses.py).

The masses couple bodies that are no neighbours. Newton's matrix is A + E H E^T with A of the mechanism without them, E
the columns of the bodies on the paths, and H = int m J(q0)^T J(q1) dalpha; what the ends of the segments and the jumps
there add, smaller by h, is left out. With x_A = A^-1 r and Z = A^-1 E, Woodbury's formula gives the solution
x_A - Z (1 + H E^T Z)^-1 H E^T x_A. A body that paths couple with the world alone has its H in A.
"""

from varint.base.numba import Float1, Float2, indirect, njit
from varint.mathematics.vectors import cross, rotate, vector
from varint.step.dense import pivoted_lu_factor, pivoted_lu_solve
from varint.step.ldu import solve_again
from varint.step.paths.mass_arcs import differentiate_arcs
from varint.step.paths.masses import (
    WHAT,
    add_wrenches,
    clear_wrenches,
    component_of_path,
    find_points,
    find_slips,
    move_arcs,
    move_points,
    place_paths,
    push_by_motion,
)
from varint.step.paths.straight_masses import couple_straight, is_straight
from varint.step.plan import Plan, Workspace


@njit
def _carry(work, n, moves, c, turned):
    """Motion of the surface at point n: unit motion c of its body, along axis c of the world or about ``turned``."""
    for d in range(3):
        work.carried[n, d] = 1.0 if moves and c == d else 0.0
        work.carried[n, 3 + d] = turned[d] if moves and c >= 3 else 0.0


@njit
def _couple(plan, ws, upper, lower):
    """Write H = int m J(upper)^T J(lower) dalpha by unit motions of the bodies, linear (world), angular (body axes)."""
    table, work = plan.massive_paths, ws.massive_paths
    for a in range(work.H.shape[0]):
        for b in range(work.H.shape[0]):
            work.H[a, b] = 0.0
    for p in range(table.mass.size):
        first = table.first[p]
        if is_straight(table, p):
            couple_straight(plan, ws, p, upper, lower)
            continue
        count = find_points(plan, ws, p, (upper, lower))
        if table.axis.shape[0]:
            differentiate_arcs(plan, ws, p, count, 0, upper)
            differentiate_arcs(plan, ws, p, count, 1, lower)
        for k in range(table.body.size):
            if not table.touches[p, k]:
                continue
            R = ws.rotation[lower, table.body[k]]
            for c in range(6):
                unit = 1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0
                for n in range(first, table.first[p + 1]):
                    if table.wrap[n] >= 0:
                        _carry(work, n, table.carrier[n] == k, c, rotate(R, unit))
                        continue
                    moved = 0.0, 0.0, 0.0
                    if table.place[n] == k:
                        moved = unit if c < 3 else rotate(R, cross(unit, vector(table.arm[n])))
                    work.shift[n, 0], work.shift[n, 1], work.shift[n, 2] = moved
                move_arcs(plan, ws, p, lower)
                find_slips(plan, ws, p, lower)
                push_by_motion(plan, ws, first, count, 1, lower)
                clear_wrenches(work.wrench)
                add_wrenches(plan, ws, p, count, 0, upper)
                for q in range(table.body.size):
                    for d in range(6):
                        work.H[6 * q + d, 6 * k + c] += work.wrench[q, d]


@njit
def _factor_coupling(plan, ws, step):
    """Solutions Z for unit wrenches, by the factors of Newton's matrix at hand, and the factors of I + H E^T Z."""
    table, work, size = plan.massive_paths, ws.massive_paths, ws.massive_paths.column.size
    for a in range(size):
        body, row = work.Z_body[a], work.Z_row[a]
        for i in range(body.shape[0]):
            for c in range(6):
                body[i, c] = 0.0
        for r in range(row.size):
            row[r] = 0.0
        body[table.body[a // 6], a % 6] = 1.0
        solve_again(plan, ws, step, body, row)
    for a in range(size):
        for b in range(size):
            total = 1.0 if a == b else 0.0
            for d in range(size):
                total += work.H[a, d] * work.Z_body[b, table.body[d // 6], d % 6]
            work.small[a * size + b] = total
    pivoted_lu_factor(work.small, size, work.order, work.other)


@njit
def _correct(plan, ws, body, row):
    """Replace the solution of A by that of A + E H E^T, after `_factor_coupling`."""
    table, work, size = plan.massive_paths, ws.massive_paths, ws.massive_paths.column.size
    for a in range(size):
        total = 0.0
        for d in range(size):
            total += work.H[a, d] * body[table.body[d // 6], d % 6]
        work.column[a] = total
    pivoted_lu_solve(work.small, size, work.order, work.column)
    for a in range(size):
        y, own, rows = work.column[a], work.Z_body[a], work.Z_row[a]
        for i in range(body.shape[0]):
            for c in range(6):
                body[i, c] -= y * own[i, c]
        for r in range(row.size):
            row[r] -= y * rows[r]


@indirect(seconds=4, what=WHAT)
def fold_paths(plan: Plan, ws: Workspace, upper: int, lower: int) -> None:
    """Find H, and add it to the blocks ``ws.ldu.D`` of bodies that paths couple with no other body.

    After `add_path_momenta`, or at a node, where both poses are the same.
    """
    table, work = plan.massive_paths, ws.massive_paths
    if upper == lower:
        place_paths(plan, ws, (upper, upper))
    _couple(plan, ws, upper, lower)
    for k in range(work.column.size // 6, table.body.size):
        D = ws.ldu.D[table.body[k]]
        for c in range(6):
            for d in range(6):
                D[c, d] += work.H[6 * k + c, 6 * k + d]


@indirect(seconds=4, what=WHAT)
def couple_paths(
    plan: Plan, ws: Workspace, step: tuple[int, int, float], factored: bool, body: Float2, row: Float1
) -> None:
    """Correct a solution of Newton's system without what couples bodies, in place, to one with it.

    After `fold_paths`. ``step``: (upper, end, h), see `solve_again`; ``factored``: H, Z and the factors of the last
    call are used again.
    """
    if ws.massive_paths.column.size == 0:
        return
    if not factored:
        _factor_coupling(plan, ws, step)
    _correct(plan, ws, body, row)


@indirect(seconds=4, what=WHAT)
def project_paths(plan: Plan, ws: Workspace, pose: int, body: Float2, row: Float1) -> None:
    """`couple_paths` for the velocities at a node, and the kinetic energies of the paths there."""
    table, work = plan.massive_paths, ws.massive_paths
    if work.column.size > 0:
        _factor_coupling(plan, ws, (pose, pose, 0.0))
        _correct(plan, ws, body, row)
    for c in range(work.kinetic.size):
        work.kinetic[c] = 0.0
    for p in range(table.mass.size):
        count = find_points(plan, ws, p, (pose, pose))
        if table.axis.shape[0]:
            differentiate_arcs(plan, ws, p, count, 0, pose)
        move_points(plan, ws, p, pose, body)
        find_slips(plan, ws, p, pose)
        work.kinetic[component_of_path(plan, p)] += 0.5 * push_by_motion(plan, ws, table.first[p], count, 0, pose)
