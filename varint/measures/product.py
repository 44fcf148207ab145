"""PRODUCT: a row of a joint that is a product of exponentials, m (mathematics/products/rows.py)."""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.products.rows import curve_product_row, product_row
from varint.measures.base import Measure, Numbers, register


@njit
def product(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    n = plan.measures.product[m]
    return product_row(plan.products, ws.products, n, m - plan.products.row[n], x_a, A, x_b, B, G_a, G_b)


@njit
def curve_product(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    n, i = plan.measures.product[m], m - plan.products.row[plan.measures.product[m]]
    curve_product_row(plan.products, ws.products, n, i, x_a, A, x_b, B, (motions[0], motions[1]), (out_a, out_b))


class _Facts(Measure):
    bends = True


register("product", product, curve_product, None, _Facts)


@dataclass(frozen=True)
class OnMotions:
    """A row of a joint that keeps frame b on the joint's motions, of any kind."""

    kind = "product"

    def gap(self, frame, apart) -> float:
        """Return the violation, m, if anchors are ``apart`` (3,), world, and both frames have axes ``frame`` (3, 3)."""
        return float(np.linalg.norm(apart))

    def numbers(self, frame_a, anchor_a, frame_b, anchor_b) -> Numbers:
        """Return no numbers: the motions stand in the table of products."""
        return Numbers()
