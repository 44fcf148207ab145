"""Mechanisms written as MJCF: a tree of bodies, connect and weld for its closures, joints' efforts, tendons, a key."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.base.atomic_writes import write_text
from varint.base.errors import FileError
from varint.files.mjcf.efforts import Efforts
from varint.files.robots.kinds import Fixed
from varint.files.robots.motion_tree import MotionTree
from varint.files.robots.spanning import Branch
from varint.files.robots.written_shapes import geoms, numbers
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.state import State

LISTED = 8  # of what is refused, in an error
SOFT = (
    "Loops and couplings in <equality> hold exactly in varint. In MuJoCo they are soft: solref and solimp say how far,"
    " and smaller steps allow stiffer ones."
)


def save(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism as MJCF. Raises FileError that names the parts that MJCF cannot represent."""
    document = Document(mechanism, touching=True)
    if document.refused:
        forces = document.refused_forces
        remedy = f". Leave these forces out by mech.with_forces(remove={forces}), and write that" if forces else ""
        raise FileError(f"cannot write '{path}': MJCF does not hold {listed(document.refused)}{remedy}")
    write_text(path, document.text)


def listed(refused: list[str]) -> str:
    """Return the first of the ``refused`` in words, and the number of the others."""
    more = len(refused) - LISTED
    return "; ".join(refused[:LISTED]) + (f"; and {more} more" if more > 0 else "")


class Document:
    """A mechanism in MJCF.

    tree : MotionTree
    control : of each actuator
    refused : what MJCF does not hold, in words
    refused_forces : names of the forces among them
    text : the document; without the refused parts

    ``touching``: whether with the collision shapes, which then touch in MuJoCo, whatever the contacts here are.
    """

    def __init__(self, mechanism: Mechanism, touching: bool = False) -> None:
        self.mechanism, self.touching = mechanism, touching
        self.meshes: list[str] = []  # lines
        self.tree = MotionTree(mechanism)
        self.pose, self.below, self.parts = self.tree.pose, self.tree.below, self.tree.parts
        self.sites: dict[str, list[str]] = {}  # of each body, lines
        self.control: list[float] = []
        self.refused: list[str] = []
        self.refused_forces: list[str] = []
        self.text = "\n".join(self._lines()) + "\n"

    # ------------------------------------------------------------------------------------------------- the file

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the document."""
        mechanism = self.mechanism
        efforts = Efforts(mechanism, self.parts, self.site)
        equality = [self._closure(joint) for joint in self.tree.closing if self.tree.closes(joint)]
        efforts.take()
        self.control = efforts.control
        self.refused = self.tree.refused + efforts.refused + self._hollow()
        self.refused_forces = efforts.refused_forces
        yield f"<mujoco model={quoteattr(mechanism.name)}>"
        if equality or efforts.equality:
            yield f"  <!-- {SOFT} -->"
        yield '  <compiler angle="radian"/>'
        yield f'  <option gravity="{numbers(mechanism.gravity)}"/>'
        ground = geoms(mechanism.ground, self.meshes) if self.touching else []
        bodies = [line for branch in self.below.get(WORLD, ()) for line in self._body(branch, "    ")]
        if self.meshes:
            yield from ("  <asset>", *(f"    {mesh}" for mesh in self.meshes), "  </asset>")
        yield "  <worldbody>"
        yield from (f"    {line}" for line in [*ground, *self.sites.get(WORLD, ())])
        yield from bodies
        yield "  </worldbody>"
        sections = {"equality": equality + efforts.equality, "tendon": efforts.tendon, "actuator": efforts.actuator}
        for name, listed in sections.items():
            if listed:
                yield from (f"  <{name}>", *(f"    {line}" for line in listed), f"  </{name}>")
        if mechanism.start or not mechanism.is_closed or any(efforts.control):
            yield from ("  <keyframe>", f"    {self._key()}", "  </keyframe>")
        yield "</mujoco>"

    def _hollow(self) -> list[str]:
        """Return the hollow collision shapes, which MJCF lacks, in words."""
        bodies = {WORLD: self.mechanism.ground} | {body.name: body.collision for body in self.mechanism.bodies}
        hollow = [(name, type(shape).__name__) for name, shapes in bodies.items() for shape in shapes if shape.hollow]
        return [f"the {kind} of body '{name}'" for name, kind in hollow] if self.touching else []

    def _body(self, branch: Branch, indent: str) -> Iterator[str]:
        body, pose = self.mechanism.body(branch.body), self.pose[branch.body]
        place = self.pose[branch.above].inverse() @ pose
        quat = quat_from_matrix(place.R)
        yield f'{indent}<body name={quoteattr(body.name)} pos="{numbers(place.p)}" quat="{numbers(quat)}">'
        moments, axes = np.linalg.eigh(body.inertia)
        axes = axes * np.sign(np.linalg.det(axes))
        inertia = f'quat="{numbers(quat_from_matrix(axes))}" diaginertia="{numbers(moments)}"'
        if branch.joint is None:
            names = [
                joint.name for joint in self.mechanism.joints if {joint.body_a, joint.body_b} == {WORLD, body.name}
            ]
            yield f"{indent}  <freejoint name={quoteattr(names[0] if names else f'{body.name} floats')}/>"
        for part in self.tree.parts_of(branch):
            at, axis = pose.R.T @ (part.point - pose.p), pose.R.T @ part.axes[:, 0]
            attributes_of = ({"ref": numbers([part.reference])} if part.reference else {}) | part.given
            attributes = "".join(f' {key}="{value}"' for key, value in attributes_of.items())
            along = f' axis="{numbers(axis)}"' if part.kind != "ball" else ""
            name = quoteattr(part.name)
            yield f'{indent}  <joint name={name} type="{part.kind}" pos="{numbers(at)}"{along}{attributes}/>'
        yield f'{indent}  <inertial pos="0 0 0" mass="{numbers([body.mass])}" {inertia}/>'
        shapes = geoms(body.collision, self.meshes) if self.touching else []
        yield from (f"{indent}  {line}" for line in [*shapes, *self.sites.get(body.name, ())])
        for child in self.below.get(body.name, ()):
            yield from self._body(child, indent + "  ")
        yield f"{indent}</body>"

    def site(self, body: str, point: np.ndarray, name: str) -> str:
        """Return the name, quoted, of a new site of a body at a point of the world, in axes of the world."""
        pose = self.pose[body]
        at, quat = pose.R.T @ (point - pose.p), quat_from_matrix(pose.R.T)
        lines = self.sites.setdefault(body, [])
        lines.append(f'<site name={quoteattr(name)} pos="{numbers(at)}" quat="{numbers(quat)}"/>')
        return quoteattr(name)

    def _closure(self, joint: Joint) -> str:
        """Return the line of a closure of a loop."""
        tag, lines = ("weld" if isinstance(joint, Fixed) else "connect"), []
        for name, point, point_b in self.tree.held(joint):
            ends = ((joint.body_a, point, "a"), (joint.body_b, point_b, "b"))
            sites = [self.site(body, at, f"{name}: {which}") for body, at, which in ends]
            lines.append(f"<{tag} name={quoteattr(name)} site1={sites[0]} site2={sites[1]}/>")
        return "\n    ".join(lines)

    # ------------------------------------------------------------------------------------------------- the start

    def _key(self) -> str:
        """Return the <key> of the mechanism's start."""
        qpos, qvel = self.coordinates(self.mechanism.state())
        controls = f' ctrl="{numbers(self.control)}"' if self.control else ""
        return f'<key name="start" qpos="{numbers(qpos)}" qvel="{numbers(qvel)}"{controls}/>'

    def coordinates(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return MuJoCo's qpos and qvel of a closed ``state``."""
        parts = [part for _, each in self.tree.states(state) for part in each]
        empty = np.zeros(0)
        return np.concatenate([empty, *(p.q for p in parts)]), np.concatenate([empty, *(p.rate for p in parts)])
