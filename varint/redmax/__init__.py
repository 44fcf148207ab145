"""Reduced coordinates (REDMAX): the same mechanism in the coordinates of its joints."""

from varint.redmax.simulation import simulate
from varint.redmax.states import ReducedState, coordinates, maximal_state, reduced_state
from varint.redmax.trajectory import ReducedTrajectory

__all__ = ["ReducedState", "ReducedTrajectory", "coordinates", "maximal_state", "reduced_state", "simulate"]


def __dir__() -> list[str]:
    return sorted(__all__)
