"""Which motors does my robot arm need?

An arm from a URDF file is to swing its tool from hanging out level to bent up, in a second, along smooth ways of its
joints. Which torques and powers do shoulder and elbow need?

`vi.load_mechanism` reads the file, a `PrescribedMotion` at each joint moves it, and `traj.force` and `traj.power` tell.
At the start, at rest, the torque is weight times lever; the energy balance holds the motors' work against it.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import varint as vi

ROBOT = Path(__file__).parent.parent / "robots" / "arm.urdf"
WAYS = {"turn": 1.2, "shoulder": -0.9, "elbow": 1.4}  # rad
DURATION = 1.0  # s


def drive(joint, total):
    """A smooth step by ``total`` rad: at rest, without acceleration, at both ends."""
    way = np.polynomial.Polynomial(total * np.array([0, 0, 0, 10, -15, 6]), window=(0, 1), domain=(0, DURATION))
    motion = {"position": way, "rate": way.deriv(), "acceleration": way.deriv(2)}
    return vi.PrescribedMotion(f"{joint} motor", joint=joint, **motion)


def answer() -> dict:
    arm = vi.load_mechanism(ROBOT)
    arm = replace(arm, forces=[*arm.forces, *(drive(*each) for each in WAYS.items())])
    run = vi.simulate(arm, DURATION, 0.00025)
    lever = {}
    for name in ("shoulder", "elbow"):
        pivot = arm.joint(name).point[0]
        beyond = [body for body in arm.bodies if body.position[0] > pivot + 1e-9]
        lever[name] = -sum(body.mass * 9.81 * (body.position[0] - pivot) for body in beyond)
    return {"run": run, "weight": lever, "balance": abs(run.energy_balance).max() / np.ptp(run.energy)}


def main(picture=None):
    found = answer()
    run = found["run"]
    for name in WAYS:
        torque, power = (abs(values[f"{name} motor"]).max() for values in (run.force, run.power))
        print(f"{name}: up to {torque:.2f} N m and {power:.1f} W")
    for name, exact in found["weight"].items():
        print(f"{name} at rest: {run.force[f'{name} motor'][0]:.4f} N m, weight times lever {exact:.4f} N m")
    print(f"the balance of energy closes to {found['balance']:.0e} of its change")
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        torque, power = figure.subplots(2, sharex=True)
        for name, style in zip(WAYS, ("k:", "k-", "k--"), strict=True):
            torque.plot(run.t, run.force[f"{name} motor"], style, label=name)
            power.plot(run.t, run.power[f"{name} motor"], style)
        torque.set_ylabel("torque (N m)")
        power.set(xlabel="time (s)", ylabel="power (W)")
        figure.legend(*torque.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
