"""Bridges to other packages: JAX, PyTorch, Gymnasium, other simulators, the live page, and rivals from the papers."""
