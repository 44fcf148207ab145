"""Mechanisms as XML whose suffix does not say which: the outermost element does. They are written as MJCF."""

from varint.files.formats.base import Format, register
from varint.files.mjcf.writer import save
from varint.files.robots.xml_files import load_xml

register(Format(".xml", "URDF, SDF or MJCF: the outermost element says which", load_xml, save, imports=True))
