"""Mechanisms linearised: at rest, small motions about that, and about any state."""

from varint.linear.equilibrium import equilibrium
from varint.linear.inverse_dynamics import inverse_dynamics
from varint.linear.joint_motion import efforts_of_motion
from varint.linear.linearization import Linearization, Linearizer, linearize
from varint.linear.lqr import Regulator, lqr
from varint.linear.modes import Modes, modes
from varint.linear.moment_arms import moment_arms
from varint.linear.orbit import PeriodicOrbit, periodic_orbit
from varint.linear.second import SecondDerivatives
from varint.linear.step_matrix import StepMatrix, step_matrix

__all__ = [
    "Linearization",
    "Linearizer",
    "Modes",
    "PeriodicOrbit",
    "Regulator",
    "SecondDerivatives",
    "StepMatrix",
    "efforts_of_motion",
    "equilibrium",
    "inverse_dynamics",
    "linearize",
    "lqr",
    "modes",
    "moment_arms",
    "periodic_orbit",
    "step_matrix",
]
