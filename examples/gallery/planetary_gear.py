"""How fast does my planetary gear turn, and how heavy does it feel?

The sun has 24 teeth, the planets 18, the ring 60 and stands still. How fast does the carrier turn, which inertia does
the motor at the sun see, and what must hold the ring?

Willis: the carrier turns 1 / (1 + 60 / 24) as fast as the sun. The inertia seen at the sun is that of all wheels by the
squares of their speeds over the sun's. A `Gear` couples sun and planet on the carrier; a `Coupling` rolls the planet in
the ring.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

SUN, PLANET, RING, MODULE = 24, 18, 60, 0.002  # teeth, teeth, teeth, m
RADII = {name: MODULE * teeth / 2 for name, teeth in (("sun", SUN), ("planet", PLANET), ("ring", RING))}  # m
ARM = RADII["sun"] + RADII["planet"]
TORQUE, DURATION = 0.5, 1.0  # N m at the sun, s


def build() -> vi.Mechanism:
    places = [ARM * np.array([np.cos(a), np.sin(a), 0]) for a in 2 * np.pi / 3 * np.arange(3)]
    bodies = [vi.Body.cylinder("carrier", ARM, 0.01, 0.6), vi.Body.cylinder("sun", RADII["sun"], 0.02, 0.3)]
    joints = [
        vi.Revolute("carrier", "world", "carrier", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("sun", "carrier", "sun", point=(0, 0, 0), axis=(0, 0, 1)),  # seen from the carrier
    ]
    forces = [vi.PointTorque("motor", body="sun", direction=(0, 0, 1), magnitude=TORQUE)]
    for k, place in enumerate(places, start=1):
        planet = f"planet {k}"
        bodies.append(vi.Body.cylinder(planet, RADII["planet"], 0.02, 0.2, position=place))
        joints.append(vi.Revolute(planet, "carrier", planet, point=place, axis=(0, 0, 1)))
        teeth = {"radius_a": RADII["sun"], "radius_b": RADII["planet"]}
        forces.append(vi.Gear(f"mesh {k}", joint_a="sun", joint_b=planet, **teeth))
    # seen from the carrier the ring turns by minus the carrier's angle: R (- carrier) = r planet
    forces.append(vi.Coupling("ring", terms=[("carrier", 0, RADII["ring"]), ("planet 1", 0, RADII["planet"])]))
    return vi.Mechanism("planetary gear", bodies, joints, gravity=(0, 0, 0), forces=forces)


def answer() -> dict:
    run = vi.simulate(build(), DURATION, 5e-5)  # in which the sun turns by at most 0.1 rad
    carrier, sun, planet = (run.angular_velocity[:, run.mechanism.body_index[name], 2] for name in WHEELS)
    ratio, spin = 1 / (1 + RING / SUN), (1 - RING / PLANET) / (1 + RING / SUN)
    inertia = 0.5 * 0.3 * RADII["sun"] ** 2 + ratio**2 * (0.5 * 0.6 * ARM**2 + 3 * 0.2 * ARM**2)
    inertia += 3 * spin**2 * 0.5 * 0.2 * RADII["planet"] ** 2
    return {
        "t": run.t,
        "speeds": {"sun": sun, "carrier": carrier, "planet": planet},
        "ratio": (carrier[-1] / sun[-1], ratio),
        "inertia": (TORQUE * DURATION / sun[-1], inertia),
    }


WHEELS = ("carrier", "sun", "planet 1")


def main(picture=None):
    found = answer()
    print(f"the carrier turns {found['ratio'][0]:.6f} as fast as the sun, by Willis {found['ratio'][1]:.6f}")
    print("the motor sees {:.6e} kg m^2, by the wheels' speeds {:.6e}".format(*found["inertia"]))
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "time (s)", "ylabel": "speed (rad/s)"})
        for (name, speed), style in zip(found["speeds"].items(), ("k-", "k--", "k:"), strict=True):
            axes.plot(found["t"], speed, style, label=name)
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
