"""Mechanisms as environments of Gymnasium, for reinforcement learning: one, or many that step in threads."""

from varint.gym.task import LearningTask, make, make_vector

__all__ = ["LearningTask", "make", "make_vector"]
