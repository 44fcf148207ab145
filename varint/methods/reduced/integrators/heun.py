"""Heun's method, in steps of one size: the rival of VI Fig. 4a."""

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.runge_kutta import FixedRungeKutta


@register
class Heun(FixedRungeKutta):
    """Order 2."""

    name, order = "heun", 2
    what = "Heun's explicit method, in steps of dt"
    A, b = ((0.0,), (1.0,)), (0.5, 0.5)
    stable = 2.0
