"""Elements and attributes of MJCF that are left out, by their reason: each is named in the import report once."""

from collections.abc import Container, Iterator

from varint.files.robots.xml_files import XMLElement
from varint.model.import_report import ImportNotes

SOFT = [
    "solreflimit",
    "solreffriction",
    "solref",
    "solimplimit",
    "solimpfriction",
    "solimp",
    "o_solref",
    "o_solimp",
    "o_margin",
    "o_friction",
]
CONTACTS = [
    "margin",
    "gap",
    "solmix",
    "priority",
    "adhesion",
    "surfacevel",
    "cone",
    "impratio",
    "multiccd",
    "nativeccd",
]
CONTACTS += [
    "ccd_iterations",
    "ccd_tolerance",
    "filterparent",
    "midphase",
    "sdf_initpoints",
    "sdf_iterations",
    "contact",
    "condim",
    "maxhullvert",
]
SOLVER = [
    "timestep",
    "integrator",
    "iterations",
    "tolerance",
    "ls_iterations",
    "ls_tolerance",
    "noslip_iterations",
    "noslip_tolerance",
]
SOLVER += [
    "sleep_tolerance",
    "sleep",
    "eulerdamp",
    "invdiscrete",
    "island",
    "refsafe",
    "warmstart",
    "override",
    "autoreset",
    "energy",
    "fwdinv",
]
SOLVER += ["diagexact", "speculative", "sensor", "clampctrl", "jacobian", "solver", "ipc", "simple", "usethread"]
PICTURES = ["rgba", "group", "castshadow", "width", "material", "texturedir", "normal", "smoothnormal", "texcoord"]
USERS = "user nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site nuser_tendon nuserdata"
MEMORY = ["nkey", "njmax", "nconmax", "nstack", "memory"]
BOUNDS = ["actuatorfrcrange", "actuatorfrclimited", "actrange", "velrange", "posrange", "ffrange"]
WRITTEN = ["savecanonical", "savecompiled", "saveinertial", "passthrough"]
LEFT_OUT = {  # attribute to reason
    name: why
    for names, why in (
        (SOFT, "of soft constraints, which hold exactly here"),
        (CONTACTS, "of contacts, which are not imported"),
        (["contype", "conaffinity"], "pairs that collide, which import_report.contacts has"),
        (SOLVER, "settings of MuJoCo's steps and solver"),
        (PICTURES, "of pictures"),
        ((*USERS.split(), *MEMORY), "data of users and sizes of memory"),
        (BOUNDS, "bounds of actuators, which are not imported"),
        (WRITTEN, "of files that MuJoCo writes"),
        (["magnetic"], "of sensors"),
        (["fluidcoef"], "there is no medium"),
        (["interp"], "of delays, which are not imported"),
        (["input"], "of actuators with several controls"),
        (["time"], "the start of a run is at 0 s"),
        (["actuatorgravcomp"], "the force against gravity is not one of actuators"),
    )
    for name in names
}
ACTING = {"springyield": "springs do not yield", "wind": "there is no medium", "fluidshape": "there is no medium"}
OF_SITES = "size type quat euler axisangle xyaxes zaxis"  # of sites, which are points
OF_PICTURES = dict.fromkeys(("visual", "statistic", "texture", "skin", "camera", "light"), "of pictures")
OF_PICTURES["material"] = "of pictures but for its rgba"
OF_PLUGINS = dict.fromkeys(("extension", "plugin"), "of plugins, of which none is run")
OF_CONTACTS = {
    "contact": "contacts are not imported",
    "exclude": "names a body that is not in the file",
    "pair": "contacts are not imported",
}
WHOLE = OF_PICTURES | OF_PLUGINS | OF_CONTACTS  # elements that are left out with all that is in them
WHOLE |= {"sensor": "of sensors", "custom": "data of users", "hfield": "height fields are not read"}


def is_colour(text: str) -> bool:
    """Return whether a text is red, green, blue and opacity from 0 to 1."""
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        return False
    return len(numbers) == 4 and all(0.0 <= number <= 1.0 for number in numbers)


def note_settings(root: XMLElement, notes: ImportNotes, colours: Container[str]) -> None:
    """Note the attributes in a model that are left out, in one entry a reason, with the first element.

    ``colours``: names of materials that geoms have.
    """
    by_reason: dict[str, dict[str, XMLElement]] = {}
    for element in _elements(root):
        for name, value in element.attributes.items():
            if name in ACTING and _is_not_zero(value):
                notes.not_understood(f"{name!r} of <{element.tag}>: {ACTING[name]}", element)
            elif element.tag == "geom" and (name == "rgba" or (name == "material" and value in colours)):
                continue  # a colour
            elif name in LEFT_OUT:
                by_reason.setdefault(LEFT_OUT[name], {}).setdefault(name, element)
            elif element.tag == "site" and name in OF_SITES.split():
                by_reason.setdefault("of sites, which are points", {}).setdefault(name, element)
            elif element.tag == "lengthrange":
                by_reason.setdefault("of ranges of length, which are not searched", {}).setdefault(name, element)
    for why, names in by_reason.items():
        notes.approximated(f"{', '.join(map(repr, names))}, {why}: left out", next(iter(names.values())))


def _elements(root: XMLElement) -> Iterator[XMLElement]:
    """Yield the elements of a model, without the ones that are reported as a whole."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += reversed([child for child in element.children if child.tag not in WHOLE])


def _is_not_zero(value: str) -> bool:
    try:
        return any(float(word) for word in value.split())
    except ValueError:  # a word, such as the shape in a fluid
        return value.strip() != "none"
