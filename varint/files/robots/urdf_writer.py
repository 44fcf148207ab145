"""Mechanisms written as URDF: the tree, and its companion with all that URDF does not hold."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.base.atomic_writes import write_text
from varint.files.own.companion import save_pair
from varint.files.own.file_format import MARK
from varint.files.own.mechanism_data import to_data
from varint.files.own.toml_text import text_of
from varint.files.robots.kinds import Free, Prismatic, Revolute
from varint.files.robots.robot import Pose
from varint.files.robots.spanning import Branch, spanning
from varint.files.robots.written_shapes import collisions, numbers, roll_pitch_yaw
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import rotation_matrix
from varint.model.start_arguments import OF_BODIES

TYPES: dict[type[Joint], str] = {Revolute: "continuous", Prismatic: "prismatic"}
EARTH = (0.0, 0.0, -9.81)  # the gravity of a file that says nothing of it
MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def save(mechanism: Mechanism, path: Path, overwrite: bool) -> None:
    """Write the hinges and slides of the tree, and all else, if there is more, to the companion of the file.

    Raises FileError where a TOML file of that name is not its companion, except with ``overwrite``; see `save_pair`.
    """
    branches, _ = spanning(mechanism, _rank)
    data = to_data(mechanism)
    in_tree = {branch.joint.name for branch in branches if branch.joint is not None}
    floating = {_floats(mechanism, branch)[0] for branch in branches if branch.joint is None}
    beside = {
        MARK: data[MARK],
        "include": path.name,
        "joints": [one for one in data["joints"] if one["name"] not in in_tree | floating],
        "forces": data["forces"],
        "start": data["start"],
    }
    if mechanism.start and floating - mechanism.joint_index.keys():  # coordinates of joints do not tell all
        state = mechanism.state()
        beside["start"] = {
            key: {body.name: row.tolist() for body, row in zip(mechanism.bodies, getattr(state, key), strict=True)}
            for key in OF_BODIES
        }
    if tuple(data["gravity"]) != EARTH:
        beside["gravity"] = data["gravity"]
    if mechanism.ground:
        beside["ground"] = data["ground"]
    more = len(beside) > 5 or any(beside[key] for key in ("joints", "forces", "start"))
    companion = text_of(beside, {"joints": "closures", "forces": "forces"}) if more else ""
    meshes: dict[str, str] = {}
    text = "\n".join(_lines(mechanism, branches, meshes, path)) + "\n"
    save_pair(path, text, companion, overwrite)
    for name, content in meshes.items():
        write_text(path.with_name(name), content)


def _rank(joint: Joint) -> float:
    """Return 0 for rigid hinges and slides closed in the reference configuration, which may enter the tree.

    Else infinity.
    """
    held = type(joint) in TYPES and joint.compliance is None and joint.point is not None and joint.point_b is not None
    return 0.0 if held and np.array_equal(joint.point, joint.point_b) else float("inf")  # type: ignore[arg-type]


def _floats(mechanism: Mechanism, branch: Branch) -> tuple[str, np.ndarray]:
    """Name and anchor (3,) of the joint of a floating body: one of the mechanism if possible, or a new one."""
    for joint in mechanism.joints:
        if isinstance(joint, Free) and (joint.body_a, joint.body_b) == (WORLD, branch.body):
            point, point_b = mechanism.anchors(joint)
            if np.array_equal(point, point_b):  # else its coordinates are not zero in the reference configuration
                return joint.name, point
    return f"{branch.body} floats", mechanism.body(branch.body).position


def _lines(mechanism: Mechanism, branches: list[Branch], meshes: dict[str, str], path: Path) -> Iterator[str]:
    """Yield the lines of the file at ``path``.

    The ``meshes`` of shapes that touch are added by the names of their files.
    """
    frames = {WORLD: Pose(np.eye(3), np.zeros(3))}
    yield f"<robot name={quoteattr(mechanism.name)}>"
    yield '  <link name="world"/>'
    for branch in branches:
        body, joint = mechanism.body(branch.body), branch.joint
        name, point = (joint.name, mechanism.anchors(joint)[0]) if joint is not None else _floats(mechanism, branch)
        frame = frames[body.name] = Pose(rotation_matrix(body.quat_wxyz), point)
        inertia = " ".join(f'{key}="{numbers([body.inertia[place]])}"' for key, place in MOMENTS.items())
        yield f"  <link name={quoteattr(body.name)}>"
        yield "    <inertial>"
        yield f'      <origin xyz="{numbers(frame.R.T @ (body.position - point))}"/>'
        yield f'      <mass value="{numbers([body.mass])}"/>'
        yield f"      <inertia {inertia}/>"
        yield "    </inertial>"
        origin = Pose(np.eye(3), frame.R.T @ (point - body.position))
        yield from (f"    {line}" for line in collisions(body.collision, origin, meshes, path))
        yield "  </link>"
        place = frames[branch.above].inverse() @ frame
        yield f'  <joint name={quoteattr(name)} type="{TYPES[type(joint)] if joint is not None else "floating"}">'
        yield f"    <parent link={quoteattr(branch.above)}/>"
        yield f"    <child link={quoteattr(branch.body)}/>"
        yield f'    <origin xyz="{numbers(place.p)}" rpy="{numbers(roll_pitch_yaw(place.R))}"/>'
        if joint is not None:
            axis = (-1.0 if branch.reversed else 1.0) * frame.R.T @ joint.axis  # type: ignore[attr-defined]
            yield f'    <axis xyz="{numbers(axis)}"/>'
        yield "  </joint>"
    yield "</robot>"
