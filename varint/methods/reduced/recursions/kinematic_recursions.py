"""Poses, twists and accelerations of the nodes, from the root to the leaves. World axes throughout.

    w = w_p + S_w dq,     v = v_p + w_p x (x - x_p) + S_v dq
    w' = w'_p + S_w ddq + c_w,     v' = v'_p + w'_p x (x - x_p) + S_v ddq + c_v

with p for the parent and c the bias acceleration. S holds one twist a coordinate, angular part first, at the node's
reference point. It rotates with its node, dS/dt = w x S, and where it depends on the node's own coordinates (a ball, a
curve, a surface) F (dS/dr dr/dt) is added, in axes of the node.
"""

import math

from varint.base.numba import Float1, Float2, njit
from varint.mathematics.products.stages import ZERO3, ZERO6, stage_pose, stage_twists, three
from varint.mathematics.rotation_vector import right_jacobian_along, right_jacobian_times, right_jacobian_twice
from varint.mathematics.vectors import add, cross, rotate, scale
from varint.methods.reduced.recursions.tree_records import BALL, CURVE, PRISMATIC, REVOLUTE, SURFACE, ReducedWorkspace


@njit
def is_product(motion: int) -> bool:
    """Return whether a node moves by a product of exponentials (mathematics/products/stages.py)."""
    return motion == CURVE or motion == SURFACE


@njit
def has_variable_subspace(motion: int) -> bool:
    """Return whether S, in axes of the node, depends on the node's own coordinates."""
    return motion == BALL or is_product(motion)


@njit
def unit(n: int) -> tuple:
    """Return unit vector number ``n`` of three."""
    return (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0)


# ----------------------------------------------------------------------------------------- poses


@njit(seconds=3, what="reduced coordinates")
def place(work: ReducedWorkspace) -> None:
    """Write poses of nodes and bodies, and motion subspaces, at the coordinates ``work.q``."""
    _place_nodes(work)
    _find_subspaces(work)
    _place_bodies(work)


@njit
def _place_nodes(work: ReducedWorkspace) -> None:
    """Write the poses of the nodes, ``work.axes`` and ``work.point``, from the root on.

    Axes F_p P exp(motion), points x_p + F_p d + (shift of the motion) + F arm; p: parent.
    """
    nodes = work.nodes
    q, F, x = work.q, work.axes, work.point
    for i in range(nodes.parent.size):
        p, motion, k = nodes.parent[i], nodes.motion[i], nodes.column[i]
        A, P, B, d, arm = F[p], nodes.rest_axes[i], F[i], nodes.offset[i], nodes.arm[i]
        for j in range(3):
            for m in range(3):
                B[j, m] = A[j, 0] * P[0, m] + A[j, 1] * P[1, m] + A[j, 2] * P[2, m]
        slide, shift = 0.0, ZERO3
        if motion == REVOLUTE:
            angle = nodes.sign[i] * q[k]
            s, c = math.sin(angle), math.cos(angle)
            for j in range(3):
                B[j, 0], B[j, 1] = c * B[j, 0] + s * B[j, 1], c * B[j, 1] - s * B[j, 0]
        elif motion == PRISMATIC:
            slide = nodes.sign[i] * q[k]
        elif motion == BALL:
            _rotate_by_vector(B, nodes.sign[i], q, k)
        elif is_product(motion):
            shift = _apply_product(B, nodes.products, nodes.stage[i], three(q, k, nodes.dof[i]))
        for j in range(3):
            beyond = B[j, 0] * arm[0] + B[j, 1] * arm[1] + B[j, 2] * arm[2] + slide * B[j, 2]
            x[i, j] = x[p, j] + A[j, 0] * d[0] + A[j, 1] * d[1] + A[j, 2] * d[2] + beyond + shift[j]


@njit
def _rotate_by_vector(B: Float2, sign: float, q: Float1, k: int) -> None:
    """Multiply ``B`` (3, 3) by exp[r] in place, with the rotation vector r = ``sign`` q[k : k + 3]; ``q`` (nq,)."""
    r = (sign * q[k], sign * q[k + 1], sign * q[k + 2])
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    half = 0.5 * math.sqrt(square)
    c = math.cos(half)
    s = 0.5 * (math.sin(half) / half if half > 1e-8 else 1.0)
    y = (s * r[0], s * r[1], s * r[2])
    for j in range(3):
        row = (B[j, 0], B[j, 1], B[j, 2])
        t = cross(row, y)  # row exp[r] = row + 2 c row x y + 2 (row x y) x y
        u = cross(t, y)
        for m in range(3):
            B[j, m] = row[m] + 2.0 * (c * t[m] + u[m])


@njit
def _apply_product(B: Float2, products: Float2, stage: int, q: tuple) -> tuple:
    """Multiply ``B`` (3, 3) by the rotation of a product of exponentials in place; return B times its shift, m.

    ``products`` (stages and pieces, WIDTH), ``stage``: see `stage_pose`.
    """
    rows = ((B[0, 0], B[0, 1], B[0, 2]), (B[1, 0], B[1, 1], B[1, 2]), (B[2, 0], B[2, 1], B[2, 2]))
    rows, shift = stage_pose(products, stage, q, rows, ZERO3)
    for j in range(3):
        B[j, 0], B[j, 1], B[j, 2] = rows[j]
    return shift


@njit
def _find_subspaces(work: ReducedWorkspace) -> None:
    """Write the motion subspaces ``work.subspace`` at the poses of the nodes."""
    nodes = work.nodes
    S = work.subspace
    for i in range(nodes.motion.size):
        motion, k, sign, B = nodes.motion[i], nodes.column[i], nodes.sign[i], work.axes[i]
        if motion == REVOLUTE:
            _write_rotation(S[k], (sign * B[0, 2], sign * B[1, 2], sign * B[2, 2]), rotate(B, nodes.arm[i]))
        elif motion == PRISMATIC:
            for m in range(3):
                S[k, m], S[k, 3 + m] = 0.0, sign * B[m, 2]
        elif motion == BALL:
            r, lever = scale(sign, three(work.q, k, 3)), rotate(B, nodes.arm[i])
            for n in range(3):
                _write_rotation(S[k + n], rotate(B, scale(sign, right_jacobian_times(r, unit(n)))), lever)
        elif is_product(motion):
            for n in range(nodes.dof[i]):
                twist = subspace_derivatives(work, i, unit(n), ZERO3, ZERO3)[0]
                for m in range(3):
                    S[k + n, m], S[k + n, 3 + m] = twist[0][m], twist[1][m]


@njit
def _write_rotation(out: Float1, w: tuple, lever: tuple) -> None:
    """Write the twist (w, w x lever) of a rotation to ``out`` (6,); ``lever``: from the axis to the reference point."""
    out[0], out[1], out[2] = w
    out[3], out[4], out[5] = cross(w, lever)


@njit
def subspace_derivatives(work: ReducedWorkspace, i: int, z: tuple, u: tuple, v: tuple) -> tuple:
    """Return S z, (dS u) z, (dS v) z and (d2S u v) z of node ``i``, a ball or a product, by its own coordinates.

    z, u, v: 3 numbers each. Results are ((angular), (linear)) in world axes; derivatives are taken in axes of the node.
    """
    nodes = work.nodes
    motion, F, arm = nodes.motion[i], work.axes[i], nodes.arm[i]
    r = three(work.q, nodes.column[i], nodes.dof[i])
    if motion == BALL:
        sign = nodes.sign[i]
        r, z, u, v = scale(sign, r), scale(sign, z), scale(sign, u), scale(sign, v)
        along = (
            (right_jacobian_times(r, z), ZERO3),
            (right_jacobian_along(r, u, z), ZERO3),
            (right_jacobian_along(r, v, z), ZERO3),
            (right_jacobian_twice(r, u, v, z), ZERO3),
        )
    else:
        along = stage_twists(nodes.products, nodes.stage[i], r, z, u, v, ZERO6, ZERO6, ZERO6, ZERO6)
    return (
        _to_reference_point(F, arm, along[0]),
        _to_reference_point(F, arm, along[1]),
        _to_reference_point(F, arm, along[2]),
        _to_reference_point(F, arm, along[3]),
    )


@njit
def _to_reference_point(F: Float2, arm: Float1, twist: tuple) -> tuple:
    """Return a ``twist`` at the origin of a motion, axes of the node, as twist at the reference point, world axes.

    ``F`` (3, 3): axes of the node; ``arm`` (3,), m, from the origin to the reference point, axes of the node.
    """
    return rotate(F, twist[0]), rotate(F, add(twist[1], cross(twist[0], arm)))


@njit
def _place_bodies(work: ReducedWorkspace) -> None:
    """Write the poses of the bodies, ``work.position`` and ``work.rotation``, from the nodes'."""
    nodes = work.nodes
    for b in range(nodes.body_node.size):
        A, C, R, x = work.axes[nodes.body_node[b]], nodes.body_axes[b], work.rotation[b], work.point[nodes.body_node[b]]
        for j in range(3):
            work.position[b, j] = x[j]
            for k in range(3):
                R[j, k] = A[j, 0] * C[0, k] + A[j, 1] * C[1, k] + A[j, 2] * C[2, k]


# ----------------------------------------------------------------------------------------- velocities, accelerations


@njit(seconds=1, what="reduced coordinates")
def place_and_move(work: ReducedWorkspace) -> None:
    """Do `place` and `move`."""
    place(work)
    move(work)


@njit(seconds=1, what="reduced coordinates")
def move(work: ReducedWorkspace) -> None:
    """Write twists and bias accelerations of the nodes, and velocities of the bodies, at ``work.rates``.

    After `place`.
    """
    jacobian_product(work, work.rates, work.twist)
    _find_subspace_rates(work)
    _find_biases(work)
    motion_to_bodies(work, work.twist, work.velocity)


@njit
def jacobian_product(work: ReducedWorkspace, rates: Float1, out: Float2) -> None:
    """Write J ``rates`` to ``out`` (nl + 1, 6): twists of the nodes by ``rates`` (nq,), in O(n).

    The world's, the last row, must be zero.
    """
    nodes = work.nodes
    x, S = work.point, work.subspace
    for i in range(nodes.parent.size):
        p, k = nodes.parent[i], nodes.column[i]
        c = cross(out[p], (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]))
        for m in range(3):
            out[i, m], out[i, 3 + m] = out[p, m], out[p, 3 + m] + c[m]
        for n in range(k, k + nodes.dof[i]):
            for m in range(6):
                out[i, m] += S[n, m] * rates[n]


@njit
def _find_subspace_rates(work: ReducedWorkspace) -> None:
    """Write dS/dt = w x S + F (dS/dr dr/dt) to ``work.subspace_rate``."""
    nodes = work.nodes
    S, Sdot = work.subspace, work.subspace_rate
    for i in range(nodes.motion.size):
        k, w, dof = nodes.column[i], work.twist[i], nodes.dof[i]
        for n in range(k, k + dof):
            Sdot[n, 0], Sdot[n, 1], Sdot[n, 2] = cross(w, S[n])
            Sdot[n, 3], Sdot[n, 4], Sdot[n, 5] = cross(w, S[n, 3:])
        if has_variable_subspace(nodes.motion[i]):
            rates = three(work.rates, k, dof)
            for n in range(dof):
                relative = subspace_derivatives(work, i, unit(n), rates, ZERO3)[1]
                for m in range(3):
                    Sdot[k + n, m] += relative[0][m]
                    Sdot[k + n, 3 + m] += relative[1][m]


@njit
def _find_biases(work: ReducedWorkspace) -> None:
    """Write c = (0, w_p x (v - v_p)) + dS/dt dq to ``work.bias``."""
    nodes = work.nodes
    Sdot, twist, rates = work.subspace_rate, work.twist, work.rates
    for i in range(nodes.parent.size):
        w, wp, c = twist[i], twist[nodes.parent[i]], work.bias[i]
        c[0] = c[1] = c[2] = 0.0
        c[3], c[4], c[5] = cross(wp, (w[3] - wp[3], w[4] - wp[4], w[5] - wp[5]))
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            for m in range(6):
                c[m] += Sdot[n, m] * rates[n]


@njit
def accelerations(work: ReducedWorkspace, joint_acceleration: Float2, out: Float2) -> None:
    """Write J ddq + dJ/dt dq to ``out`` (nl + 1, 6), after `move`; its last row, the world's, is read.

    ``joint_acceleration`` (nl, 6): S ddq of each node.
    """
    nodes = work.nodes
    x, bias = work.point, work.bias
    for i in range(nodes.parent.size):
        p = nodes.parent[i]
        a, ap = out[i], out[p]
        shift = cross(ap, (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]))
        for m in range(3):
            a[m] = ap[m] + (bias[i, m] + joint_acceleration[i, m])
            a[3 + m] = ap[3 + m] + shift[m] + (bias[i, 3 + m] + joint_acceleration[i, 3 + m])


@njit
def motion_to_bodies(work: ReducedWorkspace, motion: Float2, out: Float2) -> None:
    """Write twists or accelerations ``motion`` (nl + 1, 6) of the nodes as motions of the bodies to ``out`` (nb, 6).

    ``out``: linear in world axes, angular in body axes, as the maximal kernels have them.
    """
    nodes = work.nodes
    for b in range(nodes.body_node.size):
        t, R = motion[nodes.body_node[b]], work.rotation[b]
        for k in range(3):
            out[b, k] = t[3 + k]
            out[b, 3 + k] = R[0, k] * t[0] + R[1, k] * t[1] + R[2, k] * t[2]
