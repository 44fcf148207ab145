"""The figure of a comparison, drawn without a display: over time above, over step and wall time below."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from varint.viz.plots import FAINT, FLOOR, INK

COLOURS = ("#1f5f99", "#c4571b", "#3c8a5a", "#8a4fa0", "#a88a1d", "#4aa3b5", "#b03a5b", "#6b6b6b")
MARKERS = "osD^vP*X"
PALE = 0.65  # of white, in the colour of the coarsest run


def draw(comparison, facts: dict[str, str]) -> Figure:
    """The figure of a `Comparison`; ``facts`` stand at its foot.

    Over time: all runs of the first series of VI and of REDMAX, and of the one without stabilisation. Over step and
    wall time: all series. Hollow points are not fitted.
    """
    figure = Figure(figsize=(11.0, 7.6), layout="constrained")
    above, below = figure.subplots(2, 3)
    kind, label = _measure(comparison)
    shown = _over_time(comparison)
    _curves(above[0], comparison, shown, [getattr(series.difference, kind) for series in shown], f"Difference, {label}")
    _curves(above[1], comparison, shown, [np.abs(series.energy) for series in shown], "Energy error (J)")
    _curves(above[2], comparison, shown, [series.drift for series in shown], "Joint drift (m)")
    return figure
