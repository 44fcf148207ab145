"""The drift of joints: by how much they are open."""

import numpy as np

from varint.compile import Compiled
from varint.kernels.configuration import drift
from varint.kernels.plan import Workspace
from varint.kernels.workspace import joint_workspace


def joint_drift(
    compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray, ws: Workspace | None = None
) -> np.ndarray:
    """(T,) m: largest violation of a constraint row at each node; angles count times the mechanism's part size.

    ``ws``: `joint_workspace`, in which the coordinates of products of exponentials are followed; else a fresh one.
    """
    out = np.empty(len(position))
    ws = joint_workspace(compiled.plan) if ws is None else ws
    poses = (np.ascontiguousarray(array[:, compiled.order]) for array in (position, quat_wxyz))
    drift(compiled.plan, ws, *poses, out)
    return out
