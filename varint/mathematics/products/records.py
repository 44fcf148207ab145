"""The joints of a plan that are products of exponentials, and the values that a run keeps of them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from varint.base.numba import STEP_STATE, TAPED, CompiledRecord, Float1, Float2, Int1, Int2, allocate

MOST = 6  # coordinates of a joint


@dataclass(frozen=True, eq=False)
class Products(CompiledRecord):
    """Joints whose rows are that the second body keeps to their motions; n of them."""

    table: Float2  # (stages and pieces, WIDTH) see stages.py
    start: Int1  # (n,) first row of each in ``table``
    body: Annotated[Int2, "n 2"]  # slots of the first and the second body
    side: Int1  # (n,) side of the first body in the joint
    row: Int1  # (n,) its first row in the plan
    length: Float1  # (1,) size of the parts, m


@dataclass(frozen=True, eq=False)
class ProductWork(CompiledRecord, writable=True):
    """The coordinates of the joints where they were seen last, and scratch."""

    q: Annotated[Float2, "products 6", STEP_STATE + TAPED]  # coordinates, m, rad, or pieces of a spline
    order: Annotated[Int2, "products 6", STEP_STATE + TAPED]  # components of e: solved ones, then rows; or zeros
    matrix: Annotated[Float2, "products 72"]  # see rows.py
    trial: Annotated[Float2, "products 6"]  # coordinates under search
    best: Annotated[Float2, "products 6"]  # the best coordinates of a search
    right: Annotated[Float2, "products 6"]  # right side of a descent


def one_product(table, length: float) -> tuple[Products, ProductWork]:
    """Return a joint by itself, its table starting at row 0; ``length``: size of the parts, m."""
    none = np.zeros(1, dtype=np.int64)
    return Products(table, none, np.zeros((1, 2), dtype=np.int64), none, none, np.array([length])), allocate(
        ProductWork, {"products": 1}
    )


def check_order(order: np.ndarray) -> None:
    """Check that ``order`` (n, 6) of a `ProductWork` names components, the kernels' indices; raises ValueError."""
    if not all(np.array_equal(row, np.arange(MOST)) or not row.any() for row in np.sort(order, axis=1)):
        raise ValueError("its checkpoint names unknown components")
