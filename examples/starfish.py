"""A starfish: five arms of four bones each, driven by motors at twenty joints, in soft flesh.

The skeleton is a tree of rigid bodies, the flesh one deformable body of some hundred vertices, attached to the bones
that lie in it. The arms beat together, and the animal bends.

    python examples/starfish.py starfish.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import varint as vi

ARMS, BONES = 5, 4
HUB, LENGTH = 0.03, 0.035  # m, radius of the hub and length of a bone
REACH = HUB + BONES * LENGTH
CELL, DEPTH = 0.014, 0.02  # m, of the mesh
FLESH = {"E": 3e4, "nu": 0.4, "density": 1000.0}
BEAT, SWEEP = 1.5, 0.25  # Hz, and rad at each joint
DT, DURATION = 5e-3, 1.0
ANGLES = 2 * np.pi * np.arange(ARMS) / ARMS


def along_and_across(points):
    """Coordinates (arms, n) of points along and across each arm, m."""
    c, s = np.cos(ANGLES)[:, None], np.sin(ANGLES)[:, None]
    return c * points[:, 0] + s * points[:, 1], c * points[:, 1] - s * points[:, 0]


def mesh():
    """Points and tetrahedra: the cells of a grid whose middle is within the outline, six tetrahedra each."""
    count = int(np.ceil((REACH + 0.01) / CELL))
    corner = np.arange(-count, count)
    i, j = (index.ravel() for index in np.meshgrid(corner, corner, indexing="ij"))
    along, across = along_and_across(CELL * np.column_stack([i + 0.5, j + 0.5]))
    width = 0.022 - 0.008 * along / REACH
    inside = ((along > -0.01) & (along < REACH + 0.004) & (np.abs(across) < width)).any(axis=0)
    i, j = i[inside], j[inside]
    size = 2 * count + 1

    def number(a, b, c):
        return ((i + a + count) * size + j + b + count) * 2 + c

    ways = [(4, 6), (6, 2), (2, 3), (3, 1), (1, 5), (5, 4)]  # of the corners 1 to 6 from corner 0 to corner 7
    at = [number(k >> 2, k >> 1 & 1, k & 1) for k in range(8)]
    tetrahedra = np.concatenate([np.column_stack([at[0], at[a], at[b], at[7]]) for a, b in ways])
    used, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    tetrahedra = tetrahedra.reshape(-1, 4)
    points = np.column_stack([used // 2 // size - count, used // 2 % size - count, used % 2 - 0.5]) * [
        CELL,
        CELL,
        DEPTH,
    ]
    corners = points[tetrahedra]
    turned = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[turned] = tetrahedra[turned][:, [0, 2, 1, 3]]
    return points, tetrahedra


def held_by(points):
    """Body name to the vertices next to its bone; the hub holds those about the centre."""
    along, across = along_and_across(points)
    found = {"hub": np.hypot(points[:, 0], points[:, 1]) < 0.8 * HUB}
    for arm in range(ARMS):
        for bone in range(BONES):
            start = HUB + bone * LENGTH
            middle = np.abs(along[arm] - start - LENGTH / 2) < 0.4 * LENGTH
            found[f"bone {arm}.{bone}"] = middle & (np.abs(across[arm]) < 0.75 * CELL)
    return {body: np.flatnonzero(mask) for body, mask in found.items()}


def starfish(beating=True, **start):
    """The animal, without gravity as in water; ``start``: of the mechanism."""
    points, tetrahedra = mesh()
    bodies = [vi.Body.cylinder("hub", 0.02, 0.01, mass=0.02)]
    joints, motors = [vi.Free("swimming", "world", "hub")], []
    for arm, angle in enumerate(ANGLES):
        outward, aside = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
        for bone in range(BONES):
            name, near = f"bone {arm}.{bone}", HUB + bone * LENGTH
            bodies.append(vi.Body.rod(name, near * outward, (near + LENGTH) * outward, mass=0.004))
            before = f"bone {arm}.{bone - 1}" if bone else "hub"
            joints.append(vi.Revolute(f"joint {arm}.{bone}", before, name, point=near * outward, axis=-aside))
            motors.append(
                vi.JointServo(f"muscle {arm}.{bone}", joint=joints[-1].name, target=beat, stiffness=0.2, damping=0.004)
            )
    flesh = vi.DeformableBody("flesh", points, tetrahedra, attach=held_by(points), **FLESH)
    forces = [flesh, *motors] if beating else [flesh]
    return vi.Mechanism("starfish", bodies, joints, gravity=(0, 0, 0), forces=forces, start=start)


def beat(t):
    """Target of each joint, rad: up and back, from rest."""
    return SWEEP * np.sin(np.pi * BEAT * t) ** 2


def run():
    """One second of beating."""
    return vi.simulate(starfish(), DURATION, DT, every=4)


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
