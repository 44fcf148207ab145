"""Colours that all pictures share."""

COLOURS = ("#3f74a8", "#c8752c", "#4a8f5b", "#8a5a9c", "#a8892a", "#3a97a6", "#b5485d", "#7a7a7a")  # of bodies, curves
MEAN, INK, FAINT = "#b5391e", "#222222", "#6b6b6b"
DPI = 150
TRACES = (MEAN, INK, *COLOURS[:-1])  # of ways over a mechanism
