"""Events of a run whose derivatives are taken: their steps, and what changes with time while their instants move."""

from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.schemes import Scheme
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.results.inputs.at_nodes import Commands, Loads
from varint.step.events import element_at, is_lowered, is_together
from varint.step.inputs import NEAREST
from varint.step.plan import Tape, Workspace

GRAZING = 1e-12  # of the fastest motion: how fast a stop is met at least
AT_AN_INSTANT = (
    "is met at the very instant of another impact, or of a node: it has no derivative then. Change dt or the start a"
    " little"
)
APART = 1e-9  # of the parts of the change of a margin: above this it changes


def _force(mechanism: Mechanism, tape: Tape, j: int) -> Force:
    """Return the force that event j belongs to."""
    compiled = mechanism.compiled
    return mechanism.forces[compiled.force[element_at(compiled.plan, tape.events, j)]]


def check_met(mechanism: Mechanism, tape: Tape, j: int, rate: float) -> None:
    """Raise ArgumentError where event j is reached at no ``rate``: its instant has no derivative."""
    k = int(tape.events.stage[j]) - 1
    if abs(rate) <= GRAZING * np.abs(tape.velocity[k]).max() * mechanism.compiled.length:
        force = _force(mechanism, tape, j)
        raise ArgumentError(f"{force.label} is reached with zero speed: the instant of impact has no derivative there")


def check_rebounds(mechanism: Mechanism, tape: Tape, j: int) -> None:
    """Raise ArgumentError where the restitution of event j was lowered: by how much has no derivative, nor has an
    impact of several stops at once."""
    if is_together(tape.events, j):
        raise ArgumentError(f"{_force(mechanism, tape, j).label} {AT_AN_INSTANT}")
    if is_lowered(tape.events, j):
        raise ArgumentError(
            f"{_force(mechanism, tape, j).label} rebounds with less than its restitution in an impact whose friction"
            " would else bring energy in, and has no derivative then: lower its restitution or its friction"
        )


def check_moves(mechanism: Mechanism, tape: Tape, j: int, margin: np.ndarray) -> None:
    """Raise ArgumentError where contact event j is an impact at the instant of a node or of another impact.

    ``margin`` (nb, 12): the gradient of the gap there.
    """
    bodies, momentum = mechanism.compiled.plan.bodies, tape.events.momentum[j]
    spin = np.einsum("nab,nb->na", bodies.inverse_inertia, momentum[:, 3:])
    velocity = np.hstack([momentum[:, :3] / bodies.mass[:, None], spin])
    parts = margin[:, :6] * velocity
    if -parts.sum() > APART * np.abs(parts).sum():
        raise ArgumentError(f"{_force(mechanism, tape, j).label} {AT_AN_INSTANT}")


def check_determined(mechanism: Mechanism, ws: Workspace) -> None:
    """Raise ArgumentError where a gradient depends on how redundant contacts share their forces, or has too many."""
    contact, compiled = abs(int(ws.contacts.undetermined[0])) - 1, mechanism.compiled
    if contact >= 0:
        force = mechanism.forces[compiled.force[compiled.plan.contacts.element[contact]]]
    if ws.contacts.undetermined[0] < 0:
        raise ArgumentError(
            f"{force.label} has points beyond the {len(ws.contacts.inside)} that touch at once of which a gradient can"
            " be taken: leave some of them out"
        )
    if contact >= 0:
        raise ArgumentError(
            f"the forces of {force.label} are not determined, as more points touch than are needed, and the motion"
            " depends on how they share the load: it has no derivative then. Take three points that are not in a line"
        )


def check_stays(mechanism: Mechanism, tape: Tape, j: int, margin: np.ndarray, changes: np.ndarray) -> None:
    """Raise ArgumentError where changes (n, nb, 12) take event j away from its instant, which is that of another
    event: ``margin`` (nb, 12), the gradient of the margin there."""
    parts = margin * changes
    if (np.abs(parts.sum(axis=(1, 2))) > APART * np.abs(parts).sum(axis=(1, 2))).any():
        force = _force(mechanism, tape, j)
        raise ArgumentError(f"{force.label} {AT_AN_INSTANT}")


def last_of_step(tape: Tape, k: int, until: int) -> int:
    """Return the last stage, before stage ``until``, of the step that contains stage k."""
    return int(np.flatnonzero(tape.node[:until] == tape.node[k])[-1])


def shares(tape: Tape, first: int, count: int) -> np.ndarray:
    """Return the starts of ``count`` stages from ``first`` on, and their end, as shares (count + 1,) of a sub-step."""
    ends = np.cumsum(tape.h[first : first + count])
    return np.concatenate([[0.0], ends[:-1] / ends[-1], [1.0]])


class Drift(NamedTuple):
    """Rates at which what acts in a stage changes with the instant, by s."""

    input: np.ndarray  # (ne,)
    load: np.ndarray  # (nb, 6)
    target: np.ndarray  # (nr,) at the end of the stage
    target_rate: np.ndarray  # (nr,) likewise


class Drifts:
    """Inputs that change with time in a run of steps of ``dt``, s: ``commands`` and ``loads`` at its nodes, if any.

    ``method``: the scheme. ``knots`` (T,): where steps that follow the motion begin, in units of dt.
    """

    def __init__(
        self, mechanism: Mechanism, commands: Commands | None, loads: Loads | None, dt: float, method: Scheme
    ) -> None:
        self.compiled, self.commands, self.loads, self.dt = mechanism.compiled, commands, loads, dt
        self.points: np.ndarray = method.points
        self.knots: np.ndarray | None = None
        forces = [mechanism.forces[k] for k in self.compiled.force]
        self.spans = np.array([force.input_span if isinstance(force, Commanded) else 1.0 for force in forces])

    @property
    def varies(self) -> bool:
        """Whether anything does."""
        return any(each is not None and each.varies for each in (self.commands, self.loads))

    def of_stage(self, tape: Tape, k: int) -> Drift:
        """Return the drifts of stage k of the run."""
        plan, nodes = self.compiled.plan, tape.node[k] + np.arange(2)
        input, load = np.zeros(len(self.spans)), np.zeros((plan.bodies.mass.size, 6))
        target, target_rate = np.zeros((2, plan.rows.role.size))
        if self.loads is not None and self.loads.varies:
            load = np.diff(self.loads.at(nodes), axis=0)[0] / self.dt
        if self.commands is not None and self.commands.varies:
            knots = nodes if self.knots is None else self.knots[nodes]
            width = float(knots[1] - knots[0])
            (a, b), (p, q) = self.commands.at(knots)
            step, constraints = self.dt * width, plan.constraints
            p, q, s = p * step, q * step, (tape.share[k] + 0.5 * tape.h[k] / self.dt) / width
            square, cube = 3.0 * (b - a) - 2.0 * p - q, 2.0 * (a - b) + p + q  # as in `constraints.set_targets`
            rows, elements = constraints.row[constraints.driven], constraints.element[constraints.driven]
            target[rows] = ((p + s * (2.0 * square + 3.0 * s * cube)) / step)[elements]
            target_rate[rows] = ((2.0 * square + 6.0 * s * cube) / step**2)[elements]
            input = (b - a) / step
            of_time = self._of_time(self.dt * (knots[0] + width * self.points), tape.share[k] / width)
            input[[e for e, _ in self.commands.of_time]] = of_time / step
            input[constraints.element] = 0.0
        return Drift(input, load, target, target_rate)

    def _of_time(self, times: np.ndarray, share: float) -> np.ndarray:
        """Return slopes (m,), by the share of a step, of the inputs that are functions of time, at ``share``.

        Of the polynomials through the nearest of ``times``, s, that `set_inputs` takes.
        """
        assert self.commands is not None
        size, first = min(len(times), NEAREST), 0
        while first + size < len(times) and self.points[first + size // 2] < share:
            first += 1
        near = slice(first, first + size)
        powers = np.vander(self.points[near] - share, increasing=True)
        return np.linalg.solve(powers, self.commands.within(times[near]))[1]
