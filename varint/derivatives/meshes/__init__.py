"""Gradients of runs with deformable bodies and nets."""
