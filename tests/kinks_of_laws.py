"""Kinks and jumps of the laws of forces, and numbers of a force that bring one to where a mechanism stands."""

import dataclasses
from itertools import pairwise

import numpy as np

from varint.base.errors import VarintError
from varint.derivatives.numbers import number_of, numbers_in
from varint.model.forces.base import BodyLoad, Effort
from varint.model.forces.gravity import INVERSE_SQUARE
from varint.model.forces.spring import SPRING
from varint.results.forces import forces_at

VARIABLES = ("value", "rate", "input")
REACH, CELLS = 12.0, 480  # m, rad, m/s ...: how far kinks are looked for, on either side of zero
STEP, LEAST = 1e-6, 1e-6  # of differences by an input; of a function, changes within a cell that may be a jump
STAYS = 0.2  # of the change of a slope over a cell: what is left over a narrow one at a kink
NEAR = 1e-7  # of a parameter: a kink stands there
SETTLED = 1e-13
TRIES = 8
TINY = 1e-6  # of a number's size: less leaves nothing of the force


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a law acts: value and rate of its sum, its input and its internal variable."""

    value: float
    rate: float
    input: float
    state: float


@dataclasses.dataclass(frozen=True)
class Kink:
    """The kink number ``which`` of law ``law`` of a force along a ``variable``, the others held."""

    law: int
    variable: str
    which: int


def places_of(mechanism, k, state):
    """(element, table, Place) of the laws of force k at a state."""
    force, compiled = mechanism.forces[k], mechanism.compiled
    elements = [each for each in force.elements(mechanism) if isinstance(each, Effort | BodyLoad)]
    plan, given = compiled.plan, 0.0
    if np.ndim(getattr(force, "input", None)) == 0 and not callable(getattr(force, "input", callable)):
        given = float(force.input)
    arrays = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
    here = forces_at(mechanism, *(array[None] for array in arrays), np.full((1, len(mechanism.forces)), given))
    found = []
    for element, e in zip(elements, np.flatnonzero(compiled.force == k), strict=bool(elements)):
        if isinstance(element, Effort):
            (f,) = np.flatnonzero(plan.laws.element == e)
            s = int(np.searchsorted(plan.laws.sum_law, f, side="right")) - 1
            table = plan.laws.table[plan.laws.table_first[f] : plan.laws.table_first[f + 1]]
            place = Place(float(here.value[0, s]), float(here.rate[0, s]), given, element.start)
            found.append((element, table, place))
    return found


def outputs(element, table, place):
    """Effort, slopes and flow of the law of an element, (n,)."""
    if element.function is not None:
        return np.array(element.function(place.value, place.rate))
    known = dataclasses.asdict(place) | dict(element.parameters) | {"table": table}
    functions = [each for each in (element.law.effort, element.law.flow) if each is not None]
    return np.concatenate([function(*element.law.call_arguments(function, known)) for function in functions])


def kinks_along(element, table, place, variable):
    """Places of a variable at which a law, or one of its slopes, jumps; rising."""
    limits = sorted(limit.value for limit in element.terms)
    if element.law is SPRING:
        return []
    if limits:
        return limits if variable == "value" else []
    if variable == "input" and "input" not in element.law.arguments:
        return []

    def at(x):
        return outputs(element, table, dataclasses.replace(place, **{variable: x}))

    jumping, narrow = (slope_by(at), 10.0 * STEP) if variable == "input" else (at, 0.0)
    marks = [mark for mark in (0.0, 1.0, place.state, *element.parameters.values()) if np.isfinite(mark)]
    around = getattr(place, variable) + REACH * (np.linspace(-1.0, 1.0, CELLS + 1) + 0.0123)
    grid = np.unique([*around, *(mark + sign * 0.1234 for mark in marks for sign in (-1.0, 1.0))])
    if element.law is INVERSE_SQUARE:
        grid = grid[grid > 0.0]  # the distance of two bodies
    cells, values = pairwise(grid), [jumping(x) for x in grid]
    found = [jump_in(jumping, cell, values[k : k + 2], narrow) for k, cell in enumerate(cells)]
    return [next((mark for mark in marks if abs(x - mark) < NEAR + narrow), x) for x in found if x is not None]


def slope_by(at):
    """Derivative of a function of a number, by differences."""
    return lambda x: (at(x + STEP) - at(x - STEP)) / (2.0 * STEP)


def jump_in(function, cell, values, narrow):
    """Place of a jump of a function within a cell, None where there is none."""
    (low, high), (below, above) = cell, values
    change = np.abs(above - below).max()
    if not change > LEAST * (1.0 + np.abs(above).max()):
        return None
    while high - low > narrow and low < (middle := 0.5 * (low + high)) < high:
        here = function(middle)
        if np.abs(here - below).max() > np.abs(above - here).max():
            high, above = middle, here
        else:
            low, below = middle, here
    return 0.5 * (low + high) if np.abs(above - below).max() > STAYS * change else None


def kinks_of(mechanism, k, state):
    """Kinks of the laws of force k, along each variable through where they stand at a state."""
    for n, of_law in enumerate(places_of(mechanism, k, state)):
        for variable in VARIABLES:
            for which in range(len(kinks_along(*of_law, variable))):
                yield Kink(n, variable, which)


def beyond(mechanism, k, state, kink):
    """By how much the law stands beyond the kink."""
    of_law = places_of(mechanism, k, state)[kink.law]
    return getattr(of_law[-1], kink.variable) - kinks_along(*of_law, kink.variable)[kink.which]


def at_kink(mechanism, k, state, kink):
    """(number, its value) that bring the law to the kink at a state: the first of the force's numbers that can."""
    force = mechanism.forces[k]
    numbers = [number_of(mechanism, f"{force.name}.{name}") for name in numbers_in(force)]
    scalars = [number for number in numbers if not number.value.ndim]
    parts = [each.part(n) for each in numbers if each.value.shape == (3,) for n in range(3)]
    for number in scalars + parts:
        if (x := crossing(number, k, state, kink)) is not None:
            return number, x
    return None


def crossing(number, k, state, kink):
    """The value of a number at which a law is at its kink, None where secants do not lead to it."""

    def gap(x):
        return beyond(number.replaced(np.array(x)), k, state, kink)

    x, other = float(number.value), float(number.value + 1e-2 * number.size)
    try:
        far, near = gap(x), gap(other)
        for _ in range(TRIES):
            if near == far or abs(near) <= SETTLED:
                break
            x, other, far = other, other - near * (other - x) / (near - far), near
            near = gap(other)
    except (VarintError, IndexError):
        return None
    try:
        x = other if abs(other) > TINY * float(number.size) else 0.0
        return x if abs(gap(x)) <= SETTLED else None
    except VarintError:
        return None
