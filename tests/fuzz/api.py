"""Calls of the public functions and classes with arguments that are wrong, one or two at a time, the others right.

The calls are those of `_calls.py`. A wrong argument takes the place of a right one, or of something inside it. The call
may answer, or raise one of varint's errors. It must not answer where a parameter is a number, a name or an array, and
what it is given is of no such kind (`NO_NUMBER`, `NO_NAME`, `NO_ARRAY`).
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fuzz._calls import calls
from fuzz._wrong import NO_ARRAY, NO_NAME, NO_NUMBER, WRONG
from fuzz.kinds import Kind, register

PAIRS = 0.3  # part of the cases with two wrong arguments
INSIDE = 0.3  # part of those in a list or dictionary where something inside it is wrong
PLACES = ("output", "path")  # parameters that are paths
LONG_RUNS = {("duration", "10**9"), ("period", "10**9")}  # what takes long because it was asked for
ALLOWED = {("trace", "[]"), ("trace", "()"), ("show", "a class")}  # a list of no points; what can be called


class Case(NamedTuple):
    """Of a call: parameter to (name of what is wrong, where inside the argument, or None)."""

    call: str
    wrong: dict[str, tuple[str, int | None]]


@cache
def table() -> list[tuple[str, str, str]]:
    """Every parameter of every call with everything that is wrong."""
    places = [(name, parameter) for name, call in calls().items() for parameter in call.right]
    return [(*place, wrong) for place in places for wrong in WRONG if (place[1], wrong) not in LONG_RUNS]


@cache
def _order(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(len(table()))


def put_inside(argument: Any, wrong: Any, place: int) -> Any:
    """The list or dictionary with something wrong in the place of a key, of a value or of an element."""
    if isinstance(argument, Mapping) and argument:
        pairs, k = list(argument.items()), place // 2 % len(argument)
        pairs[k] = (
            (pairs[k][0], wrong)
            if place % 2 or wrong.__hash__ is None or isinstance(wrong, tuple)
            else (wrong, pairs[k][1])
        )
        return dict(pairs)
    if isinstance(argument, list | tuple) and argument:
        found = list(argument)
        found[place % len(found)] = wrong
        return type(argument)(found)
    return wrong


def must_be_refused(right: Any, wrong: str, parameter: str) -> bool:
    """Whether no call may answer that is given this in place of an argument that is right."""
    if isinstance(right, bool) or parameter in PLACES or parameter == "present" or (parameter, wrong) in ALLOWED:
        return False
    if isinstance(right, int | float):
        return wrong in NO_NUMBER
    if isinstance(right, str):
        return wrong in NO_NAME
    arrays = isinstance(right, np.ndarray) or (
        isinstance(right, tuple) and bool(right) and all(isinstance(x, int | float) for x in right)
    )
    return arrays and wrong in NO_ARRAY


def default_of(function: Callable, parameter: str) -> Any:
    """That of a parameter, itself where it has none."""
    known = inspect.signature(function).parameters
    return known[parameter].default if parameter in known else parameter


@register
class Api(Kind):
    """Calls with wrong arguments."""

    name, count, few = "api", 30_000, 300
    longest = 20.0  # some calls compile

    def prepare(self) -> None:
        """Compiles what the calls need: right arguments, once."""
        for name in calls():
            self.check(Case(name, {}), Path())

    def case(self, rng: np.random.Generator, number: int, seed: int) -> Case:
        if rng.random() >= PAIRS:
            name, parameter, wrong = table()[_order(seed)[number % len(table())]]
            return Case(name, {parameter: (wrong, self._place(rng))})
        name = str(rng.choice(list(calls())))
        parameters = list(calls()[name].right)
        chosen = rng.choice(parameters, min(2, len(parameters)), replace=False)
        wrong = {str(p): (str(rng.choice(list(WRONG))), self._place(rng)) for p in chosen}
        return Case(name, {p: given for p, given in wrong.items() if (p, given[0]) not in LONG_RUNS})

    def _place(self, rng: np.random.Generator) -> int | None:
        place = int(rng.integers(100))
        return place if rng.random() < INSIDE else None

    def check(self, case: Case, folder: Path) -> str | None:
        call = calls()[case.call]
        arguments = {name: make() for name, make in call.right.items()}
        refused = []
        for name, (wrong, place) in case.wrong.items():
            right, value = arguments[name], WRONG[wrong]()
            inside = place is not None and isinstance(right, Mapping | list | tuple) and bool(right)
            arguments[name] = put_inside(right, value, place) if inside else value
            optional = wrong == "None" and default_of(call.function, name) is None
            if not inside and not optional and must_be_refused(right, wrong, name):
                refused.append(name)
        if any(name.endswith(("[]", " in", "module")) for name in [case.call]):
            answer = call.function(*arguments.values())
        else:
            answer = call.function(**arguments)
        call.then(answer)
        return f"{case.call} takes {case.wrong[refused[0]][0]} as {refused[0]}" if refused else None

    def describe(self, case: Case) -> str:
        given = (
            f"{name} = {wrong}{'' if k is None else f', inside at {k}'}" for name, (wrong, k) in case.wrong.items()
        )
        return f"{case.call}: {'; '.join(given)}"
