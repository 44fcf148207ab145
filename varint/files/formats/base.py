"""Formats of mechanism files, and their registry."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from varint.files.own.parameters import FileParameter
from varint.files.robots.packages import ImportOptions
from varint.mechanism.mechanism import Mechanism


class _BySuffix(dict[str, "Format"]):
    """Formats by their suffix, in capitals too."""

    def __contains__(self, suffix: object) -> bool:
        return isinstance(suffix, str) and super().__contains__(suffix.lower())

    def __getitem__(self, suffix: str) -> "Format":
        return super().__getitem__(suffix.lower())

    def get(self, suffix: str, default: Any = None) -> Any:
        """Return the format of a suffix, ``default`` without one."""
        return super().get(suffix.lower(), default)


FORMATS = _BySuffix()


@dataclass(frozen=True)
class Format:
    """A format of mechanism files.

    suffix : str
        Of its files, with the dot.
    what : str
        What they hold, in a few words.
    load : function of the path
        Gives the mechanism; FileError where it cannot be read, MechanismError where it describes none.
    save : function of the mechanism and the path, or None
        None where mechanisms cannot be written so. OSError where the path cannot be written: a file that was
        there is then unchanged, as `varint.base.atomic_writes` does it.
    opened : function of the path, or None
        Gives, while it is open, the function of the file that builds its mechanism; None where there is no function.
    parameters : function of the path and values in place of the file's, or None
        Gives the parameters of a file, without the mechanism.
    imports : bool
        Whether these also take `ImportOptions`.
    companion : bool
        Whether ``save`` may write a second file, and also takes whether it replaces one that it has not written.
    """

    suffix: str
    what: str
    load: Callable[..., Mechanism]
    save: Callable[..., None] | None = None
    opened: Callable[..., AbstractContextManager[Callable]] | None = None
    parameters: Callable[..., list[FileParameter]] | None = None
    imports: bool = False
    companion: bool = False

    def arguments(self, path: Path, options: ImportOptions) -> tuple:
        """Return the arguments of ``load`` and ``opened``; ``parameters`` takes the same ones first."""
        return (path, options) if self.imports else (path,)


def register(format_: Format) -> Format:
    """Add a format to the registry."""
    FORMATS[format_.suffix] = format_
    return format_
