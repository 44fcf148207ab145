"""Camera of a robot that floats: the body that it follows, and the floor below."""

import numpy as np

from varint.drawing.shape_outlines import planes_of
from varint.drawing.viewpoint import up_of
from varint.model.body import WORLD, Body
from varint.model.structure import Structure

LEVEL = 0.999  # cosine: a plane that is level


def floating_base(structure: Structure) -> int | None:
    """Return the number of the heaviest of several bodies joined to each other and not to the world, or None.

    Rotors that stand for armature do not count.
    """
    numbers = {body.name: number for number, body in enumerate(_shown(structure))}
    group = np.arange(len(numbers))
    for joint in (each for each in structure.joints if each.forbidden and each.name not in structure.rotors):
        if WORLD in (joint.body_a, joint.body_b):
            return None
        a, b = (group[numbers[name]] for name in (joint.body_a, joint.body_b))
        group[group == b] = a
    if len(group) < 2 or np.ptp(group):
        return None
    return structure.body_index[max(_shown(structure), key=lambda body: body.mass).name]


def _shown(structure: Structure) -> list[Body]:
    return [body for body in structure.bodies if body.name not in structure.rotors]


def camera_shift(structure: Structure, x: np.ndarray) -> np.ndarray:
    """Return the shift (T, 3), m, that fixes a floating base that moves by more than its size; else zero.

    ``x`` (T, nb + 1, 3), m, world: positions of the bodies, the world last. Above a level plane of the ground the
    height is left as it is.
    """
    shift = np.zeros((len(x), 3))
    base = floating_base(structure)
    if base is None:
        return shift
    way = x[:, base] - x[0, base]
    gyration = max(np.sqrt(np.trace(body.inertia) / body.mass) for body in _shown(structure))
    places = [number for name, number in structure.body_index.items() if name not in structure.rotors]
    places += range(len(structure.bodies), x.shape[1] - 1)  # vertices
    if np.linalg.norm(way, axis=1).max() < np.ptp(x[0, places], axis=0).max() + 2.0 * gyration:
        return shift
    up = up_of(structure)
    return -way if floor_height(structure) is None else np.outer(way @ up, up) - way


def floor_height(structure: Structure) -> float | None:
    """Return the height of the highest level plane of the ground, m along the upward direction; None without one."""
    up = up_of(structure)
    return max((float(up @ point) for point, normal in planes_of(structure) if normal @ up > LEVEL), default=None)
