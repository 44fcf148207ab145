"""Mechanisms with nets of particles that several tests use."""

from dataclasses import replace

import numpy as np

import varint as vi

BOTH_ENDS = {"bar": lambda p: p[:, 1] < 1e-9, "block": lambda p: p[:, 1] > 0.6 - 1e-9}


def hung(cells=2, **given):
    """A cloth between a bar on a hinge, which a motor turns, and the world."""
    hinge = vi.Revolute("hinge", "world", "bar", point=(-0.3, 0, 0), axis=(0, 1, 0))
    attach = {"bar": BOTH_ENDS["bar"], "world": BOTH_ENDS["block"]}
    motor = vi.Motor("motor", joint="hinge", effort=0.2)
    return vi.Mechanism("hung", [_bar()], [hinge], forces=[_cloth(cells, {"attach": attach} | given), motor])


def swinging(start=None, force=None):
    """A cloth between a bar on a hinge, with a motor or another ``force``, and a body that flies."""
    hinge = vi.Revolute("hinge", "world", "bar", point=(-0.3, 0, 0), axis=(0, 1, 0))
    block = vi.Body.box("block", (0.1, 0.2, 0.15), mass=0.3, position=(0.05, 0.62, 0.03))
    joints, cloth = [hinge, vi.Free("free", "world", "block")], _cloth(2, {"attach": BOTH_ENDS, "damping": 5e-2})
    forces = [cloth, force or vi.Motor("motor", joint="hinge", effort=0.2)]
    return vi.Mechanism("swinging", [_bar(), block], joints, forces=forces, start=start or {})


def _bar():
    return vi.Body.box("bar", (0.6, 0.06, 0.04), mass=0.4)


def _cloth(cells, given):
    how = {"mass": 0.2, "stiffness": 60.0, "damping": 2e-3} | given
    return vi.ParticleNet.cloth("cloth", (0.6, 0.6), (cells, cells), position=(0, 0.3, 0), **how)


def changed(mechanism, name, value):
    """The mechanism with another value of the number ``name``."""
    owner, _, field = name.partition(".")
    if owner == "gravity":
        return replace(mechanism, gravity=value)
    value = float(value) if np.ndim(value) == 0 else value
    parts = {
        part: [replace(each, **{field: value}) if each.name == owner else each for each in getattr(mechanism, part)]
        for part in ("bodies", "joints", "forces")
    }
    return replace(mechanism, **parts)


def value_of(mechanism, name):
    """The value of the number ``name`` of a mechanism."""
    owner, _, field = name.partition(".")
    if owner == "gravity":
        return np.array(mechanism.gravity)
    items = (*mechanism.bodies, *mechanism.joints, *mechanism.forces)
    return np.array(next(getattr(each, field) for each in items if each.name == owner))
