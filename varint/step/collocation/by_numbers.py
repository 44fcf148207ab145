"""The gradient of a run of collocation by the numbers of its plan, by inputs and targets: shares of its steps.

Derivatives of Phi (transposed.py) by the numbers of bodies and by the size of the step are written out. Each node of a
step is a stage of no length on a tape: laws and loads are evaluated there as `step.derivatives.by_numbers` does.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, continued, cross, dot, rotate_back, scale, turn_of, vector
from varint.step.collocation.efforts import is_pushed
from varint.step.collocation.transposed import load_duals, node_efforts_back, on_closure, show_duals
from varint.step.dense import dot6
from varint.step.derivatives.by_numbers import add_stage_efforts
from varint.step.measures import add_by_numbers, measure_at
from varint.step.plan import CONSTRAINT, EFFORT


@njit
def add_step(plan, ws, tree, closures, rule, work, own, tangent, given, h, stage, tape, by):
    """Add the share of a step, whose nodes are the stages from ``stage`` on, to the gradient by numbers ``by``.

    ``given`` (s, ne): inputs; ``h``: s. ``by.h`` (stages,) becomes the derivative by the size of the step.
    """
    q = rule.weight.size - 1
    for j in range(q + 1):
        k, share = stage + j, h * rule.weight[j]
        by.h[k] = 0.0
        for b in range(tree.link.size):
            _add_body(plan, tree, rule, work, own, h, j, b, k, by)
        for c in range(plan.constraints.row.size):
            first = plan.constraints.row[c]
            for r in range(first, first + plan.constraints.size[c]):
                by.target[k, r] = -on_closure(closures, work, own, j, first)[1]
        show_duals(tree, work, own, j)
        for b in range(tree.link.size):
            for a in range(6):
                by.load[k, 0, b, a] = share * own.body[b, a]
        if closures.rows[1] > closures.rows[0]:
            _add_rows(plan, ws, closures, work, own, j, by)
        if is_pushed(plan, work):
            _add_efforts(plan, ws, tree, rule, work, own, tangent, given, h, j, k, share, tape, by)


@njit
def _add_body(plan, tree, rule, work, own, h, j, b, k, by):
    """Add the terms of body b at node j, stage k: ``by.mass``, ``by.inertia``, ``by.gravity`` and ``by.h``.

    These are (nb,), (nb, 3, 3), (3,) and (stages,); ``h``: s.
    """
    i, weight, mass = natural(tree.link[b]), rule.weight[j], plan.bodies.mass[b]
    V, w, A = vector(own.dual[j, i]), turn_of(own.dual[j, i]), work.tilt[j, i]
    line, g = (0.0, 0.0, 0.0), vector(plan.bodies.gravity)
    for n in range(1, rule.weight.size):
        line = add(line, scale(rule.stiffness[j, n] / h, vector(work.shift[n, i])))
    by.mass[b] += dot(V, line) + h * weight * dot(V, g)
    turn = A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]
    by.h[k] += weight * mass * dot(V, g) - (mass * dot(V, line) + dot(w, turn)) / h
    for a in range(3):
        by.gravity[a] += h * weight * mass * V[a]
    # by Q: R^T (B x w) of the columns of B, of which A is R Q B^T; by J = tr Q - Q
    R, trace = work.rotation[j, i], 0.0
    for c in range(3):
        column = (0.0, 0.0, 0.0)
        for n in range(1, rule.weight.size):
            M = work.change[n, i]
            column = add(column, scale(rule.stiffness[j, n] / h, (M[0, c], M[1, c], M[2, c])))
        x = rotate_back(R, cross(column, w))
        trace += x[c]
        for a in range(3):
            by.inertia[b, a, c] -= 0.5 * x[a]
            by.inertia[b, c, a] -= 0.5 * x[a]
    for a in range(3):
        by.inertia[b, a, a] += 0.5 * trace


@njit
def _add_rows(plan, ws, closures, work, own, j, by):
    """Add the terms of the rows of closures and of constraints at node j to ``by``; after `show_duals`.

    ``own.body`` (nb, 6): the duals of the bodies.
    """
    efforts = ws.efforts
    position, rotation = work.body_position[j], work.body_rotation[j]
    for r in range(closures.rows[0], closures.rows[1]):
        role = plan.rows.role[r]
        if role == EFFORT or not (role == CONSTRAINT or by.wanted[0]):
            continue
        value, (impulse, mu) = 0.0, on_closure(closures, work, own, j, r)
        load_duals(plan, ws, own, r, impulse)
        if role == CONSTRAINT:
            value = measure_at(plan, ws, r, position, rotation, efforts.change)
            value = continued(plan.measures.period[r], efforts.value_near[r], value)
        add_by_numbers(plan, ws, r, position, rotation, efforts.motion, mu, value, by)


@njit
def _add_efforts(plan, ws, tree, rule, work, own, tangent, given, h, j, k, share, tape, by):
    """Add the terms of laws and loads at node j, stage k: ``by.input``, ``by.h`` and what `acting` needs.

    ``given`` (s, ne): inputs; ``h``, ``share``: s, the step and the share of it that the node stands for. Writes
    ``tape.input`` (stages, ne) and ``tape.velocity`` (stages, nb, 6) of the stage.
    """
    node_efforts_back(plan, ws, tree, rule, work, own, tangent, given, h, j)
    for e in range(given.shape[1]):
        tape.input[k, e], by.input[k, e] = given[j, e], 0.0
    tangent.momentum[:] = 0.0
    so_far = by.h[k]
    add_stage_efforts(plan, ws, tangent, k, 2.0 * share, own.body, by)
    by.h[k] = so_far
    slower = 0.0
    for b in range(tree.link.size):
        for a in range(6):
            tape.velocity[k, b, a] = ws.velocity[b, a]
        slower += dot6(tangent.velocity[b], ws.velocity[b]) / h
        by.h[k] += rule.weight[j] * dot6(own.body[b], work.load[b])
    by.h[k] -= slower
