"""Elimination of a body together with its ball joint: the method of `lower_pairs` in closed form.

D, E, N and P are those of `lower_pairs`; y, b, z, V and M are smaller here, and defined below.

The joint has three POINT rows, along directions at right angles, which hold one point of the body, and no other rows;
no loop leads through it. Motions (translation, rotation) and impulses (force, torque) are taken at this point. The
joint then allows the rotations, N = P = (0, I), and the pivot D of the body becomes

    D' = S_u^T D S = [ L  A ]     S, S_u: take the motion at the point to that at the centre of the body,
                     [ B  E ]             at the poses ``lower`` and ``upper``

The joint transmits a force and no torque, and of the motion of the parent only the translation y of the point, (3,),
enters. With the right-hand side (f, t) of the body at the point, and the rotation ``turn`` of the body itself, not
relative to the parent:

    V = E^-1 B    M = L - A V    z = E^-1 t    turn = z - V (y + b)
    force of the joint on the body = M (y + b) + A z - f

b: the translation of the point that the right-hand sides of the rows require. M and A are kept in ``ws.ldu.D``, factors
of E in ``ws.ldu.S``, V in ``ws.ldu.Y``, the directions of the rows in ``ws.ldu.frame``. ``ws.ldu.arm`` has two vectors:
from the centre of the parent to the point, and from the point to the centre of the body.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.dense import lu_factor


@njit(inline="always")
def is_ball(plan, i):
    """Return whether body i and its tree joint are eliminated here."""
    joints, loops = plan.joints, plan.loops
    return (
        joints.pair[i] == 3
        and joints.points[i] == 3
        and joints.rows[i + 1] - joints.rows[i] == 3
        and loops.fill_pass[i] == loops.fill_first[i + 1]  # no loop leads through the joint
    )


@njit(inline="always")
def write_ball(plan, ws, i, pose, at):
    """Write the directions of the rows (3, 3) and the arms (6,) of body i at a pose to ``ws.ldu.frame``, ``arm``.

    ``pose``: its number; ``at``, 0 or 1: place of body i in both arrays. Arms are in m, world, as the directions.
    """
    first, parent = natural(plan.joints.rows[i]), natural(plan.joints.parent[i])
    position, rotation, basis, arm = ws.position[pose], ws.rotation[pose], ws.ldu.frame[at, i], ws.ldu.arm[at, i]
    d, w = sub(vector(position[i]), vector(position[parent])), vector(plan.measures.w[first])
    if plan.joints.first_body[i] == 1:  # the body is b of the joint, in which ``w`` is fixed
        lever = rotate(rotation[i], w)
        write(arm, add(d, lever), scale(-1.0, lever))
    else:
        lever = rotate(rotation[parent], w)
        write(arm, lever, sub(d, lever))
    for k in range(3):
        n = vector(ws.jacobian[pose, first + k, 0])
        basis[k, 0], basis[k, 1], basis[k, 2] = n


@njit(inline="always")
def factor_ball(plan, ws, i, low):
    """Eliminate body i and its joint from the matrix in ``ws.ldu``; ``low`` as in `lower_pairs.factor_pair`.

    Reads and changes its block ``D[i]`` (6, 6), reads the arms (6,); writes factors to ``S[i]`` and ``Y[i]``.
    """
    D, E, V = ws.ldu.D[i], ws.ldu.S[i], ws.ldu.Y[i]
    upper, lower = ws.ldu.arm[0, i], ws.ldu.arm[low, i]
    e = turn_of(lower)
    for a in range(3):
        D[a, 3], D[a, 4], D[a, 5] = add(turn_of(D[a]), cross(e, vector(D[a])))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        f, g = upper[3 + b], -upper[3 + c]
        B = add(vector(D[3 + a]), add(scale(f, vector(D[c])), scale(g, vector(D[b]))))
        turned = add(turn_of(D[3 + a]), cross(e, vector(D[3 + a])))
        E[a, 0], E[a, 1], E[a, 2] = add(turned, add(scale(f, turn_of(D[c])), scale(g, turn_of(D[b]))))
        V[a, 0], V[a, 1], V[a, 2] = B
    lu_factor(E, 3)
    v, w = vector(V[0]), vector(V[1])
    w = sub(w, scale(E[1, 0], v))
    z = scale(E[2, 2], sub(sub(vector(V[2]), scale(E[2, 0], v)), scale(E[2, 1], w)))
    w = scale(E[1, 1], sub(w, scale(E[1, 2], z)))
    v = scale(E[0, 0], sub(sub(v, scale(E[0, 1], w)), scale(E[0, 2], z)))
    V[0, 0], V[0, 1], V[0, 2] = v
    V[1, 0], V[1, 1], V[1, 2] = w
    V[2, 0], V[2, 1], V[2, 2] = z
    for a in range(3):
        moved = add(add(scale(D[a, 3], v), scale(D[a, 4], w)), scale(D[a, 5], z))
        D[a, 0], D[a, 1], D[a, 2] = sub(vector(D[a]), moved)
    parent = natural(plan.joints.parent[i])
    if parent != plan.bodies.mass.size:
        _add_carried(vector(D[0]), vector(D[1]), vector(D[2]), upper, vector(lower), ws.ldu.D[parent])


@njit(inline="always")
def _add_carried(x, y, z, upper, lower, pivot):
    """Add T_u^T M T to the ``pivot`` (6, 6) of the parent; x, y, z: the rows of M.

    ``upper``, ``lower``: the arms from the centre of the parent to the point, by which T_u and T, in this order, take
    the motion of the parent to the translation of the point.
    """
    d0, d1, d2 = upper[0], upper[1], upper[2]
    _add_row(x, lower, pivot[0])
    _add_row(y, lower, pivot[1])
    _add_row(z, lower, pivot[2])
    _add_row(sub(scale(d1, z), scale(d2, y)), lower, pivot[3])
    _add_row(sub(scale(d2, x), scale(d0, z)), lower, pivot[4])
    _add_row(sub(scale(d0, y), scale(d1, x)), lower, pivot[5])


@njit(inline="always")
def _add_row(entry, arm, row):
    """Add a row (3,) that acts on the translation of a point to ``row`` (6,), which acts on the motion of a centre.

    ``arm``: from the centre to the point.
    """
    write(row, add(vector(row), entry), add(turn_of(row), cross(arm, entry)))


@njit(inline="always")
def _required(plan, ws, i, row, low):
    """Return the translation b of the point that the right-hand sides of the joint, in ``row`` (nr,), require."""
    basis, first = ws.ldu.frame[low, i], natural(plan.joints.rows[i])
    x, y = scale(row[first], vector(basis[0])), scale(row[first + 1], vector(basis[1]))
    return add(add(x, y), scale(row[first + 2], vector(basis[2])))


@njit(inline="always")
def _times(M, at, a):
    """Return the product of the block of rows 0 to 2 of ``M`` (6, 6), from column ``at`` on, with the vector ``a``."""
    return (
        M[0, at] * a[0] + M[0, at + 1] * a[1] + M[0, at + 2] * a[2],
        M[1, at] * a[0] + M[1, at + 1] * a[1] + M[1, at + 2] * a[2],
        M[2, at] * a[0] + M[2, at + 1] * a[1] + M[2, at + 2] * a[2],
    )


@njit(inline="always")
def forward_ball(plan, ws, i, low, body, row):
    """Eliminate body i and its joint from the right-hand sides; leave (f - A z, z) in that of the body.

    ``body`` (nb, 6) is changed, also at the parent; ``row`` (nr,) stays.
    """
    x, M, E, parent = body[i], ws.ldu.D[i], ws.ldu.S[i], natural(plan.joints.parent[i])
    force, upper = vector(x), ws.ldu.arm[0, i]
    t = add(turn_of(x), cross(turn_of(upper), force))
    t1 = t[1] - E[1, 0] * t[0]
    z2 = E[2, 2] * (t[2] - E[2, 0] * t[0] - E[2, 1] * t1)
    z1 = E[1, 1] * (t1 - E[1, 2] * z2)
    z = E[0, 0] * (t[0] - E[0, 1] * z1 - E[0, 2] * z2), z1, z2
    force = sub(force, _times(M, 3, z))
    write(x, force, z)
    if parent != plan.bodies.mass.size:
        passed = sub(force, _times(M, 0, _required(plan, ws, i, row, low)))
        y = body[parent]
        write(y, add(vector(y), passed), add(turn_of(y), cross(vector(upper), passed)))


@njit(inline="always")
def back_ball(plan, ws, i, low, body, row):
    """Replace right-hand sides by the solution, after `forward_ball`; ``body[parent]`` holds the solution already.

    In ``body`` (nb, 6), ``row`` (nr,).
    """
    x, V, basis, arm = body[i], ws.ldu.Y[i], ws.ldu.frame[0, i], ws.ldu.arm[low, i]
    first, parent = natural(plan.joints.rows[i]), natural(plan.joints.parent[i])
    shift = _required(plan, ws, i, row, low)
    if parent != plan.bodies.mass.size:
        p = body[parent]
        shift = add(shift, add(vector(p), cross(turn_of(p), vector(arm))))
    force = sub(_times(ws.ldu.D[i], 0, shift), vector(x))
    turn = sub(turn_of(x), _times(V, 0, shift))
    write(x, add(shift, cross(turn, turn_of(arm))), turn)
    for k in range(3):
        row[first + k] = dot(vector(basis[k]), force)
