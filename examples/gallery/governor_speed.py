"""At which speed does the governor lift its balls?

Two balls hang on arms from a shaft that speeds up slowly. When do they begin to rise, and how far?

On pivots in the shaft they would hang still up to sqrt(g / l), and above it the arms would make the angle
arccos(g / (w^2 l)) with the shaft. Pivots 5 mm off the shaft round off that corner: g tan(b) = w^2 (e + l sin(b)). The
shaft is driven by a `PrescribedMotion` whose speed grows evenly; dampers keep the balls from swinging.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

import varint as vi

LENGTH, OFF, BALL, DURATION = 0.25, 0.005, 0.5, 60.0  # m, m, kg, s
FIRST, LAST = 2.0, 14.0  # rad/s


def rest(speed):
    """Angle of the arms, rad, at a steady speed."""
    return brentq(lambda b: 9.81 * np.tan(b) - speed**2 * (OFF + LENGTH * np.sin(b)), 1e-6, 1.57)


def answer() -> dict:
    grow = (LAST - FIRST) / DURATION
    bodies = [vi.Body.cylinder("shaft", 0.01, 0.5, 1.0)]
    joints = [vi.Revolute("bearing", "world", "shaft", point=(0, 0, 0), axis=(0, 0, 1))]
    motion = {
        "position": lambda t: FIRST * t + grow * t**2 / 2,
        "rate": lambda t: FIRST + grow * t,
        "acceleration": lambda t: grow,
    }
    forces = [vi.PrescribedMotion("engine", joint="bearing", **motion)]
    for side, name in ((1, "right"), (-1, "left")):
        bodies.append(vi.Body.sphere(name, 0.005, BALL, position=(side * OFF, 0, -LENGTH)))
        joints.append(vi.Revolute(name, "shaft", name, point=(side * OFF, 0, 0), axis=(0, -side, 0)))
        forces.append(vi.JointDamper(f"{name} damper", joint=name, damping=0.05))
    start = {"rates": {"bearing": FIRST}, "coordinates": {"right": rest(FIRST), "left": rest(FIRST)}}
    mech = vi.Mechanism("governor", bodies, joints, forces=forces, start=start)
    run = vi.simulate(mech, DURATION, 0.005, every=20)
    speed = FIRST + grow * run.t
    return {"speed": speed, "arm": run.coordinates["right"], "exact": np.array([rest(each) for each in speed])}


def main(picture=None):
    found = answer()
    print(f"with pivots in the shaft the balls would rise at {np.sqrt(9.81 / LENGTH):.3f} rad/s")
    for speed in (5.0, 7.0, 10.0, 13.0):
        k = np.searchsorted(found["speed"], speed)
        arm, exact = np.degrees([found["arm"][k], found["exact"][k]])
        print(f"at {speed:4.1f} rad/s the arms stand at {arm:5.2f} degrees, at rest {exact:5.2f}")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "speed of the shaft (rad/s)", "ylabel": "arms (degrees)"})
        ideal = np.degrees(np.arccos(np.minimum(1.0, 9.81 / (LENGTH * found["speed"] ** 2))))
        axes.plot(found["speed"], np.degrees(found["exact"]), color="0.7", linewidth=5, label="closed form")
        axes.plot(found["speed"], ideal, "k:", label="pivots in the shaft")
        axes.plot(found["speed"], np.degrees(found["arm"]), "k-", linewidth=1, label="run")
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
