"""The joints of a plan that are products of exponentials, and what a run knows of them."""

from dataclasses import dataclass

import numpy as np

from varint._numba import Float1, Float2, Int1, Int2, Record

MOST = 6  # coordinates of a joint


@dataclass(frozen=True, eq=False)
class Products(Record):
    """Joints whose rows are that the second body keeps to their motions; n of them."""

    table: Float2  # (stages and pieces, WIDTH) see stages.py
    start: Int1  # (n,) first row of each in ``table``
    body: Int2  # (n, 2) slots of the first and the second body
    side: Int1  # (n,) side of the first body in the joint
    row: Int1  # (n,) its first row in the plan
    length: Float1  # (1,) size of the parts, m


@dataclass(frozen=True, eq=False)
class ProductWork(Record, writable=True):
    """The coordinates of the joints where they were seen last, and scratch."""

    q: Float2  # (n, 6) coordinates, m, rad, or pieces of a spline
    order: Int2  # (n, 6) components of e that are solved for, then those that are rows; zeros before the first pose
    matrix: Float2  # (n, 72) see rows.py
    trial: Float2  # (n, 6) coordinates under search
    best: Float2  # (n, 6) the best coordinates of a search
    right: Float2  # (n, 6) right side of a descent


def product_work(count: int) -> ProductWork:
    """A fresh record for so many joints."""
    q, trial, best, right = np.zeros((4, count, MOST))
    return ProductWork(q, np.zeros((count, MOST), dtype=np.int64), np.zeros((count, 12 * MOST)), trial, best, right)


def one_product(table, length: float) -> tuple[Products, ProductWork]:
    """A joint by itself, its table starting at row 0; ``length``: size of the parts, m."""
    none = np.zeros(1, dtype=np.int64)
    return Products(table, none, np.zeros((1, 2), dtype=np.int64), none, none, np.array([length])), product_work(1)


def check_order(order: np.ndarray) -> None:
    """Check that ``order`` (n, 6) of a `ProductWork` names components, the kernels' indices; raises ValueError."""
    if not all(np.array_equal(row, np.arange(MOST)) or not row.any() for row in np.sort(order, axis=1)):
        raise ValueError("its checkpoint names unknown components")
