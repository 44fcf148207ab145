"""Mechanisms linearised: at rest, small motions about that, and about any state."""

from varint.derivatives.linear.equilibrium import equilibrium
from varint.derivatives.linear.holding import holding
from varint.derivatives.linear.inverse_dynamics import inverse_dynamics
from varint.derivatives.linear.joint_motion import efforts_of_motion
from varint.derivatives.linear.linearization import Linearization, Linearizer, linearize
from varint.derivatives.linear.lqr import Regulator, lqr
from varint.derivatives.linear.modes import Modes, modes
from varint.derivatives.linear.moment_arms import moment_arms
from varint.derivatives.linear.orbit import PeriodicOrbit, periodic_orbit
from varint.derivatives.linear.second import SecondDerivatives
from varint.derivatives.linear.step_matrix import StepMatrix, step_matrix

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
    "holding",
    "inverse_dynamics",
    "linearize",
    "lqr",
    "modes",
    "moment_arms",
    "periodic_orbit",
    "step_matrix",
]
