"""Forces with an input."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varint.model.checks import in_a_shape
from varint.model.forces.base import Force


@dataclass(frozen=True, eq=False)
class Commanded(Force):
    """A force with an input: a number, one a node (steps + 1,), or a function ``f(t, state)`` called each step.

    ``command_name`` says in which field it is given.
    """

    commanded = True
    of_time = False  # whether a function is one of time alone
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
    def constant_rate(self) -> float | None:
        """At which the coordinate goes on from where a run starts, where there is no input; m/s or rad/s."""
        return None

    @property
    def input(self) -> np.ndarray | Callable[..., float] | None:
        """An array () or (steps + 1,), or a function; None where there is a ``constant_rate``."""
        return getattr(self, self.command_name)
