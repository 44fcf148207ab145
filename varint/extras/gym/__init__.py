"""Mechanisms as environments of Gymnasium, for reinforcement learning: one, or many that step in threads."""

from varint.extras.gym.makers import make, make_vector

__all__ = ["make", "make_vector"]
