"""What a format of mechanism files is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from varint.mechanism import Mechanism

FORMATS: dict[str, "Format"] = {}  # by suffix


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
        None where mechanisms cannot be written so. OSError where the path cannot be written.
    opened : function of the path, or None
        Gives, while it is open, the function of the file that builds its mechanism; None where there is no function.
    """

    suffix: str
    what: str
    load: Callable[[Path], Mechanism]
    save: Callable[[Mechanism, Path], None] | None = None
    opened: Callable[[Path], AbstractContextManager[Callable]] | None = None


def register(format_: Format) -> Format:
    """Add a format to the registry."""
    FORMATS[format_.suffix] = format_
    return format_
