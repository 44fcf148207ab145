"""Files that somebody made to take time or memory: fifty for each reader, small or of a few megabytes."""

import json
import random
import struct
from collections.abc import Callable, Iterator

MANY = 100_000  # characters
FEW = 2000  # parts
DEEP = 50_000
ENTITIES = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
Inputs = dict[str, str | bytes]


class XMLKind:
    """A format in XML: the smallest mechanism with slots, and a body on a joint below another body."""

    def __init__(self, suffix: str, document: str, part: str) -> None:
        self.suffix, self.text, self.part = suffix, document, part

    def document(
        self, inside: str = "", number: str = "1", name: str = "a", head: str = "", attribute: str = ""
    ) -> str:
        slots = {"INSIDE": inside, "NUMBER": number, "NAME": name, "ATTRIBUTE": attribute}
        text = self.text
        for slot, value in slots.items():
            text = text.replace(slot, value)
        return head + text

    def parts(self, pairs: list[tuple[str, str]]) -> str:
        """Return parts by name and the name of the parent."""
        return "".join(self.part.replace("NAME", name).replace("PARENT", parent) for name, parent in pairs)


OF_URDF = XMLKind(
    ".urdf",
    '<robot name="r" ATTRIBUTE><link name="NAME"><inertial><mass value="NUMBER"/><inertia ixx="1" iyy="1" izz="1"/>'
    "</inertial></link>INSIDE</robot>",
    '<link name="NAME"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    '<joint name="j_NAME" type="continuous"><parent link="PARENT"/><child link="NAME"/></joint>',
)
OF_SDF = XMLKind(
    ".sdf",
    '<sdf version="1.9"><model name="m" ATTRIBUTE><link name="NAME"><inertial><mass>NUMBER</mass></inertial></link>'
    "INSIDE</model></sdf>",
    '<link name="NAME"/><joint name="j_NAME" type="revolute"><parent>PARENT</parent><child>NAME</child>'
    "<axis><xyz>0 1 0</xyz></axis></joint>",
)
OF_MJCF = XMLKind(
    ".xml",
    '<mujoco><worldbody><body name="NAME" ATTRIBUTE><joint/><geom size=".1" mass="NUMBER"/></body></worldbody>'
    "INSIDE</mujoco>",
    '<worldbody><body name="NAME"><joint name="j_NAME"/><geom size=".1"/></body></worldbody>'
    '<equality><connect body1="NAME" body2="PARENT" anchor="0 0 0"/></equality>',
)
OF_OSIM = XMLKind(
    ".osim",
    '<OpenSimDocument Version="40000"><Model name="m" ATTRIBUTE><BodySet><objects><Body name="NAME"><mass>NUMBER</mass>'
    "<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>INSIDE</Model></OpenSimDocument>",
    '<BodySet><objects><Body name="NAME"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>'
    '<JointSet><objects><PinJoint name="j_NAME"><socket_parent_frame>PARENT</socket_parent_frame>'
    "<socket_child_frame>NAME</socket_child_frame></PinJoint></objects></JointSet>",
)


def xml_inputs(kind: XMLKind) -> Inputs:
    """Return the inputs that differ between the formats in XML by their elements only."""
    whole, parts = kind.document, kind.parts
    chain = [(f"b{k}", f"b{k - 1}" if k else "a") for k in range(FEW)]
    return {
        "nothing": "",
        "blanks": " \n" * MANY,
        "zero bytes": "\0" * MANY + "x",
        "zero bytes behind": whole() + "\0" * MANY,
        "zero bytes in a tag": whole(attribute="\0" * MANY),
        "noise": random.Random(1).randbytes(MANY),
        "UTF-16 cut short": b"\xff\xfe" + b"<\0" * MANY,
        "an unknown encoding": whole(head='<?xml version="1.0" encoding="none"?>'),
        "a long encoding": whole(head=f'<?xml version="1.0" encoding="{"e" * MANY}"?>'),
        "comments with hyphens": whole(head="<!-- a--b -->" * (MANY // 10)),
        "comments before a defect": whole("<!-- remark -->\n" * (MANY // 10) + "<!-- a--b -->"),
        "comments that stay open": whole("<!--" * MANY),
        "sections that stay open": whole("<![CDATA[" * MANY),
        "instructions": whole(head="<?remark ?>\n" * (MANY // 10)),
        "instructions that stay open": whole("<?a" * MANY),
        "tags that stay open": "<a" * MANY,
        "angles": "<" * MANY,
        "quotes": "<a b='" + '"' * MANY,
        "joined attributes": whole(attribute="b=''" * (MANY // 4)),
        "many attributes": whole(attribute=" ".join(f'x{k}=""' for k in range(DEEP))),
        "repeated attributes": whole(attribute='x="" ' * DEEP),
        "a long attribute": whole(attribute=f'x="{"1 " * 10 * MANY}"'),
        "a long text": whole("<x>" + "1 " * 10 * MANY + "</x>"),
        "a text in pieces": whole("<x>" + "1&lt;" * MANY + "</x>"),
        "a long name": whole(name="n" * MANY),
        "a long tag": whole("<" + "t" * 10 * MANY + "/>"),
        "namespaces": whole("<" + "a:" * MANY + "/>"),
        "declared namespaces": whole(attribute=" ".join(f'xmlns:n{k}="u"' for k in range(DEEP))),
        "deep elements": whole("<a>" * MANY),
        "deep elements of one body": whole("<link>" * 150 + "</link>" * 150),
        "many elements": whole("<x/>" * 4 * MANY),
        "many unknown elements": whole("".join(f"<x{k}/>" for k in range(DEEP // 10))),
        "entities in one another": whole("<x>&e11;</x>", head=f'<!DOCTYPE r [<!ENTITY e0 "x">{ENTITIES}]>'),
        "an entity of a file": whole("<x>&e;</x>", head='<!DOCTYPE r [<!ENTITY e SYSTEM "/dev/zero">]>'),
        "an external type": whole(head='<!DOCTYPE r SYSTEM "/dev/zero">'),
        "a parameter entity": whole(head='<!DOCTYPE r [<!ENTITY % e SYSTEM "/dev/zero"> %e;]>'),
        "declared elements": whole(head=f"<!DOCTYPE r [{'<!ELEMENT a (a|b)*>' * (MANY // 20)}]>"),
        "a long number": whole(number="1" * MANY),
        "a long fraction": whole(number="1." + "0" * 90_000 + "1"),
        "a power without end": whole(number="1e" + "9" * 1000),
        "no number": whole(number="nan"),
        "numbers": whole(number="1 " * (MANY // 3)),
        "underscores": whole(number="1_" * (MANY // 3) + "1"),
        "one name for all": whole(parts([("a", "a")] * FEW)),
        "parents that are missing": whole(parts([(f"b{k}", f"none{k}") for k in range(FEW)])),
        "a ring": whole(parts([*chain, ("a", f"b{FEW - 1}")])),
        "names of control characters": whole(parts([(f"&#{133 + k % 20};{k}", "a") for k in range(50)])),
    }


def urdf_inputs() -> Inputs:
    """Return inputs of URDF."""
    whole, parts = OF_URDF.document, OF_URDF.parts
    chain = [(f"b{k}", f"b{k - 1}" if k else "a") for k in range(FEW // 2)]
    mesh = '<link name="m"><collision><geometry><mesh filename="{}"/></geometry></collision></link>'
    return xml_inputs(OF_URDF) | {
        "a long chain": whole(parts(chain)),
        "a star": whole(parts([(f"b{k}", "a") for k in range(FEW // 2)])),
        "a mesh without end": whole(mesh.format("/dev/zero")),
        "a mesh of a long path": whole(mesh.format("../" * 30_000 + "a.stl")),
    }


def sdf_inputs() -> Inputs:
    """Return inputs of SDF."""
    whole = OF_SDF.document
    frames = "".join(f'<frame name="f{k}" attached_to="f{(k + 1) % FEW}"/>' for k in range(FEW))
    row = "".join(f'<frame name="f{k}" attached_to="{f"f{k + 1}" if k + 1 < FEW else "a"}"/>' for k in range(FEW))
    return xml_inputs(OF_SDF) | {
        "frames in a ring": whole(frames),
        "frames in a row": whole(row),
        "an include of itself": whole("<include><uri>case.sdf</uri></include>" * 100),
        "models in one another": whole('<model name="m">' * 150 + "</model>" * 150),
    }


def mjcf_inputs() -> Inputs:
    """Return inputs of MJCF."""
    whole = OF_MJCF.document
    copies = '<replicate count="1000" offset="1 0 0">'
    geoms = '<worldbody><body><freejoint/><geom type="{}" {} size=".1"/></body></worldbody>'
    return xml_inputs(OF_MJCF) | {
        "copies": whole(
            f'<worldbody><replicate count="{10**9}" offset="1 0 0"><geom size="1"/></replicate></worldbody>'
        ),
        "copies of copies": whole(f'<worldbody>{copies * 4}<geom size="1"/>{"</replicate>" * 4}</worldbody>'),
        "a composite": whole('<worldbody><composite type="cable" count="1000000 1 1" size="1"/></worldbody>'),
        "a flexcomp": whole('<worldbody><flexcomp type="grid" count="2000 2000 2000" name="f"/></worldbody>'),
        "a texture": whole('<asset><texture type="2d" builtin="flat" width="100000" height="100000"/></asset>'),
        "a height field": whole('<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'),
        "memory": whole('<size memory="1000G"/>'),
        "users' data": whole('<size nuserdata="2000000000"/>'),
        "keys": whole('<size nkey="2000000000"/>'),
        "a sensor without end": whole('<sensor><user dim="2000000000" name="s"/></sensor>'),
        "numbers of a text": whole('<custom><numeric name="n" size="2000000000" data="1"/></custom>'),
        "an include of itself": whole('<include file="case.xml"/>' * 100),
        "a mesh of many divisions": whole('<asset><mesh name="m" builtin="sphere" params="100000"/></asset>'),
        "a mesh that is missing": whole(geoms.format("mesh", 'mesh="none"') * 300),
        "an actuator of a long history": whole(
            '<actuator><motor name="m" joint="none" nsample="2000000000"/></actuator>'
        ),
    }


def osim_inputs() -> Inputs:
    """Return inputs of OpenSim's files."""
    whole = OF_OSIM.document
    spline = "<ForceSet><objects><X><SimmSpline><x>{0}</x><y>{0}</y></SimmSpline></X></objects></ForceSet>"
    polynomial = "<PolynomialFunction><coefficients>{}</coefficients></PolynomialFunction>"
    return xml_inputs(OF_OSIM) | {
        "a spline": whole(spline.format("1 " * (MANY // 3))),
        "objects in one another": whole("<BodySet><objects>" * 60 + "</objects></BodySet>" * 60),
        "a polynomial": whole(
            f"<JointSet><objects><CustomJoint>{polynomial.format('1 ' * 40_000)}</CustomJoint></objects></JointSet>"
        ),
    }


# --------------------------------------------------------------------------------------------------- mechanism files

TOML = """name = "m"
{top}
[bodies.a]
mass = {value}
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
position = [0, 0, -1]
[joints.j]
type = "Revolute"
body_a = "world"
body_b = "a"
point = [0, 0, 0]
axis = {axis}
{more}
"""


def nested(value: str, *counts: int) -> str:
    """Return lists of lists as text."""
    for count in counts:
        value = f"[{', '.join([value] * count)}]"
    return value


def repeated(depth: int, count: int) -> str:
    """Return parameters that are lists of the one before."""
    lines = [f"p0 = {nested('1', count)}"]
    lines += ["p{} = {}".format(k, nested(f'"p{k - 1}"', count)) for k in range(1, depth)]
    return "[parameters]\n" + "\n".join(lines)


def toml_inputs() -> Inputs:
    """Return inputs of mechanism files in TOML."""

    def whole(value: str = "1.0", top: str = "", more: str = "", axis: str = "[0, 1, 0]") -> str:
        return TOML.format(value=value, top=top, more=more, axis=axis)

    chain = "\n".join(f'p{k} = "p{k + 1} + 1"' for k in range(FEW))
    words = {
        "a key of many parts": "a" + ".a" * DEEP + " = 1",
        "a table of many parts": "[a" + ".a" * DEEP + "]",
        "quoted parts": "a" + '."a"' * DEEP + " = 1",
        "an inline table of many parts": "x = { a" + ".a" * DEEP + " = 1 }",
        "many tables": "".join(f"[x.t{k}]\n" for k in range(5000)),
        "one table many times": "[x]\n" * DEEP,
        "one key many times": "x = 1\n" * DEEP,
        "tables of tables": "[[x]]\n" * (DEEP // 5),
        "deep lists": "x = " + "[" * DEEP,
        "deep tables": "x = " + "{a=" * DEEP,
        "many keys": "".join(f"k{k} = 1\n" for k in range(FEW)),
        "a text that stays open": 'x = "' + "a" * 10 * MANY,
        "a long text that stays open": 'x = """' + '"" ' * MANY,
        "backslashes": 'x = "' + "\\" * MANY,
        "escapes": 'x = "' + "\\u0041" * MANY + '"',
        "a long comment": "# " + "#" * 10 * MANY,
        "comments": "#\n" * MANY,
        "blank lines": "\n" * 10 * MANY,
        "commas": "x = [" + "," * MANY + "]",
        "quotes": "x = " + '"' * MANY,
        "brackets": "]" * MANY,
        "equal signs": "=" * MANY,
        "dots": "." * MANY,
        "numbers that are no numbers": "x = " + "1_" * MANY,
        "a long number": "x = " + "1" * MANY,
        "dates": "x = [" + "1979-05-27T07:32:00Z," * 3000 + "]",
        "includes of itself": 'include = ["case.toml"]',
        "an include without end": 'include = "/dev/zero"',
        "many includes": f"include = {json.dumps([f'n{k}.toml' for k in range(FEW)])}",
        "includes that are none": "include = " + nested("1", 100, 100),
        "an unknown key of a list": "x = " + nested("1.0", 200, 200),
    }
    return {
        **{name: whole(top=text) for name, text in words.items()},
        "nothing": "",
        "zero bytes": "\0" * MANY,
        "noise": random.Random(2).randbytes(MANY),
        "lists by repetition": whole('"p2"', repeated(3, 300)),
        "lists by repetition, twelve deep": whole('"p11"', repeated(12, 9)),
        "sums of lists by repetition": whole('"p2 + p2"', repeated(3, 95)),
        "a list of lists for a number": whole(nested("1.0", 200, 200)),
        "a list of lists of expressions": whole(nested('"1 + 1"', 100, 200)),
        "a list of lists for an axis": whole(axis=nested("1", 200, 200)),
        "a list of lists for a table": whole(more="[forces]\nf = " + nested("1", 200, 200)),
        "a list of lists for a type": whole(more="[forces.f]\ntype = " + nested("1", 200, 200)),
        "a list of lists for gravity": whole(top="gravity = " + nested("1", 200, 200)),
        "a start of lists": whole(more="[start.coordinates]\nj = " + nested("1", 200, 200)),
        "a power": whole('"9**9**9**9"'),
        "powers": whole('"' + "9.0**" * 150 + '9"'),
        "brackets of an expression": whole('"' + "(" * 500 + "1" + ")" * 499 + '"'),
        "signs": whole('"' + "-" * 990 + '1"'),
        "a long expression": whole('"' + "1+" * MANY + '1"'),
        "a call": whole("\"().__class__.__bases__[0].__subclasses__()\""),
        "parameters in a row": whole('"p0"', f"[parameters]\n{chain}\np{FEW} = 1"),
        "parameters in a ring": whole('"p0"', f"[parameters]\n{chain}\np{FEW} = \"p0\""),
        "a list of names": whole(more="[[forces.f.path]]\nbody = " + nested('"a"', 200, 200)),
    }  # fmt: skip


def json_inputs() -> Inputs:
    """Return inputs of mechanism files in JSON."""
    body = {"name": "a", "mass": 1.0, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "position": [0, 0, -1]}
    joint = {"type": "Revolute", "name": "j", "body_a": "world", "body_b": "a", "point": [0, 0, 0], "axis": [0, 1, 0]}

    def whole(body: object = body, joint: object = joint, **more: object) -> str:
        return json.dumps({"name": "m", "bodies": [body], "joints": [joint], "forces": [], **more})

    lists: list = [1.0] * 200
    lists = [lists] * 200
    text = whole()
    of_body = {f"{key} of lists": whole({**body, key: lists}) for key in body}
    of_joint = {f"{key} of a joint, of lists": whole(joint={**joint, key: lists}) for key in joint}
    of_whole = {f"{key}, lists": whole(**{key: lists}) for key in ("name", "bodies", "joints", "forces", "gravity")}
    return {
        **of_body, **of_joint, **of_whole,
        "nothing": "", "blanks": " " * 10 * MANY, "zero bytes": "\0" * MANY, "noise": random.Random(3).randbytes(MANY),
        "deep lists": "[" * MANY, "deep lists that close": "[" * MANY + "]" * MANY, "deep objects": '{"a":' * MANY,
        "deep in a body": text.replace("1.0", "[" * 900 + "]" * 900),
        "a long number": text.replace("1.0", "1" * MANY),
        "a number of many digits": text.replace("1.0", "1." + "0" * MANY + "1"),
        "a power without end": text.replace("1.0", "1e" + "9" * 1000),
        "no number": text.replace("1.0", "NaN"),
        "a text that stays open": text[:-1] + ', "x": "' + "a" * 10 * MANY,
        "escapes": whole(name="\\u0041" * MANY), "backslashes": '"' + "\\" * MANY, "quotes": '"' * MANY,
        "commas": "[" + "," * MANY, "colons": "{" + ":" * MANY, "brackets": "]" * MANY,
        "one key many times": "{" + '"name": 1, ' * DEEP + '"name": 1}',
        "a repeated key at the end": text[:-1] + "".join(f', "k{k}": 1' for k in range(DEEP)) + ', "k0": 1}',
        "keys of blanks": "{" + '"a"' + " " * 10 * MANY + "}",
        "many unknown keys": whole(**{f"k{k}": 1 for k in range(FEW)}),
        "many bodies of one name": whole(bodies=[body] * FEW), "many joints of one name": whole(joints=[joint] * FEW),
        "bodies that are none": whole(bodies=[1] * DEEP), "bodies without fields": whole(bodies=[{}] * FEW),
        "joints to nowhere": whole(joints=[{**joint, "name": f"j{k}", "body_b": f"n{k}"} for k in range(FEW)]),
        "joints of one body": whole(joints=[{**joint, "name": f"j{k}"} for k in range(FEW // 4)]),
        "a type of long name": whole(joint={**joint, "type": "R" * MANY}),
        "a long name": whole({**body, "name": "n" * 10 * MANY}),
        "UTF-16": text.encode("utf-16"), "UTF-32 cut short": text.encode("utf-32")[:-3],
        "surrogates": whole(name="\ud800" * 1000), "behind the end": text + " {}" * MANY,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ meshes


def gltf(document: object, content: bytes = b"") -> bytes:
    """Return a file .glb."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if content:
        chunks += struct.pack("<II", len(content), 0x004E4942) + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def scene(nodes: list[dict], count: int = 3) -> dict[str, object]:
    """Return a glTF document of nodes of which the first is the root, and of one mesh of ``count`` vertices."""
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 12 * count}],
        "buffers": [{"byteLength": 12 * count}],
    }  # fmt: skip


def collada(geometry: str, nodes: str) -> str:
    """Return a file .dae."""
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        f'<library_geometries><geometry id="g"><mesh>{geometry}</mesh></geometry></library_geometries>{nodes}'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )


def collada_mesh(numbers: str, count: int, triangles: str, claimed: int) -> str:
    """Return the content of a <mesh>."""
    return (
        f'<source id="p"><float_array id="f" count="{count}">{numbers}</float_array><technique_common>'
        f'<accessor source="#f" count="{count // 3}" stride="3"><param name="X" type="float"/>'
        '<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        f'<triangles count="{claimed}"><input semantic="VERTEX" source="#v" offset="0"/><p>{triangles}</p></triangles>'
    )


TRIANGLE = collada_mesh("0 0 0 1 0 0 0 1 0", 9, "0 1 2", 1)
FAN = b"".join(struct.pack("<fff", k, k % 7, k % 5) for k in range(9000))


def mesh_inputs() -> dict[str, tuple[str, str | bytes]]:
    """Return inputs of meshes, with their suffixes."""
    huge, vertices = 2**32 - 1, "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    ply = "ply\nformat {} 1.0\nelement vertex {}\n{}end_header\n"
    xyz = "property float x\nproperty float y\nproperty float z\n"
    doubled = [{"children": [k + 1, k + 1]} for k in range(40)] + [{"mesh": 0}]
    shown = [{"children": list(range(1, 3001))}] + [{"mesh": 0}] * 3000
    long = [{"children": [k + 1]} for k in range(3000)] + [{"mesh": 0}]
    instance = '<library_visual_scenes><visual_scene id="s">{}</visual_scene></library_visual_scenes>'
    one = '<node><instance_geometry url="#g"/></node>'
    twice = [f'<instance_node url="#n{k + 1}"/>' * 2 for k in range(40)] + [one]
    tree = "".join(f'<node id="n{k}">{inside}</node>' for k, inside in enumerate(twice))
    of_nodes = f"<library_nodes>{tree}</library_nodes>" + instance.format('<node><instance_node url="#n0"/></node>')
    many = collada_mesh("1 2 3 " * 3000, 9000, "0 1 2 " * 3000, 3000)
    facet = "facet normal 0 0 1\nouter loop\n" + "vertex 0 0 0\n" * 3 + "endloop\nendfacet\n"
    by_suffix: dict[str, Inputs] = {
        ".stl": {
            "nothing": "",
            "2^32 triangles": b"\0" * 80 + struct.pack("<I", huge) + b"\0" * 500,
            "a million triangles": b"\0" * 80 + struct.pack("<I", 10**6),
            "noise": random.Random(4).randbytes(MANY),
            "text that stays open": "solid a\n" + "facet normal 0 0 1\nouter loop\n" * 5000,
            "vertices": "solid a\n" + "vertex 0 0 0\n" * 20_000,
            "solids": ("solid a\n" + facet + "endsolid a\n") * 500,
            "not numbers": b"\0" * 80 + struct.pack("<I", 1000) + b"\xff" * 50_000,
            "a long line": "solid " + "a" * MANY,
        },
        ".obj": {
            "nothing": "",
            "index 0": vertices + "f 0 1 2\n",
            "an index out of range": vertices + "f 1 2 999999999999\n",
            "an index beyond integers": vertices + f"f 1 2 {'9' * 5000}\n",
            "negative": vertices + "f -1 -2 -999999999\n",
            "a face of many": vertices + "f " + "1 2 3 " * 20_000 + "\n",
            "a long line": "v " + "1 " * MANY,
            "a long number": f"v {'1' * MANY} 0 0\n",
            "many groups": vertices + "g a\nf 1 2 3\n" * 3000,
            "many materials": vertices + "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(1000)),
            "materials of a file": "mtllib /dev/zero\n" + vertices + "f 1 2 3\n",
            "lines that go on": "v 0 0 0\\\n" * 20_000,
            "faces without vertices": "f 1 2 3\n" * 20_000,
            "slashes": vertices + "f 1" + "/" * MANY + " 2 3\n",
            "zeros": vertices + "f " + "00 " * 20_000,
        },
        ".ply": {
            "10^12 vertices": ply.format("ascii", 10**12, xyz),
            "2^31 vertices": ply.format("binary_little_endian", 2**31, xyz),
            "negative": ply.format("ascii", -5, xyz),
            "not whole": ply.format("ascii", "1e9", xyz),
            "many properties": ply.format("ascii", 1, "".join(f"property float p{k}\n" for k in range(5000))),
            "many elements": ply.format("ascii", 0, xyz + "".join(f"element e{k} 0\n" for k in range(5000))),
            "a list of many": (
                ply.format(
                    "binary_little_endian", 3, xyz + "element face 1\nproperty list uint int vertex_indices\n"
                ).encode()
                + bytes(36)
                + struct.pack("<I", huge)
            ),
            "a head that stays open": "ply\n" + "comment a\n" * 20_000,
        },
        ".off": {
            "10^12 vertices": f"OFF\n{10**12} {10**12} 0\n",
            "negative": "OFF\n-3 -1 0\n0 0 0\n",
            "numbers": "OFF\n" + "1 " * MANY,
            "a face of 10^9": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n1000000000 0 1 2\n",
            "nothing": "OFF",
        },
        ".glb": {
            "10^12 vertices": gltf(scene([{"mesh": 0}], 10**12)),
            "vertices of no buffer": gltf(
                scene([{"mesh": 0}]) | {"accessors": [{"componentType": 5126, "count": 10**9, "type": "VEC3"}]}
            ),
            "nodes in a ring": gltf(scene([{"children": [0], "mesh": 0}]), bytes(36)),
            "nodes in a row": gltf(scene(long), bytes(36)),
            "nodes by repetition": gltf(scene(doubled), bytes(36)),
            "one mesh many times": gltf(scene(shown, 9000), FAN),
            "deep JSON": gltf({"asset": {}})[:20] + b"[" * MANY,
            "a length that lies": gltf({"asset": {"version": "2.0"}})[:12] + struct.pack("<II", huge, 0x4E4F534A),
        },
        ".dae": {
            "entities": f'<!DOCTYPE r [<!ENTITY e0 "x">{ENTITIES}]><COLLADA>&e11;</COLLADA>',
            "nodes by repetition": collada(TRIANGLE, of_nodes),
            "one mesh many times": collada(many, instance.format(one * 2000)),
            "numbers claimed": collada(collada_mesh("0 0 0", 10**12, "0 1 2", 10**12), instance.format(one)),
            "an index out of range": collada(collada_mesh("0 0 0", 3, "0 1 99999999999", 1), instance.format(one)),
            "deep nodes": collada(TRIANGLE, instance.format("<node>" * 3000 + "</node>" * 3000)),
        },
    }
    return {f"{suffix} {name}": (suffix, text) for suffix, of in by_suffix.items() for name, text in of.items()}


READERS: dict[str, Callable[[], Inputs]] = {
    "URDF": urdf_inputs,
    "SDF": sdf_inputs,
    "MJCF": mjcf_inputs,
    "OSIM": osim_inputs,
    "TOML": toml_inputs,
    "JSON": json_inputs,
}
SUFFIXES = {"URDF": ".urdf", "SDF": ".sdf", "MJCF": ".xml", "OSIM": ".osim", "TOML": ".toml", "JSON": ".json"}


def inputs_of(reader: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield name, suffix and content of the inputs of a reader: one of `READERS`, or "meshes"."""
    of = mesh_inputs() if reader == "meshes" else {n: (SUFFIXES[reader], t) for n, t in READERS[reader]().items()}
    for name, (suffix, text) in of.items():
        yield name, suffix, text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
