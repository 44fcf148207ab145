"""Derivatives of steps and runs: along changes, transposed, and by the numbers of a plan."""
