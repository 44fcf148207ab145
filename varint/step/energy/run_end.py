"""The last two nodes of a run, which the balance of energy (balance.py) would judge in steps to come."""

from varint.base.numba import njit
from varint.step.energy.balance import energy_of_projected, is_resolved, most_changed, oscillation_of, work_on
from varint.step.projection import node_works, project

FEWEST = 8  # nodes: before, the size of the errors that come back is not known


@njit(seconds=1, what="the energy at the end of a run")
def judge_end(plan, ws, pose, last):
    """Judge the last two nodes at the end ``pose`` of a run; return the slot of an unresolved body, or -1.

    ``last``: factor of the bound of changes for the last node, as no later one shows whether its error comes back. The
    memory of later steps stays: ``balance.peak``, ``balance.scale`` and ``balance.exchange`` of ``ws.balance`` are
    restored.
    """
    balance = ws.balance
    if balance.nodes[0] < FEWEST:
        return -1
    project(plan, ws, pose)
    node_works(plan, ws, balance.works)
    for c in range(balance.error.size):
        kinetic = energy_of_projected(plan, ws, c)
        before = balance.peak[c], balance.scale[c], balance.exchange[c]
        work, balance.exchange[c], total = work_on(plan, ws, balance.works, c)
        balance.peak[c] = max(before[0], kinetic)
        balance.scale[c] = max(before[1], max(kinetic, total))
        error = balance.error[c] + kinetic - (balance.kinetic[c, 0] + work - balance.carried[c])
        back = oscillation_of(balance, c, kinetic)
        known = is_resolved(balance, c, balance.error[c], back, 1.0, True)
        small = is_resolved(balance, c, error, back, last, False)
        balance.peak[c], balance.scale[c], balance.exchange[c] = before
        if not (known and small):
            return most_changed(plan, ws.history[-1, 1], c)
    return -1
