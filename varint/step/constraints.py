"""Constraints of forces: weighted sums of measures kept at a target (docs/theory.md section 12)."""

from varint.base.numba import Float1, indirect, njit
from varint.mathematics.vectors import continued
from varint.step.inputs import SAME_SHARE, Inputs, nodes_around
from varint.step.intervals import Interval
from varint.step.measures import mapped_value, measure_at
from varint.step.plan import Plan, Workspace
from varint.step.role import Role


@njit
def start_constraints(plan, ws, pose):
    """Initialise at the start of a run, at ``pose``, a number.

    Turns in ``value_near`` (nm,) go on; of driven constraints they count from the target. Sums of others become their
    ``target`` (nr,).
    """
    work = ws.efforts
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        if plan.constraints.driven[c]:
            for r in range(first, first + plan.constraints.size[c]):
                work.value_near[r] = work.target[first]
    follow_constraints(plan, ws, ws.position[pose], ws.rotation[pose])
    for c in range(plan.constraints.row.size):
        if not plan.constraints.driven[c]:
            work.target[plan.constraints.row[c]] = sum_of_constraint(plan, ws, c)


@njit
def set_node_targets(plan, ws, inputs):
    """Set the targets of driven constraints at a node from its inputs, ``inputs`` (ne,); turns count from there.

    In ``ws.efforts.target`` and ``ws.efforts.value_near``.
    """
    for c in range(plan.constraints.row.size):
        if plan.constraints.driven[c]:
            r = plan.constraints.row[c]
            ws.efforts.target[r] = ws.efforts.value_near[r] = inputs[plan.constraints.element[c]]


@njit
def set_node_rates(plan, ws, rates):
    """Set ``ws.efforts.target_rate`` of all constraints at a node from the ``rates`` (ne,) of its inputs."""
    for c in range(plan.constraints.row.size):
        ws.efforts.target_rate[plan.constraints.row[c]] = rates[plan.constraints.element[c]]


@njit
def sum_of_constraint(plan, ws, c):
    """Return the weighted sum of constraint c, a number, by ``ws.efforts.value_near`` (nm,)."""
    total = 0.0
    for r in range(plan.constraints.row[c], plan.constraints.row[c] + plan.constraints.size[c]):
        total += plan.measures.weight[r] * mapped_value(ws, r, ws.efforts.value_near[r])[0]
    return total


@njit
def follow_constraints(plan, ws, position, rotation):
    """Write the values of the measures at a pose (nb + 1, 3), (nb + 1, 3, 3) to ``ws.efforts.value_near``."""
    work = ws.efforts
    for c in range(plan.constraints.row.size):
        for r in range(plan.constraints.row[c], plan.constraints.row[c] + plan.constraints.size[c]):
            value = measure_at(plan, ws, r, position, rotation, work.gradient[r])
            work.value_near[r] = continued(plan.measures.period[r], work.value_near[r], value)


@indirect(seconds=1, what="couplings and prescribed motions")
def set_targets(plan: Plan, ws: Workspace, inputs: Inputs, node: int, share: float, dt: float) -> None:
    """Set the targets (nr,) of driven constraints at ``node + share`` of ``dt``: cubics between rows of the inputs.

    In ``ws.efforts.target``; their rates go to ``ws.efforts.target_rate_next``, and the rates of these to
    ``ws.pace.bend``.
    """
    work, (left, right) = ws.efforts, nodes_around(inputs, node)
    share, dt = share / inputs.width[0], dt * inputs.width[0]
    for c in range(plan.constraints.row.size):
        if not plan.constraints.driven[c]:
            continue
        r, e = plan.constraints.row[c], plan.constraints.element[c]
        a, b, s = inputs.input[left, e], inputs.input[right, e], share
        p, q = inputs.rate[left, e] * dt, inputs.rate[right, e] * dt
        # from the left by p s, what is missing to b and q by s^2 and s^3
        square, cube = 3.0 * (b - a) - 2.0 * p - q, 2.0 * (a - b) + p + q
        work.target[r] = b if s == 1.0 else a + s * (p + s * (square + s * cube))
        work.target_rate_next[r] = (p + s * (2.0 * square + 3.0 * s * cube)) / dt
        ws.pace.bend[c] = (2.0 * square + 6.0 * s * cube) / (dt * dt)
    for n in range(inputs.end.size):
        if abs(inputs.end[n] - share) < SAME_SHARE:
            step = min(node - inputs.first[0], inputs.aim.shape[0] - 1)
            for m in range(inputs.moved.size):
                r = plan.constraints.row[inputs.moved[m]]
                work.target[r], work.target_rate_next[r] = inputs.aim[step, n, m], inputs.aim_rate[step, n, m]


@indirect(seconds=1, what="couplings and prescribed motions")
def aim_constraints(plan: Plan, ws: Workspace, inputs: Inputs, when: Interval, h: float, kept: bool) -> None:
    """Do `set_targets`, (nr,), at the end of a stage."""
    set_targets(plan, ws, inputs, when.node, when.after, when.dt)


@indirect(seconds=1, what="couplings and prescribed motions")
def finish_constraints(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add the works (ne,) of the impulses of a stage, at the rate where they act; set the rates (nr,) at its end.

    In ``ws.efforts.work`` and ``ws.efforts.target_rate``.
    """
    work = ws.efforts
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        work.work[plan.constraints.element[c]] += ws.multiplier[r] * work.target_rate[r]
        if plan.constraints.driven[c]:
            work.target_rate[r] = work.target_rate_next[r]
    follow_constraints(plan, ws, ws.position[end], ws.rotation[end])


@indirect(seconds=1, what="couplings and prescribed motions")
def drive_constraints(plan: Plan, ws: Workspace, share: float) -> None:
    """Add to ``ws.balance.driven`` (nc,) the work, J, of a ``share`` of the impulses of a step at targets' rates."""
    for n in range(plan.constraints.row.size):
        r, c = plan.constraints.row[n], plan.components.of_element[plan.constraints.element[n]]
        ws.balance.driven[c] += share * ws.multiplier[r] * ws.efforts.target_rate[r]


@indirect(seconds=1, what="couplings and prescribed motions")
def add_constraint_works(plan: Plan, ws: Workspace, work: Float1, slip: bool) -> None:
    """Add to ``work`` (ne,), J, that of the impulses ``ws.increment_row`` at a node, at the rates of targets."""
    for c in range(plan.constraints.row.size):
        r = plan.constraints.row[c]
        work[plan.constraints.element[c]] += ws.increment_row[r] * ws.efforts.target_rate[r]


CONSTRAINTS = Role(
    lambda plan: plan.constraints.row.size,
    {
        "aim": aim_constraints, "finish": finish_constraints, "drive": drive_constraints, "work": add_constraint_works,
    },
    also=lambda plan, stages: (set_targets,),
    sizes=lambda plan, stages: {"constraints": plan.constraints.row.size},
)  # fmt: skip
