"""Robots in XML that were changed: elements, attributes, numbers, text, bytes; with entities, and nested deep.

What loads must start, and come back from JSON to the same bits, or it ends in an error of varint's. Nothing outside the
folder is opened, and no connection.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

from fuzz.json_files import OF_BYTES, Case, change, misspelt, pick
from fuzz.kinds import Kind, register
from osim_documents import KINDS, document

import varint as vi
from varint.base.numba.cache import cache_folder
from varint.files.own.mechanism_data import to_data

ROBOTS = Path(__file__).parent.parent.parent / "examples" / "robots"
URDF = """\
<?xml version="1.0"?>
<robot name="r">
  <link name="world"/>
  <link name="a"><inertial><origin xyz="0 0 0.5" rpy="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.05"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry></visual>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision></link>
  <link name="cross"/>
  <link name="b"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="c"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="base" type="floating"><parent link="world"/><child link="a"/></joint>
  <joint name="x" type="revolute"><parent link="a"/><child link="cross"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1" friction="0.1"/></joint>
  <joint name="y" type="continuous"><parent link="cross"/><child link="b"/><axis xyz="0 1 0"/></joint>
  <joint name="z" type="prismatic"><parent link="a"/><child link="c"/><origin xyz="0 1 0" rpy="0 0 1"/>
    <axis xyz="0 0 1"/><limit lower="0.1" upper="2"/><mimic joint="x" multiplier="2" offset="0.1"/></joint>
  <loop_joint name="l" type="spherical"><link1 link="b" xyz="0 0 1"/>
    <link2 link="c" xyz="-0.8414709848078965 -0.5403023058681398 0.9"/></loop_joint>
  <transmission name="t"/><gazebo/>
</robot>
"""
SDF = """\
<sdf version="1.9"><world name="w"><gravity>0 0 -9</gravity>
  <include><uri>model.sdf</uri><name>i</name><pose degrees="true">0 0 5 0 0 90</pose></include>
  <model name="m" placement_frame="f"><pose>0 0 1 0 0 0</pose>
    <frame name="f" attached_to="a"><pose relative_to="j">0 0 1 0 0 0</pose></frame>
    <link name="a"><inertial><pose>0 0 1 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy>
      <izz>0.1</izz></inertia></inertial><gravity>0</gravity></link>
    <link name="b"><pose relative_to="a">1 0 0 0 0 0</pose></link>
    <link name="c"><pose relative_to="f" rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose></link>
    <joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz>
      <limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
    <joint name="k" type="universal"><parent>a</parent><child>b</child><pose>0 0 1 0 0 0</pose>
      <axis><xyz expressed_in="f">1 0 0</xyz>
        <dynamics><damping>1</damping><spring_stiffness>2</spring_stiffness></dynamics></axis>
      <axis2><xyz>0 1 0</xyz></axis2></joint>
    <joint name="l" type="screw"><parent>a</parent><child>c</child><axis><xyz>0 0 1</xyz></axis>
      <screw_thread_pitch>0.1</screw_thread_pitch></joint>
    <model name="n"><static>1</static><link name="a"/></model>
  </model></world></sdf>
"""
MJCF = """\
<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9"><flag contact="disable"/></option>
  <default><joint damping="0.1"/><default class="c"><geom type="capsule" size=".1"/></default></default>
  <asset><mesh name="mesh" file="b.stl"/><texture name="t" file="/etc/passwd"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/><site name="s"/>
    <body name="a" pos="0 0 1" euler="0 0.1 0"><freejoint name="free"/><geom class="c" fromto="0 0 0 0 0 1"/>
      <body name="b" pos="1 0 0" gravcomp="0.5"><joint name="x" axis="1 0 0" range="-1 1" armature="0.1" ref="0.2"/>
        <joint name="y" type="slide" stiffness="3" springref="0.1" frictionloss="0.1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/><geom type="mesh" mesh="mesh"/><site name="p"/></body>
      <replicate count="3" offset="1 0 0"><body name="c"><joint name="ball" type="ball"/><geom size=".1"/></body>
      </replicate>
    </body><body name="d" mocap="true"/>
    <body name="e" pos="1 0 1"><joint name="z"/><geom size=".1" pos="0 1 0"/></body></worldbody>
  <tendon><spatial name="t" stiffness="3" springlength="0 1"><site site="s"/><site site="p"/></spatial>
    <fixed name="f"><joint joint="x" coef="2"/><joint joint="z" coef="1"/></fixed></tendon>
  <equality><connect name="o" body1="b" body2="e" anchor="0 0 0" active="false"/><tendon tendon1="f"/>
    <joint name="j" joint1="z" joint2="y" polycoef="0.1 2 0 0 0"/></equality>
  <actuator><position name="pos" joint="x" kp="3"/><motor name="mot" joint="z" gear="2"/><muscle tendon="t"/></actuator>
  <sensor><jointpos joint="x"/></sensor><keyframe><key ctrl="0.1 0.2 0"/></keyframe>
</mujoco>
"""
INCLUDED = '<sdf version="1.6"><model name="x"><link name="a"><pose>0 0 0 0 0 0</pose></link></model></sdf>'
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(12)
)
TOKEN = re.compile(r"</?[\w:]+|/?>|[\w:]+=|\"[^\"]*\"|[^<>\"\s]+")
NUMBERS = ("nan", "-inf", "1e999", "9" * 5000, "0x10", "1_000", "-0.0", "1e-320", "1e40", "", "1 2", "0")
TEXTS = (
    '"world"',
    '"a"',
    '"__model__"',
    '"../m.xml"',
    '"/etc/passwd"',
    '"package://../../etc/passwd"',
    '"http://localhost/x"',
    '"&lt;"',
    '"&a;"',
    '"1"',
    '""',
    "<!--",
    "<![CDATA[",
    "<?x",
)
DEEP = (5, 70, 190, 210, 5000)
OF_XML: dict = {}
MUSCLES = dict(zip(KINDS, ("ball", "roll", "none"), strict=True))  # of models of OpenSim, with what they go around
OFTEN = ("number_changed", "values_swapped", "element_moved", "value_replaced")  # these leave it XML
OPENED: list[str] = []
WATCHING: list[bool] = []
PACKAGES = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
OWN = (
    sys.prefix,
    sys.base_prefix,
    *PACKAGES,
    str(Path(vi.__file__).parent.parent),
    str(cache_folder()),
    *filter(None, [sys.pycache_prefix]),
    "/proc",
    "/sys",
)


def _watch(event, arguments):
    """What is opened while a file is read; `sys.addaudithook` calls it."""
    if WATCHING and (event == "open" or event.startswith("socket.")):
        OPENED.append(str(arguments[0]) if event == "open" else event)


@cache
def watch_files() -> None:
    """From now on `OPENED` lists what is opened while `WATCHING` holds anything."""
    sys.addaudithook(_watch)


@cache
def originals() -> dict[str, str]:
    """Name to the text of a file."""
    watch_files()
    found = {
        path.name: path.read_text() for path in sorted(ROBOTS.glob("*")) if path.suffix in (".urdf", ".sdf", ".xml")
    }
    found |= {f"{wrap}.osim": ElementTree.tostring(document(kind, wrap), "unicode") for kind, wrap in MUSCLES.items()}
    return found | {"by hand.urdf": URDF, "by hand.sdf": SDF, "by hand.xml": MJCF}


def token(rng, text, pattern=TOKEN):
    found = list(pattern.finditer(text))
    return pick(rng, found) if found else re.match("", text)


@change(OF_XML)
def token_replaced(rng, text):
    found = token(rng, text)
    new = pick(rng, [token(rng, text).group(), pick(rng, NUMBERS), pick(rng, TEXTS), ""])
    return text[: found.start()] + new + text[found.end() :]


@change(OF_XML)
def word_misspelt(rng, text):
    found = token(rng, text, re.compile("[A-Za-z_]{2,}"))
    return text[: found.start()] + misspelt(rng, found.group() or "xx") + text[found.end() :]


@change(OF_XML)
def number_changed(rng, text):
    found = token(rng, text, re.compile(r"-?\b[0-9][0-9.]*"))
    return text[: found.start()] + pick(rng, NUMBERS) + text[found.end() :]


@change(OF_XML)
def element_moved(rng, text):
    """Left out, there twice, or put elsewhere."""
    found = token(rng, text, re.compile(r"<(\w+)\b[^<>]*/>|<(\w+)\b[^<>]*>[^<]*(?:<[^<>]*/>\s*)*</\2>"))
    what, rest = found.group(), text[: found.start()] + text[found.end() :]
    place = int(rng.integers(len(rest) + 1))
    place = rest.find("<", place) if rest.find("<", place) >= 0 else 0
    return pick(rng, [rest, text[: found.end()] + what + text[found.end() :], rest[:place] + what + rest[place:]])


@change(OF_XML)
def values_swapped(rng, text):
    one, other = sorted((token(rng, text, re.compile(r'"[^"]*"')) for _ in range(2)), key=lambda found: found.start())
    if one.end() > other.start():
        return text
    return text[: one.start()] + other.group() + text[one.end() : other.start()] + one.group() + text[other.end() :]


@change(OF_XML)
def value_replaced(rng, text):
    """A value in quotes or between tags, by another word of the file."""
    found = token(rng, text, re.compile(r'(?<=")[^"<>]*(?=")|(?<=>)[^<>]+(?=<)'))
    new = pick(rng, [token(rng, text, re.compile(r"\w+")).group(), pick(rng, NUMBERS), misspelt(rng, found.group())])
    return text[: found.start()] + new + text[found.end() :]


@change(OF_XML)
def nested_deep(rng, text):
    found, depth = token(rng, text, re.compile("<[a-z]")), pick(rng, DEEP)
    tag = pick(rng, ["model", "link", "joint", "x"])
    left = "".join(f'<{tag} name="n{k}">' for k in range(depth))
    return text[: found.start()] + left + f"</{tag}>" * depth + text[found.start() :]


@change(OF_XML)
def entities_added(rng, text):
    bomb, other = BOMB + "]>", '<!DOCTYPE x SYSTEM "/etc/passwd" [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'
    outside = '<!DOCTYPE x [<!ENTITY m SYSTEM "file:///etc/passwd">]>'
    start = text.find("?>") + 2 if text.startswith("<?") else 0
    rest = re.sub(r'"[a-z]*"', lambda found: '"&m;"' if rng.random() < 0.1 else found.group(), text[start:])
    return text[:start] + pick(rng, [bomb, other, outside]) + rest


@register
class XmlFiles(Kind):
    """Robots in URDF, SDF and MJCF, and models of OpenSim."""

    name = "xml"
    count = 20_000
    few = 300
    suffix = ".xml"

    def prepare(self):
        originals()

    def case(self, rng, number, seed):
        name, names = pick(rng, sorted(self.texts())), []
        text = self.texts()[name]
        for _ in range(int(rng.integers(1, 4))):
            names.append(pick(rng, OFTEN if rng.random() < 0.8 else sorted(OF_XML)))
            text = OF_XML[names[-1]](rng, text)
        content = text.encode(pick(rng, ["utf-8"] * 8 + ["utf-16", "latin-1"]), errors="replace")
        if rng.random() < 0.1:
            names.append(pick(rng, sorted(OF_BYTES)))
            content = OF_BYTES[names[-1]](rng, content)
        return Case((name, *names), content)

    def texts(self) -> dict[str, str]:
        """The texts of files before their changes, by their names."""
        return originals()

    def load(self, path: Path) -> vi.Mechanism:
        """The mechanism in the file ``path``; all files that are opened meanwhile are watched."""
        return vi.load_mechanism(path)

    def check(self, case, folder):
        path = folder / f"m{pick_suffix(case)}"
        path.write_bytes(case.content)
        (folder / "model.sdf").write_text(INCLUDED)
        before = sorted(folder.iterdir())
        OPENED.clear()
        WATCHING.append(True)
        try:
            mechanism = self.load(path)
        finally:
            WATCHING.clear()
            left, content = sorted(folder.iterdir()), path.read_bytes()
            opened, inside = [*OPENED], str(folder)
            path.unlink()
        if left != before or content != case.content:
            return "wrote files"
        for name in opened:
            if not os.path.abspath(name).startswith((inside, *OWN)):
                return f"opened {name}"
        mechanism.state()
        again = folder / "again.json"
        vi.save_mechanism(mechanism, again)
        came_back = repr(to_data(vi.load_mechanism(again))) == repr(to_data(mechanism))
        again.unlink()
        return None if came_back else "came back another"

    def describe(self, case):
        return ", ".join(case.names)

    def save(self, case, path):
        path.write_bytes(case.content)


def pick_suffix(case) -> str:
    """That of the file that was changed, or the one of all XML but that of OpenSim."""
    suffix = Path(case.names[0]).suffix
    return suffix if len(case.content) % 2 or suffix == ".osim" else ".xml"
