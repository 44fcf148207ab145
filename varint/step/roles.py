"""The roles of a step, and what kernels call of them: a function of each role that the plan has.

A role is a `Role`. Its functions see a step from the pose ``start`` to the pose ``end``, of ``h`` s, or a node.
``upper``: the pose along whose rows impulses act.

aim_roles (inputs, when, h, kept)
    set targets at the end of a stage to be solved, and start values of multipliers: those of the last if ``kept``
place_role_rows (end)
    write values and gradients of its rows at a pose, as `evaluate_rows` does
add_residuals (start, end, h)
    take what acts in the step off ``ws.residual_body``, or write ``ws.residual_row``; residuals that count by
    themselves go to ``ws.missed``
add_matrices (upper, end, h, factored)
    add its derivatives to the blocks ``ws.ldu.D``, to rows, or to the border (border.py); ``factored``: the factors
    of before are used again, so that right sides alone change
unfold_roles ()
    find its own unknowns after a solution
finish_roles (start, end, h)
    bring momenta, works and states to the end of a solved stage
copy_roles (back)
    copy its state of a step, where that is not of the arrays of `copy_start`
remember_roles ()
    keep start values for the next step
start_roles (pose)
    add to ``ws.momentum``, of a motion that starts with ``ws.velocity``
add_inertias (pose, solved)
    add to the blocks, or to the border, of the system of the velocities at a node; ``solved``: add kinetic energies
    at ``ws.increment_body`` to ``ws.balance.further``
drive_roles (share)
    add a share of its impulses about a node to ``ws.increment_body``, and of their works to ``ws.balance.driven``
add_role_works (work, slip)
    add the works of impulses at a node at given rates to ``work`` (ne,), J; ``slip``: those of friction too
brace_roles (pose, held)
    let its efforts hold in an impact, as constraints do, if ``held``; else undo that

Derivatives of a step, by a change of its unknowns or its start, ``body`` (nb, 6) and ``row`` (nr,); their transposes
have names that end with "back":

change_from_start (half_step, start, end, body, row, c)
    add changes of the residuals by motions of start and end
change_at_end (end, row, c, out)
    add changes of the momenta at the end
apply_roles (h, body, row, out_body, out_row)
    add changes of the residuals by the unknowns
curve_roles (pose, moves, factor, out)
    add changes of the impulses of its rows, times a factor, by motions (nb, 6 or more, 8) from a pose

The roles act in the order of `ROLES`; at the end of a stage in reverse, so that a role finds what the one before it
left there.
"""

from varint.base.numba import in_turn
from varint.step.bearings.role import BEARINGS
from varint.step.compliant.role import BEAMS, COMPLIANT_ROWS, SOFT_JOINTS
from varint.step.configuration import PRODUCTS
from varint.step.constraints import CONSTRAINTS
from varint.step.contacts.role import CONTACTS
from varint.step.efforts import EFFORTS
from varint.step.formulas import FORMULAS
from varint.step.limits.role import LIMITS
from varint.step.paths.mass_role import PATH_MASSES
from varint.step.plan import Plan
from varint.step.rates import RATES
from varint.step.role import Role

ROLES: tuple[Role, ...] = (
    PRODUCTS, FORMULAS, RATES, CONSTRAINTS, EFFORTS, SOFT_JOINTS, BEAMS, COMPLIANT_ROWS, LIMITS, CONTACTS, PATH_MASSES,
    BEARINGS,
)  # fmt: skip
HOOKS = {
    "aim": "inputs, when, h, kept",
    "residual": "start, end, h",
    "rows": "end",
    "matrices": "upper, end, h, factored",
    "unfold": "",
    "finish": "start, end, h",
    "copy": "back",
    "remember": "",
    "start": "pose",
    "inertia": "pose, solved",
    "drive": "share",
    "work": "work, slip",
    "brace": "pose, held",
}
DERIVATIVES = {
    "from_start": "half_step, start, end, body, row, c",
    "from_start_back": "half_step, body, row, start, end",
    "at_end": "end, row, c, out",
    "at_end_back": "momentum, by_end, row",
    "apply": "h, body, row, out_body, out_row",
    "apply_back": "h, body, row, out_body, out_row",
    "curve": "pose, moves, factor, out",
}


def _in_turn(name: str, hook: str, roles=ROLES):
    having = [(role, {**role.functions, **role.derivatives}) for role in roles]
    cases = {ROLES.index(role): functions[hook] for role, functions in having if hook in functions}
    return in_turn(name, (HOOKS | DERIVATIVES)[hook], cases)


aim_roles = _in_turn("aim_roles", "aim")
add_residuals = _in_turn("add_residuals", "residual")
place_role_rows = _in_turn("place_role_rows", "rows")
add_matrices = _in_turn("add_matrices", "matrices")
stiffen_roles = _in_turn("stiffen_roles", "matrices", (EFFORTS, SOFT_JOINTS, BEAMS))  # those that gradients know
unfold_roles = _in_turn("unfold_roles", "unfold")
finish_roles = _in_turn("finish_roles", "finish", ROLES[::-1])
copy_roles = _in_turn("copy_roles", "copy")
remember_roles = _in_turn("remember_roles", "remember")
start_roles = _in_turn("start_roles", "start")
add_inertias = _in_turn("add_inertias", "inertia")
drive_roles = _in_turn("drive_roles", "drive")
add_role_works = _in_turn("add_role_works", "work")
brace_roles = _in_turn("brace_roles", "brace")

change_from_start = _in_turn("change_from_start", "from_start")
change_from_start_back = _in_turn("change_from_start_back", "from_start_back")
change_at_end = _in_turn("change_at_end", "at_end")
change_at_end_back = _in_turn("change_at_end_back", "at_end_back")
apply_roles = _in_turn("apply_roles", "apply")
apply_roles_back = _in_turn("apply_roles_back", "apply_back")
curve_roles = _in_turn("curve_roles", "curve")


def roles_of(plan: Plan) -> list[Role]:
    """Return the roles that a plan has."""
    return [role for role in ROLES if role.is_in(plan)]


def acts_of(plan: Plan) -> int:
    """Return the bits of the roles that a plan has, for ``ws.acts``."""
    return sum(1 << bit for bit, role in enumerate(ROLES) if role.is_in(plan))
