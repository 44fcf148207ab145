"""The integrators in reduced coordinates, under their public name."""

from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS, Integrator, Task

__all__ = ["DEFAULT", "INTEGRATORS", "Integrator", "Task"]
