"""Directional derivatives of the inverse dynamics tau(q, dq, ddq) = J^T (M (J ddq + Jdot dq) - f): exact, O(n) each.

Along the changes u, du, ddu of q, dq and ddq, the nodes rotate and shift by (a, b) = J u. S changes with its node,
dS = a x S, and where it depends on the node's own coordinates by F (dS/dr u) more. `change_motions` finds the changes
of poses, twists and accelerations from the root to the leaves, `change_wrenches` those of the nodes' own wrenches, and
`change_efforts` adds these up from the leaves to the root.
"""

from numpy import ndarray

from varint._jit import njit
from varint.kernels.gauges import cross, turned, turned_back
from varint.kernels.products import ZERO3, three
from varint.kernels.rotation import less, plus
from varint.redmax.kernels.kinematics import (
    accelerations,
    has_variable_subspace,
    jacobian_product,
    subspace_derivatives,
    unit,
)
from varint.redmax.kernels.records import Nodes, ReducedWorkspace, TangentWorkspace


@njit
def accelerate(nodes: Nodes, work: ReducedWorkspace, tangent: TangentWorkspace) -> None:
    """Motions of the joints and accelerations of the nodes at ``tangent.second``, after `kinematics.move`."""
    _joint_motions(nodes, work.subspace, work.rates, tangent.joint_velocity)
    _joint_motions(nodes, work.subspace, tangent.second, tangent.joint_acceleration)
    accelerations(nodes, work, tangent.joint_acceleration, tangent.acceleration)


@njit
def _joint_motions(nodes, S, rates, out):
    """``out`` (nl, 6): S ``rates`` of each node."""
    for i in range(nodes.parent.size):
        out[i] = 0.0
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            for m in range(6):
                out[i, m] += S[n, m] * rates[n]


@njit
def change_motions(
    nodes: Nodes, work: ReducedWorkspace, tangent: TangentWorkspace, u: ndarray, du: ndarray, ddu: ndarray
) -> None:
    """Changes of poses, twists and accelerations of the nodes along ``u``, ``du``, ``ddu`` (nq,)."""
    jacobian_product(nodes, work, u, tangent.pose_change)
    for i in range(nodes.parent.size):
        _change_joint_motion(nodes, work, tangent, i, du, ddu)
        if has_variable_subspace(nodes.motion[i]):
            _change_subspace(nodes, work, tangent, i, u, du)
        _change_twist(nodes, work, tangent, i)
        _change_acceleration(nodes, work, tangent, i)


@njit
def _change_joint_motion(nodes, work, tangent, i, du, ddu):
    """Of S dq and S ddq, where S rotates with the node: a x (S dq) + S du, a x (S ddq) + S ddu."""
    S, a = work.subspace, tangent.pose_change[i]
    own, own_second = tangent.joint_velocity[i], tangent.joint_acceleration[i]
    first, second = tangent.joint_velocity_change[i], tangent.joint_acceleration_change[i]
    first[0], first[1], first[2] = cross(a, own)
    first[3], first[4], first[5] = cross(a, own[3:])
    second[0], second[1], second[2] = cross(a, own_second)
    second[3], second[4], second[5] = cross(a, own_second[3:])
    for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
        for m in range(6):
            first[m] += S[n, m] * du[n]
            second[m] += S[n, m] * ddu[n]


@njit
def _change_subspace(nodes, work, tangent, i, u, du):
    """Add what comes from S that depends on the node's own coordinates, to S dq and to S ddq + (dS dq) dq.

    Of the latter: d2S dq u dq + a x (dS dq dq) + dS u ddq + dS du dq + dS dq du.
    """
    k, dof, a = nodes.column[i], nodes.dof[i], tangent.pose_change[i]
    along, rate, rate_change = three(u, k, dof), three(work.rates, k, dof), three(du, k, dof)
    _, by_rate, by_along, twice = subspace_derivatives(nodes, work, i, rate, rate, along)
    more = twice
    for z, direction in ((three(tangent.second, k, dof), along), (rate, rate_change), (rate_change, rate)):
        part = subspace_derivatives(nodes, work, i, z, direction, ZERO3)[1]
        more = plus(more[0], part[0]), plus(more[1], part[1])
    more = plus(more[0], cross(a, by_rate[0])), plus(more[1], cross(a, by_rate[1]))
    first, second = tangent.joint_velocity_change[i], tangent.joint_acceleration_change[i]
    for m in range(3):
        first[m] += by_along[0][m]
        first[3 + m] += by_along[1][m]
        second[m] += more[0][m]
        second[3 + m] += more[1][m]


@njit
def _change_twist(nodes, work, tangent, i):
    """Of w = w_p + S_w dq, v = v_p + w_p x r + S_v dq."""
    p = nodes.parent[i]
    r = less(work.point[i], work.point[p])
    dr = less(tangent.pose_change[i, 3:], tangent.pose_change[p, 3:])
    above, out, own = tangent.twist_change[p], tangent.twist_change[i], tangent.joint_velocity_change[i]
    lever = plus(cross(above, r), cross(work.twist[p], dr))
    for m in range(3):
        out[m] = above[m] + own[m]
        out[3 + m] = above[3 + m] + lever[m] + own[3 + m]


@njit
def _change_acceleration(nodes, work, tangent, i):
    """Of w' = w'_p + S_w ddq + (dS_w/dt) dq, v' = v'_p + w'_p x r + w_p x (v - v_p) + S_v ddq + (dS_v/dt) dq.

    Of the rotating part of dS/dt dq, w x (S dq), the change is taken here. A slide has it in its linear part alone:
    there S dq has no angular part.
    """
    p = nodes.parent[i]
    twist, above, change, change_above = work.twist[i], work.twist[p], tangent.twist_change[i], tangent.twist_change[p]
    velocity, velocity_change = tangent.joint_velocity[i], tangent.joint_velocity_change[i]
    out, acceleration_above = tangent.acceleration_change[i], tangent.acceleration_change[p]
    own = tangent.joint_acceleration_change[i]
    r = less(work.point[i], work.point[p])
    dr = less(tangent.pose_change[i, 3:], tangent.pose_change[p, 3:])
    angular = plus(cross(change, velocity), cross(twist, velocity_change))
    linear = plus(cross(change, velocity[3:]), cross(twist, velocity_change[3:]))
    lever = plus(cross(acceleration_above, r), cross(tangent.acceleration[p], dr))
    bias = plus(cross(change_above, less(twist[3:], above[3:])), cross(above, less(change[3:], change_above[3:])))
    for m in range(3):
        out[m] = acceleration_above[m] + own[m] + angular[m]
        out[3 + m] = acceleration_above[3 + m] + lever[m] + bias[m] + own[3 + m] + linear[m]


@njit
def change_wrenches(nodes: Nodes, work: ReducedWorkspace, tangent: TangentWorkspace) -> None:
    """Changes ``tangent.wrench_change`` of the wrenches that the motions of the nodes take, after `change_motions`."""
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
        w, alpha = turned_back(F, twist), turned_back(F, acceleration)
        dw = turned_back(F, less(tangent.twist_change[i], cross(a, twist)))
        dalpha = turned_back(F, less(tangent.acceleration_change[i], cross(a, acceleration)))
        Iw = turned(I, w)
        torque = turned(F, plus(turned(I, alpha), cross(w, Iw)))
        own = plus(turned(I, dalpha), plus(cross(dw, Iw), cross(w, turned(I, dw))))
        torque = plus(turned(F, own), cross(a, torque))
        for m in range(3):
            f[m] = torque[m]
            f[3 + m] = nodes.mass[i] * tangent.acceleration_change[i, 3 + m]
    tangent.wrench_change[nodes.mass.size] = 0.0


@njit
def change_efforts(
    nodes: Nodes, work: ReducedWorkspace, tangent: TangentWorkspace, u: ndarray, out: ndarray
) -> None:
    """Changes ``out`` (nq,) of the efforts S^T (total wrench); ``tangent.wrench_change`` becomes that of the totals."""
    S, x, wrench, pose = work.subspace, work.point, tangent.wrench_change, tangent.pose_change
    for i in range(nodes.parent.size - 1, -1, -1):
        p, k, dof = nodes.parent[i], nodes.column[i], nodes.dof[i]
        a, f, total = pose[i], wrench[i], tangent.total_wrench[i]
        for n in range(k, k + dof):
            angular, linear = cross(a, S[n]), cross(a, S[n, 3:])
            if has_variable_subspace(nodes.motion[i]):
                own = subspace_derivatives(nodes, work, i, unit(n - k), three(u, k, dof), ZERO3)[1]
                angular, linear = plus(angular, own[0]), plus(linear, own[1])
            out[n] = 0.0
            for m in range(6):
                out[n] += S[n, m] * f[m]
            for m in range(3):
                out[n] += angular[m] * total[m] + linear[m] * total[3 + m]
        lever = plus(cross(less(x[i], x[p]), f[3:]), cross(less(pose[i, 3:], pose[p, 3:]), total[3:]))
        for m in range(3):
            wrench[p, m] += f[m] + lever[m]
            wrench[p, 3 + m] += f[3 + m]
