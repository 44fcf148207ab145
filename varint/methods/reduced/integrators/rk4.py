"""The classical Runge-Kutta method, in steps of one size."""

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.runge_kutta import FixedRungeKutta


@register
class RungeKutta4(FixedRungeKutta):
    """Order 4."""

    name, order = "rk4", 4
    what = "the classical explicit Runge-Kutta method, in steps of dt"
    A, b = ((0.0,), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    stable = 2.785
