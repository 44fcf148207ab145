"""Parameters of members: grids and lists of them, and the owner of each parameter by its name."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from varint.base.checks import is_alone, sequence_of, shown, suggestion
from varint.base.errors import ArgumentError
from varint.model.start_arguments import MOTION_KEYS
from varint.runs.method import method_class, names

MOST_MEMBERS = 10_000_000
DEEPEST = 10  # list in a list in a parameter
TIMES = ("duration", "dt")
OF_RECORDING = ("every", "diagnostics_every")
LOADS = ("force", "torque")
FUNCTIONS = {"prescribed": "a PrescribedMotion", "state": "a start: build may return (Mechanism, State)"}


OF_ENSEMBLE = ("energy_error", "on_unresolved")  # arguments of a method that no member has


class Parts(NamedTuple):
    """Parameters of a member: arguments of ``build``, of ``mechanism.state``, and of the run."""

    build: dict[str, Any]
    start: dict[str, dict[str, Any]]
    run: dict[str, Any]


def members_of(parameters: object) -> list[dict[str, Any]]:
    """Name to value, of each member: the product of the values of a mapping, the last name fastest, or a list.

    Raises ArgumentError.
    """
    if isinstance(parameters, Mapping):
        return _grid(parameters)
    members = sequence_of(
        parameters, "parameters", "mappings, one a member, or a mapping of names to values", ArgumentError
    )
    for number, member in enumerate(members):
        if not isinstance(member, Mapping):
            raise ArgumentError(f"parameters of member {number} must be a mapping by their names, got {shown(member)}")
    if not members:
        raise ArgumentError("parameters has no member: give at least one mapping")
    return [
        {name_of(name): plain(value, f"parameter {name!r} of member {number}") for name, value in member.items()}
        for number, member in enumerate(members)
    ]


def _grid(parameters: Mapping) -> list[dict[str, Any]]:
    values = {}
    for name, choices in parameters.items():
        label = f"values of parameter {name_of(name)!r}"
        listed = (
            (choices,) if is_alone(choices) or choices is None else sequence_of(choices, label, "values", ArgumentError)
        )
        if not len(listed):
            raise ArgumentError(f"{label} are empty: give at least one")
        values[name] = [plain(value, label) for value in listed]
    if math.prod(map(len, values.values())) > MOST_MEMBERS:
        raise ArgumentError(f"the grid has more than {MOST_MEMBERS} members: give fewer values, or random_draws")
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def name_of(name: object) -> str:
    """Return ``name`` if it is a text that is not blank, else raise ArgumentError."""
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(f"the name of a parameter must be a text, got {shown(name)}")
    return name


def plain(value: object, label: str, depth: int = DEEPEST) -> Any:
    """Return ``value`` in types of JSON: numbers, texts, truth values, None, lists and mappings of these.

    Raises ArgumentError, which names it by ``label``.
    """
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "iufbU":
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth and isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(one, label, depth - 1) for key, one in value.items()}
    if depth and isinstance(value, list | tuple):
        return [plain(one, label, depth - 1) for one in value]
    raise ArgumentError(
        f"{label} must be finite numbers, texts, truth values, or lists of these, which a file can hold, got"
        f" {shown(value)}"
    )


def of_runs(formulation: str) -> list[str]:
    """Return the names of arguments of a run, beside its times, that a member or a whole ensemble can set."""
    elsewhere = {*TIMES, *FUNCTIONS, *OF_ENSEMBLE}
    of_method = [name for name in method_class(formulation).arguments() if name not in elsewhere]
    return [*of_method, *OF_RECORDING, *LOADS]


def parts_of(parameters: Mapping[str, Any], formulation: str) -> Parts:
    """Split parameters by owner: ``coordinates.JOINT`` and its like to the start, names of `of_runs` to the run.

    All others belong to the build.
    """
    of_run = {*TIMES, *of_runs(formulation)}
    parts = Parts({}, {}, {})
    for name, value in parameters.items():
        key, dot, of = name.partition(".")
        if dot and key in MOTION_KEYS:
            parts.start.setdefault(key, {})[of] = value
        elif name in of_run:
            parts.run[name] = value
        else:
            parts.build[name] = value
    return parts


def check_names(
    members: Sequence[Mapping[str, Any]], formulation: str, takes: Iterable[str] | None, common: Iterable[str]
) -> None:
    """Raise ArgumentError for a parameter that belongs nowhere, or to two.

    takes : parameters of ``build``, None where it takes any
    common : arguments that are given for all members
    """
    of_run = (*TIMES, *of_runs(formulation))
    others = {name for each in names() for name in of_runs(each)} - set(of_run)
    for name in dict.fromkeys(name for member in members for name in member):
        key, dot, _ = name.partition(".")
        if dot and key in MOTION_KEYS:
            continue
        if name in of_run and takes is not None and name in takes:
            raise ArgumentError(
                f"parameter {name!r} is one of build and an argument of the run as well: rename that of build"
            )
        if name in common:
            raise ArgumentError(f"{name!r} is given for all members and as a parameter: leave one out")
        if name in of_run:
            continue
        if takes is None or name in takes:
            continue
        if name in FUNCTIONS:
            raise ArgumentError(f"parameter {name!r} holds no numbers or texts: let build give {FUNCTIONS[name]}")
        if name in MOTION_KEYS:
            raise ArgumentError(f"parameter {name!r} needs the name of its joint or body, as in '{name}.NAME'")
        where = f": it is of the other formulation, not {formulation!r}" if name in others else ""
        known = [*takes, *of_run, *(f"{key}." for key in MOTION_KEYS)]
        raise ArgumentError(f"there is no parameter {name!r}{where or suggestion(name, known) or _takes(takes)}")


def _takes(takes: Iterable[str]) -> str:
    listed = ", ".join(takes)
    return f": build takes {listed}" if listed else ": build takes none"
