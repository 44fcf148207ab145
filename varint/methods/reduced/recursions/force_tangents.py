"""Changes of the loads of forces and of the rows of closures along changes of the motion, exact.

By the curvature of the measures, the same as in the variational form. A change of the motion is given by the nodes, in
world axes: (rotation, displacement) and the change of the twist; loads on nodes are (torque, force), world axes.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, rotate, rotate_back, sub, vector
from varint.step.dense import dot6
from varint.step.efforts import curvature_factor, load_change
from varint.step.measures import take_third, weighted_curvature


@njit
def changes_of_bodies(node, rotation, twist, pose, change, motion, velocity):
    """Write the motions of the bodies and the changes of their velocities, from the nodes'.

    motion : ``motion`` (nb, 6), written: m, world, and rad, body axes
    velocity : ``velocity`` (nb, 6), written: changes, m/s, world, and rad/s, body axes
    node, rotation : ``node`` (nb + 1,), of each body; ``rotation`` (nb + 1, 3, 3)
    twist, pose, change : ``twist``, ``pose``, ``change`` (nl + 1, 6): twists, their motions and changes, world
    """
    for b in range(motion.shape[0]):
        i, R = node[b], rotation[b]
        turn, spin = vector(pose[i]), vector(twist[i])
        turned = rotate_back(R, turn)
        faster = rotate_back(R, sub(vector(change[i]), cross(turn, spin)))
        for k in range(3):
            motion[b, k], motion[b, 3 + k] = pose[i, 3 + k], turned[k]
            velocity[b, k], velocity[b, 3 + k] = change[i, 3 + k], faster[k]


@njit
def _ends(body, vectors, out):
    """Copy the vectors of two bodies, ``body`` (2,), of ``vectors`` (nb, 6) to ``out`` (2, 6); zero for the world."""
    for s in range(2):
        for k in range(6):
            out[s, k] = vectors[body[s], k] if body[s] < vectors.shape[0] else 0.0


@njit
def _subtract(node, rotation, body, pose, gradient, change, effort, growth, wrench):
    """Subtract the change of an effort along a ``gradient`` (2, 6) from ``wrench`` (nl + 1, 6).

    Its ``growth``, and its turning by ``change`` (2, 6), of the gradient at the bodies ``body`` (2,).
    ``node`` (nb + 1,), ``rotation`` (nb + 1, 3, 3); ``pose`` (nl + 1, 6).
    """
    for s in range(2):
        b = body[s]
        if b >= node.size - 1:
            continue
        i, R = node[b], rotation[b]
        torque, g = rotate(R, vector(gradient[s, 3:])), vector(gradient[s])
        turned = add(cross(vector(pose[i]), torque), rotate(R, vector(change[s, 3:])))
        for k in range(3):
            wrench[i, k] -= growth * torque[k] + effort * turned[k]
            wrench[i, 3 + k] -= growth * g[k] + effort * change[s, k]


@njit
def change_loads(plan, ws, node, position, rotation, bodies, pose, wrench):
    """Subtract the changes of the loads of forces from ``wrench`` (nl + 1, 6).

    ``bodies``: velocities (nb, 6), then `changes_of_bodies`; ``node`` (nb + 1,): of each body; ``pose`` (nl + 1, 6);
    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3).
    """
    velocity, motion, faster = bodies
    work, laws = ws.efforts, plan.laws
    ends, change = work.motion, work.change
    for s in range(laws.sum_law.size - 1):
        by_value = by_rate = 0.0
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            body, g = plan.measures.body[m], work.gradient[m]
            _ends(body, motion, ends)
            by_value += dot6(g[0], ends[0]) + dot6(g[1], ends[1])
            take_third(plan, work, m, motion)
            weighted_curvature(plan, ws, m, position, rotation, ends, change)
            _ends(body, faster, ends)
            by_rate += dot6(g[0], ends[0]) + dot6(g[1], ends[1])
            _ends(body, velocity, ends)
            by_rate += dot6(change[0], ends[0]) + dot6(change[1], ends[1])
        growth = work.sum_by_value[s] * by_value + work.sum_by_rate[s] * by_rate
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            _ends(plan.measures.body[m], motion, ends)
            take_third(plan, work, m, motion)
            weighted_curvature(plan, ws, m, position, rotation, ends, change)
            effort = curvature_factor(plan, work, s, m)
            _subtract(node, rotation, plan.measures.body[m], pose, work.gradient[m], change, effort, growth, wrench)
    for n in range(plan.loads.kind.size):
        b = plan.loads.body[n]
        i, R = node[b], rotation[b]
        load_change(plan, work, n, motion, faster, change[0])
        turned = cross(vector(pose[i]), rotate(R, vector(work.wrench[n, 3:])))
        torque = add(turned, rotate(R, vector(change[0, 3:])))
        for k in range(3):
            wrench[i, k] -= torque[k]
            wrench[i, 3 + k] -= change[0, k]


@njit
def turn_radial_loads(plan, ws, node, position, rotation, motion, pose, wrench):
    """Subtract the changes of the loads along lengths at constant effort, as their bodies see them, from ``wrench``.

    ``wrench``, ``pose`` (nl + 1, 6); ``node`` (nb + 1,), ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3);
    ``motion`` (nb, 6): see `changes_of_bodies`.
    """
    work, laws = ws.efforts, plan.laws
    ends, change = work.motion, work.change
    for s in range(laws.sum_law.size - 1):
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            if not plan.measures.radial[m]:
                continue
            _ends(plan.measures.body[m], motion, ends)
            weighted_curvature(plan, ws, m, position, rotation, ends, change)
            effort = curvature_factor(plan, work, s, m)
            for side in range(2):
                b = plan.measures.body[m, side]
                if b < node.size - 1:
                    i = node[b]
                    torque = rotate(rotation[b], vector(change[side, 3:]))
                    carried = cross(vector(pose[i]), vector(work.gradient[m, side]))
                    for k in range(3):
                        wrench[i, k] -= effort * torque[k]
                        wrench[i, 3 + k] -= effort * (change[side, k] - carried[k])


@njit
def change_rows(plan, ws, closures, node, position, rotation, bodies, pose, out, wrench):
    """Write the changes of the values and rates of closures to ``out`` (m, 2).

    ``closures``: their rows (m,), scaled Jacobian (m, 2, 6) and multipliers (m,). The changes of their forces are
    subtracted from ``wrench`` (nl + 1, 6). Others: see `change_loads`. Uses ``ws.efforts.change``.
    """
    rows, jacobian, multiplier = closures
    velocity, motion, faster = bodies
    ends, change = ws.efforts.motion, ws.efforts.change
    for k in range(rows.size):
        r, g = rows[k], jacobian[k]
        body = plan.measures.body[r]
        _ends(body, motion, ends)
        out[k, 0] = dot6(g[0], ends[0]) + dot6(g[1], ends[1])
        weighted_curvature(plan, ws, r, position, rotation, ends, change)
        for s in range(2):
            for n in range(6):
                change[s, n] *= plan.rows.scale[r]
        _ends(body, faster, ends)
        out[k, 1] = dot6(g[0], ends[0]) + dot6(g[1], ends[1])
        _ends(body, velocity, ends)
        out[k, 1] += dot6(change[0], ends[0]) + dot6(change[1], ends[1])
        _subtract(node, rotation, body, pose, g, change, multiplier[k], 0.0, wrench)


@njit
def subtract_rows(plan, rows, node, rotation, jacobian, multiplier, wrench):
    """Subtract the forces ``multiplier`` (m,) along ``rows`` (m,) with ``jacobian`` (m, 2, 6) from ``wrench``.

    ``wrench`` (nl + 1, 6); ``node`` (nb + 1,), ``rotation`` (nb + 1, 3, 3) of the bodies.
    """
    for k in range(rows.size):
        for s in range(2):
            b = plan.measures.body[rows[k], s]
            if b < node.size - 1:
                torque = rotate(rotation[b], vector(jacobian[k, s, 3:]))
                for n in range(3):
                    wrench[node[b], n] -= multiplier[k] * torque[n]
                    wrench[node[b], 3 + n] -= multiplier[k] * jacobian[k, s, n]
