"""Mechanisms as JSON."""

import json
from pathlib import Path

from varint.errors import FileError, MechanismError
from varint.io.formats.base import Format, register
from varint.io.mechanism_data import from_data, to_data
from varint.mechanism import Mechanism


def load(path: Path) -> Mechanism:
    """The mechanism in a file of JSON."""
    try:
        data = json.loads(path.read_text())
    except OSError as problem:
        raise FileError(f"cannot read '{path}': {problem.strerror}") from None
    except UnicodeDecodeError:
        raise FileError(f"'{path}' is not a text file: expected a mechanism in JSON") from None
    except json.JSONDecodeError as problem:
        raise FileError(f"'{path}', line {problem.lineno}: {problem.msg}") from None
    if not isinstance(data, dict):
        raise MechanismError(f"'{path}' must hold one mechanism: an object with name, bodies and joints")
    return from_data(data, f"'{path}'")


def save(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism as JSON, to the same bits."""
    path.write_text(json.dumps(to_data(mechanism), indent=1))


register(Format(".json", "the description as JSON", load, save, default=True))
