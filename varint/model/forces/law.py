"""Laws: the effort along a measure, by its value, its rate, an input, and its internal variable if it has one.

A law is a function of numbers that numba compiles. The names of its arguments say what it is given:

    value, rate    of the measure, m or rad, and m/s or rad/s
    input          of the force (`Commanded`)
    state          of the law; at the start of a run zero, or the ``start`` of its `Effort`
    table          (n, 6) pieces of a tabulated law: start, c0 .. c3 in powers of (value - start), potential
    function       of a user's law, for `call_back`

and every other name is a parameter, given by that name, or one of the ``groups`` of parameters that the law declares,
given as a tuple. A law without a state gives (effort, by_value, by_rate), the
effort and its derivatives, N or N m. One with a state a gives (effort, by_value, by_rate, by_state, flow,
flow_by_value, flow_by_rate, flow_by_state), flow = da/dt. A potential, J, is a function of the value and parameters.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from varint._numba import njit
from varint.display import Shown

GIVEN = ("value", "rate", "input", "state", "table", "function")


@dataclass(frozen=True, eq=False)
class Law(Shown):
    """A law, registered under its name when it is made.

    Attributes
    ----------
    name : str
    effort : compiled function
    potential : compiled function or None
    groups : dict of str to tuples of str
        Arguments that are tuples of parameters, and the names of these.
    arguments, parameters : tuple of str
        The numbers that ``effort`` takes, in groups or not: all, and those that are parameters.
    flow : compiled function or None
        (flow, flow_by_state) of laws whose flow does not depend on the value and the rate. Their state is solved for
        before the effort is evaluated.
    along_path : bool
        Whether its measures are pieces of a path that are evaluated together (kernels/paths.py).
    """

    name: str
    effort: Callable
    potential: Callable | None = None
    flow: Callable | None = None
    along_path: bool = False
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name in LAWS:
            raise ValueError(f"there is a law '{self.name}' already")
        for part in ("effort", "potential", "flow"):
            function = getattr(self, part)
            if function is not None:
                object.__setattr__(self, part, njit(function))
        LAWS[self.name] = self

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(part for name in _names(self.effort) for part in self.groups.get(name, (name,)))

    def given(self, function: Callable, numbers: Mapping[str, Any]) -> list[Any]:
        """The arguments of ``effort``, ``potential`` or ``flow`` by what ``numbers`` has under their names."""
        groups = self.groups
        return [
            tuple(numbers[part] for part in groups[name]) if name in groups else numbers[name]
            for name in _names(function)
        ]

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name not in GIVEN)

    @property
    def has_state(self) -> bool:
        return "state" in self.arguments

    def values(self, given: Mapping[str, float]) -> tuple[float, ...]:
        """The parameters in their order."""
        if set(given) != set(self.parameters):
            raise TypeError(f"law '{self.name}' has the parameters {self.parameters}, got {tuple(given)}")
        return tuple(given[name] for name in self.parameters)


def _names(function: Callable) -> tuple[str, ...]:
    return tuple(inspect.signature(getattr(function, "py_func", function)).parameters)


LAWS: dict[str, Law] = {}
