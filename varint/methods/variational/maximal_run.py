"""A run in maximal coordinates: the march of a mechanism with its controllers, and the messages of its failures."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from varint.base.clock import clock
from varint.base.errors import StateError
from varint.kinematics.misfits import quick_misfits
from varint.kinematics.start_at_stops import cannot_come_back, check_stops
from varint.kinematics.turns import counted_turns
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.blocked_starts import blocked_limits, met_limits
from varint.methods.variational.march import March
from varint.methods.variational.node_block import RECORDED, join_node_blocks
from varint.methods.variational.node_block import NodeBlock as MarchBlock
from varint.methods.variational.stepwise import Stepwise
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Extrapolated
from varint.model.forces.driven import Driven
from varint.model.forces.moved import Moved
from varint.model.state import State
from varint.results.inputs.at_nodes import Commands, Loads, called, is_controlled
from varint.results.inputs.courses import cannot_start, starts_elsewhere, what_clashes
from varint.results.record import Counts
from varint.runs.run import Block, Failure, Reached, SteeredRun
from varint.step.march.records import NODE
from varint.step.march.steps import FAILED
from varint.step.restart import DEEPEST_SUBSTEP

LARGEST_GAP = 1e-8  # of a driven coordinate in a state to start from, in sizes of a part
LARGEST_PARTING = 1e-3  # of the fastest motion: how far the speed at the start may miss the prescribed one


class MaximalRun(SteeredRun):
    """See `varint.runs.run.SteeredRun`.

    Parameters
    ----------
    mechanism : Mechanism
    march : March
    state : State
        To start from.
    steps : int
        In all.
    loads : Loads
    commands : Commands

    Attributes
    ----------
    in_python : bool
        Whether Python puts its steps together: no compiled call takes one.
    """

    in_python = False

    def __init__(
        self, mechanism: Mechanism, march: March, state: State, steps: int, loads: Loads, commands: Commands
    ) -> None:
        self.loads, self.commands, self.constant = loads, commands, commands.constant
        self.mechanism, self.march, self.steps, self.start_state = mechanism, march, steps, state
        march.turns = state.turns
        of_elements = enumerate(march.compiled.force)
        self.controllers = [(e, int(k)) for e, k in of_elements if is_controlled(mechanism.forces[k])]
        inputs = [getattr(mechanism.forces[k], "input", None) for _, k in self.controllers]
        self.extrapolated = np.array([isinstance(each, Extrapolated) for each in inputs], dtype=bool)
        self.slopes = np.zeros(len(self.controllers))  # of the inputs over the step to come, a second
        self.stepwise = bool(self.controllers)  # whether the inputs are evaluated before each step
        self.end = steps * march.dt
        self.iterations = np.zeros(2, dtype=np.int64)  # Newton's, and sub-steps
        self._stepwise: Stepwise | None = None  # since the first step with functions of the state

    @property
    def time(self) -> float:
        """s, of the present node."""
        return self.march.time

    @property
    def node(self) -> int:
        """Number of the present node."""
        return self.march.node

    @property
    def turns(self) -> Mapping[str, np.ndarray]:  # type: ignore[override]
        """See `SteeredRun`."""
        return self.march.turns

    @property
    def reached(self) -> Reached:
        """Progress of the run, in steps."""
        counts = Counts(self.march.node, *self.iterations.tolist())
        return Reached(self.time, self.end, self.march.node, self.steps, counts)

    def start(self) -> Block:
        """Record the start; raises StateError where a prescribed motion starts elsewhere."""
        self._give(1)
        first = self.march.start(self.start_state)
        check_stops(self.mechanism, self.start_state, self.march.gaps)
        if self.march.comes_back and self.march.ws.tape.h.size:
            raise StateError(
                "there is no derivative of a run whose start comes back from beyond a stop: start within the limits"
            )
        self._check_driven()
        if self.controllers:
            self._call()
            first.command[:, [k for _, k in self.controllers]] = self.march.inputs
        self.march.prepare()
        return self.block(first, 0.0)

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        steps = min(steps, self.steps - self.march.node)
        self._give(steps)
        return self._marched(steps)

    def counted(self) -> dict[str, np.ndarray]:
        """See `SteeredRun`."""
        return counted_turns(self.march.compiled, self.march.ws.efforts.value_near)

    def unresolved(self, nodes: Mapping[str, np.ndarray]) -> int:
        """See `SteeredRun`."""
        body, slot = int(nodes["unresolved_body"].max(initial=-1)), int(self.march.ws.balance.unresolved[0])
        return int(self.march.compiled.order[slot]) if body < 0 <= slot else body

    def _marched(self, steps: int) -> Block:
        began = clock()
        if not self.stepwise:
            block = self.march.advance(steps)
        elif self.in_python or self.march.adaptive:
            block = self._one_by_one(steps)
        else:
            block = self._controlled(steps)
        seconds = clock() - began
        self.iterations += (block.newton_iterations, block.substeps)
        if self.march.failure is not None:
            self.failure = self.named(*self.march.failure)
        return self.block(block, seconds)

    def tail(self) -> Block:
        """Return the present node, if it is not a recorded one."""
        if self.march.node % self.march.every == 0:
            return self.block(self.march.nothing(), 0.0)
        self._give(0)
        block = self.march.present()
        if self.controllers:
            block.command[:, [k for _, k in self.controllers]] = self.march.inputs
        return self.block(block, 0.0)

    def state(self) -> State:
        """Return the present node."""
        return self.march.state()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that the steps to come depend on; ``ending``: a body that the last ones did not resolve, or -1."""
        recorded = self.march.node // self.march.every + 1
        ending = self.march.unresolved_end() if self.finished and self.failure is None else -1
        counts = {"recorded": np.array([recorded]), "iterations": self.iterations.copy()}
        return self.march.checkpoint() | counts | {"ending": np.array([ending])}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        self.march.restore(saved)
        self.failure = self.march.failure = None
        self.iterations[:] = saved["iterations"]
        self._stepwise = None
        self._give(0)
        if self.controllers:
            self._call()

    def block(self, block: MarchBlock, seconds: float) -> Block:
        """Return the nodes of a block of the march with the loads at these."""
        nodes = {name: getattr(block, name) for name in RECORDED if name != "node"}
        if self.loads.varies:
            nodes["load"] = self.loads.recorded(block.node)
        return Block(nodes, seconds)

    def instant(self, share: float, t: float, look: Callable[[int], None] | None = None) -> Block:
        """Return the state at time ``t``, s, a ``share`` of dt after the present node; the run stays where it is.

        ``look``: as in `March.aside`. Sets ``failure`` where the step to it cannot be solved.
        """
        march = self.march
        self._give(1, share)
        self._command()
        node = march.aside(share, look)
        if node is None:
            assert march.failure is not None
            self.failure = self.named(*march.failure)
            return self.block(march.advance(0), 0.0)
        node = replace(node, t=np.array([t]), command=march.compiled.inputs_by_force(self._inputs(share)[None]))
        block = self.block(node, 0.0)
        if self.loads.varies:
            block.nodes["load"] = self.loads.between(march.node, share)[None]
        return block

    def _inputs(self, share: float) -> np.ndarray:
        """Return inputs (ne,) at a share of dt from the present node: linear, or cubic for motions, as they act."""
        march, constraints = self.march, self.march.compiled.plan.constraints
        share, step = share / march.width, march.dt * march.width
        a, b = march.commands[0], march.commands[-1]
        inputs = (1.0 - share) * a + share * b
        e = constraints.element[constraints.driven]
        p, q = march.command_rates[0, e] * step, march.command_rates[-1, e] * step
        square, cube = 3.0 * (b[e] - a[e]) - 2.0 * p - q, 2.0 * (a[e] - b[e]) + p + q
        inputs[e] = a[e] + share * (p + share * (square + share * cube))
        if self.commands.of_time:
            inputs[march.of_time[0]] = self.commands.within(np.array(march.time + share * step))
        return inputs

    def _command(self) -> None:
        """Set the commands of functions of the state from their results at the nodes up to the present one."""
        if not self.controllers:
            return
        march, elements = self.march, [e for e, _ in self.controllers]
        around = march.commands[march.node - march.first :][:2]
        around[:, elements] = march.inputs
        around[1, elements] += march.width * march.dt * self.slopes

    def _controlled(self, steps: int) -> MarchBlock:
        """March ``steps`` steps; the functions that command forces are called at each node, for the step to come."""
        march, first = self.march, self.march.node
        if self._stepwise is None:
            elements = [e for e, _ in self.controllers]
            self._stepwise = Stepwise(march, elements, self.extrapolated.tolist(), march.every > 1)
        stepwise, inputs, time = self._stepwise, self._stepwise.input, march.ws.pace.time
        nodes = march.to_record(steps)
        rows = march.outputs(len(nodes))
        stepwise.within(rows)
        word, inputs[:], before, t = stepwise.word, march.inputs, march.inputs, march.time
        forces, take = [self.mechanism.forces[k] for _, k in self.controllers], stepwise.take
        for _ in range(steps):
            before, t = inputs.copy(), float(time[0])
            if take(word, 1) == FAILED:
                march.failure = (int(stepwise.place[NODE]), *stepwise.go_back())
                break
            now, state = float(time[0]), stepwise.state()
            for n, force in enumerate(forces):
                inputs[n] = called(force, now, state)
        stepwise.leave()
        march.inputs = inputs.copy()
        if march.failure is None and steps:
            self.slopes = np.where(self.extrapolated, (march.inputs - before) / (march.time - t), 0.0)
        block = march.block(nodes[: stepwise.recorded], rows, stepwise.recorded)
        elements, numbers = [e for e, _ in self.controllers], [k for _, k in self.controllers]
        march.commands[march.node - first, elements] = march.inputs
        block.command[:, numbers] = march.commands[block.node - first][:, elements]
        return block

    def _one_by_one(self, steps: int) -> MarchBlock:
        """March ``steps`` steps, each with the inputs from its start to its end."""
        march, blocks = self.march, [self.march.nothing()]
        for _ in range(steps):
            if march.failure is not None or march.halts:
                break
            self._give(1)
            blocks.append(self._commanded())
        return join_node_blocks(blocks)

    def _commanded(self) -> MarchBlock:
        """March one step; the functions that command forces are called at its end, for the step to come."""
        self._command()
        before, t = self.march.inputs, self.time
        block = self.march.advance(1)
        if not self.march.failure:
            self._call(block)
            if self.controllers:
                self.slopes = np.where(self.extrapolated, (self.march.inputs - before) / (self.time - t), 0.0)
            block.command[:, [k for _, k in self.controllers]] = self.march.inputs
        return block

    def _give(self, steps: int, share: float = 1.0) -> None:
        """Set loads and commands of ``steps`` from the present node on, or of one that takes a ``share`` of dt."""
        march = self.march
        nodes = march.node + np.arange(steps + 1)
        starts = march.dt * nodes[: max(steps, 1)]
        of_time, aims = self._of_time(starts, share, 1.0), self._aims(starts, share, 1.0)
        inputs, rates = self._commands_at(nodes)
        march.give(self.loads.constant, self.loads.at(nodes), inputs, rates, of_time=of_time, aims=aims)

    def _commands_at(self, nodes: np.ndarray) -> np.ndarray:
        """See `Commands.at`; with a row for each node where functions of the state fill them in."""
        table = self.commands.at(nodes)
        return np.repeat(table, len(nodes), axis=1) if self.controllers and table.shape[1] == 1 else table

    def _of_time(self, starts: np.ndarray, share: float, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the functions of time in steps from ``starts`` (S,), s, of a ``share`` of dt.

        Rows are ``width`` dt apart. See ``of_time`` of `March.give`.
        """
        march, elements = self.march, [e for e, _ in self.commands.of_time]
        within = self.commands.within(starts[:, None] + share * march.dt * march.points)
        return np.array(elements, dtype=np.int64), march.points * (share / width), within

    def _aims(self, starts: np.ndarray, share: float, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the targets of points and bodies where stages end, in steps as in `_of_time`."""
        ends = self.march.ends
        aims = self.commands.aims(starts[:, None] + share * self.march.dt * ends)
        return self.commands.moved, ends * (share / width), aims

    def _call(self, block: MarchBlock | None = None) -> None:
        """Set the inputs to the results of the functions of the state at the present node.

        ``block``: the steps to it, whose last node is used if that is recorded.
        """
        t = self.time
        march = self.march
        state = march.carried(block.last_state()) if block is not None and len(block.node) else march.state()
        self.march.inputs = np.array([called(self.mechanism.forces[k], t, state) for _, k in self.controllers])

    def _check_driven(self) -> None:
        if not self.march.compiled.plan.constraints.row.size:
            return
        largest = max(1.0, self.march.compiled.length)
        for e, here, target, missed in self.march.off_target():
            force = self.mechanism.forces[self.march.compiled.force[e]]
            if isinstance(force, Moved):
                if not abs(here - target) <= LARGEST_GAP * largest:
                    raise StateError(starts_elsewhere(force, abs(here - target)))
                if not missed <= LARGEST_PARTING * self.march.fastest:
                    raise StateError(cannot_start(force, missed))
            elif not abs(here - target) <= LARGEST_GAP * largest:
                assert isinstance(force, AlongCoordinate)
                raise StateError(
                    f"{force.label} starts at {target:g}, but coordinate {force.coordinate} of joint '{force.joint}' is"
                    f" at {here:g}: give a state with mechanism.state(coordinates={{'{force.joint}': ...}})"
                )
        for e, value in self.march.kept():
            starts_open = getattr(self.mechanism.forces[self.march.compiled.force[e]], "starts_open", None)
            if starts_open is not None and not abs(value) <= LARGEST_GAP * largest:
                raise StateError(starts_open(value))

    def named(self, node: int, body: int, joint: int) -> Failure:
        """Return the failure at ``node``, with names in place of the kernel's numbers."""
        compiled, when = self.march.compiled, self.march.time
        name = self.mechanism.bodies[compiled.order[body]].name if body >= 0 else None
        number = compiled.joints[joint] if joint >= 0 else -1
        held = self.mechanism.joints[number].name if number >= 0 else None
        where = f"body '{name}'" + (f" and joint '{held}'" if held else "")
        unsolved = self.march.contacts_without_states()
        if unsolved:
            first = self.mechanism.bodies[compiled.order[unsolved[0][1]]].name
            why = f"{self._listed(unsolved)} have an impact for which no states of contact were found"
            message = f"the step at t = {when:g} s could not be solved: {why}; another dt may help"
            return Failure(message, when, first)
        blocked = dict.fromkeys(self.mechanism.forces[compiled.force[e]].label for e in blocked_limits(self.march))
        if blocked and (contacts := self.march.missed_contacts() or self.march.contacts_near(body)):
            blocked[self._listed(contacts)] = None
        if len(blocked) > 1:
            why = cannot_come_back(blocked)
            return Failure(f"the step at t = {when:g} s could not be solved: {why}", when, name, held)
        clash = self._clash()
        if clash:
            return Failure(f"the step at t = {when:g} s could not be solved: {clash}", when, name, held)
        missed = dict.fromkeys(self.mechanism.forces[compiled.force[e]].label for e in self.march.missed_targets())
        stops = dict.fromkeys(self.mechanism.forces[compiled.force[e]].label for e in met_limits(self.march))
        cannot = ", ".join(["the joints", *stops]) if stops else "the joints"
        where += f"; {', '.join(missed)} may ask for a motion that {cannot} cannot follow" if missed else ""
        where += f"; {', '.join(stops)} may be in the way" if stops and not missed else ""
        pressed, near = (
            self._listed(contacts) for contacts in (self.march.missed_contacts(), self.march.contacts_near(body))
        )
        if pressed:
            where += f"; the state of {pressed} was not found"
        elif near:
            where += f"; it touches, or soon may, by {near}"
        touching, most = self.march.crowd()
        where += f"; moving bodies touch at {touching} points, a step solves for {most}" if touching > most else ""
        misfits = quick_misfits(self.mechanism, self.mechanism.compiled, self.march.state())
        advice = [str(misfit) for misfit in misfits] or ["Infinite loads or a lock-up cannot be solved"]
        divided = f", not even in {2**DEEPEST_SUBSTEP} sub-steps" if self.march.halves else ""
        message = (
            f"the step at t = {when:g} s could not be solved{divided};"
            f" the residual is largest at {where}. {'; '.join(advice)}"
        )
        return Failure(message, when, name, held)

    def _listed(self, contacts: list[tuple[int, int, int]]) -> str:
        """Return names of contacts and of their bodies; ``contacts``: element and slots of both bodies of each."""
        compiled = self.march.compiled
        names = [*(f"'{self.mechanism.bodies[i].name}'" for i in compiled.order), "the ground"]
        labels = (
            f"{self.mechanism.forces[compiled.force[e]].label} of {names[i]} and {names[j]}" for e, i, j in contacts
        )
        return ", ".join(dict.fromkeys(labels))

    def _clash(self) -> str | None:
        """Return a message if the prescribed coordinates were incompatible in the failed step, else None."""
        work, force_of, wanted, labels = self.march.ws.efforts, self.march.compiled.force, {}, {}
        for e, r in self.march.driven():
            force = self.mechanism.forces[force_of[e]]
            if isinstance(force, Driven) and self.mechanism.joint(force.joint).dof == 1:
                wanted[force.joint] = float(work.target[r]), float(work.target_rate[r])
                labels[force.joint] = force.label
        return what_clashes(self.mechanism, self.march.state(), wanted, labels)
