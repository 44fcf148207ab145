"""Internal variables of laws that steps of a method do not bring to their ends: they follow faster than steps resolve.

A step multiplies the deviation of a variable a, da/dt = phi, by a rational function R of z = dt |dphi/da|. For
symmetric methods R goes to 1 or -1 with growing z, as along strong dampers (undamped.py).
"""

import numpy as np

from varint.model.forces.base import Effort
from varint.results.recorded_motion import RecordedMotion
from varint.results.resolution import Unresolved
from varint.results.undamped import LESS, LOOKED_AT, MOST, STRONG, Factor


def find_lagging(trajectory: RecordedMotion, dt: float, factor: Factor, method: str) -> Unresolved | None:
    """Return the `Unresolved` of a run whose steps of ``dt``, s, leave more than MOST of a deviation of a variable.

    Of the first such law with z above STRONG, by its input at node 0. ``factor``: R (n,) by z (n,); ``method``: part of
    the message.
    """
    for number, force in enumerate(trajectory.mechanism.forces):
        for element in force.elements(trajectory.mechanism):
            if not (isinstance(element, Effort) and element.law.has_state):
                continue
            z = dt * abs(_slope(element, float(trajectory.command[0, number])))
            share = abs(float(factor(np.array([z]))[0]))
            if not (z > STRONG and share > MOST):
                continue
            below = np.geomspace(STRONG, z, LOOKED_AT)
            most = below[np.argmax(np.abs(factor(below)) > MOST)]
            message = (
                f"the internal variable of {force.label} follows within {dt / z:.2g} s. A step of {dt:g} s of {method}"
                f" leaves {share:.0%} of its deviation, which should end at once, and may turn it round. Take dt below"
                f" {LESS * dt * most / z:.2g} s"
            )
            return Unresolved(message, float(trajectory.t[0]), None)
    return None


def _slope(element: Effort, command: float) -> float:
    """Return dphi/da, 1/s, of the internal variable of a law at its start, with value and rate of its sum zero."""
    law = element.law
    values = {**element.parameters, "value": 0.0, "rate": 0.0, "input": command, "state": element.start}
    if law.flow is not None:
        return float(law.flow(*law.call_arguments(law.flow, values))[1])
    return float(law.effort(*law.call_arguments(law.effort, values))[7])
