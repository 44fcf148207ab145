"""Source of the mechanisms of an ensemble: a function, a name of the catalogue, or a file."""

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from varint import mechanisms
from varint.base.checks import OF_USERS, of_type, shown, suggestion
from varint.base.errors import ArgumentError, FileError, VarintError
from varint.base.paths import path_of
from varint.files.formats import FORMATS
from varint.files.own.mechanism_file import import_options, load_mechanism
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.studies.ensembles.shared_plan import agree, share_plan


class Source(NamedTuple):
    """``build``: a function of the parameters, a name of the catalogue, or the path of a file; ``label`` in records."""

    build: Callable | str | Path
    label: str


def source_of(build: object) -> Source:
    """Return the source that a user names. Raises ArgumentError, FileError."""
    if callable(build):
        return Source(build, label_of(build))
    if isinstance(build, Mechanism):
        raise ArgumentError("build must be a function that returns a Mechanism, not one: lambda: mechanism will do")
    if isinstance(build, str) and build in mechanisms.ALL:
        return Source(build, build)
    path = Path(path_of(build, "build, where it is no function,"))
    if path.suffix in FORMATS:
        if not path.is_file():
            raise FileError(f"cannot read '{path}': no such file")
        return Source(path.resolve(), str(path))
    near = suggestion(str(build), mechanisms.ALL)
    raise ArgumentError(
        f"build must be a function, a mechanism of the catalogue, or a file that ends in {' or '.join(FORMATS)},"
        f" got {shown(build)}{near}"
    )


def label_of(function: Callable) -> str:
    """Return module and name of a function."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{getattr(function, '__module__', '')}.{name}"


class Builder:
    """Calls ``build`` for one member after another; see `share_plan`.

    A mechanism of the catalogue is that of the member before where its arguments agree.
    """

    def __init__(self, build: Callable) -> None:
        self.build = build
        self.of_catalogue = any(build is vars(mechanisms).get(name) for name in mechanisms.ALL)
        self.before: Mechanism | None = None
        self.arguments: dict[str, Any] = {}

    def __call__(self, **arguments: Any) -> Any:
        if self.of_catalogue and self.before is not None and agree(arguments, self.arguments):
            return self.before
        built = self.build(**arguments)
        mechanism = built[0] if isinstance(built, tuple) and built else built
        if isinstance(mechanism, Mechanism):
            share_plan(mechanism, self.before)
            self.before, self.arguments = mechanism, arguments
        return built


@contextmanager
def opened(source: Source) -> Iterator[Callable]:
    """Return the function that builds, while this is open; see `Format.opened`."""
    if isinstance(source.build, str):
        yield getattr(mechanisms, source.build)
    elif isinstance(source.build, Path):
        format_ = FORMATS[source.build.suffix]
        function = format_.opened
        if function is None:
            mechanism = load_mechanism(source.build)
            yield lambda: mechanism
        else:
            with function(*format_.arguments(source.build, import_options())) as build:
                yield build
    else:
        yield source.build


def built(build: Callable, arguments: Mapping[str, Any], start: Mapping[str, Mapping]) -> tuple[Mechanism, State]:
    """Return the mechanism and its start, where ``start`` replaces entries of ``mechanism.start``.

    Raises ArgumentError, StateError, and whatever the function raises, with a note.
    """
    try:
        built = build(**arguments)
    except Exception as problem:
        if not isinstance(problem, VarintError) and not getattr(problem, "__notes__", None):
            where = traceback.extract_tb(problem.__traceback__)[-1]
            problem.add_note(f"{OF_USERS}build, at line {where.lineno} of '{where.filename}'")
        raise
    mechanism, state = built if isinstance(built, tuple) and len(built) == 2 else (built, None)
    of_type(mechanism, Mechanism, "what build returns", ArgumentError)
    if state is None:
        known = mechanism.start if start else {}
        given_start = {key: {**(known.get(key) or {}), **start.get(key, {})} for key in {**known, **start}}
        return mechanism, mechanism.state(**given_start)
    of_type(state, State, "the start that build returns", ArgumentError)
    if start:
        raise ArgumentError(f"build returns a State: '{next(iter(start))}' of the start cannot be given as well")
    return mechanism, state
