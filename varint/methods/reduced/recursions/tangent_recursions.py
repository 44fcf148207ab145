"""Directional derivatives of the inverse dynamics tau(q, dq, ddq) = J^T (M (J ddq + Jdot dq) - f): exact, O(n) each.

Along the changes u, du, ddu of q, dq and ddq, the nodes rotate and shift by (a, b) = J u. S changes with its node,
dS = a x S, and where it depends on the node's own coordinates by F (dS/dr u) more. `change_motions` finds the changes
of poses, twists and accelerations from the root to the leaves, and of the wrenches that these take; `change_efforts`
adds the latter up from the leaves to the root.
"""

from varint.base.numba import Float1, Float2, njit
from varint.mathematics.products.stages import ZERO3, three
from varint.mathematics.vectors import add, cross, rotate, rotate_back, sub
from varint.methods.reduced.recursions.kinematic_recursions import (
    accelerations,
    has_variable_subspace,
    jacobian_product,
    subspace_derivatives,
    unit,
)
from varint.methods.reduced.recursions.tree_records import TangentWorkspace, TreeNodes


@njit
def accelerate(tangent: TangentWorkspace) -> None:
    """Write motions of the joints and accelerations of the nodes at ``tangent.second``, after `kinematics.move`."""
    work, nodes = tangent.work, tangent.work.nodes
    _joint_motions(nodes, work.subspace, work.rates, tangent.joint_velocity)
    _joint_motions(nodes, work.subspace, tangent.second, tangent.joint_acceleration)
    accelerations(work, tangent.joint_acceleration, tangent.acceleration)


@njit
def _joint_motions(nodes: TreeNodes, S: Float2, rates: Float1, out: Float2) -> None:
    """Write S ``rates`` of each node to ``out`` (nl, 6); ``S`` (nq, 6), ``rates`` (nq,)."""
    for i in range(nodes.parent.size):
        out[i] = 0.0
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            for m in range(6):
                out[i, m] += S[n, m] * rates[n]


@njit(seconds=3, what="implicit steps in reduced coordinates")
def change_motions(tangent: TangentWorkspace, u: Float1, du: Float1, ddu: Float1) -> None:
    """Write changes of poses, twists, accelerations and required wrenches of the nodes.

    Along the changes ``u``, ``du``, ``ddu`` (nq,) of q, dq, ddq, to ``tangent.pose_change``, ``tangent.twist_change``,
    ``tangent.acceleration_change`` and ``tangent.wrench_change``.
    """
    jacobian_product(tangent.work, u, tangent.pose_change)
    for i in range(tangent.work.nodes.parent.size):
        velocity, acceleration = _change_joint_motion(tangent, i, du, ddu)
        if has_variable_subspace(tangent.work.nodes.motion[i]):
            more = _change_subspace(tangent, i, u, du)
            velocity, acceleration = _add(velocity, more[0]), _add(acceleration, more[1])
        _change_twist(tangent, i, velocity)
        _change_acceleration(tangent, i, velocity, acceleration)
    _change_wrenches(tangent)


@njit
def _add(a: tuple, b: tuple) -> tuple:
    return add(a[0], b[0]), add(a[1], b[1])


@njit(inline="always")
def _change_joint_motion(tangent: TangentWorkspace, i: int, du: Float1, ddu: Float1) -> tuple:
    """Return changes of S dq and S ddq of node i where S rotates with it: a x (S dq) + S du, a x (S ddq) + S ddu.

    ``du``, ``ddu`` (nq,): changes of dq and ddq.
    """
    nodes, S, a = tangent.work.nodes, tangent.work.subspace, tangent.pose_change[i]
    motion, second = tangent.joint_velocity[i], tangent.joint_acceleration[i]
    w, v, dw, dv = cross(a, motion), cross(a, motion[3:]), cross(a, second), cross(a, second[3:])
    for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
        w = (w[0] + S[n, 0] * du[n], w[1] + S[n, 1] * du[n], w[2] + S[n, 2] * du[n])
        v = (v[0] + S[n, 3] * du[n], v[1] + S[n, 4] * du[n], v[2] + S[n, 5] * du[n])
        dw = (dw[0] + S[n, 0] * ddu[n], dw[1] + S[n, 1] * ddu[n], dw[2] + S[n, 2] * ddu[n])
        dv = (dv[0] + S[n, 3] * ddu[n], dv[1] + S[n, 4] * ddu[n], dv[2] + S[n, 5] * ddu[n])
    return (w, v), (dw, dv)


@njit
def _change_subspace(tangent: TangentWorkspace, i: int, u: Float1, du: Float1) -> tuple:
    """Return changes of S dq and of S ddq + (dS dq) dq, because S depends on the coordinates of node i itself.

    The latter: (d2S dq u) dq + a x ((dS dq) dq) + (dS u) ddq + (dS du) dq + (dS dq) du. ``u``, ``du`` (nq,): changes of
    q and dq.
    """
    work, nodes = tangent.work, tangent.work.nodes
    k, dof, a = nodes.column[i], nodes.dof[i], tangent.pose_change[i]
    along, rate, rate_change = three(u, k, dof), three(work.rates, k, dof), three(du, k, dof)
    _, by_rate, by_along, second = subspace_derivatives(work, i, rate, rate, along)
    for z, direction in ((three(tangent.second, k, dof), along), (rate, rate_change), (rate_change, rate)):
        second = _add(second, subspace_derivatives(work, i, z, direction, ZERO3)[1])
    return by_along, _add(second, (cross(a, by_rate[0]), cross(a, by_rate[1])))


@njit(inline="always")
def _change_twist(tangent: TangentWorkspace, i: int, velocity: tuple) -> None:
    """Change w = w_p + S_w dq, v = v_p + w_p x r + S_v dq in ``tangent.twist_change``.

    ``velocity`` (2, 3): change of S dq.
    """
    x, p, pose = tangent.work.point, tangent.work.nodes.parent[i], tangent.pose_change
    change, above = tangent.twist_change[i], tangent.twist_change[p]
    lever = add(cross(above, sub(x[i], x[p])), cross(tangent.work.twist[p], sub(pose[i, 3:], pose[p, 3:])))
    for m in range(3):
        change[m] = above[m] + velocity[0][m]
        change[3 + m] = above[3 + m] + lever[m] + velocity[1][m]


@njit(inline="always")
def _change_acceleration(tangent: TangentWorkspace, i: int, velocity: tuple, acceleration: tuple) -> None:
    """Write changes of w' = w'_p + S_w ddq + S_w' dq, v' = v'_p + w'_p x r + w_p x (v - v_p) + S_v ddq + S_v' dq.

    To ``tangent.acceleration_change``. ``velocity``: change of S dq, ``acceleration``: of S ddq + (dS dq) dq. The rest
    of dS/dt dq is w x (S dq), of both parts of S.
    """
    x, p, pose, joint = tangent.work.point, tangent.work.nodes.parent[i], tangent.pose_change, tangent.joint_velocity[i]
    twist, above = tangent.work.twist[i], tangent.work.twist[p]
    change, change_above = tangent.twist_change[i], tangent.twist_change[p]
    out, second_above = tangent.acceleration_change[i], tangent.acceleration_change[p]
    angular = add(acceleration[0], add(cross(change, joint), cross(twist, velocity[0])))
    linear = add(acceleration[1], add(cross(change, joint[3:]), cross(twist, velocity[1])))
    lever = cross(tangent.acceleration[p], sub(pose[i, 3:], pose[p, 3:]))
    lever = add(cross(second_above, sub(x[i], x[p])), lever)
    bias = add(cross(change_above, sub(twist[3:], above[3:])), cross(above, sub(change[3:], change_above[3:])))
    for m in range(3):
        out[m] = second_above[m] + angular[m]
        out[3 + m] = second_above[3 + m] + lever[m] + bias[m] + linear[m]


@njit
def _change_wrenches(tangent: TangentWorkspace) -> None:
    """Write changes of the wrenches that move the nodes, (F I F^T w', m v') + (w x F I F^T w, 0).

    To ``tangent.wrench_change``.
    """
    work, nodes = tangent.work, tangent.work.nodes
    for i in range(nodes.mass.size):
        f = tangent.wrench_change[i]
        f[:] = 0.0
        if nodes.mass[i] == 0.0:
            continue
        F, I, a, twist, acceleration = (
            work.axes[i],
            nodes.inertia[i],
            tangent.pose_change[i],
            work.twist[i],
            tangent.acceleration[i],
        )
        w, alpha = rotate_back(F, twist), rotate_back(F, acceleration)
        dw = rotate_back(F, sub(tangent.twist_change[i], cross(a, twist)))
        dalpha = rotate_back(F, sub(tangent.acceleration_change[i], cross(a, acceleration)))
        Iw = rotate(I, w)
        torque = rotate(F, add(rotate(I, alpha), cross(w, Iw)))
        change = add(rotate(I, dalpha), add(cross(dw, Iw), cross(w, rotate(I, dw))))
        torque = add(rotate(F, change), cross(a, torque))
        for m in range(3):
            f[m] = torque[m]
            f[3 + m] = nodes.mass[i] * tangent.acceleration_change[i, 3 + m]
    tangent.wrench_change[nodes.mass.size] = 0.0


@njit(seconds=1, what="implicit steps in reduced coordinates")
def change_efforts(tangent: TangentWorkspace, u: Float1, out: Float1) -> None:
    """Write changes of the efforts S^T (total wrench) to ``out`` (nq,), along the changes ``u`` (nq,) of q.

    ``tangent.wrench_change`` is summed in place over all nodes beyond each joint.
    """
    work, nodes = tangent.work, tangent.work.nodes
    S, x, wrench, pose = work.subspace, work.point, tangent.wrench_change, tangent.pose_change
    for i in range(nodes.parent.size - 1, -1, -1):
        p, k, dof = nodes.parent[i], nodes.column[i], nodes.dof[i]
        a, f, total = pose[i], wrench[i], tangent.total_wrench[i]
        for n in range(k, k + dof):
            angular, linear = cross(a, S[n]), cross(a, S[n, 3:])
            if has_variable_subspace(nodes.motion[i]):
                variable = subspace_derivatives(work, i, unit(n - k), three(u, k, dof), ZERO3)[1]
                angular, linear = add(angular, variable[0]), add(linear, variable[1])
            out[n] = 0.0
            for m in range(6):
                out[n] += S[n, m] * f[m]
            for m in range(3):
                out[n] += angular[m] * total[m] + linear[m] * total[3 + m]
        lever = add(cross(sub(x[i], x[p]), f[3:]), cross(sub(pose[i, 3:], pose[p, 3:]), total[3:]))
        for m in range(3):
            wrench[p, m] += f[m] + lever[m]
            wrench[p, 3 + m] += f[3 + m]
