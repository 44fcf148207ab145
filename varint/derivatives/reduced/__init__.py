"""Gradients of runs in reduced coordinates."""
