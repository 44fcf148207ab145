"""How far does the box slide?

A box of 2 kg is pushed over the floor at 3 m/s, with a coefficient of friction of 0.4. Where does it come to rest, and
how does the load move to its front edge meanwhile?

It slides for v^2 / (2 mu g). The friction acts below the centre of mass, so the front corners bear more: with the
height h of the centre and the half length l, each front corner bears m g (1 + mu h / l) / 4. `HardContact`, in reduced
coordinates, solves for sticking and sliding at four corners together. It needs the package clarabel
(`pip install "varint-dynamics[contact]"`).
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

SPEED, FRICTION, MASS, SIZE, DT = 3.0, 0.4, 2.0, (0.4, 0.3, 0.2), 0.002  # m/s, , kg, m, s


def answer() -> dict:
    half = np.array(SIZE) / 2
    box = vi.Body.box("box", SIZE, MASS, position=(0, 0, half[2]))
    corners = [(side * half[0], across * half[1], 0.0) for side in (1, -1) for across in (1, -1)]
    forces = [
        vi.HardContact(name, body="box", points=corners[k : k + 2], friction=FRICTION)
        for name, k in (("front", 0), ("back", 2))
    ]
    start = {"rates": {"free": (SPEED, 0, 0, 0, 0, 0)}}
    mech = vi.Mechanism("box", [box], [vi.Free("free", "world", "box")], forces=forces, start=start)
    run = vi.redmax.simulate(mech, 1.2, DT, integrator="euler")
    moving = slice(5, np.argmax(run.velocity[:, 0, 0] < 0.1))
    share = FRICTION * half[2] / half[0]
    weight = MASS * 9.81
    return {
        "t": run.t,
        "speed": run.velocity[:, 0, 0],
        "loads": {name: run.force[name] for name in ("front", "back")},
        "way": (run.position[-1, 0, 0], SPEED**2 / (2 * FRICTION * 9.81)),
        "front": (np.median(run.force["front"][moving]), 0.5 * weight * (1 + share)),
    }


def main(picture=None):
    found = answer()
    print("it slides for {:.4f} m, in closed form {:.4f} m".format(*found["way"]))
    print("its front bears {:.3f} N while it slides, in closed form {:.3f} N".format(*found["front"]))
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        speed, load = figure.subplots(2, sharex=True)
        speed.plot(found["t"], found["speed"], "k-")
        speed.set_ylabel("speed (m/s)")
        for (name, force), style in zip(found["loads"].items(), ("k-", "k--"), strict=True):
            load.plot(found["t"][1:], force[1:], style, label=f"{name} corners")
        load.set(xlabel="time (s)", ylabel="load (N)", ylim=(0, None))
        load.legend(loc="lower right")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
