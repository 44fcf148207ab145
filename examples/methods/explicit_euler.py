"""Explicit Euler in reduced coordinates, as a method of its own beside those of varint.

varint run double_pendulum --method explicit_euler.py --duration 1 --dt 0.001
varint compare double_pendulum --integrators dop853,explicit_euler.py
varint ensemble double_pendulum --vary angle=0.1:1.0:10 --method explicit_euler.py -o runs
"""

from dataclasses import dataclass

import varint as vi
from varint.formulations import Stepped
from varint.runs.method import register


@register
@dataclass(frozen=True, eq=False)
class ExplicitEuler(Stepped):
    """q + dt qdot, qdot + dt qddot: of order 1, and it gains energy."""

    formulation = "explicit-euler"
    called = "ExplicitEuler"

    def stepper(self, problem):
        equations = vi.EquationsOfMotion(problem.mechanism)

        def step(state, dt):
            q, qdot = equations.coordinates(state)
            return equations.state(q + dt * qdot, qdot + dt * equations.acceleration(0.0, q, qdot))

        return step
