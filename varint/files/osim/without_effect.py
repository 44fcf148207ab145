"""Elements of OpenSim's files without effect on the motion: each is named in the import report once, by its reason."""

from varint.files.osim.joints import is_empty
from varint.files.robots.xml_files import XMLElement
from varint.model.import_report import ImportNotes

PICTURES = "of pictures"
PICTURE_TAGS = ("attached_geometry", "FrameGeometry", "VisibleObject", "Appearance", "default_color")
DESCRIPTIONS = ("credits", "publications", "length_units", "force_units")
OF_COORDINATE = ("range", "clamped", "is_free_to_satisfy_constraints", "motion_type")
WITHOUT_EFFECT = {  # tag to reason
    **dict.fromkeys((*PICTURE_TAGS, "MarkerSet", "ModelVisualPreferences"), PICTURES),
    **dict.fromkeys(DESCRIPTIONS, "descriptions"),
    **dict.fromkeys(OF_COORDINATE, "of coordinates, which no simulation holds"),
    "prescribed_function": "coordinates are free",
    "ContactGeometrySet": "contacts are not imported",
    "ProbeSet": "of results",
    "assembly_accuracy": "closures hold exactly",
    "method": "paths are the shortest",
}
IN = {"range": "Coordinate"}  # of a wrap it has an effect


def note_without_effect(root: XMLElement, notes: ImportNotes) -> None:
    """Note the elements in a model that have no effect, in one entry a reason, with the first of them."""
    by_reason: dict[str, dict[str, XMLElement]] = {}
    waiting = [(root, root)]
    while waiting:
        element, around = waiting.pop()
        if element.tag in WITHOUT_EFFECT and IN.get(element.tag, around.tag) == around.tag:
            if not is_empty(element):
                by_reason.setdefault(WITHOUT_EFFECT[element.tag], {}).setdefault(f"<{element.tag}>", element)
        else:
            waiting += [(child, element) for child in reversed(element.children)]
    for why, tags in by_reason.items():
        notes.approximated(f"{', '.join(tags)}, {why}: left out", next(iter(tags.values())))
