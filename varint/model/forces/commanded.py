"""Forces with an input."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varint.model.checks import in_a_shape
from varint.model.forces.base import Force


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
            what, wanted = f"{self.command_name} of {self.label}", "one number or one value a node, or a function"
            array = in_a_shape(command, ((), (None,)), what, wanted=wanted)
            self._set(self.command_name, array)

    @property
    def input_span(self) -> float:
        """Of the input, over which the effort is next to linear; any, where it is linear."""
        return 1.0

    @property
    def of_time(self) -> bool:
        """Whether the input is a function of the time alone, f(t), and not f(t, state)."""
        return callable(self.input) and _takes_one(self.input)

    @property
    def constant_rate(self) -> float | None:
        """At which the coordinate goes on from where a run starts, where there is no input; m/s or rad/s."""
        return None

    @property
    def input(self) -> np.ndarray | Callable[..., float] | None:
        """An array () or (steps + 1,), or a function; None where there is a ``constant_rate``."""
        return getattr(self, self.command_name)


def _takes_one(function: Callable) -> bool:
    """Whether a function can be called with one argument: no other that is positional is without a default."""
    if isinstance(function, np.ufunc):
        return function.nin == 1
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a function in C that does not tell
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    several = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    return not several and sum(p.default is p.empty for p in positional) == 1
