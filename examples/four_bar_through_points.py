"""A four-bar whose pen passes three points on time: ``python examples/four_bar_through_points.py [PICTURE]``.

A pen on the coupler starts from a point and is to be at two more, each a quarter of a turn of the crank after the
other. Asked is where crank pin, rocker pin and the rocker's pivot are at the start. They are found first for a crank
that turns evenly, from positions alone (`sweep`). Then the links are heavy, a constant torque drives the crank, and the
pen is off by centimetres. SLSQP with exact gradients of runs finds the four-bar nearest to the first one, with a speed
at the start and a torque, whose pen is on time again.
"""

import sys
from functools import cache

import numpy as np
import scipy.optimize

import varint as vi

POINTS = np.array([[0.15, 0.24], [0.05, 0.25], [-0.01, 0.13]])  # m, x and z
INTERVAL, ANGLE, DT = 0.05, np.pi / 2, 0.001  # s and rad from point to point, s
EVEN = ANGLE / INTERVAL  # rad/s
GUESS = np.array([0.085, 0.05, 0.35, 0.29, 0.41, 0.01])  # m, x and z of crank pin, rocker pin, rocker pivot


def build(places, rate=EVEN, torque=0.0) -> vi.Mechanism:
    """In the pose of the start, which is the reference, with the pen at its point; the crank turns at the origin."""
    origin, pin, top, pivot, pen = ((x, 0, z) for x, z in [(0, 0), *np.reshape(places, (3, 2)), POINTS[0]])
    bodies = [
        vi.Body.rod("crank", origin, pin, mass=0.8, radius=0.01),
        vi.Body.rod("coupler", pin, top, mass=0.2, radius=0.01),
        vi.Body.rod("rocker", pivot, top, mass=0.2, radius=0.01),
        vi.Body.sphere("pen", radius=0.02, mass=0.05, position=pen),
    ]
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=origin, axis=(0, -1, 0)),
        vi.Revolute("crank pin", "crank", "coupler", point=pin, axis=(0, -1, 0)),
        vi.Revolute("rocker pin", "coupler", "rocker", point=top, axis=(0, -1, 0)),
        vi.Revolute("rocker pivot", "world", "rocker", point=pivot, axis=(0, -1, 0)),
        vi.Fixed("holder", "coupler", "pen"),
    ]
    motor = vi.Motor("motor", joint="crank pivot", effort=torque)
    return vi.Mechanism("four-bar", bodies, joints, forces=[motor], start={"rates": {"crank pivot": rate}})


def slow(places) -> np.ndarray:
    """What the pen misses (4,), m, where the crank turns evenly; the last place that it reaches where that locks."""
    sweep = build(places).sweep("crank pivot", ANGLE * np.arange(3), on_lockup="ignore")
    return (sweep.position[1:, 3][:, [0, 2]] - POINTS[1:]).ravel()


def loaded(change, places) -> dict:
    """Arguments of `build`: the places changed by ``change`` (8,), 0.1 m, EVEN and N m, of these, speed and torque."""
    return {"places": places + 0.1 * change[:6], "rate": EVEN * (1 + change[6]), "torque": change[7]}


def under_load(change, places) -> tuple[np.ndarray, np.ndarray]:
    """What it misses (4,) in a run, m, and its derivatives by the change (4, 8)."""
    given = loaded(np.array(change), np.array(places))

    def pen(states):
        return np.concatenate([state.position[3, [0, 2]] for state in states])

    g = vi.gradient(
        build, pen, 2 * INTERVAL, DT, times=[INTERVAL, 2 * INTERVAL], parameters=given, with_respect_to=list(given)
    )
    slopes = [0.1 * g["places"], EVEN * g["rate"][:, None], g["torque"][:, None]]
    return g.value - np.ravel(POINTS[1:]), np.hstack(slopes)


def run() -> tuple[vi.Mechanism, vi.Mechanism]:
    """The four-bar for a crank that turns evenly, and that under load."""
    even = scipy.optimize.least_squares(slow, GUESS).x
    both = cache(lambda *change: under_load(change, even))  # SLSQP asks for values and derivatives in turn
    on_time = {"type": "eq", "fun": lambda y: 10 * both(*y)[0], "jac": lambda y: 10 * both(*y)[1]}
    found = scipy.optimize.minimize(
        lambda y: (y @ y, 2 * y), np.zeros(8), jac=True, method="SLSQP", constraints=on_time
    )
    return build(even), build(**loaded(found.x, even))


def off(mechanism) -> np.ndarray:
    """(3,) m that the pen is off its points in a run."""
    way = vi.simulate(mechanism, 2 * INTERVAL, DT).position[:: round(INTERVAL / DT), 3]
    return np.linalg.norm(way[:, [0, 2]] - POINTS, axis=1)


def main(picture=None):
    for name, mechanism in zip(("turned evenly", "under load"), run(), strict=True):
        for joint in mechanism.joints[1:4]:
            print(f"{name}: {joint.name} at {joint.point[0]:.4f} and {joint.point[2]:.4f} m")
        rate, torque = mechanism.start["rates"]["crank pivot"], mechanism.forces[0].effort
        missed = 1e3 * max(off(mechanism))
        print(f"{name}: from {rate:.2f} rad/s, with {torque:.3f} N m, a run misses the points by {missed:.1e} mm")
    if picture:
        trajectory = vi.simulate(mechanism, 2 * INTERVAL, DT)
        figure = trajectory.plot("mechanism", times=INTERVAL * np.arange(3), trace="pen")
        figure.axes[0].plot(*POINTS.T, "o", color="black", zorder=99)
        figure.savefig(picture, dpi=180)


if __name__ == "__main__":
    main(*sys.argv[1:])
