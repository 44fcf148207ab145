"""Dry friction of hard contacts in a collocation step (docs/theory.md section 16).

The rates along the two directions of its plane of a contact that sticks are kept at zero over the step, as rates of
rolling wheels are (conditions_on_rates.py), by rows of their own. One that slides has no such rows. With z_j, the
impulse along its normal at node j, it has an impulse mu z_j opposite to its slip there, at the nodes 0 .. q - 1 too.

The momenta at the end of a step lack what node q has of the impulses; it is part of z_0 of the next step. With the
direction at node 0 of that step in place of the one at node q the order falls to 3. So this part of z_0, which
`note_slips` finds (contacts.py), acts along the direction where it belongs.

Newton's matrix has the change of this impulse with z_j in the column of z_j, and its turning with the slip by an effort
across this, -mu z_j / |slip| times the slip across. Where the slip passes zero within a step the direction stays on the
line of the slip, pointing as before, so that the end of such a step shows when it does.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, rotate, scale, turn_of, vector, write
from varint.step.collocation.conditions_on_rates import add_condition, fill_row
from varint.step.collocation.facing import to_pose
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.shown import SHOWN, copy_poses, write_velocities
from varint.step.collocation.slips import keep_slip, slides
from varint.step.contacts.cones import STILL
from varint.step.contacts.features import feature_of
from varint.step.contacts.rows import write_upper
from varint.step.dense import add_scaled6, dot6
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit


@indirect(seconds=1, what="friction of hard contacts in collocation")
def rub_nodes(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float
) -> None:
    """Add the friction of contacts that slide to the wrenches at the nodes of an iterate; write the rows of others.

    Call after `place_closures` at all nodes. Rows: gradients and ``work.closures.row``. Of those that slide writes
    ``work.touch.speed`` (s, contacts), m/s, ``rub`` (s, contacts, 2, 6), and the rows of efforts of the matrix.
    ``h``: size of the step, s. Overwrites ``ws.velocity``.
    """
    q, own = rule.weight.size - 1, work.closures
    for n in range(closures.across.size):
        first = (natural(closures.across[n]) - closures.rows[0]) * q
        for i in range(q):
            own.row[first + i] = 0.0
    if not _any_rubs(ws, closures):
        return
    for j in range(q + 1):
        write_velocities(tree, rule, work, ws.velocity, h, j)
        for n in range(closures.rubs.size):
            c = natural(closures.rubs[n])
            if not _rubs(ws, work, c):
                continue
            first, second = _slip(plan, ws, closures, work, c, j)
            if slides(work, c):
                _slide(plan, ws, tree, closures, work, c, j, (first, second))
                continue
            for a in range(1, 3):
                r = natural(work.touch.row[c, a])
                _copy_raw(work.touch.across[j, 2 * c + a - 1], 1.0, own.gradient[j, r])
                add_condition(closures, rule, work, h, r, j, first if a == 1 else second)


@njit
def _rubs(ws, work, c):
    """Whether contact c is closed and has rows in this step."""
    return ws.contacts.closed[c] and work.touch.row[c, 0] >= 0


@njit
def _any_rubs(ws, closures):
    """Whether a contact with friction is closed."""
    for n in range(closures.rubs.size):
        if ws.contacts.closed[closures.rubs[n]]:
            return True
    return False


@njit
def _slip(plan, ws, closures, work, c, j):
    """Return the rates, m/s, of contact c at node j along both directions of its plane, at ``ws.velocity`` (nb, 6)."""
    first = second = 0.0
    for side in range(2):
        b = plan.measures.body[work.touch.row[c, 0], side]
        if b < plan.bodies.mass.size:
            first += dot6(work.touch.across[j, 2 * c, side], ws.velocity[natural(b)])
            second += dot6(work.touch.across[j, 2 * c + 1, side], ws.velocity[natural(b)])
    return first, second


@njit
def _copy_raw(raw, factor, gradient):
    """Write a factor times a row of a contact (2, 6) to a ``gradient`` (2, 6)."""
    for side in range(2):
        for m in range(6):
            gradient[side, m] = factor * raw[side, m]


@njit
def _slide(plan, ws, tree, closures, work, c, j, slip):
    """Write what contact c, which slides, does at node j with a ``slip`` (2,), m/s; see `rub_nodes`."""
    touch, own, q = work.touch, work.closures, work.position.shape[0] - 1
    size = math.sqrt(slip[0] * slip[0] + slip[1] * slip[1])
    d, e, turning = touch.slide[c, 0], touch.slide[c, 1], False
    if size > STILL * length_unit(plan):
        sign = 1.0 if slip[0] * d + slip[1] * e > 0.0 else -1.0
        d, e, turning = sign * slip[0] / size, sign * slip[1] / size, sign > 0.0
    touch.speed[j, c] = slip[0] * d + slip[1] * e
    touch.along[j, c, 0], touch.along[j, c, 1] = d, e
    friction, rub = plan.contacts.friction[c], touch.rub[j, c]
    _copy_raw(touch.across[j, 2 * c], -friction * d, rub)
    for side in range(2):
        add_scaled6(rub[side], -friction * e, touch.across[j, 2 * c + 1, side])
    if j == q:
        return
    z = own.multiplier[(natural(work.touch.row[c, 0]) - closures.rows[0]) * q + j]
    left = touch.left[c, 0] * friction if j == 0 else 0.0
    for side in range(2):
        b = plan.measures.body[work.touch.row[c, 0], side]
        if b >= tree.link.size:
            continue
        out, R = work.wrench[j, tree.link[b]], work.rotation[j, tree.link[b]]
        force, torque = scale(z, vector(rub[side])), scale(z, rotate(R, turn_of(rub[side])))
        for a in range(2 if left != 0.0 else 0):
            row, apart = touch.across[0, 2 * c + a, side], left * ((d if a == 0 else e) - touch.left[c, 1 + a])
            force = add(force, scale(apart, vector(row)))
            torque = add(torque, scale(apart, rotate(R, turn_of(row))))
        write(out, add(vector(out), force), add(turn_of(out), torque))
    r = natural(work.touch.row[c, 1])
    own.by_rate[j, r] = -friction * z / size if turning else 0.0
    for k in range(j, q + 1 if j == q - 1 else j + 1):  # the end takes that of the node before: of the matrix alone
        _copy_raw(touch.across[j, 2 * c], -e, own.gradient[k, r])
        for side in range(2):
            add_scaled6(own.gradient[k, r, side], d, touch.across[j, 2 * c + 1, side])


@indirect(seconds=1, what="friction of hard contacts in collocation")
def rub_fills(plan: Plan, ws: Workspace, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace) -> None:
    """Add the friction of contacts to the fills of their rows in Newton's matrix, after `start_fills`."""
    q, own = rule.weight.size - 1, work.closures
    for n in range(closures.rubs.size):
        c = natural(closures.rubs[n])
        if not _rubs(ws, work, c):
            continue
        if not slides(work, c):
            fill_row(plan, rule, work, natural(work.touch.row[c, 1]))
            fill_row(plan, rule, work, natural(work.touch.row[c, 2]))
            continue
        r = natural(work.touch.row[c, 0])
        for side in range(2):
            e, b = plan.loops.row_fill[r, side], natural(plan.measures.body[r, side])
            if e < 0:
                continue
            for j in range(q):
                rub, out = work.touch.rub[j, c, side], own.upper[e, j * q + j]
                turn = rotate(work.body_rotation[j, b], turn_of(rub))
                write(out, add(vector(out), vector(rub)), add(turn_of(out), turn))


@indirect(seconds=1, what="friction of hard contacts in collocation")
def finish_friction(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float
) -> None:
    """Add the works of friction over a solved step to ``ws.efforts.work`` (ne,), J; keep the slips at its end.

    Call where the links are at all nodes, with the rows of the last iterate. Writes ``ws.contacts.slip``
    (contacts, 2), m/s, and the direction ``work.touch.slide``.
    """
    q, own = rule.weight.size - 1, work.closures
    for j in range(q + 1 if _any_rubs(ws, closures) else 0):
        write_velocities(tree, rule, work, ws.velocity, h, j)
        for n in range(closures.rubs.size):
            c = natural(closures.rubs[n])
            if not (_rubs(ws, work, c) and slides(work, c)):
                continue
            first, second = _slip(plan, ws, closures, work, c, j)
            speed = first * work.touch.along[j, c, 0] + second * work.touch.along[j, c, 1]
            if j < q:
                z = own.multiplier[(natural(work.touch.row[c, 0]) - closures.rows[0]) * q + j]
                power = z * speed + (work.touch.left[c, 0] * (work.touch.left[c, 3] - speed) if j == 0 else 0.0)
                ws.efforts.work[plan.contacts.element[c]] -= plan.contacts.friction[c] * power
            else:
                along = work.touch.along[j, c, 0], work.touch.along[j, c, 1]
                work.touch.left[c, 1], work.touch.left[c, 2] = to_pose(plan, work, c, j, along)
                work.touch.left[c, 0], work.touch.left[c, 3] = 0.0, speed
                if feature_of(plan, c) >= 0:
                    copy_poses(work, j, ws.position[SHOWN], ws.rotation[SHOWN])
                    write_upper(plan, ws, SHOWN, c)
                    slide = to_pose(plan, work, c, j, (work.touch.slide[c, 0], work.touch.slide[c, 1]))
                    work.touch.slide[c, 0], work.touch.slide[c, 1] = slide
                first, second = to_pose(plan, work, c, j, (first, second))
                keep_slip(plan, ws, work, c, first, second)
