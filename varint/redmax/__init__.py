"""Reduced coordinates (REDMAX): the same mechanism in the coordinates of its joints."""

from varint.redmax.equations_of_motion import EquationsOfMotion
from varint.redmax.simulation import simulate
from varint.redmax.states import ReducedState, coordinates, maximal_state, reduced_state
from varint.redmax.trajectory import ReducedTrajectory

__all__ = [
    "EquationsOfMotion",
    "ReducedState",
    "ReducedTrajectory",
    "coordinates",
    "maximal_state",
    "reduced_state",
    "simulate",
]


def __dir__() -> list[str]:
    return sorted(__all__)
