"""Results of a run as facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.cli.facts import Fact, FactColumn, Facts, Listing, Report, ReportPart, cell
from varint.files.runs.made_with import MADE_WITH, NAMES, RESUMED_WITH
from varint.results.derived import QUANTITIES, Quantity
from varint.results.diagnostics import finest
from varint.results.locked import locked_message
from varint.results.resolution import find_unresolved
from varint.results.touching import names_of_force
from varint.results.trajectory_display import method
from varint.runs.retrials import trial_of
from varint.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from rich.console import Console


OF_METHODS = ("formulation", "scheme", "order", "integrator")  # settings


def summary(trajectory: Trajectory, more: Sequence[Fact] = ()) -> Report:
    """Return the report on a run; ``more`` facts come last."""
    settings = trajectory.settings
    unresolved = find_unresolved(trajectory, settings["dt"], trial_of(trajectory))
    facts = [*_of_mechanism(trajectory), *_of_stepping(trajectory), *_of_quantities(trajectory)]
    locked = None if unresolved else locked_message(trajectory)
    if unresolved is None:
        facts.append(Fact("unresolved", "", None))
        facts += [Fact("locked", "warning", locked)] if locked else []
    else:
        facts.append(Fact("unresolved", "warning", unresolved._asdict(), text=unresolved.message))
    facts += [*_of_cost(trajectory), *_of_recording(trajectory), *more]
    parts: list[ReportPart] = [
        Facts(facts, title=trajectory.mechanism.name),
        _contacts(trajectory),
        Figures(trajectory),
    ]
    return Report(parts, warning=unresolved.message if unresolved else locked or "")


def _simulated(trajectory: Trajectory) -> float:
    """Time that the run has covered, s; its last steps may not be recorded."""
    settings = trajectory.settings
    alike = "scheme" in settings and settings.get("turn") is None
    return float(settings["dt"] * trajectory.steps if alike else trajectory.t[-1])


def _of_mechanism(trajectory: Trajectory) -> list[Fact]:
    mechanism = trajectory.mechanism
    bodies, joints = len(mechanism.bodies), len(mechanism.joints)
    return [
        Fact("mechanism", "", mechanism.name),
        Fact("bodies", "bodies, joints", bodies),
        Fact("joints", "bodies, joints", joints),
        Fact("freedoms_less_rows", "6 n - rows", 6 * bodies - mechanism.rows),
    ]


def _of_stepping(trajectory: Trajectory) -> list[Fact]:
    steps, settings = trajectory.steps, trajectory.settings
    wanted = settings.get("chosen", {}).get("energy_error")
    facts = [
        Fact("simulated", "simulated", _simulated(trajectory), "s"),
        Fact("method", "method", method(settings)),
        *(Fact(name, "", settings.get(name)) for name in OF_METHODS),
        *_of_tolerances(settings),
        Fact("dt", "step" if settings["dt"] else "", settings["dt"], "s"),
        Fact("wanted_energy_error", "chosen for an energy error of" if wanted else "", wanted),
        Fact("steps", "steps, sub-steps", steps),
        Fact("substeps", "steps, sub-steps", trajectory.substeps),
    ]
    for key, label, count in (
        ("newton_iterations", "Newton iterations", trajectory.newton_iterations),
        ("evaluations", "evaluations", getattr(trajectory, "evaluations", 0)),
    ):
        a_step = count / max(1, steps)
        facts.append(Fact(key, label * bool(count), count, text=f"{count}, {a_step:.2f} a step"))
    return facts


def _of_tolerances(settings: dict) -> list[Fact]:
    tol, rtol, atol = (settings.get(name) for name in ("tol", "rtol", "atol"))
    facts = [Fact("tol", "tolerance" * (tol is not None), tol, "m/s" if None in (tol, rtol) else "m/s, rad/s")]
    facts.append(Fact("rtol", "tolerances" * (rtol is not None), rtol, text=f"relative {cell(rtol)}"))
    unit = "m, rad, m/s, rad/s, J"
    return [*facts, Fact("atol", "tolerances" * (atol is not None), atol, unit, f"absolute {cell(atol)} ({unit})")]


def _of_quantities(trajectory: Trajectory) -> list[Fact]:
    """Return the rows of the table, as the quantities word them."""
    shown = [quantity for quantity in QUANTITIES.values() if quantity.rows and quantity.shown(trajectory)]
    return [Fact("", *row) for q in shown if q.rows for row in q.rows(finest(trajectory, q.name))]


def _contacts(trajectory: Trajectory) -> Listing:
    """Return for each hard contact the share of recorded nodes where it touches, and the largest figures there."""
    columns = (
        FactColumn("name", "contact"),
        FactColumn("share", "touches, share of nodes", "", True),
        FactColumn("points", "points, at most", "", True),
        FactColumn("force", "largest, with friction", "N", True),
        FactColumn("penetration", "penetration", "m", True),
    )
    if not trajectory.mechanism.compiled.plan.contacts.body.size:
        return Listing("contacts", columns, [])
    rows, touching, depths = [], trajectory.contacts, trajectory.penetration
    for name in depths:
        forces = [trajectory.contact_force[each] for each in names_of_force(trajectory, name)]
        points = np.bincount(touching.node[touching.contact == name], minlength=len(trajectory))
        largest = max(np.linalg.norm(force, axis=1).max() for force in forces)
        rows.append((name, np.mean(points > 0), int(points.max()), largest, depths[name].max()))
    return Listing("contacts", columns, rows, "contacts")


@dataclass(frozen=True)
class Figures:
    """Figures of each quantity and the last coordinates, for the JSON object; computed on access."""

    trajectory: Trajectory

    def data(self) -> dict[str, Any]:
        run = self.trajectory
        end: dict[str, Any] = {"t": run.t[-1]}
        end |= {group: {name: by[-1] for name, by in getattr(run, group).items()} for group in ("coordinates", "rates")}
        return {"quantities": {name: _figures(quantity, run) for name, quantity in QUANTITIES.items()}, "end": end}

    def show(self, console: "Console") -> None:
        """Do nothing."""


def _figures(quantity: Quantity, trajectory: Trajectory) -> dict[str, Any]:
    """Return figures of a quantity over its nodes; for a vector of its length, with the change of the vector."""
    values = getattr(finest(trajectory, quantity.name), quantity.name)
    sizes = values if values.ndim == 1 else np.linalg.norm(values, axis=1)
    changes = np.abs(values - values[0]) if values.ndim == 1 else np.linalg.norm(values - values[0], axis=1)
    return {
        "unit": quantity.unit,
        "first": sizes[0],
        "last": sizes[-1],
        "least": sizes.min(),
        "largest": sizes.max(),
        "largest_change": changes.max(),
    }


def _of_cost(trajectory: Trajectory) -> list[Fact]:
    wall = trajectory.wall_time
    factor = _simulated(trajectory) / wall if wall > 0 else None
    facts = [Fact("wall_time", "stepping took", wall, "s", f"{wall:.3g} s")]
    label = "stepping took" if factor is not None else ""
    return [*facts, Fact("real_time_factor", label, factor, text=f"{factor or 0:.3g} times real time")]


def _of_diagnostics(trajectory: Trajectory) -> list[Fact]:
    recorded, stride = trajectory.diagnostics, trajectory.settings.get("diagnostics_every")
    label, count = ("diagnostics", len(recorded)) if recorded else ("", None)
    facts = [Fact("diagnostic_nodes", label, count, text=f"at {count} nodes")]
    return [*facts, Fact("diagnostics_every", label, stride, text=f"every {stride}")]


def _of_recording(trajectory: Trajectory) -> list[Fact]:
    """Return the requested recording, and its result."""
    settings = trajectory.settings
    steps = settings["steps"] if settings["dt"] and settings.get("turn") is None else None
    resumed = settings.get(RESUMED_WITH, [])
    chosen = "at the times asked for" if settings.get("output_times") else f"every {settings['every']}"
    return [
        Fact("recorded_nodes", "recorded nodes", len(trajectory)),
        Fact("every", "recorded nodes", settings["every"], text=chosen),
        *_of_diagnostics(trajectory),
        Fact("duration", "asked for", settings["duration"], "s"),
        Fact("asked_steps", "asked for" if steps else "", steps, text=f"{steps} steps"),
        Fact("success", "", trajectory.success),
        Fact("status", "", trajectory.status),
        Fact("message", "status", trajectory.message),
        Fact("made_with", "", settings.get(MADE_WITH)),
        Fact("resumed_with", "resumed" if resumed else "", resumed or None, text="\n".join(map(_resumed, resumed))),
    ]


def _resumed(entry: dict) -> str:
    """Return a line for the part of a run that was made with something else."""
    return f"at {entry['t']:g} s with {', '.join(f'{name} {entry[name]}' for name in NAMES if name in entry)}"
