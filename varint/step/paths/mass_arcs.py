"""Mass on the arcs of paths around surfaces, in steps of maximal coordinates.

An arc has the two points of a path where its line, from the point before them to that behind, meets and leaves the
surface (mathematics/arcs.py). What masses.py says of segments holds for arcs as well: a particle at the part b of an
arc moves as the point of the arc does that is at b, less the slip along it. That point moves with the body of the
surface, and relative to it by G, the derivatives by both ends of the line, in axes of the surface:

    dx = dv + w x (x - o) + R G (dp, dq),    dp = R^T (dx_p - dv - w x (x_p - o)),    dq likewise

Where the line is straight at one of the two poses of a step, both points are in its middle and there is no arc.
"""

from varint.base.numba import njit
from varint.mathematics.arcs import arc_along, arc_length, arc_of, arc_point, turns_around
from varint.mathematics.vectors import ZERO, add, cross, rotate, rotate_back, scale, sub, vector

SHORTEST = 1e-10  # of the line between its ends: an arc below is none


@njit
def starts_arc(table, n):
    """Return whether point n is the first of an arc."""
    return table.wrap[n] >= 0 and n + 1 < table.wrap.size and table.wrap[n + 1] == table.wrap[n]


@njit
def _line_at(plan, ws, n, pose):
    """Return both ends of the line of the arc from point n in axes of its surface, its axis, and the surface."""
    table, i = plan.massive_paths, plan.massive_paths.slot[n]
    w, R, x = table.wrap[n], ws.rotation[pose, i], ws.massive_paths.x[pose]
    o, size = add(vector(ws.position[pose, i]), rotate(R, vector(table.arm[n]))), table.size[w]
    p, q = rotate_back(R, sub(vector(x[n - 1]), o)), rotate_back(R, sub(vector(x[n + 2]), o))
    return p, q, vector(table.axis[w]), (size[0], size[1], size[2], vector(table.side[w]))


@njit
def _put(plan, ws, n, pose, seen):
    """Return the place in the world of a place ``seen`` (3,) from the centre of a surface, in its axes."""
    i = plan.massive_paths.slot[n]
    arm = add(vector(plan.massive_paths.arm[n]), seen)
    return add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], arm))


@njit
def place_arcs(plan, ws, poses):
    """Write both points of each arc of all paths at two poses, after the other points, and the lengths.

    To ``ws.massive_paths``: ``x``, ``arc`` and ``turned``, and of arcs that are there their derivatives.
    """
    table, work = plan.massive_paths, ws.massive_paths
    for n in range(table.wrap.size):
        if not starts_arc(table, n):
            continue
        turned = True
        for pose in poses:
            p, q, axis, surface = _line_at(plan, ws, n, pose)
            work.arc[pose, n] = 0.0
            if turned and turns_around(p, q, axis, surface):
                work.arc[pose, n] = arc_length(arc_of((p, ZERO, ZERO), (q, ZERO, ZERO), axis, surface))[0]
            d = sub(q, p)
            turned = work.arc[pose, n] > SHORTEST * (abs(d[0]) + abs(d[1]) + abs(d[2]))
        work.turned[n] = 1 if turned else 0
        for pose in poses:
            if turned:
                _place_arc(plan, ws, n, pose)
                continue
            work.arc[pose, n] = 0.0
            x = work.x[pose]
            for c in range(3):
                x[n, c] = x[n + 1, c] = 0.5 * (x[n - 1, c] + x[n + 2, c])


@njit
def _place_arc(plan, ws, n, pose):
    """Write both points of an arc, and the derivatives of these and of its length by the ends of its line.

    To ``ws.massive_paths``: ``x``, ``by_line`` and ``growth``.
    """
    work = ws.massive_paths
    p, q, axis, surface = _line_at(plan, ws, n, pose)
    for k in range(6):
        arc = arc_along(p, q, axis, surface, k)
        work.growth[pose, n, k] = arc_length(arc)[1]
        for side in range(2):
            seen = arc_point(arc, float(side))[0]
            for c in range(3):
                work.by_line[2 * (n + side) + pose, c, k] = seen[1][c]
            if k == 0:
                x = work.x[pose, n + side]
                x[0], x[1], x[2] = _put(plan, ws, n, pose, seen[0])


@njit
def set_on_arc(plan, ws, m, n, poses):
    """Write the places at both poses of quadrature point m on the arc from point n, of which its parts are set.

    To ``ws.massive_paths.at``; ``poses`` (first, second): numbers, 0 or 1.
    """
    work = ws.massive_paths
    for side in range(2):
        p, q, axis, surface = _line_at(plan, ws, n, poses[side])
        arc = arc_of((p, ZERO, ZERO), (q, ZERO, ZERO), axis, surface)
        at = work.at[2 * m + side]
        at[0], at[1], at[2] = _put(plan, ws, n, poses[side], arc_point(arc, work.part[m, side])[0][0])


@njit
def differentiate_arcs(plan, ws, p, count, side, pose):
    """Write the directions of the arcs of path p, and G, at the ``count`` quadrature points that are on them.

    To ``ws.massive_paths``: ``along`` and ``by_ends``.
    """
    table, work, first = plan.massive_paths, ws.massive_paths, plan.massive_paths.first[p]
    for n in range(first + 1, table.first[p + 1] - 2):
        if not starts_arc(table, n) or not work.turned[n]:
            continue
        a, b, axis, surface = _line_at(plan, ws, n, pose)
        R = ws.rotation[pose, table.slot[n]]
        for k in range(6):
            arc = arc_along(a, b, axis, surface, k)
            for m in range(count):
                if first + work.segment[m, side] != n:
                    continue
                x, t, _ = arc_point(arc, work.part[m, side])
                for c in range(3):
                    work.by_ends[2 * m + side, c, k] = x[1][c]
                if k == 0:
                    along = work.along[2 * m + side]
                    along[0], along[1], along[2] = rotate(R, t[0])


@njit
def _swept(plan, ws, n, pose, x):
    """Return the motion of a place (3,), world, that the body of the surface of the arc from point n carries."""
    moved, o = ws.massive_paths.carried[n], vector(ws.position[pose, plan.massive_paths.slot[n]])
    return add(vector(moved), cross(vector(moved[3:]), sub(x, o)))


@njit
def _by(G, u):
    """Return G u for a matrix ``G`` (3, 6) and ``u`` (6,)."""
    out = ZERO
    for k in range(6):
        out = add(out, scale(u[k], (G[0, k], G[1, k], G[2, k])))
    return out


@njit
def move_arc(plan, ws, n, pose):
    """Write the motions of both points of the arc from point n to ``shift``, from its line's ends and ``carried``.

    In ``ws.massive_paths``; the motion of the ends as the surface sees it goes to ``ws.massive_paths.relative``.
    """
    table, work = plan.massive_paths, ws.massive_paths
    x, shift, R = work.x[pose], work.shift, ws.rotation[pose, table.slot[n]]
    if not work.turned[n]:
        for c in range(3):
            shift[n, c] = shift[n + 1, c] = 0.5 * (shift[n - 1, c] + shift[n + 2, c])
        return
    for side in range(2):
        end = n - 1 + 3 * side
        apart = rotate_back(R, sub(vector(shift[end]), _swept(plan, ws, n, pose, vector(x[end]))))
        for c in range(3):
            work.relative[n, 3 * side + c] = apart[c]
    for end in range(n, n + 2):
        bent = rotate(R, _by(work.by_line[2 * end + pose], work.relative[n]))
        shift[end, 0], shift[end, 1], shift[end, 2] = add(_swept(plan, ws, n, pose, vector(x[end])), bent)


@njit
def growth_of_arc(work, n, pose):
    """Change of the length of the arc from point n, after `move_arc`."""
    total = 0.0
    if work.turned[n]:
        for k in range(6):
            total += work.growth[pose, n, k] * work.relative[n, k]
    return total


@njit
def motion_on_arc(plan, ws, m, n, side, pose):
    """Return the motion of the particle at quadrature point m on the arc from point n, after `find_slips`."""
    work, R, f = ws.massive_paths, ws.rotation[pose, plan.massive_paths.slot[n]], ws.massive_paths.part[m, side]
    bent = rotate(R, _by(work.by_ends[2 * m + side], work.relative[n]))
    slip = (1.0 - f) * work.slip[n] + f * work.slip[n + 1]
    moved = add(_swept(plan, ws, n, pose, vector(work.at[2 * m + side])), bent)
    return sub(moved, scale(slip, vector(work.along[2 * m + side])))


@njit
def _press(plan, ws, n, pose, x, force):
    """Add an impulse ``force`` at the place ``x`` to the wrench of the surface's body of the arc from point n.

    In ``ws.massive_paths.wrench``; ``force`` (3,), N s, world.
    """
    table = plan.massive_paths
    k, i = table.carrier[n], table.slot[n]
    if k < 0:
        return
    out, lever = ws.massive_paths.wrench[k], sub(x, vector(ws.position[pose, i]))
    torque = rotate_back(ws.rotation[pose, i], cross(lever, force))
    for c in range(3):
        out[c] += force[c]
        out[3 + c] += torque[c]


@njit
def _press_along(plan, ws, n, pose, x, force, G):
    """Add an impulse at a place ``x`` that moves with the surface and by ``G`` to the wrench and ``by_relative``.

    ``G`` (3, 6), see the top of the file.
    """
    pull = rotate_back(ws.rotation[pose, plan.massive_paths.slot[n]], force)
    _press(plan, ws, n, pose, x, force)
    for k in range(6):
        ws.massive_paths.by_relative[n, k] += G[0, k] * pull[0] + G[1, k] * pull[1] + G[2, k] * pull[2]


@njit
def push_arc(plan, ws, m, n, side, pose):
    """Add the impulse of quadrature point m on the arc from point n; returns that along the arc."""
    work = ws.massive_paths
    force, t = vector(work.push[m]), work.along[2 * m + side]
    _press_along(plan, ws, n, pose, vector(work.at[2 * m + side]), force, work.by_ends[2 * m + side])
    return t[0] * force[0] + t[1] * force[1] + t[2] * force[2]


@njit
def stretch_arc(work, n, pose, share):
    """Add an impulse ``share`` along the length of the arc from point n to ``work.by_relative``."""
    if work.turned[n]:
        for k in range(6):
            work.by_relative[n, k] += share * work.growth[pose, n, k]


@njit
def release_arcs(plan, ws, first, last, pose):
    """Add the impulses ``pull`` at the points of arcs, and ``by_relative``, to the ends of their lines."""
    table, work = plan.massive_paths, ws.massive_paths
    x, pull = work.x[pose], work.pull
    for n in range(first + 1, last - 1):
        if not starts_arc(table, n):
            continue
        if not work.turned[n]:
            for c in range(3):
                half = 0.5 * (pull[n, c] + pull[n + 1, c])
                pull[n - 1, c] += half
                pull[n + 2, c] += half
            continue
        for end in range(n, n + 2):
            _press_along(plan, ws, n, pose, vector(x[end]), vector(pull[end]), work.by_line[2 * end + pose])
        R = ws.rotation[pose, table.slot[n]]
        for side in range(2):
            end = n - 1 + 3 * side
            force = rotate(R, vector(work.by_relative[n, 3 * side :]))
            _press(plan, ws, n, pose, vector(x[end]), scale(-1.0, force))
            for c in range(3):
                pull[end, c] += force[c]
                work.by_relative[n, 3 * side + c] = 0.0
