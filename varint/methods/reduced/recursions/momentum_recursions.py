"""Canonical momenta p = dL/d(dq) = M dq and their rates at given rates, dL/dq and generalised forces, in O(n).

Pi: momenta of the nodes, (angular about the reference point, linear), world axes; W: momenta of a node and all beyond
its joint, taken to its reference point. With the twists J dq,

    p = J^T Pi = S^T W,    dL/dq + Q = (dJ/dt)^T Pi + J^T f = (dS/dt)^T W + S^T X

X: the loads f beyond the joint and, where a momentum is taken from a node to its parent, dr/dt x (linear part of W),
r = x - x_parent.
"""

from varint.base.numba import Float1, Float2, njit
from varint.mathematics.products.stages import ZERO3, three
from varint.mathematics.vectors import add, cross, rotate, rotate_back, sub
from varint.methods.reduced.recursions.articulated import factor, inward_pass, outward_pass
from varint.methods.reduced.recursions.kinematic_recursions import (
    has_variable_subspace,
    place,
    subspace_derivatives,
    unit,
)
from varint.methods.reduced.recursions.tangent_recursions import change_motions
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TangentWorkspace
from varint.methods.reduced.recursions.wrenches import (
    add_inertial_wrenches,
    add_to_parent,
    dot6,
    subtract_loads,
    transpose_product,
)


@njit(seconds=1, what="symplectic steps in reduced coordinates")
def find_rates(work: ReducedWorkspace, no_motion: Float2) -> None:
    """Place the nodes at ``work.q``, and replace the momenta p in ``work.rates`` by the rates M^-1 p.

    ``no_motion`` (nl, 6): zero. Uses ``work.wrench``.
    """
    place(work)
    factor(work)
    work.wrench[:] = 0.0
    inward_pass(work, no_motion, work.rates)
    outward_pass(work, no_motion, work.rates)


@njit(seconds=1, what="symplectic steps in reduced coordinates")
def find_momenta(work: ReducedWorkspace, W: Float2, p: Float1) -> None:
    """Write the momenta of the nodes to ``W`` (nl + 1, 6) and of the coordinates to ``p`` (nq,), after `move`.

    Row i of ``W`` holds all nodes beyond joint i.
    """
    W[:] = 0.0
    add_inertial_wrenches(work, work.twist, W)
    transpose_product(work, W, p)


@njit(seconds=1, what="symplectic steps in reduced coordinates")
def find_forces(work: ReducedWorkspace, gravity: Float1, load: Float2, W: Float2, out: Float1) -> None:
    """Write dL/dq + Q, N, N m, to ``out`` (nq,), after `find_momenta`; ``work.wrench`` is set to -X.

    ``gravity`` (3,), m/s^2; ``load`` (nb, 6) of the bodies: force, N, world, and torque, N m, body axes;
    ``W`` (nl + 1, 6): of `find_momenta`.
    """
    nodes = work.nodes
    S, Sdot, twist, X = work.subspace, work.subspace_rate, work.twist, work.wrench
    X[:] = 0.0
    subtract_loads(work, gravity, load)
    for i in range(nodes.parent.size - 1, -1, -1):
        p = nodes.parent[i]
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            out[n] = dot6(Sdot[n], W[i]) - dot6(S[n], X[i])
        add_to_parent(work.point, i, p, X)
        carried = cross(sub(twist[i, 3:], twist[p, 3:]), W[i, 3:])
        for m in range(3):
            X[p, m] -= carried[m]


@njit(seconds=2, what="symplectic steps in reduced coordinates")
def change_momenta(tangent: TangentWorkspace, u: Float1, du: Float1) -> None:
    """Write changes of Pi along the changes ``u``, ``du`` (nq,) of q and dq to ``tangent.wrench_change``."""
    change_motions(tangent, u, du, du)
    work, nodes = tangent.work, tangent.work.nodes
    for i in range(nodes.mass.size):
        f = tangent.wrench_change[i]
        f[:] = 0.0
        if nodes.mass[i] == 0.0:
            continue
        F, I, a, twist = work.axes[i], nodes.inertia[i], tangent.pose_change[i], work.twist[i]
        spin = rotate(F, rotate(I, rotate_back(F, twist)))
        faster = rotate(F, rotate(I, rotate_back(F, sub(tangent.twist_change[i], cross(a, twist)))))
        angular = add(faster, cross(a, spin))
        for m in range(3):
            f[m] = angular[m]
            f[3 + m] = nodes.mass[i] * tangent.twist_change[i, 3 + m]
    tangent.wrench_change[nodes.mass.size] = 0.0


@njit(seconds=2, what="symplectic steps in reduced coordinates")
def change_rates_of_momenta(
    tangent: TangentWorkspace, u: Float1, du: Float1, W: Float2, dW: Float2, X: Float2, out: Float1
) -> None:
    """Write changes (nq,) of (dS/dt)^T W to ``out``; subtract changes of dr/dt x (linear part of W) from ``X``.

    ``out``, ``u``, ``du`` (nq,): along the changes u, du of q and dq; ``X``, ``W`` (nl + 1, 6); ``dW`` (nl + 1, 6): the
    change of W, see `change_momenta` and `tangent_recursions.change_efforts`.
    """
    work, nodes = tangent.work, tangent.work.nodes
    S, Sdot, twist, change, pose = (
        work.subspace,
        work.subspace_rate,
        work.twist,
        tangent.twist_change,
        tangent.pose_change,
    )
    for i in range(nodes.parent.size):
        p, k, dof, a, w, dw = nodes.parent[i], nodes.column[i], nodes.dof[i], pose[i], twist[i], change[i]
        for n in range(k, k + dof):
            turned, shifted = cross(a, S[n]), cross(a, S[n, 3:])  # change of S[n]
            angular, linear = cross(dw, S[n]), cross(dw, S[n, 3:])
            if has_variable_subspace(nodes.motion[i]):
                rates = three(work.rates, k, dof)
                _, rate, by_u, second = subspace_derivatives(work, i, unit(n - k), rates, three(u, k, dof))
                faster = subspace_derivatives(work, i, unit(n - k), three(du, k, dof), ZERO3)[1]
                turned, shifted = add(turned, by_u[0]), add(shifted, by_u[1])
                angular = add(angular, add(cross(a, rate[0]), add(second[0], faster[0])))
                linear = add(linear, add(cross(a, rate[1]), add(second[1], faster[1])))
            angular, linear = add(angular, cross(w, turned)), add(linear, cross(w, shifted))
            out[n] = dot6(Sdot[n], dW[i])
            for m in range(3):
                out[n] += angular[m] * W[i, m] + linear[m] * W[i, 3 + m]
        carried = add(
            cross(sub(dw[3:], change[p, 3:]), W[i, 3:]),
            cross(sub(w[3:], twist[p, 3:]), dW[i, 3:]),
        )
        for m in range(3):
            X[p, m] -= carried[m]
