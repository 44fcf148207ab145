"""Methods that carry a `Problem` through time: one file per formulation, and rivals registered from outside.

`base.py` is the contract. A formulation's file is imported when its name is asked for, since reduced coordinates are
slow to import.
"""

import importlib
from typing import TYPE_CHECKING, Any

from varint.formulations.base import Method, method_class, names, register, solve, trajectory_of

if TYPE_CHECKING:
    from varint.formulations.stepped import Stepped

__all__ = ["Method", "Stepped", "method_class", "names", "register", "solve", "trajectory_of"]


def __getattr__(name: str) -> Any:
    if name == "Stepped":
        return importlib.import_module("varint.formulations.stepped").Stepped
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
