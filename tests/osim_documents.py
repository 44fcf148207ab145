"""Small models of OpenSim, into which each element of the classes that are read is put."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from format_elements import VALUES, Place, put

PART = "<{0}><BushingForce name='f'/></{0}>"
INSIDE = {  # of elements with elements in them, by their type
    "set": "<{0}><objects><Marker name='m'/></objects></{0}>",
    "part": PART,
    "mesh": "<{0}><Mesh name='m'><mesh_file>a.vtp</mesh_file></Mesh></{0}>",
    "frame": "<{0}><scale_factors>1 1 1</scale_factors></{0}>",
    "body": "<{0}><objects><Body name='z'/></objects></{0}>",
    "joint": "<{0}><objects/></{0}>",
    "constraint": "<{0}><objects><WeldConstraint name='z'/></objects></{0}>",
    "force": "<{0}><objects><BushingForce name='z'/></objects></{0}>",
    "coordinate": "<{0}><Coordinate name='qz'/></{0}>",
    "function": "<{0}><LinearFunction><coefficients>3 0</coefficients></LinearFunction></{0}>",
}
NAMED = {
    "socket_parent_frame": ["/bodyset/a"], "socket_child_frame": ["/ground"], "socket_parent": ["/bodyset/a"],
    "inertia": ["0.2 0.3 0.4 0 0 0"], "coordinates": ["qb"], "dependent_coordinate_name": ["qc"],
    "independent_coordinate_names": ["qc"], "wrap_object": ["roll", "none"], "quadrant": ["y"], "method": ["midpoint"],
    "PathWrap/range": ["1 1", "2 2", "-1 -1"], "scale_factor": ["0.37"],
}  # fmt: skip
LINE = "<LinearFunction><coefficients>2 0</coefficients></LinearFunction>"


def _body(name: str, wraps: str = "") -> str:
    mass = "<mass>1</mass><mass_center>0 -.5 0</mass_center><inertia>.1 .1 .1 0 0 0</inertia>"
    return f'<Body name="{name}">{mass}<WrapObjectSet><objects>{wraps}</objects></WrapObjectSet></Body>'


def _ends(parent: str, child: str) -> str:
    return f"<socket_parent_frame>{parent}</socket_parent_frame><socket_child_frame>{child}</socket_child_frame>"


WRAPS = "".join(
    f'<{tag} name="{name}"><translation>.05 -.1 0</translation><radius>.02</radius>{more}</{tag}>'
    for tag, name, more in (
        ("WrapSphere", "ball", "<quadrant>x</quadrant>"),
        ("WrapCylinder", "roll", "<length>1</length>"),
    )
)
FRAME = (
    '<PhysicalOffsetFrame name="off"><socket_parent>/bodyset/b</socket_parent><translation>.1 0 0</translation>'
    "<orientation>.1 0 0</orientation></PhysicalOffsetFrame>"
)
JOINTS = (
    f'<PinJoint name="p">{_ends("/ground", "/bodyset/a")}<coordinates><Coordinate name="qa"/></coordinates></PinJoint>'
    f'<PinJoint name="r">{_ends("/bodyset/a", "/bodyset/b")}<coordinates><Coordinate name="qb"/></coordinates>'
    f'</PinJoint><CustomJoint name="s">{_ends("off", "/bodyset/c")}<coordinates><Coordinate name="qc"/></coordinates>'
    f'<frames>{FRAME}</frames><SpatialTransform><TransformAxis name="rotation1"><coordinates>qc</coordinates>'
    f"<axis>0 0 1</axis><function>{LINE}</function></TransformAxis></SpatialTransform></CustomJoint>"
)
COUPLER = (
    '<CoordinateCouplerConstraint name="c"><isEnforced>true</isEnforced><coupled_coordinates_function>'
    f"<MultiplierFunction><function>{LINE}</function><scale>2</scale></MultiplierFunction></coupled_coordinates_function>"
    "<independent_coordinate_names>qa</independent_coordinate_names>"
    "<dependent_coordinate_name>qb</dependent_coordinate_name></CoordinateCouplerConstraint>"
)
POINTS = "".join(
    f'<PathPoint name="{name}"><socket_parent_frame>{on}</socket_parent_frame><location>{at}</location></PathPoint>'
    for name, on, at in (
        ("one", "/ground", "0 .2 0"),
        ("two", "/bodyset/a", ".05 -.4 0"),
        ("3", "/bodyset/b", "0 -1 0"),
    )
)
ELEMENTS = {
    "path": f"<path><GeometryPath><PathPointSet><objects>{POINTS}</objects></PathPointSet></GeometryPath></path>",
}
DEGREES = {  # of the joints that have the properties of PinJoint
    "PinJoint": 1,
    "SliderJoint": 1,
    "UniversalJoint": 2,
    "GimbalJoint": 3,
    "BallJoint": 3,
    "PlanarJoint": 3,
    "FreeJoint": 6,
}
KINDS = ("Thelen2003Muscle", "Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle")


def document(kind: str = KINDS[0], wrap: str = "ball", constraint: str = COUPLER) -> ET.Element:
    """Return a model with a muscle of a kind around a surface."""
    around = f'<PathWrap name="w"><wrap_object>{wrap}</wrap_object><range>-1 -1</range></PathWrap>'
    muscle = (
        f'<{kind} name="m"><GeometryPath name="path"><PathPointSet><objects>{POINTS}</objects></PathPointSet>'
        f"<PathWrapSet><objects>{around}</objects></PathWrapSet></GeometryPath></{kind}>"
    )
    sets = {"BodySet": _body("a", WRAPS) + _body("b") + _body("c"), "JointSet": JOINTS, "ConstraintSet": constraint}
    sets["ForceSet"] = muscle
    inside = "".join(f"<{name}><objects>{objects}</objects></{name}>" for name, objects in sets.items())
    return ET.fromstring(f'<OpenSimDocument Version="40000"><Model name="m">{inside}</Model></OpenSimDocument>')


CUSTOM_AT = ("Model", "JointSet", "objects", "CustomJoint")
COUPLER_AT = ("Model", "ConstraintSet", "objects", "CoordinateCouplerConstraint")
FUNCTION_AT = (*COUPLER_AT, "coupled_coordinates_function", "MultiplierFunction")
AT = {  # of the classes in the list
    "Model": ("Model",),
    "Body": ("Model", "BodySet", "objects", "Body"),
    "PinJoint": ("Model", "JointSet", "objects", "PinJoint#1"),
    "CustomJoint": CUSTOM_AT,
    "CoordinateCouplerConstraint": COUPLER_AT,
    "MultiplierFunction": FUNCTION_AT,
    **{tag: (*FUNCTION_AT, "function", tag) for tag in ("LinearFunction", "Constant", "PolynomialFunction")},
    "WrapSphere": ("Model", "BodySet", "objects", "Body", "WrapObjectSet", "objects", "WrapSphere"),
    "WrapCylinder": ("Model", "BodySet", "objects", "Body", "WrapObjectSet", "objects", "WrapCylinder"),
}
FUNCTIONS = {
    "Constant": "<Constant><value>2</value></Constant>",
    "PolynomialFunction": "<PolynomialFunction><coefficients>2 0</coefficients></PolynomialFunction>",
}
WITHIN = {  # where elements of the list are in those around them
    "Coordinate": ("coordinates", "Coordinate"),
    "TransformAxis": ("SpatialTransform", "TransformAxis"),
    "PhysicalOffsetFrame": ("frames", "PhysicalOffsetFrame"),
    "PathPoint": ("PathPointSet", "objects", "PathPoint#1"),
    "PathWrap": ("PathWrapSet", "objects", "PathWrap"),
}


def with_joint(kind: str) -> ET.Element:
    """Return a model whose second joint is of a class."""
    root = document(constraint="")
    joint = list(root.iter("PinJoint"))[1]
    joint.tag, coordinates = kind, joint.find("coordinates")
    coordinates[:] = [ET.Element("Coordinate", name=f"qb{number or ''}") for number in range(DEGREES[kind])]
    return root


def cases_of_osim(place: Place) -> Iterator[tuple[ET.Element, tuple[str, ...], str]]:
    """Yield the documents in which a place of OSIM is tried, its path there and the class of the muscle or joint."""
    top, *rest = place.path
    inside = [tag for each in rest for tag in WITHIN.get(each, (each,))]
    if top == "PinJoint" and "Coordinate" in rest:
        for kind, degrees in DEGREES.items():
            at = (*AT[top][:-1], "PinJoint#1" if kind == top else kind)
            for number in range(degrees):
                numbered = [f"{tag}#{number}" if tag == "Coordinate" else tag for tag in inside]
                yield with_joint(kind), (*at, *numbered), kind
        return
    muscles = [kind for kind in KINDS if top in (kind, "Muscle")] or KINDS[:1]
    for kind in muscles:
        muscle = ("Model", "ForceSet", "objects", kind)
        at = AT.get(top) or (muscle if top in (*KINDS, "Muscle") else (*muscle, "GeometryPath"))
        root = document(kind, "roll" if top == "WrapCylinder" else "ball")
        if top in FUNCTIONS:
            root = put(root, at[:-1], "", f"<function>{FUNCTIONS[top]}</function>")
        if place.path[-1] == "path":
            root = put(root, (*muscle, "GeometryPath"), "", None)
        yield root, (*at, *inside), kind


def values_of_osim(place: Place) -> list[str]:
    """Return values of OSIM to try: texts, or elements."""
    tag = place.path[-1]
    if tag in ELEMENTS:
        return [ELEMENTS[tag]]
    if place.type in INSIDE:
        return [INSIDE[place.type].format(tag)]
    return NAMED.get("/".join(place.path[-2:])) or NAMED.get(tag) or VALUES.get(place.type) or ["text"]
