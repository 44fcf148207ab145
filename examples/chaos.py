"""A Poincare section, Lyapunov exponents, the intermediate axis: ``python examples/chaos.py [PICTURE]``."""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

DT = 0.005  # s
APART = 1e-6  # between two neighbours, in rad and rad/s


def pendulum(upper: float, lower: float, rate: float = 0.0) -> tuple[vi.Mechanism, vi.State]:
    """A double pendulum that starts at angles (rad) from hanging; ``rate`` (rad/s): of the upper link."""
    mech = vi.mechanisms.n_pendulum(2, angle=0.0)
    hinges = list(mech.joint_index)
    return mech, mech.state(coordinates=dict(zip(hinges, (upper, lower), strict=True)), rates={hinges[0]: rate})


def poincare(upper: float, lower: float, duration: float = 1000.0) -> np.ndarray:
    """(K, 2) angle (rad) and rate (rad/s) of the lower hinge where the upper one goes through zero, forward."""
    mech, state = pendulum(upper, lower)
    run = vi.simulate(mech, duration, DT, state=state, order=4)
    first, second = mech.joint_index
    angle = run.coordinates[first]
    before = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
    share = angle[before] / (angle[before] - angle[before + 1])
    there = run.at(run.t[before] + share * np.diff(run.t)[before])
    return np.column_stack([within_a_turn(there.coordinates[second]), there.rates[second]])


def lyapunov(upper: float, lower: float, pieces: int = 100, piece: float = 1.0) -> np.ndarray:
    """(pieces,) 1/s, the largest exponent as it settles: two neighbours, brought together again after each piece."""
    mech, state = pendulum(upper, lower)
    here, towards, logs = angles_and_rates(mech, state), np.full(4, 0.5), []
    for _ in range(pieces):
        here, neighbour = (after(mech, start, piece) for start in (here, here + APART * towards))
        gap = neighbour - here
        gap[:2] = within_a_turn(gap[:2])
        logs.append(np.log(np.linalg.norm(gap) / APART))
        towards = gap / np.linalg.norm(gap)
    return np.cumsum(logs) / (piece * np.arange(1, pieces + 1))


def after(mech: vi.Mechanism, start: np.ndarray, duration: float) -> np.ndarray:
    """(4,) angles and rates of the hinges, that much later."""
    angles, rates = (dict(zip(mech.joint_index, values, strict=True)) for values in np.split(start, 2))
    state = mech.state(coordinates=angles, rates=rates)
    return angles_and_rates(mech, vi.simulate(mech, duration, DT, state=state, order=4, tol=1e-12)[-1])


def angles_and_rates(mech: vi.Mechanism, state: vi.State) -> np.ndarray:
    """(4,) of the hinges, rad and rad/s."""
    return np.array([*mech.coordinates(state).values(), *mech.rates(state).values()])


def within_a_turn(angle: np.ndarray) -> np.ndarray:
    """The same angles from -pi to pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def turnovers(duration: float = 20.0) -> tuple[vi.Trajectory, np.ndarray]:
    """A box that spins about its middle axis, and the times (s) at which it turns over."""
    run = vi.simulate(vi.mechanisms.free_body(), duration, DT, order=4)
    spin = run.angular_velocity[:, 0, 1]
    before = np.flatnonzero(np.sign(spin[:-1]) != np.sign(spin[1:]))
    return run, run.t[before] + DT * spin[before] / (spin[before] - spin[before + 1])


def main(picture=None):
    orderly, chaotic = (0.4, 0.5), (2.0, 2.6)
    exponents = {start: lyapunov(*start) for start in (orderly, chaotic)}
    for start, settled in exponents.items():
        print(f"from angles {start} rad the Lyapunov exponent is {settled[-1]:.2f} 1/s after {len(settled)} s")
    run, times = turnovers()
    print(f"the box turns over every {np.diff(times).mean():.3f} s; its energy is kept to {np.ptp(run.energy):.0e} J")
    if picture:
        figure = Figure(figsize=(10, 3.5), layout="constrained")
        section, exponent, spin = figure.subplots(1, 3)
        for start in exponents:
            section.plot(*poincare(*start).T, ".", markersize=1.5, label=f"from {start} rad")
            exponent.plot(np.arange(1, 1 + len(exponents[start])), exponents[start])
        spin.plot(run.t, run.angular_velocity[:, 0])
        section.set(title="Poincare section", xlabel="lower hinge (rad)", ylabel="its rate (rad/s)")
        figure.legend(*section.get_legend_handles_labels(), loc="outside lower left", ncols=2, markerscale=5)
        exponent.set(title="Lyapunov exponent", xlabel="time (s)", ylabel="1/s")
        spin.set(title="intermediate axis", xlabel="time (s)", ylabel="angular velocity, body (rad/s)")
        figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
