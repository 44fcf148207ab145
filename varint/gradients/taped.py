"""A run whose stages are kept, and gradients that go back along them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.errors import ArgumentError, ConvergenceError
from varint.gradients.numbers import differences
from varint.integrators.march import March
from varint.integrators.run import MaximalRun
from varint.integrators.schemes import Scheme
from varint.kernels.adjoint import carry_back, velocities_back
from varint.kernels.by_numbers import acting, add_start, given_in_stages, pushing
from varint.kernels.configuration import place
from varint.kernels.inputs import Inputs
from varint.kernels.plan import Bodies, ByNumbers, Plan, Workspace
from varint.kernels.workspace import by_numbers, states_of, tangent_work, workspace
from varint.loads import Commands, Loads, starts_of_motions
from varint.mechanism import Mechanism
from varint.model.rotation import quat_product, vector_from_matrix, vector_from_quat
from varint.model.state import State

SPARE = 1.2  # stages that there is room for, over those of a run without sub-steps
MEASURED = ("u", "v", "w", "c", "weight")
STEP = 1e-3  # of dt: of the differences of functions of time
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
        self.inputs = self.table(mechanism, state, dt)

    def table(self, mechanism: Mechanism, start: State, dt: float) -> np.ndarray:
        """(2, T, ne) inputs of the elements at the nodes of a run with other numbers, and their rates."""
        motions, end = starts_of_motions(mechanism, start), self.steps * dt
        commands = Commands(mechanism, mechanism.compiled, self.steps, dt, motions, end)
        return commands.at(np.arange(self.steps + 1))

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
        self.begin, self.at = _node(march, run.state()), list(at)
        self.nodes: list[Node] = []
        for number in at:
            run.advance(number - march.node)
            if run.failure is not None:
                message, time, body, joint = run.failure
                raise ConvergenceError(message, time=time, body=body, joint=joint, trajectory=None)
            self.nodes.append(_node(march, run.state()))
        self.count = int(march.ws.tape.count[0])


class Adjoint:
    """The gradient by all that a run depends on, of an objective with the gradients ``by_states`` (nodes, nb, 12).

    These are by position, rotation vector (body axes), velocity and angular velocity at the run's nodes.
    """

    def __init__(self, run: TapedRun, by_states: np.ndarray) -> None:
        plan = run.compiled.plan
        self.run, self.by_states = run, np.ascontiguousarray(by_states[:, run.compiled.order])
        self.by, self.ws = by_numbers(plan, run.count), workspace(plan, 1, run.compiled.functions)
        self.by_start = np.zeros((plan.bodies.mass.size, 12))  # by position, rotation vector and momenta
        self.by_rate: list[np.ndarray] = []  # (nr,) of the targets, at the start and at the run's nodes
        law_state = np.zeros(states_of(plan))
        work, befores = tangent_work(plan), [0, *(node.stages for node in run.nodes[:-1])]
        for before, node, by_state in reversed(list(zip(befores, run.nodes, self.by_states, strict=True))):
            here = by_state.copy()
            velocities_back(plan, _at(node, plan, self.ws), 0, here, self.by)
            self.by_rate.insert(0, self.ws.increment_row.copy())
            self.by_start += here
            carry_back(plan, self.ws, run.tape, work, (before, node.stages), self.by_start, law_state, self.by)
        self._constraints_at_start()
        self.acting = acting(plan, self.ws, run.tape, run.count, self.by)

    def _constraints_at_start(self) -> None:
        """What constraints of forces do at the start: velocities are brought to their rates, and sums kept there."""
        run, plan = self.run, self.run.compiled.plan
        constraints, bodies, at = plan.constraints, plan.bodies, _at(run.begin, plan, self.ws)
        if not constraints.row.size:
            return
        spin = run.first.angular_velocity[run.compiled.order]
        velocity = np.hstack([run.first.velocity[run.compiled.order], spin])
        brought = velocity_of(bodies, at.momentum)
        self.by.mass[:] += np.sum(self.by_start[:, 6:9] * brought[:, :3], axis=1)
        self.by.inertia[:] += self.by_start[:, 9:, None] * brought[:, None, 3:]
        at.momentum[:] = momentum_of(bodies, velocity)
        self.by_start[:, 6:] = momentum_of(bodies, self.by_start[:, 6:])
        velocities_back(plan, at, 0, self.by_start, self.by)
        self.by_rate.insert(0, at.increment_row.copy())
        factor = self.by.target.sum(axis=0)
        for first, size in zip(constraints.row[constraints.driven], constraints.size[constraints.driven], strict=True):
            factor[first : first + size] = 0.0
        add_start(plan, at, 0, factor, self.by_start, self.by)

    def by_first_state(self) -> np.ndarray:
        """(nb, 12) by the state that the run starts from, bodies in the order of the description."""
        bodies, found = self.run.compiled.plan.bodies, self.by_start.copy()
        found[:, 6:] = momentum_of(bodies, found[:, 6:])
        return found[self.run.compiled.slot]

    def by_step(self) -> float:
        """By the size of the steps, of a run of as many of them."""
        run = self.run
        own = self.by.h @ run.tape.h[: run.count] / run.dt
        if not (run.inputs[0] != run.inputs[0, 0]).any() and not run.inputs[1].any():
            return float(own)
        given = lambda share: self.given(run.mechanism, run.first, run.dt * (1.0 + share))  # noqa: E731
        return float(own + differences(given, STEP) / run.dt)

    def scalar(self, changed: Mechanism, start: State) -> float:
        """A function of the description with the same derivatives as the objective: its value for a ``changed`` one.

        ``start``: where the run of the ``changed`` mechanism starts.
        """
        run, by, compiled = self.run, self.by, changed.compiled
        plan, before, order = compiled.plan, run.compiled.plan, compiled.order
        if not np.array_equal(order, run.compiled.order) or not same_structure(before, plan):
            raise ArgumentError(
                "the derivative needs a mechanism with the same bodies and joints, and the same laws, next to this one"
            )
        total = along_numbers(by, before, plan) + self.given(changed, start, run.dt)
        if any(differ(a[before.rows.role.size :], b[before.rows.role.size :]) for a, b in measured(before, plan)):
            for each, sign in ((compiled, 1.0), (run.compiled, -1.0)):
                ws = workspace(each.plan, 1, each.functions)
                total += sign * pushing(each.plan, ws, run.tape, run.count, by)
        elif any(map(differ, (*before.laws, *before.loads), (*plan.laws, *plan.loads))):
            total += acting(plan, workspace(plan, 1, compiled.functions), run.tape, run.count, by) - self.acting
        velocity = np.hstack([start.velocity[order], start.angular_velocity[order]])
        moved = start.position - run.first.position
        turned = vector_from_quat(quat_product(run.first.quat_wxyz * CONJUGATE, start.quat_wxyz))
        changes = np.hstack([moved[order], turned[order], momentum_of(plan.bodies, velocity)])
        return total + float(np.sum(self.by_start * changes))

    def given(self, changed: Mechanism, start: State, dt: float) -> float:
        """What inputs and targets of the ``changed`` mechanism have of `scalar`."""
        run, by = self.run, self.by
        table = run.table(changed, start, dt)
        if np.array_equal(table, run.inputs):
            return 0.0
        change = table - run.inputs
        nb, plan = len(by.mass), run.compiled.plan
        load, loads = np.zeros((nb, 6)), np.zeros((0, nb, 6))
        inputs = Inputs(load, loads, change[0], change[1], np.zeros(1, dtype=np.int64), np.ones(1))
        ws, input_of, target_of = workspace(plan, 1, run.compiled.functions), *map(np.zeros_like, (by.input, by.target))
        given_in_stages(plan, ws, inputs, run.tape, run.count, dt, input_of, target_of)
        total = np.sum(by.input * input_of) + np.sum(by.target * target_of)
        first, element = plan.constraints.row, plan.constraints.element
        for node, by_rate in zip([0, *run.at], self.by_rate, strict=False):
            total += by_rate[first] @ change[1, min(node, change.shape[1] - 1), element]
        return float(total)


def same_structure(before: Plan, after: Plan) -> bool:
    """Whether two plans differ in the values of numbers alone."""
    pairs = ((before.joints, after.joints), (before.measures, after.measures), (before.laws, after.laws))
    return all(
        a.shape == b.shape and (a.dtype.kind == "f" or np.array_equal(a, b))
        for one, other in (*pairs, (before.loads, after.loads), (before.constraints, after.constraints))
        for a, b in zip(one, other, strict=True)
    )


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays do."""
    return not np.array_equal(a, b)


def measured(before: Plan, after: Plan) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of the numbers of measures."""
    names = (*MEASURED, "rest")
    return [(getattr(before.measures, name), getattr(after.measures, name)) for name in names]


def along_numbers(by: ByNumbers, before: Plan, after: Plan) -> float:
    """The product of a gradient with the change of the numbers of bodies and rows."""
    total = 0.0
    for name in ("mass", "inertia", "gravity"):
        total += np.sum(getattr(by, name) * (getattr(after.bodies, name) - getattr(before.bodies, name)))
    for name in MEASURED:  # of the measures of forces it is zero
        total += np.sum(getattr(by, name) * (getattr(after.measures, name) - getattr(before.measures, name)))
    rest, turned = before.measures.rest, after.measures.rest
    for m in np.flatnonzero((rest != turned).any(axis=(1, 2)) & by.rest.any(axis=1)):
        total += by.rest[m] @ vector_from_matrix(turned[m] @ rest[m].T)
    return float(total)


def momentum_of(bodies: Bodies, velocity: np.ndarray) -> np.ndarray:
    """(nb, 6) of velocities (nb, 6)."""
    spin = np.einsum("nab,nb->na", bodies.inertia, velocity[:, 3:])
    return np.hstack([bodies.mass[:, None] * velocity[:, :3], spin])


def velocity_of(bodies: Bodies, momentum: np.ndarray) -> np.ndarray:
    """(nb, 6) of momenta (nb, 6)."""
    spin = np.einsum("nab,nb->na", bodies.inverse_inertia, momentum[:, 3:])
    return np.hstack([momentum[:, :3] / bodies.mass[:, None], spin])


def _node(march: March, state: State) -> Node:
    """Where a run is."""
    ws, efforts = march.ws, march.ws.efforts
    pose = ws.position[march.pose], ws.quat[march.pose], ws.momentum
    targets = efforts.value_near, efforts.target, efforts.target_rate
    return Node(int(ws.tape.count[0]), state, *(array.copy() for array in (*pose, *targets)))


def _at(node: Node, plan: Plan, ws: Workspace) -> Workspace:
    """The workspace with the node as pose 0."""
    ws.position[0], ws.quat[0], ws.momentum[:] = node.position, node.quat, node.momentum
    ws.efforts.value_near[:], ws.efforts.target[:] = node.value_near, node.target
    ws.efforts.target_rate[:] = node.target_rate
    place(plan, ws, 0)
    return ws
