"""Runs within JAX and PyTorch, which differentiate them by `varint.gradient`."""

from varint.extras.bridges.rollout import RolloutStates
from varint.extras.bridges.with_jax import jax_rollout
from varint.extras.bridges.with_torch import torch_rollout

__all__ = ["RolloutStates", "jax_rollout", "torch_rollout"]
