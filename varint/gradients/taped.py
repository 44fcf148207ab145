"""A run whose stages are kept, and gradients that go back along them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.errors import ArgumentError, ConvergenceError
from varint.integrators.march import March
from varint.integrators.run import MaximalRun
from varint.integrators.schemes import Scheme
from varint.kernels.adjoint import carry_back, pairing, velocities_at, velocities_back
from varint.kernels.configuration import place
from varint.kernels.plan import JOINT, Plan, Tape, Workspace
from varint.kernels.workspace import tangent_work, workspace
from varint.loads import Commands, Loads, starts_of_motions
from varint.mechanism import Mechanism
from varint.model.rotation import quat_product, vector_from_quat
from varint.model.state import State

SPARE = 1.2  # stages that there is room for, over those of a run without sub-steps
SAME_MOTION = 1e-9  # m or rad
TURNED = 0.1  # of an axis of a row: more is a jump, not the change of a number
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


class Node(NamedTuple):
    """A node of a run: what its state was found from, in kernel order, and how many stages led there."""

    stages: int
    state: State
    position: np.ndarray  # (nb + 1, 3)
    quat: np.ndarray  # (nb + 1, 4)
    momentum: np.ndarray  # (nb, 6)
    value_near: np.ndarray  # as of `EffortWork`, up to target_rate
    target: np.ndarray
    target_rate: np.ndarray


class TapedRun:
    """A run of which all stages are kept, and some nodes.

    Parameters
    ----------
    mechanism : Mechanism
    method : Scheme
    state : State
        To start from.
    dt, tol : float
        s, m/s
    at : sequence of int
        Numbers of the nodes, rising; the run ends at the last one.
    loads : (force, torque)
        As of `simulate`.

    Raises ArgumentError, ConvergenceError.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        method: Scheme,
        state: State,
        dt: float,
        tol: float,
        at: Sequence[int],
        loads: tuple[Mapping | None, Mapping | None],
    ) -> None:
        self.mechanism, self.first, self.compiled = mechanism, state, mechanism.compiled
        room = int(SPARE * at[-1] * method.stages.size) + 1
        while True:
            march = March(self.compiled, method, dt, tol, max(at[-1], 1))
            march.ws = workspace(self.compiled.plan, method.stages.size, self.compiled.functions, kept=room)
            self._run(mechanism, march, at, loads)
            if self.count <= room:
                break
            room = self.count  # sub-steps needed more
        self.tape = march.ws.tape
        self.dt, self.steps = dt, at[-1]
        self.inputs = self._inputs(mechanism, state)

    def tape_of(self, changed: Mechanism, start: State) -> Tape:
        """The tape with the inputs of a changed mechanism; raises ArgumentError where it changes prescribed motions."""
        values, tape, constraints = self._inputs(changed, start), self.tape, changed.compiled.plan.constraints
        driven = constraints.element[constraints.driven]
        if np.abs(values[:, driven] - self.inputs[:, driven]).max(initial=0.0) > SAME_MOTION:
            raise ArgumentError("there is no gradient by what changes a prescribed motion yet")
        share = tape.share[:, None]
        left, right = (np.minimum(tape.node + k, len(values) - 1) for k in (0, 1))
        return replace(tape, input=np.ascontiguousarray((1.0 - share) * values[left] + share * values[right]))

    def _inputs(self, mechanism: Mechanism, start: State) -> np.ndarray:
        """(T, ne) of the elements at the nodes, T = 1 where they are constant."""
        motions, end = starts_of_motions(mechanism, start), self.steps * self.dt
        commands = Commands(mechanism, mechanism.compiled, self.steps, self.dt, motions, end)
        return commands.at(np.arange(self.steps + 1))[0]

    def _run(self, mechanism: Mechanism, march: March, at: Sequence[int], loads: tuple) -> None:
        steps, dt = at[-1], march.dt
        acting = Loads(mechanism, self.compiled, steps, *loads)
        motions = starts_of_motions(mechanism, self.first)
        commands = Commands(mechanism, self.compiled, steps, dt, motions, steps * dt)
        run = MaximalRun(mechanism, march, self.first, steps, acting, commands)
        if run.controllers:
            force = mechanism.forces[run.controllers[0][1]]
            raise ArgumentError(
                f"{force.label} has an input that is a function of the state, which has no gradient: give one value a"
                " node"
            )
        run.start()
        self.nodes: list[Node] = []
        for number in at:
            run.advance(number - march.node)
            if run.failure is not None:
                message, time, body, joint = run.failure
                raise ConvergenceError(message, time=time, body=body, joint=joint, trajectory=None)
            ws, efforts = march.ws, march.ws.efforts
            pose = ws.position[march.pose], ws.quat[march.pose], ws.momentum
            targets = efforts.value_near, efforts.target, efforts.target_rate
            kept = (array.copy() for array in (*pose, *targets))
            self.nodes.append(Node(int(ws.tape.count[0]), run.state(), *kept))
        self.count = int(march.ws.tape.count[0])


class Adjoint:
    """The gradient by all that a run depends on, of an objective with the gradients ``by_states`` (nodes, nb, 12).

    These are by position, rotation vector (body axes), velocity and angular velocity at the run's nodes.
    """

    def __init__(self, run: TapedRun, by_states: np.ndarray) -> None:
        plan = run.compiled.plan
        nb, nr = plan.bodies.mass.size, plan.rows.role.size
        self.run, self.by_states = run, np.ascontiguousarray(by_states[:, run.compiled.order])
        self.duals = tuple(np.zeros((run.count, *shape)) for shape in ((nb, 6), (nr,), (nb, 6)))
        ws, work = workspace(plan, 1, run.compiled.functions), tangent_work(plan)
        self.by_start = np.zeros((nb, 12))  # by position, rotation vector and momenta
        befores = [0, *(node.stages for node in run.nodes[:-1])]
        for before, node, by_state in reversed(list(zip(befores, run.nodes, self.by_states, strict=True))):
            here = by_state.copy()
            velocities_back(plan, _at(node, plan, ws), 0, here)
            self.by_start += here
            carry_back(plan, ws, run.tape, work, (before, node.stages), self.by_start, self.duals)

    def by_first_state(self) -> np.ndarray:
        """(nb, 12) by the state that the run starts from, bodies in the order of the description."""
        bodies, found = self.run.compiled.plan.bodies, self.by_start.copy()
        found[:, 6:9] *= bodies.mass[:, None]
        found[:, 9:] = np.einsum("nab,nb->na", bodies.inertia, found[:, 9:])
        return found[self.run.compiled.slot]

    def scalar(self, changed: Mechanism, start: State) -> float:
        """A function of the description with the same derivatives as the objective: its value for a ``changed`` one.

        ``start``: where the run of the ``changed`` mechanism starts.
        """
        compiled, run = changed.compiled, self.run
        plan, order = compiled.plan, compiled.order
        if not np.array_equal(order, run.compiled.order) or plan.rows.role.size != run.compiled.plan.rows.role.size:
            raise ArgumentError("what a number changes must have the same bodies and joints as the mechanism itself")
        ws, tape, duals = workspace(plan, 1, compiled.functions), run.tape_of(changed, start), self.duals
        for rows, turn in _turned_rows(run, plan, ws):
            multiplier, dual = tape.multiplier.copy(), duals[1].copy()
            multiplier[:, rows], dual[:, rows] = multiplier[:, rows] @ turn.T, dual[:, rows] @ turn.T
            tape, duals = replace(tape, multiplier=multiplier), (duals[0], dual, duals[2])
        total = pairing(plan, ws, tape, (0, run.count), duals)
        momentum = plan.bodies.mass[:, None] * start.velocity[order]
        angular = np.einsum("nab,nb->na", plan.bodies.inertia, start.angular_velocity[order])
        moved = start.position - run.first.position
        turned = vector_from_quat(quat_product(run.first.quat_wxyz * CONJUGATE, start.quat_wxyz))
        total += np.sum(self.by_start * np.concatenate([moved[order], turned[order], momentum, angular], axis=1))
        for node, by_state in zip(run.nodes, self.by_states, strict=True):
            velocities_at(plan, _at(node, plan, ws), 0)
            total += np.sum(by_state[:, 6:] * ws.increment_body)
        return float(total)


def _turned_rows(run: TapedRun, plan: Plan, ws: Workspace) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of joints that the plan of a changed mechanism has along other axes, and their impulses by those before.

    The axes of a joint's rows are chosen, and the choice may jump, as that of two axes across a hinge.
    """
    before, node = run.compiled.plan, run.nodes[-1]
    old, new = (_at(node, each, workspace(each) if each is before else ws).jacobian[0] for each in (before, plan))
    for j in range(plan.joints.side.shape[0]):
        rows = slice(plan.joints.rows[j], plan.joints.rows[j + 1])
        if (plan.rows.role[rows] != JOINT).any():
            continue
        turn = np.linalg.lstsq(new[rows].reshape(-1, 12).T, old[rows].reshape(-1, 12).T, rcond=None)[0]
        if np.abs(turn - np.eye(len(turn))).max(initial=0.0) > TURNED:
            yield rows, turn


def _at(node: Node, plan: Plan, ws: Workspace) -> Workspace:
    """The workspace with the node as pose 0."""
    ws.position[0], ws.quat[0], ws.momentum[:] = node.position, node.quat, node.momentum
    ws.efforts.value_near[:], ws.efforts.target[:] = node.value_near, node.target
    ws.efforts.target_rate[:] = node.target_rate
    place(plan, ws, 0)
    return ws
