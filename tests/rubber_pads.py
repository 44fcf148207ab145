"""A pad of rubber, a box of tetrahedra from x = 0 to 0.3 m."""

import varint as vi

RUBBER = {"E": 1e5, "nu": 0.3, "density": 500.0}


def left(points):
    return points[:, 0] < points[:, 0].min() + 1e-9


def right(points):
    return points[:, 0] > points[:, 0].max() - 1e-9


def pad(divisions=(3, 1, 1), attach=None, **given):
    attach = {"a": left, "b": right} if attach is None else attach
    return vi.DeformableBody.box("pad", (0.3, 0.1, 0.1), divisions, attach=attach, **RUBBER | given)


def arm(**given):
    """A pad from the world to a box, on which a rod swings."""
    tip = vi.Body.box("b", (0.1, 0.1, 0.1), mass=0.3, position=(0.2, 0.0, 0.0))
    bob = vi.Body.rod("bob", (0.25, 0.0, 0.0), (0.25, 0.0, -0.3), mass=0.1)
    joints = [
        vi.Free("free", "world", "b"),
        vi.Revolute("hinge", "b", "bob", point=(0.25, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    ]
    return vi.Mechanism("arm", [tip, bob], joints, forces=[pad(attach={"world": left, "b": right}, **given)])
