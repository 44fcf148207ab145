"""Pendulums on hinges that couplings connect."""

import numpy as np

import varint as vi

G = 9.81


def rig(*forces):
    """One joint of each kind of coordinate on the world, and bodies that are not alike."""
    rng = np.random.default_rng(3)
    bodies, joints = [], []
    for k, name in enumerate("abcd"):
        place = np.array([k, 0.0, 0.0])
        inertia = np.diag(rng.uniform(0.1, 0.15, 3))
        bodies.append(
            vi.Body(name, mass=rng.uniform(1, 2), inertia=inertia, position=place + 0.1 * rng.standard_normal(3))
        )
        axis = {"axis": (0.0, 0.6, 0.8)}
        kind = (vi.Revolute, vi.Prismatic, vi.Cylindrical, vi.Revolute)[k]
        joints.append(kind(name, "world" if k < 3 else "a", name, point=place, **axis))
    return vi.Mechanism("rig", bodies, joints, forces=forces)


def crank(x):
    """Of an angle: where a slider-crank of 0.2 and 0.5 m has its slider."""
    s, c = np.sin(x), np.cos(x)
    root = np.sqrt(0.25 - 0.04 * s * s)
    slope = -0.2 * s - 0.04 * s * c / root
    return 0.2 * c + root, slope, -0.2 * c - 0.04 * (c * c - s * s) / root - 0.04**2 * s * s * c * c / root**3
