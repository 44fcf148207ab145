"""The drift of joints: by how much they are open."""

import numpy as np

from varint.plan import Compiled
from varint.step.configuration import drift
from varint.step.march.spare_workspaces import borrowed_joint_workspace
from varint.step.plan import JOINT, Workspace
from varint.step.workspace import joint_workspace

OPEN, OPEN_BY_TOLERANCE = 1e-6, 100.0


def left_open(rtol: float) -> float:
    """Return the drift of stabilised loops, over the size of a part, that integration with ``rtol`` explains."""
    return max(OPEN, OPEN_BY_TOLERANCE * rtol)


def joint_drift(
    compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray, ws: Workspace | None = None
) -> np.ndarray:
    """Return the largest violation (T,), m, of a row at each node; angles count times the mechanism's part size.

    ``ws``: `joint_workspace`, in which the coordinates of products of exponentials are followed; else a fresh one.
    """
    if ws is None:
        with borrowed_joint_workspace(compiled.plan) as fresh:
            return joint_drift(compiled, position, quat_wxyz, fresh)
    out = np.empty(len(position))
    poses = (np.ascontiguousarray(array[:, compiled.order]) for array in (position, quat_wxyz))
    drift(compiled.plan, ws, *poses, out)
    return out


def most_open_bodies(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
    """Return a body (T,) on the joint that is open most at each node: position (T, nb, 3), quat_wxyz (T, nb, 4)."""
    plan, ws = compiled.plan, joint_workspace(compiled.plan)
    bodies = np.empty(len(position), dtype=np.int64)
    for node in range(len(position)):
        joint_drift(compiled, position[node : node + 1], quat_wxyz[node : node + 1], ws)
        gaps = np.where(plan.rows.role == JOINT, plan.rows.scale * np.abs(ws.residual_row), -1.0)
        joint = int(np.searchsorted(plan.joints.rows, int(np.argmax(gaps)), side="right")) - 1
        bodies[node] = compiled.order[min(plan.joints.side[joint])]  # the world has the last slot
    return bodies
