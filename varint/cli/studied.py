"""Results of studies as facts."""

from functools import singledispatch

import numpy as np

from varint.cli.facts import Data, Fact, FactColumn, Facts, Listing, ReportPart
from varint.studies.comparison.differences import UNITS
from varint.studies.lyapunov import LyapunovExponent
from varint.studies.lyapunov_spectrum import LyapunovSpectrum
from varint.studies.order_study import OrderStudy
from varint.studies.phase import PhasePortrait
from varint.studies.poincare import PoincareSection
from varint.studies.reversal import TimeReversal
from varint.studies.spectrum import PowerSpectrum
from varint.studies.study import Study
from varint.studies.trend import Trend

KINDS = [FactColumn(kind, kind.replace("_", " "), unit, True) for kind, unit in UNITS._asdict().items()]


@singledispatch
def parts(result: Study) -> list[ReportPart]:
    """Return the parts of the report on a study."""
    raise NotImplementedError(type(result).__name__)


@parts.register
def _(trend: Trend) -> list[ReportPart]:
    unit = f"{trend.unit}/s"
    verdict = "the slope is not zero" if trend.significant else "no slope distinguishable from zero"
    facts = [
        Fact("mechanism", "", trend.mechanism),
        Fact("quantity", "quantity", trend.quantity),
        Fact("unit", "", trend.unit),
        Fact("slope", "slope", trend.slope, text=f"{trend.slope:.4g} {unit}"),
        Fact("error", "slope", trend.error, text=f"standard error {trend.error:.2g} {unit}"),
        Fact("interval", "95 %", trend.interval, text=" to ".join(f"{end:.4g}" for end in trend.interval) + f" {unit}"),
        Fact("significant", "95 %", trend.significant, text=verdict),
        Fact("change", "over the run", trend.change, text=f"{trend.change:.4g} {trend.unit}"),
        Fact("scale", "over the run", trend.scale, text=f"the largest is {trend.scale:.4g} {trend.unit}"),
        Fact("nodes", "nodes", trend.nodes),
        Fact("batches", "nodes", len(trend.t), text=f"in {len(trend.t)} batches"),
    ]
    return [Facts(facts, trend.mechanism)]


@parts.register
def _(section: PoincareSection) -> list[ReportPart]:
    shown = section.shown
    facts = [
        Fact("mechanism", "", section.states.mechanism.name),
        Fact("of", "surface", section.of),
        Fact("value", "surface", section.value, text=f"at {section.value:g}"),
        Fact("direction", "", section.direction),
        Fact("shown", "shown", shown.name),
        Fact("crossings", "crossings", len(section.t)),
    ]
    columns = [FactColumn("t", "time", "s", True), FactColumn("coordinate", shown.name, shown.unit, True)]
    columns.append(FactColumn("rate", f"{shown.name} rate", f"{shown.unit or 1}/s", True))
    rows = np.column_stack([section.t, shown.coordinate, shown.rate]).tolist()
    return [Facts(facts, section.states.mechanism.name), Listing("states", columns, rows)]


@parts.register
def _(spectrum: PowerSpectrum) -> list[ReportPart]:
    facts = [
        Fact("mechanism", "", spectrum.mechanism),
        Fact("resolution", "resolution", spectrum.resolution, "Hz"),
        Fact("highest", "highest frequency", spectrum.frequency[-1], "Hz"),
        Fact("resampled", "resampled" if spectrum.resampled else "", spectrum.resampled),
    ]
    units = dict(zip(spectrum.columns, spectrum.units, strict=True))
    columns = [
        FactColumn("column", "column"),
        FactColumn("frequency", "frequency", "Hz", True),
        FactColumn("amplitude", "amplitude", "", True),
        FactColumn("unit", "unit"),
        FactColumn("power", "power (unit^2/Hz)", "", True),
    ]
    rows = [(p.column, p.frequency, p.amplitude, units[p.column], p.power) for p in spectrum.peaks()]
    return [Facts(facts, spectrum.mechanism), Listing("peaks", columns, rows, "Lines")]


@parts.register
def _(phase: PhasePortrait) -> list[ReportPart]:
    ranges = []
    for key, values, unit in (("", phase.coordinate, phase.unit), ("rate", phase.rate, f"{phase.unit or 1}/s")):
        least, largest = float(values.min()), float(values.max())
        label = "rate" if key else "coordinate"
        ranges.append(Fact(f"{label}_range", label, [least, largest], text=f"{least:.6g} to {largest:.6g} {unit}"))
    facts = [
        Fact("mechanism", "", phase.mechanism),
        Fact("of", "coordinate", phase.name),
        Fact("unit", "", phase.unit),
        *ranges,
        Fact("wrapped", "", phase.wrapped),
        Fact("nodes", "nodes", len(phase.t)),
    ]
    return [Facts(facts, phase.mechanism)]


@parts.register
def _(exponent: LyapunovExponent) -> list[ReportPart]:
    ends = " to ".join(f"{end:.4g}" for end in exponent.interval)
    facts = [
        Fact("mechanism", "", exponent.mechanism),
        Fact("exponent", "largest exponent", exponent.exponent, "1/s"),
        Fact("error", "largest exponent", exponent.error, text=f"standard error {exponent.error:.2g} 1/s"),
        Fact("interval", "95 %", exponent.interval, text=f"{ends} 1/s"),
        Fact("intervals", "intervals", len(exponent.rates)),
        Fact("spacing", "intervals", exponent.spacing, text=f"of {exponent.spacing:g} s"),
    ]
    return [Facts(facts, exponent.mechanism), Data({"t": exponent.t, "convergence": exponent.convergence})]


@parts.register
def _(spectrum: LyapunovSpectrum) -> list[ReportPart]:
    facts = [
        Fact("mechanism", "", spectrum.mechanism),
        Fact("sum", "sum of the exponents", float(spectrum.exponents.sum()), "1/s"),
        Fact("intervals", "intervals", len(spectrum.rates)),
        Fact("spacing", "intervals", spectrum.spacing, text=f"of {spectrum.spacing:g} s"),
    ]
    columns = [FactColumn("exponent", "exponent", "1/s", True), FactColumn("error", "standard error", "1/s", True)]
    rows = np.column_stack([spectrum.exponents, spectrum.errors]).tolist()
    return [Facts(facts, spectrum.mechanism), Listing("exponents", columns, rows, "Exponents")]


@parts.register
def _(study: OrderStudy) -> list[ReportPart]:
    facts = [
        Fact("mechanism", "", study.mechanism),
        Fact("reference", "reference", study.reference),
        Fact("floor", "its error", dict(study.floor._asdict()), text=_with_units(study.floor)),
    ]
    method = FactColumn("method", "method")
    orders = [(series.name, *map(_rounded, series.order)) for series in study.series]
    steps = []
    for series in study.series:
        slopes = study.local_order(series)
        for k, dt in enumerate(series.values.tolist()):
            errors = [float(error[k]) for error in series.error]
            steps.append((series.name, dt, *errors, _rounded(slopes[k]), bool(series.fitted.position[k])))
    columns = [method, FactColumn("dt", "dt", "s", True), *KINDS]
    columns += [FactColumn("local_order", "order of position", "", True), FactColumn("fitted", "fitted")]
    return [
        Facts(facts, study.mechanism),
        Listing("errors", columns, steps, "Largest errors"),
        Listing("orders", [method, *(kind._replace(unit="") for kind in KINDS)], orders, "Fitted orders"),
    ]


@parts.register
def _(reversal: TimeReversal) -> list[ReportPart]:
    facts = [
        Fact("mechanism", "", reversal.mechanism),
        Fact("scheme", "scheme", reversal.scheme),
        Fact("duration", "forward and back", float(reversal.t[-1]), "s"),
    ]
    columns = [FactColumn("kind", "of"), FactColumn("off", "off", "", True), FactColumn("way", "of", "", True)]
    columns.append(FactColumn("unit", "unit"))
    kinds = zip(KINDS, reversal.distance, reversal.way, strict=True)
    rows = [(kind.label, off, float(way), kind.unit) for kind, off, way in kinds]
    return [Facts(facts, reversal.mechanism), Listing("distance", columns, rows, "From the start")]


def _with_units(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.1e} {unit}" for value, unit in zip(values, UNITS, strict=True))


def _rounded(order: float) -> float | None:
    """Return the value rounded to two places, or None."""
    return None if np.isnan(order) else round(float(order), 2)
