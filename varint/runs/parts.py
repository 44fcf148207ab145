"""The problem, the method and the recording of a call: given as such, or by the keywords of each.

Every function that simulates takes ``(problem, method)`` in place of its mechanism, times and keywords.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from inspect import Parameter, signature
from typing import Any, NamedTuple

from varint.base.errors import ArgumentError
from varint.runs.method import PLACES, Method
from varint.runs.problem import Problem, Recording

BY_NAME = ("adaptive", "prescribed")  # arguments of a method that a study supports only where it has them itself


class CallParts(NamedTuple):
    """A problem, the method that simulates it, and what is kept of the run."""

    problem: Problem
    method: Any
    recording: Recording


def of_class(cls: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``arguments`` that are fields of the dataclass ``cls``."""
    return {field.name: arguments[field.name] for field in fields(cls) if field.name in arguments}


def parts_of(function: Callable, given: Mapping[str, Any], kind: type[Method], **preferred: object) -> CallParts:
    """Return the parts of a call of ``function`` with the arguments ``given``.

    Parameters
    ----------
    function : function
        Its first argument is ``mechanism``.
    given : mapping
        Name to value of each of its arguments: a Problem for ``mechanism``, and a Method and a Recording for any of
        the next two; or the fields of these three, where the method is of a ``kind``.
    preferred
        Arguments of the method where ``given`` has none. They and the defaults of ``function`` also replace those that
        a Method of varint leaves at its default.

    Raises
    ------
    ArgumentError
        A Problem without a method; an argument of one of the parts beside a Problem; what the parts themselves refuse.
    """
    problem = given["mechanism"]
    if not isinstance(problem, Problem):
        if given.get("duration") is None:
            raise ArgumentError(f"{function.__name__} needs duration=, in s")
        values = {**preferred, **given}
        parts: Any = (of(**of_class(of, values)) for of in (Problem, kind, Recording))
        return CallParts(*parts)
    method = next((value for value in given.values() if isinstance(value, Method)), None)
    if method is None:
        raise ArgumentError(f"{function.__name__} needs a method beside a Problem, as varint.Variational(dt=0.01)")
    recording = next((value for value in given.values() if isinstance(value, Recording)), None)
    of_parts = {field.name for part in (Problem, kind, Recording, type(method)) for field in fields(part)}
    others = {name: value for name, value in given.items() if not isinstance(value, Problem | Method | Recording)}
    refuse_beside(function, others, of_parts)
    if isinstance(method, kind):
        defaults = {name: parameter.default for name, parameter in signature(function).parameters.items()}
        preferred = {name: each for name, each in defaults.items() if each not in (None, Parameter.empty)} | preferred
    return CallParts(problem, preferring(method, preferred), recording or Recording())


def refuse_beside(function: Callable, given: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise ArgumentError for an argument among ``names`` that is given beside a Problem, in whose parts it belongs."""
    for name, parameter in signature(function).parameters.items():
        default = None if parameter.default is Parameter.empty else parameter.default
        if name in names and given.get(name, default) is not default:
            raise ArgumentError(
                f"give {name!r} to the Problem, the method or the Recording, not to {function.__name__}()"
            )


def preferring(method: Method, preferred: Mapping[str, Any]) -> Method:
    """The method with ``preferred`` in place of defaults of its arguments; a registered one from outside as it is."""
    if method.formulation not in PLACES:
        return method
    given, values = method.given(), vars(method)
    wanted = of_class(type(method), preferred).items()
    closer = {
        name: value for name, value in wanted if name not in given and value != values[name] and method.takes(name)
    }
    return replace(method, **closer) if closer else method


def posed(
    study: Callable,
    given: Mapping[str, Any],
    kind: type[Method],
    only: bool = False,
    **preferred: object,
) -> tuple[Problem, Any]:
    """Return the problem of a study, and its method with a number for ``dt``.

    Parameters
    ----------
    study, given, kind, preferred
        See `parts_of`.
    only : bool
        Whether the study supports a ``kind`` alone, with the arguments that it has too.

    Raises
    ------
    ArgumentError
        A method, an argument of one, or loads on bodies that the study does not support, and see `parts_of`.
    """
    problem, method, _ = parts_of(study, given, kind, **preferred)
    if any(isinstance(value, Recording) for value in given.values()):
        raise ArgumentError(f"{study.__name__} takes no Recording: it records what it needs")
    if only and not isinstance(method, kind):
        raise ArgumentError(f"{study.__name__} does not support method '{method.title}': use {kind.called}")
    check_support(study, problem, method, method.arguments() if only else BY_NAME, preferred)
    return problem, method.with_step(problem)


def check_support(
    study: Callable,
    problem: Problem,
    method: Method,
    by_name: Collection[str] = BY_NAME,
    besides: Collection[str] = (),
) -> None:
    """Raise ArgumentError for loads on bodies, and arguments of a method, that a study does not support.

    ``by_name``: those that the study has to have itself, except for ``besides``.
    """
    takes = {*signature(study).parameters, *besides}
    for argument in method.given():
        if argument in by_name and argument not in takes:
            raise ArgumentError(f"{study.__name__} does not support {argument!r} of a method: leave it out")
    for load in ("force", "torque"):
        if getattr(problem, load) and load not in takes:
            raise ArgumentError(f"{study.__name__} takes no loads on bodies: use PointForce and PointTorque")
