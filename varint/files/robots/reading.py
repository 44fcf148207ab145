"""The common part of the readers of URDF and SDF: shapes that may be wrong, and notes on elements without effect."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from varint.base.errors import FileError
from varint.files.robots.robot import RobotShape
from varint.files.robots.xml_files import XMLElement, unknown
from varint.model.import_report import ImportNotes

OF_CONTACTS = "contacts are not imported"
OF_MOTORS = "a bound of motors, which are not imported"


class RobotReading:
    """Base of the readers of a robot's XML.

    known : tags of known elements without effect on the motion, with the reason
    leaves : tags of elements without known children, with their attributes
    left_out : elements by their name in the report and the reason
    """

    known: Mapping[str, str]
    leaves: Mapping[str, Sequence[str]] = {}

    def __init__(self, root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> None:
        self.root, self.notes, self.packages = root, notes, packages
        self.left_out: dict[tuple[str, str], list[XMLElement]] = {}

    def shapes_of(self, element: XMLElement, link: str, shape: Callable[..., list[RobotShape]]) -> list[RobotShape]:
        """Return ``shape(part, role)`` of each visual and collision part of an element of a link.

        A wrong shape is noted and left out, since no motion depends on it.
        """
        shapes: list[RobotShape] = []
        for role in ("visual", "collision"):
            for part in element.all(role):
                try:
                    shapes += shape(part, role)
                except FileError as problem:
                    message = str(problem).partition(": ")[2]
                    self.notes.not_understood(f"<{role}> of link '{link}': {message}", part)
        return shapes

    def leave_out(self, element: XMLElement, why: str, name: str = "") -> None:
        """Note an element that is known and left out."""
        self.left_out.setdefault((name or f"<{element.tag}>", why), []).append(element)

    def leave_out_of(self, joint: XMLElement, tags: Sequence[str]) -> None:
        """Note the elements of these names of a joint, whose type does not have them."""
        for element in joint.all(*tags):
            self.leave_out(element, f"which a joint of type {joint.need('type')} does not have")

    def note_unknown(self, element: XMLElement, tags: Sequence[str], names: Sequence[str] | None) -> None:
        """Note the children and attributes of an element other than ``tags`` and ``names``, and of its leaves."""
        parts = [*unknown(element, (*tags, *self.known), names)]
        for child in element.children:
            if child.tag in self.known and child.tag not in tags:
                self.leave_out(child, self.known[child.tag])
            elif child.tag in tags and child.tag in self.leaves:
                parts += unknown(child, (), self.leaves[child.tag])
        for part, at in parts:
            self.notes.not_understood(part, at)

    def note_left_out(self) -> None:
        """Note each kind of known element without effect on the motion, with the line of the first."""
        for (name, why), elements in self.left_out.items():
            self.notes.approximated(f"{name}, {why}: left out, {len(elements)} in all", elements[0])
