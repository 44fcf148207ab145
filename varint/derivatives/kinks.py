"""One-sided derivatives at kinks of force laws, with their warnings; used by both formulations.

If a run is exactly at a kink with respect to a parameter, its one-sided derivatives differ, and the sum over the stages
may mix them: the step derivatives follow the branch that the law takes at the kink, finite differences of the parameter
may follow the other. Both one-sided derivatives are therefore extrapolated from runs at perturbed values, and the
gradient uses the larger one by norm.
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

# Perturbations are BESIDE and 2 BESIDE of the number's size. Differences of the efforts in a perturbed run start with
# steps of up to 1e-3 of it (`numbers.SHARE`), across the kink; `stage_slopes` shortens them in the stages where the two
# sides disagree, down to 2.5e-7: these do not reach the kink.
BESIDE = 1e-5
# Derivatives that differ by less are equal: ALIKE relative to the larger one, plus NOTHING times the objective divided
# by the number's size.
ALIKE, NOTHING = 1e-5, 1e-9
WHOLE = -1  # in place of a component: all values of an input at once


def perturbed_arguments(arguments: Arguments, number: Number, value: np.ndarray) -> Arguments:
    """Return gradient arguments with ``number`` set to ``value`` (same shape), differentiated by ``number`` only."""
    parameters, source = arguments.values["parameters"], arguments.values["mechanism"]
    only = arguments.replaced(with_respect_to=[number.name])
    if parameters and number.name in parameters:
        return only.replaced(parameters={**parameters, number.name: value})
    changed = number.replaced(value)
    return only.replaced(
        mechanism=replace(source, mechanism=changed) if isinstance(source, Problem) else changed, parameters=None
    )


class RunGradient(NamedTuple):
    """The gradient of a run along the branches that its laws take, and the kinks and jumps of the run.

    ``gradient``: with the derivatives by all names that were asked for. ``numbers``: the numbers of the mechanism among
    them, by name. ``kinked``: names of the numbers with respect to which the run is at a kink, each with the components
    concerned, or WHOLE. ``jumps``: jumps of efforts that the run passes. ``motions``: kinks of laws at which the motion
    itself is, with respect to the start, gravity and all that moves it.
    """

    gradient: Gradient
    numbers: Mapping[str, Number]
    kinked: Mapping[str, Collection[int]]
    jumps: Jumps
    motions: MotionKinks


def of_one_side(run: RunGradient, rerun: Callable[[Number, np.ndarray], RunGradient]) -> Gradient:
    """Return the gradient with one-sided derivatives at kinks; warn of jumps and kinks.

    ``rerun(number, value)``: return the RunGradient with ``number`` at ``value``; raises VarintError if that value is
    not allowed or the run fails.
    """
    run.jumps.tell()
    run.motions.tell(run.gradient)
    by, value = dict(run.gradient.by), float(np.abs(run.gradient.value).max())
    for name, components in run.kinked.items():
        for k in sorted(components):
            by[name] = _with_side(by[name], run.numbers[name], k, rerun, value)
    return Gradient(run.gradient.value, by, run.gradient.states)


def _with_side(
    whole: Any, number: Number, k: int, rerun: Callable[[Number, np.ndarray], RunGradient], value: float
) -> Any:
    """Return ``whole``, the derivative by a number, with component k replaced by a one-sided one; warn of the kink.

    ``whole``: of the number's shape, after an axis (m,) if the objective is an array of m numbers; so is the result.
    ``k``: component of the flattened number, or WHOLE. ``value``: largest absolute value of the objective.
    """
    size = number.size.reshape(-1)
    change = np.full(number.value.shape, size.max()) if k == WHOLE else size[k] * number.directions()[k]
    shape = np.shape(whole)
    parts = np.array(whole, dtype=float).reshape(-1, number.value.size)  # (m, size of the number), m = 1 of a scalar
    columns = slice(None) if k == WHOLE else slice(k, k + 1)
    sides: dict[str, np.ndarray] = {}
    for side, sign in (("above", 1.0), ("below", -1.0)):
        try:
            near, far = (
                rerun(number, number.value + sign * n * BESIDE * change).gradient[number.name] for n in (1.0, 2.0)
            )
        except VarintError:  # the value is out of bounds, or its run failed
            continue
        sides[side] = np.reshape(2.0 * np.array(near) - far, parts.shape)[:, columns]  # extrapolated to the kink
    least = NOTHING * value / float(np.abs(change).max())
    name = f"{number.name}[{k}]" if number.value.ndim and k != WHOLE else number.name
    if len(sides) == 2 and _alike(sides["above"], sides["below"], least):
        parts[:, columns] = 0.5 * (sides["above"] + sides["below"])
    elif len(sides) == 1 and _alike(next(iter(sides.values())), parts[:, columns], least):
        pass  # at a bound of the number the derivative is that of the allowed side: no kink
    elif sides:
        larger = max(sides, key=lambda side: float(np.linalg.norm(sides[side])))
        parts[:, columns] = sides[larger]
        _warn_kink(name, _side_message(sides, larger))
    else:
        _warn_kink(name, "the runs on both sides failed, and the returned derivative may belong to neither side")
    return parts.reshape(shape) if shape else float(parts[0, 0])


def _alike(one: np.ndarray, other: np.ndarray, least: float) -> bool:
    """Return whether two derivatives agree, to `ALIKE` of the larger one or to ``least``."""
    return float(np.abs(one - other).max()) <= ALIKE * float(np.maximum(np.abs(one), np.abs(other)).max()) + least


def _side_message(sides: Mapping[str, np.ndarray], larger: str) -> str:
    """Return the part of the warning on the one-sided derivatives ``sides`` (m, n); that of ``larger`` is returned."""
    if len(sides) == 1:
        return (
            f"the derivative from {larger} is returned: the value on the other side is out of bounds, or its run failed"
        )
    if sides[larger].size > 1:
        return f"the derivatives from above and below differ, and those from {larger} are returned (larger norm)"
    above, below = (float(side[0, 0]) for side in sides.values())
    return (
        f"the derivative is {above:.6g} from above and {below:.6g} from below, and that from {larger} is returned"
        " (larger norm)"
    )


def _warn_kink(name: str, message: str) -> None:
    """Warn the user that a run is at a kink with respect to the number ``name``."""
    warnings.warn(
        f"a force law has a kink at the current value of '{name}': {message}. Change '{name}' slightly to avoid it",
        KinkWarning,
        stacklevel=level_of_user(),
    )
