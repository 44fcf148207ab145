"""Dormand and Prince's method of order 8."""

from scipy.integrate import DOP853

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.explicit import Explicit


@register
class DormandPrince8(Explicit):
    """Explicit Runge-Kutta, order 8."""

    name, order, default = "dop853", 8, True
    what = "explicit Runge-Kutta, with error control"
    solver_class = DOP853
    estimates = ("E5", "E3")
