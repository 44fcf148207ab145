"""Checks before the first member: the arguments that all have in common, and the names of their parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from varint.diagnosing import checked_stride
from varint.ensembles import source as sources
from varint.ensembles.figures import RESERVED
from varint.ensembles.parameters import FUNCTIONS, OF_RUNS, TIMES, check_names, parts_of, plain
from varint.errors import ArgumentError
from varint.integrators.schemes import scheme
from varint.model.checks import arguments_of, choice, positive, suggestion, whole_number
from varint.model.start import check_start
from varint.running import MOST_STEPS, checked_times
from varint.simulation import CLOSURES, MAXIMAL, checked_turn


def checked_common(formulation: str, duration: object, dt: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of all runs that are given, as JSON holds them. Raises ArgumentError."""
    known = OF_RUNS[choice(formulation, OF_RUNS, "formulation", ArgumentError)]
    for name in options:
        if name in FUNCTIONS:
            raise ArgumentError(f"{name}= cannot be given for all members: let build give {FUNCTIONS[name]}")
        if name not in known:
            others = [other for other, names in OF_RUNS.items() if name in names]
            where = f": it is of formulation={others[0]!r}" if others else suggestion(name, known)
            raise ArgumentError(f"there is no argument {name!r} here{where}")
    arguments = {"duration": duration, "dt": dt, **options}
    common = {name: plain(value, name) for name, value in arguments.items() if value is not None}
    for name in TIMES:
        if name in common:
            positive(common[name], name, ArgumentError)
    if all(name in common for name in TIMES):
        checked_times(common["duration"], common["dt"])
    every = whole_number(common.get("every", 1), "every", 1, ArgumentError, MOST_STEPS)
    checked_stride(common.get("diagnostics_every"), every)
    if formulation == MAXIMAL:
        checked_turn(common.get("adaptive", False), scheme(common.get("order"), common.get("scheme")))
        choice(common.get("closures", CLOSURES[0]), CLOSURES, "closures", ArgumentError)
    else:
        _check_reduced(common)
    for name in ("tol", "rtol", "atol"):
        if name in common:
            positive(common[name], name, ArgumentError)
    return common


def _check_reduced(common: Mapping[str, Any]) -> None:
    from varint.redmax.integrators import DEFAULT, integrator_named  # slow to import, so only when needed

    integrator_named(common.get("integrator", DEFAULT))


def check_members(
    members: Sequence[Mapping[str, Any]], source: sources.Source, formulation: str, common: Mapping[str, Any]
) -> None:
    """Raise ArgumentError for parameters that belong nowhere, and for times that are missing."""
    for name in dict.fromkeys(name for member in members for name in member):
        if name in RESERVED:
            raise ArgumentError(f"{name!r} is a reserved column name: rename the parameter")
    needed = TIMES if formulation == MAXIMAL else TIMES[:1]
    for name in needed:
        without = next((number for number, member in enumerate(members) if name not in {**common, **member}), None)
        if without is not None:
            raise ArgumentError(f"{name} is missing: give it for all members, or as a parameter of member {without}")
    with sources.opened(source) as build:
        check_names(members, formulation, arguments_of(build), common)
        _check_start_names(members[0], formulation, build)


def _check_start_names(member: Mapping[str, Any], formulation: str, build: Any) -> None:
    """Check that joints and bodies of the start exist, if the first member can be built; else its row has the error."""
    parts = parts_of(member, formulation)
    if not parts.start:
        return
    try:
        mechanism, _ = sources.built(build, parts.build, {})
    except Exception:  # of the function of the user: the row of the member has it
        return
    check_start(mechanism, parts.start, "parameters", ArgumentError)
