"""Constraints on velocities, A(x) v = 0, in a collocation step: conditions on the rates over the step as a whole.

With g_j = A_j v_j at node j, where v_j is the derivative of the polynomials, a row keeps

    sum_j weight_j p(c_j) g_j = 0    for all polynomials p of degree q - 1 or less,    q = s - 1

that is q conditions, for impulses along A_j^T at the nodes 0 .. q - 1 as those of other rows. The order 2 s - 2 stays:
measured. With the rows at the nodes 1 .. q themselves, g_k = 0, it falls to s - 1.

Conditions are combined, h sum_j C_ij g_j = 0 with sum_j C_ij l_m'(c_j) = 1 for i = m and else 0: for a constant A they
are A (x_i - x_0) = 0. The derivative by the motion of node m is sum_j C_ij l_m'(c_j) A_j, for a turn t with
(tr P - P) t / 2 in place of t, P = R_m R_j^T; the change of A_j with the pose is left out of Newton's matrix.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, dot, rotate, scale, turn_of, vector, write
from varint.step.collocation.efforts import write_velocities
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.dense import dot6
from varint.step.plan import Plan, Workspace


@indirect(seconds=1, what="rolling without slip in steps of collocation")
def measure_rates(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float
) -> None:
    """Write the values of the conditions, m, to ``work.closures.row`` (closed,); after `place_closures`."""
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
            for i in range(q):
                own.row[(r - closures.rows[0]) * q + i] += h * rule.combined[i, j] * rate


@indirect(seconds=1, what="rolling without slip in steps of collocation")
def fill_rates(plan: Plan, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace) -> None:
    """Write the derivatives of the conditions by motions at the nodes to the fills ``lower`` (q q, 6) of their rows."""
    own, q = work.closures, rule.weight.size - 1
    for n in range(closures.rated.size):
        r = natural(closures.rated[n])
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
    """Add a share of A_j, of a motion at node m, of body b on a side of row r to ``out`` (6,)."""
    G, R, Q = work.closures.gradient[j, r, side], work.body_rotation[j, b], work.body_rotation[m, b]
    spin = rotate(R, turn_of(G))
    # P^T g of the turn's factor g, P = R_m R_j^T
    back = (
        dot(spin, (R[0, 0], R[1, 0], R[2, 0])),
        dot(spin, (R[0, 1], R[1, 1], R[2, 1])),
        dot(spin, (R[0, 2], R[1, 2], R[2, 2])),
    )
    trace = 0.0
    for a in range(3):
        for c in range(3):
            trace += Q[a, c] * R[a, c]
    through = rotate(Q, back)
    turn = scale(0.5, add(scale(trace, spin), scale(-1.0, through)))
    write(out, add(vector(out), scale(share, vector(G))), add(turn_of(out), scale(share, turn)))
