"""The double-double residual, and the last increment of a stage that solves it."""
