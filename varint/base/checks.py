"""The one entrance of values from users: names, numbers, arrays, flags, choices, functions.

Each check returns the value in the type that the package works with, arrays read-only, or raises ``error`` with a
sentence that starts with ``label``. Nothing else may escape, whatever the value is.
"""

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from varint.base.display import Shown, names_text
from varint.base.errors import ArgumentError, MechanismError, VarintError

FLOAT = np.dtype(float)
UNIT_TOLERANCE = 1e-4
ROUND_OFF = 4 * np.finfo(float).eps  # of a norm: nearer to one it stays as it is, so that copies have the same bits
LONGEST = 200  # characters of a value in an error
OF_USERS = "raised by "  # start of the note that names the function of a user that raised an error
LARGEST_SEED = 2**64 - 1  # of random numbers
MOST_NUMBERS = 10**9  # of an array
MOST_NESTED = 100  # lists and objects of JSON in one another, in files that a program writes
MOST = 100_000  # parts of a mechanism that a number of them may ask for

Kind = TypeVar("Kind")


def freeze(array: np.ndarray) -> np.ndarray:
    """Return the same array, read-only."""
    array.setflags(write=False)
    return array


class Frozen(Shown):
    """Base of descriptions: their arrays are read-only in copies too, pickled ones included."""

    def __setstate__(self, state: dict[str, object]) -> None:
        for value in state.values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, np.ndarray):
                    freeze(part)
        self.__dict__.update(state)


def shown(value: object) -> str:
    """Return the text of ``value`` for an error, cut short; its type where it has no text."""
    try:
        text = repr(value)
    except Exception:  # of a class of the user's, of a list in itself, of a number with thousands of digits
        return f"something of type {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


# ------------------------------------------------------------------------------------------- numbers and arrays


def array_of(
    value: ArrayLike, shape: tuple[int | None, ...], label: str, error: type[VarintError] = MechanismError
) -> np.ndarray:
    """Return ``value`` as a finite float array of ``shape``, in which None stands for any number.

    Whole numbers and floats of every size will do, and numpy-quaternions for shapes (..., 4). Truth values, texts,
    complex numbers, dates, objects and masked arrays will not, nor will whole numbers that no float can hold.
    """
    usual = type(value) is np.ndarray and value.dtype is FLOAT and value.shape == shape  # where squares are finite too
    if usual and math.isfinite(np.vdot(value, value)):  # type: ignore[arg-type]
        return freeze(np.array(value))
    return in_a_shape(value, (shape,), label, error)


def in_a_shape(
    value: ArrayLike,
    shapes: tuple[tuple[int | None, ...], ...],
    label: str,
    error: type[VarintError] = MechanismError,
    wanted: str = "",
) -> np.ndarray:
    """Return ``value`` as `array_of` does, in any of several shapes; ``wanted``: these in words, for the error."""
    try:
        raw = np.asarray(value)
        if raw.dtype.kind == "V" and any(shape[-1:] == (4,) for shape in shapes):
            raw = quaternion_components(raw)
        real = raw.dtype.kind in "iuf" and not _holds_a_truth_value(value) and not np.ma.is_masked(value)
    except Exception as problem:  # whatever the value raises when it is asked for its numbers
        raise error(f"{label} must be {wanted or _words(shapes)}, got {shown(value)}") from problem
    if not real:
        raise error(f"{label} must be {wanted or _words(shapes)}, got {shown(value)}")
    if raw.shape not in shapes and not any(_fits(raw.shape, shape) for shape in shapes):
        raise error(f"{label} must be {wanted or _words(shapes)}, got shape {raw.shape}")
    if raw.size > MOST_NUMBERS:
        raise error(f"{label} must be at most {MOST_NUMBERS:.0e} numbers, got shape {raw.shape}")
    if raw.dtype.itemsize > 8:  # of more digits than a float has, and larger numbers
        with np.errstate(over="ignore"):
            raw = raw.astype(float)
    try:
        array = np.array(raw, dtype=float)
    except MemoryError:
        raise error(f"{label} takes more memory than there is, got shape {raw.shape}") from None
    if not np.isfinite(array).all():
        raise error(f"{label} must be finite, got {array[~np.isfinite(array)][0]:g}")
    return freeze(array)


def is_nested_deep(data: object, most: int = MOST_NESTED) -> bool:
    """Return whether data of JSON have more than ``most`` lists and objects in one another."""
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return most < 0 or any(is_nested_deep(value, most - 1) for value in inside if isinstance(value, dict | list))


def quaternion_components(array: np.ndarray) -> np.ndarray:
    """Return floats (..., 4), scalar first, of an array of numpy-quaternions; any other array as it is."""
    if array.dtype.kind != "V" or array.dtype.name != "quaternion":  # names are slow to make
        return array
    import quaternion  # slow to import, but imported already where such an array exists

    return quaternion.as_float_array(array)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(n in (None, m) for n, m in zip(wanted, shape, strict=True))


def finite(value: ArrayLike, label: str, error: type[VarintError] = MechanismError) -> float:
    """Return ``value`` as a finite float."""
    if type(value) is float and math.isfinite(value):
        return value
    return float(array_of(value, (), label, error))


def positive(value: ArrayLike, label: str, error: type[VarintError] = MechanismError) -> float:
    """Return ``value`` as a finite float above zero."""
    number = finite(value, label, error)
    if number <= 0.0:
        raise error(f"{label} must be positive, got {number:g}")
    return number


def not_negative(value: ArrayLike, label: str, error: type[VarintError] = MechanismError) -> float:
    """Return ``value`` as a finite float that is zero or above."""
    number = finite(value, label, error)
    if number < 0.0:
        raise error(f"{label} must be zero or positive, got {number:g}")
    return number


def is_alone(value: object) -> bool:
    """Return whether ``value`` is one number or text, and no row of them."""
    return np.isscalar(value) or (isinstance(value, np.ndarray) and value.ndim == 0)


def is_whole(value: object) -> bool:
    """Return whether ``value`` is a whole number by its type, unlike 2.0 and True."""
    if isinstance(value, np.ndarray | np.generic):
        return value.shape == () and value.dtype.kind in "iu"  # spans of time are integers to numpy
    return isinstance(value, int) and not isinstance(value, bool)


def whole_number(
    value: object,
    label: str,
    least: int | None = None,
    error: type[VarintError] = MechanismError,
    most: int | None = None,
) -> int:
    """Return ``value`` as a whole number from ``least`` to ``most``, where these are not None."""
    reach = "" if least is None else f" from {least}"
    if not is_whole(value) or (least is not None and int(value) < least):  # type: ignore[call-overload]
        raise error(f"{label} must be a whole number{reach}, got {shown(value)}")
    number = int(value)  # type: ignore[call-overload]
    if most is not None and number > most:
        raise error(f"{label} must be a whole number{reach} up to {most}, got {shown(number)}")
    return number


def flag(value: object, label: str, error: type[VarintError] = MechanismError) -> bool:
    """Return ``value``, which must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise error(f"{label} must be True or False, got {shown(value)}")
    return bool(value)


def _holds_a_truth_value(value: object) -> bool:
    """Return whether one stands among numbers, where numpy takes it for 0 or 1."""
    if type(value) in (float, int):
        return False
    if isinstance(value, list | tuple):
        return any(map(_holds_a_truth_value, value))
    return isinstance(value, bool) or (isinstance(value, np.generic | np.ndarray) and value.dtype.kind == "b")


def unit_quaternion(value: ArrayLike, label: str, error: type[VarintError] = MechanismError) -> np.ndarray:
    """Return ``value`` (w, x, y, z), of norm one to 1e-4, normalised; one to round-off keeps its bits."""
    quat = array_of(value, (4,), label, error)
    if _is_near_one(quat):
        return quat
    scaled, exponent = _scaled(quat)
    norm = float(np.linalg.norm(scaled)) * 2.0**exponent if -1 <= exponent <= 1 else math.hypot(*quat)
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise error(f"{label} must have norm 1, got norm {norm:.9g}: divide it by its norm")
    return quat if abs(norm - 1.0) <= ROUND_OFF else freeze(quat / norm)


def unit_axis(value: ArrayLike, label: str, error: type[VarintError] = MechanismError) -> np.ndarray:
    """Return ``value`` (3,), not zero, normalised."""
    axis = array_of(value, (3,), label, error)
    if _is_near_one(axis):
        return axis
    if not axis.any():
        raise error(f"{label} must not be zero")
    scaled, exponent = _scaled(axis)
    norm = np.linalg.norm(scaled)
    if -1 <= exponent <= 1 and abs(norm * 2.0**exponent - 1.0) <= ROUND_OFF:
        return axis
    return freeze(scaled / norm)


def _is_near_one(vector: np.ndarray) -> bool:
    """Return whether the norm of a vector is one to round-off beyond doubt."""
    return abs(sum(x * x for x in vector.tolist()) - 1.0) <= ROUND_OFF


def _scaled(vector: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the vector times a power of two, with entries up to one, and the exponent that takes it back: exact."""
    exponent = int(np.frexp(np.abs(vector).max())[1])
    return np.ldexp(vector, -exponent), exponent


# ------------------------------------------------------------------------------------------------ names, choices


def check_name(name: object, label: str, error: type[VarintError] = MechanismError) -> str:
    """Return ``name``, which must be a text that is not blank."""
    if not isinstance(name, str) or not name.strip():
        raise error(f"{label} needs a name, got {shown(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise error(f"{label} needs a name that can be written, got {shown(name)}") from None
    return name


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ``", did you mean 'x'?"`` where a known name is close, else an empty text."""
    return f", did you mean '{close}'?" if (close := _nearest(name, known)) else ""


def _nearest(name: str, known: Iterable[str]) -> str | None:
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name[:LONGEST].casefold(), folded, n=1)
    return folded[close[0]] if close else None


def known_name(name: object, known: Iterable[str], label: str, error: type[VarintError] = MechanismError) -> str:
    """Return ``name``, one of the ``known``; else raise ``error`` with the nearest or all of them.

    ``label``: "no body", for the message.
    """
    if not isinstance(name, str):
        raise error(f"{label} {shown(name)}: a name is a text")
    known = known if isinstance(known, Collection) else list(known)
    if name not in known:
        listed = f": there {'is' if len(known) == 1 else 'are'} {names_text(known)}" if known else ""
        raise error(f"{label} {shown(name)}{suggestion(name, known) or listed}")
    return name


class UnknownKey(MechanismError):
    """A ``key`` that is not among the known ones; ``meant``: the nearest of these, if any is near."""

    def __init__(self, message: str, key: object, meant: str | None) -> None:
        super().__init__(message)
        self.key, self.meant = key, meant


def check_keys(keys: Iterable[object], known: Iterable[str], label: str) -> None:
    """Raise UnknownKey where a key is not among the ``known``, with the nearest of them, or with all."""
    known = list(known)
    for key in keys:
        if key not in known:
            close = _nearest(key, known) if isinstance(key, str) else None
            hint = f"did you mean '{close}'?" if close else f"known are {', '.join(known)}"
            raise UnknownKey(f"{label}: unknown key {shown(key)}; {hint}", key, close)


class WrongArguments(ArgumentError, TypeError):
    """The arguments of a call do not fit its function; also the TypeError that Python raises for them."""


def checked_call(cls: type[Kind]) -> type[Kind]:
    """Make a call of ``cls`` with unknown, missing or too many arguments raise WrongArguments; a class decorator.

    The message names them, and the arguments that the class takes.
    """
    init = cls.__init__
    parameters = [each for each in signature(init).parameters.values() if each.kind is not Parameter.VAR_KEYWORD][1:]
    names = [each.name for each in parameters]
    by_place = [each.name for each in parameters if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    needed = [each.name for each in parameters if each.default is Parameter.empty]

    @wraps(init)
    def checked(self: Any, *args: Any, **named: Any) -> None:
        label = type(self).__name__
        if len(args) > len(by_place):
            listed = ", ".join(by_place) or "none"
            raise WrongArguments(f"{label} takes without their names only {listed}, got {len(args)} values")
        for name in named:
            if name not in names:
                hint = suggestion(name, names) or f": it takes {', '.join(names)}"
                raise WrongArguments(f"{label} has no argument '{name}'{hint}")
        if missing := [name for name in needed if name not in by_place[: len(args)] and name not in named]:
            raise WrongArguments(f"{label} needs {', '.join(f'{name}=' for name in missing)}")
        init(self, *args, **named)

    cls.__init__ = checked  # type: ignore[method-assign]
    return cls


def choice(value: object, known: Iterable[Kind], label: str, error: type[VarintError] = MechanismError) -> Kind:
    """Return ``value``, which must be one of the ``known`` texts or whole numbers."""
    known = list(known)
    for one in known:
        alike = isinstance(value, str) if isinstance(one, str) else is_whole(value)
        if alike and value == one:
            return one
    words = [one for one in known if isinstance(one, str)]
    hint = suggestion(value, words) if isinstance(value, str) else ""
    raise error(f"{label} must be one of {', '.join(map(str, known))}, got {shown(value)}{hint}")


def of_type(value: object, kind: type[Kind] | tuple[type[Kind], ...], label: str, error: type[VarintError]) -> Kind:
    """Return ``value``, which must be a ``kind``, else raise ``error``.

    If ``value`` is a text, the message says how to make a ``kind`` of a text.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kinds):
        words = " or a ".join(getattr(each, "_name_in_messages", each.__name__) for each in kinds)
        how = getattr(kinds[0], "_from_text", "") if isinstance(value, str) else ""
        raise error(f"{label} must be a {words}, got {shown(value)}{how}")
    return value


def sequence_of(value: object, label: str, of: str, error: type[VarintError] = MechanismError) -> tuple:
    """Return the parts of ``value``, a tuple; ``of``: their name in words, for the error.

    Texts, dictionaries and sets are not sequences.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | set | frozenset):
        try:
            return tuple(value)
        except Exception as problem:  # whatever the value raises when it is asked for its parts
            raise error(f"{label} must be a list of {of}, got {shown(value)}") from problem
    raise error(f"{label} must be a list of {of}, got {shown(value)}")


def by_name(
    values: object, known: Iterable[str], label: str, of: str, error: type[VarintError] = MechanismError
) -> dict[str, Any]:
    """Return the items of ``values``, a mapping by names among the ``known``, or None: no items.

    ``of``: "body", the kind of thing that the names belong to, for the error.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise error(f"{label} must be a dict of {of} name to values, got {shown(values)}")
    return {known_name(name, known, f"{label}: no {of}", error): value for name, value in values.items()}


# ------------------------------------------------------------------------------------------------- descriptions


def check_plain_fields(item: Any, label: str) -> None:
    """Check names, whole numbers and flags of a description, by their annotations."""
    cls: Any = type(item)
    for name, check in _plain_fields(cls):
        object.__setattr__(item, name, check(getattr(item, name), f"{name} of {label}"))


@cache
def _plain_fields(cls: type) -> list[tuple[str, Callable]]:
    checks: dict[Any, Callable] = {str: check_name, int: whole_number, bool: flag}
    return [(field.name, checks[field.type]) for field in fields(cls) if field.name != "name" and field.type in checks]


def kind_of(mapping: Mapping[str, Any], kinds: Mapping[str, type[Kind]], label: str, one: str) -> type[Kind]:
    """Return the class that "type" of a mapping names, of which the other keys are fields.

    ``one``: "joint", the kind of thing described. Raises MechanismError where a key is unknown, or the class.
    """
    candidates = list(kinds.values())
    if "type" in mapping:
        candidates = [kinds[known_name(mapping["type"], kinds, f"{label}: no {one} type")]]
    known = [field.name for kind in candidates for field in fields(kind) if field.init]  # type: ignore[arg-type]
    check_keys(mapping, ("type", *dict.fromkeys(known)), label)
    if "type" not in mapping:
        raise MechanismError(f"{label}: 'type' missing")
    return candidates[0]


def made(cls: type[Kind], values: Mapping[str, Any], label: str) -> Kind:
    """Return a description from a mapping of its fields by name; MechanismError where one is unknown, or left out."""
    known = {field.name: field for field in fields(cls) if field.init}  # type: ignore[arg-type]
    check_keys(values, known, label)
    needed = [name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING]
    left_out = [name for name in needed if name not in values]
    if left_out:
        raise MechanismError(f"{label}: {', '.join(map(repr, left_out))} missing")
    return cls(**values)


def as_annotated(value: Any, parameter: Parameter, label: str) -> Any:
    """Return ``value`` as the annotation of a function's parameter says, or the shape of its default.

    The default itself is right. Whole numbers are sizes: not above `MOST`.
    """
    kind, default = parameter.annotation, parameter.default
    if value is default:
        return value
    if kind is bool:
        return flag(value, label)
    if kind is int:
        return whole_number(value, label, most=MOST)
    if (check := _check_in(kind)) is not None:
        return check(value, label)
    if kind in (float, float | None):
        return finite(value, label)
    if kind is str:
        return check_name(value, label)
    if isinstance(default, tuple):
        return array_of(value, np.shape(default), label)
    return value


def _check_in(kind: Any) -> Callable[[Any, str], float] | None:
    """Return the check in ``Annotated[float, check]``, or in that or None; None for other annotations."""
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Annotated:
            return part.__metadata__[0]
    return None


# ------------------------------------------------------------------------------------------- functions and paths


def function_of(value: object, label: str, error: type[VarintError] = MechanismError) -> Callable:
    """Return ``value``, which must be callable."""
    if not callable(value):
        raise error(f"{label} must be a function, got {shown(value)}")
    return value


def arguments_of(function: Callable) -> list[str] | None:
    """Return the names of a function's parameters; None if it takes any, or has no signature."""
    try:
        parameters = signature(function).parameters
    except (ValueError, TypeError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    alone = Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL
    return [name for name, parameter in parameters.items() if parameter.kind not in alone]


def call(function: Callable, whose: str | Callable[[], str], *arguments: Any) -> Any:
    """Return the result of a user's function; its errors propagate unchanged, with a note that names the function.

    ``whose``: the note, a text, or a function that makes it when it is needed.
    """
    try:
        return function(*arguments)
    except Exception as problem:
        problem.add_note(f"{OF_USERS}{whose() if callable(whose) else whose}")
        raise


def _words(shapes: Iterable[tuple[int | None, ...]]) -> str:
    words = []
    for shape in shapes:
        sizes = ", ".join("n" if size is None else str(size) for size in shape)
        words.append(f"an array of numbers of shape ({sizes}{',' * (len(shape) == 1)})" if shape else "a number")
    return " or ".join(words)
