"""Derivatives at kinks of laws: the rule of both formulations, and its words.

Where a run stands at a kink by a number, the derivatives to both sides differ, and a sum over the stages may mix them:
the derivatives of a step follow the branch that a law takes at the kink, differences by the number another one. Both
sides are therefore derivatives of runs beside the kink, of which the larger in size is the gradient's.
"""

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import KinkWarning, VarintError
from varint.derivatives.jumps import Jumps, MotionKinks
from varint.derivatives.numbers import Number
from varint.derivatives.objective import Gradient
from varint.runs.parts import Arguments
from varint.runs.problem import Problem

BESIDE = 1e-5  # of a number's size: far enough for differences that do not reach the kink
ALIKE, NOTHING = 1e-5, 1e-9  # of a side, and of the objective over the number's size: a smaller difference is no kink
WHOLE = -1  # in place of a component: all values of an input at once


def beside(arguments: Arguments, number: Number, value: np.ndarray) -> Arguments:
    """Return the arguments of a gradient by a number alone, of a mechanism that has another value of it."""
    parameters, given = arguments.values["parameters"], arguments.values["mechanism"]
    asked = arguments.replaced(with_respect_to=[number.name])
    if parameters and number.name in parameters:
        return asked.replaced(parameters={**parameters, number.name: value})
    changed = number.replaced(value)
    return asked.replaced(
        mechanism=replace(given, mechanism=changed) if isinstance(given, Problem) else changed, parameters=None
    )


class OfRun(NamedTuple):
    """A gradient along the branches that laws take, and what there is to say of its run.

    ``numbers``: those it is by, by name. ``kinked``: names of those by which the run stands at a kink, each with the
    components along which it does, or WHOLE.
    """

    gradient: Gradient
    numbers: Mapping[str, Number]
    kinked: Mapping[str, Collection[int]]
    jumps: Jumps
    motions: MotionKinks


def of_one_side(run: OfRun, again: Callable[[Number, np.ndarray], OfRun]) -> Gradient:
    """Return the gradient with derivatives of one side at kinks; warn of jumps and kinks.

    ``again``: the same of a run in which a Number has another value. Raises VarintError where there is none.
    """
    run.jumps.tell()
    run.motions.tell(run.gradient)
    by, value = dict(run.gradient.by), float(np.abs(run.gradient.value).max())
    for name, components in run.kinked.items():
        for k in sorted(components):
            by[name] = _with_side(by[name], run.numbers[name], k, again, value)
    return Gradient(run.gradient.value, by, run.gradient.states)


def _with_side(whole: Any, number: Number, k: int, again: Callable[[Number, np.ndarray], OfRun], value: float) -> Any:
    """Return the derivative by a number, ``whole``, with that of one side for its component k; warn of the kink.

    ``value``: size of the objective.
    """
    size = number.size.reshape(-1)
    change = np.full(number.value.shape, size.max()) if k == WHOLE else size[k] * number.directions()[k]
    shape = np.shape(whole)
    parts = np.array(whole, dtype=float).reshape(-1, number.value.size)
    place = slice(None) if k == WHOLE else slice(k, k + 1)
    sides: dict[str, np.ndarray] = {}
    for side, sign in (("above", 1.0), ("below", -1.0)):
        try:
            places = (number.value + sign * n * BESIDE * change for n in (1.0, 2.0))
            near, far = (again(number, place).gradient[number.name] for place in places)
        except VarintError:  # beyond a bound of the number, or no run
            continue
        sides[side] = np.reshape(2.0 * np.array(near) - far, parts.shape)[:, place]  # at the kink itself
    least = NOTHING * value / float(np.abs(change).max())
    name = f"{number.name}[{k}]" if number.value.ndim and k != WHOLE else number.name
    if len(sides) == 2 and _alike(sides["above"], sides["below"], least):
        parts[:, place] = 0.5 * (sides["above"] + sides["below"])
    elif len(sides) == 1 and _alike(next(iter(sides.values())), parts[:, place], least):
        pass  # the bound of the number is no kink
    elif sides:
        larger = max(sides, key=lambda side: float(np.linalg.norm(sides[side])))
        parts[:, place] = sides[larger]
        _tell(name, _words(sides, larger))
    else:
        _tell(name, "no run beside it has a derivative, and what is given may be of neither side")
    return parts.reshape(shape) if shape else float(parts[0, 0])


def _alike(one: np.ndarray, other: np.ndarray, least: float) -> bool:
    return float(np.abs(one - other).max()) <= ALIKE * float(np.maximum(np.abs(one), np.abs(other)).max()) + least


def _words(sides: Mapping[str, np.ndarray], larger: str) -> str:
    if len(sides) == 1:
        return f"the derivative {larger} is given, as no value on the other side is allowed"
    if sides[larger].size > 1:
        return f"the derivatives above and below differ, and those {larger} are given, which are larger in size"
    above, below = (float(side[0, 0]) for side in sides.values())
    return f"the derivative is {above:.6g} above and {below:.6g} below, and that {larger} is given, the larger in size"


def _tell(name: str, what: str) -> None:
    """Warn the user that a run stands at a kink by a number."""
    warnings.warn(
        f"the run stands at a kink of a force by '{name}': {what}. Change '{name}' a little to stay clear of the kink",
        KinkWarning,
        stacklevel=level_of_user(),
    )
