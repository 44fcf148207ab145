"""Two links reach for a point by constant torques: ``python examples/reach.py [PICTURE]``.

The task is the one of the adjoint scene of REDMAX's reference implementation: two bars of 10 cm on hinges with springs
and dampers, let go with some speed. Asked are the constant torques of the hinges that bring the tip to a goal after a
second; the objective is half of 100 times the squared distance, in cm, and of 0.01 times the squared torques, in 1e5
g cm^2/s^2. Here the run is in maximal coordinates, of fourth order, and its gradient exact; the reference takes
first-order steps in reduced coordinates, and its objective without torques is 11041.06.
"""

import sys

import numpy as np
import scipy.optimize

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

DURATION, DT = 1.0, 0.01  # s
LENGTH, SCALE = 10.0, 1e5  # cm, g cm^2/s^2: units of the scene
GOAL = np.array([10.0, 0.0, -10.0])  # cm
START, RATES = {"shoulder": np.pi / 2, "elbow": np.pi / 4}, {"shoulder": 1.0, "elbow": 1.0}  # rad, rad/s
FOR_DISTANCE, FOR_TORQUE = 100.0, 0.01
REFERENCE = 11041.058146845271  # the reference's objective without torques


def build(shoulder: float, elbow: float) -> vi.Mechanism:
    """Two bars, along x in the reference, with torques, SCALE g cm^2/s^2."""
    size = (LENGTH, 1.0, 1.0)
    bodies = [
        vi.Body.box("upper", size=size, mass=10.0, position=(LENGTH / 2, 0, 0)),
        vi.Body.box("lower", size=size, mass=10.0, position=(3 * LENGTH / 2, 0, 0)),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("elbow", "upper", "lower", point=(LENGTH, 0, 0), axis=(0, 1, 0)),
    ]
    springs = [
        vi.TorsionSpring(f"{joint} spring", joint=joint, stiffness=1e4, damping=1e4, rest_angle=angle)
        for joint, angle in START.items()
    ]
    motors = [
        vi.Motor(f"{joint} motor", joint=joint, effort=SCALE * torque)
        for joint, torque in (("shoulder", shoulder), ("elbow", elbow))
    ]
    start = {"coordinates": START, "rates": RATES}
    return vi.Mechanism("arm", bodies, joints, gravity=(0, 0, -980), forces=springs + motors, start=start)


def tip(state) -> np.ndarray:
    """(3,), cm."""
    return state.position[1] + rotation_matrix(state.quat_wxyz[1]) @ [LENGTH / 2, 0, 0]


def cost_of_distance(state):
    return 0.5 * FOR_DISTANCE * float(np.sum((tip(state) - GOAL) ** 2))


def value_and_slope(torques):
    """The objective and its gradient by the torques (2,)."""
    given = dict(zip(("shoulder", "elbow"), torques, strict=True))
    g = vi.gradient(
        build, cost_of_distance, DURATION, DT, order=4, parameters=given, with_respect_to=["shoulder", "elbow"]
    )
    slope = np.array([g["shoulder"], g["elbow"]]) + FOR_TORQUE * np.asarray(torques)
    return g.value + 0.5 * FOR_TORQUE * float(np.sum(np.square(torques))), slope


def run() -> scipy.optimize.OptimizeResult:
    """From no torques."""
    return scipy.optimize.minimize(value_and_slope, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-7})


def main(picture=None):
    found = run()
    trajectory = vi.simulate(build(*found.x), DURATION, DT, order=4)
    print(f"without torques the objective is {value_and_slope(np.zeros(2))[0]:.2f}, of the reference {REFERENCE:.2f}")
    print(f"with {found.x[0]:.4f} at the shoulder and {found.x[1]:.4f} at the elbow it is {found.fun:.2e}")
    print(f"the tip is {np.linalg.norm(tip(trajectory[-1]) - GOAL):.1e} cm from its goal, after {found.nfev} runs")
    if picture:
        end = "lower", (2 * LENGTH, 0, 0)
        figure = trajectory.plot("mechanism", times=[0, 0.2, 0.4, DURATION], trace=end)
        figure.axes[0].plot(*GOAL[[0, 2]], "x", color="black", markersize=12, zorder=99)
        figure.axes[0].set(xlabel="x (cm)", ylabel="z (cm)")
        figure.savefig(picture, dpi=180)


if __name__ == "__main__":
    main(*sys.argv[1:])
