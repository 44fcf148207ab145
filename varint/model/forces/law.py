"""Laws: effort as a function of a sum of measures, its rate, an input and, in some laws, an internal variable.

The functions of a law (``effort``, ``potential``, ``flow``) are compiled by numba. The names of their arguments fix
what is passed:

    value, rate    of the sum of measures, m or rad, and m/s or rad/s
    input          of the force (`Commanded`)
    state          internal variable a of the law; its initial value is `Effort.start`, zero by default
    table          (n, 6) pieces of a tabulated law: lower bound x0, c0 .. c3 of the effort in powers of (value - x0),
                   potential at x0
    function       handle of the user's compiled function, which the law calls by `call_back`

Any other name is a parameter, or one of the ``groups`` of parameters that the law declares, passed as a tuple. Without
a state, ``effort`` returns the effort, N or N m, and its derivatives: (effort, by_value, by_rate). With a state, it
returns (effort, by_value, by_rate, by_state, flow, flow_by_value, flow_by_rate, flow_by_state), flow = da/dt; the
first four of these if the law has a function ``flow``. The potential V(value), J, may also take the table and the
parameters; the conservative effort is -dV/dvalue.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from varint.base.display import Shown
from varint.base.numba import njit

VARIABLES = ("value", "rate", "input", "state", "table", "function")  # names of arguments that are not parameters


@dataclass(frozen=True, eq=False)
class Law(Shown):
    """A law; its construction registers it in `LAWS` under its name. See above for the functions.

    Attributes
    ----------
    name : str
    effort : compiled function
    potential : compiled function or None
    groups : dict of str to tuples of str
        Names of the parameters in each argument that is a tuple, by the argument's name.
    arguments, parameters : tuple of str
        Names of the arguments of ``effort`` and ``flow``, groups expanded: all, and those that are parameters.
    flow : compiled function or None
        Returns (flow, flow_by_state), for laws whose flow does not depend on value and rate. Their state in the middle
        of a step does not depend on the motion, and is solved for once a step.
    steepest : function or None
        Returns the largest slope of the effort against the rate, N s/m or N m s/rad, over all values and rates, by the
        parameters that it names. None: the parameter ``damping`` if the law has one, else unknown.
    one_sided : bool
        Whether its effort is zero where ``damping`` would give it the other sign.
    deepening : bool
        Whether its slope against the rate, which ``damping`` scales, grows with the value without bound.
    along_path : bool
        Whether its measures are pieces of a path that are evaluated together (step/paths/measures.py).
    """

    name: str
    effort: Callable
    potential: Callable | None = None
    flow: Callable | None = None
    steepest: Callable[..., float] | None = None
    one_sided: bool = False
    deepening: bool = False
    along_path: bool = False
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name in LAWS:
            raise ValueError(f"law '{self.name}' is already registered: choose another name")
        for part in ("effort", "potential", "flow"):
            function = getattr(self, part)
            if function is not None:
                object.__setattr__(self, part, njit(function))
        LAWS[self.name] = self

    @property
    def arguments(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for function in (self.effort, self.flow) if function for name in _names(function))
        return tuple(part for name in names for part in self.groups.get(name, (name,)))

    def call_arguments(self, function: Callable, values: Mapping[str, Any]) -> list[Any]:
        """Return the arguments of ``function``, one of the law's, looked up by name in ``values``; groups as tuples."""
        groups = self.groups
        return [
            tuple(values[part] for part in groups[name]) if name in groups else values[name]
            for name in _names(function)
        ]

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name not in VARIABLES)

    @property
    def flow_parameters(self) -> tuple[str, ...]:
        """Return the names of the ``parameters`` that ``flow`` takes."""
        names = _names(self.flow) if self.flow else ()
        return tuple(part for name in names if name not in VARIABLES for part in self.groups.get(name, (name,)))

    def steepness(self, by_name: Mapping[str, float]) -> float:
        """Return the largest slope of the effort against the rate for the values of the parameters; 0 if unknown."""
        if self.steepest is None:
            return by_name.get("damping", 0.0)
        return self.steepest(**{name: by_name[name] for name in _names(self.steepest)})

    @property
    def has_constant_slope(self) -> bool:
        """Return whether the slope of the effort against the rate is the same at all rates."""
        return self.steepest is None and "damping" in self.parameters and not self.one_sided

    @property
    def has_state(self) -> bool:
        return "state" in self.arguments

    def values(self, by_name: Mapping[str, float]) -> tuple[float, ...]:
        """Return the values of the parameters in the order of ``parameters``; TypeError if names do not match."""
        if set(by_name) != set(self.parameters):
            raise TypeError(f"law '{self.name}' has the parameters {self.parameters}, got {tuple(by_name)}")
        return tuple(by_name[name] for name in self.parameters)


def _names(function: Callable) -> tuple[str, ...]:
    return tuple(inspect.signature(getattr(function, "py_func", function)).parameters)


LAWS: dict[str, Law] = {}
