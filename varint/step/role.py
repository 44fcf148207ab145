"""The contract of a role of a step (roles.py)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from varint.base.numba import Indirect
from varint.step.plan import Plan


def no_sizes(plan: Plan) -> dict[str, int]:
    """Return the sizes of no arrays."""
    return {}


def no_border(plan: Plan) -> tuple[int, int]:
    """Return the sizes of no rows."""
    return 0, 0


@dataclass(frozen=True, eq=False)
class Role:
    """A role of a step: which plans have it, and what it does in a step.

    acts : compiled function of a plan, whether it has the role
    functions : compiled functions by the names of `roles.HOOKS`, called through pointers: a plan without the role
        compiles none of them
    sizes : of its arrays in a run, by their names
    border : the number of its rows in the border of Newton's system, at most, and of bodies of a row
    double : whether a stage with it may be solved in double-double
    """

    acts: Callable[[Plan], bool]
    functions: Mapping[str, Indirect]
    sizes: Callable[[Plan], dict[str, int]] = no_sizes
    border: Callable[[Plan], tuple[int, int]] = no_border
    double: bool = True

    def is_in(self, plan: Plan) -> bool:
        """Whether a plan has the role."""
        return bool(getattr(self.acts, "py_func", self.acts)(plan))
