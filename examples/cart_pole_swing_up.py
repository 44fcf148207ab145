"""A cart-pole swings its pole up by energy, then balances it: ``python examples/cart_pole_swing_up.py [PICTURE]``."""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import solve_continuous_are

import varint as vi

DURATION, DT = 12.0, 0.01  # s
PUMP, RETURN, SLOW = 0.3, 4.0, 2.0  # of the swing-up: on the pole's energy, the cart's place and its speed
NEAR = 0.35  # rad from upright, where balancing takes over


class Controller:
    """Force on the cart, N, of time and state."""

    def __init__(self, mechanism):
        cart, pole = mechanism.bodies
        self.arm = np.linalg.norm(pole.position - cart.position)
        self.mass, self.pole_mass = cart.mass + pole.mass, pole.mass
        self.moment = pole.inertia[1, 1] + pole.mass * self.arm**2  # about the pivot
        self.coupling, self.weight = pole.mass * self.arm, -pole.mass * mechanism.gravity[2] * self.arm
        self.gains = self._regulator()

    def _regulator(self):
        """Gains (4,) on place, angle from upright and their rates that are best for the linear cart-pole."""
        inertia = np.array([[self.mass, -self.coupling], [-self.coupling, self.moment]])
        A, B = np.zeros((4, 4)), np.zeros((4, 1))
        A[:2, 2:] = np.eye(2)
        A[2:, 1] = np.linalg.solve(inertia, [0, self.weight])
        B[2:, 0] = np.linalg.solve(inertia, [1, 0])
        return (B.T @ solve_continuous_are(A, B, np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1)))[0]

    def __call__(self, t, state):
        x, speed = state.position[0, 0], state.velocity[0, 0]
        across, _, up = state.position[1] - state.position[0]
        angle, rate = np.arctan2(across, -up), -state.angular_velocity[1, 1]  # from hanging, x towards z
        from_top = np.remainder(angle, 2 * np.pi) - np.pi
        if abs(from_top) < NEAR:
            return -self.gains @ (x, from_top, speed, rate)
        missing = self.weight * (1 + np.cos(angle)) - 0.5 * self.moment * rate**2  # to stand upright, J
        wanted = -PUMP * missing * np.cos(angle) * rate - RETURN * x - SLOW * speed
        return self._force(wanted, angle, rate)

    def _force(self, acceleration, angle, rate):
        """That gives the cart an acceleration, m/s^2."""
        sin, cos = np.sin(angle), np.cos(angle)
        turning = -(self.coupling * cos * acceleration + self.weight * sin) / self.moment
        return self.mass * acceleration + self.coupling * (cos * turning - sin * rate**2)


def run() -> vi.Trajectory:
    """From near hanging at rest."""
    controller = Controller(vi.mechanisms.cart_pole())
    return vi.simulate(vi.mechanisms.cart_pole(effort=controller, angle=0.1), DURATION, DT)


def from_upright(trajectory):
    """Angle (T,) of the pole from upright, rad."""
    return np.remainder(trajectory.coordinates["pivot"], 2 * np.pi) - np.pi


def main(picture=None):
    trajectory = run()
    angle, x, force = abs(from_upright(trajectory)), trajectory.coordinates["track"], trajectory.force["motor"]
    caught = trajectory.t[np.flatnonzero(angle > NEAR)[-1]]
    print(
        f"caught for good at {caught:.2f} s; after {DURATION:g} s upright to {angle[-1]:.1e} rad, at x = {x[-1]:.1e} m"
    )
    print(f"the cart went {abs(x).max():.2f} m from its place, pushed by up to {abs(force).max():.0f} N")
    if picture:
        figure = Figure(figsize=(8, 5), layout="constrained")
        panels = figure.subplots(3, 1, sharex=True)
        for panel, label, values in zip(
            panels, ("from upright (rad)", "cart (m)", "motor (N)"), (angle, x, force), strict=True
        ):
            panel.plot(trajectory.t, values)
            panel.set_ylabel(label)
        panels[-1].set_xlabel("t (s)")
        figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
