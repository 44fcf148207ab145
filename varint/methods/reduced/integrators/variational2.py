"""The variational integrator of the midpoint rule in minimal coordinates (methods/reduced/integrators/symplectic.py).

Its discrete Lagrangian is h L((q0 + q1) / 2, (q1 - q0) / h): collocation at the middle of the step.
"""

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.variational import MinimalVariational, RecursiveVariational

MIDDLE = (0.5,)


@register
class Variational2(MinimalVariational):
    """Order 2."""

    name, order = "variational2", 2
    what = "variational, midpoint rule, Newton's method up to `tol=`; trees, in steps of dt"
    nodes = MIDDLE


@register
class Variational2Recursive(RecursiveVariational):
    """Order 2, in linear time."""

    name, order = "variational2_recursive", 2
    what = "variational, midpoint rule, recursive quasi-Newton method up to `tol=`; trees, in steps of dt"
    nodes = MIDDLE
