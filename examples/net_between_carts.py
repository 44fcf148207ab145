"""A net that hangs between two carts, falls, and draws them together: particles and springs.

Prints how far, with what force of its threads, and what damping took.

    python examples/net_between_carts.py net.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import varint as vi

LENGTH, WIDTH = 0.8, 0.4  # m, of the net: x and y
ALONG, ACROSS = 8, 4  # cells
CART, NET = 2.0, 0.2  # kg, of each cart and of the net
DT, DURATION = 2e-3, 1.0  # s
SHOWN = 0.0, 0.2, 0.6  # s


def net_between_carts():
    """Carts on a track along x that hold the ends of the net, which starts level and at rest."""
    ends = {"left": (-0.5 * LENGTH, 0, 0), "right": (0.5 * LENGTH, 0, 0)}
    bodies = [vi.Body.box(name, (0.1, WIDTH, 0.06), CART, position=point) for name, point in ends.items()]
    tracks = [vi.Prismatic(f"{name} track", "world", name, point=point, axis=(1, 0, 0)) for name, point in ends.items()]
    net = vi.ParticleNet.cloth(
        "net", (LENGTH, WIDTH), (ALONG, ACROSS), mass=NET, stiffness=(200.0, 20.0, 0.0), damping=1e-3,
        attach={"left": lambda x: x[:, 0] < 1e-9 - 0.5 * LENGTH, "right": lambda x: x[:, 0] > 0.5 * LENGTH - 1e-9},
    )  # fmt: skip
    return vi.Mechanism("net between carts", bodies, tracks, forces=[net])


def run():
    """The first second of the fall."""
    return vi.simulate(net_between_carts(), DURATION, DT)


def draw(done, path):
    """The springs of the net at three instants."""
    springs = done.mechanism.forces[0].springs
    figure, axes = plt.subplots(1, len(SHOWN), figsize=(12, 4), subplot_kw={"projection": "3d"})
    for panel, t in zip(axes, SHOWN, strict=True):
        node = int(np.argmin(np.abs(done.t - t)))
        panel.add_collection3d(Line3DCollection(done.vertices["net"][node][springs], colors="#c06a45", linewidths=0.8))
        panel.set_box_aspect((1, 1, 0.75), zoom=1.4)
        panel.set(xlim=(-0.4, 0.4), ylim=(-0.4, 0.4), zlim=(-0.5, 0.1), title=f"{done.t[node]:.2f} s")
        panel.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(path="net.png"):
    """Run, print and draw."""
    done = run()
    way = np.abs(done.coordinates["left track"]).max()
    tension = done.mechanism.forces[0].mesh.tensions(done.vertices["net"][-1]).max()
    print(f"the carts move by up to {way:.3f} m, a thread of the net pulls with up to {tension:.2f} N at the end")
    print(f"damping took {-done.work[-1, 0]:.4f} J; balance of energy {np.abs(done.energy_balance).max():.1e} J")
    draw(done, path)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
