"""A tree of links hung from the world, released at rest."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link, polar

MOST_LEVELS, MOST_ENDS = 200, 100_000


def build(depth: int = 3, branching: int = 2, angle: float = np.pi / 4) -> vi.Mechanism:
    """Links of 1 m and 1 kg in levels, each bearing children at its end, released at rest.

    The first link hangs from the origin, turned towards x. Children spread along y and x in turn. Universal joints on
    even levels, counted from 0, revolute joints on odd ones.

    Zero of the coordinates: the pose at the start, with the first link at ``angle``.

    Parameters
    ----------
    depth : int
        Number of levels, 1 or more.
    branching : int
        Number of children of a link, 1 or more.
    angle : float, rad
        Of the first link from hanging towards x at the start.
    """
    if not 1 <= depth <= MOST_LEVELS or branching < 1:
        raise vi.MechanismError(
            f"depth of tree must be 1 to {MOST_LEVELS}, branching 1 or more, got {depth}, {branching}"
        )
    if branching ** (depth - 1) > MOST_ENDS:
        raise vi.MechanismError(f"a tree of depth {depth} with branching {branching} has more than {MOST_ENDS} ends")
    bodies, joints = [], []

    def grow(name, parent, start, along, level):
        sideways = np.eye(3)[level % 2]
        axis = np.cross(along, sideways)
        bodies.append(link(name, start, start + along))
        ends = {"body_a": parent, "body_b": name, "point": start, "axis": axis}
        if level % 2:
            joints.append(vi.Revolute(f"joint {name}", **ends))
        else:
            joints.append(vi.Universal(f"joint {name}", **ends, axis_b=np.cross(axis, along)))
        if level + 1 < depth:
            for child, spread in enumerate(np.linspace(-0.6, 0.6, branching), start=1):
                branch = along + spread * np.eye(3)[(level + 1) % 2]
                grow(f"{name}.{child}", name, start + along, branch / np.linalg.norm(branch), level + 1)

    grow("1", "world", np.zeros(3), polar(1.0, angle - np.pi / 2), 0)
    return vi.Mechanism(f"tree of {len(bodies)} links", bodies, joints)


EXPECTED = {
    "bodies": 7,
    "rows": 30,
    "mobility": 12,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"depth": 2, "branching": 3}],
    "impossible": [{"depth": 0}, {"branching": 0}, {"depth": 30}, {"depth": 1000, "branching": 1}],
    "order": [{"parameters": {"depth": 2}}],
}
