"""The roles of a step that are objects, and what kernels call of them: a function of each role that the plan has.

A role is a `Role`. Its functions see a step from the pose ``start`` to the pose ``end``, of ``h`` s, or a node.
``upper``: the pose along whose rows impulses act.

add_residuals    (start, end, h)  take what acts in the step off ``ws.residual_body``, or write ``ws.residual_row``
add_matrices     (upper, end, h)  add its derivatives to the blocks ``ws.ldu.D``, to rows, or to the border (border.py)
finish_roles     (start, end, h)  bring momenta, works and states to the end of a solved stage
start_roles      (pose)           add to ``ws.momentum``, of a motion that starts with ``ws.velocity``
add_inertias     (pose)           add to the blocks, or to the border, of the system of the velocities at a node
weigh_roles      (pose)           add kinetic energies at the velocities ``ws.increment_body`` to ``ws.balance.further``
"""

from functools import reduce

from varint.base.numba import in_turn, njit
from varint.step.efforts import EFFORTS
from varint.step.paths.mass_role import PATH_MASSES
from varint.step.plan import Plan
from varint.step.rates import RATES
from varint.step.role import Role

ROLES: tuple[Role, ...] = RATES, EFFORTS, PATH_MASSES  # in the order in which they act
HOOKS = {
    "residual": "ws, start, end, h",
    "matrix": "ws, upper, end, h",
    "finish": "ws, start, end, h",
    "start": "ws, pose",
    "inertia": "ws, pose",
    "energy": "ws, pose",
}


def _in_turn(name: str, hook: str):
    cases = [(role.acts, role.functions[hook]) for role in ROLES if hook in role.functions]
    return in_turn(name, HOOKS[hook], cases)


def _either(first, second):
    @njit
    def either(plan):
        return first(plan) or second(plan)

    return either


add_residuals = _in_turn("add_residuals", "residual")
add_matrices = _in_turn("add_matrices", "matrix")
finish_roles = _in_turn("finish_roles", "finish")
start_roles = _in_turn("start_roles", "start")
add_inertias = _in_turn("add_inertias", "inertia")
weigh_roles = _in_turn("weigh_roles", "energy")

has_more_inertia = reduce(_either, [role.acts for role in ROLES if "inertia" in role.functions])


def roles_of(plan: Plan) -> list[Role]:
    """Return the roles that a plan has."""
    return [role for role in ROLES if role.is_in(plan)]
