"""Forces with an input."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varint.base.checks import function_of, in_a_shape
from varint.base.errors import ArgumentError
from varint.model.forces.base import Force
from varint.model.state import State


@dataclass(frozen=True)
class Extrapolated:
    """A function f(t, state) made by `extrapolated`."""

    function: Callable[[float, State], float]

    def __call__(self, t: float, state: State) -> float:
        """Call the function itself."""
        return self.function(t, state)


def extrapolated(function: Callable[[float, State], float]) -> Extrapolated:
    """Return an input ``function(t, state)`` whose values `varint.simulate` extrapolates over a step and does not hold.

    The input follows the line through the values at the last two nodes; over the first step it is held. With a smooth
    function that is of second order in dt, where a value that is held is of first. Noise in the function grows, up to
    three times. Integrators in reduced coordinates with error control call the function whenever they need it, as they
    do without this.

    Raises ArgumentError where ``function`` cannot be called.
    """
    return Extrapolated(function_of(function, "the function that is extrapolated", ArgumentError))


@dataclass(frozen=True, eq=False)
class Commanded(Force):
    """A force with an input: a number, one a node (steps + 1,), or a function ``f(t)`` or ``f(t, state)``.

    ``command_name`` says in which field it is given.
    """

    commanded = True
    command_name = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        command = getattr(self, self.command_name)
        if not callable(command):
            label, wanted = f"{self.command_name} of {self.label}", "one number or one value a node, or a function"
            array = in_a_shape(command, ((), (None,)), label, wanted=wanted)
            self._set(self.command_name, array)

    @property
    def input_span(self) -> float:
        """Return the input range over which the effort is nearly linear; any positive number if it is linear."""
        return 1.0

    @property
    def of_time(self) -> bool:
        """Return whether the input is a function f(t) of time alone, not f(t, state)."""
        return callable(self.input) and _takes_one(self.input)

    @property
    def constant_rate(self) -> float | None:
        """Return the rate, m/s or rad/s, at which the coordinate continues from the start if there is no input."""
        return None

    @property
    def input(self) -> np.ndarray | Callable[..., float] | None:
        """Return an array () or (steps + 1,), or a function; None with a ``constant_rate``."""
        return getattr(self, self.command_name)


def _takes_one(function: Callable) -> bool:
    """Return whether a function can be called with one argument."""
    if isinstance(function, np.ufunc):
        return function.nin == 1
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a function in C that does not tell
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    several = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    return not several and sum(p.default is p.empty for p in positional) == 1
