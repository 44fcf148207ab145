"""Elements of older MJCF files that MuJoCo's compiler refuses and others read: `repair=True` changes them."""

from collections.abc import Iterator

from varint.files.robots.xml_files import XMLElement
from varint.model.import_report import ImportNotes

OLD_OPTIONS = {  # attributes of <option> that MuJoCo had once
    "collision": "which bodies may touch is not imported",
    "apirate": "of other programs",
    "mpr_iterations": "of contacts",
    "mpr_tolerance": "of contacts",
}
OLD_FLAGS = {  # attributes of <flag> that MuJoCo had once
    "sensornoise": "left out, of sensors",
    "passive": "taken for 'spring' and 'damper'",
}
FRAMES = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")  # attributes
NOT_GLOBAL = ("frame", "replicate", "composite", "flexcomp", "attach", "connect", "weld", "key")
PLACED = {"geom": ("pos", "fromto"), "joint": ("pos",), "site": ("pos", "fromto"), "inertial": ("pos",)}
OF_TENDONS = ("tendon", "tendon1", "tendon2")  # attributes
WITHOUT_PLACE = ("slide", "free", "fixed")  # joints


def mend_model(whole: XMLElement, by_geoms: bool, notes: ImportNotes) -> None:
    """Change the elements of a model in place. Raises FileError without repair, and for other defects.

    ``by_geoms``: whether inertias are those of geoms throughout (inertiafromgeom="true").
    """
    for option in whole.all("option"):
        for key in OLD_OPTIONS.keys() & option.attributes.keys():
            defect = option.error(f"{key!r} of <option> is none of MuJoCo's any more: leave it out")
            notes.mend(defect, f"{key!r} of <option>: left out, {OLD_OPTIONS[key]}", option)
            del option.attributes[key]
        for flag in option.all("flag"):
            for key in OLD_FLAGS.keys() & flag.attributes.keys():
                defect = flag.error(f"{key!r} of <flag> is none of MuJoCo's any more: leave it out")
                notes.mend(defect, f"{key!r} of <flag>: {OLD_FLAGS[key]}", flag)
                value = flag.attributes.pop(key)
                if key == "passive":
                    flag.attributes.update(spring=value, damper=value)
    gone: list[tuple[XMLElement, XMLElement]] = []
    for body, element in _inside(whole):
        if element.tag == "inertial" and by_geoms and "pos" not in element.attributes:
            defect = element.error(f"<inertial> of '{_name(body)}' needs 'pos': leave it out, inertiafromgeom is true")
            change = f"<inertial> of '{_name(body)}' without pos: left out, inertiafromgeom is true"
        elif element.tag == "joint" and element.attributes.get("type") == "fixed":
            defect = element.error(f"joint type 'fixed' of '{_name(body)}' is none of MuJoCo's: leave the joint out")
            change = f"<joint> of type 'fixed' of '{_name(body)}': left out, which fixes it to its parent"
        else:
            continue
        notes.mend(defect, change, element)
        gone.append((body, element))
    _take_out(gone)
    _mend_tendons(whole, notes)
    for compiler in whole.all("compiler"):
        if compiler.attributes.get("coordinate") == "global":
            defect = compiler.error("coordinate='global' is not MuJoCo's any more: give frames in those of the parents")
            notes.mend(defect, _made_local(whole), compiler)
            del compiler.attributes["coordinate"]


def _made_local(whole: XMLElement) -> str:
    """Move the frames of all bodies to the world's, as in the rest of the file; return the change, in words.

    The frame of a body has no influence on its motion: geoms, joints, sites and inertias place all that does.
    """
    bodies = 0
    for parent, element in _inside(whole):
        if element.tag in NOT_GLOBAL:
            raise element.error(f"<{element.tag}> beside coordinate='global' is not read: give local coordinates")
        placed = PLACED.get(element.tag, ())
        fixed = element.tag == "joint" and element.attributes.get("type") in WITHOUT_PLACE
        if placed and not fixed and not any(key in element.attributes for key in placed):
            raise element.error(
                f"<{element.tag}> of '{_name(parent)}' needs {' or '.join(placed)} beside coordinate='global'"
            )
        if element.tag == "body":
            bodies += 1
            for key in FRAMES:
                element.attributes.pop(key, None)
    return f"coordinate='global': the frames of {bodies} bodies are those of the world, in which the file has the rest"


def _mend_tendons(whole: XMLElement, notes: ImportNotes) -> None:
    """Take out fixed tendons of balls and free joints, which have no length, and all references to them."""
    wide = {
        element.attributes.get("name", "")
        for _, element in _inside(whole)
        if element.tag == "freejoint" or element.attributes.get("type") in ("ball", "free")
    } - {""}
    parts = [(section, one) for section in whole.all("tendon") for one in section.all("fixed")]
    gone = [
        (section, one)
        for section, one in parts
        if any(part.attributes.get("joint") in wide for part in one.all("joint"))
    ]
    names = {one.attributes.get("name", "") for _, one in gone} - {""}
    for _, tendon in gone:
        tendon_text = f"fixed tendon '{_name(tendon)}' of a ball or free joint, which is no hinge or slide"
        notes.mend(tendon.error(f"{tendon_text}: leave it out"), f"{tendon_text}: left out", tendon)
    for section in whole.all("equality", "actuator"):
        for one in section.children:
            of = next((one.attributes[key] for key in OF_TENDONS if one.attributes.get(key) in names), "")
            if of:
                notes.repaired(f"<{one.tag}> '{_name(one)}' of tendon '{of}': left out with it", one)
                gone.append((section, one))
    _take_out(gone)


def _take_out(pairs: list[tuple[XMLElement, XMLElement]]) -> None:
    """Take children out of their parents."""
    gone = {id(child) for _, child in pairs}
    for parent in {id(parent): parent for parent, _ in pairs}.values():
        parent.children = [child for child in parent.children if id(child) not in gone]


def _inside(whole: XMLElement) -> Iterator[tuple[XMLElement, XMLElement]]:
    """Yield each element of the bodies, equalities and keyframes after its parent, as (parent, element)."""
    waiting = [*whole.all("worldbody", "equality", "keyframe")][::-1]
    while waiting:
        parent = waiting.pop()
        for child in parent.children:
            yield parent, child
        waiting += parent.children[::-1]


def _name(element: XMLElement) -> str:
    return element.attributes.get("name", element.tag)
