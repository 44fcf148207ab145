"""Gradients of runs by collocation (varint/step/collocation/adjoint.py)."""
