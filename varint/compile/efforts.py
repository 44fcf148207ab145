"""Measures, and the roles that refer to them: laws, constraints, limits; and loads on single bodies."""

from itertools import accumulate

import numpy as np
from scipy.interpolate import PchipInterpolator

from varint.compile.joints import JointFrame
from varint.compile.roles import Roles
from varint.kernels.laws import LAW_NAMES
from varint.kernels.loads import LOAD_NAMES
from varint.kernels.measures import KIND_NAMES
from varint.measures import KINDS, Numbers
from varint.model.rotation import rotation_matrix


def measure_arrays(structure, roles: Roles, frame: JointFrame, slot, length) -> dict:
    """All measures: one for each row, in their order, then those of forces that have no row."""
    nb, nr = len(structure.bodies), len(frame.rows)
    R = np.concatenate([rotation_matrix([body.quat_wxyz for body in structure.bodies]), np.eye(3)[None]])
    x = np.array([*(body.position for body in structure.bodies), np.zeros(3)])
    place = measure_places(roles, frame)
    total = nr + len(roles.measures) - len(frame.row_of)
    kinds, numbers = [""] * total, [Numbers()] * total
    body = np.full((total, 2), nb)
    first = np.zeros(total, dtype=np.int64)
    weight, scale, chain = np.ones(total), np.ones(nr), np.zeros(nr, dtype=np.int64)
    body[:nr] = np.repeat(frame.side, np.diff(frame.joint_rows), axis=0)
    first[:nr] = np.repeat(frame.first_body, np.diff(frame.joint_rows))
    for r, (_, kind, own) in enumerate(frame.rows):
        kinds[r], numbers[r] = kind, own or Numbers()
    for number, measure in enumerate(roles.measures):
        m, (a, b) = place[number], roles.ends[number]
        kinds[m], numbers[m] = measure.kind, measure.numbers(R[a], x[a], R[b], x[b])
        if m < nr:
            first[m] = int(body[m, 0] != slot[a])
        else:
            body[m] = slot[a], slot[b]
    weights = [(1.0,) * len(own) for own in roles.sums]
    for (_, element), s in zip(roles.constraints, range(len(set(roles.law_sum)), len(roles.sums)), strict=True):
        weights[s] = element.weights
    angular = np.array([KINDS[kind].facts.angular for kind in kinds], dtype=bool)
    scale[angular[:nr]] = length
    for own, factors in zip(roles.sums, weights, strict=True):
        rows = [place[number] for number in own]
        weight[rows] = factors
        if len(rows) > 1:
            chain[rows[0]] = len(rows)
        if rows[0] < nr:
            units = np.where(angular[rows], length, 1.0)
            scale[rows] = (units / np.abs(factors)).min()
    fields = {name: np.array([getattr(own, name) for own in numbers]) for name in vars(Numbers())}
    shapes = {name: np.shape(value) for name, value in vars(Numbers()).items()}
    facts = [KINDS[kind].facts for kind in kinds]
    return {
        "measure_kind": np.array([KIND_NAMES.index(kind) for kind in kinds], dtype=np.int64),
        "measure_body": body,
        "measure_first": first,
        "measure_weight": weight,
        "measure_period": np.array([fact.period for fact in facts], dtype=float),
        "measure_radial": np.array([fact.radial for fact in facts], dtype=bool),
        "measure_stiffening": np.array([fact.stiffening for fact in facts], dtype=bool),
        "row_scale": scale,
        "row_chain": chain,
    } | {f"measure_{name}": np.reshape(fields[name], (total, *shape)) for name, shape in shapes.items()}


def measure_places(roles: Roles, frame: JointFrame) -> list[int]:
    """Number in the plan of each measure of the forces."""
    free = iter(range(len(frame.rows), len(frame.rows) + len(roles.measures)))
    return [frame.row_of[m] if m in frame.row_of else next(free) for m in range(len(roles.measures))]


def role_arrays(structure, roles: Roles, frame: JointFrame, slot) -> dict:
    """Sums, laws, constraints, limits and loads."""
    place, nb = measure_places(roles, frame), len(structure.bodies)
    sums = [[place[m] for m in own] for own in roles.sums]
    number = {id(element): f for f, (_, element) in enumerate(roles.laws)}
    law_sums = len(set(roles.law_sum))
    parameters = [element.law.values(element.parameters) for _, element in roles.laws]
    tables = [np.zeros((0, 6)) if element.table is None else _pieces(*element.table) for _, element in roles.laws]
    states = [element.law.has_state for _, element in roles.laws]
    limits = [(f, limit) for f, (_, element) in enumerate(roles.laws) for limit in element.limits]
    held = [
        (sums[law_sums + c][0], e, element.driven, len(element.measures))
        for c, (e, element) in enumerate(roles.constraints)
    ]
    constraint = np.reshape(held, (-1, 4)).astype(np.int64).T
    forced = np.zeros(nb + 1, dtype=bool)
    for own in roles.sums[:law_sums]:
        forced[slot[[end for m in own for end in roles.ends[m]]]] = True
    loads = [_load_numbers(structure, element, number) for _, element in roles.loads]
    body = np.array([slot[structure.body_index[element.body]] for _, element in roles.loads], dtype=np.int64)
    forced[body] = True
    return {
        "forced": forced[:nb],
        "sum_first": np.cumsum([0, *map(len, sums)]),
        "sum_measure": np.array([m for own in sums for m in own], dtype=np.int64),
        "sum_law": np.searchsorted(roles.law_sum, np.arange(law_sums + 1)),
        "law_kind": np.array([LAW_NAMES.index(element.law.name) for _, element in roles.laws], dtype=np.int64),
        "law_element": np.array([e for e, _ in roles.laws], dtype=np.int64),
        "law_first": np.cumsum([0, *map(len, parameters)])[:-1].astype(np.int64),
        "law_parameter": np.array([value for own in parameters for value in own], dtype=float),
        "law_table": np.array([0, *accumulate(map(len, tables))], dtype=np.int64),
        "law_state": np.where(states, np.cumsum(states) - 1, -1).astype(np.int64),
        "table": np.concatenate([np.zeros((0, 6)), *tables]),
        "limit_measure": np.array([sums[roles.law_sum[f]][0] for f, _ in limits], dtype=np.int64),
        "limit_value": np.array([limit.value for _, limit in limits], dtype=float),
        "limit_sign": np.array([limit.sign for _, limit in limits], dtype=float),
        "limit_restitution": np.array([limit.restitution for _, limit in limits], dtype=float),
        "limit_element": np.array([roles.laws[f][0] for f, _ in limits], dtype=np.int64),
        "constraint_row": constraint[0],
        "constraint_element": constraint[1],
        "constraint_driven": constraint[2],
        "constraint_size": constraint[3],
        "element_force": roles.force,
        "load_body": body,
        "load_element": np.array([e for e, _ in roles.loads], dtype=np.int64),
        "load_kind": np.array([LOAD_NAMES.index(element.kind) for _, element in roles.loads], dtype=np.int64),
    } | {
        name: np.reshape([own[name] for own in loads], (len(loads), *shape)).astype(kind)
        for name, (shape, kind) in _LOAD_FIELDS.items()
    }


_LOAD_FIELDS: dict = {
    "load_force": ((3,), float),
    "load_torque": ((3,), float),
    "load_point": ((3,), float),
    "load_normal": ((3,), float),
    "load_linear": ((), float),
    "load_angular": ((), float),
    "load_power": ((), np.int64),
    "load_friction": ((), float),
    "load_smoothing": ((), float),
    "load_pressing": ((), np.int64),
}


def _load_numbers(structure, element, number) -> dict:
    """The numbers of a load in the axes that its kind takes: those of the world, or of the body."""
    body = structure.body(element.body)
    B = rotation_matrix(body.quat_wxyz)
    axes = B.T if element.kind == "follower" else np.eye(3)
    point = body.position if element.point is None else element.point
    return {
        "load_force": axes @ element.force,
        "load_torque": axes @ element.torque,
        "load_point": B.T @ (point - body.position),
        "load_normal": element.normal,
        "load_linear": element.linear,
        "load_angular": element.angular,
        "load_power": element.power,
        "load_friction": element.friction,
        "load_smoothing": element.smoothing,
        "load_pressing": -1 if element.pressed_by is None else number[id(element.pressed_by)],
    }


def _pieces(values, efforts):
    """Pieces of a tabulated law: monotone cubics between the points, straight on at both ends."""
    spline = PchipInterpolator(values, efforts)
    potential = -spline.antiderivative()(values)
    ends = [(values[k], efforts[k], spline.derivative()(values[k]), 0.0, 0.0, potential[k]) for k in (0, -1)]
    inner = np.column_stack([values[:-1], spline.c[::-1].T, potential[:-1]])
    return np.vstack([ends[:1], inner, ends[1:]])
