"""Fresh scratch for a run."""

import numpy as np

from varint.base.numba import addresses_of, allocate
from varint.mathematics.products.records import MOST
from varint.step.bearings.steps import solve_bearings
from varint.step.border import border_sizes, solve_border
from varint.step.contacts.parts import sizes_of_contacts, space_for_features
from varint.step.contacts.tapes import carried_of
from varint.step.damping.records import MOST_EFFORTS
from varint.step.dense import WIDE
from varint.step.derivatives.refine import PASSES
from varint.step.derivatives.tangent import factor_stage
from varint.step.derivatives.tape import keep_stage, play_stage
from varint.step.double.increment import finish_extended, sharpen
from varint.step.kept_arrays import span_sizes, write_role_spans
from varint.step.laws import SETTLED_SIZE
from varint.step.ldu import SOLVERS
from varint.step.limits.impacts import prepare_events
from varint.step.measures import prepare_kinds
from varint.step.one_sided import number_parts
from varint.step.plan import EFFORT, HISTORY, LONG_HISTORY, ByNumbers, ByProducts, Plan, Tangent, Workspace
from varint.step.roles import ROLES, acts_of, roles_of
from varint.step.rows import evaluate_rows, has_other_rows, other_row
from varint.step.solver_records import Border, Factors


def workspace(
    plan: Plan,
    stages: int = 1,
    functions=(),
    inactive=(),
    kept: int = 0,
    sharpened: bool = False,
    prepared: bool = True,
) -> Workspace:
    """Return fresh scratch for ``plan`` and a scheme of ``stages`` sub-steps.

    ``functions``: of users, or None, of each law and then of each measure. ``inactive``: numbers of the constraints of
    forces that take no part.
    ``kept``: how many stages are kept on its tape. ``sharpened``: whether stages are, see `double.increment.sharpen`.
    ``prepared``: whether what steps need is compiled, or loaded; else functions that call through pointers refuse.
    """
    if prepared:
        prepare_workspace(plan, stages)
    sizes = workspace_sizes(plan, stages, kept, sharpened)
    ws = allocate(Workspace, sizes, ldu=_factors(plan), found=space_for_features(plan))
    write_role_spans(ws, ws.spans)
    ws.quat[..., 0] = 1.0
    ws.rotation[:] = ws.efforts.rotation[:] = np.eye(3)
    ws.released[:] = plan.rows.role == EFFORT
    for c in inactive:
        ws.released[plan.constraints.row[c] : plan.constraints.row[c] + plan.constraints.size[c]] = 1.0
    roles = roles_of(plan)
    ws.acts[0] = acts_of(plan)
    ws.extended.joints_alone[0], ws.extended.exact[0] = not roles, all(role.exact for role in roles)
    ws.search.any_events[0] = any(role.events for role in roles)
    ws.balance.more_inertia[0] = any("inertia" in role.functions for role in roles)
    for role in roles:
        role.begin(ws)
    ws.balance.unresolved[:], ws.damping.longest_share[:] = -1, 1.0
    ws.pace.rows[:] = np.arange(ws.pace.rows.size)
    _give_addresses(ws.efforts, functions)
    if kept:
        for function in (keep_stage, play_stage, factor_stage):
            function.prepare()
    if sizes["sharpened"]:
        sharpen.prepare()
        finish_extended.prepare()
    return ws


def workspace_sizes(plan: Plan, stages: int, kept: int, sharpened: bool) -> dict[str, int]:
    """Return the sizes of the arrays of a `workspace` but its factors, by the names in the fields of `Workspace`."""
    roles = roles_of(plan)
    smooth = stages == 1 and all(role.smooth for role in roles)
    sizes = {
        "history": LONG_HISTORY if smooth else HISTORY,
        "nb": plan.bodies.mass.size, "slots": plan.bodies.mass.size + 1, "nr": plan.rows.role.size,
        "nm": plan.measures.kind.size, "values": values_of(plan),
        "nf": plan.laws.kind.size, "ns": plan.laws.sum_law.size - 1, "ne": plan.elements.force.size,
        "states": states_of(plan), "settled": SETTLED_SIZE, "loads": plan.loads.kind.size,
        "stages": stages,
        **_damping_sizes(plan, stages),
        "kept": kept, "poses": 2, "components": plan.components.first_body.size - 1,
        "sharpened": 0, "sharpened_slots": 0, "sharpened_rows": 0,
        "events": kept if any(role.events for role in roles) else 0,
        **{name: size for role in ROLES for name, size in role.sizes(plan, stages).items()},
    }  # fmt: skip
    sizes |= border_sizes(*_border_of(plan), sizes["nb"], sizes["nr"], sizes["bearings"] > 0)
    if sharpened and all(role.double for role in roles):
        sizes |= {f"sharpened{each}": sizes[name] for each, name in (("", "nb"), ("_slots", "slots"), ("_rows", "nr"))}
    return sizes | span_sizes(Workspace, sizes)


def joint_workspace(plan: Plan) -> Workspace:
    """Return a `workspace` in which the joints alone take part."""
    return workspace(plan, inactive=range(plan.constraints.row.size))


def coupled_workspace(plan: Plan, functions: tuple) -> Workspace:
    """Return a `workspace` in which joints and couplings take part, but no prescribed motion."""
    return workspace(plan, functions=functions, inactive=np.flatnonzero(plan.constraints.driven))


def prepare_workspace(plan: Plan, stages: int) -> None:
    """Compile, or load, the functions that the functions of a workspace call through pointers."""
    SOLVERS[plan.joints.solver[0]].prepare()
    evaluate_rows.prepare()
    prepare_kinds(plan)
    if has_other_rows(plan):
        other_row.prepare()
    for role in roles_of(plan):
        role.prepare(plan, stages)
    prepare_events(plan, stages)
    if plan.bearings.row.size > 0:
        solve_bearings.prepare()
    if _border_of(plan)[0]:
        solve_border.prepare()


def _give_addresses(efforts, functions):
    """Write the addresses of users' functions, of the laws and then of the measures, to ``efforts``."""
    nf = efforts.function.size
    places = [f for f, law in enumerate(functions[:nf]) if law is not None]
    efforts.function[places] = addresses_of([functions[f] for f in places])
    places = [m for m, function in enumerate(functions[nf:]) if function is not None]
    efforts.mapped[places] = addresses_of([functions[nf + m] for m in places], numbers=1)


def _border_of(plan):
    """Return the number of rows that roles may have in the border, and of bodies of a row."""
    borders = [role.border(plan) for role in roles_of(plan)]
    return sum(rows for rows, _ in borders), max((bodies for _, bodies in borders), default=0)


def values_of(plan: Plan) -> int:
    """Number of values of measures, and of components of rotation vectors that laws follow."""
    return max(plan.measures.kind.size, *(plan.measures.rotation + 3)[plan.measures.rotation >= 0], 0)


def _damping_sizes(plan, stages):
    """Return the sizes of the arrays of strong damping, which steps of one stage alone know."""
    laws, loads = (plan.laws.kind.size, plan.loads.kind.size) if stages == 1 else (0, 0)
    some = laws + loads > 0
    return {
        "damped": min(laws + 3 * loads, MOST_EFFORTS), "damped_laws": laws, "damped_loads": loads,
        "damped_measures": plan.measures.kind.size if some else 0,
        "damped_sums": plan.laws.sum_law.size - 1 if some else 0, "damped_bodies": plan.bodies.mass.size if some else 0,
        "damped_rows": plan.rows.role.size if some else 0,
    }  # fmt: skip


def states_of(plan: Plan) -> int:
    """Number of laws with an internal variable."""
    return int(np.count_nonzero(plan.laws.state >= 0))


def tangent_work(plan: Plan) -> Tangent:
    """Return scratch for derivatives of stages, and prepare the derivatives of the roles."""
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    between = plan.measures.body[:nr]
    first = np.flatnonzero(np.append(True, (between[1:] != between[:-1]).any(axis=1))[:nr])
    largest = int(np.diff(plan.loops.node_row).max(initial=0))
    for role in roles_of(plan):
        for function in role.derivatives.values():
            function.prepare()
    return Tangent(
        *np.zeros((5, nb, 6)),
        begun_rate=np.zeros(max(plan.laws.sum_law.size - 1, 0)),
        by_begun=np.zeros((nb, 12)),
        unmoved=np.zeros((2, nb, 12)),
        lean=np.zeros((nb, 3)),
        momentum=np.zeros((nb, 6)),
        state=np.zeros(carried_of(plan)),
        body=np.zeros((4, nb, 6)),
        row=np.zeros((4, nr)),
        no_row=np.zeros(nr),
        left=np.zeros(PASSES),
        joint=np.zeros((4, 6, WIDE)),
        pair=between[first],
        pair_row=np.append(first, nr),
        curve=np.zeros((len(first), 12, 12)),
        bend=np.zeros((nr, 12)),
        turn=np.zeros((nb, 2, 3, 3)),
        spin=np.zeros((nb, 3, 6)),
        wide=np.zeros((6, nb, 6, WIDE)),
        wide_row=np.zeros((4, nr, WIDE)),
        change=np.zeros((nb, 12, WIDE)),
        node=np.zeros((largest, WIDE)),
        border=allocate(Border, border_sizes(3 * sizes_of_contacts(plan)["inside"], 2, nb, nr)),
    )


def by_numbers(plan: Plan, stages: int, nodes: int = 0) -> ByNumbers:
    """Return a gradient by the numbers of a plan and by the inputs and loads of ``stages`` stages, all zero.

    ``nodes``: number of nodes whose velocities take part.
    """
    nb, nm, ns = plan.bodies.mass.size, plan.measures.kind.size, plan.laws.sum_law.size - 1
    loads = plan.loads.kind.size
    rows, elements = plan.rows.role.size, plan.elements.force.size
    shapes = {
        "mass": nb, "inertia": (nb, 3, 3), "gravity": 3, "c": nm, "weight": nm,
        "h": stages, "load": (stages, 2, nb, 6), "input": (stages, elements), "target": (stages, rows),
        "rotation": (stages, loads, 3, 3), "normal": (stages, loads, 3), "push": (stages, nb, 6),
        "state": (stages, carried_of(plan)),
    }  # fmt: skip
    shapes |= dict.fromkeys(("u", "v", "w", "rest"), (nm, 3)) | dict.fromkeys(
        ("value", "rate", "start_rate", "effort"), (stages, ns)
    )
    products = _by_products(plan.products.start.size * (3 * stages + nodes))
    return ByNumbers(
        products=products, wanted=np.ones(1, dtype=bool), **number_parts(plan),
        **{name: np.zeros(shape) for name, shape in shapes.items()},
    )  # fmt: skip


def _by_products(poses: int) -> ByProducts:
    shapes = {"position": (2, 3), "rotation": (2, 3, 3), "q": (MOST,), "motion": (MOST, 2, 6), "factor": (MOST,)}
    whole = {"count": np.zeros(1, dtype=np.int64), "order": np.zeros((poses, MOST), dtype=np.int64)}
    return ByProducts(**whole, **{name: np.zeros((poses, *shape)) for name, shape in shapes.items()})


def _factors(plan):
    nb, nr, loops = plan.bodies.mass.size, plan.rows.role.size, plan.loops
    nodes, fills, largest = loops.node_row.size - 1, loops.fill_row.size, int(np.diff(loops.node_row).max(initial=0))
    wide, fill = np.zeros((3, nb, 6, WIDE)), np.zeros((4, fills, 6))
    return Factors(
        upper=np.zeros((nr, 2, 6)),
        lower=np.zeros((nr, 2, 6)),
        frame=np.zeros((2, nb, 6, 6)),
        arm=np.zeros((2, nb, 6)),
        effort=np.zeros((2, nb, 6)),
        z=np.zeros(6),
        D=np.zeros((nb, 6, 6)),
        X=wide[0],
        S=wide[1],
        Y=wide[2],
        K=np.zeros(loops.row_start[-1]),
        pivot=np.zeros((2, nr), dtype=np.int64),
        rank=np.zeros(nodes, dtype=np.int64),
        last_pivot=np.zeros(nodes),
        closure_scale=np.zeros(nr),
        closure_column=np.zeros((2, largest)),
        fill_lower=fill[0],
        fill_upper=fill[1],
        fill_joint_lower=fill[2],
        fill_joint_upper=fill[3],
    )
