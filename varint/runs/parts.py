"""The problem, the method and the recording of a call: given as such, or by the keywords of each.

Every function that simulates takes ``(problem, method)`` in place of its mechanism, times and keywords. Its signature
names each keyword; `with_arguments` collects them, and `parts_of` splits them by the fields of the three parts.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from varint.base.checks import WrongArguments
from varint.base.errors import ArgumentError
from varint.runs.method import PLACES, Method, refuse_unknown
from varint.runs.problem import Problem, Recording

BY_NAME = ("adaptive", "prescribed")  # arguments of a method that a study supports only where it has them itself
OF_METHODS = ("formulation", "method")  # names that `ensemble`, or the command, has for a method
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class Arguments(NamedTuple):
    """Arguments of a call of a ``function`` or class: name to value, with defaults for the arguments left out."""

    function: Callable
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @property
    def defaults(self) -> dict[str, Any]:
        """Name of each parameter to its default, None for a parameter without one."""
        parameters = signature(self.function).parameters.items()
        return {name: None if each.default is Parameter.empty else each.default for name, each in parameters}

    def replaced(self, **others: Any) -> "Arguments":
        """Return the arguments with ``others`` in place of these, or beside them."""
        return self._replace(values={**self.values, **others})


class CallParts(NamedTuple):
    """A problem, the method that simulates it, and the recording of the run."""

    problem: Problem
    method: Any
    recording: Recording


def bound_arguments(function: Callable, *by_place: Any, **by_name: Any) -> Arguments:
    """Bind the arguments of a call to the signature of ``function``.

    Raises ArgumentError for an unknown name, TypeError for missing or too many arguments.
    """
    accepted = signature(function)
    for name in by_name:
        if name in OF_METHODS and name not in accepted.parameters:
            raise WrongArguments(
                f"there is no argument {name!r} here: {function.__name__}(varint.Problem(mechanism, duration), method)"
                " takes the method as an object, as varint.Reduced(dt=0.01) or one of a class of yours;"
                " formulation= belongs to varint.ensemble"
            )
    refuse_unknown((name for name in by_name if name not in accepted.parameters), accepted.parameters)
    try:
        bound = accepted.bind(*by_place, **by_name)
    except TypeError as problem:
        raise TypeError(f"{function.__name__}() {problem}") from None
    bound.apply_defaults()
    return Arguments(function, bound.arguments)


def with_arguments(function: Callable[Concatenate[Arguments, Parameters], Returned]) -> Callable[Parameters, Returned]:
    """Pass a function its `Arguments` as the first argument, which its signature does not show. A decorator."""

    @wraps(function)
    def called(*by_place: Parameters.args, **by_name: Parameters.kwargs) -> Returned:
        return function(bound_arguments(called, *by_place, **by_name), *by_place, **by_name)

    shown = signature(function)
    first, *others = shown.parameters.values()
    called.__dict__["__signature__"] = shown.replace(parameters=others)
    del called.__annotations__[first.name]
    return called


def of_class(cls: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``arguments`` that are fields of the dataclass ``cls``."""
    return {field.name: arguments[field.name] for field in fields(cls) if field.name in arguments}


def parts_of(arguments: Arguments, kind: type[Method], **preferred: object) -> CallParts:
    """Return the parts by the ``arguments`` of a function whose first one is ``mechanism``.

    Parameters
    ----------
    arguments : Arguments
        A Problem for ``mechanism``, and a Method and a Recording for any of the next two; or the fields of these three,
        where the method is of a ``kind``.
    preferred
        Arguments of the method that the function does not have. They and the defaults of the function also replace
        the ones that a Method of varint leaves at its default.

    Raises
    ------
    ArgumentError
        A Problem without a method, or a method without one; an argument of one of the parts beside a Problem;
        arguments that a part refuses.
    """
    values_by_name = arguments.values
    problem = values_by_name["mechanism"]
    if not isinstance(problem, Problem):
        for name in ("duration", "dt"):
            if isinstance(values_by_name.get(name), Method | Recording):
                of_problem = "Problem(mechanism, duration, state)"
                raise ArgumentError(
                    f"{name} is a {type(values_by_name[name]).__name__}, which {arguments.name} takes beside a Problem:"
                    f" {arguments.name}(varint.{of_problem}, method, recording)"
                )
        if values_by_name.get("duration") is None:
            raise ArgumentError(f"{arguments.name} needs duration=, in s")
        values = {**preferred, **values_by_name}
        parts: Any = (of(**of_class(of, values)) for of in (Problem, kind, Recording))
        return CallParts(*parts)
    whole = {name: value for name, value in values_by_name.items() if isinstance(value, Problem | Method | Recording)}
    method = next((value for value in whole.values() if isinstance(value, Method)), None)
    if method is None:
        raise ArgumentError(f"{arguments.name} needs a method beside a Problem, as varint.Variational(dt=0.01)")
    recording = next((value for value in whole.values() if isinstance(value, Recording)), None)
    of_parts = {field.name for part in (Problem, kind, Recording, type(method)) for field in fields(part)}
    refuse_beside(arguments, of_parts - whole.keys())
    if isinstance(method, kind):
        preferred = {name: each for name, each in arguments.defaults.items() if each is not None} | preferred
    return CallParts(problem, preferring(method, preferred), recording or Recording())


def refuse_beside(arguments: Arguments, names: Collection[str]) -> None:
    """Raise ArgumentError for an argument among ``names`` that is given beside a Problem, in whose parts it belongs."""
    for name, default in arguments.defaults.items():
        if name in names and arguments.values[name] is not default:
            raise ArgumentError(f"give {name!r} to the Problem, the method or the Recording, not to {arguments.name}()")


def preferring(method: Method, preferred: Mapping[str, Any]) -> Method:
    """Return the method with ``preferred`` in place of defaults; one registered from outside as it is."""
    if method.formulation not in PLACES:
        return method
    chosen, values = method.given(), vars(method)
    wanted = of_class(type(method), preferred).items()
    closer = {
        name: value for name, value in wanted if name not in chosen and value != values[name] and method.takes(name)
    }
    return replace(method, **closer) if closer else method


def posed(arguments: Arguments, kind: type[Method], only: bool = False, **preferred: object) -> tuple[Problem, Any]:
    """Return the problem of a study, and its method with a number for ``dt``.

    Parameters
    ----------
    arguments, kind, preferred
        See `parts_of`.
    only : bool
        Whether the study supports a ``kind`` alone, with the arguments that it has too.

    Raises
    ------
    ArgumentError
        A method, an argument of one, or loads on bodies that the study does not support, and see `parts_of`.
    """
    problem, method, _ = parts_of(arguments, kind, **preferred)
    if any(isinstance(value, Recording) for value in arguments.values.values()):
        raise ArgumentError(f"{arguments.name} takes no Recording: it records what it needs")
    if only and not isinstance(method, kind):
        raise ArgumentError(f"{arguments.name} does not support method '{method.title}': use {kind.called}")
    check_support(arguments, problem, method, method.arguments() if only else BY_NAME, preferred)
    return problem, method.with_step(problem)


def check_support(
    arguments: Arguments,
    problem: Problem,
    method: Method,
    by_name: Collection[str] = BY_NAME,
    besides: Collection[str] = (),
) -> None:
    """Raise ArgumentError for loads on bodies, and arguments of a method, that a study does not support.

    ``by_name``: arguments that the study must have itself, except for ``besides``.
    """
    takes = {*arguments.defaults, *besides}
    for argument in method.given():
        if argument in by_name and argument not in takes:
            raise ArgumentError(f"{arguments.name} does not support {argument!r} of a method: leave it out")
    for load in ("force", "torque"):
        if getattr(problem, load) and load not in takes:
            raise ArgumentError(f"{arguments.name} takes no loads on bodies: use PointForce and PointTorque")
