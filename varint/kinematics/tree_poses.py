"""Poses along the tree at joint coordinates, and whether all loops and couplings hold there, so that none is solved."""

from collections.abc import Mapping

import numpy as np

from varint.kinematics.closure import Closure, closed_to, coordinate_units
from varint.kinematics.drift import joint_drift
from varint.kinematics.frames import JointFrames, reference_pose
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.march.spare_workspaces import borrowed_coupled_workspace


def poses_along_tree(
    structure: Structure, compiled: Compiled, coordinates: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses along the tree, loops cut, at ``coordinates`` (dof,) by joint and else as in the reference."""
    x0, R0 = reference_pose(structure)
    x, R = x0.copy(), R0.copy()
    for body in compiled.topology.bodies:
        number = compiled.topology.tree_joint[body]
        if number is not None:
            joint = structure.joints[number]
            frames = JointFrames(structure, joint)
            frames.place(body, x, R, coordinates[joint.name] if joint.name in coordinates else frames.measure(x0, R0))
    return x, R


def are_at(
    structure: Structure, compiled: Compiled, coordinates: Mapping[str, np.ndarray], x: np.ndarray, R: np.ndarray
) -> bool:
    """Return whether a pose shows the ``coordinates`` (dof,) of all joints, of angles the whole turns as well."""
    tolerance = 10 * closed_to(compiled.length, x) / compiled.length
    for name, values in coordinates.items():
        joint = structure.joint(name)
        off = np.abs(JointFrames(structure, joint).measure(x, R) - values) / coordinate_units(compiled.length, joint)
        if off.max(initial=0.0) > tolerance:
            return False
    return True


def are_closed(structure: Structure, compiled: Compiled, x: np.ndarray, R: np.ndarray) -> bool:
    """Return whether the joints are closed at a pose, as along a tree, and couplings hold."""
    if compiled.plan.constraints.row.size:
        with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
            closure = Closure(structure, compiled, ws=ws)
            return closure.is_closed(closure.gap(closure.evaluate(x, R)[0]), x)
    pose = x[None, :-1], quat_from_matrix(R[:-1])[None]
    open_by = joint_drift(compiled, *pose)[0]
    return bool(open_by <= closed_to(compiled.length, x))
