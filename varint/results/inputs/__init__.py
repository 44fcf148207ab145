"""Inputs of a run: loads on bodies, values and functions that command forces, prescribed motions."""
