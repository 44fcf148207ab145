"""Methods that carry a `Problem` through time, under their public name: the contract, its registry, and `Stepped`."""

import importlib
from typing import TYPE_CHECKING, Any

from varint.runs.method import Method, method_class, names, register, solve, trajectory_of

if TYPE_CHECKING:
    from varint.methods.stepped import Stepped

__all__ = ["Method", "Stepped", "method_class", "names", "register", "solve", "trajectory_of"]


def __getattr__(name: str) -> Any:
    if name == "Stepped":
        return importlib.import_module("varint.methods.stepped").Stepped
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
