"""Runs within JAX and PyTorch, which differentiate them by `varint.gradient`."""

from varint.bridges.rollout import RolloutStates
from varint.bridges.with_jax import jax_rollout
from varint.bridges.with_torch import torch_rollout

__all__ = ["RolloutStates", "jax_rollout", "torch_rollout"]
