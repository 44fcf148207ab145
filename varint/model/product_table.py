"""The motions of joints as the tables that mathematics/products/stages.py works on."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import freeze
from varint.mathematics.products import stages as columns
from varint.model.motion import Ball, Motion, Shift, Slide, Turn
from varint.model.product_joint import Product, along_screw, inverse, pose_matrix

if TYPE_CHECKING:
    from varint.model.joints.base import Joint


def as_product(motion: Motion) -> Product:
    """Return the product of a turn or slide, or a product itself."""
    if isinstance(motion, Product):
        return motion
    assert isinstance(motion, Turn | Slide)
    return along_screw(np.eye(6)[motion.axis + 3 * isinstance(motion, Slide)], motion.unit)


def table_of(
    motions: Iterable[Motion], frame_a: np.ndarray | None = None, frame_b: np.ndarray | None = None, first: int = 0
) -> np.ndarray:
    """Return rows (n, WIDTH) of the motions of a joint, one stage each.

    ``frame_a``, ``frame_b`` (4, 4): poses of the joint's frames on two bodies; then the product is the pose of b seen
    from a, else that of the frames. ``first``: number of the first row in a longer table.
    """
    rows: list[np.ndarray] = []
    heads = []
    column, pending = 0, np.eye(4) if frame_a is None else frame_a
    for motion in motions:
        if isinstance(motion, Shift):
            pending = pending @ pose_matrix(*motion.pose(np.zeros(0)))
            continue
        heads.append(len(rows))
        if isinstance(motion, Ball):
            rows += [_head(1, 3, 1, 1, False, 0, column), _piece(pending)]
        else:
            product = as_product(motion).after(pending)
            n1, n2, m = product.screw.shape[:3]
            rows.append(_head(0, product.size, n1, n2, product.closed, m, column, product.period))
            rows += [
                _piece(product.base[i, j], product.screw[i, j], product.power[i, j]) for i, j in np.ndindex(n1, n2)
            ]
        column, pending = column + motion.size, np.eye(4)
    heads.append(len(rows))
    tail = pending if frame_b is None else pending @ inverse(frame_b)
    rows += [_head(0, 0, 1, 1, False, 0, column), _piece(tail)]
    for head, after in zip(heads, [*heads[1:], -1 - first], strict=True):
        rows[head][columns.NEXT] = first + after
    return freeze(np.array(rows))


@lru_cache(maxsize=1000)
def joint_table(joint: "Joint") -> np.ndarray:
    """Return `table_of` the pose of its frames."""
    return table_of(joint.allowed)


def _head(
    ball: int, size: int, n1: int, n2: int, closed: bool, factors: int, column: int, period: float = 0.0
) -> np.ndarray:
    row = np.zeros(columns.WIDTH)
    row[:8] = ball, size, n1, n2, closed, factors, column, period
    return row


def _piece(
    base: np.ndarray, screws: Sequence[np.ndarray] | np.ndarray = (), powers: Sequence[np.ndarray] | np.ndarray = ()
) -> np.ndarray:
    row = np.zeros(columns.WIDTH)
    row[:12] = *base[:3, :3].ravel(), *base[:3, 3]
    for k, (screw, power) in enumerate(zip(screws, powers, strict=True)):
        row[columns.SCREW + 6 * k : columns.SCREW + 6 * k + 6] = screw
        row[columns.POWER + 16 * k : columns.POWER + 16 * k + 16] = power.ravel()
    return row
