"""Joints of one coordinate with friction from their load."""

import numpy as np

from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan.joints import JointFrame, joint_frames
from varint.plan.roles import Roles


def bearing_arrays(structure: Structure, roles: Roles, frame: JointFrame, slot: np.ndarray) -> dict:
    """Return the arrays of `plan.bearings`; ``slot`` (nb + 1,): of each body, the last that of the world."""
    R = rotation_matrix([body.quat_wxyz for body in structure.bodies])
    number = {j: k for k, j in enumerate(frame.joints)}
    constrained = roles.sums[len(set(roles.law_sum)) :]
    rivals = [sum_measures[0] for sum_measures in constrained if len(sum_measures) == 1]
    rivals += sorted(roles.limited)
    names = "joint", "row", "element", "side", "point", "axes"
    columns: dict[str, list] = {name: [] for name in names}
    pressures, rival_rows = [], []
    for (e, element), m in zip(roles.bearings, roles.bearing_rows, strict=True):
        joint = structure.joint(element.joint)
        k, ends = number[structure.joint_index[joint.name]], frame.ends[structure.joint_index[joint.name]]
        _, (axes, point) = joint_frames(joint, structure, ends, R)
        b = int(slot[ends[1]])
        side = int(frame.side[k, 1] == b)
        for name, value in zip(names, (k, frame.row_of[m], e, side, point, axes), strict=True):
            columns[name].append(value)
        pressures.append(element.pressure)
        pair = sorted(roles.ends[m])
        rival_rows.append([frame.row_of[r] for r in rivals if sorted(roles.ends[r]) == pair])
    count = len(pressures)
    shapes = {"point": (count, 3), "axes": (count, 3, 3)}
    arrays = {name: np.array(columns[name], dtype=np.int64) for name in names if name not in shapes}
    arrays |= {name: np.reshape(columns[name], shape).astype(float) for name, shape in shapes.items()}
    return arrays | {
        "first": np.cumsum([0, *map(len, pressures)]),
        "pressure": np.concatenate([np.zeros((0, 6)), *pressures]),
        "rival_first": np.cumsum([0, *map(len, rival_rows)]),
        "rival": np.array([row for rows in rival_rows for row in rows], dtype=np.int64),
    }
