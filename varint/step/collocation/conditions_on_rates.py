"""Constraints on velocities, A(x) v = 0, in a collocation step: conditions on the rates over the step as a whole.

With g_j = A_j v_j at node j, where v_j is the derivative of the polynomials, a row keeps

    sum_j weight_j p(c_j) g_j = 0    for all polynomials p of degree q - 1 or less,    q = s - 1

that is q conditions, for impulses along A_j^T at the nodes 0 .. q - 1 as those of other rows. The order 2 s - 2 stays:
measured. With the rows at the nodes 1 .. q themselves, g_k = 0, it falls to s - 1.

Conditions are combined, h sum_j C_ij g_j = 0 with sum_j C_ij l_m'(c_j) = 1 for i = m and else 0: for a constant A they
are A (x_i - x_0) = 0, i = 1 .. q. Newton's matrix has, for a motion of node m, sum_j C_ij l_m'(c_j) A_j, with
(tr P - P) t / 2, P = R_m R_j^T, in place of a turn t. The changes of A_j and of the angular velocity at node j with the
pose of node j itself are left out.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, rotate, rotate_back, scale, turn_of, vector, write
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.shown import write_velocities
from varint.step.dense import dot6
from varint.step.plan import Plan, Workspace


@indirect(seconds=1, what="rolling without slip in steps of collocation")
def measure_rates(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float
) -> None:
    """Write the values of the conditions to ``work.closures.row`` (closed,), over those of `place_closures`.

    h sum_j C_ij g_j, m or rad. Reads gradients at all nodes; overwrites ``ws.velocity``.
    """
    own, q = work.closures, rule.weight.size - 1
    for n in range(closures.rated.size):
        first = (natural(closures.rated[n]) - closures.rows[0]) * q
        for i in range(q):
            own.row[first + i] = 0.0
    for j in range(q + 1):
        write_velocities(tree, rule, work, ws.velocity, h, j)
        for n in range(closures.rated.size):
            r, rate = natural(closures.rated[n]), 0.0
            for side in range(2):
                b = plan.measures.body[r, side]
                if b < tree.link.size:
                    rate += dot6(own.gradient[j, r, side], ws.velocity[natural(b)])
            add_condition(closures, rule, work, h, r, j, rate)


@njit
def add_condition(closures, rule, work, h, r, j, rate):
    """Add the ``rate``, m/s or rad/s, of row r at node j to its conditions in ``work.closures.row`` (closed,)."""
    q = rule.weight.size - 1
    for i in range(q):
        work.closures.row[(r - closures.rows[0]) * q + i] += h * rule.combined[i, j] * rate


@indirect(seconds=1, what="rolling without slip in steps of collocation")
def fill_rates(plan: Plan, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace) -> None:
    """Write the derivatives of the conditions by motions at the nodes, over those of `start_fills`.

    To the fills ``work.closures.lower`` (fills, q q, 6) of their rows.
    """
    for n in range(closures.rated.size):
        fill_row(plan, rule, work, natural(closures.rated[n]))


@njit
def fill_row(plan, rule, work, r):
    """Write the derivatives of the q conditions of row r of the plan by motions at the nodes 1 .. q, see `fill_rates`.

    To ``work.closures.lower`` (fills, q q, 6), one fill for each side that has a body of the loops; world axes.
    """
    own, q = work.closures, rule.weight.size - 1
    for side in range(2):
        e, b = plan.loops.row_fill[r, side], natural(plan.measures.body[r, side])
        if e < 0:
            continue
        for i in range(q):
            for m in range(1, q + 1):
                own.lower[e, i * q + m - 1] = 0.0
                for j in range(q + 1):
                    share = rule.combined[i, j] * rule.slope[j, m]
                    _add_row(work, r, side, b, j, m, share, own.lower[e, i * q + m - 1])


@njit
def _add_row(work, r, side, b, j, m, share, out):
    """Add to ``out`` (6,) the gradient A_j of row r on a side, times ``share``, for a motion of body b at node m.

    The motion, and ``out``, are a shift and a turn, world axes.
    """
    G, R_j, R_m = work.closures.gradient[j, r, side], work.body_rotation[j, b], work.body_rotation[m, b]
    spin = rotate(R_j, turn_of(G))
    trace = 0.0
    for a in range(3):
        for c in range(3):
            trace += R_m[a, c] * R_j[a, c]
    turned = rotate(R_j, rotate_back(R_m, spin))  # P^T spin, P = R_m R_j^T
    turn = scale(0.5, add(scale(trace, spin), scale(-1.0, turned)))
    write(out, add(vector(out), scale(share, vector(G))), add(turn_of(out), scale(share, turn)))
