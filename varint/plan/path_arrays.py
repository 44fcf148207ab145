"""Paths of muscles in a plan."""

from collections.abc import Sequence

import numpy as np

from varint.plan.joints import JointFrame
from varint.plan.roles import Roles
from varint.step.paths.records import OWN_ROWS


def path_arrays(roles: Roles, frame: JointFrame, places: Sequence[int]) -> dict:
    """Return the arrays of `Paths`; ``places``: of the measures in the plan."""
    pieces: list[list[int]] = []
    row = np.full(len(roles.sums) - len(roles.constraints), OWN_ROWS)
    for s, carrier in roles.paths.items():
        if carrier is not None:
            row[s] = frame.row_of.get(carrier, -1)
        for m in roles.sums[s]:
            if roles.measures[m].follows:
                pieces[-1][1] = places[m]
            else:
                pieces.append([places[m], -1, s])
    measure, other, owner = np.reshape(pieces, (-1, 3)).astype(np.int64).T
    return {"measure": measure, "other": other, "sum": owner, "row": row.astype(np.int64)}
