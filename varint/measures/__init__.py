"""Measures: scalars of the pose of two bodies, one file a kind, each with its value, gradient and exact curvature.

Constraints, laws and limits refer to them. Every module of this folder that registers a kind is found by itself.
"""

import importlib
import pkgutil

from varint.measures.base import KINDS, Measure, Numbers, number_of

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")

__all__ = ["KINDS", "Measure", "Numbers", "number_of"]
