"""Derivatives of runs: of an objective by the start and by the numbers of the description."""

from varint.gradients.gradient import Gradient, StateGradient, gradient

__all__ = ["Gradient", "StateGradient", "gradient"]
