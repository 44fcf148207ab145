"""The march of a mechanism over its nodes, in blocks, with everything needed to stop and go on."""

from collections.abc import Callable, Mapping
from weakref import finalize

import numpy as np

from varint.base.errors import ArgumentError
from varint.base.numba import STATE, role_arrays
from varint.kinematics.turns import carrying, start_memory, start_turns
from varint.mathematics.products.records import check_order
from varint.methods.variational.node_block import NodeBlock
from varint.methods.variational.schemes import Scheme
from varint.methods.variational.strong_damping import start_damping
from varint.methods.variational.welded import gathered, spread
from varint.model.state import COME_BACK, State
from varint.plan import Compiled
from varint.step.configuration import place, place_anew
from varint.step.constraints import set_targets, start_constraints
from varint.step.energy.balance import start_balance
from varint.step.energy.run_end import judge_end
from varint.step.inputs import Inputs, set_inputs, set_load
from varint.step.intervals import NodeGrid
from varint.step.laws import evaluate_laws
from varint.step.limits.gaps import evaluate_gaps
from varint.step.limits.impacts import RUN_STARTS
from varint.step.limits.returning import close_on_floors, start_floors
from varint.step.limits.rows import BEYOND as ON_LIMIT
from varint.step.march.aside import step_aside
from varint.step.march.spare_workspaces import spare_workspace
from varint.step.march.steps import run_steps
from varint.step.newton import CONVERGED
from varint.step.nodes.efforts import keep_turns
from varint.step.one_sided import has_terms, rows_state, set_rows
from varint.step.pace import accelerate_node, keep_pace, start_pace
from varint.step.sizes import unit_of_length
from varint.step.step import SAME_TIME, record_node, run, start_momentum, worst_residual

NODE_ARRAYS = 5  # outputs of a run that one node by itself has
TIMES = 6  # which of them are the times
MISSED = 1e3  # times the tolerance: residuals of rows that were not solved
LAST = 2.0  # times the bound of changes of the energy residual: at the last node of a run, see `judge_end`


class March:
    """State of a run between two nodes.

    Same mechanism, same arguments, same machine: the same bits, however the steps are cut into
    blocks, and whether or not the run was stopped and restored from its `checkpoint`.

    Parameters
    ----------
    compiled : Compiled
    scheme : Scheme
    dt, tol : float
    every : int
        Record each ``every``-th node.
    turn : float, optional
        rad, of the fastest body in a step: the steps follow the motion, and ``dt`` is the longest. Else all are of dt.
    end : float
        s, up to which such steps go; up to ``stop``, s, where that is earlier.
    redo : bool
        Whether steps in which energy comes from nowhere are done again in halves.
    kept : int
        How many stages are kept on the tape of its workspace.
    """

    halves = True  # whether steps that cannot be solved are divided
    divides = False  # whether `divide` does so, not compiled code
    word = 0  # of the `NodeSteps` of a march by collocation
    goes_back = False  # whether a step that fails is undone even where each node is recorded

    def __init__(
        self,
        compiled: Compiled,
        scheme: Scheme,
        dt: float,
        tol: float,
        every: int,
        turn: float | None = None,
        end: float = np.inf,
        redo: bool = False,
        kept: int = 0,
    ) -> None:
        self.compiled, self.scheme, self.dt, self.tol, self.every = compiled, scheme, dt, tol, every
        self.inputs = np.zeros(0)  # of functions, at the present node
        self.turns: Mapping[str, np.ndarray] = {}  # at the start
        spare = spare_workspace(
            compiled.plan, scheme.stages.size, compiled.functions, kept=kept, sharpened=scheme.sharpened
        )
        self.ws = spare.ws
        self.ws.starts.near[:], self.ws.starts.share[:] = scheme.starts
        if not kept:  # a tape may outlive the march
            finalize(self, spare.put_back).atexit = False
        self.node = self.pose = 0
        self.adaptive, self.end, self.stop = turn is not None, end, np.inf
        self.ws.balance.redo[0] = redo
        if turn is not None:
            self.ws.pace.factor[0] = dt / turn
            start_pace.prepare()
            keep_pace.prepare()
            accelerate_node.prepare()
        self.failure: tuple | None = None
        self.gaps = np.zeros(compiled.plan.limits.measure.size)  # of hard limits at node 0
        nb, ne = compiled.plan.bodies.mass.size, compiled.force.size
        self.points = scheme.points
        self.ends = np.cumsum(scheme.stages)[:-1]  # shares of a step, where a stage ends and another begins
        self.give(np.zeros((nb, 6)), np.zeros((0, nb, 6)), *np.zeros((2, 1, ne)))

    def give(
        self,
        load: np.ndarray,
        series: np.ndarray,
        commands: np.ndarray,
        rates: np.ndarray,
        width: float = 1.0,
        of_time: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
        aims: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Set loads and inputs at the nodes from the present one on; without a call they are zero.

        load : (nb, 6) constant, in kernel order
        series : (T, nb, 6) added to it, T = 0 without such loads
        commands, rates : (T, ne) inputs of the elements and their rates, T = 1 where constant
        width : distance of the rows, in units of dt
        of_time : elements (m,) of inputs that are functions of time, shares (P,) of a row, and the values (S, P, m)
            there; no such inputs by default
        aims : constraints (c,) that move points and bodies, shares (E,) of a row, and the targets and their rates
            (2, S, E, c) there; no such constraints by default
        """
        nobody = np.zeros(0, dtype=np.int64), self.ends, np.zeros((2, 1, len(self.ends), 0))
        self.aims = nobody if aims is None else aims
        none = np.zeros(0, dtype=np.int64), self.points, np.zeros((1, len(self.points), 0))
        self.of_time = none if of_time is None else of_time
        self.width = width
        self.load, self.series, self.commands, self.command_rates, self.first = load, series, commands, rates, self.node
        self._record: Inputs | None = None  # of these, once it is needed

    def start(self, state: State) -> NodeBlock:
        """Place the mechanism at node 0, and record it."""
        plan, ws, order, inputs = self.compiled.plan, self.ws, self.compiled.order, self.acting()
        if self.compiled.welds is not None:
            state = gathered(self.compiled.welds, order, state)
        ws.position[:, :-1] = state.position[order]
        ws.quat[:, :-1] = state.quat_wxyz[order]
        ws.velocity[:, :3], ws.velocity[:, 3:] = state.velocity[order], state.angular_velocity[order]
        ws.history[:, 0], ws.history[:, 1:], ws.depth[:] = ws.velocity, 0.0, ws.history.shape[1]
        self.turns = state.turns
        ws.efforts.value_near[:] = 0.0
        start_turns(self.compiled, ws, state.turns, state.memory)
        ws.efforts.state[:] = start_memory(self.compiled, state.memory)
        if plan.constraints.row.size:
            self._start_constraints(inputs)
        place_anew(plan, ws, 0)
        set_inputs(ws, inputs, 0, 0.0)
        if plan.laws.kind.size:
            evaluate_laws(plan, ws, ws.position[0], ws.rotation[0], ws.velocity, 0.0)
        self._start_damping()
        may_relax = ws.search.any_events[0] and ws.damping.active[0] and not state.made_by
        ws.damping.longest_share[0] = 0.0 if may_relax else 1.0
        keep_turns(plan, ws.efforts)
        if self.gaps.size:
            gradient = np.zeros((self.gaps.size, 2, 6))
            evaluate_gaps(plan, ws, ws.position[0], ws.rotation[0], self.gaps, gradient)
            ws.efforts.floor[:] = ws.efforts.come_back[:] = 0.0
            angular = plan.rows.scale[plan.measures.row[plan.limits.measure]] != 1.0
            beyond = self.gaps < -ON_LIMIT * np.where(angular, 1.0, unit_of_length(plan.bodies.length[0]))
            if beyond.any() and state.beyond_stops == COME_BACK:
                start_floors(ws, np.where(beyond, self.gaps, 0.0))
        set_load(plan, ws, inputs, 0, 0.0)
        fastest = np.linalg.norm(state.angular_velocity, axis=1).max()
        if self.scheme.staggered and fastest * self.dt >= 2:
            raise ArgumentError(f"order 1 needs dt below 2 / |w| = {2 / fastest:.3g} s at the start, got {self.dt:g} s")
        start_momentum(plan, ws, 0.5 * self.dt if self.scheme.staggered else 0.0)
        start_balance(plan, ws, self.dt, self.dt if self.scheme.staggered else 0.0)
        if self.adaptive:
            start_pace(plan, ws, 0, self.dt)
        ws.search.limit[0] = RUN_STARTS if has_terms(plan) else -1
        arrays = self.outputs(1)
        record_node(plan, ws, 0, self.scheme.staggered, tuple(array[0] for array in arrays[:NODE_ARRAYS]))
        return self.block(np.array([0]), arrays, 1)

    @property
    def comes_back(self) -> bool:
        """Whether the start was beyond hard limits, and comes back."""
        return bool(self.ws.efforts.come_back[0])

    def _start_damping(self) -> None:
        """Choose the dissipative efforts that may be strong."""
        start_damping(self.compiled.plan, self.ws, self.dt)

    def _start_constraints(self, inputs: Inputs) -> None:
        """Set the targets at node 0, and the velocities that keep to them."""
        plan, ws = self.compiled.plan, self.ws
        place_anew(plan, ws, 0)
        set_targets(plan, ws, inputs, 0, 0.0, self.dt)
        start_constraints(plan, ws, 0)
        driven = plan.constraints.row[plan.constraints.driven]
        ws.efforts.target_rate[driven] = ws.efforts.target_rate_next[driven]
        place(plan, ws, 0)
        start_momentum(plan, ws, 0.0)
        record_node(plan, ws, 0, False, tuple(array[0] for array in self.outputs(1)[:NODE_ARRAYS]))
        ws.velocity[:] = ws.increment_body
        ws.history[:, 0], ws.history[:, 1:], ws.depth[:] = ws.velocity, 0.0, ws.history.shape[1]

    def off_target(self) -> list[tuple[int, float, float, float]]:
        """List each driven constraint at node 0: its element, its coordinate (m or rad), the target, and the deviation
        of its rate from that of the target, m/s or rad/s."""
        plan, work = self.compiled.plan, self.ws.efforts
        moving = np.vstack([self.ws.velocity, np.zeros(6)])
        deviations = []
        for e, r in self.driven():
            rate = np.sum(self.ws.jacobian[self.pose, r] * moving[plan.measures.body[r]])
            missed = abs(rate - work.target_rate[r])
            deviations.append((e, float(work.value_near[r]), float(work.target[r]), float(missed)))
        return deviations

    def driven(self) -> list[tuple[int, int]]:
        """Return element and row of each driven constraint."""
        constraints = self.compiled.plan.constraints
        rows = zip(constraints.element.tolist(), constraints.row.tolist(), constraints.driven, strict=True)
        return [(e, r) for e, r, driven in rows if driven]

    def kept(self) -> list[tuple[int, float]]:
        """Return element and value, m or rad, of each constraint whose sum keeps its value at node 0."""
        constraints, target = self.compiled.plan.constraints, self.ws.efforts.target
        rows = zip(constraints.element.tolist(), constraints.row.tolist(), constraints.driven, strict=True)
        return [(e, float(target[r])) for e, r, driven in rows if not driven]

    @property
    def fastest(self) -> float:
        """Highest speed, m/s, of bodies and of targets of constraints, rates of angles times the size of the parts."""
        scale = np.repeat([1.0, self.compiled.length], 3)
        aims = [abs(self.ws.efforts.target_rate[r]) for _, r in self.driven()]
        return float(max(np.abs(self.ws.velocity * scale).max(initial=0.0), *aims, self.compiled.length))

    def missed_targets(self) -> list[int]:
        """Return the elements of the driven constraints that the last evaluation of a step left open."""
        residual, scale = np.abs(self.ws.residual_row), self.compiled.plan.rows.scale
        return [e for e, r in self.driven() if not scale[r] * residual[r] <= MISSED * self.tol]

    def missed_contacts(self) -> list[tuple[int, int, int]]:
        """Return element and slots of both bodies of the contacts whose law the last evaluation of a step violated."""
        return self._contacts_of(np.flatnonzero(~(self.ws.contacts.missed <= (MISSED * self.tol) ** 2)))

    def contacts_without_states(self) -> list[tuple[int, int, int]]:
        """Return element and slots of both bodies of the contacts in an impact that was not solved, if any."""
        return self._contacts_of(np.flatnonzero(self.ws.contacts.missed < 0.0))

    def contacts_near(self, body: int) -> list[tuple[int, int, int]]:
        """Return element and slots of both bodies of contacts of the body in slot ``body`` that touch or may soon."""
        work, contacts = self.ws.contacts, self.compiled.plan.contacts
        near = work.near[: work.near_count[0]]
        return self._contacts_of(near[(contacts.body[near] == body) | (contacts.other[near] == body)])

    def _contacts_of(self, numbers: np.ndarray) -> list[tuple[int, int, int]]:
        contacts = self.compiled.plan.contacts
        parts = contacts.element[numbers], contacts.body[numbers], contacts.other[numbers]
        return list(zip(*(part.tolist() for part in parts), strict=True))

    def crowd(self) -> tuple[int, int]:
        """Return the number of points that touch between moving bodies, and the number that a step has space for."""
        work, contacts = self.ws.contacts, self.compiled.plan.contacts
        between = contacts.other != self.compiled.plan.bodies.mass.size
        return int(np.count_nonzero(work.closed & between)), len(work.coupled)

    def acting(self) -> Inputs:
        """Return the inputs of `give`; ``commands`` may change in place."""
        if self._record is None:
            self.commands = np.ascontiguousarray(self.commands)
            elements, point, within = self.of_time
            moved, end, aims = self.aims
            tables = self.commands.view(), np.ascontiguousarray(self.command_rates)  # the view alone is frozen
            where = np.array([self.first]), np.array([self.width])
            at_ends = moved, end, *np.ascontiguousarray(aims)
            self._record = Inputs(
                self.load, self.series, *tables, *where, elements, point, np.ascontiguousarray(within), *at_ends
            )
        return self._record

    def prepare(self) -> None:
        """Compile or load the kernels, which is no stepping time."""
        if not getattr(run, "signatures", ()):
            self.advance(0)

    def nothing(self) -> NodeBlock:
        """Return a block without nodes."""
        return self.block(np.zeros(0, dtype=np.int64), self.outputs(0), 0)

    def advance(self, steps: int) -> NodeBlock:
        """March ``steps`` steps, or up to the one that fails: then ``failure`` is (node, body, joint)."""
        first, before = self.node, self.checkpoint() if self.every > 1 or self.goes_back else {}
        converged, block = self._run(steps)
        if not converged:
            self.failure = (self.node, *worst_residual(self.compiled.plan, self.ws))
            if before:  # the step may have ended in its middle: back to the node that it started from
                self.restore(before)
                self._run(self.failure[0] - first)
        return block

    def _run(self, steps: int) -> tuple[bool, NodeBlock]:
        """Return whether all of them were solved, and the recorded nodes."""
        nodes, end = self.to_record(steps), min(self.end, self.stop)
        arrays = self.outputs(len(nodes))
        status, self.pose, done, records = run(
            self.compiled.plan, self.ws, self.acting(), self.pose, NodeGrid(self.node, steps, self.every, self.dt, end),
            self.scheme.stages, self.tol, self.scheme.staggered, arrays,
        )  # fmt: skip
        self.node += done
        return status == CONVERGED, self.block(nodes[:records], arrays, records)

    def to_record(self, steps: int) -> np.ndarray:
        """Return numbers (T,) of the nodes that are recorded in the next ``steps``."""
        return np.arange(self.node // self.every + 1, (self.node + steps) // self.every + 1) * self.every

    def state_arrays(self) -> list[tuple[str, np.ndarray]]:
        """Return all arrays that the steps to come depend on, by name."""
        return list(role_arrays(self.ws, STATE))

    def stand(self) -> None:
        """Evaluate the rows and all else that follows from the `state_arrays`, after these were changed."""
        plan, ws = self.compiled.plan, self.ws
        place(plan, ws, self.pose)
        set_rows(plan, ws, self.pose, rows_state(ws))

    def prepare_steps(self) -> None:
        """Compile, or load, the steps that `varint.step.march.steps.take_steps` calls through a pointer."""
        run_steps.prepare()

    def divide(self, out: tuple[np.ndarray, ...], table: np.ndarray) -> bool:
        """Return whether the next step, which failed, was taken in parts: False, compiled code divides steps itself."""
        return False

    def hold(self) -> None:
        """Keep the present loads constant over the steps that `varint.step.march.steps.take_steps` takes."""

    def present(self) -> NodeBlock:
        """Return the present node; nothing that the steps to come depend on is changed."""
        arrays = self.outputs(1)
        out = tuple(array[0] for array in arrays[:NODE_ARRAYS])
        record_node(self.compiled.plan, self.ws, self.pose, self.scheme.staggered, out)
        arrays[NODE_ARRAYS][:] = self.ws.balance.unresolved
        arrays[TIMES][:] = self.time
        return self.block(np.array([self.node]), arrays, 1)

    @property
    def time(self) -> float:
        """s, of the present node."""
        return float(self.ws.pace.time[0])

    @property
    def next_time(self) -> float:
        """s, at which the next of the steps that follow the motion ends."""
        return self.time + self.dt / float(self.ws.pace.density[0] or 1.0)

    def passes(self, time: float) -> bool:
        """Return whether the next of the steps that follow the motion would pass ``time``, s."""
        return self.next_time > time + SAME_TIME * self.dt

    @property
    def is_over(self) -> bool:
        """Whether the next of the steps that follow the motion would pass the end."""
        return self.adaptive and self.passes(self.end)

    @property
    def halts(self) -> bool:
        """Whether the next of the steps that follow the motion would pass the end, or ``stop``."""
        return self.adaptive and self.passes(min(self.end, self.stop))

    def aside(self, share: float, look: Callable[[int], None] | None = None) -> NodeBlock | None:
        """Return the instant a ``share`` of a step after the present node; the march itself stays where it is.

        None, with ``failure`` set, where the step there could not be solved. ``look``: called with the pose that holds
        the instant, while the workspace is there.
        """
        if share == 0.0:
            block = self.present()
            if look is not None:
                look(self.pose)
        else:
            kept, arrays, plan, scheme = self.checkpoint(), self.outputs(1), self.compiled.plan, self.scheme
            out = tuple(array[0] for array in arrays[:NODE_ARRAYS])
            status, pose = step_aside(
                plan, self.ws, self.acting(), self.pose, self.node, share, self.dt,
                scheme.stages, self.tol, scheme.staggered, out,
            )  # fmt: skip
            if status != CONVERGED:
                self.failure = (self.node, *worst_residual(plan, self.ws))
            elif look is not None:
                look(pose)
            self.restore(kept)
            if self.failure is not None:
                return None
            arrays[NODE_ARRAYS][:] = self.ws.balance.unresolved
            arrays[TIMES][:] = self.time + share * self.dt
            block = self.block(np.array([self.node]), arrays, 1)
        self.ws.balance.unresolved[0] = -1
        return block

    def unresolved_end(self) -> int:
        """Return a body that the last steps did not resolve, -1 if there is no such body, see `judge_end`."""
        slot = judge_end(self.compiled.plan, self.ws, self.pose, LAST)
        return int(self.compiled.order[slot]) if slot >= 0 else -1

    def state(self) -> State:
        """Return the present node."""
        return self.carried(self.present().last_state())

    def carried(self, state: State) -> State:
        """Return the state of the present node with its turns and internal variables."""
        return carrying(self.compiled, state, self.turns, self.ws)

    def checkpoint(self) -> dict:
        """Return everything that the steps to come depend on, as arrays."""
        saved = {name: array.copy() for name, array in self.state_arrays()}
        return saved | {"place": np.array([self.node, self.pose])}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint` of the same run; raises ValueError where no run can have left it."""
        node, pose = (int(number) for number in saved["place"])
        check_order(saved["products order"])
        told = saved["balance unresolved"]
        if node < 0 or pose not in (0, 1) or told.min() < -1 or told.max() >= len(self.compiled.order):
            raise ValueError("its checkpoint names an unknown node, pose or body")
        for name, array in self.state_arrays():
            array[:] = saved[name]
        if self.comes_back:
            close_on_floors.prepare()
        self.node, self.pose = node, pose
        self.stand()

    def outputs(self, records: int) -> tuple[np.ndarray, ...]:
        """Return arrays of ``records`` recorded nodes, see `varint.step.step.run`."""
        nb, ne, states = self.compiled.plan.bodies.mass.size, self.compiled.force.size, self.ws.efforts.state.size
        return (
            np.empty((records, nb, 3)),
            np.empty((records, nb, 4)),
            np.empty((records, nb, 6)),
            np.empty((records, ne)),
            np.empty((records, states)),
            np.full(records, -1),
            np.zeros(records),
            np.zeros(2, dtype=np.int64),
        )

    def block(self, nodes: np.ndarray, arrays: tuple[np.ndarray, ...], records: int) -> NodeBlock:
        """Return the first ``records`` rows of the `outputs` as a block in the description's order.

        ``nodes``: their numbers.
        """
        position, quat, velocity, work, state, unresolved, times, counts = arrays
        welds, slot = self.compiled.welds, slice(None) if self.compiled.in_order else self.compiled.slot
        rows = nodes - self.first if len(self.commands) > 1 else np.zeros_like(nodes)

        def of_bodies(part: np.ndarray) -> np.ndarray:
            # contiguous, as they come back from a file: sums over them then have the same bits
            return np.ascontiguousarray(part[:records, slot])

        if welds is None:
            x, q, v, w = map(of_bodies, (position, quat, velocity[..., :3], velocity[..., 3:]))
        else:
            x, q, v, w = spread(welds, (position[:records], quat[:records], velocity[:records]))
        return NodeBlock(
            node=nodes,
            t=times[:records],
            position=x,
            quat_wxyz=q,
            velocity=v,
            angular_velocity=w,
            work=self.compiled.by_force(work[:records]),
            command=self.compiled.inputs_by_force(self.commands[rows]),
            law_state=state[:records].copy(),
            unresolved_body=self.compiled.order_with_none[unresolved[:records]],
            newton_iterations=int(counts[0]),
            substeps=int(counts[1]),
        )
