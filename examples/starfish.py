"""A starfish: five arms of four bones each, driven by motors at twenty joints, in soft flesh.

The animal of the catalogue with a fine mesh: a tree of rigid bodies, and the flesh one deformable body of some hundred
vertices, attached to the bones that lie in it. The arms beat together, and the animal bends.

    python examples/starfish.py starfish.png
"""

import dataclasses
import sys

import matplotlib.pyplot as plt
import numpy as np

import varint as vi

CELL = 0.014  # m, of the mesh
BEAT, SWEEP = 1.5, 0.25  # Hz, and rad at each joint
DT, DURATION = 5e-3, 1.0


def starfish():
    """The animal of the catalogue, at rest, with a motor at each joint."""
    animal = vi.mechanisms.starfish(cell=CELL, rate=0.0)
    hinges = [joint.name for joint in animal.joints if isinstance(joint, vi.Revolute)]
    motors = [vi.JointServo(f"muscle {name}", joint=name, target=beat, stiffness=0.2, damping=0.004) for name in hinges]
    return dataclasses.replace(animal, forces=[*animal.forces, *motors])


def beat(t):
    """Target of each joint, rad: up and back, from rest."""
    return SWEEP * np.sin(np.pi * BEAT * t) ** 2


def run():
    """One second of beating. Without flesh the bones are so light that varint warns of their dampers."""
    return vi.simulate(starfish(), DURATION, DT, every=4, on_unresolved="ignore")


def draw(done, path):
    """The surface of the flesh in its first and its most bent pose."""
    flesh = done.mechanism.forces[0]
    x = done.vertices["flesh"]
    bent = int(np.argmax(np.ptp(x[:, :, 2], axis=1)))
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), subplot_kw={"projection": "3d"})
    for panel, node in zip(axes, (0, bent), strict=True):
        panel.plot_trisurf(*x[node].T, triangles=flesh.surface, color="#d8825a", edgecolor="#00000030", linewidth=0.3)
        panel.set_box_aspect((1, 1, 0.5))
        panel.set(xlim=(-0.18, 0.18), ylim=(-0.18, 0.18), zlim=(-0.09, 0.09), title=f"{done.t[node]:.2f} s")
        panel.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(path="starfish.png"):
    """Run, print and draw."""
    done = run()
    flesh = done.mechanism.forces[0]
    print(f"{len(flesh.points)} vertices, {len(flesh.tetrahedra)} tetrahedra, {len(done.mechanism.joints) - 1} joints")
    tips = np.ptp(done.vertices["flesh"][:, :, 2], axis=1)
    print(f"the arms bend by up to {1000 * tips.max():.0f} mm")
    drift = np.abs(done.linear_momentum).max()
    print(f"linear momentum stays within {drift:.1e} N s")
    draw(done, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
