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
