"""Internal variables of laws that steps of a method do not bring to their ends: they follow faster than steps resolve.

A step multiplies the deviation of a variable a, da/dt = phi, by a rational function R of z = -dt dphi/da. For
symmetric methods R goes to 1 or -1 with growing z, as along strong dampers (undamped.py). Where dphi/da is positive the
variable departs from its value, and nothing is to be ended.
"""

import numpy as np

from varint.model.forces.base import Effort
from varint.results.recorded_motion import RecordedMotion
from varint.results.resolution import Unresolved
from varint.results.undamped import LESS, LOOKED_AT, MOST, STRONG, Factor

NODES = 20  # of a run, spread over it, and as many where the input changes most, at which slopes are looked at


def find_lagging(trajectory: RecordedMotion, dt: float, factor: Factor, method: str) -> Unresolved | None:
    """Return the `Unresolved` of a run whose steps of ``dt``, s, leave more than MOST of a deviation of a variable.

    Of the first such law with z above STRONG, by its input and variable at some nodes. ``factor``: R (n,) by z
    (n,); ``method``: part of the message.
    """
    column = 0  # of the variables
    for number, force in enumerate(trajectory.mechanism.forces):
        for element in force.elements(trajectory.mechanism):
            if not (isinstance(element, Effort) and element.law.has_state):
                continue
            command, variable = trajectory.command[:, number], trajectory.law_states[:, column]
            z, column = dt * _fastest_decay(element, command, variable), column + 1
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


def _fastest_decay(element: Effort, command: np.ndarray, variable: np.ndarray) -> float:
    """Return the largest -dphi/da, 1/s, at least 0, for inputs (T,) and the internal variable (T,) of a law.

    At the nodes before the largest changes of the input, with both inputs, and at some of the others.
    """
    last = len(command) - 1
    rises = np.argsort(-np.abs(np.diff(command)), kind="stable")[:NODES]
    nodes = np.union1d(np.linspace(0, last, NODES).astype(int), rises)
    slopes = (_slope(element, float(command[j]), float(variable[k])) for k in nodes for j in (k, min(k + 1, last)))
    return max(0.0, *(-slope for slope in slopes))


def _slope(element: Effort, command: float, state: float) -> float:
    """Return dphi/da, 1/s, of the internal variable ``state`` of a law, with value and rate of its sum zero."""
    law = element.law
    values = {**element.parameters, "value": 0.0, "rate": 0.0, "input": command, "state": state}
    if law.flow is not None:
        return float(law.flow(*law.call_arguments(law.flow, values))[1])
    return float(law.effort(*law.call_arguments(law.effort, values))[7])
