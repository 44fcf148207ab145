"""Robots in MJCF and URDF that were changed, beside MuJoCo where it loads them: differences have entries in the report.

The changes leave the file XML and its numbers of a usual size. Compared are masses, centres, inertias, axes, limits and
accelerations at a random state, as `benchmarks/robot_agreement.py` does, and which bodies move. A difference counts
where the report has no entry that the file had not before its changes.
"""

import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
from fuzz.json_files import Case, change, pick
from fuzz.kinds import Kind, register
from fuzz.xml_files import ROBOTS, element_moved, token, values_swapped, word_misspelt
from mjcf_documents import VALUES

import varint as vi

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

AGREES = 1e-5  # of the largest value
PLAIN = """\
<mujoco><compiler angle="radian"/><option gravity="0 1 -9"/><default><joint damping="0.1"/>
  <default class="c"><geom type="capsule" size=".1"/></default></default><worldbody>
  <body name="a" pos="0 0 1" euler="0 0.1 0"><joint name="w" axis="0 0 1"/><geom class="c" fromto="0 0 0 0 .2 1"/>
    <body name="b" pos="1 0 0"><joint name="x" axis="1 0 0" range="-1 1" armature="0.1" ref="0.2"/>
      <inertial pos="0 .1 0" mass="1" diaginertia="0.1 0.2 0.15"/><site name="p"/>
      <body name="c" quat="1 .1 0 .2"><joint name="y" type="slide" stiffness="3" springref="0.1"/>
        <geom size=".1 .2 .3" type="box" pos="0 .2 .1"/><geom size=".1" density="500"/></body></body></body>
  <body name="e" pos="3 0 1" gravcomp=".5"><joint name="z" type="ball" damping=".2"/>
    <geom size=".1" pos="0 1 0"/></body>
  </worldbody><actuator><motor name="mot" joint="y" gear="2"/><position joint="w" kp="3"/></actuator>
</mujoco>
"""
URDF = """\
<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 .1 .5" rpy="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
  <link name="c"><inertial><origin xyz="0 .1 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0"
    ixz="0" iyz="0"/></inertial></link>
  <link name="d"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="x" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/><origin xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1"/></joint>
  <joint name="y" type="continuous"><parent link="b"/><child link="c"/><origin rpy=".3 0 1"/><axis xyz="0 1 0"/></joint>
  <joint name="z" type="prismatic"><parent link="b"/><child link="d"/><origin xyz="0 1 0" rpy="0 0 1"/>
    <axis xyz="0 0 1"/><limit lower="-.1" upper="2" effort="1" velocity="1"/></joint></robot>
"""
OF_BOTH: dict = {}
NUMBER = re.compile(r'(?<=["\s])-?[0-9.]+(?=["\s])')
START_TAG = re.compile(r"<[a-z]+(?=[\s/>])")


@change(OF_BOTH)
def number_scaled(rng, text):
    place = token(rng, text, NUMBER)
    new = pick(rng, ["0", "1", "-1", "2", "0.5", "-0.3", "0.01", "1e2", "1 2", "true"])
    return text[: place.start()] + new + text[place.end() :] if place.group() else text


@change(OF_BOTH)
def attribute_added(rng, text):
    """Of MuJoCo's, with a value that it takes somewhere."""
    place, name = token(rng, text, START_TAG), pick(rng, sorted(VALUES))
    attribute = name.rpartition("@")[2].rpartition("/")[2]
    return f'{text[: place.end()]} {attribute}="{VALUES[name]}"{text[place.end() :]}'


for other in (element_moved, values_swapped, word_misspelt):
    OF_BOTH[other.__name__] = other


@cache
def originals() -> dict[str, str]:
    """Name to the text of a file."""
    found = {name: (ROBOTS / name).read_text() for name in ("arm.xml", "leg.xml", "arm.urdf")}
    return found | {"plain.xml": PLAIN, "plain.urdf": URDF}


def entries(report: vi.ImportReport) -> set[str]:
    """Return what was told of a file, without numbers."""
    told = (*report.approximated, *report.not_understood, *report.repaired, *report.inexact)
    return {re.sub(r"[0-9.]+|'[^']*'", "", entry.what) for entry in told}


@register
class MujocoFiles(Kind):
    """See the module; without MuJoCo nothing is compared."""

    name, count, few, suffix, longest = "mujoco", 5_000, 40, ".xml", 5.0

    def prepare(self):
        originals()

    def case(self, rng, number, seed):
        names = [pick(rng, sorted(originals()))]
        text = originals()[names[0]]
        for _ in range(int(rng.integers(1, 3))):
            names.append(pick(rng, sorted(OF_BOTH)))
            text = OF_BOTH[names[-1]](rng, text)
        return Case(tuple(names), text.encode(errors="replace"))

    def check(self, case, folder):
        path = folder / f"m{Path(case.names[0]).suffix}"
        path.write_bytes(case.content)
        try:
            read = vi.load_mechanism(path)
            return lost(path, read, told_before(case.names[0], folder))
        finally:
            path.unlink()

    def describe(self, case):
        return ", ".join(case.names)

    def save(self, case, path):
        path.write_bytes(case.content)


@cache
def told_before(name: str, folder: Path) -> set[str]:
    """Return the entries of an original."""
    path = folder / f"original{Path(name).suffix}"
    path.write_text(originals()[name])
    told = entries(vi.load_mechanism(path).import_report)
    path.unlink()
    return told


def lost(path: Path, read: vi.Mechanism, known: set[str]) -> str | None:
    """Return what differs from MuJoCo without an entry."""
    try:
        from mujoco_peer import Peer
        from robot_agreement import COLUMNS, URDFPeer, differences

        peer = URDFPeer(path, read) if path.suffix == ".urdf" else Peer(path)
    except (ImportError, ValueError):  # MuJoCo refuses it
        return None
    if entries(read.import_report) - known:
        return None
    moving = {int(weld) for weld in peer.model.body_weldid if weld and not is_mocap(peer.model, int(weld))}
    bodies = [body for body in read.bodies if body.name in peer.bodies]
    if len(bodies) != len(moving):
        return f"bodies move: {len(bodies)}, in MuJoCo {len(moving)}"
    with np.errstate(all="ignore"):
        errors = differences(peer, read)
    apart = [f"{name} {e:.0e}" for name, e in zip(COLUMNS, errors, strict=True) if e is not None and not e < AGREES]
    return f"differs from MuJoCo in {', '.join(apart)}" if apart else None


def is_mocap(model, body: int) -> bool:
    """Return whether a body of MuJoCo's is moved by hand."""
    return model.body_mocapid[body] >= 0
