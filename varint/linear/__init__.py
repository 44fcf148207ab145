"""Mechanisms at rest, and small motions about that."""

from varint.linear.equilibrium import equilibrium
from varint.linear.modes import Modes, modes

__all__ = ["Modes", "equilibrium", "modes"]
