"""The variational integrator of third order in minimal coordinates (methods/reduced/integrators/symplectic.py).

Its discrete Lagrangian is that of a quadratic polynomial in the quadrature of Radau, at 1/3 and at the end of the step.
"""

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.variational import MinimalVariational


@register
class Variational3(MinimalVariational):
    """Order 3."""

    name, order = "variational3", 3
    what = "variational, quadratic in a step, Newton's method up to `tol=`; trees, in steps of dt"
    nodes = (1 / 3, 1.0)
    stable = 6.0
