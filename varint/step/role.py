"""The contract of a role of a step (roles.py)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from varint.base.numba import Indirect
from varint.step.plan import Plan, Workspace


@dataclass(frozen=True, eq=False)
class Role:
    """A role of a step: which plans have it, and what it does in a step.

    size : of its arrays in a plan, zero where the plan does not have the role
    functions : compiled functions by the names of `roles.HOOKS`, called through pointers: a plan without the role
        compiles none of them
    derivatives : the same of derivatives of steps, by the names of `roles.DERIVATIVES`
    also : the others that these call through pointers, in runs of a plan with so many stages
    sizes : of its arrays in a run with so many stages of a step, by their names
    border : the number of its rows in the border of Newton's system, at most, and of bodies of a row
    begin : sets initial values that are not zero in the workspace of a run
    double : whether a stage with it may be solved in double-double
    smooth : whether velocities of bodies go on as polynomials do, which makes a long history worth keeping
    exact : whether it adds all its derivatives to Newton's matrix
    events : whether it may change momenta at instants within a step
    """

    size: Callable[[Plan], int]
    functions: Mapping[str, Indirect] = field(default_factory=dict)
    derivatives: Mapping[str, Indirect] = field(default_factory=dict)
    also: Callable[[Plan, int], Sequence[Indirect]] = lambda plan, stages: ()
    sizes: Callable[[Plan, int], Mapping[str, int]] = lambda plan, stages: {}
    border: Callable[[Plan], tuple[int, int]] = lambda plan: (0, 0)
    begin: Callable[[Workspace], None] = lambda ws: None
    double: bool = True
    smooth: bool = True
    exact: bool = True
    events: bool = False

    def is_in(self, plan: Plan) -> bool:
        """Return whether a plan has the role."""
        return bool(self.size(plan))

    def prepare(self, plan: Plan, stages: int) -> None:
        """Compile, or load, the functions that steps call of this role; ``stages``: of a step."""
        for function in (*self.functions.values(), *self.also(plan, stages)):
            function.prepare()
