"""Other simulators, each of them one file of this folder, which the contract of `base.py` describes."""

from varint.extras.peers.base import Simulator, simulator_class, simulators

__all__ = ["Simulator", "simulator_class", "simulators"]
