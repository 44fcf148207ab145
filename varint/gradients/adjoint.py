"""Gradients that go back along the stages of a run, by all that the run depends on."""

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from varint.gradients.given import Given, LoadPlace
from varint.gradients.numbers import differences
from varint.gradients.taped import Node, Part, TapedRun
from varint.kernels.adjoint import add_gap_at, carry_back, gap_at, impact_back, velocities_back
from varint.kernels.by_numbers import add_start
from varint.kernels.configuration import place
from varint.kernels.plan import Bodies, ByNumbers, ByProducts, Plan, Workspace
from varint.kernels.tape import place_limits
from varint.kernels.workspace import by_numbers, states_of, tangent_work, workspace
from varint.linear.impacts import check_met, last_of_step

MEASURED = ("u", "v", "w", "c", "weight")
OF_NUMBERS = ("mass", "inertia", "gravity", *MEASURED, "rest", "limit", "restitution")  # fields of `ByNumbers`
CARRIED = ("h", "load", "input", "target", "effort", "state", "push")  # those with one entry a stage that are gradients
OF_STAGES = tuple(each.name for each in fields(ByNumbers) if each.name not in (*OF_NUMBERS, "products"))
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

    def __init__(self, run: TapedRun, by_states: np.ndarray, by: ByNumbers, places: Mapping[str, LoadPlace]) -> None:
        plan = run.compiled.plan
        self.run, self.by_states = run, np.ascontiguousarray(by_states[:, run.compiled.order])
        self.by, self.ws = by, workspace(plan, 1, run.compiled.functions)
        self.work, self.given = tangent_work(plan), Given(run, places)
        self.by_start = np.zeros((plan.bodies.mass.size, 12))  # by position, rotation vector and momenta
        self.law_state = np.zeros(states_of(plan))
        self.impact = -1  # of those on the tape, the last one that was not passed yet
        self.by_impact_rate: dict[int, np.ndarray] = {}  # (nr,) by the rates of targets, at impacts on the tape

    def back(self, part: Part) -> None:
        """Take the gradient back along the part of the run that is on its tape."""
        run, plan, last = self.run, self.run.compiled.plan, part.stages
        self.impact, self.by_impact_rate = int(run.tape.impacts.count[0]) - 1, {}
        for name in OF_STAGES:
            getattr(self.by, name)[: part.stages] = 0.0
        self._clear_products()
        for k in reversed(part.nodes):
            node, here, law_state = run.nodes[k], self.by_states[k].copy(), np.zeros_like(self.law_state)
            self._back(node.until - part.first, last)
            velocities_back(plan, _load_node(node, plan, self.ws), 0, here, self.by)
            self.given.add_rate(node, self.ws.increment_row)
            last = node.stages - part.first
            carry_back(plan, self.ws, run.tape, self.work, (last, node.until - part.first), here, law_state, self.by)
            self.by_start += here
            self.law_state += law_state
        self._back(0, last)
        self.given.add(part.stages, self.by)

    def _back(self, first: int, last: int) -> None:
        """Take the gradient by the state after stage ``last`` - 1 back to that before stage ``first``."""
        plan, ws, tape, impacts = self.run.compiled.plan, self.ws, self.run.tape, self.run.tape.impacts
        work, law_state = self.work, self.law_state
        while self.impact >= 0:
            j = self.impact
            stage, timed = int(impacts.stage[j]), bool(impacts.timed[j])
            if stage < first + timed:  # a timed one belongs to the stage before it
                break
            carry_back(plan, ws, tape, work, (stage, last), self.by_start, law_state, self.by)
            impact_back(plan, ws, impacts, j, self.by_start, self.by)
            self.by_impact_rate[j] = ws.increment_row.copy()
            self.given.add_impact(stage - 1, ws.increment_row)
            last = stage - timed
            if timed:
                self._timed_stage_back(j)
            self.impact -= 1
        carry_back(plan, ws, tape, work, (first, last), self.by_start, law_state, self.by)

    def _timed_stage_back(self, j: int) -> None:
        """Take the gradient back over the stage that ends where the limit of impact j is met.

        The size of the stage keeps the gap there at zero, and the last stage of the step gets shorter as it grows.
        """
        plan, ws, tape, work, law_state = self.run.compiled.plan, self.ws, self.run.tape, self.work, self.law_state
        k, count = int(tape.impacts.stage[j]) - 1, int(tape.count[0])
        last = last_of_step(tape, k)
        carry_back(plan, ws, tape, work, (k, k + 1), self.by_start, law_state, self.by)
        if last == k:  # the limit is met at the very end of the step: nothing gets shorter
            return
        other, gap, states = by_numbers(plan, count), np.zeros_like(self.by_start), np.zeros_like(law_state)
        gap_at(plan, ws, tape.impacts, j, gap)
        carry_back(plan, ws, tape, work, (k, k + 1), gap, states, other)
        rate = float(other.h[k]) + self._by_shift(other, k, 0.0, 1.0)
        check_met(self.run.mechanism, tape, j, rate)
        later = self.by.h[k] - self.by.h[last] + self._by_instant(k, last)
        multiplier = -later / rate  # of the condition that the gap is zero
        self.by_start += multiplier * gap
        law_state += multiplier * states
        for name in OF_NUMBERS:
            getattr(self.by, name)[...] += multiplier * getattr(other, name)
        for name in CARRIED:
            getattr(self.by, name)[k] += multiplier * getattr(other, name)[k]
        self._add_products(other.products, multiplier)
        add_gap_at(plan, ws, tape.impacts, j, multiplier, self.by)

    def _by_instant(self, k: int, last: int) -> float:
        """Derivative by the instant at which stage k ends and others up to ``last`` begin, where inputs change."""
        tape, impacts, drifts = self.run.tape, self.run.tape.impacts, self.run.drifts
        if not drifts.varies:
            return 0.0
        total = sum(self._by_shift(self.by, m, float(m > k), float(m < last)) for m in range(k, last + 1))
        for i in range(int(impacts.count[0])):
            if k < impacts.stage[i] <= last:
                total += self.by_impact_rate[i] @ drifts.of_stage(tape, int(impacts.stage[i]) - 1).target_rate
        return float(total)

    def _by_shift(self, by: ByNumbers, k: int, before: float, after: float) -> float:
        """Derivative by a common shift, s, of start and end of stage k, where inputs change."""
        if not self.run.drifts.varies:
            return 0.0
        drift = self.run.drifts.of_stage(self.run.tape, k)
        loads = before * by.load[k, 0] + after * by.load[k, 1]
        middle = 0.5 * (before + after)
        return float(
            np.sum(loads * drift.load) + middle * by.input[k] @ drift.input + after * by.target[k] @ drift.target
        )

    def _add_products(self, other: ByProducts, factor: float) -> None:
        """Add ``factor`` times what another record of joints that are products has."""
        own, more = self.by.products, int(other.count[0])
        new = slice(int(own.count[0]), int(own.count[0]) + more)
        own.count[0] = new.stop
        for name in ("position", "rotation", "q", "order"):
            getattr(own, name)[new] = getattr(other, name)[:more]
        for name in ("motion", "factor"):
            getattr(own, name)[new] = factor * getattr(other, name)[:more]

    def _clear_products(self) -> None:
        products = self.by.products
        products.count[0] = products.motion[:] = products.factor[:] = 0

    def finish(self) -> None:
        """Finish after the first part: the start of constraints of forces.

        Velocities are projected to their rates, and those that are not driven keep the value that they have there.
        """
        run, plan = self.run, self.run.compiled.plan
        self._clear_products()
        if not plan.constraints.row.size:
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
        self.given.add_rate(run.begin, at.increment_row)
        factor = self.given.target.copy()
        for first, size in zip(constraints.row[constraints.driven], constraints.size[constraints.driven], strict=True):
            factor[first : first + size] = 0.0
        add_start(plan, at, 0, factor, self.by_start, self.by)

    def by_first_state(self) -> np.ndarray:
        """(nb, 12) by the state that the run starts from, bodies in the order of the description."""
        bodies, found = self.run.compiled.plan.bodies, self.by_start.copy()
        found[:, 6:] = momentum_of(bodies, found[:, 6:])
        return found[self.run.compiled.slot]

    def by_step(self) -> float:
        """Derivative by the size of the steps, with their number fixed."""
        run = self.run

        def inputs(share: float) -> float:
            return self.given.along(run.mechanism, run.first, run.dt * (1.0 + share))

        return float(self.given.size + differences(inputs, STEP)) / run.dt


def adjoints_of(run: TapedRun, by_states: np.ndarray, places: Mapping[str, LoadPlace]) -> list[Adjoint]:
    """One for each objective; ``by_states`` (m, nodes, nb, 12). They share the room for what acts in the stages."""
    plan = run.compiled.plan
    nodes = len(run.nodes) + 1 + 4 * run.tape.impacts.stage.size  # an impact has two, and a stage of its own
    shared = by_numbers(plan, run.tape.h.size, nodes)
    of_stages: dict = {name: getattr(shared, name) for name in (*OF_STAGES, "products")}
    return [Adjoint(run, each, replace(by_numbers(plan, 0), **of_stages), places) for each in by_states]


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
