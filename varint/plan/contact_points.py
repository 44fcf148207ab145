"""Hard contacts of bodies with planes of the world, and with each other."""

from functools import cache
from itertools import product

import numpy as np

from varint.model.body import WORLD, Body
from varint.model.collision_shapes import CapsuleShape, CollisionShape, HeightField, SphereShape
from varint.model.forces.base import BodyContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan.roles import Roles
from varint.plan.shape_table import Part, most_features, parts_of, shape_table

SHARED = ("body", "other", "element", "friction", "restitution", "mobility")  # arrays of both kinds of contacts


def contact_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Return the arrays of the contacts: with planes, one for each point, then of pairs of bodies."""
    planes, pairs = _plane_arrays(structure, slot, roles), _pair_arrays(structure, slot, roles)
    joined = {name: np.concatenate([planes.pop(name), pairs.pop(name)]) for name in SHARED}
    return _with_rolling(joined, pairs.pop("rolling"), pairs.pop("turning")) | planes | pairs


def _with_rolling(contacts: dict, rolling: np.ndarray, turning: np.ndarray) -> dict:
    """Return the contacts, and after them the rolling resistance of slots with a coefficient ``rolling``, m.

    ``turning``, 1/(kg m^2): mean rotation of both bodies by a torque. The length r of the rows of rolling resistance,
    m, gives them the mobility of the contact: both have its normal row, with a compliance in proportion to the
    mobility (`cones.SOFTNESS`), so that Newton's method has the right change of the normal impulse in both.
    """
    count, rolls = contacts["body"].size, np.flatnonzero(rolling)
    if rolls.size == 0:
        none = np.zeros(0, dtype=np.int64)
        return contacts | {"roller": none, "parent": none, "lever": np.zeros(0)}
    parent = count - rolling.size + rolls
    rolling_rows = {name: values[parent] for name, values in contacts.items()}
    lever = np.sqrt(rolling_rows["mobility"] / turning[rolls])
    rolling_rows["friction"] = rolling[rolls] / lever
    joined = {name: np.concatenate([values, rolling_rows[name]]) for name, values in contacts.items()}
    roller = np.full(count + rolls.size, -1)
    roller[parent] = count + np.arange(rolls.size)
    joined["roller"] = roller
    joined["parent"] = np.concatenate([np.full(count, -1), parent])
    joined["lever"] = np.concatenate([np.zeros(count), lever])
    return joined


def _plane_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Return the arrays of the contacts with planes, one for each point; ``slot`` of each body."""
    numbered = [(e, element, point) for e, element in roles.contacts for point in element.points]
    bodies = [structure.body(element.body) for _, element, _ in numbered]
    pairs = zip(bodies, numbered, strict=True)
    arms = [rotation_matrix(body.quat_wxyz).T @ (point - body.position) for body, (*_, point) in pairs]
    elements = [element for _, element, _ in numbered]
    count = len(elements)
    numbers = {name: np.array([getattr(each, name) for each in elements], dtype=float) for name in NUMBERS}
    return {
        "body": np.array([slot[structure.body_index[each.body]] for each in elements], dtype=np.int64),
        "other": np.full(count, slot[-1]),
        "element": np.array([e for e, *_ in numbered], dtype=np.int64),
        "point": np.reshape(arms, (count, 3)).astype(float),
        "frame": np.reshape([_frame(each.normal) for each in elements], (count, 3, 3)).astype(float),
        "height": np.array([each.normal @ each.ground for each in elements], dtype=float),
        "mobility": np.array([_mobility(*each) for each in zip(bodies, arms, strict=True)], dtype=float),
        **numbers,
    }


NUMBERS = ("radius", "friction", "restitution")


def _pair_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Return the arrays of the contacts of two bodies: slots for the features of each pair of their shapes."""
    number = {**structure.body_index, WORLD: -1}
    parts: dict[tuple[str, int, bool], range] = {}  # numbers of the parts of each shape of a body, see `_as_whole`
    table_rows: list[Part] = []
    pairs: list[tuple[int, BodyContact, int, int]] = []
    for e, each in roles.pairs:
        sides = (each.body, each.shapes, each.other_shapes), (each.other, each.other_shapes, each.shapes)
        for body, shapes, others in sides:
            for k, shape in enumerate(shapes):
                for whole in sorted({_as_whole(shape, other) for other in others}):
                    if (body, k, whole) not in parts:
                        start = len(table_rows)
                        table_rows += parts_of(int(slot[number[body]]), [shape], whole)
                        parts[body, k, whole] = range(start, len(table_rows))
        for (k, one), (m, other) in product(enumerate(each.shapes), enumerate(each.other_shapes)):
            both = parts[each.body, k, _as_whole(one, other)], parts[each.other, m, _as_whole(other, one)]
            pairs += [(e, each, a, b) for a, b in product(*both)]
    table = shape_table(table_rows)
    slots = [most_features(table, a, b) for *_, a, b in pairs]

    @cache
    def of_point(body: str, shape: int) -> float:
        """Return `_mobility` of a point of a shape of a body."""
        if body == WORLD:
            return 0.0
        bound = float(table.bound[shape])
        arm = float(np.linalg.norm(table.centre[shape])) + (bound if np.isfinite(bound) else 0.0)
        return 1.0 / structure.body(body).mass + 2.0 / 3.0 * arm**2 * _turning(structure, body)

    turning = [sum(_turning(structure, body) for body in (each.body, each.other)) for _, each, *_ in pairs]

    def of_slots(values: list, kind: type) -> np.ndarray:
        """Return a number for each slot from one for each pair."""
        return np.repeat(np.array(values, dtype=kind), slots)

    return {
        "body": of_slots([slot[number[each.body]] for _, each, *_ in pairs], np.int64),
        "other": of_slots([slot[number[each.other]] for _, each, *_ in pairs], np.int64),
        "element": of_slots([e for e, *_ in pairs], np.int64),
        "friction": of_slots([each.friction for _, each, *_ in pairs], float),
        "restitution": of_slots([each.restitution for _, each, *_ in pairs], float),
        "mobility": of_slots([of_point(each.body, a) + of_point(each.other, b) for _, each, a, b in pairs], float),
        "rolling": of_slots([each.rolling for _, each, *_ in pairs], float),
        "turning": of_slots(turning, float),
        "pair_first": np.cumsum([0, *slots], dtype=np.int64),
        "pair_shape": np.array([[a, b] for *_, a, b in pairs], dtype=np.int64).reshape(-1, 2),
        "shapes": table,
    }


def _as_whole(shape: CollisionShape, other: CollisionShape) -> bool:
    """Return whether a height field is one part to another shape: one with corners or rims."""
    return isinstance(shape, HeightField) and not isinstance(other, SphereShape | CapsuleShape)


def _turning(structure: Structure, body: str) -> float:
    """Return the mean over all axes, 1/(kg m^2), of a free body's turn by a torque; zero for the world."""
    return 0.0 if body == WORLD else float(np.trace(np.linalg.inv(structure.body(body).inertia))) / 3.0


def _frame(normal: np.ndarray) -> np.ndarray:
    """Return the ``normal`` of a plane and two directions along it as rows (3, 3)."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def _mobility(body: Body, arm: np.ndarray) -> float:
    """Return the mean mobility, 1/kg, over all directions, of a point at ``arm``, body axes, of the free body."""
    x, y, z = arm
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return 1.0 / body.mass + float(np.trace(cross.T @ np.linalg.solve(body.inertia, cross))) / 3.0
