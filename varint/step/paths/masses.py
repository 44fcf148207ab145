"""Mass along paths over points of several bodies and around surfaces, in steps of maximal coordinates.

The particle at the fraction alpha of a path is at x_alpha(q). Its discrete Lagrangian is one of positions,

    Ld = 1/(2h) int m |e|^2 dalpha - h/2 (V(q0) + V(q1)),    e = x_alpha(q1) - x_alpha(q0)

with m the mass per unit fraction, kg, h the step, s, and V the potential energy, J (docs/muscle_inertia.md). The
momenta of the path, which add to those of the bodies, are -D1 Ld at the start of a step and D2 Ld at its end: nothing
else of a step changes. x_alpha is affine in alpha along a segment. The integral goes from segment to segment: segment k
has the fractions between the means of those of its two points at both poses. A particle there counts as on segment k at
both poses, also where it passes a point within the step. The exact integral has a term |s_j(q1) - s_j(q0)|^3 / h, which
makes it of first order; this one is smooth and symmetric, of order 2, and composes to higher ones. With s_j the
fraction of point j, e_j- and e_j+ the displacements on the segments before and after it at the mean of s_j(q0) and
s_j(q1), and J the gradients of x_alpha,

    at the start    int m J(q0)^T e / h dalpha - sum_j m / (4h) (|e_j-|^2 - |e_j+|^2) ds_j/dq0 + h/2 dV/dq0
    at the end      int m J(q1)^T e / h dalpha + sum_j m / (4h) (|e_j-|^2 - |e_j+|^2) ds_j/dq1 - h/2 dV/dq1

With the slips u_j = l ds_j, the gradient at the local coordinate b of segment k is

    dx_alpha = (1 - b) (dx_k - t_k u_k) + b (dx_k+1 - t_k u_k+1)
    u_j = dc_j - s_j dl,    dc_j = sum_{k<j} t_k . (dx_k+1 - dx_k)

Arcs around surfaces: paths/mass_arcs.py. Paths of two points: straight_masses.py. Newton's matrix:
paths/mass_coupling.py.
"""

import math

from varint.base.numba import indirect, njit
from varint.mathematics.arcs import ARC_NODES, ARC_PARTS, ARC_WEIGHTS
from varint.mathematics.sums import two_sum
from varint.mathematics.vectors import add, cross, rotate, sub, vector
from varint.step.paths.mass_arcs import (
    differentiate_arcs,
    growth_of_arc,
    motion_on_arc,
    move_arc,
    place_arcs,
    push_arc,
    release_arcs,
    set_on_arc,
    starts_arc,
    stretch_arc,
)
from varint.step.paths.straight_masses import add_pulls, add_straight, is_straight
from varint.step.plan import Plan, Workspace

WHAT = "mass along paths in maximal coordinates"
SIMPSON = (1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0)


@njit
def place_paths(plan, ws, poses):
    """Write points, unit vectors and fractions of all paths at two ``poses``, or one given twice."""
    table = plan.massive_paths
    _place_points(plan, ws, poses[0])
    if poses[1] != poses[0]:
        _place_points(plan, ws, poses[1])
    if table.axis.shape[0]:
        place_arcs(plan, ws, poses)
    _find_fractions(plan, ws, poses[0])
    if poses[1] != poses[0]:
        _find_fractions(plan, ws, poses[1])


@njit
def _place_points(plan, ws, pose):
    """Write the points on bodies of all paths at a pose to ``ws.massive_paths.x``."""
    table, x, world = plan.massive_paths, ws.massive_paths.x[pose], plan.bodies.mass.size
    for n in range(table.slot.size):
        if table.wrap[n] >= 0:
            continue
        i = table.slot[n]
        at = vector(table.arm[n])
        if i != world:
            at = add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], at))
        x[n, 0], x[n, 1], x[n, 2] = at


@njit
def _find_fractions(plan, ws, pose):
    """Write unit vectors and fractions of all paths at a pose to ``ws.massive_paths``: ``t``, ``s``, ``length``."""
    table, work = plan.massive_paths, ws.massive_paths
    x, t, s = work.x[pose], work.t[pose], work.s[pose]
    for p in range(table.mass.size):
        first, last = table.first[p], table.first[p + 1] - 1
        s[first] = 0.0
        for n in range(first, last):
            if starts_arc(table, n):
                s[n + 1] = s[n] + work.arc[pose, n]
                continue
            a, b, c = x[n + 1, 0] - x[n, 0], x[n + 1, 1] - x[n, 1], x[n + 1, 2] - x[n, 2]
            size = math.sqrt(a * a + b * b + c * c)
            t[n, 0], t[n, 1], t[n, 2] = a / size, b / size, c / size
            s[n + 1] = s[n] + size
        work.length[pose, p] = s[last]
        for n in range(first + 1, last + 1):
            s[n] /= work.length[pose, p]


@njit
def _set_point(work, m, weight, alpha, first, k, poses):
    """Set quadrature point m: a ``weight``, kg, at the fraction ``alpha``, on the segments ``k`` at the two poses.

    ``k``, ``poses`` (first, second). Writes ``work.weight``, ``work.segment`` and ``work.part``.
    """
    work.weight[m] = weight
    for side in range(2):
        s, n = work.s[poses[side]], first + k[side]
        work.segment[m, side] = k[side]
        work.part[m, side] = (alpha - s[n]) / (s[n + 1] - s[n])


@njit
def _middle(work, n, poses):
    """Return the mean of the fractions of point n at two poses."""
    return 0.5 * (work.s[poses[0], n] + work.s[poses[1], n])


@njit
def density_of(table, p):
    """Return mass over length, in fractions of it, of the belly of path p, kg."""
    return table.mass[p] / (table.belly[p, 1] - table.belly[p, 0])


@njit
def find_points(plan, ws, p, poses):
    """Set the quadrature points of path p for integrands quadratic along the segments at two ``poses``.

    Products of functions that are affine there. Returns the number of points.
    """
    table, work = plan.massive_paths, ws.massive_paths
    first, segments = table.first[p], table.first[p + 1] - table.first[p] - 1
    start, end, count, k, n = table.belly[p, 0], table.belly[p, 1], 0, 0, 0
    if table.lumped[p] > 0:
        for i in range(table.lumped[p]):
            alpha = start + (end - start) * i / (table.lumped[p] - 1)
            while k < segments - 1 and alpha > work.s[poses[0], first + k + 1]:
                k += 1
            while n < segments - 1 and alpha > work.s[poses[1], first + n + 1]:
                n += 1
            _set_point(work, i, table.mass[p] / table.lumped[p], alpha, first, (k, n), poses)
        return table.lumped[p]
    density = density_of(table, p)
    for k in range(segments):
        low, high = max(_middle(work, first + k, poses), start), min(_middle(work, first + k + 1, poses), end)
        if starts_arc(table, first + k):
            if work.turned[first + k] and high > low:
                for m in range(ARC_NODES):
                    weight, alpha = ARC_WEIGHTS[m] * density * (high - low), low + ARC_PARTS[m] * (high - low)
                    _set_point(work, count, weight, alpha, first, (k, k), poses)
                    set_on_arc(plan, ws, count, first + k, poses)
                    count += 1
        elif high > low:
            for m in range(3):
                alpha = low + 0.5 * m * (high - low)
                _set_point(work, count, SIMPSON[m] * density * (high - low), alpha, first, (k, k), poses)
                count += 1
    return count


@njit
def _apart(plan, ws, first, m, poses):
    """Return the vector, m, from the place of the particle at quadrature point m at one pose to that at the other."""
    work = ws.massive_paths
    if starts_arc(plan.massive_paths, first + work.segment[m, 0]):
        return sub(vector(work.at[2 * m + 1]), vector(work.at[2 * m]))
    a, b = first + work.segment[m, 0], first + work.segment[m, 1]
    x, y, f, g = work.x[poses[0]], work.x[poses[1]], work.part[m, 0], work.part[m, 1]
    d0 = (1.0 - g) * y[b, 0] + g * y[b + 1, 0] - ((1.0 - f) * x[a, 0] + f * x[a + 1, 0])
    d1 = (1.0 - g) * y[b, 1] + g * y[b + 1, 1] - ((1.0 - f) * x[a, 1] + f * x[a + 1, 1])
    d2 = (1.0 - g) * y[b, 2] + g * y[b + 1, 2] - ((1.0 - f) * x[a, 2] + f * x[a + 1, 2])
    return d0, d1, d2


@njit
def find_slips(plan, ws, p, pose):
    """Write the slips u_j of path p to ``slip``, m or m/s, from the motions ``shift`` of its points."""
    table, work = plan.massive_paths, ws.massive_paths
    first, last, t, shift, slip = table.first[p], table.first[p + 1] - 1, work.t[pose], work.shift, work.slip
    slip[first] = 0.0
    for n in range(first, last):
        grown = slip[n]
        if starts_arc(table, n):
            grown += growth_of_arc(work, n, pose)
        else:
            for c in range(3):
                grown += t[n, c] * (shift[n + 1, c] - shift[n, c])
        slip[n + 1] = grown
    for n in range(first, last):
        slip[n] -= work.s[pose, n] * slip[last]
    slip[last] = 0.0


@njit
def _motion(plan, ws, first, m, side, pose):
    """Return the motion of the particle at quadrature point m, from motions of the points of its path.

    After `find_slips`.
    """
    work = ws.massive_paths
    if starts_arc(plan.massive_paths, first + work.segment[m, side]):
        return motion_on_arc(plan, ws, m, first + work.segment[m, side], side, pose)
    n, f = first + work.segment[m, side], work.part[m, side]
    t, slip = work.t[pose, n], (1.0 - f) * work.slip[n] + f * work.slip[n + 1]
    a, b = work.shift[n], work.shift[n + 1]
    return (
        (1.0 - f) * a[0] + f * b[0] - t[0] * slip,
        (1.0 - f) * a[1] + f * b[1] - t[1] * slip,
        (1.0 - f) * a[2] + f * b[2] - t[2] * slip,
    )


@njit
def add_wrenches(plan, ws, p, count, side, pose):
    """Add J^T ``push``, of ``count`` quadrature points, to ``wrench`` (K, 6) of the bodies.

    Linear parts N s, world, angular ones N m s, body axes. J is that of `_motion`, `find_slips` and `move_points`.
    ``side``: 0 if ``pose`` is the start of the step, 1 if the end. ``drag``: impulses along the slips u_j, as of the
    jumps, on entry; zero on return. Scratch: ``ws.massive_paths.pull``.
    """
    table, work = plan.massive_paths, ws.massive_paths
    first, last, t, s = table.first[p], table.first[p + 1] - 1, work.t[pose], work.s[pose]
    pull, drag = work.pull, work.drag
    for n in range(first, last + 1):
        pull[n, 0] = pull[n, 1] = pull[n, 2] = 0.0
    for m in range(count):
        n, f, along = first + work.segment[m, side], work.part[m, side], 0.0
        if starts_arc(table, n):
            along = push_arc(plan, ws, m, n, side, pose)
        else:
            for c in range(3):
                force = work.push[m, c]
                pull[n, c] += (1.0 - f) * force
                pull[n + 1, c] += f * force
                along += t[n, c] * force
        drag[n] -= (1.0 - f) * along
        drag[n + 1] -= f * along
    drag[first] = drag[last] = 0.0  # there is no slip at the ends
    total = shared = 0.0
    for n in range(first, last + 1):
        total += drag[n]
        shared += s[n] * drag[n]
    for n in range(first, last):
        total -= drag[n]
        drag[n] = 0.0
        if starts_arc(table, n):
            stretch_arc(work, n, pose, total - shared)
            continue
        for c in range(3):
            pull[n + 1, c] += (total - shared) * t[n, c]
            pull[n, c] -= (total - shared) * t[n, c]
    if table.axis.shape[0]:
        release_arcs(plan, ws, first, last, pose)
    add_pulls(plan, ws, first, last, pose)


@njit
def clear_wrenches(wrench):
    """Set ``wrench`` (K, 6) to zero."""
    for k in range(wrench.shape[0]):
        for c in range(6):
            wrench[k, c] = 0.0


@njit
def add_weights(plan, ws, p, pose, kick):
    """Add ``kick`` (s) times the weight of path p at a pose to ``wrench``; return its potential energy, J.

    Scratch in ``ws.massive_paths``.
    """
    work, g, potential = ws.massive_paths, plan.bodies.gravity, 0.0
    first, count = plan.massive_paths.first[p], find_points(plan, ws, p, (pose, pose))
    if plan.massive_paths.axis.shape[0]:
        differentiate_arcs(plan, ws, p, count, 0, pose)
    for m in range(count):
        n, f = first + work.segment[m, 0], work.part[m, 0]
        on_arc = starts_arc(plan.massive_paths, n)
        for c in range(3):
            work.push[m, c] = kick * work.weight[m] * g[c]
            if on_arc:
                potential -= work.weight[m] * g[c] * work.at[2 * m, c]
                continue
            potential -= work.weight[m] * g[c] * ((1.0 - f) * work.x[pose, n, c] + f * work.x[pose, n + 1, c])
    add_wrenches(plan, ws, p, count, 0, pose)
    return potential


@njit
def _add_momenta(plan, ws, p, poses, h, side):
    """Add the momenta of path p at one of the two ends of a step, by ``side``, but for gravity, to ``wrench``.

    ``poses`` (start, end): numbers of poses. Scratch in ``ws.massive_paths``.
    """
    table, work = plan.massive_paths, ws.massive_paths
    first, last, count = table.first[p], table.first[p + 1] - 1, find_points(plan, ws, p, poses)
    if table.axis.shape[0]:
        differentiate_arcs(plan, ws, p, count, side, poses[side])
    for m in range(count):
        e = _apart(plan, ws, first, m, poses)
        for c in range(3):
            work.push[m, c] = work.weight[m] * e[c] / h
    if table.lumped[p] == 0:
        sign = 1.0 if side else -1.0
        share = sign * 0.25 * density_of(table, p) / h / work.length[poses[side], p]  # of a jump, by u_j = l ds_j
        spare = work.weight.size - 1  # a place that is no quadrature point
        for n in range(first + 1, last):
            alpha = _middle(work, n, poses)
            if table.belly[p, 0] < alpha < table.belly[p, 1]:
                if table.wrap[n] >= 0 and not work.turned[n if starts_arc(table, n) else n - 1]:
                    continue  # in the middle of a straight line
                for k in range(2):
                    _set_point(work, spare, 0.0, alpha, first, (n - first - 1 + k, n - first - 1 + k), poses)
                    if starts_arc(table, n - 1 + k):
                        set_on_arc(plan, ws, spare, n - 1 + k, poses)
                    e = _apart(plan, ws, first, spare, poses)
                    work.drag[n] += (1.0 - 2.0 * k) * share * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    add_wrenches(plan, ws, p, count, side, poses[side])


@indirect(seconds=3, what=WHAT)
def add_path_momenta(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add the momenta of the paths at the start of a step of ``h`` s, less gravity's half kick, to the residuals.

    In ``ws.residual_body``.
    """
    table, work = plan.massive_paths, ws.massive_paths
    place_paths(plan, ws, (start, end))
    clear_wrenches(work.wrench)
    for p in range(table.mass.size):
        if is_straight(table, p):
            add_straight(plan, ws, p, start, end, h, start, -0.5 * h)
            continue
        _add_momenta(plan, ws, p, (start, end), h, 0)
        add_weights(plan, ws, p, start, -0.5 * h)
    for k in range(table.body.size):
        for c in range(6):
            ws.residual_body[table.body[k], c] += work.wrench[k, c]


@indirect(seconds=3, what=WHAT)
def finish_paths(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add the momenta of the paths at the end of a step of ``h`` s to ``ws.momentum``, and gravity's work to loads.

    In ``ws.momentum_rest`` their rests; the work is in ``ws.balance.load``.
    """
    table, work = plan.massive_paths, ws.massive_paths
    place_paths(plan, ws, (start, end))
    clear_wrenches(work.wrench)
    for p in range(table.mass.size):
        if is_straight(table, p):
            before = add_straight(plan, ws, p, start, end, 0.0, start, 0.0)
            after = add_straight(plan, ws, p, start, end, h, end, 0.5 * h)
            ws.balance.load[component_of_path(plan, p)] += before - after
            continue
        _add_momenta(plan, ws, p, (start, end), h, 1)
        before, after = add_weights(plan, ws, p, start, 0.0), add_weights(plan, ws, p, end, 0.5 * h)
        ws.balance.load[component_of_path(plan, p)] += before - after
    for k in range(table.body.size):
        i = table.body[k]
        for c in range(6):
            ws.momentum[i, c], ws.momentum_rest[i, c] = two_sum(
                ws.momentum[i, c], ws.momentum_rest[i, c] + work.wrench[k, c]
            )


@njit
def component_of_path(plan, p):
    """Number of the component of the mechanism that path p is in."""
    table = plan.massive_paths
    for k in range(table.body.size):
        if table.touches[p, k]:
            return plan.components.of_body[table.body[k]]
    return 0


@njit
def move_points(plan, ws, p, pose, velocity):
    """Write the motions of the points of path p to ``shift``, from ``velocity`` (nb, 6) of their bodies.

    In ``ws.massive_paths``; motions of the bodies of surfaces go to ``ws.massive_paths.carried``.
    """
    table, work, world = plan.massive_paths, ws.massive_paths, plan.bodies.mass.size
    for n in range(table.first[p], table.first[p + 1]):
        i = table.slot[n]
        if table.wrap[n] >= 0:
            turn = rotate(ws.rotation[pose, i], vector(velocity[i, 3:])) if i != world else (0.0, 0.0, 0.0)
            for c in range(3):
                work.carried[n, c], work.carried[n, 3 + c] = velocity[i, c] if i != world else 0.0, turn[c]
            continue
        moved = 0.0, 0.0, 0.0
        if i != world:
            v = velocity[i]
            moved = add(vector(v), rotate(ws.rotation[pose, i], cross(vector(v[3:]), vector(table.arm[n]))))
        work.shift[n, 0], work.shift[n, 1], work.shift[n, 2] = moved
    move_arcs(plan, ws, p, pose)


@njit
def move_arcs(plan, ws, p, pose):
    """Write the motions of the points of its arcs to ``shift``, after the others."""
    table = plan.massive_paths
    if table.axis.shape[0]:
        for n in range(table.first[p] + 1, table.first[p + 1] - 2):
            if starts_arc(table, n):
                move_arc(plan, ws, n, pose)


@njit
def push_by_motion(plan, ws, first, count, side, pose):
    """Write the impulses of particles that move with the points of their path to ``ws.massive_paths.push``.

    Returns twice their kinetic energy, J.
    """
    work, twice = ws.massive_paths, 0.0
    for m in range(count):
        v = _motion(plan, ws, first, m, side, pose)
        for c in range(3):
            work.push[m, c] = work.weight[m] * v[c]
            twice += work.push[m, c] * v[c]
    return twice


@njit
def find_momenta(plan, ws, p, count, upper, lower):
    """Add the momenta of path p, by the motions ``shift`` of its points at the pose ``lower``, to ``wrench``.

    Those of the points stay in ``pull``, N s, world: dT/du, where both poses are one. Momenta act at the pose
    ``upper``. After `find_points` of ``count`` quadrature points. Also leaves ``slip`` and ``push``, all in
    ``ws.massive_paths``.
    """
    find_slips(plan, ws, p, lower)
    push_by_motion(plan, ws, plan.massive_paths.first[p], count, 0 if upper == lower else 1, lower)
    add_wrenches(plan, ws, p, count, 0, upper)


@indirect(seconds=2, what=WHAT)
def start_path_momenta(plan: Plan, ws: Workspace, pose: int) -> None:
    """Add the momenta of the paths at a node with the velocities ``ws.velocity`` to ``ws.momentum``."""
    table, work = plan.massive_paths, ws.massive_paths
    place_paths(plan, ws, (pose, pose))
    clear_wrenches(work.wrench)
    for p in range(table.mass.size):
        count = find_points(plan, ws, p, (pose, pose))
        if table.axis.shape[0]:
            differentiate_arcs(plan, ws, p, count, 0, pose)
        move_points(plan, ws, p, pose, ws.velocity)
        find_momenta(plan, ws, p, count, pose, pose)
    for k in range(table.body.size):
        for c in range(6):
            ws.momentum[table.body[k], c] += work.wrench[k, c]
