"""Report on a file that a mechanism was imported from: read, approximated, not understood."""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from varint.base.callers import level_of_user
from varint.base.checks import Frozen
from varint.base.display import Shown, count_text
from varint.base.errors import FileError, LeftOutWarning, VarintError
from varint.base.printable import printable
from varint.model.arrays import Quaternion, Vector

Kind = TypeVar("Kind")
TOLD = 5  # of the entries that an error lists
REPAIR = "repair=True"  # of load_mechanism, as errors name it


class Imported(NamedTuple):
    """One thing of an imported file: ``what`` it is and became, in which ``file`` and ``line``, 0 where unknown."""

    what: str
    file: str
    line: int

    def __str__(self) -> str:
        return printable(f"'{self.file}'{f', line {self.line}' if self.line else ''}: {self.what}")


@dataclass(frozen=True, eq=False)
class ImportedShape(Frozen):
    """A shape that a file gives for pictures or contacts of a ``body``; no motion depends on it.

    role : "visual" or "collision"
    kind : "box", "cylinder", "sphere", "capsule", "ellipsoid", "plane" or "mesh"
    sizes : of a box its edges, of a cylinder and a capsule radius and length, along its z, of a sphere its radius, of
        an ellipsoid its semi-axes, m; of a mesh the factors (3,) of its coordinates
    mesh : the file of a mesh, or what the imported file calls it, where no such file was found; else ""
    position, quat_wxyz : from the centre of mass, m, in body axes; of what is on the world from its origin
    found : of a mesh, whether its file was found in a folder where it may be
    rgba : red, green, blue and opacity, each from 0 to 1, of its material in the file, or None
    hidden : whether pictures leave out a visual shape, as MuJoCo does with geoms of group 3 and above
    """

    body: str
    role: str
    kind: str
    sizes: tuple[float, ...] = ()
    mesh: str = ""
    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    found: bool = False
    rgba: tuple[float, ...] | None = None
    hidden: bool = False


@dataclass(frozen=True, eq=False)
class ImportReport(Shown):
    """Report on the parts of an imported file; empty where a mechanism was not imported. ``str()`` lists it.

    read, approximated, not_understood, repaired, inexact : tuple of Imported
        Each with ``what``, ``file`` and ``line``. Read elements are represented as in the file; approximated ones are
        represented differently or omitted, and the entry says which; those not understood were ignored; repaired ones
        were wrong in the file, and the entry says what was changed, and by how much; inexact loops are redundant only
        within the digits of the file and lock as they move, and the entry names the joint to release.
    shapes : tuple of ImportedShape
        Visual and collision shapes, as data for pictures.
    body_of : mapping
        Name of each link of the file to the body that it is part of, or "world".
    left_out : tuple of Imported
        Those of ``not_understood`` that the motion depends on, such as forces and muscles; a LeftOutWarning names them.
    contacts : tuple of ContactPairs
        Contacts that the file allows between the shapes of bodies; they act once they are added, by
        ``mech.with_forces(add=mech.import_report.contacts)``. Of MJCF: what contype, conaffinity and exclude leave.
    """

    read: tuple[Imported, ...] = ()
    approximated: tuple[Imported, ...] = ()
    not_understood: tuple[Imported, ...] = ()
    shapes: tuple[ImportedShape, ...] = ()
    body_of: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    repaired: tuple[Imported, ...] = ()
    inexact: tuple[Imported, ...] = ()
    contacts: tuple[Any, ...] = ()
    left_out: tuple[Imported, ...] = ()

    def __bool__(self) -> bool:
        return any(self.entries().values())

    def __reduce__(self) -> tuple:
        lists = self.read, self.approximated, self.not_understood
        more = self.repaired, self.inexact, self.contacts, self.left_out
        return type(self), (*lists, self.shapes, dict(self.body_of), *more)

    def __str__(self) -> str:
        kinds = self.entries().items()
        return "\n".join(f"{kind.replace('_', ' ')}: {entry}" for kind, listed in kinds for entry in listed)

    def entries(self) -> dict[str, tuple[Imported, ...]]:
        """Return the five lists by their names."""
        return {
            "read": self.read,
            "approximated": self.approximated,
            "not_understood": self.not_understood,
            "repaired": self.repaired,
            "inexact": self.inexact,
        }

    def of_bodies(self, names: Collection[str]) -> "ImportReport":
        """Return the report without the shapes, links and contacts of bodies that are not among ``names``.

        The world counts as a body.
        """
        shapes = tuple(shape for shape in self.shapes if shape.body in names)
        links = {link: body for link, body in self.body_of.items() if body in names}
        if len(shapes) == len(self.shapes) and len(links) == len(self.body_of):
            return self
        contacts = tuple(left for each in self.contacts if (left := each.of_bodies(names)))
        return replace(self, shapes=shapes, body_of=MappingProxyType(links), contacts=contacts)

    def check(self) -> None:
        """Raise FileError where something was not understood."""
        if self.not_understood:
            raise FileError(_first_of(self.not_understood))

    def warn_of_left_out(self) -> None:
        """Give a LeftOutWarning if parts are left out that the motion depends on."""
        if self.left_out:
            warnings.warn(
                f"{_first_of(self.left_out)}: left out, and the motion is that without them. Put what is read in their"
                " place; import_report.left_out lists them, strict=True refuses the file",
                LeftOutWarning,
                stacklevel=level_of_user(),
            )

    def _facts(self) -> Iterable[str]:
        for kind, listed in self.entries().items():
            yield f"{len(listed)} {kind.replace('_', ' ')}"
        yield count_text(len(self.shapes), "shape")


def _first_of(entries: Sequence[Imported]) -> str:
    """Return the first entries with their places, and how many more there are."""
    lines = [str(entry) for entry in entries[:TOLD]]
    more = len(entries) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more else "")


class InFile(Protocol):
    """An element of a file, by its place."""

    line: int
    path: Path


class ImportNotes:
    """Notes of a reader of a format; `attached` makes the report of them.

    Each of ``read``, ``approximated``, ``not_understood``, ``left_out`` and ``repaired`` takes the message and the
    element that it is about, if it is known. ``repair``: whether defects are repaired, else they are errors.
    """

    def __init__(self, path: Path, repair: bool = False) -> None:
        self.path, self.repair = path, repair
        self.lists: dict[str, list[Imported]] = {kind: [] for kind in ImportReport().entries()}
        self.acting: list[Imported] = []
        self.shapes: list[ImportedShape] = []
        self.body_of: dict[str, str] = {}

    def read(self, message: str, at: InFile | None = None) -> None:
        """Note an element that is represented as in the file."""
        self._add("read", message, at)

    def approximated(self, message: str, at: InFile | None = None) -> None:
        """Note an element that is represented differently, or omitted on purpose."""
        self._add("approximated", message, at)

    def not_understood(self, message: str, at: InFile | None = None) -> None:
        """Note an element that was ignored."""
        self._add("not_understood", message, at)

    def left_out(self, message: str, at: InFile | None = None) -> None:
        """Note an element that was ignored though the motion depends on it: it is not understood, and warned of."""
        self._add("not_understood", message, at)
        self.acting.append(self.lists["not_understood"][-1])

    def repaired(self, message: str, at: InFile | None = None) -> None:
        """Note a defect of the file that was repaired."""
        self._add("repaired", message, at)

    def mend(self, defect: VarintError, change: str, at: InFile | None = None) -> None:
        """Note the ``change`` that repairs a defect of the file; without repair raise the error that describes it."""
        if not self.repair:
            raise type(defect)(f"{defect}, or load the file with {REPAIR}") from None
        self.repaired(change, at)

    def take(self, report: ImportReport) -> None:
        """Take over the report of another file."""
        for kind, listed in report.entries().items():
            self.lists[kind].extend(listed)
        self.acting.extend(report.left_out)
        self.shapes.extend(report.shapes)
        self.body_of |= report.body_of

    def attached(self, mechanism: Kind) -> Kind:
        """Return the mechanism, with these notes as its ``import_report``."""
        lists = {kind: tuple(listed) for kind, listed in self.lists.items()}
        report = ImportReport(
            **lists,
            shapes=tuple(self.shapes),
            body_of=MappingProxyType(self.body_of),
            left_out=tuple(self.acting),
        )
        vars(mechanism)["import_report"] = report
        return mechanism

    def _add(self, kind: str, message: str, at: InFile | None) -> None:
        path, line = (self.path, 0) if at is None else (at.path, at.line)
        self.lists[kind].append(Imported(message, str(path), line))
