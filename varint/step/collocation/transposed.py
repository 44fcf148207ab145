"""The exact transposed derivative of a collocation step, applied to duals (adjoint.py).

A step has the wrenches W_j on its links at the nodes j = 0 .. q (steps.py), impulses lambda_j along rows with gradients
G_j at 0 .. q - 1, and rows g_k at 1 .. q. With duals V_j, motions of the links, and multipliers mu_k of the rows,

    Phi = sum_j V_j . (W_j + G_j^T lambda_j) + sum_k mu_k . g_k

is differentiated here by the poses at all nodes: wrenches on the links, turns in axes of the world. At the nodes before
the last V_j = N_j rate_j is a motion that the joints of the tree allow; by their coordinates N_j changes too. In W_j,

    force   m / h sum_k S_jk x_k            gives  m / h S_jk V_j at node k
    torque  ax(A_j), P_jk = R_j Q R_k^T     gives  S_jk / h (tr P_jk - P_jk) V_j at node k,  (A_j^T - tr A_j) V_j at j
    velocity in efforts, with the gradient w (world) by an angular velocity and N = R_j R_k^T, N' = dR_j/dt R_j^T:
                                            slope_jk / 2h (tr N - N) w at node k,  (N'^T - tr N') w / 2 at j

(turns t as R_k + t x R_k). Efforts have their derivatives from the roles of laws and loads, rows their curvature.
"""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, turn_of, vector, write
from varint.step.collocation.closures import free_motion
from varint.step.collocation.efforts import evaluate_node, is_pushed
from varint.step.collocation.records import SCREW, SLIDE, WELD, NodeWorkspace
from varint.step.derivatives.adjoint import efforts_back
from varint.step.loads import differentiate_loads
from varint.step.measures import curve_transposed, pair_of
from varint.step.plan import EFFORT


@dataclass(frozen=True, eq=False)
class TransposedWork(CompiledRecord, writable=True):
    """Work arrays of the backward pass through steps. The world comes after all links, at nl, and bodies, at nb."""

    reversed: NodeWorkspace  # the step with its nodes in the opposite order, and the multipliers mu
    rate: Annotated[Float2, "q nl"]  # of the duals at the nodes before the last
    dual: Annotated[Float3, "s links 6"]  # the duals V
    pull: Annotated[Float3, "s links 6"]  # derivative of Phi by the poses of links
    body: Annotated[Float2, "nb 6"]  # duals of the bodies at a node, turns in their own axes
    by_coordinate: Annotated[Float2, "1 nl"]  # gradient by the coordinates at a node; of a ball the torque, world
    by_pose: Annotated[Float2, "links 6"]  # gradient by the poses of links at a node, where each body goes by itself
    impulse: Annotated[Float2, "s rows"]  # of joints of the tree along their rows (tree_rows.py)
    mu: Annotated[Float2, "s rows"]
    row_value: Annotated[Float1, "rows"]
    basis: Annotated[Float2, "6 6"]
    triangle: Annotated[Float2, "6 6"]
    by_momentum: Annotated[Float2, "nb 6"]  # gradient by the momenta at a node, world


@njit(inline="always")
def _row(M, a):
    return M[a, 0], M[a, 1], M[a, 2]


@njit(inline="always")
def push(out, line, turn):
    """Add a wrench (3,), (3,) to ``out`` (6,)."""
    write(out, add(vector(out), line), add(turn_of(out), turn))


@njit
def spread_duals(tree, work, own):
    """Write the duals of the links at all nodes but the last by their rates ``own.rate`` (q, nl)."""
    for j in range(own.rate.shape[0]):
        for i in range(tree.mass.size):
            p, V = natural(tree.parent[i]), own.dual[j]
            arm = sub(vector(work.position[j, i]), vector(work.position[j, p]))
            line, turn = add(vector(V[p]), cross(turn_of(V[p]), arm)), turn_of(V[p])
            if tree.motion[i] != WELD:
                along, about = free_motion(tree, work, j, i)
                line, turn = add(line, scale(own.rate[j, i], along)), add(turn, scale(own.rate[j, i], about))
            write(V[i], line, turn)


@njit
def transpose(plan, ws, tree, closures, rule, work, own, tangent, given, h, begin):
    """Write the derivative of Phi by the poses of the links at all nodes, at held duals, to ``own.pull`` (s, links, 6).

    After `evaluate`, with `pull_link` for the last node: ``work.tilt`` and ``work.carried``. ``tangent``: scratch.
    ``begin``: the first node whose duals are not zero.
    """
    own.pull[:] = 0.0
    for i in range(tree.mass.size):
        if tree.mass[i] > 0.0:
            _inertia_back(tree, rule, work, own, h, i, begin)
    if is_pushed(plan, work):
        for j in range(begin, rule.weight.size):
            _efforts_at(plan, ws, tree, rule, work, own, tangent, given, h, j)
    if closures.rows[1] > closures.rows[0]:
        _rows_back(plan, ws, tree, closures, work, own)


@njit
def _inertia_back(tree, rule, work, own, h, i, begin):
    """Add the derivatives of inertial forces and torques of link i to ``own.pull`` (s, nl + 1, 6); ``h``: s."""
    s, m = rule.weight.size, tree.mass[i]
    for k in range(s):
        line, turn, R = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), work.rotation[k, i]
        for j in range(begin, s):
            f, V, spread = rule.stiffness[j, k], own.dual[j, i], work.spread[j, i]
            line, w = add(line, scale(f, vector(V))), turn_of(V)
            trace = dot(_row(spread, 0), _row(R, 0)) + dot(_row(spread, 1), _row(R, 1))
            trace += dot(_row(spread, 2), _row(R, 2))
            turn = add(turn, scale(f, sub(scale(trace, w), rotate(spread, rotate_back(R, w)))))
        push(own.pull[k, i], scale(m / h, line), scale(1.0 / h, turn))
        if k < begin:
            continue
        A, w = work.tilt[k, i], turn_of(own.dual[k, i])
        turn = sub(rotate_back(A, w), scale(A[0, 0] + A[1, 1] + A[2, 2], w))
        push(own.pull[k, i], (0.0, 0.0, 0.0), turn)


@njit
def show_duals(tree, work, own, j):
    """Write the duals of the bodies at node j to ``own.body`` (nb, 6)."""
    for b in range(tree.link.size):
        i = natural(tree.link[b])
        write(own.body[b], vector(own.dual[j, i]), rotate_back(work.rotation[j, i], turn_of(own.dual[j, i])))


@njit
def show_node(ws, work, own, j):
    """Let poses (nb + 1, 3), (nb + 1, 3, 3) and tangents of efforts be those of a step of no length at node j."""
    efforts = ws.efforts
    for b in range(work.body_position.shape[1]):
        for a in range(3):
            efforts.position[b, a] = work.body_position[j, b, a]
            for c in range(3):
                efforts.rotation[b, a, c] = work.body_rotation[j, b, a, c]
        efforts.tangent[b, 0] = efforts.tangent[b, 1] = efforts.tangent[b, 2] = 0.0
        efforts.tangent[b, 3] = 1.0


@njit
def node_efforts_back(plan, ws, tree, rule, work, own, tangent, given, h, j):
    """Write the derivatives of the impulses of laws and loads at node j, times the duals of the bodies.

    By poses to ``tangent.middle``, by velocities to ``tangent.velocity``, (nb, 6), turns in body axes. ``h``: s;
    ``given`` (s, ne): inputs. Leaves efforts in ``ws.efforts``,
    their loads in ``work.load`` and the duals in ``own.body``.
    """
    evaluate_node(plan, ws, tree, rule, work, given, h, j)
    show_node(ws, work, own, j)
    show_duals(tree, work, own, j)
    differentiate_loads(plan, ws, ws.efforts.position, ws.efforts.rotation, ws.velocity)
    tangent.middle[:] = 0.0
    tangent.velocity[:] = 0.0
    tangent.lean[:] = 0.0
    efforts_back(plan, ws, tangent, h * rule.weight[j], 1.0, tangent.state, own.body)


@njit
def _efforts_at(plan, ws, tree, rule, work, own, tangent, given, h, j):
    """Add the derivatives of the impulses of laws and loads at node j to ``own.pull``; see `node_efforts_back`.

    ``own.pull`` is (s, nl + 1, 6).
    """
    node_efforts_back(plan, ws, tree, rule, work, own, tangent, given, h, j)
    share = h * rule.weight[j]
    for b in range(tree.link.size):
        i = natural(tree.link[b])
        by_turn = sub(turn_of(tangent.middle[b]), scale(share, cross(turn_of(own.body[b]), turn_of(work.load[b]))))
        push(own.pull[j, i], vector(tangent.middle[b]), rotate(work.rotation[j, i], by_turn))
        line, turn = vector(tangent.velocity[b]), turn_of(tangent.velocity[b])
        if dot(line, line) + dot(turn, turn) > 0.0:
            _velocity_back(rule, work, own, h, i, j, line, rotate(work.rotation[j, i], turn))


@njit
def _velocity_back(rule, work, own, h, i, j, line, w):
    """Add the derivatives of the velocity of link i at node j, times the gradients (3,), (3,) by it, world axes."""
    R, trace = work.rotation[j, i], 0.0
    by_own = (0.0, 0.0, 0.0)  # (dR/dt)^T w
    for k in range(rule.weight.size):
        f, other, M = rule.slope[j, k] / h, work.rotation[k, i], work.change[k, i]
        by_own = add(by_own, scale(f, rotate_back(M, w)))
        both = 0.0
        for a in range(3):
            both += dot(_row(R, a), _row(other, a))
            trace += f * dot(_row(M, a), _row(R, a))
        turn = scale(0.5 * f, sub(scale(both, w), rotate(R, rotate_back(other, w))))
        push(own.pull[k, i], scale(f, line), turn)
    push(own.pull[j, i], (0.0, 0.0, 0.0), scale(0.5, sub(rotate(R, by_own), scale(trace, w))))


@njit
def load_duals(plan, ws, own, r, factor):
    """Write the duals (2, 6) of the bodies of row r, times ``factor``, to ``ws.efforts.motion``; after `show_duals`."""
    motion = ws.efforts.motion
    pair_of(plan, r, own.body, motion)
    for side in range(2):
        for a in range(6):
            motion[side, a] *= factor


@njit
def curve_row(plan, ws, tree, work, own, j, r):
    """Add the curvature of row r at node j times its impulse to ``own.pull`` (s, nl + 1, 6).

    After `load_duals` with the impulse as factor.
    """
    efforts, gradient = ws.efforts, work.closures.gradient[j, r]
    curve_transposed(
        plan, ws, r, work.body_position[j], work.body_rotation[j], gradient, efforts.motion, efforts.change
    )
    for side in range(2):
        b = natural(plan.measures.body[r, side])
        if b < tree.link.size:
            i, change = natural(tree.link[b]), efforts.change[side]
            turn = sub(turn_of(change), cross(turn_of(efforts.motion[side]), turn_of(gradient[side])))
            push(own.pull[j, i], vector(change), rotate(work.rotation[j, i], turn))


@njit
def on_closure(closures, work, own, j, r):
    """Return the impulse lambda along row r of closures at node j, and the multiplier mu; zero where there is none."""
    q = own.rate.shape[0]
    at = (r - closures.rows[0]) * q
    impulse = work.closures.multiplier[at + j] if j < q else 0.0
    return impulse, own.reversed.closures.multiplier[at + q - j] if j > 0 else 0.0


@njit
def _rows_back(plan, ws, tree, closures, work, own):
    """Add mu G at the nodes after the first, and the curvature of rows times lambda at those before the last.

    To ``own.pull`` (s, nl + 1, 6); G is ``work.closures.gradient`` (s, rows, 2, 6).
    """
    for j in range(own.rate.shape[0] + 1):
        show_duals(tree, work, own, j)
        for r in range(closures.rows[0], closures.rows[1]):
            if plan.rows.role[r] == EFFORT:
                continue
            impulse, mu = on_closure(closures, work, own, j, r)
            for side in range(2):
                b = natural(plan.measures.body[r, side])
                if b < tree.link.size:
                    G, i = work.closures.gradient[j, r, side], natural(tree.link[b])
                    push(own.pull[j, i], scale(mu, vector(G)), rotate(work.rotation[j, i], scale(mu, turn_of(G))))
            if impulse != 0.0:
                load_duals(plan, ws, own, r, impulse)
                curve_row(plan, ws, tree, work, own, j, r)


@njit
def motions_back(tree, work, own):
    """Add the changes of the motions that the joints allow, times what links carry, to ``own.pull``.

    At the nodes before the last; ``own.pull`` (s, nl + 1, 6), carried wrenches ``work.carried`` (s, nl + 1, 6).
    """
    for j in range(own.rate.shape[0]):
        for i in range(tree.mass.size):
            p, rate = natural(tree.parent[i]), own.rate[j, i]
            force, moment = vector(work.carried[j, i]), vector(work.moment[j, i])
            axis, offset = vector(work.axis[j, i]), vector(work.offset[j, i])
            beside, above = cross(force, turn_of(own.dual[j, p])), (0.0, 0.0, 0.0)
            if tree.motion[i] == SLIDE:  # the axis is fixed in both links: its change may be counted by either
                push(own.pull[j, i], beside, scale(rate, cross(axis, force)))
            elif tree.motion[i] != WELD:
                above = cross(axis, moment)
                if tree.motion[i] == SCREW:
                    above = add(above, scale(tree.pitch[i], cross(axis, force)))
                push(own.pull[j, i], beside, scale(rate, cross(offset, cross(force, axis))))
                above = scale(rate, above)
            else:
                push(own.pull[j, i], beside, (0.0, 0.0, 0.0))
            push(own.pull[j, p], scale(-1.0, beside), above)


@njit
def carry_pulls(tree, work, pull, k, out):
    """Write wrenches ``pull`` (links, 6) on the links at node k along the free motions to ``out`` (nl,).

    Carries them to the parents, in place.
    """
    for i in range(tree.mass.size - 1, -1, -1):
        p, axis = natural(tree.parent[i]), vector(work.axis[k, i])
        force, torque = vector(pull[i]), turn_of(pull[i])
        moment = add(torque, cross(vector(work.offset[k, i]), force))
        if tree.motion[i] == WELD:
            out[i] = 0.0
        else:
            out[i] = dot(axis, force if tree.motion[i] == SLIDE else moment)
        if tree.motion[i] == SCREW:
            out[i] += tree.pitch[i] * dot(axis, force)
        arm = sub(vector(work.position[k, i]), vector(work.position[k, p]))
        push(pull[p], force, add(torque, cross(arm, force)))
