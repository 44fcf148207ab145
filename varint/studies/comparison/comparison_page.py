"""The page that a comparison prints: settings, tables and remarks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.display import html_table
from varint.methods.reduced.integrators import DEFAULT
from varint.results.inputs.at_nodes import is_controlled
from varint.results.resolution import find_unresolved, is_judged_by_joints
from varint.studies.comparison.differences import UNITS, time_apart
from varint.studies.comparison.figures_of import versions
from varint.studies.comparison.series import Series, fitted_order

if TYPE_CHECKING:
    from varint.studies.comparison.comparison_result import Comparison


LISTED = 16  # rows of a table in a notebook
FIRST = ("method", ">dt (s), rtol")
BELOW, APART, STOPPED = "<", ">", "stopped"  # behind, or instead of, errors that are not fitted
WHAT = {
    BELOW: "below the error of the reference: not fitted",
    APART: "at some time more than a tenth of the whole motion apart, see the table below: not fitted",
}


class PageTable(NamedTuple):
    """``columns`` that start with ``>`` hold numbers; ``notes`` are sentences below the rows."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: list[str]


def facts(comparison: "Comparison") -> dict[str, str]:
    """Return the settings of the comparison as text, by name: mechanism, methods, reference, energy, versions."""
    mechanism, settings, reference = comparison.mechanism, comparison.settings, comparison.reference
    loops = sum(len(cuts) for _, cuts in mechanism.compiled.topology.clusters)
    stabilised = f"; Baumgarte's b = {settings.baumgarte:g} 1/s, or 0 where said" if loops else ""
    error = zip(comparison.reference_error, UNITS, strict=True)
    packages = versions()
    machine = packages.pop("machine")
    return {
        "mechanism": f"{mechanism.name}: bodies {len(mechanism.bodies)}, joints {len(mechanism.joints)}, loops {loops}",
        "duration": f"{settings.duration:g} s, compared at {len(reference.t)} nodes, {settings.dt[0]:g} s apart",
        "VI": f"order {', '.join(map(str, settings.orders))}, in steps solved to {settings.tol:g} m/s",
        "REDMAX": f"{', '.join(settings.integrators) or 'the reference alone'}; atol = rtol / 100{stabilised}",
        **({"other methods": ", ".join(settings.own)} if settings.own else {}),
        "reference": f"REDMAX {DEFAULT} at rtol = {settings.rtol:g}",
        "error of the reference": ", ".join(f"{value:.1e} {unit}" for value, unit in error)
        + f": its difference from a run at rtol = {settings.check:g}",
        "energy": f"largest kinetic {reference.kinetic.max():.4g} J;"
        f" error of the reference {abs(reference.energy_balance).max():.1e} J",
        "versions": f"{', '.join(f'{name} {version}' for name, version in packages.items())}; {machine}",
    }


def tables(comparison: "Comparison") -> list[PageTable]:
    """Return tables of errors with their orders, of energy, drift and cost, and of other simulators if any."""
    peers = [_peers(comparison)] if comparison.peer_lines else []
    return [_errors(comparison), _costs(comparison), *peers]


def title(comparison: "Comparison") -> str:
    """Return the title: name of the mechanism and kinds of methods."""
    return f"{comparison.mechanism.name}: VI and REDMAX{', and other simulators' if comparison.peer_lines else ''}"


def markdown(comparison: "Comparison") -> str:
    """Return title, settings and tables as Markdown that is readable as it is."""
    settings = "\n".join(f"* {name}: {text}" for name, text in facts(comparison).items())
    return "\n\n".join([f"# {title(comparison)}", settings, *map(table_text, tables(comparison))])


def in_html(comparison: "Comparison") -> str:
    """Return settings and tables as HTML for a notebook, without the notes."""
    parts = [html_table(("", ""), list(facts(comparison).items()), title(comparison))]
    return "".join([*parts, *(html_table(t.columns, t.rows, t.title, LISTED) for t in tables(comparison))])


def _errors(comparison: "Comparison") -> PageTable:
    columns = [*FIRST]
    for name, unit in UNITS._asdict().items():
        columns += [f">{name.replace('_', ' ')} ({unit})", ">order"]
    rows = []
    for series in comparison.series:
        for k, setting in enumerate(series.settings):
            row = [series.name, setting]
            for error, fitted in zip(series.error, series.fitted, strict=True):
                row += [_error(error[k], fitted[k], series.apart[k]), _local_order(series, error, fitted, k)]
            rows.append(tuple(row))
        if series.parameter == "dt":
            fits = [("", _order(order)) for order in series.order]
            rows.append((series.name, "fit", *sum(fits, ())))
    notes = ["Largest difference from the reference over bodies and time."]
    notes += [
        f"{mark} {meaning}." for mark, meaning in WHAT.items() if any(mark in cell for row in rows for cell in row)
    ]
    return PageTable("Differences from the reference", tuple(columns), rows, [*notes, *remarks(comparison)])


def _error(error: float, fitted: bool, apart: float) -> str:
    if np.isnan(error):
        return STOPPED
    return f"{error:.2e}" + ("" if fitted else f" {BELOW if np.isnan(apart) else APART}")


def _local_order(series: Series, error: np.ndarray, fitted: np.ndarray, k: int) -> str:
    """Order from the run before to run ``k``."""
    if k == 0 or series.parameter != "dt":
        return ""
    pair = slice(k - 1, k + 1)
    return _order(fitted_order(series.values[pair], error[pair], fitted[pair]))


def _order(order: float) -> str:
    return "" if np.isnan(order) else f"{order:.2f}"


def remarks(comparison: "Comparison") -> Iterator[str]:
    """Yield sentences on limits of the comparison, and on runs that stopped, were cut or did not resolve the motion."""
    apart = time_apart(comparison.reference_difference, comparison.reference)
    if not np.isnan(apart):
        yield f"The reference is not known from {apart:g} s on: a shorter duration is needed."
    if any(map(is_controlled, comparison.mechanism.forces)):
        yield "VI holds inputs that are functions of time and state over a step: of first order."
    for series in comparison.series:
        for setting, run in zip(series.settings, series.runs, strict=True):
            name = f"{series.name}, {series.parameter} = {setting}"
            if not run.success:
                yield f"{name}: stopped at {run.t[-1]:g} s, {run.message}."
            if is_judged_by_joints(run) and (unresolved := find_unresolved(run, run.settings["dt"])):
                yield f"{name}: {unresolved.message}."
            elif run.unresolved.size:
                yield f"{name}: its steps did not resolve the motion at {run.unresolved[0]:g} s."
            if run.substeps:
                yield f"{name}: steps were cut {run.substeps}x, at hard stops or where they were not solved at once."


def _costs(comparison: "Comparison") -> PageTable:
    rows = []
    for series in comparison.series:
        for k, run in enumerate(series.runs):
            apart = "never" if np.isnan(series.apart[k]) else f"{series.apart[k]:g}"
            row = [series.name, series.settings[k], apart, f"{abs(run.energy_balance).max():.2e}"]
            row += [
                f"{run.drift.max():.1e}",
                str(run.steps),
                str(series.evaluations[k] or ""),
                f"{series.wall_time[k]:.2e}",
            ]
            rows.append(tuple(row))
    columns = "apart from (s)", "energy error (J)", "drift (m)", "steps", "evaluations", "wall time (s)"
    notes = [
        "Apart: when poses get a tenth of the whole motion away from those of the reference. From there on differences"
        " measure how chaotic the motion is, not the accuracy of a step.",
        "Energy error: the largest, less what forces took out. Drift: the largest gap of a joint, an angle counts times"
        " the size of the parts.",
        "Evaluations: Newton iterations of VI and of schemes with steps of one size, accelerations of the others;"
        " those of methods beside VI and REDMAX are not counted.",
        "Wall time: of stepping, without compilation, by the clock: other work on the machine counts in it.",
        "VI steps in compiled code; REDMAX does where an explicit"
        " integrator runs on a tree under constant inputs, else in Python, as all other methods do:"
        " evaluations compare the methods, wall times these implementations.",
    ]
    return PageTable("Energy, drift and cost", (*FIRST, *(f">{column}" for column in columns)), rows, notes)


def _peers(comparison: "Comparison") -> PageTable:
    series = {each.name: each for each in comparison.peers}
    rows: list[tuple[str, ...]] = []
    for line in comparison.peer_lines:
        ran = series.get(line.title)
        outcome = "compared" if ran else line.refusal
        rows.append((line.title, line.version or "-", line.integrator, _time_a_step(ran), line.loops, outcome))
    notes = [
        "Each simulator has a model of its own, made from the mechanism, and runs in steps of each dt. The work of"
        " forces without a potential is summed by the trapezoidal rule.",
        "Time a step: the least of all runs." + _time_of_vi(comparison),
    ]
    columns = "simulator", ">version", "integrator", ">time a step (us)", "closed loops", "outcome"
    return PageTable("Other simulators", columns, rows, notes)


def _time_of_vi(comparison: "Comparison") -> str:
    orders = comparison.settings.orders
    return f" VI of order {orders[0]} takes {_time_a_step(comparison.vi)} us." if orders else ""


def _time_a_step(series: Series | None) -> str:
    """Return the least wall time a step of all runs, us, as text; empty without a series."""
    if series is None:
        return ""
    times = [seconds / max(1, run.steps) for seconds, run in zip(series.wall_time, series.runs, strict=True)]
    return f"{1e6 * min(times):.3g}"


def table_text(table: PageTable) -> str:
    """Return the table as Markdown."""
    columns = [column.lstrip(">") for column in table.columns]
    cells = [columns, *([cell.replace("|", "\\|") for cell in row] for row in table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    right = [column.startswith(">") for column in table.columns]
    lines = []
    for row in cells:
        padded = (cell.rjust(n) if r else cell.ljust(n) for cell, n, r in zip(row, widths, right, strict=True))
        lines.append(f"| {' | '.join(padded)} |")
    rule = ("-" * (n - 1) + ":" if r else "-" * n for n, r in zip(widths, right, strict=True))
    lines.insert(1, f"| {' | '.join(rule)} |")
    notes = "\n".join(f"* {note}" for note in table.notes)
    return f"## {table.title}\n\n" + "\n".join(lines) + (f"\n\n{notes}" if notes else "")
