"""`compare` of the mechanisms of the catalogue, a line each."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from varint.base.atomic_writes import write_text
from varint.base.checks import call, function_of, known_name, sequence_of, whole_number
from varint.base.display import Shown, count_text
from varint.base.errors import ArgumentError, VarintError
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.schemes import scheme
from varint.studies.comparison.comparison_page import PageTable, remarks, table_text
from varint.studies.comparison.comparison_result import Comparison
from varint.studies.comparison.comparison_run import compare
from varint.studies.comparison.figures_of import number_or_none, versions
from varint.studies.comparison.files import MARKDOWN, text_path

STEPS = 20  # of the largest size, the documented one of each mechanism
MOST_STEPS = 2**31
SIZES = (1, 2, 4)  # of steps, by what the largest is divided
EQUAL = 1e-14  # of the size of a mechanism, or rad: no difference, whose order would be that of round-off


class Line(NamedTuple):
    """Result of `compare` for one mechanism, at the smallest step ``dt``, s, over ``duration``, s.

    NaN where it was not compared; ``note`` says why, or has remarks.

    bodies, loops : int
    position, rotation : float
        Largest differences of VI from the reference: of centres of mass over the size of the mechanism, of
        orientations, rad.
    order : float
        At which that of positions falls with the step, or that of rotations where no position differs.
    reference : float
        The error of the reference, as ``position``.
    energy : float
        The largest error of the energy of VI over the largest kinetic energy.
    """

    name: str
    bodies: int
    loops: int
    dt: float
    duration: float
    position: float
    rotation: float
    order: float
    reference: float
    energy: float
    note: str


@dataclass(frozen=True, eq=False)
class CatalogueComparison(Shown):
    """Lines of mechanisms; ``str()`` gives a page in Markdown.

    lines : tuple of Line
    order : int
        Of VI.
    """

    lines: tuple[Line, ...]
    order: int

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {version}" for name, version in versions().items())
        return "\n\n".join(["# The catalogue: VI and REDMAX", packages, table_text(self.table())])

    def table(self) -> PageTable:
        """Return the lines as texts."""
        columns = "mechanism", ">bodies", ">loops", ">dt (s)", ">time (s)", ">position", ">rotation", ">order"
        more = ">reference", ">energy"
        rows = []
        for line in self.lines:
            sizes = str(line.bodies), str(line.loops), f"{line.dt:g}", f"{line.duration:g}"
            errors = map(_small, (line.position, line.rotation))
            rest = map(_small, (line.reference, line.energy))
            order = "" if np.isnan(line.order) else f"{line.order:.2f}"
            rows.append((line.name, *sizes, *errors, order, *rest))
        compared = [line for line in self.lines if not np.isnan(line.position)]
        notes = [
            f"{len(compared)} of {count_text(len(self.lines), 'mechanism')} compared, VI of order {self.order}.",
            "Position and rotation: the largest difference of VI at the step dt from the reference, REDMAX at tight"
            " tolerances, over all bodies and times, of centres of mass over the size of the mechanism, and of"
            " orientations in rad; order: at which it falls with the step. Reference: its own error, of positions.",
            "Energy: the largest error of VI over the largest kinetic energy.",
            *(f"{line.name}: {line.note}" for line in self.lines if line.note),
        ]
        return PageTable("Differences, a line each", (*columns, *more), rows, notes)

    def save(self, path: str | Path) -> Path:
        """Write the page, .md, or the numbers, .json, and return the path. Raises ArgumentError, FileError."""
        path = text_path(path)
        text = str(self) if path.suffix == MARKDOWN else json.dumps(self.numbers(), indent=1)
        write_text(path, f"{text}\n")
        return path

    def numbers(self) -> dict:
        """Return the lines as JSON takes them: null for NaN."""
        lines = [
            {key: number_or_none(value) if isinstance(value, float) else value for key, value in line._asdict().items()}
            for line in self.lines
        ]
        return {"order": self.order, "versions": versions(), "lines": lines}


def _small(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.1e}"


def compare_catalogue(
    names: Iterable[str] | None = None,
    *,
    steps: int = STEPS,
    order: int = 2,
    progress: Callable[[int, int, str], object] | None = None,
) -> CatalogueComparison:
    """Compare every mechanism of the catalogue with its default parameters, from its start; see `varint.compare`.

    Parameters
    ----------
    names : sequence of str, optional
        Of mechanisms, all of them where not given.
    steps : int
        Of the documented step of each mechanism: the length of its runs. They are run with steps of half and a
        quarter of that size as well.
    order : int
        Of VI.
    progress : callable, optional
        Called before each mechanism as ``progress(mechanisms done, mechanisms in all, name)``.

    Raises ArgumentError for unknown names, and wrong arguments. A mechanism that cannot be compared gets a line that
    says why.
    """
    from varint import mechanisms

    chosen = mechanisms.ALL if names is None else sequence_of(names, "names", "names of mechanisms", ArgumentError)
    for name in chosen:
        known_name(name, mechanisms.ALL, "the catalogue has no mechanism", ArgumentError)
    steps, order = whole_number(steps, "steps", 1, ArgumentError, MOST_STEPS), scheme(order).order
    told = None if progress is None else function_of(progress, "progress", ArgumentError)
    lines = []
    for done, name in enumerate(chosen):
        if told:
            call(told, "progress, a function that is called as progress(done, total, name)", done, len(chosen), name)
        dt = mechanisms.module(name).EXPECTED["dt"]
        lines.append(_line(name, getattr(mechanisms, name)(), steps * dt, [dt / size for size in SIZES], order))
    return CatalogueComparison(tuple(lines), order)


def _line(name: str, mechanism: Mechanism, duration: float, dt: Sequence[float], order: int) -> Line:
    loops = sum(len(cuts) for _, cuts in mechanism.compiled.topology.clusters)
    try:
        comparison = compare(mechanism, duration, dt, order=order)
        errors, note = _differences(comparison), " ".join(remarks(comparison))
    except VarintError as problem:
        errors, note = [np.nan] * 5, str(problem)
    position, rotation, slope, reference, energy = errors
    bodies = len(mechanism.bodies)
    return Line(name, bodies, loops, dt[-1], duration, position, rotation, slope, reference, energy, note)


def _differences(comparison: Comparison) -> list[float]:
    """Return largest errors of position (parts) and rotation (rad), order, errors of reference and energy.

    In the order of `Line`.
    """
    vi, size = comparison.vi, comparison.mechanism.compiled.length
    position, kinetic = vi.error.position[-1] / size, comparison.reference.kinetic.max() or 1.0
    order = vi.order.position if position > EQUAL else vi.order.orientation
    energy = abs(vi.energy[-1]).max() / kinetic
    errors = position, vi.error.orientation[-1], order, comparison.reference_error.position / size, energy
    return [float(number) for number in errors]
