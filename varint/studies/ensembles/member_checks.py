"""Checks before the first member: the arguments that all have in common, and the names of their parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from varint.base.checks import arguments_of, choice, positive, suggestion
from varint.base.errors import ArgumentError
from varint.model.start_arguments import check_start
from varint.runs.method import Method, method_class, names
from varint.runs.problem import Recording, checked_times
from varint.studies.ensembles import source as sources
from varint.studies.ensembles.figures import RESERVED
from varint.studies.ensembles.member_parameters import (
    FUNCTIONS,
    OF_ENSEMBLE,
    OF_RECORDING,
    TIMES,
    check_names,
    of_runs,
    parts_of,
    plain,
)

ON_UNRESOLVED = ("warn", "raise", "ignore")
SOME_STEP = 1.0  # s, for checks of a method whose members have steps of their own


def checked_common(formulation: str, duration: object, dt: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of all runs that are given, as JSON holds them. Raises ArgumentError."""
    kind = method_class(choice(formulation, names(), "formulation", ArgumentError))
    known = of_runs(formulation)
    for name in options:
        if name in FUNCTIONS:
            raise ArgumentError(f"{name}= cannot be given here: let build give {FUNCTIONS[name]}")
        if name not in known:
            others = [other for other in names() if name in of_runs(other)]
            where = f": it is of formulation={others[0]!r}" if others else suggestion(name, known)
            raise ArgumentError(f"there is no argument {name!r} here{where}")
    arguments = {"duration": duration, "dt": dt, **options}
    common = {name: plain(value, name) for name, value in arguments.items() if value is not None}
    for name in TIMES:
        if name in common:
            positive(common[name], name, ArgumentError)
    if all(name in common for name in TIMES):
        checked_times(common["duration"], common["dt"])
    Recording(**{name: common[name] for name in OF_RECORDING if name in common})
    of_method = {name: value for name, value in common.items() if name in kind.arguments()}
    kind(**{"dt": SOME_STEP, **of_method})
    return common


def parts_of_method(
    method: Method, formulation: str, on_unresolved: str, options: Mapping[str, Any], caller: str = "ensemble"
) -> tuple[str, str, Any, dict[str, Any]]:
    """Return formulation, ``on_unresolved``, ``dt`` and options of a call with runs by ``method``.

    ``caller``: name of the called function, for messages.

    Raises ArgumentError for an argument that is given beside the method, and for one that no member has.
    """
    if formulation not in (names()[0], method.formulation):
        raise ArgumentError(f"formulation={formulation!r} is not that of the method: leave it out")
    for name in options:
        if name in method.arguments():
            raise ArgumentError(f"give {name!r} to the method, not to {caller}()")
    arguments = method.given()
    on_unresolved = arguments.pop("on_unresolved", on_unresolved)
    for name in arguments:
        if name in (*FUNCTIONS, *OF_ENSEMBLE):
            raise ArgumentError(f"{caller} does not support {name!r} of a method: leave it out")
    return method.formulation, on_unresolved, arguments.pop("dt", None), {**arguments, **options}


def check_members(
    members: Sequence[Mapping[str, Any]], source: sources.Source, formulation: str, common: Mapping[str, Any]
) -> None:
    """Raise ArgumentError for parameters that belong nowhere, and for times that are missing."""
    for name in dict.fromkeys(name for member in members for name in member):
        if name in RESERVED:
            raise ArgumentError(f"{name!r} is a reserved column name: rename the parameter")
    needed = TIMES if method_class(formulation).needs_step() else TIMES[:1]
    for name in needed:
        without = next((number for number, member in enumerate(members) if name not in {**common, **member}), None)
        if without is not None:
            raise ArgumentError(f"{name} is missing: give it for all members, or as a parameter of member {without}")
    with sources.opened(source) as build:
        check_names(members, formulation, arguments_of(build), common)
        check_start_names(members[0], formulation, build)


def check_start_names(parameters: Mapping[str, Any], formulation: str, build: Any) -> None:
    """Check that joints and bodies of the start exist, if these parameters build; else their run has the error."""
    parts = parts_of(parameters, formulation)
    if not parts.start:
        return
    try:
        mechanism, _ = sources.built(build, parts.build, {})
    except Exception:  # of the function of the user: the row of the member has it
        return
    check_start(mechanism, parts.start, "parameters", ArgumentError)
