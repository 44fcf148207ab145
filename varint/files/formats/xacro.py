"""Macros of ROS that make URDF: files without macros are read, others are named with the program that expands them."""

from pathlib import Path

from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.robots.packages import ImportOptions
from varint.files.robots.xml_files import load_xml, read_bytes
from varint.mechanism.mechanism import Mechanism

MACROS = (b"<xacro:", b"${", b"$(")


def load(path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in a file without macros. Raises FileError: macros run code, and are not expanded here."""
    if any(mark in read_bytes(path) for mark in MACROS):
        raise FileError(
            f"'{path}' has macros, which are not expanded: load what `xacro {path.name} > robot.urdf` writes"
        )
    return load_xml(path, options)


register(Format(".xacro", "robots of ROS without macros", load, imports=True))
