"""Runs within JAX and PyTorch, under their public name; see `varint.extras.bridges`."""

from varint.extras.bridges import RolloutStates, jax_rollout, torch_rollout

__all__ = ["RolloutStates", "jax_rollout", "torch_rollout"]
