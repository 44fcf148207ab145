"""An integrator of one's own beside those of varint: ``python examples/own_integrator.py [PICTURE]``."""

import sys

import numpy as np

import varint as vi

DURATION, DT = 2.0, (0.02, 0.01, 0.005)  # s
MECH = vi.mechanisms.double_pendulum()
EQUATIONS = vi.redmax.EquationsOfMotion(MECH)  # M(q) ddq = force(t, q, dq), in the coordinates of the joints


def heun(state: vi.State, dt: float) -> vi.State:
    """A step of Heun's method, of order 2: the mean of the rates here and where Euler's step leads."""
    y = np.concatenate(EQUATIONS.coordinates(state))
    here = rates(y)
    there = rates(y + dt * here)
    return EQUATIONS.state(*np.split(y + 0.5 * dt * (here + there), 2))


def verlet(state: vi.State, dt: float) -> vi.State:
    """A step of a velocity Verlet: as here the accelerations depend on the rates, it is of order 1 in these."""
    q, qdot = EQUATIONS.coordinates(state)
    half = qdot + 0.5 * dt * EQUATIONS.acceleration(0.0, q, qdot)
    q = q + dt * half
    return EQUATIONS.state(q, half + 0.5 * dt * EQUATIONS.acceleration(0.0, q, half))


def rates(y: np.ndarray) -> np.ndarray:
    """Rates (2 nq,) of coordinates and rates (2 nq,)."""
    q, qdot = np.split(y, 2)
    return np.concatenate([qdot, EQUATIONS.acceleration(0.0, q, qdot)])


def run() -> "vi.Comparison":
    return vi.compare(MECH, DURATION, DT, order=(2, 4), integrators=["dop853", heun, verlet])


def main(picture=None):
    comparison = run()
    print(comparison)
    if picture:
        comparison.plot(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
