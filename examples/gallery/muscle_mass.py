"""How much does it matter that my muscles are part of the bones?

In most programs muscles have no mass: it belongs to the bones, wherever these go. A calf muscle leads from the thigh to
the heel, so it moves against the shank. How wrong is the torque of the ankle in a fast swing of the leg?

A share of the shank's mass, 0 to 80 %, is taken to be that muscle. Inverse dynamics of one motion is done twice, with
the mass spread along the path of the muscle by `vi.PathMass`, and with the same mass as a rod of the shank where the
muscle lies in standing. The difference grows in proportion to the share, so nothing breaks down at large ones.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

SHARES, SHANK, DURATION = (0.0, 0.2, 0.4, 0.6, 0.8), 3.7, 0.35  # kg of the shank with its muscles, s
KNEE, ANKLE, HEEL = np.array([0, 0, -0.43]), np.array([0, 0, -0.86]), np.array([-0.05, 0, -0.9])  # m
ORIGIN = KNEE + [-0.03, 0.0, 0.03]  # on the thigh


def leg(mass: float, moving: bool) -> vi.Mechanism:
    """Thigh, shank and foot on hinges; ``mass`` of the calf along its path, or as a rod of the shank."""
    foot = vi.Body.rod("foot", HEEL, ANKLE + [0.17, 0, -0.06], mass=1.1, radius=0.03)
    bodies = [vi.Body.rod("thigh", (0, 0, 0), KNEE, mass=8.0, radius=0.07), foot]
    parts = [vi.Body.rod("bone", KNEE, ANKLE, mass=SHANK - mass, radius=0.04)]
    if mass and not moving:
        parts.append(vi.Body.rod("calf", ORIGIN, HEEL, mass=mass))
    bodies.append(vi.Body.composite("shank", parts))
    path = [vi.At("thigh", ORIGIN), vi.At("foot", HEEL)]
    ends = (("hip", "world", "thigh", (0, 0, 0)), ("knee", "thigh", "shank", KNEE), ("ankle", "shank", "foot", ANKLE))
    joints = [vi.Revolute(name, a, b, point=point, axis=(0, 1, 0)) for name, a, b, point in ends]
    return vi.Mechanism("leg", bodies, joints, forces=[vi.PathMass("calf", path=path, mass=mass)] if moving else [])


def swing(t) -> dict:
    """Angles, rad, at times of the swing of a fast run: thigh forward, knee and ankle bent and stretched."""
    phase = 2 * np.pi * t / DURATION
    return {"hip": 0.1 + 0.7 * np.cos(0.5 * phase), "knee": 1.1 - 0.9 * np.cos(phase), "ankle": 0.35 * np.cos(phase)}


def answer() -> dict:
    t = np.linspace(0.0, DURATION, 141)
    motion = swing(t)
    torque = {
        share: [vi.efforts_of_motion(leg(share * SHANK, moving), t, motion)["ankle"] for moving in (True, False)]
        for share in SHARES
    }
    return {"t": t, "torque": torque, "off": {share: moving - rigid for share, (moving, rigid) in torque.items()}}


def main(picture=None):
    found = answer()
    for share, off in found["off"].items():
        rms, peak, of = np.sqrt(np.mean(off**2)), abs(off).max(), abs(found["torque"][share][0]).max()
        print(
            f"{100 * share:.0f} % muscle: the ankle's torque is off by {rms:.2f} N m (RMS), {peak:.2f} of {of:.1f} N m"
        )
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        for share, (moving, _) in found["torque"].items():
            axes.plot(found["t"], moving, label=f"{100 * share:.0f} % of the shank is muscle", linewidth=0.8)
        axes.plot(found["t"], found["torque"][SHARES[-1]][1], "k--", label="80 %, as part of the bone", linewidth=0.8)
        axes.set(xlabel="time (s)", ylabel="torque of the ankle (N m)")
        axes.legend(fontsize="small")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
