"""Gradients that go back along the stages of a run, by all that the run depends on."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from varint.errors import ArgumentError, MechanismError
from varint.gradients.given import Given
from varint.gradients.numbers import OTHER_PARTS, differences
from varint.gradients.objective import motion_between
from varint.gradients.taped import Node, TapedRun
from varint.kernels.adjoint import add_gap_at, carry_back, gap_at, impact_back, velocities_back
from varint.kernels.by_numbers import acting, add_start, pushing
from varint.kernels.by_products import holding
from varint.kernels.configuration import place
from varint.kernels.plan import Bodies, ByNumbers, ByProducts, Plan, Tangent, Workspace
from varint.kernels.tape import place_limits
from varint.kernels.workspace import by_numbers, states_of, tangent_work, workspace
from varint.mechanism import Mechanism
from varint.model.rotation import vector_from_matrix
from varint.model.state import State

MEASURED = ("u", "v", "w", "c", "weight")
OF_NUMBERS = ("mass", "inertia", "gravity", *MEASURED, "rest", "limit", "restitution")  # fields of `ByNumbers`
OF_STAGES = ("h", "load", "input", "target", "effort", "state", "push")  # those with one entry a stage
OTHERS = ("loads", "constraints", "limits")
GRAZING = 1e-12  # of the fastest motion: how fast a stop is met at least
STEP = 1e-3  # of differences by dt, as a share of it


class Adjoint:
    """The gradient of an objective by all that a run depends on, by one sweep back along its stages.

    ``by_states`` (nodes, nb, 12): the gradient by position, rotation vector (body axes), velocity and angular velocity
    at the run's nodes.
    """

    def __init__(self, run: TapedRun, by_states: np.ndarray) -> None:
        plan = run.compiled.plan
        self.run, self.by_states = run, np.ascontiguousarray(by_states[:, run.compiled.order])
        nodes = len(run.nodes) + 1 + 4 * int(run.tape.impacts.count[0])  # an impact has two, and a stage of its own
        self.by, self.ws = by_numbers(plan, run.count, nodes), workspace(plan, 1, run.compiled.functions)
        self.by_start = np.zeros((plan.bodies.mass.size, 12))  # by position, rotation vector and momenta
        self.by_rate: list[np.ndarray] = []  # (nr,) of the targets, at the start and at the run's nodes
        self.impact = int(run.tape.impacts.count[0]) - 1  # the last one that was not passed yet
        law_state = np.zeros(states_of(plan))
        work, befores = tangent_work(plan), [0, *(node.stages for node in run.nodes[:-1])]
        for before, node, by_state in reversed(list(zip(befores, run.nodes, self.by_states, strict=True))):
            here = by_state.copy()
            velocities_back(plan, _load_node(node, plan, self.ws), 0, here, self.by)
            self.by_rate.insert(0, self.ws.increment_row.copy())
            self.by_start += here
            self._back(before, node.stages, work, law_state)
        self._constraints_at_start()
        self.given = Given(run, self.by, self.by_rate)

    def _back(self, first: int, last: int, work: Tangent, law_state: np.ndarray) -> None:
        """Take the gradient by the state after stage ``last`` - 1 back to that before stage ``first``."""
        plan, ws, tape, impacts = self.run.compiled.plan, self.ws, self.run.tape, self.run.tape.impacts
        while self.impact >= 0:
            j = self.impact
            stage, timed = int(impacts.stage[j]), bool(impacts.timed[j])
            if stage < first + timed:  # a timed one belongs to the stage before it
                break
            carry_back(plan, ws, tape, work, (stage, last), self.by_start, law_state, self.by)
            impact_back(plan, ws, impacts, j, self.by_start, self.by)
            last = stage - timed
            if timed:
                self._timed_stage_back(j, work, law_state)
            self.impact -= 1
        carry_back(plan, ws, tape, work, (first, last), self.by_start, law_state, self.by)

    def _timed_stage_back(self, j: int, work: Tangent, law_state: np.ndarray) -> None:
        """Take the gradient back over the stage that ends where the limit of impact j is met.

        The size of the stage keeps the gap there at zero, and the last stage of the step gets shorter as it grows.
        """
        plan, ws, tape = self.run.compiled.plan, self.ws, self.run.tape
        k = int(tape.impacts.stage[j]) - 1
        last = int(np.flatnonzero(tape.node[: self.run.count] == tape.node[k])[-1])  # of the step
        carry_back(plan, ws, tape, work, (k, k + 1), self.by_start, law_state, self.by)
        if last == k:  # the limit is met at the very end of the step: nothing gets shorter
            return
        other, gap, states = by_numbers(plan, self.run.count), np.zeros_like(self.by_start), np.zeros_like(law_state)
        gap_at(plan, ws, tape.impacts, j, gap)
        carry_back(plan, ws, tape, work, (k, k + 1), gap, states, other)
        if abs(other.h[k]) <= GRAZING * np.abs(tape.velocity[k]).max() * self.run.compiled.length:
            force = self.run.mechanism.forces[self.run.compiled.force[plan.limits.element[tape.impacts.limit[j]]]]
            raise ArgumentError(f"{force.label} is met without speed, where the instant of an impact has no derivative")
        multiplier = (self.by.h[last] - self.by.h[k]) / other.h[k]  # of the condition that the gap is zero
        self.by_start += multiplier * gap
        law_state += multiplier * states
        for name in OF_NUMBERS:
            getattr(self.by, name)[...] += multiplier * getattr(other, name)
        for name in OF_STAGES:
            getattr(self.by, name)[k] += multiplier * getattr(other, name)[k]
        self._add_products(other.products, multiplier)
        add_gap_at(plan, ws, tape.impacts, j, multiplier, self.by)

    def _add_products(self, other: ByProducts, factor: float) -> None:
        """Add ``factor`` times what another record of these joints has."""
        own, more = self.by.products, int(other.count[0])
        new = slice(int(own.count[0]), int(own.count[0]) + more)
        own.count[0] = new.stop
        for name in ("position", "rotation", "q", "order"):
            getattr(own, name)[new] = getattr(other, name)[:more]
        for name in ("motion", "factor"):
            getattr(own, name)[new] = factor * getattr(other, name)[:more]

    def _constraints_at_start(self) -> None:
        """The start of constraints of forces: velocities are projected to their rates, and those that are not driven
        keep the value that they have there."""
        run, plan = self.run, self.run.compiled.plan
        if not plan.constraints.row.size:
            self.by_rate.insert(0, np.zeros(plan.rows.role.size))
            return
        constraints, bodies, at = plan.constraints, plan.bodies, _load_node(run.begin, plan, self.ws)
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

    @cached_property
    def acting(self) -> float:
        """What `scalars` subtracts: the efforts of laws and loads of the run itself, each with the gradient by it."""
        return float(acting(self.run.compiled.plan, self.ws, self.run.tape, self.run.count, self.by))

    @cached_property
    def pushing(self) -> float:
        """The same with the measures of the forces evaluated anew."""
        return float(pushing(self.run.compiled.plan, self.ws, self.run.tape, self.run.count, self.by))

    @cached_property
    def holding(self) -> float:
        """The same of the rows of joints that are products of exponentials."""
        return float(holding(self.run.compiled.plan, self.ws, self.by.products))

    def by_first_state(self) -> np.ndarray:
        """(nb, 12) by the state that the run starts from, bodies in the order of the description."""
        bodies, found = self.run.compiled.plan.bodies, self.by_start.copy()
        found[:, 6:] = momentum_of(bodies, found[:, 6:])
        return found[self.run.compiled.slot]

    def by_step(self) -> float:
        """By the size of the steps, with their number fixed."""
        run = self.run

        def inputs(share: float) -> float:
            dt = run.dt * (1.0 + share)
            return self.given.along(run.table(run.mechanism, run.first, dt), dt)

        return float(self.by.h @ run.tape.h[: run.count] + differences(inputs, STEP)) / run.dt


def scalars(adjoints: Sequence[Adjoint], changed: Mechanism, start: State) -> list[float]:
    """Functions of the description whose derivatives are those of the objectives of one run, for a ``changed`` one.

    ``start``: where the run of the ``changed`` mechanism starts. Raises MechanismError where it has other parts.
    """
    run, compiled = adjoints[0].run, changed.compiled
    plan, before, order = compiled.plan, run.compiled.plan, compiled.order
    if not np.array_equal(order, run.compiled.order) or not same_structure(before, plan):
        raise MechanismError(OTHER_PARTS)
    table, ws = run.table(changed, start, run.dt), workspace(plan, 1, compiled.functions)
    measures = any(differ(a[before.rows.role.size :], b[before.rows.role.size :]) for a, b in measured(before, plan))
    efforts = any(map(differ, (*before.laws, *before.loads), (*plan.laws, *plan.loads)))
    motions = differ(before.products.table, plan.products.table)
    velocity = np.hstack([start.velocity[order], start.angular_velocity[order]])
    moved = np.hstack([motion_between(run.first, start)[order], momentum_of(plan.bodies, velocity)])
    found = []
    for adjoint in adjoints:
        by = adjoint.by
        total = along_numbers(by, before, plan) + adjoint.given.along(table, run.dt) + np.sum(adjoint.by_start * moved)
        if measures:
            total += pushing(plan, ws, run.tape, run.count, by) - adjoint.pushing
        elif efforts:
            total += acting(plan, ws, run.tape, run.count, by) - adjoint.acting
        if motions:
            total += holding(plan, ws, by.products) - adjoint.holding
        found.append(float(total))
    return found


def same_structure(before: Plan, after: Plan) -> bool:
    """Whether two plans differ in the values of numbers alone."""
    pairs = ((before.joints, after.joints), (before.measures, after.measures), (before.laws, after.laws))
    return all(
        a.shape == b.shape and (a.dtype.kind == "f" or np.array_equal(a, b))
        for one, other in (*pairs, *((getattr(before, name), getattr(after, name)) for name in OTHERS))
        for a, b in zip(one, other, strict=True)
    )


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are not the same."""
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
    for name in MEASURED:  # zero for the measures of forces, see `pushing`
        total += np.sum(getattr(by, name) * (getattr(after.measures, name) - getattr(before.measures, name)))
    for name in ("limit", "restitution"):
        field = "value" if name == "limit" else name
        total += np.sum(getattr(by, name) * (getattr(after.limits, field) - getattr(before.limits, field)))
    rest, turned = before.measures.rest, after.measures.rest
    for m in np.flatnonzero((rest != turned).any(axis=(1, 2)) & by.rest.any(axis=1)):
        total += by.rest[m] @ vector_from_matrix(turned[m] @ rest[m].T)
    return float(total)


def momentum_of(bodies: Bodies, velocity: np.ndarray) -> np.ndarray:
    """Momenta (nb, 6) of velocities (nb, 6)."""
    spin = np.einsum("nab,nb->na", bodies.inertia, velocity[:, 3:])
    return np.hstack([bodies.mass[:, None] * velocity[:, :3], spin])


def velocity_of(bodies: Bodies, momentum: np.ndarray) -> np.ndarray:
    """Velocities (nb, 6) of momenta (nb, 6)."""
    spin = np.einsum("nab,nb->na", bodies.inverse_inertia, momentum[:, 3:])
    return np.hstack([momentum[:, :3] / bodies.mass[:, None], spin])


def _load_node(node: Node, plan: Plan, ws: Workspace) -> Workspace:
    """The workspace with the node as pose 0."""
    ws.position[0], ws.quat[0], ws.momentum[:] = node.position, node.quat, node.momentum
    ws.efforts.value_near[:], ws.efforts.target[:] = node.value_near, node.target
    ws.efforts.target_rate[:] = node.target_rate
    ws.products.q[:], ws.products.order[:] = node.q, node.order
    place(plan, ws, 0)
    place_limits(plan, ws, node.closed, node.rest_gap)
    return ws
