"""Bodies whose inertia is a number that keeps a matrix regular, not that of a thing, as phantoms of muscle models."""

from collections.abc import Sequence

import numpy as np

from varint.model.structure import Structure

VAST = 10.0  # sizes of a mechanism: a box of inertia beyond stands for no thing


def stand_ins(structure: Structure, halves: Sequence[float]) -> set[int]:
    """Return the bodies without shape whose box is far larger than the mechanism; they are frames between joints.

    ``halves``: of the longest edge of the uniform box of each body's inertia, m.
    """
    places = [body.position for body in structure.bodies]
    places += [place for joint in structure.joints for place in structure.anchors(joint)]
    size = max(float(np.ptp(places, axis=0).max()), float(np.median(halves)))
    bare = (number for number, body in enumerate(structure.bodies) if not body.solids and not body.collision)
    return {number for number in bare if halves[number] > VAST * size}
