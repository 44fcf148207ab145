"""Quantities of a trajectory: energy, momentum, drift."""
