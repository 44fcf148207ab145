"""Mechanisms as XML whose suffix does not say which: the outermost element does. They are written as MJCF."""

from varint.io.formats.base import Format, register
from varint.io.mjcf_writer import save
from varint.io.xml_files import load_xml

register(Format(".xml", "URDF, SDF or MJCF: the outermost element says which", load_xml, save, imports=True))
