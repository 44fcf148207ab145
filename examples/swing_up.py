"""The force that swings the pole of a cart-pole up with least effort: ``python examples/swing_up.py [PICTURE]``.

The pole hangs, all is at rest. Asked is a force on the cart, a cubic spline through knots, whose mean square is least
and after which the pole is upright, the cart back, and all at rest. That the cart is back and at rest is linear in the
force, as nothing else acts along the track, and is solved before. Angle and rate of the pole at the end are those of a
run; SLSQP takes their exact gradients. (cart_pole_swing_up.py does it by feedback, in several swings, and balances.)
"""

import sys
from functools import cache

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.interpolate import CubicSpline

import varint as vi

DURATION, DT, KNOTS = 1.5, 0.0125, 7  # s
UNIT = 10.0  # N, of the forces in the search
T = DT * np.arange(round(DURATION / DT) + 1)  # the nodes
WEIGHTS = np.full(len(T), DT / DURATION)  # of means over the duration
WEIGHTS[[0, -1]] /= 2


def shapes() -> np.ndarray:
    """(nodes, n) forces over time, of mean square 1 and without correlation, that bring the cart back and to rest."""
    splines = CubicSpline(np.linspace(0, DURATION, KNOTS), np.eye(KNOTS))(T)
    speed_and_way = np.array([WEIGHTS, WEIGHTS * (DURATION - T)]) @ splines
    allowed = splines @ scipy.linalg.null_space(speed_and_way)
    products = allowed.T @ (WEIGHTS[:, None] * allowed)
    return allowed @ np.linalg.inv(np.linalg.cholesky(products)).T


SHAPES = shapes()


def build(factors) -> vi.Mechanism:
    """A cart of 1 kg and a pole of 1 m and 1 kg, with the sum of the shapes times ``factors`` (n,) as force, UNIT."""
    return vi.mechanisms.cart_pole(effort=UNIT * SHAPES @ factors, angle=0.0)


def pole(state) -> np.ndarray:
    """Angle from upright, rad, and its rate, rad/s."""
    x, _, z = state.position[1] - state.position[0]
    return np.array([np.arctan2(-x, z), state.angular_velocity[1, 1]])


@cache  # SLSQP asks for values and derivatives in turn
def at_the_end(*factors) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate (2,) at the end, and their derivatives by the factors (2, n)."""
    given = {"parameters": {"factors": np.array(factors)}, "with_respect_to": ["factors"]}
    g = vi.gradient(build, pole, DURATION, DT, **given)
    return g.value, g["factors"]


def run() -> vi.Trajectory:
    """With the least effort, from a guess that pushes, pulls and pushes."""
    upright = {"type": "eq", "fun": lambda x: at_the_end(*x)[0], "jac": lambda x: at_the_end(*x)[1]}
    guess = SHAPES.T @ (WEIGHTS * np.cos(2 * np.pi * T / DURATION))
    best = scipy.optimize.minimize(lambda x: (x @ x, 2 * x), guess, jac=True, method="SLSQP", constraints=upright).x
    return vi.simulate(build(best), DURATION, DT)


def main(picture=None):
    trajectory = run()
    force, last = trajectory.force["motor"], trajectory[-1]
    angle, rate = abs(pole(last))
    print(f"upright to {angle:.1e} rad and {rate:.1e} rad/s after {DURATION:g} s")
    print(f"the cart is back to {1e3 * abs(last.position[0, 0]):.1f} mm and {abs(last.velocity[0, 0]):.1e} m/s")
    print(
        f"the root mean square of the force is {np.sqrt(WEIGHTS @ force**2):.2f} N, its most {abs(force).max():.1f} N"
    )
    if picture:
        figure = trajectory.plot("mechanism", times=np.linspace(0, DURATION, 9), trace=("pole", (0, 0, -1)))
        figure.savefig(picture, dpi=180)


if __name__ == "__main__":
    main(*sys.argv[1:])
