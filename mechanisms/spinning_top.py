"""A heavy symmetric top on a ball joint, in steady precession."""

import numpy as np

import varint as vi

MASS, RADIUS, THICKNESS, HEIGHT = 1.0, 0.3, 0.05, 0.2  # kg; m; HEIGHT of the centre of mass above the pivot
SPIN, TILT = 30.0, np.pi / 6


def build(spin: float = SPIN, tilt: float = TILT) -> vi.Mechanism:
    """A disk of 1 kg on a massless stem, leaning from the vertical towards x, its tip at the origin.

    Zero of the coordinates: the pose at the start, leaning by ``tilt``: rotation vectors of "tip" count from there.

    Parameters
    ----------
    spin : float, rad/s
        Angular velocity about its axis at the start, that of the precession included.
    tilt : float, rad
        From the vertical towards x at the start.
    """
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    quat = (np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0)
    top = vi.Body.cylinder("top", RADIUS, THICKNESS, MASS, position=HEIGHT * axis, quat_wxyz=quat)
    precession = steady_precession(spin, tilt)
    turn = (spin - precession * np.cos(tilt)) * axis + np.array([0.0, 0.0, precession])
    tip = vi.Spherical("tip", "world", "top", point=(0, 0, 0))
    return vi.Mechanism("spinning top", [top], [tip], start={"rates": {"tip": turn}})


def steady_precession(spin: float, tilt: float, gravity: float = 9.81) -> float:
    """The slower root Omega (rad/s) of A cos(tilt) Omega^2 - C spin Omega + m g l = 0.

    A, C: moments about the tip, across and along the axis. Raises MechanismError for a top too slow to have one.
    """
    along = MASS * RADIUS**2 / 2
    across = MASS * (3 * RADIUS**2 + THICKNESS**2) / 12 + MASS * HEIGHT**2
    moment = MASS * gravity * HEIGHT
    square = (along * spin) ** 2 - 4 * across * np.cos(tilt) * moment
    if square < 0 or spin == 0:
        raise vi.MechanismError(f"no steady precession of a top that leans {tilt:g} rad and spins at {spin:g} rad/s")
    return 2 * moment / (along * spin + np.copysign(np.sqrt(square), spin))


EXPECTED = {
    "bodies": 1,
    "rows": 3,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 0.004,
    "precession": steady_precession(SPIN, TILT),
    "variants": [{"spin": -30.0, "tilt": 2.0}],
    "impossible": [{"spin": 1.0}],
}
