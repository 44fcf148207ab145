"""Fresh scratch for a run."""

from dataclasses import fields

import numpy as np

from varint._numba import addresses_of
from varint.kernels.balance import RECENT
from varint.kernels.dense import WIDE
from varint.kernels.efforts import apply_efforts, finish_efforts, stiffen
from varint.kernels.extended import finish_extended, sharpen
from varint.kernels.impacts import act, find_pushes, meet_limits
from varint.kernels.ldu import solve_newton
from varint.kernels.limits import leaps
from varint.kernels.plan import (
    EFFORT,
    HISTORY,
    Balance,
    ByNumbers,
    ByProducts,
    EffortWork,
    Extended,
    Factors,
    Impacts,
    Kept,
    LimitSearch,
    Pace,
    Plan,
    Tangent,
    Tape,
    Workspace,
)
from varint.kernels.refine import PASSES
from varint.kernels.rows import evaluate_rows
from varint.products.coordinates import follow
from varint.products.records import MOST, product_work
from varint.products.rows import curve_product_row, product_row, product_rows


def workspace(
    plan: Plan, stages: int = 1, functions=(), inactive=(), kept: int = 0, sharpened: bool = False
) -> Workspace:
    """Fresh scratch for ``plan`` and a scheme of that many sub-steps; what its functions need is compiled.

    ``functions``: of users, or None, of each law and then of each measure. ``inactive``: numbers of the constraints of
    forces that take no part.
    ``kept``: how many stages are kept on its tape. ``sharpened``: whether stages are, see `extended.sharpen`.
    """
    _prepare(plan, stages)
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    quat, rotation = np.zeros((2, nb + 1, 4)), np.zeros((2, nb + 1, 3, 3))
    quat[..., 0] = 1.0
    rotation[...] = np.eye(3)
    compliance = (plan.rows.role == EFFORT).astype(float)
    for c in inactive:
        compliance[plan.constraints.row[c] : plan.constraints.row[c] + plan.constraints.size[c]] = 1.0
    efforts, products = _effort_work(plan, functions), product_work(plan.products.start.size)
    return Workspace(
        position=np.zeros((2, nb + 1, 3)),
        quat=quat,
        rotation=rotation,
        momentum=np.zeros((nb, 6)),
        position_rest=np.zeros((2, nb, 3)),
        quat_rest=np.zeros((2, nb, 4)),
        momentum_rest=np.zeros((nb, 6)),
        jacobian=np.zeros((2, nr, 2, 6)),
        load=np.zeros((nb, 6)),
        velocity=np.zeros((nb, 6)),
        multiplier=np.zeros(nr),
        history=np.zeros((stages, HISTORY, nb, 6)),
        compliance=compliance,
        derivative=np.zeros((nb, 6, 6)),
        base=np.zeros((nb, 6)),
        goal=np.zeros((nb, 6)),
        goal_rest=np.zeros((nb, 6)),
        residual_body=np.zeros((nb, 6)),
        residual_row=np.zeros(nr),
        increment_body=np.zeros((nb, 6)),
        increment_row=np.zeros(nr),
        extended=_extended(nb if sharpened else 0),
        efforts=efforts,
        search=_search(plan.limits.measure.size),
        balance=_balance(),
        pace=Pace(
            *np.zeros((2, 1)), np.zeros(2), *np.zeros((2, nb, 6)), np.arange(nr), np.zeros(plan.constraints.row.size)
        ),
        kept=_kept(efforts, products, nb, stages),
        products=products,
        ldu=_factors(plan),
        tape=_tape(efforts, products, nb, nr, kept),
    )


def joint_workspace(plan: Plan) -> Workspace:
    """`workspace` in which the joints alone take part."""
    return workspace(plan, inactive=range(plan.constraints.row.size))


def coupled_workspace(plan: Plan, functions: tuple) -> Workspace:
    """`workspace` in which joints and couplings take part, but no prescribed motion."""
    return workspace(plan, functions=functions, inactive=np.flatnonzero(plan.constraints.driven))


def _prepare(plan, stages):
    solve_newton.prepare()
    evaluate_rows.prepare()
    if plan.laws.kind.size + plan.loads.kind.size:
        for function in (apply_efforts, stiffen, finish_efforts):
            function.prepare()
    if plan.limits.measure.size:
        for function in (leaps, meet_limits, act) if stages == 1 else (leaps, find_pushes, meet_limits, act):
            function.prepare()
    if plan.products.start.size:
        for function in (product_rows, product_row, curve_product_row, follow):
            function.prepare()


def _effort_work(plan, functions):
    laws, loads, limits, measures = plan.laws, plan.loads.kind.size, plan.limits.measure.size, plan.measures.kind.size
    nb, nr, ne = plan.bodies.mass.size, plan.rows.role.size, plan.elements.force.size
    nf, ns, states = laws.kind.size, laws.sum_law.size - 1, states_of(plan)
    function = np.zeros(nf, dtype=np.int64)
    own = [f for f, law in enumerate(functions[:nf]) if law is not None]
    function[own] = addresses_of([functions[f] for f in own])
    mapped = np.zeros(measures, dtype=np.int64)
    own = [m for m, given in enumerate(functions[nf:]) if given is not None]
    mapped[own] = addresses_of([functions[nf + m] for m in own], numbers=1)
    rotation = np.zeros((nb + 1, 3, 3))
    rotation[:] = np.eye(3)
    shapes = {
        "input": ne, "effort": ne, "work": ne, "state": states, "flow": states, "value": measures,
        "value_near": measures, "gradient": (measures, 2, 6), "sum_value": ns, "sum_rate": ns, "sum_effort": ns,
        "sum_by_value": ns, "sum_by_rate": ns, "law_by_value": nf, "law_by_rate": nf, "wrench": (loads, 6),
        "wrench_by_pose": (loads, 2, 6, 6), "wrench_by_velocity": (loads, 2, 6, 6), "position": (nb + 1, 3),
        "tangent": (nb + 1, 4), "motion": (2, 6), "change": (2, 6), "slope": (2, 6), "column": 6, "unit": 6,
        "curved": (measures, 2, 6), "by_state": (states, 4), "target": nr, "target_rate": nr, "target_rate_next": nr,
        "rest_gap": limits,
    }  # fmt: skip
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    return EffortWork(
        function=function, mapped=mapped, rotation=rotation, closed=np.zeros(limits, dtype=np.bool_), **arrays
    )


def _extended(nb):
    if nb:
        sharpen.prepare()
        finish_extended.prepare()
    return Extended(np.zeros(1, dtype=np.bool_), *np.zeros((3, nb, 6)), *np.zeros((2, nb, 3, 3)))


def _search(limits):
    number, numbers = np.zeros((3, 1), dtype=np.int64), np.zeros((2, limits))
    limit, trials, changes = number
    limit[:] = -1
    impacts, before = np.zeros(limits, dtype=np.int64), np.zeros((4, 1))
    return LimitSearch(limit, trials, impacts, changes, *before, np.zeros(1, dtype=np.bool_), *numbers)


def _balance():
    sizes = {"kinetic": 2, "recent": (2, RECENT)}
    types = {"redo": np.bool_, "at_node": np.bool_, "nodes": np.int64, "smooth": np.int64, "unresolved": np.int64}
    names = [field.name for field in fields(Balance)]
    balance = Balance(**{name: np.zeros(sizes.get(name, 1), types.get(name, float)) for name in names})
    balance.unresolved[:] = -1
    return balance


def _kept(efforts, products, nb, stages):
    of_efforts = {
        name: getattr(efforts, name).copy() for name in ("value_near", "work", "state", "target", "target_rate")
    }
    return Kept(
        position=np.zeros((nb, 3)),
        quat=np.zeros((nb, 4)),
        momentum=np.zeros((nb, 6)),
        position_rest=np.zeros((nb, 3)),
        quat_rest=np.zeros((nb, 4)),
        momentum_rest=np.zeros((nb, 6)),
        **of_efforts,
        q=products.q.copy(),
        order=products.order.copy(),
        balance=_balance(),
        velocity=np.zeros((stages, nb, 6)),
    )


def _tape(efforts, products, nb, nr, kept):
    limits = efforts.closed.shape
    pose = {"position": (nb, 3), "quat": (nb, 4), "momentum": (nb, 6), "value_near": efforts.value_near.shape}
    shapes = pose | {
        "velocity": (nb, 6), "multiplier": (nr,), "load": (2, nb, 6), "input": efforts.input.shape, "target": (nr,),
        "state": efforts.state.shape, "q": products.q.shape, "rest_gap": limits, "h": (), "share": (),
    }  # fmt: skip
    arrays = {name: np.zeros((kept, *shape)) for name, shape in shapes.items()}
    for name, shape in {"order": products.order.shape, "closed": limits, "node": ()}.items():
        arrays[name] = np.zeros((kept, *shape), dtype=np.int64)
    impacts = kept if efforts.closed.size else 0
    shapes = pose | {"target_rate": (nr,), "rest_gap": limits, "restitution": ()}
    of_impacts = {name: np.zeros((impacts, *shape)) for name, shape in shapes.items()}
    for name, shape in {"closed": limits, "stage": (), "limit": (), "timed": ()}.items():
        of_impacts[name] = np.zeros((impacts, *shape), dtype=np.int64)
    count = np.zeros((2, 1), dtype=np.int64)
    return Tape(
        count=count[0],
        at_end=np.zeros(kept, dtype=np.bool_),
        impacts=Impacts(count=count[1], **of_impacts),
        **arrays,
    )


def states_of(plan: Plan) -> int:
    """How many laws have a state of their own."""
    return int(np.count_nonzero(plan.laws.state >= 0))


def tangent_work(plan: Plan) -> Tangent:
    """Scratch for derivatives of stages."""
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    between = plan.measures.body[:nr]
    first = np.flatnonzero(np.append(True, (between[1:] != between[:-1]).any(axis=1))[:nr])
    largest = int(np.diff(plan.loops.node_row).max(initial=0))
    return Tangent(
        *np.zeros((4, nb, 6)),
        lean=np.zeros((nb, 3)),
        momentum=np.zeros((nb, 6)),
        state=np.zeros(states_of(plan)),
        body=np.zeros((4, nb, 6)),
        row=np.zeros((4, nr)),
        no_row=np.zeros(nr),
        left=np.zeros(PASSES),
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
    )


def by_numbers(plan: Plan, stages: int, nodes: int = 0) -> ByNumbers:
    """A gradient by the numbers of a plan, zero, and by what acts in so many stages; with velocities at ``nodes``."""
    nb, nm, ns = plan.bodies.mass.size, plan.measures.kind.size, plan.laws.sum_law.size - 1
    loads = plan.loads.kind.size
    limits, rows, elements = plan.limits.value.size, plan.rows.role.size, plan.elements.force.size
    shapes = {
        "mass": nb, "inertia": (nb, 3, 3), "gravity": 3, "c": nm, "weight": nm, "limit": limits, "restitution": limits,
        "h": stages, "load": (stages, 2, nb, 6), "input": (stages, elements), "target": (stages, rows),
        "rotation": (stages, loads, 3, 3), "normal": (stages, loads, 3), "push": (stages, nb, 6),
        "state": (stages, states_of(plan)),
    }  # fmt: skip
    shapes |= dict.fromkeys(("u", "v", "w", "rest"), (nm, 3)) | dict.fromkeys(("value", "rate", "effort"), (stages, ns))
    products = _by_products(plan.products.start.size * (2 * stages + nodes))
    return ByNumbers(products=products, **{name: np.zeros(shape) for name, shape in shapes.items()})


def _by_products(poses: int) -> ByProducts:
    shapes = {"position": (2, 3), "rotation": (2, 3, 3), "q": (MOST,), "motion": (MOST, 2, 6), "factor": (MOST,)}
    whole = {"count": np.zeros(1, dtype=np.int64), "order": np.zeros((poses, MOST), dtype=np.int64)}
    return ByProducts(**whole, **{name: np.zeros((poses, *shape)) for name, shape in shapes.items()})


def _factors(plan):
    nb, nr, loops = plan.bodies.mass.size, plan.rows.role.size, plan.loops
    nodes, fills, largest = loops.node_row.size - 1, loops.fill_row.size, int(np.diff(loops.node_row).max(initial=0))
    wide, fill = np.zeros((3, nb, 6, WIDE)), np.zeros((4, fills, 6))
    return Factors(
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
