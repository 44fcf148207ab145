"""Strong dissipation in a collocation step: efforts by rates that lead to its end (docs/theory.md section 16).

With c_j the nodes, P_n Legendre's polynomials over the step, and the rate r_j along an effort at node j, an effort of
strong damping acts at the rate

    r_j - a P_s-1(c_j) r',    r' = (2 s - 3) sum_m b_m (P_s-2 + P_s-1)(c_m) r_m,    a = (s - 1) / (2 s - 3)

r' is the part of degree s - 2 of the rate, and (2 s - 3) / (s - 1) of the part of degree s - 1, which the term takes
out: rates along a direction that turns have one, the velocities do not, so no damper could end it. Along a fixed
direction a momentum along a damper c on an inertia m is multiplied in a step by
Pade's approximant (s - 2, s - 1) of exp(-z), z = c h / m, as by Radau IIA with s - 1 nodes: at most exp(-1) for z >= 1,
and zero in the limit. The order by these efforts is 2 s - 3. Which efforts are strong is chosen at the start of each
step as at order 2 (damping/choice.py).

The works of these efforts take the rates w_j = r_j + (A P_s-1(c_j) + B P_s-2(c_j)) / 2, where A and B are such that
twice the correction brings the rates of the polynomials at both ends to those of the momenta there. For efforts of
constant slope along fixed directions the sum of works is then the change of the kinetic energy, for any z.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, dot, rotate, rotate_back, scale, turn_of, vector, write
from varint.step.collocation.records import LinkTree, NodeWorkspace
from varint.step.collocation.shown import bring_node
from varint.step.damping.choice import choose_leads
from varint.step.damping.end_rates import evaluate_ahead, leads, push_ahead, rates_at_start
from varint.step.dense import add_scaled6, copy_motions
from varint.step.laws import has_potential, law_effort
from varint.step.loads import differentiate_resistance
from varint.step.plan import Plan, Workspace
from varint.step.projection import project

WHAT = "strong damping in steps of collocation"


@indirect(seconds=1, what=WHAT)
def choose_ends(plan: Plan, ws: Workspace, tree: LinkTree, work: NodeWorkspace, h: float) -> None:
    """Choose the strong efforts of the next step of ``h`` s: ``ws.damping.lead``, ``load_lead``, ``work.ends.any``.

    Their leads are one: the rule says by how much an effort leads at a node.
    """
    bring_node(plan, ws, tree, work, 0)
    choose_leads(plan, ws, 0, h)
    any_leads = False
    for f in range(ws.damping.lead.size):
        ws.damping.lead[f] = 1.0 if ws.damping.lead[f] > 0.0 else 0.0
        any_leads = any_leads or ws.damping.lead[f] > 0.0
    for n in range(ws.damping.load_lead.size):
        work.ends.led[n] = ws.damping.load_lead[n] > 0.0
        any_leads = any_leads or work.ends.led[n]
    work.ends.any[0] = any_leads
    work.ends.used[0] = work.ends.used[0] or any_leads


@njit
def clear_ends(plan, ws, tree, closures, work):
    """Clear what a pass over all nodes sums up in ``work.ends``: means (sums,), impulses (laws,), those of loads."""
    ends = work.ends
    _find_carriers(plan, ws, tree, closures, work)
    ends.mean[:] = 0.0
    ends.load_mean[:] = 0.0
    ends.high[:] = 0.0
    ends.low[:] = 0.0
    ends.load_high[:] = 0.0
    ends.load_low[:] = 0.0
    ends.along[:] = 0.0
    ends.by_row[:] = 0.0


@njit
def _find_carriers(plan, ws, tree, closures, work):
    """Write the body of each strong sum that acts between it and the world, outside of rows and links."""
    nb = tree.link.size
    for s in range(work.ends.mean.size):
        work.ends.carrier[s] = -1
        alone = tree.along[s] < 0
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            alone = alone and not closures.rows[0] <= plan.measures.row[m] < closures.rows[1]
            for side in range(2):
                b = plan.measures.body[m, side]
                if b < nb:
                    alone = alone and work.ends.carrier[s] in (-1, b)
                    work.ends.carrier[s] = b
        if not (alone and leads(plan, ws, s)):
            work.ends.carrier[s] = -1


@njit
def _keep_gradient(plan, ws, work, s, j):
    """Keep the gradient of strong sum s with the world at node j in ``work.ends.gradient`` (s, sums, 6), world axes."""
    b, out = natural(work.ends.carrier[s]), work.ends.gradient[j, s]
    out[:] = 0.0
    for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        for side in range(2):
            if plan.measures.body[m, side] == b:
                g = ws.efforts.gradient[m, side]
                write(out, add(vector(out), vector(g)), add(turn_of(out), rotate(work.body_rotation[j, b], turn_of(g))))


@njit
def add_mean(plan, ws, rule, work, j):
    """Add node j to the parts r' of all rates, and keep the rates at both ends; after `evaluate_node`.

    To ``work.ends``: ``mean`` (sums,) and ``apart`` (2, sums), of loads ``load_mean`` (loads, 6) and ``load_apart``.
    """
    ends, last = work.ends, rule.weight.size - 1
    for s in range(ends.mean.size):
        rate = ws.efforts.sum_rate[s]
        if ends.carrier[s] >= 0:
            _keep_gradient(plan, ws, work, s, j)
        ends.mean[s] += rule.spread[j] * rate
        if j == 0:
            ends.apart[0, s] = ws.damping.start_rate[s] - rate
        elif j == last:
            ends.apart[1, s] = -rate
    for n in range(ends.load_mean.shape[0]):
        b = natural(plan.loads.body[n])
        R, v = work.body_rotation[j, b], ws.velocity[b]
        line, turn = vector(v), rotate(R, turn_of(v))
        mean = ends.load_mean[n]
        write(mean, add(vector(mean), scale(rule.spread[j], line)), add(turn_of(mean), scale(rule.spread[j], turn)))
        if j == 0:
            start = ws.damping.start[b]
            write(
                ends.load_apart[0, n], add(vector(start), scale(-1.0, line)),
                add(rotate(R, turn_of(start)), scale(-1.0, turn)),
            )  # fmt: skip
        elif j == last:
            write(ends.load_apart[1, n], scale(-1.0, line), scale(-1.0, turn))


@njit
def lead_node(plan, ws, rule, work, h, j):
    """Let strong efforts at node j act at the rates that lead: sums and wrenches in ``ws.efforts``.

    After `evaluate_node`. ``work.ends.by_rate`` (sums,): the derivatives of these by the rate at which they act.
    """
    own, ends, lead = ws.efforts, work.ends, rule.lead[j]
    for s in range(ends.mean.size):
        ends.by_rate[s] = 0.0
        if leads(plan, ws, s):
            ends.by_rate[s] = evaluate_ahead(plan, own, ws.damping, s, lead * ends.mean[s], 0.0)
        ends.world_by_value[j, s] = h * rule.weight[j] * own.sum_by_value[s]
        ends.world_by_rate[j, s] = rule.weight[j] * own.sum_by_rate[s]
        ends.world_by_mean[j, s] = rule.weight[j] * lead * ends.by_rate[s]
    for n in range(ends.load_mean.shape[0]):
        if ws.damping.load_lead[n] > 0.0:
            _lead_load(plan, ws, work, n, j, lead)


@njit
def _lead_load(plan, ws, work, n, j, lead):
    """Let load n, a resistance, at node j act at the velocity that leads by ``lead``, a number, times its mean.

    Replaces its wrench ``ws.efforts.wrench`` (loads, 6); derivatives to ``work.ends.load_by_rate`` (s, loads, 6, 3).
    """
    ends, b = work.ends, natural(plan.loads.body[n])
    R, ahead, mean = work.body_rotation[j, b], ws.damping.ahead, ends.load_mean[n]
    turn = add(turn_of(ws.velocity[b]), scale(lead, rotate_back(R, turn_of(mean))))
    write(ahead[b], add(vector(ws.velocity[b]), scale(lead, vector(mean))), turn)
    push_ahead(plan, ws.efforts, ws.damping, n, work.body_rotation[j])
    by = ends.by_velocity
    by[:] = 0.0
    differentiate_resistance(plan, n, ahead, by)
    for a in range(3):
        for c in range(3):
            ends.load_by_rate[j, n, a, c] = by[a, c]
            total = 0.0
            for k in range(3):
                for m in range(3):
                    total += R[a, k] * by[3 + k, 3 + m] * R[c, m]
            ends.load_by_rate[j, n, 3 + a, c] = total


@njit
def damp_blocks(plan, tree, rule, work):
    """Add the derivatives of strong resistances, and of laws with the world, to D (q q, 6, 6) of the links."""
    q, ends = rule.weight.size - 1, work.ends
    for s in range(ends.mean.size):
        if ends.carrier[s] < 0:
            continue
        D = work.D[natural(tree.link[natural(ends.carrier[s])])]
        for j in range(q):
            for k in range(q):
                share = ends.world_by_rate[j, s] * rule.slope[j, k + 1] + ends.world_by_mean[j, s] * rule.top[k + 1]
                share += ends.world_by_value[j, s] if j == k + 1 else 0.0
                for a in range(6):
                    add_scaled6(D[j * q + k, a], share * ends.gradient[j, s, a], ends.gradient[k + 1, s])
    for n in range(work.ends.load_mean.shape[0]):
        if not work.ends.led[n]:
            continue
        D = work.D[natural(tree.link[natural(plan.loads.body[n])])]
        for j in range(q):
            B = work.ends.load_by_rate[j, n]
            for k in range(q):
                share = rule.weight[j] * (rule.slope[j, k + 1] + rule.lead[j] * rule.top[k + 1])
                for a in range(3):
                    for c in range(3):
                        D[j * q + k, a, c] += share * B[a, c]
                        D[j * q + k, 3 + a, 3 + c] += share * B[3 + a, c]


@njit
def sum_ends(plan, ws, rule, work, h, j):
    """Add node j of a solved step of ``h`` s to what works of strong efforts need; after `lead_node`.

    To ``work.ends``: ``high`` and ``low`` (laws,), N s or N m s, of loads ``load_high`` and ``load_low`` (loads, 6).
    """
    own, ends, share = ws.efforts, work.ends, h * rule.weight[j]
    for s in range(ends.mean.size):
        for f in range(natural(plan.laws.sum_law[s]), natural(plan.laws.sum_law[s + 1])):
            if ws.damping.lead[f] > 0.0:
                effort = own.effort[natural(plan.laws.element[f])]
                if has_potential(plan, f):
                    effort -= law_effort(plan, own, f, own.sum_value[s], 0.0, 0.0)[0]
                ends.high[f] += share * rule.high[j] * effort
                ends.low[f] += share * rule.low[j] * effort
    for n in range(ends.load_mean.shape[0]):
        if ws.damping.load_lead[n] > 0.0:
            wrench, R = own.wrench[n], work.body_rotation[j, natural(plan.loads.body[n])]
            force, torque = vector(wrench), rotate(R, turn_of(wrench))
            high, low = ends.load_high[n], ends.load_low[n]
            up, down = share * rule.high[j], share * rule.low[j]
            write(high, add(vector(high), scale(up, force)), add(turn_of(high), scale(up, torque)))
            write(low, add(vector(low), scale(down, force)), add(turn_of(low), scale(down, torque)))


@indirect(seconds=1, what=WHAT)
def finish_ends(plan: Plan, ws: Workspace, tree: LinkTree, work: NodeWorkspace) -> None:
    """Complete the works of strong efforts over a step, ``ws.efforts.work``; the end is the present node."""
    ends, sign = work.ends, 1.0 if work.by.shape[0] % 2 else -1.0
    bring_node(plan, ws, tree, work, 0)
    project(plan, ws, 0)
    copy_motions(ws.increment_body, ws.damping.start)
    rates_at_start(plan, ws, 0)
    for s in range(ends.mean.size):
        start, end = sign * ends.apart[0, s], ends.apart[1, s] + ws.damping.start_rate[s]
        for f in range(natural(plan.laws.sum_law[s]), natural(plan.laws.sum_law[s + 1])):
            if ws.damping.lead[f] > 0.0:
                work_of = 0.25 * ((end + start) * ends.high[f] + (end - start) * ends.low[f])
                ws.efforts.work[natural(plan.laws.element[f])] += work_of
    for n in range(ends.load_mean.shape[0]):
        if ws.damping.load_lead[n] > 0.0:
            b = natural(plan.loads.body[n])
            v, before, after = ws.damping.start[b], ends.load_apart[0, n], ends.load_apart[1, n]
            line, turn = add(vector(after), vector(v)), add(turn_of(after), rotate(ws.rotation[0, b], turn_of(v)))
            high, low = ends.load_high[n], ends.load_low[n]
            up = add(vector(high), vector(low)), add(turn_of(high), turn_of(low))
            down = add(vector(high), scale(-1.0, vector(low))), add(turn_of(high), scale(-1.0, turn_of(low)))
            total = dot(line, up[0]) + dot(turn, up[1])
            total += sign * (dot(vector(before), down[0]) + dot(turn_of(before), down[1]))
            ws.efforts.work[plan.loads.element[n]] += 0.25 * total
