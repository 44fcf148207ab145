"""Dormand and Prince's pair of orders 5 and 4."""

from scipy.integrate import RK45

from varint.redmax.integrators.adaptive import Adaptive
from varint.redmax.integrators.base import register


@register
class DormandPrince5(Adaptive):
    """Explicit Runge-Kutta, order 5."""

    name, order = "rk45", 5
    what = "explicit Runge-Kutta, with error control"
    solver_class = RK45
