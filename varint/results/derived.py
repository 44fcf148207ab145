"""Quantities that follow from a trajectory, one entry each.

An entry is an attribute of every trajectory. It also says what ``varint run``, ``varint info`` and ``varint plot`` show
of it, and when.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.display import Shown
from varint.kinematics.drift import joint_drift
from varint.mathematics.batches import LEAST, fitted
from varint.model.body import WORLD
from varint.model.known_forces import is_impulsive
from varint.results import quantities
from varint.results.forces import forces_at
from varint.results.mesh_energies import MovingMesh, moving_meshes
from varint.results.path_energies import PathPieces, path_pieces
from varint.results.since import First, Since, row_of, turns_before

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


Evaluate = Callable[["RecordedMotion"], np.ndarray]
Rows = list[tuple[str, str]]

NEARLY_SINGULAR = 0.01  # rank margin
AT_REST = 1e-12  # kinetic energy over all of it: less is round-off
ENERGY_CHANGE, ENERGY_BALANCE = "energy - that at the start", "energy balance: energy - work done"


@dataclass(frozen=True)
class Quantity(Shown):
    """A quantity at the T nodes of a trajectory.

    name, unit : str
    evaluate : function of the trajectory
        Gives (T, ...); its docstring is the attribute's.
    shown : function of the trajectory
        Whether summary and picture show it.
    rows : function of the trajectory, or None
        Gives the rows (what, text) of the summary.
    label : str
        Of its curve in the picture; no curve where empty.
    curve : function of the trajectory, or None
        Gives what is drawn, (T,), where it is not the quantity itself.
    logarithmic : bool
        Whether the curve has a logarithmic axis; else it has a mean as well.
    within : str
        Name of a panel that it shares with others.
    diagnostic : bool
        Whether it is one of the `Diagnostics` of a run.
    """

    name: str
    unit: str
    evaluate: Evaluate
    shown: Callable[["RecordedMotion"], bool] = lambda trajectory: True
    rows: Callable[["RecordedMotion"], Rows] | None = None
    label: str = ""
    curve: Evaluate | None = None
    logarithmic: bool = False
    within: str = ""
    diagnostic: bool = True

    def drawn(self, trajectory: "RecordedMotion") -> np.ndarray:
        """Return the values (T,) of the curve in the picture."""
        return self.curve(trajectory) if self.curve else getattr(trajectory, self.name)


QUANTITIES: dict[str, Quantity] = {}


def quantity(unit: str, **shown: Any) -> Callable[[Evaluate], Evaluate]:
    """Register a function of the trajectory under its name, as a decorator, see `Quantity`."""

    def add(evaluate: Evaluate) -> Evaluate:
        QUANTITIES[evaluate.__name__] = Quantity(evaluate.__name__, unit, evaluate, **shown)
        return evaluate

    return add


def evaluated(quantity: Quantity) -> Evaluate:
    """Return the function of the trajectory that evaluates a quantity, part by part."""
    name, at_once = quantity.name, quantity.evaluate

    def evaluate(trajectory: "RecordedMotion") -> np.ndarray:
        parts = trajectory.parts()
        return np.concatenate([at_once(part) if part is trajectory else getattr(part, name) for part in parts])

    evaluate.__doc__ = quantity.evaluate.__doc__
    return evaluate


# ---------------------------------------------------------------------------------------- when they are shown


def conserves_momentum(trajectory: "RecordedMotion") -> bool:
    """Return whether nothing acts from outside: no gravity, load, joint to the world or force against it."""
    mechanism = trajectory.mechanism
    tied = any(joint.rigid and WORLD in (joint.body_a, joint.body_b) for joint in mechanism.joints)
    pushed = any(WORLD in force.acts_on(mechanism) for force in mechanism.forces)
    return not (tied or pushed or mechanism.gravity.any() or trajectory.load.any())


def keeps_energy(trajectory: "RecordedMotion") -> bool:
    """Return whether no force without a potential does work, see `Trajectory.is_conservative`."""
    mechanism = trajectory.mechanism
    if any(is_impulsive(mechanism, force) for force in mechanism.forces):
        return False
    if trajectory.is_driven or any(part.load.any() for part in trajectory.parts()):
        return False
    return all(_forces_keep_energy(part) for part in trajectory.parts()) if mechanism.forces else True


def _forces_keep_energy(trajectory: "RecordedMotion") -> bool:
    still, along = np.zeros_like(trajectory.velocity), trajectory.forces_along
    arrays = trajectory.position, trajectory.quat_wxyz, still, still, trajectory.command, trajectory.law_states
    at_rest = forces_at(trajectory.mechanism, *arrays, turns_before(trajectory))
    without_potential = along.effort[:, ~along.potential.any(axis=0)]
    return not without_potential.any() and np.array_equal(along.effort, at_rest.effort)


def has_loops(trajectory: "RecordedMotion") -> bool:
    """Return whether the mechanism has closed loops."""
    return bool(trajectory.mechanism.compiled.topology.clusters)


# ---------------------------------------------------------------------------------------- rows of the summary


def _energy_rows(label: str, values: Evaluate, worked: bool = False) -> "Callable[[RecordedMotion], Rows]":
    """Return the rows of an energy residual, over the kinetic energy and, if forces ``worked``, the work of one."""

    def rows(trajectory: "RecordedMotion") -> Rows:
        change, scale = values(trajectory), trajectory.kinetic.max()
        done = np.abs(trajectory.work).max(initial=0.0) if worked else 0.0
        tenth = max(1, len(change) // 10)
        difference = change[-tenth:].mean() - change[:tenth].mean()
        moves = scale > AT_REST * np.abs(trajectory.energy).max()

        def text(joules: float) -> str:
            of_kinetic = f", {joules / scale:.3g} of the largest kinetic" if moves else ""
            of_work = f", {joules / done:.3g} of the largest work" if done > scale else ""
            return f"{joules:.3g} J{of_kinetic}{of_work}"

        largest = f"{label}, largest", text(np.abs(change).max())
        return [
            largest,
            ("its trend", f"{text(difference)}, from the mean of the first tenth to that of the last"),
            *_trend_rows(trajectory.t, change),
        ]

    return rows


def _trend_rows(t: np.ndarray, change: np.ndarray) -> Rows:
    """Return the row on the slope of a line through energies (T,), J, with its error; no row if there are few nodes."""
    if len(t) < LEAST or not np.ptp(change):
        return []
    fit = fitted(t, change, line=True)
    is_trend = bool(fit.interval[0] > 0 or fit.interval[1] < 0)
    verdict = "a trend" if is_trend else "no trend distinguishable from zero"
    return [("by a line", f"{fit.value:.3g} +- {fit.error:.2g} J/s: {verdict}")]


def _momentum_rows(word: str, unit: str, values: Evaluate) -> "Callable[[RecordedMotion], Rows]":
    def rows(trajectory: "RecordedMotion") -> Rows:
        momentum = values(trajectory)
        change = np.linalg.norm(momentum - momentum[0], axis=1).max()
        return [(f"{word} momentum change", f"{change:.3g} {unit} of {np.linalg.norm(momentum[0]):.3g}")]

    return rows


def _drift_rows(trajectory: "RecordedMotion") -> Rows:
    return [("joint drift, largest", f"{trajectory.drift.max():.3g} m")]


def _rank_rows(trajectory: "RecordedMotion") -> Rows:
    least = int(np.argmin(trajectory.rank_margin))
    margin = trajectory.rank_margin[least]
    note = ": nearly singular" if margin < NEARLY_SINGULAR else ""
    return [("rank margin of the loops, least", f"{margin:.2g} at {trajectory.t[least]:g} s{note}")]


def _energy_change(trajectory: "RecordedMotion") -> np.ndarray:
    return trajectory.energy - trajectory.energy[0]


def energy_gap(trajectory: "RecordedMotion", before: float) -> tuple[float, float]:
    """Return the largest energy residual, J, and the largest kinetic energy, J, ``before`` a time, s."""
    run = trajectory if trajectory.diagnostics is None else trajectory.diagnostics
    balance, kinetic_before = run.energy_balance, run.kinetic[run.t < before]
    return float(np.abs(balance).max()), float(kinetic_before.max())


def energies(trajectory: "RecordedMotion") -> tuple[np.ndarray, np.ndarray]:
    """Return the energy residual (T,), J, and the kinetic energy (T,), J."""
    return trajectory.energy_balance, trajectory.kinetic


def _inertias_of(trajectory: "RecordedMotion") -> list[PathPieces | MovingMesh]:
    """Return the masses along paths and the deformable bodies at all nodes."""
    arrays = (trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity)
    pieces = path_pieces(trajectory.mechanism, arrays)
    return [*([] if pieces is None else [pieces]), *moving_meshes(trajectory.mechanism, trajectory.nodes)]


# ---------------------------------------------------------------------------------------- the quantities


@quantity("J", within="energy")
def kinetic(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the kinetic energy (T,), J."""
    of_bodies = quantities.kinetic_energy(trajectory.mechanism, trajectory.velocity, trajectory.angular_velocity)
    return sum((part.kinetic_energy() for part in _inertias_of(trajectory)), of_bodies)


@quantity("J", within="energy")
def potential(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the potential energy (T,), J: of gravity, zero at the origin, and of the forces."""
    of_forces = quantities.row_sums(trajectory.forces_along.potential)
    potential = quantities.potential_energy(trajectory.mechanism, trajectory.position) + of_forces
    gravity = trajectory.mechanism.gravity
    return sum((part.potential_energy(gravity) for part in _inertias_of(trajectory)), potential)


@quantity(
    "J",
    shown=lambda run: run.is_conservative,
    rows=_energy_rows(ENERGY_CHANGE, _energy_change),
    label=ENERGY_CHANGE,
    curve=_energy_change,
    within="energy",
)
def energy(trajectory: "RecordedMotion") -> np.ndarray:
    """Return kinetic + potential energy (T,), J."""
    return trajectory.kinetic + trajectory.potential


@quantity(
    "J",
    shown=lambda run: not run.is_conservative,
    rows=_energy_rows(ENERGY_BALANCE, lambda trajectory: trajectory.energy_balance, worked=True),
    label=ENERGY_BALANCE,
)
def energy_balance(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the energy residual (T,), J, zero except for the error of the steps.

    The work of these is summed over the recorded nodes.
    """
    first = _first_with(trajectory, trajectory.energy)
    dissipated = first.potential - trajectory.forces_along.potential - (trajectory.work - first.work)
    return trajectory.energy - first.energy + quantities.row_sums(dissipated) - trajectory.work_from_outside


@quantity(
    "N s",
    shown=conserves_momentum,
    rows=_momentum_rows("linear", "N s", lambda run: run.linear_momentum),
    within="momentum",
)
def linear_momentum(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the linear momentum (T, 3), N s, world."""
    of_bodies = quantities.linear_momentum(trajectory.mechanism, trajectory.velocity)
    return sum((part.linear_momentum() for part in _inertias_of(trajectory)), of_bodies)


@quantity(
    "N m s",
    shown=conserves_momentum,
    rows=_momentum_rows("angular", "N m s", lambda run: run.angular_momentum),
    within="momentum",
)
def angular_momentum(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the angular momentum (T, 3) about the world's origin, N m s, world."""
    arrays = (trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity)
    of_bodies = quantities.angular_momentum(trajectory.mechanism, *arrays)
    return sum((part.angular_momentum() for part in _inertias_of(trajectory)), of_bodies)


@quantity("m", rows=_drift_rows, label="joint drift", logarithmic=True)
def drift(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the largest violation (T,) of a joint at each node, m; an angle counts times the mechanism's part size."""
    poses = trajectory.position, trajectory.quat_wxyz
    return joint_drift(trajectory.mechanism.compiled, *poses, trajectory._joints)


@quantity("", shown=has_loops, rows=_rank_rows, diagnostic=False)
def rank_margin(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the distance (T,) of the loops from a singular pose, from 1 to 0, see `quantities.rank_margin`."""
    return quantities.rank_margin(trajectory.mechanism.compiled, trajectory.position, trajectory.quat_wxyz)


# ---------------------------------------------------------------------------------------- from part to part


def first_of(trajectory: "RecordedMotion") -> First:
    """Return the `First` of the run that ``trajectory`` is a part of, or of its first node."""
    if trajectory._since is not None:
        return trajectory._since.first
    node = type(trajectory)(trajectory.record.part(row_of(trajectory, slice(0, 1))))
    return _first_with(node, node.energy)


def _first_with(trajectory: "RecordedMotion", energy: np.ndarray) -> First:
    """Return `first_of` by the known ``energy`` (T,) of all nodes, of which each has the same bits alone."""
    if trajectory._since is not None:
        return trajectory._since.first
    return First(float(energy[0]), trajectory.forces_along.potential[0], trajectory.work[0])


def left_by(trajectory: "RecordedMotion") -> Since:
    """Return the `Since` from which the nodes after ``trajectory`` continue."""
    plan, products = trajectory.mechanism.compiled.plan, trajectory._joints.products
    since, turns = trajectory._since, np.zeros(plan.measures.kind.size)
    if plan.measures.period[plan.rows.role.size :].any():
        turns = trajectory.forces_along.turns
    elif since is not None:
        turns = since.turns
    if plan.products.start.size:
        _ = trajectory.drift  # which follows their coordinates
    return Since(
        first_of(trajectory),
        float(trajectory.work_from_outside[-1]),
        turns,
        products.q.copy(),
        products.order.copy(),
        row_of(trajectory, slice(-1, None)),
    )
