"""Derivatives of runs: of an objective by the start and by the numbers of the description."""

from varint.derivatives.gradient import gradient
from varint.derivatives.objective import Gradient, StateGradient

__all__ = ["Gradient", "StateGradient", "gradient"]
