"""Mass along paths in Newton's matrix, and in the velocities at nodes (paths/masses.py).

The masses couple bodies that are no neighbours. Newton's matrix is A + E H E^T with A of the mechanism without them, E
the columns of the bodies on the paths, and H = int m J(q0)^T J(q1) dalpha; terms of the ends of segments
and of the jumps there are smaller by h, and left out. So A x - E y = b and H E^T x + y = 0: rows of the border. Bodies
that paths couple with the world alone add their block of H to A.
"""

from varint.base.numba import indirect, njit
from varint.mathematics.vectors import cross, rotate, vector
from varint.step.paths.mass_arcs import differentiate_arcs
from varint.step.paths.masses import (
    WHAT,
    clear_wrenches,
    component_of_path,
    find_momenta,
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
    """Write the motion of the surface at point n: unit motion c of its body, along a world axis or about ``turned``.

    ``work.carried`` (points, 6), world. ``moves``: whether it is this body that moves, else zero; ``c``: 0 to 5;
    ``turned`` (3,): axis c - 3 of the body, world.
    """
    for d in range(3):
        work.carried[n, d] = 1.0 if moves and c == d else 0.0
        work.carried[n, 3 + d] = turned[d] if moves and c >= 3 else 0.0


@njit
def _couple(plan, ws, upper, lower):
    """Write H = int m J(upper)^T J(lower) dalpha by unit motions of the bodies, linear (world), angular (body axes).

    To ``ws.massive_paths.H`` (6 K, 6 K) of the K moving bodies on paths; ``upper``, ``lower``: numbers of poses, 0 or
    1. Scratch in ``ws.massive_paths``.
    """
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
                clear_wrenches(work.wrench)
                find_momenta(plan, ws, p, count, upper, lower)
                for q in range(table.body.size):
                    for d in range(6):
                        work.H[6 * q + d, 6 * k + c] += work.wrench[q, d]


@njit
def _write_border(plan, ws):
    """Add the rows of the bodies that paths couple with others to ``ws.border``: E^T, and H E^T."""
    table, H, border = plan.massive_paths, ws.massive_paths.H, ws.border
    first, size = border.count[0], 6 * table.coupled[0]
    border.count[0] += size
    for a in range(size):
        r = first + a
        border.given[r] = 0.0
        for k in range(border.body.shape[1]):
            inside = 6 * k < size
            border.body[r, k] = table.body[k] if inside else plan.bodies.mass.size
            for c in range(6 if inside else 0):
                border.upper[r, k, c] = 1.0 if 6 * k + c == a else 0.0
                border.lower[r, k, c] = H[a, 6 * k + c]


@indirect(seconds=4, what=WHAT)
def fold_paths(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Find H of a step, and `_fold` it; after `add_path_momenta`, whose rows act at the start whatever ``upper`` is."""
    if factored:
        return
    _fold(plan, ws, 1 - end, end)


@indirect(seconds=4, what=WHAT)
def fold_at_node(plan: Plan, ws: Workspace, pose: int, solved: bool) -> None:
    """Find H at a node, and `_fold` it; ``solved``: `_weigh` the paths after that."""
    if solved:
        _weigh(plan, ws, pose)
        return
    place_paths(plan, ws, (pose, pose))
    _fold(plan, ws, pose, pose)


@njit
def _fold(plan, ws, upper, lower):
    """Add H to the blocks ``ws.ldu.D`` of bodies that paths couple with no other body, else to the border."""
    table, work = plan.massive_paths, ws.massive_paths
    _couple(plan, ws, upper, lower)
    _write_border(plan, ws)
    for k in range(table.coupled[0], table.body.size):
        D = ws.ldu.D[table.body[k]]
        for c in range(6):
            for d in range(6):
                D[c, d] += work.H[6 * k + c, 6 * k + d]


@njit
def _weigh(plan, ws, pose):
    """Add the kinetic energies of the paths at a node with ``ws.increment_body`` (nb, 6) to ``ws.balance.further``."""
    table = plan.massive_paths
    for p in range(table.mass.size):
        count = find_points(plan, ws, p, (pose, pose))
        if table.axis.shape[0]:
            differentiate_arcs(plan, ws, p, count, 0, pose)
        move_points(plan, ws, p, pose, ws.increment_body)
        find_slips(plan, ws, p, pose)
        twice = push_by_motion(plan, ws, table.first[p], count, 0, pose)
        ws.balance.further[component_of_path(plan, p)] += 0.5 * twice
