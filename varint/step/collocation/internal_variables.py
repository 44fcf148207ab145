"""Internal variables of laws in a collocation step: z' = phi(z, value, rate, input) by the nodes of the step.

With A_kj the integrals of Lagrange's polynomials l_j from 0 to node k (Lobatto IIIA), the variable z of a law is

    z_k = z_0 + h sum_j A_kj phi(z_j, value_j, rate_j, input_j),    k = 1 .. q

solved for by Newton's method, law by law, at the values and rates of its sum in the present iterate of the step. The
law acts at node j with z_j there. Its derivatives follow from those of the solution, with M_km = delta_km - h A_km
dphi_m/dz,

    dz_k / dvalue_m = sum_n (M^-1)_kn (h A_nm dphi_m/dvalue + sum_j A_nj dphi_j/drate l_m'(c_j))

and d impulse_j / dvalue_m = h weight_j df_j/dz dz_j/dvalue_m has its place in Newton's matrix beside those of springs
and dampers. The order 2 s - 2 stays: positions and z by Lobatto IIIA, momenta by Lobatto IIIB.
"""

import math

from varint.base.numba import Float2, indirect, natural, njit
from varint.step.collocation.efforts import evaluate_node
from varint.step.collocation.elimination import invert_any
from varint.step.collocation.records import LinkTree, NodeRule, NodeWorkspace
from varint.step.laws import SETTLED, STATE_ITERATIONS, flow_at_state, is_alone
from varint.step.plan import Plan, Workspace

TINY = 1e-10  # of max(1, |z|): the change of the last iteration that is allowed


@njit
def start_internals(ws, work):
    """Let the internal variables have their present values at all nodes of the next step."""
    own = work.internal.node
    for k in range(own.shape[0]):
        for n in range(own.shape[1]):
            own[k, n] = ws.efforts.state[n]


@njit
def return_internals(ws, work):
    """Bring back the internal variables ``ws.efforts.state`` (states,) of the start of a step."""
    for n in range(ws.efforts.state.size):
        ws.efforts.state[n] = work.internal.node[0, n]


@indirect(seconds=2, what="internal variables of forces in steps of collocation")
def settle_internals(
    plan: Plan, ws: Workspace, tree: LinkTree, rule: NodeRule, work: NodeWorkspace, given: Float2, h: float
) -> bool:
    """Solve for the internal variables at the nodes, ``work.internal.node`` (s, states), at the poses there.

    Writes ``work.internal.by_sum`` (sums, q, q), derivatives of impulses along sums through the variables; clears
    ``by_link`` and ``by_row``, and overwrites ``ws.efforts.state`` and ``input``. ``given`` (s, ne): inputs; ``h``: s.
    Returns whether all iterations converged.
    """
    own, laws, solved = work.internal, plan.laws, True
    own.by_sum[:] = own.by_link[:] = own.by_row[:] = 0.0
    if _any_follows_motion(plan):
        for j in range(rule.weight.size):
            evaluate_node(plan, ws, tree, rule, work, given, h, j)
            for s in range(own.value.shape[1]):
                own.value[j, s], own.rate[j, s] = ws.efforts.sum_value[s], ws.efforts.sum_rate[s]
    for s in range(laws.sum_law.size - 1):
        for number in range(laws.sum_law[s], laws.sum_law[s + 1]):
            f = natural(number)
            if laws.state[f] >= 0:
                solved &= _settle(plan, ws, rule, own, given, h, f, s)
    return solved


@njit
def _any_follows_motion(plan):
    """Return whether the flow of an internal variable depends on value or rate of its sum."""
    for f in range(plan.laws.state.size):
        if plan.laws.state[f] >= 0 and not is_alone(plan, f):
            return True
    return False


@njit
def _settle(plan, ws, rule, own, given, h, f, s):
    """Solve for the internal variable of law f, along sum s; see `settle_internals`.

    Reads values and rates ``own.value``, ``own.rate`` (s, sums); writes ``own.node`` (s, states).
    """
    e, n, q = natural(plan.laws.element[f]), natural(plan.laws.state[f]), rule.weight.size - 1
    z, slope, A, M, x = own.node, own.slope, rule.integral, own.matrix, own.column
    change, size = 0.0, 1.0
    for _ in range(STATE_ITERATIONS):
        for j in range(q + 1):
            ws.efforts.input[e] = given[j, e]
            derivatives = flow_at_state(plan, ws.efforts, f, own.value[j, s], own.rate[j, s], z[j, n])
            slope[0, j], slope[1, j], slope[2, j], slope[3, j], slope[4, j] = derivatives
        change, size = 0.0, 1.0
        for k in range(1, q + 1):
            x[k - 1] = z[0, n] - z[k, n]
            for j in range(q + 1):
                x[k - 1] += h * A[k, j] * slope[1, j]
            for m in range(1, q + 1):
                M[k - 1, m - 1] = (1.0 if m == k else 0.0) - h * A[k, m] * slope[4, m]
        invert_any(M, own.order, q)
        for k in range(q):
            total = 0.0
            for m in range(q):
                total += M[k, m] * x[m]
            if not abs(total) < math.inf:
                return False
            z[k + 1, n] += total
            change, size = max(change, abs(total)), max(size, abs(z[k + 1, n]))
        if not change > SETTLED * size:
            break
    if not is_alone(plan, f):
        _add_share(rule, own, h, s, q)
    return change <= TINY * size


@njit
def _add_share(rule, own, h, s, q):
    """Add d impulse_j / dvalue_m of the law at hand to ``own.by_sum`` (sums, q, q); after its solution."""
    slope, A, M, x = own.slope, rule.integral, own.matrix, own.column
    for m in range(1, q + 1):
        for k in range(1, q + 1):
            x[k - 1] = h * A[k, m] * slope[2, m]
            for j in range(q + 1):
                x[k - 1] += A[k, j] * slope[3, j] * rule.slope[j, m]
        for j in range(1, q):
            total = 0.0
            for k in range(q):
                total += M[j - 1, k] * x[k]
            own.by_sum[s, j, m - 1] += h * rule.weight[j] * slope[0, j] * total
