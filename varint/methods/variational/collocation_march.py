"""The march of a mechanism over its nodes by collocation."""

from collections.abc import Callable, Mapping

import numpy as np

from varint.base.numba import STATE, allocate, role_arrays, word_of
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.collocation_events import start_kept, take_with_events, watch_stops
from varint.methods.variational.links import closures_of, link_tree
from varint.methods.variational.lobatto_rule import node_rule
from varint.methods.variational.march import NODE_ARRAYS, TIMES, March
from varint.methods.variational.massive_paths import path_sizes
from varint.methods.variational.node_block import NodeBlock
from varint.methods.variational.schemes import scheme
from varint.methods.variational.strong_damping import start_damping
from varint.model.joints.base import ProductJoint
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.step.collocation.closures import start_closures
from varint.step.collocation.conditions_on_rates import fill_rates, measure_rates
from varint.step.collocation.efforts import fastest_law
from varint.step.collocation.end_rates import choose_ends, finish_ends
from varint.step.collocation.friction import finish_friction, rub_fills, rub_nodes
from varint.step.collocation.held_steps import NodeSteps, march_on, run_nodes, show_node
from varint.step.collocation.internal_variables import settle_internals
from varint.step.collocation.path_masses import push_paths, solve_paths
from varint.step.collocation.records import NodeWorkspace
from varint.step.collocation.steps import EVENT, GIVEN, march_nodes
from varint.step.damping.relaxing import first_share
from varint.step.newton import CONVERGED
from varint.step.nodes.efforts import evaluate_efforts

MOST_PARTS = 64  # that a step is divided into
NEVER = 1 << 62  # of nodes to record
TOLERANCE = 1e-10  # m/s, of the projection at the start

InputsWithin = Callable[[float, int, float, int], np.ndarray]


class CollocationMarch(March):
    """State of a run by collocation between two nodes; see `March`.

    Parameters
    ----------
    mechanism : Mechanism
    state : State
        Of bodies with closed joints, by which the links are made.
    s : int
        Nodes of a step.
    dt : float
    every : int

    Attributes
    ----------
    inputs_within : function
        ``inputs_within(first, steps, width, parts)`` returns inputs of the elements, and their rates, at the nodes of
        the steps from ``first`` dt on, (2, steps parts, s, ne): each of ``width`` dt, in so many equal parts. Of one
        step where the inputs are constant. By default those of `give`.
    """

    divides = True

    def __init__(self, mechanism: Mechanism, state: State, s: int, dt: float, every: int) -> None:
        compiled, nb = mechanism.apart, len(mechanism.bodies)
        super().__init__(compiled, scheme(2, None), dt, TOLERANCE, every)
        self._mechanism, self.rule, plan = mechanism, node_rule(s), compiled.plan
        self.tree, turned, coordinate = link_tree(mechanism, state)
        self._first = state, turned, coordinate
        self.closures, sizes = closures_of(compiled, self.tree, s - 1)
        nl = len(turned)
        sizes |= {"nb": nb, "slots": nb + 1, "nl": nl, "links": nl + 1, "ne": len(plan.elements.force)}
        sizes |= {"s": s, "q": s - 1, "blocks": (s - 1) ** 2, "past": 2 * s - 1}
        leads, links = self.ws.damping, nl if self.ws.damping.start.size else 0
        sizes |= {"led_sums": leads.start_rate.size, "led_laws": leads.lead.size, "led_loads": leads.load_lead.size}
        sizes |= {"led_links": links, "led_rows": sizes["rows"] if links else 0}
        sizes |= path_sizes(plan, self.tree, s, sizes["closed"])
        touching = len(plan.contacts.body)
        rubbed = touching if self.closures.rubs.size else 0
        sizes |= {"touching": touching, "rubbed": rubbed, "rubbed_rows": 2 * rubbed}
        sizes |= {"features": self.ws.contacts.kind.size, "places": len(self.closures.contact)}
        self.sizes = sizes
        states = self.ws.efforts.state.size
        sizes |= {"states": states, "lagging_sums": len(plan.laws.sum_law) - 1 if states else 0}
        sizes |= {"lagging_links": nl if states else 0, "lagging_rows": sizes["rows"] if states else 0}
        self.work: NodeWorkspace = allocate(NodeWorkspace, sizes)
        self.work.touch.row[:] = -1
        self.work.rotation[:, nl] = self.work.body_rotation[:, nb] = np.eye(3)
        self.ends = np.zeros(0)
        acting = np.zeros((2, 1, s, sizes["ne"])), np.zeros((1, s, nb, 6)), np.zeros(1, dtype=np.int64)
        arrays = *acting, *self.outputs(1)[:NODE_ARRAYS]
        self._steps = NodeSteps(plan, self.ws, self.tree, self.closures, self.rule, self.work, *arrays)
        self.word = word_of(self._steps)
        self.inputs_within: InputsWithin = self._between_rows
        self.watch = watch_stops(plan, self.ws, self.work, self.state_arrays())
        if sizes["ne"]:
            evaluate_efforts.prepare()
        if states:
            settle_internals.prepare()
        if self.tree.mover.size:
            push_paths.prepare()
            solve_paths.prepare()
        if self.closures.rated.size:
            measure_rates.prepare()
            fill_rates.prepare()
        if self.closures.rubs.size:
            rub_nodes.prepare()
            rub_fills.prepare()
            finish_friction.prepare()

    @property
    def order(self) -> int:
        """Order of the steps."""
        return 2 * len(self.rule.node) - 2

    def start(self, state: State) -> NodeBlock:
        """Place the mechanism at node 0, and record it."""
        super().start(state)
        plan, ws, work, link = self.compiled.plan, self.ws, self.work, self.tree.link
        for _, array in role_arrays(work, STATE):
            array[:] = 0
        same = state is self._first[0]  # to work out the links takes long for a short run
        _, work.turned[:], work.coordinate[0] = self._first if same else link_tree(self._mechanism, state)
        spin = np.einsum("nij,nj->ni", plan.bodies.inertia, ws.velocity[:, 3:])
        work.momentum[link, :3] = plan.bodies.mass[:, None] * ws.velocity[:, :3]
        R = rotation_matrix(ws.quat[0, :-1])
        work.momentum[link, 3:] = np.einsum("nij,nj->ni", R, spin)
        if self.tree.mover.size:
            work.momentum[link, :3] = ws.momentum[:, :3]
            work.momentum[link, 3:] = np.einsum("nij,nj->ni", R, ws.momentum[:, 3:])
        joints = self._mechanism.joints
        if (work.closures.multiplier.size and self.compiled.force.size) or any(
            isinstance(joint, ProductJoint) for joint in joints
        ):
            start_closures(plan, ws, self.inputs_within(self.node, 1, 1.0, 1)[:, 0, 0])
        return self.present()

    def _start_damping(self) -> None:
        """See `March`: ``ws.damping`` is of steps of order 2, so ``work.ends`` says whether efforts may be strong."""
        ends, damping = self.work.ends, self.ws.damping
        start_damping(self.compiled.plan, self.ws, self.dt)
        beside_contacts = self.compiled.plan.contacts.body.size > 0  # a run warns of strong dampers there
        ends.active[0], damping.active[0] = damping.active[0] and not beside_contacts, False
        ends.any[0] = ends.used[0] = False
        if ends.active[0]:
            choose_ends.prepare()
            finish_ends.prepare()

    @property
    def longest_share(self) -> float:
        """Return the longest part of a step that may be taken, a share: they are short after impacts, see `relax`."""
        return float(self.ws.damping.longest_share[0])

    def relax(self, width: float) -> None:
        """Let the parts of ``width`` dt to come begin with m / c where strong dampers end velocities at pose 0."""
        if self.work.ends.active[0]:
            self.ws.damping.longest_share[0] = first_share(self.compiled.plan, self.ws, 0, width * self.dt)

    def prepare(self) -> None:
        """See `March`."""
        if not getattr(march_nodes, "signatures", ()):
            self.present()

    def advance(self, steps: int) -> NodeBlock:
        """March ``steps`` steps, or up to the one that fails, even in up to `MOST_PARTS`: then ``failure`` is set.

        ``failure``: (node, -1, -1), and the march is at that node.
        """
        last, arrays = self.node + steps, self.outputs(len(self.to_record(steps)))
        nodes, records, divided = self.to_record(steps), 0, False
        ahead = max(steps, 1)  # steps whose inputs are worked out at once: few after one that had to be divided
        while self.node < last and self.failure is None:
            part, out = min(ahead, last - self.node), tuple(array[records:] for array in arrays[:TIMES])
            first = self.node
            whole = self.longest_share == 1.0
            status = self._take(part, self.every, out, arrays[-1]) if whole else EVENT
            records += self.node // self.every - first // self.every
            divided = status != CONVERGED and self._divide(arrays[-1])
            if divided and self.node % self.every == 0:
                self._show(tuple(array[records:] for array in arrays[:TIMES]))
                records += 1
            elif status != CONVERGED and not divided:
                self.failure = self.node, -1, -1
            ahead = 1 if divided else 2 * ahead
        arrays[TIMES][:records] = self.dt * nodes[:records]
        return self.block(nodes[:records], arrays, records)

    def present(self) -> NodeBlock:
        """Return the present node; nothing that the steps to come depend on is changed."""
        arrays = self.outputs(1)
        self._show(arrays)
        arrays[TIMES][:] = self.time
        return self.block(np.array([self.node]), arrays, 1)

    def aside(self, share: float, look: Callable[[int], None] | None = None) -> NodeBlock | None:
        """See `March`: a step of its own leads there, of the order of the run.

        It starts from the values of the polynomials of the whole step.
        """
        if share == 0.0:
            return super().aside(share, look)
        with start_kept(self.ws):
            return self._aside(share)

    def _aside(self, share: float) -> NodeBlock | None:
        kept, work, counts = self.checkpoint(), self.work, np.zeros(2, dtype=np.int64)
        whole = self._take(1, NEVER, self.outputs(0)[:TIMES], counts) == CONVERGED
        by, impulses = work.by.copy(), work.closures.multiplier.reshape(-1, len(self.rule.node) - 1).copy()
        self.restore(kept)
        self.drop_start_values()
        if whole:
            nodes, q = self.rule.node, len(self.rule.node) - 1
            work.by[:], work.known[0] = _polynomials(nodes, share * nodes) @ by, GIVEN
            factor = _polynomials(nodes[:-1], share * nodes[:-1]) * (share / self.rule.weight[:q])
            work.closures.multiplier[:] = (impulses @ (factor * self.rule.weight[:q, None]).T).reshape(-1)
        solved = self._take(1, NEVER, self.outputs(0)[:TIMES], counts, share) == CONVERGED
        if not solved:
            self.restore(kept)
        if not solved and not self._divide(counts, share):
            self.failure = self.node, -1, -1
            self.restore(kept)
            return None
        arrays, node = self.outputs(1), int(kept["place"][0])
        self._show(arrays, node + share)
        self.restore(kept)
        arrays[TIMES][:] = self.dt * (node + share)
        return self.block(np.array([node]), arrays, 1)

    def unresolved_end(self) -> int:
        """Return -1: no step is judged by itself."""
        return -1

    def stiffest(self) -> tuple[int, float]:
        """Return the element whose law is stiffest for its bodies at the present node, or -1, and its rad/s."""
        if not self.ws.efforts.input.size:
            return -1, 0.0
        self.present()
        self.ws.efforts.input[:] = self.inputs_within(self.node, 1, 1.0, 1)[0, 0, 0]
        return fastest_law(self.compiled.plan, self.ws, self.work)

    def state_arrays(self) -> list[tuple[str, np.ndarray]]:
        """See `March`."""
        return super().state_arrays() + [(f"links {name}", array) for name, array in role_arrays(self.work, STATE)]

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """See `March`."""
        past, best = saved["links known"].tolist()
        if past < 0 or not 0 <= best < len(self.rule.node) or saved["place"][1] != 0:
            raise ValueError("its checkpoint names unknown steps before it")
        super().restore(saved)
        if self.node:
            self.ws.search.limit[0] = -1  # the run has started

    def stand(self) -> None:
        """See `March`."""
        super().stand()
        self._show(self.outputs(1))

    def prepare_steps(self) -> None:
        """See `March`."""
        march_on.prepare()
        run_nodes.prepare()
        show_node.prepare()

    def divide(self, out: tuple[np.ndarray, ...], table: np.ndarray) -> bool:
        """Take the next step, whose inputs are in ``table`` (T, ne), divided; return whether that could be done.

        ``out``: the node is recorded in their first row, if it is one to record.
        """
        kept = self.inputs_within, self.first, self.commands, self.command_rates
        self.inputs_within, self.first, self.commands = self._between_rows, self.node, table  # one row, or two
        self.command_rates = np.zeros_like(table)  # as in `run_nodes`
        solved = self._divide(out[-1])
        if solved and self.node % self.every == 0:
            self._show(out[:TIMES])
            out[TIMES][0] = self.time
        self.inputs_within, self.first, self.commands, self.command_rates = kept
        return solved

    def _between_rows(self, first: float, steps: int, width: float, parts: int) -> np.ndarray:
        """Return ``inputs_within`` of one step by the commands of `give`, constant or on a line between two rows."""
        share = (first - self.first) + width * (np.arange(parts)[:, None] + self.rule.node) / parts
        inputs = np.zeros((2, *share.shape, self.commands.shape[1]))
        inputs[0] = self.commands[0] + share[..., None] * (self.commands[-1] - self.commands[0])
        inputs[1] = self.command_rates[0]
        return inputs

    def hold(self) -> None:
        """See `March`."""
        loads = self._loads_within(self.node, 1, 1.0, 1)
        self._steps.pushed[0], self._steps.loads[: len(loads)] = len(loads), loads

    def _loads_within(self, first: float, steps: int, width: float, parts: int) -> np.ndarray:
        """Return loads of `give` at the nodes of steps as ``inputs_within`` has them, (steps parts, s, nb, 6).

        Of one step where they are constant, of none where all are zero.
        """
        if not (len(self.series) or self.load.any()):
            return np.zeros((0, len(self.rule.node), *self.load.shape))
        evaluate_efforts.prepare()
        if not len(self.series):
            return np.broadcast_to(self.load, (1, len(self.rule.node), *self.load.shape)).copy()
        within = (np.arange(parts)[:, None] + self.rule.node) / parts
        starts = first - self.first + width * np.arange(max(steps, 1))
        places = (starts[:, None, None] + width * within).reshape(-1, within.shape[1])
        left = np.clip(np.floor(places).astype(np.int64), 0, max(len(self.series) - 2, 0))
        share = (places - left)[..., None, None]
        before, after = self.series[left], self.series[np.minimum(left + 1, len(self.series) - 1)]
        return self.load + (1.0 - share) * before + share * after

    def _take(
        self, steps: int, stride: int, out: tuple[np.ndarray, ...], counts: np.ndarray, width: float = 1.0,
        parts: int = 1,
    ) -> int:  # fmt: skip
        """Take ``steps`` steps of ``width`` dt, each in ``parts``; return the status.

        ``out``: of nodes to record, see `march_nodes`; ``counts``: of iterations and sub-steps, added to.
        """
        inputs = self.inputs_within(self.node, steps, width, parts)
        loads = self._loads_within(self.node, steps, width, parts)
        h = width * self.dt / parts
        status, done, iterations = self._solve(inputs, loads, steps * parts, parts, h, stride, out)
        out[NODE_ARRAYS][:] = -1
        counts += iterations, done - done // parts if status == CONVERGED else 0
        self.node += done // parts
        self.ws.pace.time[0] = self.dt * self.node
        return int(status)

    def _solve(
        self, inputs: np.ndarray, loads: np.ndarray, steps: int, parts: int, h: float, stride: int,
        out: tuple[np.ndarray, ...],
    ) -> tuple[int, int, int]:  # fmt: skip
        """Take ``steps`` steps of ``h`` s, ``parts`` of them in a whole one; see `march_nodes`."""
        return march_nodes(
            self.compiled.plan, self.ws, self.tree, self.closures, self.rule, self.work, inputs, loads, self.node,
            steps, stride, h, out[:NODE_ARRAYS],
        )  # fmt: skip

    def _show(self, arrays: tuple[np.ndarray, ...], at: float | None = None) -> None:
        """Record the present node in the first row of ``arrays``, see `outputs`; ``at``: its time over dt."""
        inputs = self.inputs_within(self.node if at is None else at, 0, 1.0, 1)
        march_nodes(
            self.compiled.plan, self.ws, self.tree, self.closures, self.rule, self.work, inputs,
            self._steps.loads[:0], 0, 0, 1, self.dt, arrays[:NODE_ARRAYS],
        )  # fmt: skip
        arrays[NODE_ARRAYS][:1] = -1

    def _divide(self, counts: np.ndarray, width: float = 1.0) -> bool:
        """Take the next step in equal parts, twice as many until they can be solved; return whether that was done."""
        if self.watch is not None:
            return take_with_events(self, counts, width)
        start, parts = self.checkpoint(), 2
        while parts <= MOST_PARTS:
            self.drop_start_values()
            if self._take(1, NEVER, self.outputs(0)[:TIMES], counts, width, parts) == CONVERGED:
                self.drop_start_values()  # of steps of another length
                return True
            self.restore(start)
            parts *= 2
        return False

    def take_whole(self, width: float, counts: np.ndarray) -> bool:
        """Take the next ``width`` dt in one step, which ends before an event; return whether that was done."""
        return self._take(1, NEVER, self.outputs(0)[:TIMES], counts, width) == CONVERGED

    def note_inputs(self, width: float) -> None:
        """Write the inputs and loads at both ends of the next ``width`` dt to the record for events."""
        assert self.watch is not None
        inputs = self.inputs_within(self.node, 1, width, 1)[:, 0, [0, -1]]
        self.watch.input[:], self.watch.rate[:] = inputs
        loads = self._loads_within(self.node, 1, width, 1)
        self.watch.loads[:] = loads[0, [0, -1]] if len(loads) else 0.0

    def pass_node(self) -> None:
        """Count a step that was taken in parts."""
        self.node += 1
        self.ws.pace.time[0] = self.dt * self.node

    def take_part(self, first: float, width: float, counts: np.ndarray) -> int:
        """Go on by ``width`` dt, ``first`` dt after the present node, in one step; return the status.

        The number of the node and the time stay. ``counts`` (2,): of iterations, added to.
        """
        inputs = self.inputs_within(self.node + first, 1, width, 1)
        loads = self._loads_within(self.node + first, 1, width, 1)
        status, _, iterations = self._solve(inputs, loads, 1, 1, width * self.dt, NEVER, self.outputs(0))
        counts[0] += iterations
        return int(status)

    def drop_start_values(self) -> None:
        """Let the next step begin without start values of the steps before."""
        self.work.known[:] = 0
        self.work.closures.multiplier[:] = 0.0


def _polynomials(nodes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values (n, m) at the places ``at`` (n,) of Lagrange's polynomials of ``nodes`` (m,)."""
    apart = nodes[:, None] - nodes + np.eye(len(nodes))
    factors = (at[:, None, None] - nodes) / apart  # (n, polynomial, node)
    factors[:, np.arange(len(nodes)), np.arange(len(nodes))] = 1.0
    return factors.prod(axis=2)
