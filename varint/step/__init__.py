"""Compiled kernels: arrays in, arrays out; they know bodies, rows and nodes, never names or joint types."""
