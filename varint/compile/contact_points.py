"""Hard contacts of bodies with planes of the world, and with each other."""

import numpy as np

from varint.compile.roles import Roles
from varint.model.body import Body
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
    """Arrays of the contacts of two bodies."""
    bodies = [(structure.body(each.body), structure.body(each.other)) for _, each in roles.pairs]
    count = len(bodies)
    index = structure.body_index
    return {
        "body": np.array([slot[index[each.body]] for _, each in roles.pairs], dtype=np.int64),
        "other": np.array([slot[index[each.other]] for _, each in roles.pairs], dtype=np.int64),
        "element": np.array([e for e, _ in roles.pairs], dtype=np.int64),
        "friction": np.array([each.friction for _, each in roles.pairs], dtype=float),
        "restitution": np.array([each.restitution for _, each in roles.pairs], dtype=float),
        "mobility": np.array([_mobility(a, np.array([0,0,a.solids[0].sizes[0]])) + _mobility(b, np.array([0,0,b.solids[0].sizes[0]])) for a, b in bodies], dtype=float),
        "kind": np.zeros(count, dtype=np.int64),
        "swapped": np.zeros(count, dtype=bool),
        "place": np.zeros((count, 2, 3)),
        "axis": np.zeros((count, 2, 3)),
        "size": np.array([[a.solids[0].sizes[0], b.solids[0].sizes[0]] for a, b in bodies], dtype=float).reshape(count, 2),
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
