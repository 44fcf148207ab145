"""Mechanisms as plain data (JSON), and as Python files with a ``build`` function."""

import dataclasses
import json
import traceback
import types
from pathlib import Path

import numpy as np

from varint.errors import FileError, MechanismError, VarintError
from varint.mechanism import Mechanism
from varint.model.body import Body
from varint.model.checks import suggestion
from varint.model.forces import FORCES
from varint.model.joints import REGISTRY


def to_data(mechanism: Mechanism) -> dict:
    """The mechanism as JSON-ready data; `from_data` gives it back to the same bits."""
    return {
        "name": mechanism.name,
        "gravity": mechanism.gravity.tolist(),
        "bodies": [_fields(body) for body in mechanism.bodies],
        "joints": [{"type": type(joint).__name__} | _fields(joint) for joint in mechanism.joints],
        "forces": [{"type": type(force).__name__} | _fields(force) for force in mechanism.forces],
        "start": {
            key: {name: np.asarray(value).tolist() for name, value in values.items()}
            for key, values in mechanism.start.items()
        },
    }


def from_data(data: dict, what: str) -> Mechanism:
    """The mechanism in ``data``; ``what`` names its source in errors.

    Raises MechanismError, naming the source and the body or joint.
    """
    try:
        bodies = [Body(**entry) for entry in data["bodies"]]
        joints = [_typed(entry, "joint", REGISTRY) for entry in data["joints"]]
        forces = [_typed(entry, "force", FORCES) for entry in data.get("forces", ())]
        rest = {key: data[key] for key in ("gravity", "start") if key in data}
        return Mechanism(data["name"], bodies, joints, forces=forces, **rest)
    except KeyError as problem:
        raise MechanismError(f"{what}: {problem.args[0]!r} is missing") from None
    except (TypeError, AttributeError, ValueError) as problem:  # MechanismError is a ValueError
        raise MechanismError(f"{what}: {problem}") from None


def _typed(entry, what, registry):
    entry = dict(entry)
    kind = entry.pop("type")
    if kind not in registry:
        raise MechanismError(f"{what} '{entry.get('name')}': no {what} type '{kind}'{suggestion(kind, registry)}")
    return registry[kind](**entry)


def save_mechanism(mechanism: Mechanism, path) -> None:
    """Write a mechanism as JSON.

    Raises FileError if the file cannot be written.
    """
    try:
        Path(path).write_text(json.dumps(to_data(mechanism), indent=1))
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror}") from None


def load_mechanism(path) -> Mechanism:
    """Read a mechanism from ``.json`` data, or from a ``.py`` file that defines ``build() -> Mechanism``.

    Raises FileError if it cannot be read, with file and line; MechanismError if it describes none.
    """
    path = Path(path)
    if path.suffix == ".py":
        return _from_python(path)
    try:
        data = json.loads(path.read_text())
    except OSError as problem:
        raise FileError(f"cannot read '{path}': {problem.strerror}") from None
    except UnicodeDecodeError:
        raise FileError(f"'{path}' is not a text file: expected a mechanism in JSON, or a .py file") from None
    except json.JSONDecodeError as problem:
        raise FileError(f"'{path}', line {problem.lineno}: {problem.msg}") from None
    if not isinstance(data, dict):
        raise MechanismError(f"'{path}' must hold one mechanism: an object with name, bodies and joints")
    return from_data(data, f"'{path}'")


def _from_python(path: Path) -> Mechanism:
    if not path.is_file():
        raise FileError(f"cannot read '{path}': no such file")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
        mechanism = module.build() if hasattr(module, "build") else None
    except VarintError:
        raise
    except Exception as problem:
        raise FileError(f"{_where(problem, str(path))}: {type(problem).__name__}: {problem}") from problem
    if not hasattr(module, "build"):
        raise FileError(f"'{path}' defines no build(): write a function build() that returns a Mechanism")
    if not isinstance(mechanism, Mechanism):
        raise FileError(f"build() of '{path}' returned {type(mechanism).__name__}, not a Mechanism")
    return mechanism


def _where(problem, path) -> str:
    """The file ``path`` and the line of it where ``problem`` arose or that led there."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == path]
    if isinstance(problem, SyntaxError) and problem.filename == path:
        lines.append(problem.lineno)
    return f"'{path}'" + (f", line {lines[-1]}" if lines else "")


def _fields(item) -> dict:
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    for name, value in values.items():
        if callable(value):
            raise MechanismError(f"{name} of {item.label} is a function, which no file can hold: give it as numbers")
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
