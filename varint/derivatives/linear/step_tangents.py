"""A run that carries changes of its state along, by the derivatives of its steps."""

from dataclasses import replace

import numpy as np

from varint.base.errors import ArgumentError, ConvergenceError
from varint.derivatives.event_checks import Drifts
from varint.derivatives.linear.candidates import Candidates
from varint.derivatives.linear.carrier import NO_INPUTS, EventCarrier
from varint.derivatives.linear.minimal_coordinates import Coordinates, coordinates_at
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.composed_damping import refuse_amplified
from varint.methods.variational.march import March
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.schemes import Scheme
from varint.model.state import State
from varint.plan import Compiled
from varint.results.forces import check_laws
from varint.results.inputs.at_nodes import Commands, Loads, starts_of_motions
from varint.step.derivatives.columns import carry_forward, changes_of_velocities, take_node
from varint.step.limits.parts import resting_at
from varint.step.one_sided import rows_state, set_rows
from varint.step.plan import Tangent, Workspace
from varint.step.workspace import tangent_work, workspace

TOL = 1e-13  # of a step, m/s
ROOM = 256  # stages that are kept at once
SPARE = 1.2  # stages that there is room for, over those of a run without sub-steps


class TangentRun:
    """A run of so many ``steps`` whose stages are kept, a part of them at a time.

    Raises ArgumentError for a scheme of order 1, MechanismError where the law of a user's force is wrong. The forces
    must have derivatives.
    """

    def __init__(self, mechanism: Mechanism, method: Scheme, state: State, dt: float, steps: int) -> None:
        if method.staggered:
            raise ArgumentError("the derivative of a step needs order 2 or more")
        check_laws(mechanism, state)
        refuse_amplified(mechanism, method, dt, state)
        self.mechanism, self.compiled, self.stages = mechanism, mechanism.compiled, method.stages.size
        plan = self.compiled.plan
        room = self._room(min(steps, ROOM // self.stages))
        self.dt, self.steps = dt, steps
        self.march = March(self.compiled, method, dt, TOL, max(steps, 1), kept=room)
        self.aside, self.work = workspace(plan, 1, self.compiled.functions), tangent_work(plan)
        self.candidates: Candidates | None = None
        self.fresh = self.march.checkpoint()
        self._start(state)

    def restart(self, state: State) -> None:
        """Begin anew from another state; raises MechanismError as above."""
        check_laws(self.mechanism, state)
        self.march.restore(self.fresh)
        self.march.failure = None
        self._start(state)

    def _start(self, state: State) -> None:
        loads, starts = Loads(self.mechanism, self.compiled, self.steps), starts_of_motions(self.mechanism, state)
        commands = Commands(self.mechanism, self.compiled, self.steps, self.dt, starts, self.steps * self.dt)
        self.run = MaximalRun(self.mechanism, self.march, state, self.steps, loads, commands)
        self.run.start()
        self.drifts = Drifts(self.mechanism, commands, loads, self.dt, self.march.scheme)
        self.rests: str | None = None  # the label of a stop that was met without restitution

    @property
    def momentum(self) -> np.ndarray:
        """Momenta (nb, 6) at the present node, N s, world, and N m s, body axes, in kernel order."""
        return self.march.ws.momentum

    def state(self) -> State:
        """State at the present node."""
        return self.run.state()

    def coordinates(self) -> Coordinates:
        """Return minimal coordinates about the present node."""
        self.place()
        if self.candidates is None:
            self.candidates = Candidates(self.mechanism)
        return coordinates_at(self.candidates, self.aside, self.work, self.state())

    def advance(self, steps: int, changes: np.ndarray) -> np.ndarray:
        """March ``steps`` steps; return changes at the new node from ``changes`` (n, nb, 12) at the present one.

        Of pose and velocity, in the order of the description. Raises ConvergenceError where a step could not be solved.
        """
        carried = self._momenta(changes)
        self.carry(steps, carried)
        return self._velocities(carried)

    def carry(self, steps: int, changes: np.ndarray) -> None:
        """March ``steps`` steps; carry changes (n, nb, 12) of pose and momenta, in kernel order, in place."""
        most = max(1, ROOM // self.stages)
        while steps:
            piece = min(steps, most)
            self.march_on(piece)
            self._carry(changes, NO_INPUTS)
            steps -= piece

    def carried(self, changes: np.ndarray, inputs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return changes (n + m, nb, 12) at the present node, by changes before the steps that were marched last.

        ``changes`` (n, nb, 12): before these steps. ``inputs``: elements (m,) and spans (m,), see `carry_forward`;
        their changes follow the others.
        """
        by_inputs = np.zeros((len(inputs[0]), *changes.shape[1:]))
        carried = self._momenta(np.concatenate([changes, by_inputs]))
        self._carry(carried, inputs)
        return self._velocities(carried)

    def _carry(self, changes: np.ndarray, inputs: tuple[np.ndarray, np.ndarray]) -> None:
        plan, tape = self.compiled.plan, self.march.ws.tape

        def between(stages: tuple[int, int], changes: np.ndarray, states: np.ndarray) -> None:
            begun = np.empty_like(changes)
            carry_forward(plan, self.aside, tape, self.work, stages, inputs, changes, begun, states)

        states = np.zeros((len(changes), 0))  # laws with a state are refused
        if not tape.events.count[0]:
            between((0, int(tape.count[0])), changes, states)
            return
        arguments = self.mechanism, self.aside, self.work, self.drifts, self.stages, between
        EventCarrier(*arguments).carry(tape, changes, states)

    def _momenta(self, changes: np.ndarray) -> np.ndarray:
        """Return changes of pose and momenta, in kernel order, from changes (n, nb, 12) of pose and velocity."""
        bodies, momenta = self.compiled.plan.bodies, np.take(changes, self.compiled.order, axis=1)
        momenta[..., 6:9] *= bodies.mass[:, None]
        momenta[..., 9:] = np.einsum("nab,cnb->cna", bodies.inertia, momenta[..., 9:])
        return momenta

    def _velocities(self, changes: np.ndarray) -> np.ndarray:
        """Return changes of pose and velocity at the present node, from changes (n, nb, 12) of pose and momenta.

        ``changes`` are in kernel order, the result is in that of the description.
        """
        self.place()
        changes_of_velocities(self.compiled.plan, self.aside, self.work, changes)
        return changes[:, self.compiled.slot]

    def along(self, coordinates: Coordinates) -> np.ndarray:
        """Return changes (2 n, nb, 12) of pose and velocity at the present node by its coordinates and their rates."""
        self.place()
        return basis_of(coordinates, self.compiled, self.aside, self.work)

    def march_on(self, steps: int) -> None:
        """March ``steps`` steps, and keep their stages; raises ConvergenceError."""
        room, before = self._room(steps), self.run.checkpoint()
        while True:
            if len(self.march.ws.tape.h) < room:
                fresh = workspace(self.compiled.plan, self.stages, self.compiled.functions, kept=room)
                self.march.ws = replace(self.march.ws, tape=fresh.tape)
            tape = self.march.ws.tape
            tape.count[0] = tape.events.count[0] = 0
            self.run.advance(steps)
            if self.run.failure is not None:
                message, time, body, joint = self.run.failure
                raise ConvergenceError(message, time=time, body=body, joint=joint, trajectory=None)
            count = max(int(tape.count[0]), int(tape.events.count[0]))
            if count <= len(tape.h):
                self._note_resting()
                return
            room = count  # sub-steps needed more
            self.run.restore(before)

    def _note_resting(self) -> None:
        """Note a stop that closed in the steps that were marched last."""
        for element in resting_at(self.compiled.plan, self.march.ws.tape.events)[:1]:
            self.rests = self.mechanism.forces[self.compiled.force[element]].label

    def _room(self, steps: int) -> int:
        """Return the room on the tape for the stages of ``steps`` steps, with some to spare."""
        return int(SPARE * steps * self.stages) + 1

    def place(self) -> Workspace:
        """Place the present node as pose 0 of the workspace aside; return this workspace."""
        plan, here = self.compiled.plan, self.march.ws
        take_node(plan, self.aside, here, self.march.pose)
        set_rows(plan, self.aside, 0, rows_state(here))
        return self.aside


def basis_of(coordinates: Coordinates, compiled: Compiled, ws: Workspace, work: Tangent) -> np.ndarray:
    """Return changes (2 n, nb, 12) of pose and velocity by coordinates and their rates.

    Bodies are in the order of the description. The node is pose 0 of the workspace, with momenta and rates of targets,
    see `changes_of_velocities`.
    """
    motions = coordinates.motions
    turning = np.zeros((*motions.shape[:2], 12))
    turning[..., :6] = motions[:, compiled.order]
    changes_of_velocities(compiled.plan, ws, work, turning)
    turning = turning[:, compiled.slot]  # with velocities that keep to the rows; of these, the ones that change no rate
    rates = coordinates.along(turning[..., 6:]) + coordinates.bends(coordinates.state, turning[..., :6])
    turning[..., 6:] -= np.tensordot(rates.T, motions, 1)
    return np.concatenate([turning, np.concatenate([np.zeros_like(motions), motions], axis=2)])
