"""Mechanisms with nets of particles that several tests use."""

import varint as vi


def hung(cells=2, **given):
    """A cloth between a bar on a hinge, which a motor turns, and the world."""
    bar = vi.Body.rod("bar", (-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), mass=0.4)
    attach = {"bar": lambda p: p[:, 1] < 1e-9, "world": lambda p: p[:, 1] > 0.6 - 1e-9}
    how = {"mass": 0.2, "stiffness": 60.0, "damping": 2e-3, "attach": attach} | given
    net = vi.ParticleNet.cloth("cloth", (0.6, 0.6), (cells, cells), position=(0, 0.3, 0), **how)
    hinge = vi.Revolute("hinge", "world", "bar", point=(-0.3, 0, 0), axis=(0, 1, 0))
    motor = vi.Motor("motor", joint="hinge", effort=0.2)
    return vi.Mechanism("hung", [bar], [hinge], forces=[net, motor])
