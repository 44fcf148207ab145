"""A double pendulum is identified from noisy angles: ``python examples/identify_double_pendulum.py [PICTURE]``.

Given are the angles of both links at 25 times, with noise of 0.3 degrees, while a known torque acts at the shoulder.
(Without it masses and dampings could all be doubled, and nothing would show.) Asked are masses, lengths and viscous
dampings, and how sure they are. They come out by least squares: the derivatives of all residuals are exact, and share
one run. Their Gauss-Newton matrix gives the standard errors.
"""

import functools
import sys

import numpy as np
import scipy.optimize
from matplotlib.figure import Figure

import varint as vi

DURATION, DT = 2.0, 0.02  # s
EVERY = 4  # steps from one measured time to the next
NOISE = np.radians(0.3)
TRUTH = {"mass_1": 1.2, "mass_2": 0.7, "length_1": 0.6, "length_2": 0.45, "damping_1": 0.08, "damping_2": 0.03}
GUESS = {"mass_1": 1.0, "mass_2": 1.0, "length_1": 0.5, "length_2": 0.5, "damping_1": 0.05, "damping_2": 0.05}
NAMES, GUESSED = list(GUESS), np.array(list(GUESS.values()))  # kg, m, N m s/rad
TORQUE = 3.0 * np.sin(4.0 * DT * np.arange(round(DURATION / DT) + 1))  # N m, one a node


def build(mass_1, mass_2, length_1, length_2, damping_1, damping_2) -> vi.Mechanism:
    """Two bars, which hang in the reference."""
    bodies = [
        vi.Body.box("upper", size=(0.03, 0.03, length_1), mass=mass_1, position=(0, 0, -length_1 / 2)),
        vi.Body.box("lower", size=(0.03, 0.03, length_2), mass=mass_2, position=(0, 0, -length_1 - length_2 / 2)),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("elbow", "upper", "lower", point=(0, 0, -length_1), axis=(0, 1, 0)),
    ]
    forces = [
        vi.Motor("motor", joint="shoulder", effort=TORQUE),
        vi.JointDamper("shoulder damper", joint="shoulder", damping=damping_1),
        vi.JointDamper("elbow damper", joint="elbow", damping=damping_2),
    ]
    start = {"coordinates": {"shoulder": 1.0, "elbow": -0.5}}
    return vi.Mechanism("double pendulum", bodies, joints, forces=forces, start=start)


def angles(quat) -> np.ndarray:
    """(..., 2) of the links from hanging, rad; their quaternions (..., 2, 4)."""
    return 2.0 * np.arctan2(quat[..., 2], quat[..., 0])


def track(numbers) -> tuple[np.ndarray, np.ndarray]:
    """Times (T,) and angles (T, 2) of a pendulum of these ``numbers`` (6,)."""
    run = vi.simulate(build(*numbers), DURATION, DT, order=4)
    return run.t[EVERY::EVERY], angles(run.quat_wxyz[EVERY::EVERY])


def fit(measured, times) -> tuple[np.ndarray, np.ndarray]:
    """The numbers (6,) and their covariance (6, 6)."""

    def residuals(states):
        return (angles(np.array([state.quat_wxyz for state in states])) - measured).ravel() / NOISE

    @functools.cache
    def gradient(*shares):
        given = dict(zip(NAMES, GUESSED * shares, strict=True))
        return vi.gradient(
            build, residuals, DURATION, DT, order=4, times=times, parameters=given, with_respect_to=NAMES
        )

    def slopes(shares):
        g = gradient(*shares)
        return np.column_stack([g[name] for name in NAMES]) * GUESSED

    found = scipy.optimize.least_squares(
        lambda shares: gradient(*shares).value, np.ones(6), slopes, bounds=(0.2, 5.0), xtol=1e-10
    )
    return GUESSED * found.x, np.outer(GUESSED, GUESSED) * np.linalg.inv(found.jac.T @ found.jac)


def run(seed=1):
    """Times (T,), the measured track (T, 2), the numbers found (6,) and their standard errors (6,)."""
    times, exact = track(list(TRUTH.values()))
    measured = exact + NOISE * np.random.default_rng(seed).standard_normal(exact.shape)
    numbers, covariance = fit(measured, times)
    return times, measured, numbers, np.sqrt(np.diag(covariance))


def main(picture=None):
    times, measured, numbers, errors = run()
    print(f"{'':12}{'true':>9}{'fitted':>9}{'standard error':>16}")
    for name, true, fitted, error in zip(NAMES, TRUTH.values(), numbers, errors, strict=True):
        print(f"{name:12}{true:9.4f}{fitted:9.4f}{error:16.4f}")
    if picture:
        figure = Figure(figsize=(6, 3.2), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "time (s)", "ylabel": "from hanging (rad)"})
        for link, colour in enumerate(("black", "C1")):
            axes.plot(times, measured[:, link], ".", color=colour, label=f"link {link + 1}, measured")
            axes.plot(times, track(GUESSED)[1][:, link], ":", color=colour, label="first guess")
            axes.plot(times, track(numbers)[1][:, link], color=colour, label="fitted")
        axes.legend(ncols=2, fontsize="small")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
