"""Small files of robots, into which each element and attribute of their formats is put, and the table of results."""

import copy
import functools
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from format_elements import READ, REFUSED, REPORTED, SILENT, VALUES, Place, answer, is_container, parsed, places
from mjcf_documents import INCLUDED, OF_KEYS, SHAPE, cases_of_mjcf, values_of_mjcf
from osim_documents import cases_of_osim, values_of_osim

LINK = """<link name="{name}"><pose>{pose}</pose><inertial><pose>0 0 .1 .1 .2 .3</pose><mass>1</mass>
  <inertia><ixx>.4</ixx><iyy>.5</iyy><izz>.6</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
  <collision name="c"><pose>0 0 .2 0 0 0</pose><geometry>{shape}</geometry></collision>
  <visual name="v"><pose>0 0 .2 0 0 0</pose><geometry>{shape}</geometry></visual></link>"""
AXIS = """<{tag}><xyz>{xyz}</xyz><limit><lower>-1</lower><upper>1</upper></limit>
  <dynamics><damping>.1</damping><friction>.1</friction>
  <spring_stiffness>2</spring_stiffness></dynamics></{tag}>"""
JOINTS = {  # type to its elements
    "revolute": AXIS.format(tag="axis", xyz="0 1 0"),
    "prismatic": AXIS.format(tag="axis", xyz="0 1 0"),
    "universal": AXIS.format(tag="axis", xyz="0 1 0") + AXIS.format(tag="axis2", xyz="0 0 1"),
    "screw": AXIS.format(tag="axis", xyz="0 1 0") + "<thread_pitch>.1</thread_pitch>",
    "gearbox": "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>",
    "ball": "",
    "fixed": "",
}  # fmt: skip
SHAPES = {
    "box": "<size>1 2 3</size>",
    "cylinder": "<radius>.1</radius><length>.2</length>",
    "capsule": "<radius>.1</radius><length>.2</length>",
    "sphere": "<radius>.1</radius>",
    "ellipsoid": "<radii>.1 .2 .3</radii>",
    "plane": "<normal>0 0 1</normal><size>1 1</size>",
    "drake:capsule": "<radius>.1</radius><length>.2</length>",
    "drake:ellipsoid": "<a>.1</a><b>.2</b><c>.3</c>",
    "mesh": "<uri>a.stl</uri><scale>1 1 1</scale>",
}
LIST = ("link#2", "link#2")
LINK_AT = ("world", "model", "link#1")
JOINT_AT = ("world", "model", "joint#1")
GEOMETRY_AT = (*LINK_AT, "collision", "geometry")
STATE_AT = ("world", "state", "model_state")
SDF_AT = {  # of the lists, by the first tag of the path
    "root": (), "world": ("world",), "model": ("world", "model"), "link": LINK_AT, "joint": JOINT_AT,
    "inertial": (*LINK_AT, "inertial"), "collision": (*LINK_AT, "collision"), "visual": (*LINK_AT, "visual"),
    "geometry": GEOMETRY_AT, "surface": (*LINK_AT, "collision", "surface"),
    "pose": ("world", "model", "link#3", "pose"),
    "mimic": (*JOINT_AT, "axis", "mimic"), "frame": ("world", "model", "frame"), "physics": ("world", "physics"),
    "collision_engine": ("world", "physics", "collision_engine"), "plugin": ("world", "model", "plugin"),
    "gripper": ("world", "model", "gripper"), "state": ("world", "state"), "model_state": STATE_AT,
    "joint_state": (*STATE_AT, "joint_state"), "link_state": (*STATE_AT, "link_state"), "actor": ("world", "actor"),
    "urdf": ("urdf",), "gazebo": (), "cone_shape": (*GEOMETRY_AT, "cone"), "polyline_shape": (*GEOMETRY_AT, "polyline"),
} | {f"{shape}_shape": (*GEOMETRY_AT, shape) for shape in SHAPES}  # fmt: skip
OTHERS = {
    "drake:joint": '<drake:joint name="d" type="planar"><drake:parent>b</drake:parent><drake:child>c</drake:child>'
    "<drake:damping>1 2 3</drake:damping><pose>0 0 0 0 0 0</pose></drake:joint>",
    "drake:ball_constraint": "<drake:ball_constraint>"
    + "".join(
        f"<drake:ball_constraint_{tag}>{value}</drake:ball_constraint_{tag}>"
        for tag, value in (("body_A", "b"), ("body_B", "c"), ("p_AP", "1 0 0"), ("p_BQ", "0 1 0"))
    )
    + "</drake:ball_constraint>",
}
AROUND = ("include", "mimic", "drake:mimic", *OTHERS)  # elements without which those inside are wrong
NAMED = {  # values of elements and attributes that name other parts of the file
    "relative_to": ["b"], "frame": ["b"], "expressed_in": ["tip"], "attached_to": ["b"], "canonical_link": ["b"],
    "placement_frame": ["tip"], "parent": ["c"], "child": ["c"], "gearbox_reference_body": ["b"], "joint": ["j1"],
    "drake:parent": ["c"], "drake:child": ["c"], "link": ["c"], "rotation_format": ["quat_xyzw"], "type": ["ball"],
    "version": ["1.4", "1.1"],
    "ixy": ["0.02"], "ixz": ["0.02"], "iyz": ["0.02"], "name": ["other"],
    "reference": ["0.37"], "uri": ["inner.sdf"], "filename": ["b.stl"], "axis": ["axis2"],
}  # fmt: skip
INNER = (
    LINK.format(name="a", pose="0 0 0 0 0 0", shape="<empty/>") + '<frame name="tip"><pose>1 0 0 0 0 0</pose></frame>'
)
TOLD = ("sensor", "contact", "custom", "extension")  # elements of MJCF that are told as a whole
WITHOUT_MEANING = {  # names, by which others refer to them, and what says that nothing is there
    "geometry/empty": "no shape",
    "joint/axis/use_parent_model_frame of gearbox": "axes of the file say in what they are expressed",
    "joint/axis2/use_parent_model_frame of gearbox": "likewise",
    "joint/pose of fixed": "a frame that nothing refers to",
    "joint/pose of gearbox": "likewise: its axes are those of the model",
    **dict.fromkeys([f"actuator/{tag}@lengthrange" for tag in OF_KEYS if tag != "muscle"], "of muscles"),
    "PinJoint/frames": "that nothing refers to",
    **dict.fromkeys(("Body/WrapObjectSet", "GeometryPath/PathWrapSet"), "of elements that are tried"),
    **dict.fromkeys(("Model/Ground/WrapObjectSet", "CustomJoint/PhysicalOffsetFrame/WrapObjectSet"), "likewise"),
    "compiler@coordinate": "has one value",
    "compiler@conflict": "of <attach>, which is refused",
    "asset/mesh@params": "of builtin meshes, which are refused",
    "asset/mesh@content_type": "of files, whose suffix says the same",
}


def without_angles(root: ET.Element, place: Place) -> ET.Element:
    """Return a document without the angles that a quaternion would contradict."""
    if place.attribute != "quat_xyzw":
        return root
    root = copy.deepcopy(root)
    for origin in root.iter("origin"):
        origin.attrib.pop("rpy", None)
    return root


def is_without_meaning(place: Place, kind: str) -> bool:
    """Return whether an element or attribute says nothing by itself."""
    named = place.attribute == "name" and place.path[0] not in TOLD
    return named or not {str(place), f"{place} of {kind}"}.isdisjoint(WITHOUT_MEANING)


@functools.cache
def sdf(kind: str, shape: str, more: str = "") -> ET.Element:
    """Return a world with a joint of a type, on links with a shape; ``more``: with what an element needs around it."""
    solid = f"<{shape}>{SHAPES[shape]}</{shape}>"
    names = {"base": "0 0 0 0 0 0", "a": "1 0 0 0 0 .3", "b": "2 0 0 .2 0 0", "c": "3 0 0 .1 0 0"}
    links = "".join(LINK.format(name=name, pose=pose, shape=solid) for name, pose in names.items())
    links = links.replace("<pose>3", '<pose relative_to="tip">3')
    first = f'<joint name="j1" type="revolute"><parent>base</parent><child>a</child>{JOINTS["revolute"]}</joint>'
    joint = f'<joint name="j2" type="{kind}"><pose>0 0 0 0 .2 0</pose><parent>a</parent><child>b</child>'
    joint += f"{JOINTS[kind]}</joint>"
    third = f'<joint name="j3" type="revolute"><parent>base</parent><child>b</child>{JOINTS["revolute"]}</joint>'
    tip = '<frame name="tip" attached_to="a"><pose>.1 .2 .3 .4 .5 .6</pose></frame>'
    if kind == "gearbox":  # whose axes have to be parallel
        first, joint, third = (
            text.replace("<xyz>", '<xyz expressed_in="__model__">') for text in (first, joint, third)
        )
    others = OTHERS.get(more, "")
    include = "<include><uri>inner.sdf</uri></include>" if more == "include" else ""
    if more == "mimic":
        joint = joint.replace("</axis>", '<mimic joint="j1"><multiplier>2</multiplier></mimic></axis>')
    if more == "drake:mimic":
        joint = joint.replace("</joint>", '<drake:mimic joint="j1" multiplier="2"/></joint>')
    return parsed(
        f'<sdf version="1.9"><world name="w"><gravity>0 0 -9.81</gravity><model name="m">'
        f"<pose>0 0 1 .3 .2 .1</pose>{tip}"
        f"{links}{first}{joint}{third if kind == 'gearbox' else ''}{others}{include}</model>{include}</world></sdf>"
    )


def values_of_sdf(place: Place) -> list[str]:
    """Return values to try."""
    name = place.attribute or place.path[-1]
    if place.type.startswith(">"):
        return [""]
    return NAMED.get(name) or VALUES.get(place.type) or ["text"]


def cases_of_sdf(place: Place):
    """Yield the documents in which a place of SDF is tried, with its path there."""
    top, *rest = place.path
    path = (*SDF_AT[top], *rest)
    kinds = JOINTS if top == "joint" else ["revolute"]
    shape = top.removesuffix("_shape") if top.removesuffix("_shape") in SHAPES else "box"
    shape = rest[0] if top == "geometry" and rest and rest[0] in SHAPES else shape
    for kind in kinds:
        more = next((tag for tag in path if tag in AROUND), "")
        yield sdf(kind, shape, more if "mimic" not in more or kind in ("revolute", "prismatic") else ""), path, kind


URDF_LINK = """<link name="{name}"><inertial><origin xyz="0 0 .1" rpy=".1 .2 .3"/><mass value="1"/>
  <inertia ixx=".4" iyy=".5" izz=".6" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 .2" rpy="0 0 0"/><geometry>{shape}</geometry></collision>
  <visual><origin xyz="0 0 .2" rpy="0 0 0"/><geometry>{shape}</geometry></visual></link>"""
URDF_JOINT = """<{tag} name="{name}" type="{kind}"><origin xyz="1 0 0" rpy=".1 0 0"/><parent link="{a}"/>
  <child link="{b}"/>{more}</{tag}>"""
ACTING = '<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping=".1" friction=".1"/>'
URDF_KINDS = {  # type to the elements of its joint
    "revolute": '<axis xyz="0 1 0"/>' + ACTING,
    "continuous": '<axis xyz="0 1 0"/><dynamics damping=".1" friction=".1"/>',
    "prismatic": '<axis xyz="0 1 0"/>' + ACTING,
    "planar": '<axis xyz="0 1 0"/>',
    "fixed": "",
    "floating": "",
    "spherical": "",
}
MIMIC = '<mimic joint="j1" multiplier="2"/>'
DRAKE_KINDS = ("ball", "planar", "universal")
URDF_SHAPES = {
    "box": 'size="1 2 3"', "sphere": 'radius=".1"', "cylinder": 'radius=".1" length=".2"',
    "capsule": 'radius=".1" length=".2"', "mesh": 'filename="a.stl" scale="1 1 1"',
    "drake:capsule": 'radius=".1" length=".2"', "drake:ellipsoid": 'a=".1" b=".2" c=".3"',
}  # fmt: skip
URDF_NAMED = {
    "xyz": ["0.3 0.4 0.5"], "rpy": ["0.3 0.4 0.5"], "ixy": ["0.02"], "ixz": ["0.02"],
    "iyz": ["0.02"], "size": ["3 4 5"], "scale": ["3 4 5"], "rgba": ["0.1 0.2 0.3 1"],
    "filename": ["b.stl"], "type": ["fixed", "ball"], "link": ["l4"], "joint": ["j1"], "version": ["1.1", "9"],
    "drake:rotor_inertia": ["0.3"], "multiplier": ["0.37"],
}  # fmt: skip


@functools.cache
def urdf(tag: str, kind: str, shape: str, more: str = "") -> ET.Element:
    """Return a robot with a joint of a type, on links with a shape."""
    links = "".join(URDF_LINK.format(name=f"l{n}", shape=f"<{shape} {URDF_SHAPES[shape]}/>") for n in range(5))
    joints = [("joint", "j1", "revolute", "l0", "l1", URDF_KINDS["revolute"]), (tag, "j2", kind, "l1", "l2", "")]
    joints += [
        ("joint", "j3", "prismatic", "l2", "l3", URDF_KINDS["prismatic"]),
        ("joint", "j4", "fixed", "l0", "l4", ""),
    ]
    elements = ""
    for name, each, type_, a, b, inside in joints:
        inside = URDF_KINDS[kind] if each == "j2" and tag == "joint" else inside
        inside = inside + MIMIC if each == "j2" and more == "mimic" else inside
        elements += URDF_JOINT.format(tag=name, name=each, kind=type_, a=a, b=b, more=inside)
    rotor = '<drake:rotor_inertia value=".1"/><drake:gear_ratio value="2"/>'
    text = f'<transmission name="t"><joint name="j1"/><actuator name="m">{rotor}</actuator></transmission>'
    return parsed(f'<robot name="r">{links}{elements}{text if more == "motor" else ""}</robot>')


def cases_of_urdf(place: Place) -> Iterator[tuple[ET.Element, tuple[str, ...], str]]:
    """Yield the documents in which a place of URDF is tried, its path there and the type of the joint."""
    path, shape = place.path[1:], "box"
    if path[:1] == ("joint",):
        for kind in URDF_KINDS:
            more = "mimic" if "mimic" in path and kind in ("revolute", "prismatic") else ""
            yield urdf("joint", kind, shape, more), ("joint#1", *path[1:]), kind
    elif path[:1] == ("drake:joint",):
        for kind in DRAKE_KINDS:
            yield urdf("drake:joint", kind, shape), path, kind
    else:
        if path[:1] == ("link",):
            path = ("link#2", *path[1:])
            shape = next((tag for tag in path if tag in URDF_SHAPES), shape)
        motor = place.path[-1] in ("drake:rotor_inertia", "drake:gear_ratio")
        yield urdf("joint", "revolute", shape, "motor" if motor else ""), path, "revolute"


def values_of_urdf(place: Place) -> list[str]:
    """Return values of URDF to try."""
    return URDF_NAMED.get(place.attribute or place.path[-1]) or VALUES.get(place.type) or ["text"]


FORMATS = {
    "sdf": (cases_of_sdf, values_of_sdf),
    "urdf": (cases_of_urdf, values_of_urdf),
    "mjcf": (cases_of_mjcf, values_of_mjcf),
    "osim": (cases_of_osim, values_of_osim),
}


def tag_of(place: Place) -> str:
    """Return the tag that a place is grouped by: of URDF the one below the robot."""
    return place.path[min(1, len(place.path) - 1)] if place.path[0] == "robot" else place.path[0]


def tags(name: str) -> list[str]:
    """Return the tags of a format."""
    return sorted({tag_of(place) for place in places(name)})


def write_parts(folder: Path) -> None:
    """Write the files that the documents refer to."""
    (folder / "inner.sdf").write_text(f'<sdf version="1.9"><model name="i">{INNER}</model></sdf>')
    (folder / "inner.xml").write_text(INCLUDED)
    (folder / "inside").mkdir(exist_ok=True)
    for file in ("shape.obj", "inside/deep.obj"):
        (folder / file).write_text(SHAPE)


def answers(name: str, tag: str, folder: Path) -> dict[str, list[str]]:
    """Return the elements and attributes of a format below a tag by what becomes of them: silent if so anywhere."""
    write_parts(folder)
    listed, (cases, values) = places(name), FORMATS[name]
    sorted_places: dict[str, list[str]] = {READ: [], REPORTED: [], REFUSED: [], SILENT: []}
    for place in listed:
        if tag_of(place) != tag or is_container(place, listed):
            continue
        kinds = {
            READ
            if is_without_meaning(place, kind)
            else answer(without_angles(root, place), path, place.attribute, values(place), folder / f"a.{name}")
            for root, path, kind in cases(place)
        }
        kind = next(kind for kind in (SILENT, READ, REPORTED, REFUSED) if kind in kinds)
        sorted_places[kind].append(str(place).removeprefix("robot/").removeprefix(f"{tag}/"))
    return sorted_places


def row(name: str, tag: str, listed: dict[str, list[str]]) -> str:
    """Return the row of the table of a page."""
    names = [", ".join(f"`{place}`" for place in listed[kind]) for kind in (READ, REFUSED)]
    return f"| {name.upper()} | `{tag}` | {names[0]} | {len(listed[REPORTED])} | {names[1]} |\n"
