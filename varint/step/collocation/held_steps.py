"""Steps of collocation for callers that step a march one call at a time (march/steps.py)."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Float4, Int1, indirect, njit, record_at
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.steps import march_nodes
from varint.step.plan import Plan, Workspace


@dataclass(frozen=True, eq=False)
class NodeSteps(CompiledRecord, writable=True):
    """The arrays of a march by collocation, and the inputs at the nodes of its next step."""

    plan: Plan
    ws: Workspace
    tree: LinkTree
    closures: ClosedLoops
    rule: NodeRule
    work: NodeWorkspace
    inputs: Float4  # (2, 1, s, ne), and their rates
    loads: Float4  # (1, s, nb, 6), constant ...
    pushed: Int1  # (1,) how many steps of `loads` there are: zero or one
    position: Annotated[Float3, "1 nb 3"]  # these, for the present node, as `march_nodes` records it
    quat: Annotated[Float3, "1 nb 4"]
    velocity: Annotated[Float3, "1 nb 6"]
    energy_work: Float2
    state: Float2


nodes_at = record_at(NodeSteps)
march_on = indirect(march_nodes)  # the very code of other runs: the same bits


@njit(contract=False)
def _fill_inputs(inputs, node, table):
    """Let the inputs at the nodes lie on the line between the rows of ``table`` (T, ne), of both ends of the step."""
    for k in range(node.size):
        for e in range(table.shape[1]):
            inputs[0, 0, k, e] = table[0, e] + node[k] * (table[table.shape[0] - 1, e] - table[0, e])


@indirect(seconds=1, what="steps that Python calls one by one")
def run_nodes(
    word: int, table: Float2, node: int, steps: int, stride: int, h: float,
    out: tuple[Float3, Float3, Float3, Float2, Float2, Int1, Float1, Int1],
) -> tuple[int, int, int]:  # fmt: skip
    """Take steps of ``h`` s from ``node`` on and record; return the status, and how many were taken and recorded.

    ``word``: of `NodeSteps`. ``table`` (T, ne): inputs, or those at both ends of one step. ``out``: see `step.run`.
    """
    nodes = nodes_at(word)
    position, quat, velocity, energy_work, state, unresolved, time, counts = out
    _fill_inputs(nodes.inputs, nodes.rule.node, table)
    status, done, iterations = march_on(
        nodes.plan, nodes.ws, nodes.tree, nodes.closures, nodes.rule, nodes.work, nodes.inputs,
        nodes.loads[: nodes.pushed[0]], node, steps, stride, h, (position, quat, velocity, energy_work, state),
    )  # fmt: skip
    counts[0] += iterations
    nodes.ws.pace.time[0] = h * (node + done)
    records = (node + done) // stride - node // stride
    for k in range(records):
        unresolved[k], time[k] = -1, h * ((node // stride + 1 + k) * stride)
    return status, done, records


@indirect(seconds=1, what="steps that Python calls one by one")
def show_node(word: int, out: tuple[Float2, Float2, Float2, Float1, Float1]) -> None:
    """Write the present node, see `record_node`; ``word``: of `NodeSteps`."""
    nodes = nodes_at(word)
    own = nodes.position, nodes.quat, nodes.velocity, nodes.energy_work, nodes.state
    march_on(
        nodes.plan, nodes.ws, nodes.tree, nodes.closures, nodes.rule, nodes.work, nodes.inputs,
        nodes.loads[: nodes.pushed[0]], 0, 0, 1, 1.0, own,
    )  # fmt: skip
    position, quat, velocity, energy_work, state = out
    for b in range(nodes.position.shape[1]):
        for k in range(3):
            position[b, k] = nodes.position[0, b, k]
        for k in range(4):
            quat[b, k] = nodes.quat[0, b, k]
        for k in range(6):
            velocity[b, k] = nodes.velocity[0, b, k]
    for e in range(energy_work.size):
        energy_work[e] = nodes.energy_work[0, e]
    for n in range(state.size):
        state[n] = nodes.state[0, n]
