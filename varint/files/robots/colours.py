"""Colours of materials in robot files."""

from varint.base.errors import FileError
from varint.files.robots.reading import RobotReading
from varint.files.robots.xml_files import XMLElement

Colour = tuple[float, ...]  # red, green, blue, opacity
MATERIAL = "material"
URDF_TAGS = ("color", "texture")
SDF_TAGS = ("ambient", "specular", "emissive", "script", "shader", "lighting", "pbr", "double_sided", "render_order")


def colour_of(reading: RobotReading, element: XMLElement | None, attribute: str = "") -> Colour | None:
    """Return the colour in an ``attribute``, or the text, of an element.

    None without the element, and where it is no colour, which is noted.
    """
    if element is None:
        return None
    try:
        numbers = element.numbers(attribute, 4) if attribute else element.own_numbers(4)
        if not all(0.0 <= number <= 1.0 for number in numbers):
            raise element.error(f"<{element.tag}> needs four numbers from 0 to 1")
    except FileError as problem:
        reading.notes.not_understood(str(problem).partition(": ")[2], element)
        return None
    return tuple(numbers)


class URDFColours:
    """Colours by the names of materials, of the robot and of its visual shapes; notes what has no effect in them."""

    def __init__(self, reading: RobotReading) -> None:
        self.reading = reading
        self._own: dict[int, Colour | None] = {}  # by the element of the material
        self._named: dict[str, Colour] = {}
        shapes = (shape for link in reading.root.all("link") for shape in link.all("visual"))
        for place in (reading.root, *shapes):
            for material in place.all(MATERIAL):
                self._add(material)

    def _add(self, material: XMLElement) -> None:
        reading = self.reading
        reading.note_unknown(material, URDF_TAGS, ("name",))
        for texture in material.all("texture"):
            reading.leave_out(texture, "a picture")
        element = next(material.all("color"), None)
        if element is not None:
            reading.note_unknown(element, (), ("rgba",))
            self._own[id(material)] = colour = colour_of(reading, element, "rgba")
            if colour is not None:
                self._named.setdefault(material.attributes.get("name", ""), colour)

    def of(self, shape: XMLElement) -> Colour | None:
        """Return the colour of a visual shape; None without one."""
        for material in shape.all(MATERIAL):
            if id(material) in self._own:
                return self._own[id(material)]
            if material.attributes.get("name", "") in self._named:
                return self._named[material.attributes["name"]]
            self.reading.leave_out(material, "whose colour the file does not have")
        return None


def sdf_colour(reading: RobotReading, shape: XMLElement) -> Colour | None:
    """Return the diffuse colour of a visual shape; None without one. Notes the other elements of its material."""
    material = shape.one(MATERIAL)
    if material is None:
        return None
    reading.note_unknown(material, ("diffuse", *SDF_TAGS), ())
    for element in material.all(*SDF_TAGS):
        reading.leave_out(element, "of pictures", f"<{element.tag}> of <material>")
    return colour_of(reading, material.one("diffuse"))
