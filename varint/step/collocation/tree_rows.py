"""The rows of joints of the tree at the nodes of a solved step: their impulses, and the multipliers of their duals.

A step does without them (steps.py), as links move as their joints allow. The derivatives by the numbers of these joints
are those of the step in which they are rows as closures are: what a joint carries, forward and back, is an impulse
along its rows at the nodes 0 .. q - 1, and a multiplier mu of its rows at 1 .. q (transposed.py). The gradient by poses
at the start then takes each body by itself.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.vectors import dot, rotate, turn_of, vector
from varint.step.collocation.shown import copy_poses, show_bodies
from varint.step.collocation.transposed import curve_row, load_duals, on_closure, show_duals
from varint.step.derivatives.by_products import keep_products
from varint.step.measures import add_by_numbers
from varint.step.plan import JOINT
from varint.step.rows import evaluate_rows


@njit
def find_impulses(plan, ws, tree, work, own):
    """Write the rows of all joints at the nodes, and the impulses ``own.impulse`` (s, rows) along those of the tree."""
    own.impulse[:] = 0.0
    for j in range(work.by.shape[0]):
        show_bodies(tree, work, j)
        evaluate_rows(plan, ws, work.body_position[j], work.body_rotation[j], own.row_value, work.closures.gradient[j])
        if j < own.rate.shape[0]:
            for b in range(tree.link.size):
                _along_rows(plan, tree, work, own, b, j, work.carried[j, natural(tree.link[b])], own.impulse[j])


@njit
def find_multipliers_of_tree(plan, tree, work, own, pull, k):
    """Write mu of the rows of the tree at node k to ``own.mu`` (s, rows).

    ``pull`` (links, 6): what links carry of the derivatives of Phi, as `carry_pulls` left it.
    """
    for b in range(tree.link.size):
        _along_rows(plan, tree, work, own, b, k, pull[natural(tree.link[b])], own.mu[k])


@njit
def _along_rows(plan, tree, work, own, b, k, wrench, out):
    """Write to ``out`` (rows,) what along the rows of the joint of body b at node k takes a ``wrench`` (6,) from it."""
    # G^T x = -wrench by the orthogonal columns of G^T = Q U
    Q, U, first = own.basis, own.triangle, natural(plan.joints.rows[b])
    count, unit, R = natural(plan.joints.rows[b + 1]) - first, plan.bodies.length[0], work.rotation[k, tree.link[b]]
    for n in range(count):
        r, q = first + n, Q[n]
        if plan.rows.role[r] != JOINT:
            count = n  # rows of efforts come last
            break
        G = work.closures.gradient[k, r, 0 if plan.measures.body[r, 0] == b else 1]
        turn = rotate(R, turn_of(G))
        for a in range(3):
            q[a], q[3 + a] = unit * G[a], turn[a]
        for m in range(n):
            U[m, n] = dot(vector(Q[m]), vector(q)) + dot(turn_of(Q[m]), turn_of(q))
            for a in range(6):
                q[a] -= U[m, n] * Q[m, a]
        U[n, n] = math.sqrt(dot(vector(q), vector(q)) + dot(turn_of(q), turn_of(q)))
        for a in range(6):
            q[a] /= U[n, n]
    for n in range(count - 1, -1, -1):
        total = -unit * dot(vector(Q[n]), vector(wrench)) - dot(turn_of(Q[n]), turn_of(wrench))
        for m in range(n + 1, count):
            total -= U[n, m] * out[first + m]
        out[first + n] = total / U[n, n]


@njit
def tree_rows_back(plan, ws, tree, work, own):
    """Add the curvature of the rows of the tree times their impulses to ``own.pull`` at the nodes before the last.

    ``own.impulse`` (s, rows), ``own.pull`` (s, nl + 1, 6).
    """
    for j in range(own.rate.shape[0]):
        show_duals(tree, work, own, j)
        for r in range(plan.joints.rows[tree.link.size]):
            if own.impulse[j, r] != 0.0:
                load_duals(plan, ws, own, r, own.impulse[j, r])
                curve_row(plan, ws, tree, work, own, j, r)


@njit
def add_tree_rows(plan, ws, tree, closures, work, own, by):
    """Add the terms of the rows of the tree at all nodes of a step to the gradient by numbers ``by``.

    Keeps those of joints that are products of exponentials, of closures too. ``own.impulse``, ``own.mu`` (s, rows).
    """
    efforts = ws.efforts
    for j in range(work.by.shape[0]):
        show_duals(tree, work, own, j)
        if plan.products.start.size:
            _keep_products(plan, ws, tree, closures, work, own, j, by)
        for r in range(plan.joints.rows[tree.link.size]):
            if plan.rows.role[r] != JOINT:
                continue
            load_duals(plan, ws, own, r, own.impulse[j, r])
            mu = own.mu[j, r] if j > 0 else 0.0
            add_by_numbers(plan, ws, r, work.body_position[j], work.body_rotation[j], efforts.motion, mu, 0.0, by)


@njit
def _keep_products(plan, ws, tree, closures, work, own, j, by):
    """Keep the poses and duals of joints that are products of exponentials at node j, see `keep_products`.

    ``own.impulse``, ``own.mu`` (s, rows); writes ``ws.multiplier`` and ``own.row_value`` (rows,).
    """
    for r in range(ws.multiplier.size):
        ws.multiplier[r], own.row_value[r] = own.impulse[j, r], own.mu[j, r] if j > 0 else 0.0
    for r in range(closures.rows[0], closures.rows[1]):
        ws.multiplier[r], own.row_value[r] = on_closure(closures, work, own, j, r)
    copy_poses(work, j, ws.position[0], ws.rotation[0])
    keep_products(plan, ws, 0, own.body, ws.velocity, own.row_value, (1.0, 0.0, 1.0), by.products)
