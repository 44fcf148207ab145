"""Deformable bodies of a mechanism: vertices attached to bodies, sparse matrices, their start and their record."""
