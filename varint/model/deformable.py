"""Springs with mass and inner nodes, attached to bodies (DIFF section 2.7)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import MOST, array_of, check_name, not_negative, positive, whole_number
from varint.base.errors import MechanismError
from varint.model.body import WORLD, Body
from varint.model.forces.base import Force
from varint.model.forces.spring import Spring
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint
from varint.model.mechanism_parts import MechanismParts

POINT = 1e-3  # radius of a node in lengths of a segment


def deformable_spring(
    name: str,
    body_a: str,
    body_b: str,
    *,
    point_a: ArrayLike,
    point_b: ArrayLike,
    mass: float,
    stiffness: float,
    segments: int,
    damping: float = 0.0,
    rest_length: float | None = None,
) -> MechanismParts:
    """Return a spring with mass between ``point_a`` of body a and ``point_b`` of body b (3,), m, world, reference.

    Parameters
    ----------
    body_a, body_b : str
        "world" among them.
    mass : float
        kg, spread evenly: an n-th at each inner node, half of it at either end, which is welded to its body.
    stiffness, damping : float
        Of the whole spring, N/m and N s/m; n times as much for each of its segments (K = n k L^2 in DIFF eq. 2.92).
    segments : int
        n, from 1; the inner nodes are n - 1 points that move freely in space. Nodes are named "NAME 0", at body a, to
        "NAME n".
    rest_length : float, optional
        m, of the whole; the distance of the points where not given.

    In the reference configuration the nodes are on a straight line, evenly spread.
    """
    label = f"deformable spring '{check_name(name, 'a deformable spring')}'"
    for end, which in ((body_a, "body_a"), (body_b, "body_b")):
        check_name(end, f"{which} of {label}")
    point_a, point_b = array_of(point_a, (3,), f"point_a of {label}"), array_of(point_b, (3,), f"point_b of {label}")
    mass = positive(mass, f"mass of {label}")
    segments = whole_number(segments, f"segments of {label}", 1, most=MOST)
    stiffness, damping = (
        not_negative(value, f"{which} of {label}") for which, value in (("stiffness", stiffness), ("damping", damping))
    )
    length = float(np.linalg.norm(point_b - point_a))
    if length == 0.0:
        raise MechanismError(f"{label} needs two points that are apart")
    rest = length if rest_length is None else not_negative(rest_length, f"rest_length of {label}")
    points = point_a + np.linspace(0.0, 1.0, segments + 1)[:, None] * (point_b - point_a)
    ends = {0: body_a, segments: body_b}
    bodies: list[Body] = []
    joints: list[Joint] = []
    for k, point in enumerate(points):
        node, parent = f"{name} {k}", ends.get(k, WORLD)
        if k in ends and parent == WORLD:
            continue
        share = mass / segments * (0.5 if k in ends else 1.0)
        bodies.append(Body.sphere(node, radius=POINT * length / segments, mass=share, position=point))
        joints.append(REGISTRY["Fixed" if k in ends else "Translational"](node, parent, node, point=point))
    forces: list[Force] = []
    for k, (start, stop) in enumerate(pairwise(points)):
        near, far = (ends.get(i, f"{name} {i}") for i in (k, k + 1))
        spring = Spring(
            f"{name} {k}", near, far, point_a=start, point_b=stop, rest_length=rest / segments,
            stiffness=segments * stiffness, damping=segments * damping,
        )  # fmt: skip
        forces.append(spring)
    return MechanismParts(bodies, joints, forces)
