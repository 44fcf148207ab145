"""COORDINATE: of a joint that is a product of exponentials, in its own unit (mathematics/products/rows.py).

The joint's rows leave six less k components of its error; the other k give its coordinates, of which this is one. It
goes on from the coordinates where the joint was seen last, so that turns and rounds are counted.
"""

from dataclasses import dataclass

from varint.base.numba import njit
from varint.mathematics.products.rows import curve_product_row, product_row
from varint.mathematics.products.stages import count
from varint.measures.base import Measure, Numbers, register


@njit
def _number(plan, n, m):
    """Return the number of measure m in `product_row`."""
    return 6 - count(plan.products.table, plan.products.start[n]) + int(plan.measures.c[m])


@njit
def coordinate(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    n = plan.measures.product[m]
    return product_row(plan.products, ws.products, n, _number(plan, n, m), x_a, A, x_b, B, G_a, G_b)


@njit
def curve_coordinate(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    n, along, out = plan.measures.product[m], (motions[0], motions[1]), (out_a, out_b)
    curve_product_row(plan.products, ws.products, n, _number(plan, n, m), x_a, A, x_b, B, along, out)


@dataclass(frozen=True, eq=False)
class JointCoordinate(Measure):
    """Coordinate number ``number`` of ``joint``."""

    joint: str
    number: int

    kind = "coordinate"
    bends = True

    @property
    def angle_of(self) -> tuple[str, int]:
        return self.joint, self.number

    @property
    def of_product(self) -> str:
        return self.joint

    def numbers(self, A, x_a, B, x_b):
        return Numbers(c=float(self.number))


class JointAngle(JointCoordinate):
    """One in rad."""

    angular = True


register("coordinate", coordinate, curve_coordinate, None, JointCoordinate)
