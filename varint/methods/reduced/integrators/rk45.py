"""Dormand and Prince's pair of orders 5 and 4."""

from scipy.integrate import RK45

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.explicit import Explicit


@register
class DormandPrince5(Explicit):
    """Explicit Runge-Kutta, order 5."""

    name, order = "rk45", 5
    what = "explicit Runge-Kutta, with error control"
    solver_class = RK45
    estimates = ("E",)
