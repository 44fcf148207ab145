"""Joints and bodies whose motion is given as a function of time: hybrid dynamics (DIFF section 2.9, Algorithm 9).

A joint in the tree, or a body that floats, is moved by its coordinates, in the recursion. Any other body, and a point
of one, is moved by rows as a loop closure has them (closures.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import call, function_of, in_a_shape, shown
from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL
from varint.methods.reduced.tree import IS_FREE, Tree
from varint.model.forces.driven import Driven
from varint.model.forces.moved import Moved
from varint.model.forces.velocity_rows import VelocityRows
from varint.model.motion import Ball, Slide
from varint.results.inputs.courses import Course

if TYPE_CHECKING:
    from varint.methods.reduced.equations import Equations


FLOATING = (
    *(Slide(axis) for axis in range(3)),
    Ball(),
)  # three translations and a free rotation


@dataclass(frozen=True)
class Drive:
    """A tree joint whose motion is prescribed.

    ``columns``: of its coordinates; ``nodes``: of its motions; ``function``: of time.
    """

    name: str
    label: str
    columns: slice
    nodes: np.ndarray
    function: Callable

    def at(self, t: float) -> np.ndarray:
        """Return coordinates, rates and their rates (3, dof) at time ``t``, s. Raises ArgumentError."""
        title = f"the motion prescribed for {self.label} at t = {t:g} s"
        motion = call(self.function, f"{title}, a function that is called as f(t)", t)
        if not isinstance(motion, tuple | list | np.ndarray) or getattr(motion, "ndim", 1) == 0 or len(motion) != 3:
            raise ArgumentError(f"{title} must be (q, qdot, qddot), got {shown(motion)}")
        dof = self.columns.stop - self.columns.start
        shapes = ((), (1,)) if dof == 1 else ((dof,),)
        return np.array([in_a_shape(part, shapes, title, ArgumentError).reshape(dof) for part in motion])


def find_drives(mechanism: Mechanism, tree: Tree, prescribed: Mapping[str, Callable] | None) -> list[Drive]:
    """Return the drives of ``prescribed``, joint name to function."""
    drives = []
    for name, function in (prescribed or {}).items():
        joint = mechanism.joint(name)
        holding = [k for k in tree.pinned if mechanism.forces[k].acts_on(mechanism)[0] in (joint.body_a, joint.body_b)]
        if name not in tree.columns and joint.allowed == FLOATING and holding:
            label = mechanism.forces[holding[0]].label
            raise ArgumentError(f"{joint.label} is held by {label} and cannot be prescribed: remove one of them")
        if name not in tree.columns:
            raise ArgumentError(f"{joint.label} closes a loop and cannot be prescribed: prescribe another of its loop")
        if joint.compliant:
            raise ArgumentError(f"{joint.label} {IS_FREE}")
        if tree.charts.get(name, EXPONENTIAL) != EXPONENTIAL:
            raise ArgumentError(f"{joint.label} cannot be prescribed in Euler angles: use the chart '{EXPONENTIAL}'")
        function_of(function, f"the motion prescribed for {joint.label}", ArgumentError)
        drives.append(_drive(tree, name, joint.label, function))
    return drives


def _drive(tree: Tree, name: str, label: str, function: Callable) -> Drive:
    columns, column = tree.columns[name], tree.nodes.column
    nodes = np.flatnonzero((columns.start <= column) & (column < columns.stop) & (tree.nodes.dof > 0))
    return Drive(name, label, columns, nodes, function)


@dataclass(frozen=True)
class MovedPart:
    """Part that a force moves: by the ``drive`` of a base, or without one by rows.

    ``elements`` (n,): of the force; ``course``: of their targets.
    """

    force: Moved | Driven | VelocityRows
    elements: np.ndarray
    course: Course
    drive: Drive | None


def find_moved(mechanism: Mechanism, tree: Tree, moved: Mapping[str, Course] | None) -> list[MovedPart]:
    """Return the parts that forces move, by the names of these and their courses in ``moved``."""
    parts: list[MovedPart] = []
    driven: set[str] = set()
    for name, course in (moved or {}).items():
        force, drive = mechanism.force(name), None
        assert isinstance(force, Moved | Driven | VelocityRows)
        base = _base(mechanism, tree, force)
        if base is not None and base[0] not in driven:
            driven.add(base[0])
            drive = _drive(tree, base[0], force.label, _of_base(course, base[1]))
        elements = np.flatnonzero(mechanism.compiled.force == mechanism.force_index[name])
        parts.append(MovedPart(force, elements, course, drive))
    return parts


def _base(mechanism: Mechanism, tree: Tree, force: Moved | Driven | VelocityRows) -> tuple[str, np.ndarray] | None:
    """Name of the floating base joint that ``force`` can drive, and the origin (3,) of its displacements, m; else None.

    Its coordinates are the shift of the centre of mass and the rotation vector, in world axes.
    """
    if not isinstance(force, Moved) or not force.turned:
        return None
    for joint in tree.joints:
        frames = JointFrames(mechanism, joint)
        alone = frames.a < 0 and joint.body_b == force.body and not frames.origin_b.any()
        floats = alone and joint.allowed == FLOATING and np.array_equal(joint.frame, np.eye(3))
        if floats and tree.charts[joint.name] == EXPONENTIAL:
            return joint.name, frames.origin_a
    return None


def _of_base(course: Course, origin: np.ndarray) -> Course:
    """Return targets of the coordinates of a floating base: ``course`` with displacements from ``origin`` (3,), m."""
    shift = np.zeros((3, 6))
    shift[0, :3] = origin
    return lambda t: course(t) - shift


def places(equations: "Equations") -> list[np.ndarray]:
    """Return the numbers of each moved part among the rows of closures, couplings and, last, driven columns."""
    numbers, first = [], equations.closures.moved.start
    last = equations.row_count + np.cumsum(equations.driven_columns) - 1
    for part in equations.moved:
        if part.drive:
            numbers.append(last[part.drive.columns])
        else:
            numbers.append(first + np.arange(part.elements.size))
            first += part.elements.size
    return numbers
