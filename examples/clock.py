"""A clock ticks: impulses at mid-swing against what the banking stops take. ``python examples/clock.py [PICTURE]``."""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

DURATION, DT = 7.0, 0.001  # s
EFFORT, WINDOW = 0.05, 0.1  # N m, rad: the motor drives on while the pendulum is this near to hanging


def impulse(t, state):
    """Effort of the motor, N m: with the motion, at mid-swing."""
    x, _, z = state.position[0]
    return np.copysign(EFFORT, -state.angular_velocity[0, 1]) if abs(np.arctan2(x, -z)) < WINDOW else 0.0


def run(angle: float = 0.1, rate: float = 0.0, duration: float = DURATION) -> vi.Trajectory:
    """From ``angle`` (rad) and ``rate`` (rad/s)."""
    return vi.simulate(vi.mechanisms.escapement(effort=impulse, angle=angle, rate=rate), duration, DT)


def ticks(trajectory):
    """Times at which the pendulum swings through to the right, s, and its kinetic energies there, J."""
    t, angle = trajectory.t, trajectory.coordinates["pivot"]
    before = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
    share = angle[before] / (angle[before] - angle[before + 1])
    kinetic = trajectory.kinetic
    return t[before] + share * DT, kinetic[before] + share * (kinetic[before + 1] - kinetic[before])


def main(picture=None):
    trajectory = run()
    times, kinetic = ticks(trajectory)
    at = np.searchsorted(trajectory.t, times[[-4, -1]])
    lost, given = (np.ptp(trajectory.dissipated[name][at]) / 3 for name in ("bank", "motor"))
    print(f"it ticks every {np.diff(times)[-3:].mean():.3f} s with {1e3 * kinetic[-3:].mean():.1f} mJ at mid-swing")
    print(f"in a period its motor gives {1e3 * given:.2f} mJ and its stops take {1e3 * lost:.2f} mJ")
    if picture:
        figure = Figure(figsize=(6, 5), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "angle (rad)", "ylabel": "rate (rad/s)"})
        axes.plot(trajectory.coordinates["pivot"], -trajectory.angular_velocity[:, 0, 1], linewidth=0.5)
        figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
