"""Reduced coordinates (REDMAX): the same mechanism in the coordinates of its joints."""

from typing import Any

from varint.methods.reduced.equations_of_motion import EquationsOfMotion
from varint.methods.reduced.states import ReducedState, coordinates, maximal_state, reduced_state
from varint.methods.reduced.trajectory import ReducedTrajectory

__all__ = [
    "EquationsOfMotion",
    "ReducedState",
    "ReducedTrajectory",
    "coordinates",
    "gradient",
    "maximal_state",
    "reduced_state",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name == "gradient":  # of a layer above, and only when asked for
        from varint.derivatives.reduced.gradient import gradient

        return gradient
    if name == "simulate":
        from varint.methods.reduced.method import simulate

        return simulate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
