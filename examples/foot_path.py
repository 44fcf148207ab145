"""A Minitaur leg's foot runs round an ellipse by PD at its hips: ``python examples/foot_path.py [PICTURE]``."""

import sys
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

PERIOD, DURATION, DT = 0.5, 1.5, 0.001  # s
CENTRE, HALF = np.array([0.0, -0.2]), np.array([0.06, 0.03])  # m, of the ellipse: x and z from the hips
STIFFNESS, DAMPING = 200.0, 2.0  # N m/rad, N m s/rad
HIPS = "left hip", "right hip"


def path(t):
    """Where the foot is wanted at times (T,): (T, 2), x and z from the hips, m."""
    phase = 2 * np.pi * t / PERIOD
    return CENTRE + HALF * np.stack([np.cos(phase), np.sin(phase)], axis=1)


def foot(trajectory):
    """Where it is: (T, 2)."""
    leg = trajectory.mechanism
    lower = leg.body_index["left lower"]
    arm = np.linalg.norm(leg.joint("toe").point - leg.bodies[lower].position)
    return (trajectory.position[:, lower] + arm * rotation_matrix(trajectory.quat_wxyz[:, lower])[..., 2])[:, [0, 2]]


def run() -> vi.Trajectory:
    """From the path, at the speed wanted."""
    t = DT * np.arange(round(DURATION / DT) + 1)
    angles = vi.mechanisms.module("minitaur_leg").hip_angles(path(t))
    rates = np.gradient(angles, DT, axis=0, edge_order=2)
    # -stiffness (q - target) - damping dq/dt is PD on the angle and the rate wanted
    targets = angles + DAMPING / STIFFNESS * rates
    servos = [
        vi.JointServo(f"{hip} servo", joint=hip, target=target, stiffness=STIFFNESS, damping=DAMPING)
        for hip, target in zip(HIPS, targets.T, strict=True)
    ]
    leg = replace(vi.mechanisms.minitaur_leg(), forces=servos)
    start = {"coordinates": angles[0], "rates": rates[0]}
    state = leg.state(**{what: dict(zip(HIPS, values, strict=True)) for what, values in start.items()})
    return vi.simulate(leg, DURATION, DT, state=state)


def main(picture=None):
    trajectory = run()
    place, wanted = foot(trajectory), path(trajectory.t)
    off = np.linalg.norm(place - wanted, axis=1)
    torque = max(abs(trajectory.force[f"{hip} servo"]).max() for hip in HIPS)
    print(f"the foot keeps to its path to {1e3 * off.max():.2f} mm, with hip torques up to {torque:.2f} N m")
    if picture:
        figure = Figure(figsize=(6, 5), layout="constrained")
        axes = figure.subplots(subplot_kw={"aspect": "equal", "xlabel": "x (m)", "ylabel": "z (m)"})
        axes.plot(*wanted.T, label="wanted")
        axes.plot(*place.T, "--", label="foot")
        axes.legend()
        figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
