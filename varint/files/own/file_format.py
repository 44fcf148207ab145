"""The format of mechanism files: its mark, and the types of joints whose meaning it decides."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from varint.base.callers import level_of_user
from varint.base.checks import shown
from varint.base.display import count_text, names_text
from varint.base.errors import FormatWarning, MechanismError
from varint.model.joints import REGISTRY

MARK, FORMAT = "format", 2  # the key at the top of a file, and its value
OLDER = {joint.older_name: name for name, joint in REGISTRY.items() if joint.older_name}  # without the mark


def is_marked(top: Mapping[str, Any], where: str) -> bool:
    """Return whether the keys at the ``top`` of a file have the mark; ``where``: its place, in errors.

    Raises MechanismError if it is another one.
    """
    if MARK not in top:
        return False
    if type(top[MARK]) is not int or top[MARK] != FORMAT:
        raise MechanismError(f"{where}: {MARK} must be {FORMAT}, got {shown(top[MARK])}: is it of a newer varint?")
    return True


def with_present_types(entries: Sequence[Any], source: str) -> list[Any]:
    """Return the data of joints of a file without the mark, with the present names of their types.

    A FormatWarning lists the joints whose type has changed; ``source`` names the file there.
    """
    renamed: list[str] = []
    present = [_renamed(entry, renamed, entry) for entry in entries]
    if renamed:
        names = list(dict.fromkeys(renamed))
        meaning = ", ".join(f"type {old!r} as {new!r}" for old, new in OLDER.items())
        warnings.warn(
            f"{source} has no format mark: {count_text(len(names), 'joint')} ({names_text(names)}) read in the meaning"
            f" of such files, {meaning}. In a mechanism file write that type, or where the present meaning is wanted"
            f" the key {MARK!r} with the value {FORMAT} at the top",
            FormatWarning,
            stacklevel=level_of_user(),
        )
    return present


def _renamed(entry: Any, renamed: list[str], joint: Any) -> Any:
    """Return the data of a part of a ``joint``, or of all of it; the names of older joints go to ``renamed``."""
    if not isinstance(entry, Mapping):
        return entry
    kind, parts = entry.get("type"), entry.get("parts")
    changes: dict[str, Any] = {}
    if isinstance(kind, str) and kind in OLDER:
        renamed.append(str(joint.get("name")))
        changes["type"] = OLDER[kind]
    if isinstance(parts, list):
        changes["parts"] = [_renamed(part, renamed, joint) for part in parts]
    return {key: changes.get(key, value) for key, value in entry.items()}
