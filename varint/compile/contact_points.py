"""Hard contacts of bodies with planes of the world, and with each other."""

from functools import cache

import numpy as np

from varint.compile.roles import Roles
from varint.compile.shape_table import most_features, shape_table
from varint.model.body import WORLD, Body
from varint.model.collision_shapes import CollisionShape
from varint.model.forces.base import BodyContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure

SHARED = ("body", "other", "element", "friction", "restitution", "mobility")  # arrays of both kinds of contacts


def contact_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Arrays of the contacts: those with planes, one for each point, then those of pairs of bodies."""
    planes, pairs = _plane_arrays(structure, slot, roles), _pair_arrays(structure, slot, roles)
    joined = {name: np.concatenate([planes.pop(name), pairs.pop(name)]) for name in SHARED}
    return joined | planes | pairs


def _plane_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Arrays of the contacts with planes, one for each point; ``slot`` of each body."""
    numbered = [(e, element, point) for e, element in roles.contacts for point in element.points]
    bodies = [structure.body(element.body) for _, element, _ in numbered]
    pairs = zip(bodies, numbered, strict=True)
    arms = [rotation_matrix(body.quat_wxyz).T @ (point - body.position) for body, (*_, point) in pairs]
    own = [element for _, element, _ in numbered]
    count = len(own)
    numbers = {name: np.array([getattr(each, name) for each in own], dtype=float) for name in NUMBERS}
    return {
        "body": np.array([slot[structure.body_index[each.body]] for each in own], dtype=np.int64),
        "other": np.full(count, slot[-1]),
        "element": np.array([e for e, *_ in numbered], dtype=np.int64),
        "point": np.reshape(arms, (count, 3)).astype(float),
        "frame": np.reshape([_frame(each.normal) for each in own], (count, 3, 3)).astype(float),
        "height": np.array([each.normal @ each.ground for each in own], dtype=float),
        "mobility": np.array([_mobility(*each) for each in zip(bodies, arms, strict=True)], dtype=float),
        **numbers,
    }


NUMBERS = ("radius", "friction", "restitution")


def _pair_arrays(structure: Structure, slot: np.ndarray, roles: Roles) -> dict:
    """Arrays of the contacts of two bodies: slots for the features of each pair of their shapes."""
    number = {**structure.body_index, WORLD: -1}
    first: dict[str, int] = {}  # shape of each body
    shapes: list[tuple[int, CollisionShape]] = []
    pairs: list[tuple[int, BodyContact, int, int]] = []
    for e, each in roles.pairs:
        for body, own in ((each.body, each.shapes), (each.other, each.other_shapes)):
            if body not in first:
                first[body] = len(shapes)
                shapes += [(int(slot[number[body]]), shape) for shape in own]
        numbers = range(len(each.shapes)), range(len(each.other_shapes))
        pairs += [(e, each, first[each.body] + m, first[each.other] + n) for m in numbers[0] for n in numbers[1]]
    table = shape_table(shapes)
    slots = [most_features(table, a, b) for *_, a, b in pairs]

    @cache
    def of_point(body: str, shape: int) -> float:
        """`_mobility` of a point of a shape of a body."""
        if body == WORLD:
            return 0.0
        bound = float(table.bound[shape])
        arm = float(np.linalg.norm(table.centre[shape])) + (bound if np.isfinite(bound) else 0.0)
        turning = float(np.trace(np.linalg.inv(structure.body(body).inertia)))
        return 1.0 / structure.body(body).mass + 2.0 / 9.0 * arm**2 * turning

    def of_slots(values: list, kind: type) -> np.ndarray:
        """A number of each pair as one of each of its slots."""
        return np.repeat(np.array(values, dtype=kind), slots)

    return {
        "body": of_slots([slot[number[each.body]] for _, each, *_ in pairs], np.int64),
        "other": of_slots([slot[number[each.other]] for _, each, *_ in pairs], np.int64),
        "element": of_slots([e for e, *_ in pairs], np.int64),
        "friction": of_slots([each.friction for _, each, *_ in pairs], float),
        "restitution": of_slots([each.restitution for _, each, *_ in pairs], float),
        "mobility": of_slots([of_point(each.body, a) + of_point(each.other, b) for _, each, a, b in pairs], float),
        "pair_first": np.cumsum([0, *slots], dtype=np.int64),
        "pair_shape": np.array([[a, b] for *_, a, b in pairs], dtype=np.int64).reshape(-1, 2),
        "shapes": table,
    }


def _frame(normal: np.ndarray) -> np.ndarray:
    """(3, 3) ``normal`` of a plane and two directions along it, in rows."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def _mobility(body: Body, arm: np.ndarray) -> float:
    """1/kg, the mean over all directions of how a point at ``arm``, body axes, of the free body moves by an impulse."""
    x, y, z = arm
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return 1.0 / body.mass + float(np.trace(cross.T @ np.linalg.solve(body.inertia, cross))) / 3.0
