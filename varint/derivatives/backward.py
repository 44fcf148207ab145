"""Gradients that go back along the stages of a run, by all that the run depends on."""

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from varint.derivatives.event_checks import (
    check_determined,
    check_met,
    check_moves,
    check_rebounds,
    last_of_step,
    shares,
)
from varint.derivatives.given import Given, LoadPlace
from varint.derivatives.numbers import differences
from varint.derivatives.taped import MaximalTape, TapedNode, TapePart, check_leads
from varint.step.configuration import place
from varint.step.contacts.events_back import solution_back, velocities_with_contacts_back
from varint.step.contacts.rows import has_contacts
from varint.step.contacts.stages_back import stage_back
from varint.step.contacts.tapes import carried_of
from varint.step.derivatives.adjoint import carry_back, velocities_back
from varint.step.derivatives.by_numbers import add_start
from varint.step.events import add_margin_at, begins_event, event_back, margin_at
from varint.step.one_sided import set_rows
from varint.step.plan import TERMS, Bodies, ByNumbers, ByProducts, Plan, Workspace
from varint.step.workspace import by_numbers, tangent_work, workspace

MEASURED = ("u", "v", "w", "c", "weight")
OF_NUMBERS = ("mass", "inertia", "gravity", *MEASURED, "rest")  # fields of `ByNumbers`
CARRIED = ("h", "load", "input", "target", "effort", "state", "push")  # those with one entry a stage that are gradients
OF_STAGES = tuple(
    each.name for each in fields(ByNumbers) if each.name not in (*OF_NUMBERS, "wanted", "products", *TERMS)
)
STEP = 1e-3  # of differences by dt, as a share of it


class Adjoint:
    """The gradient of an objective by all that a run depends on, by one sweep back along its stages.

    Parameters
    ----------
    run : TapedRun
    by_states : (nodes, nb, 12)
        The gradient by position, rotation vector (body axes), velocity and angular velocity at the run's nodes.
    by : ByNumbers
        To write to; what it has of stages is that of the part of the run that was gone back along last.
    places : mapping of names to LoadPlace
        The loads on bodies by which there is to be a gradient.
    """

    def __init__(self, run: MaximalTape, by_states: np.ndarray, by: ByNumbers, places: Mapping[str, LoadPlace]) -> None:
        plan = run.compiled.plan
        self.run, self.by_states = run, np.ascontiguousarray(by_states[:, run.compiled.order])
        self.by, self.ws = by, workspace(plan, 1, run.compiled.functions)
        self.stages = run.stages_of_step  # of a sub-step
        self.work, self.given = tangent_work(plan), self._given(places)
        self.by_start = np.zeros((plan.bodies.mass.size, 12))  # by position, rotation vector and momenta
        self.margin = np.zeros_like(self.by_start)  # scratch: the gradient of the margin at an event
        self.law_state = np.zeros(carried_of(plan))  # by those of laws, and by the slips of contacts
        if has_contacts(plan):
            stage_back.prepare()
            solution_back.prepare()
        self.event = -1  # of those on the tape, the last one that was not passed yet
        self.by_event_rate: dict[int, np.ndarray] = {}  # (nr,) by the rates of targets, at events on the tape

    def _given(self, places: Mapping[str, LoadPlace]) -> Given:
        return Given(self.run, places)

    def back(self, part: TapePart) -> None:
        """Take the gradient back along the part of the run that is on its tape."""
        run, last = self.run, part.stages
        check_leads(run, part.stages)
        self.event, self.by_event_rate = int(run.tape.events.count[0]) - 1, {}
        for name in OF_STAGES:
            getattr(self.by, name)[: part.stages] = 0.0
        self._clear_products()
        for k in reversed(part.nodes):
            node, here, law_state = run.nodes[k], self.by_states[k].copy(), np.zeros_like(self.law_state)
            self._back(node.until - part.first, last, node.events_until, self.by_start, self.law_state)
            if run.fed_back:
                here += self._fed_back(k, slice(node.until - part.first, last))
            self._velocities_back(k, here, law_state)
            self.given.add_rate(node, self.ws.increment_row)
            last = node.stages - part.first
            self._back(last, node.until - part.first, node.events, here, law_state)
            self.by_start += here
            self.law_state += law_state
        self._back(0, last, 0, self.by_start, self.law_state)
        self.given.add(part.stages, self.by)
        check_determined(run.mechanism, self.ws)

    def _fed_back(self, k: int, stages: slice) -> np.ndarray:
        """Return the gradient (nb, 12) by the state of node k through inputs that are functions of this state.

        ``stages``: of the step from there, over which the inputs are held.
        """
        fed, node, compiled = self.run.fed_back, self.run.nodes[k], self.run.compiled
        by = self.given.fed[k] = self.by.input[stages, fed.elements].sum(axis=0)
        inputs = fed.by_state(k, self.run.dt * node.number, node.state)
        self._feed_vertices(k, np.tensordot(by, inputs.by_vertices[:, 0], 1))
        return np.tensordot(by, inputs.by_bodies[:, 0, compiled.order], 1)

    def _feed_vertices(self, k: int, by: np.ndarray) -> None:
        """Add ``by`` to the gradient by places and velocities (2, n, 3) of vertices at node k, if there are any."""

    def _back(self, first: int, last: int, events: int, state: np.ndarray, law_state: np.ndarray) -> None:
        """Take a gradient by the state after stage ``last`` - 1 back to the state before stage ``first``, in place.

        ``state`` (nb, 12), ``law_state``: the gradient, changed. ``events``: number of events on the tape before that.
        """
        plan, ws, tape, size, until = self.run.compiled.plan, self.ws, self.run.tape, self.stages, last
        while self.event >= events:
            j = self.event
            stage, timed = int(tape.events.stage[j]), bool(tape.events.timed[j])
            check_rebounds(self.run.mechanism, tape, j)
            if stage > 0 and not timed and begins_event(tape.events, j):
                margin_at(plan, ws, tape.events, j, self.margin)
                check_moves(self.run.mechanism, tape, j, self.margin)
            carry_back(plan, ws, tape, self.work, (stage, last), state, law_state, self.by)
            event_back(plan, ws, self.work, tape.events, j, state, law_state, self.by)
            self.by_event_rate[j] = ws.increment_row.copy()
            self.given.add_event(stage - 1, ws.increment_row)
            last = stage
            if timed:
                last = stage - size
                self._timed_back(j, until, state, law_state)
            self.event -= 1
        carry_back(plan, ws, tape, self.work, (first, last), state, law_state, self.by)

    def _velocities_back(self, k: int, state: np.ndarray, law_state: np.ndarray) -> None:
        """Turn a gradient by pose and velocities at node k into one by pose and momenta, in place."""
        plan, ws = self.run.compiled.plan, load_node(self.run.nodes[k], self.run.compiled.plan, self.ws)
        if has_contacts(plan):
            velocities_with_contacts_back(plan, ws, self.work, state, law_state, self.by)
        else:
            velocities_back(plan, ws, 0, state, self.by)

    def _timed_back(self, j: int, until: int, state: np.ndarray, law_state: np.ndarray) -> None:
        """Take a gradient back over the sub-step that ends at event j, before stage ``until``.

        The size of this sub-step keeps the margin at the event at zero; the last sub-step is shortened by its growth.
        ``state`` (nb, 12), ``law_state``: the gradient, changed.
        """
        plan, ws, tape, work = self.run.compiled.plan, self.ws, self.run.tape, self.work
        size, end, count = self.stages, int(tape.events.stage[j]), int(tape.count[0])
        first, of_event = end - size, slice(end - size, end)
        last = last_of_step(tape, first, until)
        carry_back(plan, ws, tape, work, (first, end), state, law_state, self.by)
        if last == end - 1:  # the event is at the very end of the step: nothing gets shorter
            return
        other, margin, states = by_numbers(plan, count), np.zeros_like(state), np.zeros_like(law_state)
        margin_at(plan, ws, tape.events, j, margin)
        carry_back(plan, ws, tape, work, (first, end), margin, states, other)
        rate = self._by_instants(other, first, shares(tape, first, size))
        check_met(self.run.mechanism, tape, j, rate)
        between = np.ones(last + 1 - size - end)  # sub-steps that only move
        at = np.concatenate([shares(tape, first, size), between, 1.0 - shares(tape, last + 1 - size, size)[1:]])
        later = self._by_instants(self.by, first, at)
        if self.run.drifts.varies:
            for i in range(j, int(tape.events.count[0])):
                stage = int(tape.events.stage[i])
                if stage <= last + 1 - size:
                    later += float(self.by_event_rate[i] @ self.run.drifts.of_stage(tape, stage - 1).target_rate)
        multiplier = -later / rate  # of the condition that the margin is zero
        state += multiplier * margin
        law_state += multiplier * states
        for total, more in zip(_numbers(self.by), _numbers(other), strict=True):
            total += multiplier * more
        for name in CARRIED:
            getattr(self.by, name)[of_event] += multiplier * getattr(other, name)[of_event]
        self._add_products(other.products, multiplier)
        add_margin_at(plan, ws, tape.events, j, multiplier, self.by)

    def _by_instants(self, by: ByNumbers, first: int, at: np.ndarray) -> float:
        """Return the derivative by the instants at which n stages from ``first`` on begin and end.

        ``at`` (n + 1,): the rates at which these instants move. ``by``: gradient by numbers of the stages.
        """
        n = len(at) - 1
        total = float(np.diff(at) @ by.h[first : first + n])
        if self.run.drifts.varies:
            total += sum(self._by_shift(by, first + k, at[k], at[k + 1]) for k in range(n))
        return total

    def _by_shift(self, by: ByNumbers, k: int, before: float, after: float) -> float:
        """Return the derivative by shifts ``before`` and ``after`` of start and end of stage k, s, through inputs."""
        drift = self.run.drifts.of_stage(self.run.tape, k)
        loads = before * by.load[k, 0] + after * by.load[k, 1]
        middle = 0.5 * (before + after)
        return float(
            np.sum(loads * drift.load) + middle * by.input[k] @ drift.input + after * by.target[k] @ drift.target
        )

    def _add_products(self, other: ByProducts, factor: float) -> None:
        """Append ``factor`` times the entries of another record of joints that are products of exponentials."""
        total, more = self.by.products, int(other.count[0])
        new = slice(int(total.count[0]), int(total.count[0]) + more)
        total.count[0] = new.stop
        for name in ("position", "rotation", "q", "order"):
            getattr(total, name)[new] = getattr(other, name)[:more]
        for name in ("motion", "factor"):
            getattr(total, name)[new] = factor * getattr(other, name)[:more]

    def _clear_products(self) -> None:
        """Clear the record of joints that are products of exponentials."""
        products = self.by.products
        products.count[0] = products.motion[:] = products.factor[:] = 0

    def finish(self) -> None:
        """Take the gradient through the start of the constraints of forces, after the first part of the run.

        At the start velocities are projected to the constraints' rates; constraints that are not driven keep their
        initial value.
        """
        run, plan = self.run, self.run.compiled.plan
        self._clear_products()
        if not plan.constraints.row.size:
            return
        constraints, bodies, at = plan.constraints, plan.bodies, load_node(run.begin, plan, self.ws)
        spin = run.first.angular_velocity[run.compiled.order]
        velocity = np.hstack([run.first.velocity[run.compiled.order], spin])
        brought = velocity_of(bodies, at.momentum)
        self.by.mass[:] += np.sum(self.by_start[:, 6:9] * brought[:, :3], axis=1)
        self.by.inertia[:] += self.by_start[:, 9:, None] * brought[:, None, 3:]
        at.momentum[:] = momentum_of(bodies, velocity)
        self.by_start[:, 6:] = momentum_of(bodies, self.by_start[:, 6:])
        velocities_back(plan, at, 0, self.by_start, self.by)
        self.given.add_rate(run.begin, at.increment_row)
        factor = self.given.target.copy()
        for first, size in zip(constraints.row[constraints.driven], constraints.size[constraints.driven], strict=True):
            factor[first : first + size] = 0.0
        add_start(plan, at, 0, factor, self.by_start, self.by)

    def by_first_state(self) -> np.ndarray:
        """Return the gradient (nb, 12) by the initial state, bodies in the order of the description."""
        bodies, gradient = self.run.compiled.plan.bodies, self.by_start.copy()
        gradient[:, 6:] = momentum_of(bodies, gradient[:, 6:])
        return gradient[self.run.compiled.slot]

    def by_step(self) -> float:
        """Return the derivative by the size of the steps, with their number fixed."""
        run = self.run

        def inputs(share: float) -> float:
            return self.given.along(run.mechanism, run.first, run.dt * (1.0 + share))

        return float(self.given.size + differences(inputs, STEP)) / run.dt


def adjoints_of(
    run: MaximalTape, by_states: np.ndarray, places: Mapping[str, LoadPlace], kind: "type[Adjoint]" = Adjoint
) -> "list[Adjoint]":
    """Return an adjoint for each of m objectives, with gradients ``by_states`` (m, nodes, nb, 12) at the nodes.

    ``places``: loads with a derivative, by name. The adjoints share their arrays of the stages.
    """
    plan = run.compiled.plan
    nodes = len(run.nodes) + 1 + 4 * run.tape.events.stage.size  # an event has two, and a stage of its own
    shared = by_numbers(plan, run.tape.h.size, nodes)
    of_stages: dict = {name: getattr(shared, name) for name in (*OF_STAGES, "products")}
    return [kind(run, each, replace(by_numbers(plan, 0), **of_stages), places) for each in by_states]


def _numbers(by: ByNumbers) -> list[np.ndarray]:
    """Return the arrays of a gradient that do not belong to stages."""
    return [getattr(by, name) for name in OF_NUMBERS] + [array for name in TERMS for array in getattr(by, name)]


def momentum_of(bodies: Bodies, velocity: np.ndarray) -> np.ndarray:
    """Return the momenta (nb, 6) of velocities (nb, 6): N s, world, and N m s, body axes."""
    spin = np.einsum("nab,nb->na", bodies.inertia, velocity[:, 3:])
    return np.hstack([bodies.mass[:, None] * velocity[:, :3], spin])


def velocity_of(bodies: Bodies, momentum: np.ndarray) -> np.ndarray:
    """Return the velocities (nb, 6), m/s, world, and rad/s, body axes, of momenta (nb, 6)."""
    spin = np.einsum("nab,nb->na", bodies.inverse_inertia, momentum[:, 3:])
    return np.hstack([momentum[:, :3] / bodies.mass[:, None], spin])


def load_node(node: TapedNode, plan: Plan, ws: Workspace) -> Workspace:
    """Return the workspace ``ws`` with ``node`` as pose 0."""
    ws.position[0], ws.quat[0], ws.momentum[:] = node.position, node.quat, node.momentum
    ws.efforts.value_near[:], ws.efforts.target[:] = node.value_near, node.target
    ws.efforts.target_rate[:] = node.target_rate
    ws.products.q[:], ws.products.order[:] = node.q, node.order
    place(plan, ws, 0)
    set_rows(plan, ws, 0, node.rows)
    return ws
