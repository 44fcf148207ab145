"""Robots in XML read with ``repair=True``: the changes of `xml_files`, with more impossible inertias and bad comments.

A file that loads without repair must load with it to the same bits, and nothing is then reported as repaired; a file
that loads only with repair must report a repair. All rules of `xml_files` hold as well.
"""

import re
from pathlib import Path

from fuzz.json_files import Case, change, pick
from fuzz.kinds import register
from fuzz.xml_files import XmlFiles, originals, token

import varint as vi
from varint.files.own.mechanism_data import to_data

OF_INERTIAS: dict = {}
MOMENT = re.compile(
    r'(?<=ixx=")[^"]+|(?<=iyy=")[^"]+|(?<=izz=")[^"]+|(?<=ixy=")[^"]+|(?<=<ixx>)[^<]+|(?<=<izz>)[^<]+'
    r'|(?<=diaginertia=")[^"]+|(?<=mass value=")[^"]+|(?<=<mass>)[^<]+'
)
MOMENTS = ("0", "5", "-1", "1e-9", "1e-30", "1e9", "1e160", "-1e-14", "nan", "3 1 1", "0 0 0", "1 1")
OLD = """\
<mujoco model="old"><compiler coordinate="global" inertiafromgeom="true"/><option collision="all"/><worldbody>
  <body name="a" pos="1 0 0"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="1 1 0"/><geom type="capsule" fromto="0 0 1 0 1 1" size=".1"/>
    <body name="b"><joint name="ball" type="ball" pos="0 1 1"/><inertial mass="1"/><geom pos="0 1 2" size=".1"/>
    </body>
    <body name="c"><joint type="fixed"/><geom pos="0 1 0" size=".1"/></body></body></worldbody>
  <tendon><fixed name="t"><joint joint="ball" coef="2"/></fixed></tendon><actuator><motor tendon="t"/></actuator>
</mujoco>
"""
SOFT = """\
<mujoco model="soft"><option gravity="0 0 -9"/><worldbody>
  <body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos="0.3 0 0"/>
    <flexcomp name="rope" type="grid" count="4 1 1" spacing=".1 .1 .1" dim="1" mass="1"><edge equality="true"/>
      <pin id="0"/></flexcomp><flexcomp name="cube" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" mass="1"
      dof="trilinear" radius="0.01"><edge equality="strain"/><pin id="0"/></flexcomp></body>
  <flexcomp name="solid" type="grid" count="2 3 2" spacing=".1 .1 .1" dim="3" mass="2" radius="0.01">
    <elasticity young="1e4" poisson="0.3" damping="0.01"/></flexcomp>
  <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="2" radius="0.01">
    <edge equality="true"/><pin id="0 1"/></flexcomp>
  <body name="b"><joint name="k" axis="0 0 1"/><geom size=".1" pos="0.3 0 0"/><body name="c" pos="1 0 0">
    <joint name="l" axis="0 0 1"/><geom size=".1" pos="0.3 0 0"/></body></body>
  <body name="d" pos="1.5 0.5 0"><joint name="m" type="slide" axis="1 0 0"/><geom size=".1"/></body></worldbody>
  <equality><weld body1="b" body2="c" relpose="1 0 0 0.9 0 0 0.4" active="false"/>
    <weld body1="d" relpose="-1.5 -0.5 0 1 0 0 0"/><weld body1="b" relpose="0 0 0 0.9 0 0 0.3"/></equality></mujoco>
"""
COMMENTS = ("<!-- a -- b -->", "<!-----\n>-->", "<!-- a --->", "<!-- <link -- name='x'> -->", "<!----><!-- x --y-->")


@change(OF_INERTIAS)
def moment_changed(rng, text):
    place = token(rng, text, MOMENT)
    return text[: place.start()] + pick(rng, MOMENTS) + text[place.end() :]


@change(OF_INERTIAS)
def comment_added(rng, text):
    place = token(rng, text, re.compile("<(?![?!])|>(?=[^>]*<)"))
    return text[: place.start()] + pick(rng, COMMENTS) + text[place.start() :]


@register
class RepairedFiles(XmlFiles):
    """Robots whose inertias and comments are wrong, read with ``repair=True``."""

    name = "repair"
    count = 10_000
    few = 200

    def case(self, rng, number, seed):
        case = super().case(rng, number, seed)
        text, names = case.content.decode(errors="replace"), [*case.names]
        if rng.random() < 0.7:  # an original with these changes alone loads more often
            text, names = self.texts()[case.names[0]], [case.names[0]]
        for _ in range(int(rng.integers(1, 4))):
            names.append(pick(rng, sorted(OF_INERTIAS)))
            text = OF_INERTIAS[names[-1]](rng, text)
        return Case(tuple(names), text.encode(errors="replace"))

    def texts(self):
        return originals() | {"old.xml": OLD, "soft.xml": SOFT}

    def load(self, path: Path) -> vi.Mechanism:
        return vi.load_mechanism(path, repair=True)

    def check(self, case, folder):
        if altered := super().check(case, folder):
            return altered
        path = folder / f"plain{Path(case.names[0]).suffix}"
        path.write_bytes(case.content)
        try:
            repaired = self.load(path)
            changes = repaired.import_report.repaired
            try:
                plain = vi.load_mechanism(path)
            except vi.VarintError as problem:
                return None if changes else f"loads with repair alone and reports none: {problem}"
        finally:
            path.unlink()
        if changes:
            return f"loads without repair, which reports {changes[0].what}"
        return None if repr(to_data(plain)) == repr(to_data(repaired)) else "loads with repair to another mechanism"
