"""Small MJCF files, into which each element and attribute of MuJoCo's schema is put."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from format_elements import Place, put

Case = tuple[ET.Element, tuple[str, ...], str]
TURNS = {
    "quat": ".9 .1 .2 .3",
    "euler": "10 20 30",
    "axisangle": "1 0 0 30",
    "xyaxes": "0 1 0 0 0 1",
    "zaxis": "1 0 0",
}
SOLVED = {"solref": ".03 .9", "solimp": ".8 .9 .002 .4 3"}
VALUES = {  # of attributes by their names, or after their element
    **TURNS, **SOLVED, "pos": ".1 .2 .3", "axis": "1 2 3", "type": "slide", "o_solref": ".03 .9",
    "o_solimp": ".8 .9 .002 .4 3", "o_friction": ".9 .8 .1 .1 .1", "solreflimit": ".03 .9",
    "solreffriction": ".03 .9", "solimplimit": ".8 .9 .002 .4 3", "solimpfriction": ".8 .9 .002 .4 3",
    "rgba": ".1 .2 .3 1", "user": "1 2", "range": "-.5 .7", "limited": "false", "name": "other", "group": "2",
    "damping": ".7", "stiffness": "3", "model": "other", "angle": "radian", "assetdir": "inside", "meshdir": "inside",
    "texturedir": "x", "balanceinertia": "true", "autolimits": "false", "conflict": "merge", "coordinate": "local",
    "eulerseq": "zyx", "fusestatic": "true", "discardvisual": "true", "alignfree": "true", "fitaabb": "true",
    "inertiafromgeom": "true", "inertiagrouprange": "0 3", "strippath": "true", "usethread": "false",
    "saveinertial": "true", "savecompiled": "true", "savecanonical": "true", "boundmass": "9", "boundinertia": "9",
    "settotalmass": "9", "mode": "all", "useexisting": "false", "uselimit": "true", "actuatorgroupdisable": "0",
    "cone": "elliptic", "gravity": "1 2 3", "wind": "1 2 3", "magnetic": "1 2 3", "integrator": "RK4",
    "jacobian": "dense", "solver": "CG", "iterations": "7", "ls_iterations": "7", "noslip_iterations": "7",
    "ccd_iterations": "7", "sdf_iterations": "7", "sdf_initpoints": "7", "memory": "10M", "springdamper": ".3 .9",
    "springlength": ".3", "actuatorfrcrange": "-1 1", "actuatorfrclimited": "false", "actuatorgravcomp": "true",
    "geom@type": "box", "site@type": "box", "geom@size": ".3 .4 .5", "fromto": "0 0 0 .3 .4 .5",
    "friction": ".9 .8 .1", "fluidshape": "ellipsoid", "fluidcoef": "1 2 3 4 5", "condim": "4", "contype": "3",
    "conaffinity": "3", "priority": "2", "shellinertia": "true", "mesh": "m", "hfield": "h", "material": "x",
    "surfacevel": "1 0 0 0 0 0", "castshadow": "false", "class": "k", "childclass": "k", "mocap": "true",
    "sleep": "never", "simple": "false", "inertial@mass": "3", "diaginertia": ".31 .42 .53",
    "fullinertia": ".3 .4 .5 .01 .02 .03", "align": "true", "vertex": "0 0 0 2 0 0 0 2 0 0 0 2", "inertia": "shell",
    "scale": "2 3 4", "refpos": ".1 .2 .3", "refquat": ".9 .1 .2 .3", "maxhullvert": "8",
    "normal": "1 0 0 0 1 0 0 0 1 1 1 1", "texcoord": "0 0 0 1 1 1 1 0", "face": "0 2 1 0 1 3 0 3 2 1 2 3",
    "smoothnormal": "true", "mesh@content_type": "model/obj", "polycoef": "0 3 0 0 0", "active": "false",
    "anchor": ".1 .2 .3", "relpose": ".1 .2 .3 1 0 0 0", "torquescale": "0", "body1": "b", "body2": "d",
    "site1": "s1", "site2": "s3", "joint1": "ja", "joint2": "jb", "tendon1": "t1", "tendon2": "t2", "coef": "3",
    "joint": "jb", "divisor": "2", "site": "s3", "site@site": "s2", "sidesite": "s2", "geom@geom": "round",
    "ctrllimited": "false", "ctrlrange": "-1 1", "forcelimited": "false", "forcerange": "-1 1", "actlimited": "false",
    "actrange": "-1 1", "lengthrange": ".1 .9", "gear": "3", "cranklength": ".5", "cranksite": "s1",
    "slidersite": "s3", "refsite": "s1", "jointinparent": "jb", "tendon": "t1", "actuator/@body": "b",
    "adhesion@body": "b", "dyntype": "filter", "gaintype": "affine", "biastype": "affine", "dynprm": ".3 1 1",
    "gainprm": "3 2 1", "biasprm": "3 2 1", "actearly": "true", "actdim": "1", "interp": "zoh", "nsample": "2",
    "delay": ".1", "inheritrange": ".5", "timeconst": ".3", "muscle@timeconst": ".3 .4", "bias": ".1 .2 .3",
    "key@time": ".3", "qpos": ".1 .2", "qvel": ".1 .2", "ctrl": ".3", "act": ".3", "mpos": "1 2 3",
    "mquat": ".9 .1 .2 .3", "margin": ".01", "gap": ".001", "solmix": ".5", "count": "2", "replicate@count": "3",
    "offset": "1 2 3", "sep": "-", "include@file": "inner.xml", "file": "none", "config@key": "key",
    "flag": "disable", "springref": "20", "ref": "20", "input": "pos", "ffrange": "-1 1", "velrange": "-1 1",
    "posrange": "-1 1", "muscle@range": ".7 1.1", "orientation@forcerange": "0 1", "damper@ctrlrange": "0 .5",
    "adhesion@ctrlrange": "0 .5", "muscle@lmax": "1.7", "muscle@scale": "3", "fuse": "false", "passthrough": "none",
    "dcmotor@motorconst": ".3 .3", "nominal": "12 3 100",
}  # fmt: skip
ENABLED = ("energy", "fwdinv", "invdiscrete", "multiccd", "island", "override", "sleep", "diagexact", "speculative")
NEEDS = {  # of attributes: what else the element has then; None: what it has not
    "limited": {"range": "-.5 .7"}, "ctrllimited": {"ctrlrange": "-1 1"}, "forcelimited": {"forcerange": "-1 1"},
    "actuatorfrclimited": {"actuatorfrcrange": "-1 1"}, "actlimited": {"actrange": "-1 1"},
    "fullinertia": {"diaginertia": None}, "springref": {"stiffness": "2"}, "springlength": {"stiffness": "2"},
    "site@fromto": {"type": "capsule", "size": ".1"}, "geom@fromto": {"size": ".1"}, "dynprm": {"dyntype": "filter"},
    "actearly": {"dyntype": "filter"}, "general@actrange": {"dyntype": "integrator"},
    "biasprm": {"biastype": "affine"}, "biastype": {"biasprm": "1 -2 -1"}, "dampratio": {"kv": None},
    "site1": {"body1": None, "body2": None, "anchor": None, "site2": "s3"},
    "site2": {"body1": None, "body2": None, "anchor": None, "site1": "s1"},
    "cranklength": {"cranksite": "s1", "slidersite": "s3", **dict.fromkeys(("joint", "tendon"))},
    "cranksite": {"cranklength": ".5", "slidersite": "s3"}, "slidersite": {"cranklength": ".5", "cranksite": "s1"},
    "actdim": {"dyntype": "user"}, "intvelocity@inheritrange": {"actrange": None}, "controller": {"input": "pos"},
    "orientation@joint": {"refsite": None, "site": None}, "site@mesh": {"type": "mesh"}, "site@class": {"pos": None},
    "general@inheritrange": {"biastype": "affine", "gainprm": "2", "biasprm": "0 -2"},
    "refsite": {"site": "s2", **dict.fromkeys(("joint", "tendon"))},
}  # fmt: skip
OF_FILES = {"strippath": "none/shape.obj", "meshdir": "deep.obj", "assetdir": "deep.obj"}
INERTIAL = '<inertial pos=".1 0 0" mass="1" diaginertia=".3 .4 .5"/>'
BODIES = f"""<worldbody><body name="a" pos="0 0 1">{INERTIAL}<joint name="ja" type="hinge" axis="0 1 0"/>
  <site name="s1" pos=".1 .2 .3"/><body name="b" pos="1 0 0"><joint name="jb" type="KIND" AXIS/>
  <geom name="g" type="capsule" size=".1 .2 .3"/><site name="s2" pos=".2 .1 .3"/></body></body>
  MORE</worldbody>"""
SECOND = (
    f'<body name="d" pos="0 0 1">{INERTIAL}<joint name="jd" type="hinge" axis="0 1 0"/><site name="s3" pos="1 1 0"/>'
    '<geom name="round" type="sphere" size=".05" pos=".5 .5 .5"/></body>'
)
TENDONS = """<tendon><spatial name="t0" stiffness="2"><site site="s1"/><site site="s3"/></spatial>
  <fixed name="t2"><joint joint="jd" coef="1"/></fixed>
  <fixed name="t1"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed></tendon>"""
COURSES = {
    tag: f'<tendon><spatial name="t0" stiffness="2"><site site="s1"/>{inside}<site site="s3"/></spatial></tendon>'
    for tag, inside in (("geom", '<geom geom="round"/>'), ("pulley", '<site site="s2"/><pulley/><site site="s1"/>'))
}
CLASSES = """<default><default class="k"><joint damping=".9"/><geom density="500"/><site pos="3 3 3"/>
  <mesh scale="2 2 2"/>
  <tendon damping="7"/><equality active="false"/><general gear="5"/></default></default>"""
ACTUATORS = {  # each with what it needs
    "motor": 'joint="ja"',
    "general": 'joint="ja" gainprm="2"',
    "position": 'joint="ja" kp="2" kv="1"',
    "velocity": 'joint="ja" kv="2"',
    "intvelocity": 'joint="ja" kp="2" actrange="-1 1"',
    "orientation": 'site="s1" refsite="s3" kp="2"',
    "pid": 'joint="ja" kp="2"',
    "damper": 'joint="ja" kv="2" ctrlrange="0 1"',
    "cylinder": 'joint="ja"',
    "muscle": 'tendon="t0" lengthrange=".1 3"',
    "adhesion": 'body="b" ctrlrange="0 1"',
    "dcmotor": 'joint="ja" motorconst=".1 .1" resistance="1"',
    "plugin": 'joint="ja" plugin="mujoco.pid"',
}
EQUALITIES = {
    "connect": 'body1="b" body2="d" anchor="0 0 0"',
    "weld": 'body1="b" body2="d"',
    "joint": 'joint1="ja" joint2="jd" polycoef="0 2 0 0 0"',
    "tendon": 'tendon1="t1" tendon2="t2" polycoef="0 2 0 0 0"',
    "flex": "",
    "flexstrain": "",
    "flexvert": "",
}
ENDS = ("joint", "jointinparent", "tendon", "site", "body", "cranksite", "slidersite")  # that an actuator acts on
OF_KEYS = ("general", "motor", "position", "velocity", "muscle")  # actuators that are read
ACTING = {"range": "-20 20", "damping": "1", "stiffness": "1", "frictionloss": "1"}
COUPLED = f"<equality><joint {EQUALITIES['joint']}/></equality>"
MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
KINDS = ("hinge", "slide", "ball")
OF_BALLS = {"axis", "ref", "springref", "springdamper", "range", "limited"}  # which balls do not have, or not so
INCLUDED = f'<mujocoinclude><worldbody><body name="i">{INERTIAL}</body></worldbody></mujocoinclude>'
SHAPE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
B = ("worldbody", "body", "body")


def document(kind: str = "hinge", more: str = "", sections: str = "") -> ET.Element:
    """Return a model with a joint of a kind, more bodies in the world and more sections."""
    bodies = BODIES.replace("KIND", kind).replace("AXIS", "" if kind == "ball" else 'axis="0 0 1"')
    return ET.fromstring(f'<mujoco model="m">{sections}{bodies.replace("MORE", more)}</mujoco>')


def cases_of_mjcf(place: Place) -> Iterator[Case]:
    """Yield the documents in which a place of MJCF is tried, its path there and the type of the joint."""
    path, attribute = place.path, place.attribute
    top, tag = path[0], path[1] if len(path) > 1 else ""
    classes = CLASSES if attribute in ("class", "childclass") and top != "default" else ""
    if top == "mujoco":
        yield document(), (), "hinge"
    elif top == "body":
        yield from _of_bodies(path[1:], attribute, classes)
    elif top == "default":
        yield from _of_defaults(path, attribute)
    elif top == "tendon":
        root = _needed(document(more=SECOND, sections=classes + TENDONS), tag, attribute)
        if path[-1] in COURSES:
            root = document(more=SECOND, sections=COURSES[path[-1]])
        yield root, path, "hinge"
    elif top == "equality" and tag:
        values = EQUALITIES[tag]
        root = document(more=SECOND, sections=f"{classes}{TENDONS}<equality><{tag} {values}/></equality>")
        yield _needed(root, tag, attribute), path, "hinge"
    elif top == "actuator" and tag:
        yield _driven(tag, ACTUATORS[tag], attribute, classes), path, "hinge"
    elif top == "keyframe":
        moved = f'<body name="d" mocap="true">{INERTIAL}</body>'
        driven = '<actuator><motor joint="ja"/><intvelocity joint="ja" actrange="-1 1"/></actuator>'
        yield document(more=moved, sections=f"{driven}<keyframe><key/></keyframe>"), path, "hinge"
    elif top == "compiler":
        yield _compiled(attribute), path, "hinge"
    elif top == "asset":
        root = document(sections=classes + MESH)
        geom = root.find("worldbody/body/body/geom")
        assert geom is not None
        geom.attrib.clear()
        geom.attrib.update({"type": "mesh", "mesh": "m"})
        yield root, path, "hinge"
    elif top == "option":
        root = document(more=SECOND, sections=f"{TENDONS}<actuator><motor joint='ja'/></actuator>{COUPLED}")
        for element in root.iter("joint"):
            element.attrib.update(ACTING if "type" in element.attrib else {})
        yield root, path, "hinge"
    else:
        yield document(), path, "hinge"


def _compiled(attribute: str) -> ET.Element:
    """Return a model in which a setting of the compiler matters."""
    floating = '<body name="f" euler="10 20 30"><freejoint/><geom size=".1" pos="1 0 0"/>'
    resting = f'<body name="r"><geom size=".1" contype="0" conaffinity="0"/>{INERTIAL}</body>'
    light = f'<body name="l">{INERTIAL.replace(".3 .4 .5", ".1 .1 .9")}</body>' if attribute == "balanceinertia" else ""
    shape = f'<mesh name="q" file="{OF_FILES[attribute]}"/>' if attribute in OF_FILES else ""
    solid = '<geom type="mesh" mesh="q"/>' if shape else ""
    box = '<geom type="box" mesh="m" fitscale="1"/>' if attribute == "fitaabb" else ""
    floating += f'<geom size=".1" group="4"/></body><body name="v"><freejoint/><geom size=".1"/>{INERTIAL}</body>'
    more = f'{floating}{resting}{light}<body name="s">{INERTIAL}{solid}{box}</body>'
    root = document(more=more, sections=MESH.replace("</asset>", f"{shape}</asset>"))
    return _needed(put(root, ("worldbody", "body", "joint"), "range", "-20 20"), "", "")


def _needed(root: ET.Element, tag: str, attribute: str) -> ET.Element:
    """Return a document whose first element of a tag has what an attribute needs."""
    needs = NEEDS.get(f"{tag}@{attribute}", NEEDS.get(attribute, {}))
    if not tag or not needs:
        return root
    sections = [section for section in root if section.tag != "default"]
    at = next(each for section in sections for each in section.iter(tag) if _is_itself(each))
    for name, value in needs.items():
        at.attrib.pop(name, None)
        if value is not None:
            at.set(name, value)
    return root


def _is_itself(element: ET.Element) -> bool:
    """Return whether an element is none that refers to one of its tag."""
    return element.tag not in ("joint", "site", "geom") or {element.tag, "joint1"}.isdisjoint(element.attrib)


def _of_bodies(path: tuple[str, ...], attribute: str, classes: str) -> Iterator[Case]:
    tag = path[0] if path else ""
    if tag == "joint":
        for kind in KINDS:
            if kind != "ball" or attribute not in OF_BALLS:
                root = document(kind, sections=classes)
                if attribute in NEEDS:
                    for name, value in NEEDS[attribute].items():
                        root = put(root, (*B, tag), name, value)
                yield root, (*B, *path), kind
    elif tag == "freejoint":
        yield document(more=f'<body name="d">{INERTIAL}<freejoint/></body>'), ("worldbody", "body#1", tag), "free"
    elif tag == "inertial":
        yield _needed(document(), tag, attribute), ("worldbody", "body", tag), "hinge"
    elif tag == "geom":
        sections = classes + (MESH if attribute in ("mesh", "fitscale") else "")
        root = document(sections=sections)
        if attribute == "fitscale":
            root = put(root, (*B, "geom"), "mesh", "m")
        yield _needed(root, tag, attribute), (*B, *path), "hinge"
    elif tag == "site":
        root = document(more=SECOND, sections=classes + TENDONS + (MESH if attribute == "mesh" else ""))
        yield _needed(root, tag, attribute), ("worldbody", "body", *path), "hinge"
    elif tag in ("frame", "replicate"):
        inside = f"<{tag}{' count=' + chr(34) + '2' + chr(34) if tag == 'replicate' else ''}>{SECOND}</{tag}>"
        yield document(more=inside, sections=classes), ("worldbody", *path), "hinge"
    elif attribute == "fuse":
        root = document(sections='<compiler fusestatic="true"/>')
        root.findall("worldbody/body")[0].append(ET.fromstring(f'<body name="e">{INERTIAL}</body>'))
        yield root, ("worldbody", "body", "body#1", *path), "hinge"
    elif attribute == "sleep":
        yield document(), ("worldbody", "body", *path), "hinge"
    elif attribute == "mocap":
        yield document(more=f'<body name="d">{INERTIAL}</body>'), ("worldbody", "body#1", *path), "hinge"
    else:
        yield document(sections=classes), (*B, *path), "hinge"


def _of_defaults(path: tuple[str, ...], attribute: str) -> Iterator[Case]:
    """Yield documents whose elements leave an attribute to the default."""
    tag = path[1] if len(path) > 1 else ""
    if tag in ACTUATORS:
        usual = f"<default><dcmotor {ACTUATORS[tag].partition(' ')[2]}/></default>" if tag == "dcmotor" else ""
        root = _driven(tag, ACTUATORS[tag], attribute, usual)
    elif tag == "equality":
        root = document(more=SECOND, sections=f"{TENDONS}<equality><joint {EQUALITIES['joint']}/></equality>")
    elif tag == "tendon":
        root = document(more=SECOND, sections=TENDONS)
    elif tag == "geom":
        root = document(sections=MESH if attribute in ("mesh", "fitscale") else "")
    elif tag == "mesh":
        root = next(cases_of_mjcf(Place(("asset",), "", "")))[0]
    else:
        root = document(more=SECOND, sections=TENDONS + MESH if attribute == "mesh" else TENDONS)
    if attribute == "fitscale":
        root = put(root, (*B, "geom"), "mesh", "m")
    needs = NEEDS.get(f"{tag}@{attribute}", NEEDS.get(attribute, {}))
    for element in root.iter():
        if element.tag in (tag, *(("spatial", "fixed") if tag == "tendon" else ())) and _is_itself(element):
            for name, value in needs.items() if element.attrib else ():
                element.attrib.pop(name, None)
                if value is not None:
                    element.set(name, value)
            element.attrib.pop(attribute, None)
    yield root, path, "hinge"


def _driven(tag: str, values: str, attribute: str, classes: str) -> ET.Element:
    """Return a model with an actuator, without what it acts on where ``attribute`` says that."""
    plain = tag in OF_KEYS and attribute not in ("refsite", "dynprm", "actearly", "actdim", "cranklength")
    key = "<keyframe><key ctrl='1'/></keyframe>" if plain else ""
    actuator = f"<actuator><{tag} name='u' {values}/></actuator>{key}"
    root = document(more=SECOND, sections=f"{classes}{TENDONS}{actuator}")
    if attribute == "inheritrange":
        root = put(root, ("worldbody", "body", "joint"), "range", "-.5 .7")
    if attribute in ENDS:
        at = root.find(f"actuator/{tag}")
        assert at is not None
        for end in ENDS:
            at.attrib.pop(end, None)
    return _needed(root, tag, attribute)


def values_of_mjcf(place: Place) -> list[str]:
    """Return values of MJCF to try."""
    tag, name = place.path[-1], place.attribute
    if not name:
        return [""]
    if tag == "flag":
        return ["enable" if name in ENABLED else "disable"]
    return [VALUES.get(f"{place.path[0]}/@{name}") or VALUES.get(f"{tag}@{name}") or VALUES.get(name) or "0.37"]
