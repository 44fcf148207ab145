"""Arrays of the plan: measures, the laws, beams and constraints along them, and loads on single bodies."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import scipy  # loads its parts where they are first used

from varint.measures import KINDS, Numbers
from varint.model.body import WORLD
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan.joints import JointFrame
from varint.plan.roles import Roles
from varint.step.laws import LAW_NAMES
from varint.step.loads import LOAD_NAMES
from varint.step.measures import KIND_NAMES
from varint.step.plan import IN_PIVOT


def measure_places(roles: Roles, frame: JointFrame) -> list[int]:
    """Return the plan index of each force measure: its row for constraints; after all rows for laws.

    The data that an evaluation of the laws reads and writes is therefore contiguous.
    """
    law_sums = len(roles.sums) - len(roles.constraints)
    count = sum(map(len, roles.sums[:law_sums]))
    return [len(frame.rows) + m if m < count else frame.row_of[m] for m in range(len(roles.measures))]


def row_and_measure_arrays(
    structure: Structure, roles: Roles, frame: JointFrame, places: Sequence[int], slot: np.ndarray, length: float
) -> tuple[dict, dict]:
    """Return facts of the rows, and all measures: one for each row, in their order, then the laws'."""
    nb, nr = len(structure.bodies), len(frame.rows)
    total = max([nr, *(m + 1 for m in places)])
    kinds, numbers = [""] * total, [Numbers()] * total
    body, first, third = np.full((total, 2), nb), np.zeros(total, dtype=np.int64), np.full(total, -1)
    body[:nr] = np.repeat(frame.side, np.diff(frame.joint_rows), axis=0)
    first[:nr] = np.repeat(frame.first_body, np.diff(frame.joint_rows))
    for r, (_, kind, row_numbers) in enumerate(frame.rows):
        kinds[r], numbers[r] = kind, row_numbers or Numbers()
    if places:
        R = np.concatenate([rotation_matrix([body.quat_wxyz for body in structure.bodies]), np.eye(3)[None]])
        x = np.array([*(body.position for body in structure.bodies), np.zeros(3)])
    row = np.concatenate([np.arange(nr), np.full(total - nr, -1)])
    for number, (m, measure) in enumerate(zip(places, roles.measures, strict=True)):
        a, b = roles.ends[number]
        row[m] = frame.row_of.get(number, IN_PIVOT if number in frame.hinge_of else -1)
        body[m] = (slot[a], slot[b]) if row[m] < 0 else body[row[m]]
        if number in frame.hinge_of:
            body[m] = frame.side[frame.hinge_of[number]]
        for k in {m, int(row[m])} - {-1, IN_PIVOT}:
            kinds[k], numbers[k] = measure.kind, measure.numbers(R[a], x[a], R[b], x[b])
            first[k] = int(body[m, 0] != slot[a])
            if measure.at_third:
                name, point = measure.at_third
                c = structure.body_index.get(name, -1)
                third[k], numbers[k] = slot[c], replace(numbers[k], v=R[c].T @ (point - x[c]))
    product = np.full(total, -1)
    for n, k in enumerate(frame.products):
        joint = structure.joints[frame.joints[k]]
        product[frame.joint_rows[k] : frame.joint_rows[k + 1]][: len(joint.rigid)] = n
        for number, m in enumerate(places):
            if roles.measures[number].of_product == joint.name:
                product[[m, frame.row_of.get(number, m)]] = n
    rotation = np.full(total, -1)
    pairs: dict[tuple[int, int], int] = {}
    for number, (m, measure) in enumerate(zip(places, roles.measures, strict=True)):
        if measure.followed and m >= nr:
            first_of_pair = total + 3 * pairs.setdefault(roles.ends[number], len(pairs))
            rotation[[m, frame.row_of.get(number, m)]] = first_of_pair
    fused = np.zeros(total, dtype=bool)
    fused[[places[roles.sums[s][0]] for s in roles.beam_sums]] = True
    fused[[places[m] for s in roles.paths for m in roles.sums[s]]] = True
    facts = [KINDS[kind].facts for kind in kinds]
    angular = np.array([fact.angular for fact in facts], dtype=bool)
    weight, scale, chain = _weights(roles, frame, places, angular, length)
    rows = {
        "role": np.array([role for role, _, _ in frame.rows], dtype=np.int64),
        "scale": scale,
        "chain": chain,
        "angular": angular[:nr],
        "pointing": np.flatnonzero([fact.pointing for fact in facts[:nr]]),
    }
    measures = {
        "kind": np.array([KIND_NAMES.index(kind) for kind in kinds], dtype=np.int64),
        "row": row,
        "body": body,
        "first": first,
        "weight": weight,
        "period": np.array([fact.period for fact in facts], dtype=float),
        "radial": np.array([fact.radial for fact in facts], dtype=bool),
        "stiffening": np.array([fact.stiffening for fact in facts], dtype=bool) & ~fused,
        "fused": fused,
        "product": product,
        "third": third,
        "rotation": rotation,
    }
    return rows, measures | number_arrays(numbers)


def number_arrays(numbers: Sequence[Numbers]) -> dict[str, np.ndarray]:
    """Return the arrays (n, ...) of the numbers of n measures."""
    return {
        name: np.reshape([getattr(one, name) for one in numbers], (len(numbers), *np.shape(value))).astype(float)
        for name, value in vars(Numbers()).items()
    }


def users_functions(roles: Roles, places: Sequence[int], measures: int) -> tuple:
    """Return functions of users, or None: of each law, then of each of all ``measures`` of the plan."""
    functions: list = [None] * measures
    law_sums = len(roles.sums) - len(roles.constraints)
    for members, (_, element) in zip(roles.sums[law_sums:], roles.constraints, strict=True):
        for m, function in zip(members, element.functions, strict=False):
            functions[places[m]] = function
    return (*(element.function for _, element in roles.laws), *functions)


def _weights(
    roles: Roles, frame: JointFrame, places: Sequence[int], angular: np.ndarray, length: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights of the measures, scales of the rows, and the number of rows with one effort."""
    nr = len(frame.rows)
    weight, scale, chain = np.ones(angular.size), np.ones(nr), np.zeros(nr, dtype=np.int64)
    scale[angular[:nr]] = length
    law_sums = len(roles.sums) - len(roles.constraints)
    for s, sum_measures in enumerate(roles.sums):
        members = [places[m] for m in sum_measures]
        if s >= law_sums:
            weight[members] = roles.constraints[s - law_sums][1].weights
        else:
            weight[members] = roles.weights[s]
        rows = [frame.row_of[m] for m in sum_measures if m in frame.row_of]
        if len(rows) > 1:
            chain[rows[0]] = len(rows)
        if rows:
            units = np.where(angular[members], length, 1.0)
            scale[rows] = (units / np.abs(weight[members])).min()
    return weight, scale, chain


def loaded(structure: Structure, roles: Roles, slot: np.ndarray, without: Collection[int] = ()) -> np.ndarray:
    """Return whether (nb,) laws, loads, contacts with planes or deformable bodies act on a body.

    ``without``: numbers of measures that are left out.
    """
    is_loaded = np.zeros(len(structure.bodies) + 1, dtype=bool)
    for sum_measures in roles.sums[: len(roles.sums) - len(roles.constraints)]:
        is_loaded[slot[[end for m in sum_measures if m not in without for end in roles.ends[m]]]] = True
    for _, element in roles.loads:
        is_loaded[slot[[structure.body_index[body] for body in element.bodies]]] = True
    for _, contact in roles.contacts:
        is_loaded[slot[structure.body_index[contact.body]]] = True
    for _, pair in roles.pairs:
        if pair.other == WORLD:  # contacts of two moving bodies are not folded into the pivots of these
            is_loaded[slot[structure.body_index[pair.body]]] = True
    for inertia in roles.inertias:
        is_loaded[slot[[structure.body_index[body] for body in inertia.ends if body != WORLD]]] = True
    for soft in soft_meshes(structure):
        is_loaded[slot[[structure.body_index[body] for body in soft.bodies if body != WORLD]]] = True
    return is_loaded[:-1]


def law_arrays(roles: Roles, rows: int) -> dict:
    """Return sums and the laws along them, after ``rows`` rows."""
    law_sums = len(roles.sums) - len(roles.constraints)
    elements = [element for _, element in roles.laws]
    parameters = [element.law.values(element.parameters) for element in elements]
    tables = [np.zeros((0, 6)) if element.table is None else _pieces(*element.table) for element in elements]
    states = np.array([element.law.has_state for element in elements], dtype=bool)
    return {
        "sum_first": rows + np.cumsum([0, *map(len, roles.sums[:law_sums])]),
        "sum_law": np.searchsorted(roles.law_sum, np.arange(law_sums + 1)),
        "other": np.setdiff1d(np.arange(law_sums), np.array(roles.beam_sums, dtype=np.int64)),
        "kind": np.array([LAW_NAMES.index(element.law.name) for element in elements], dtype=np.int64),
        "element": np.array([e for e, _ in roles.laws], dtype=np.int64),
        "first": np.cumsum([0, *map(len, parameters)])[:-1].astype(np.int64),
        "parameter": np.array([value for law_parameters in parameters for value in law_parameters], dtype=float),
        "table_first": np.cumsum([0, *map(len, tables)]),
        "table": np.concatenate([np.zeros((0, 6)), *tables]),
        "state": np.where(states, np.cumsum(states) - 1, -1).astype(np.int64),
    }


def law_starts(roles: Roles) -> np.ndarray:
    """Return the initial internal variables (n,) of the laws that have one."""
    return np.array([element.start for _, element in roles.laws if element.law.has_state], dtype=float)


def beam_arrays(roles: Roles, places: Sequence[int]) -> dict:
    """Return the first measure and the first sum of each element of a beam."""
    first = np.array(roles.beams, dtype=np.int64)
    return {"first": np.array([places[roles.sums[s][0]] for s in first], dtype=np.int64), "sum": first}


def compliant_arrays(roles: Roles, frame: JointFrame) -> dict:
    """Return the rows whose efforts are unknowns, and their sums; rows of joints again."""
    row_of = {s: frame.row_of[roles.sums[s][0]] for s in [*roles.beam_sums, *roles.compliant]}
    return {
        "row": np.array(list(row_of.values()), dtype=np.int64),
        "sum": np.array(list(row_of), dtype=np.int64),
        "joint_row": np.array([row_of[s] for s in roles.compliant], dtype=np.int64),
        "joint_sum": np.array(roles.compliant, dtype=np.int64),
    }


def constraint_arrays(roles: Roles, places: Sequence[int]) -> dict:
    """Return the arrays of `plan.constraints`: the sums of measures that forces keep at a target."""
    first = roles.sums[len(roles.sums) - len(roles.constraints) :]
    elements = [element for _, element in roles.constraints]
    return {
        "row": np.array([places[sum_measures[0]] for sum_measures in first], dtype=np.int64),
        "size": np.array([len(sum_measures) for sum_measures in first], dtype=np.int64),
        "element": np.array([e for e, _ in roles.constraints], dtype=np.int64),
        "driven": np.array([element.driven for element in elements], dtype=bool),
        "rate": np.array(
            [places[m] for sum_measures in first for m in sum_measures if roles.measures[m].of_rates], dtype=np.int64
        ),
    }


def load_arrays(structure: Structure, roles: Roles, places: Sequence[int], slot: np.ndarray) -> dict:
    """Return the arrays of `plan.loads`: loads on single bodies.

    Friction between two balls is two loads, one on each.
    """
    number = {id(element): f for f, (_, element) in enumerate(roles.laws)}
    columns: dict[str, list] = {name: [] for name in LOAD_SHAPES}
    for (e, element), measure_rows in zip(roles.loads, roles.load_rows, strict=True):
        f = -1 if element.pressed_by is None else number[id(element.pressed_by)]
        count, ends = len(columns["kind"]), [(element.body, element.point, element.radius)]
        if element.other is not None:
            ends.append((element.other, element.other_point, element.other_radius))
        for name, place, radius in ends:
            body = structure.body(name)
            B = rotation_matrix(body.quat_wxyz)
            axes = B.T if element.kind == "follower" else np.eye(3)
            point = body.position if place is None else place
            arrays = {
                "kind": LOAD_NAMES.index(element.kind),
                "body": slot[structure.body_index[name]],
                "element": e,
                "force": axes @ element.force,
                "torque": axes @ element.torque,
                "point": B.T @ (point - body.position),
                "linear": element.linear,
                "angular": element.angular,
                "power": element.power,
                "friction": element.friction,
                "smoothing": element.smoothing,
                "creep": element.creep,
                "radius": 0.0 if measure_rows else radius,
                "share": radius / (element.radius + element.other_radius) if measure_rows else 0.0,
                "pressing": f,
                "pressed": -1 if f < 0 else places[roles.sums[roles.law_sum[f]][0]],
                "other": 2 * count + 1 - len(columns["kind"]) if measure_rows else -1,
                "row": [places[m] for m in measure_rows] or [-1, -1],
            }
            for key, value in arrays.items():
                columns[key].append(value)
    count = len(columns["kind"])
    return {
        name: np.reshape(columns[name], (count, *shape)).astype(dtype) for name, (shape, dtype) in LOAD_SHAPES.items()
    }


LOAD_SHAPES: dict = {
    **dict.fromkeys(("kind", "body", "element", "power", "pressing", "pressed", "other"), ((), np.int64)),
    **dict.fromkeys(("force", "torque", "point"), ((3,), float)),
    **dict.fromkeys(("linear", "angular", "friction", "smoothing", "creep", "radius", "share"), ((), float)),
    "row": ((2,), np.int64),
}


def _pieces(values: np.ndarray, efforts: np.ndarray) -> np.ndarray:
    """Return pieces (n + 1, 6) of a tabulated law: monotone cubics between n points, extrapolated linearly beyond."""
    spline = scipy.interpolate.PchipInterpolator(values, efforts)
    potential = -spline.antiderivative()(values)
    ends = [(values[k], efforts[k], spline.derivative()(values[k]), 0.0, 0.0, potential[k]) for k in (0, -1)]
    inner = np.column_stack([values[:-1], spline.c[::-1].T, potential[:-1]])
    return np.vstack([ends[:1], inner, ends[1:]])
