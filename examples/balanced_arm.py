"""A spring and a geared counterweight that balance an arm: ``python examples/balanced_arm.py [PICTURE]``.

An arm on a hinge turns a counterweight by a pair of wheels, and hangs from a spring without free length, fixed above
the hinge. Asked are the spring's stiffness, where it is fixed sideways, and the radius of the counterweight's wheel, so
that the arm stays where it is put. It is let go at rest in seven poses; its speeds a moment later are to vanish. Least
squares takes their exact gradients, one run a pose. In closed form the wheel is as large as the arm's, the spring is
fixed straight above, and k a b = m g l - M g L: its stiffness, distances of its ends, and the moments of both weights.
"""

import sys
from dataclasses import replace
from functools import cache, partial

import numpy as np
import scipy.optimize
from matplotlib.figure import Figure

import varint as vi

DURATION, DT, GRAVITY = 0.1, 0.01, 9.81  # s, s, m/s^2
POSES = np.linspace(-3.0, 3.0, 7)  # rad, of the arm from upright
ARM, CENTRE, END = 2.0, 0.4, 0.3  # kg, and m from the hinge: to the centre, to where the spring pulls
WEIGHT, LEVER, APART = 1.0, 0.35, 0.3  # kg and m, of the counterweight; m between the hinges
ABOVE, WHEEL = 0.5, 0.15  # m: the spring's other end over the hinge, radius of the arm's wheel
GUESS = {"stiffness": 20.0, "anchor": 0.1, "wheel": 0.13}  # N/m, m, m
EXACT = {"stiffness": (ARM * CENTRE - WEIGHT * LEVER) * GRAVITY / (ABOVE * END), "anchor": 0.0, "wheel": WHEEL}


def build(stiffness, anchor, wheel, pose) -> vi.Mechanism:
    """At rest with the arm at ``pose``, which is the reference; upright the counterweight hangs."""
    along, turned = (np.array([np.sin(angle), 0, np.cos(angle)]) for angle in (pose, -pose * WHEEL / wheel))
    pivot = np.array([APART, 0, 0])
    bodies = [
        vi.Body.rod("arm", (0, 0, 0), 2 * CENTRE * along, mass=ARM, radius=0.02),
        vi.Body.sphere("counterweight", radius=0.05, mass=WEIGHT, position=pivot - LEVER * turned),
    ]
    joints = [
        vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("pivot", "world", "counterweight", point=pivot, axis=(0, 1, 0)),
    ]
    ends = {"point_a": (anchor, 0, ABOVE), "point_b": END * along}
    forces = [
        vi.Spring("spring", "world", "arm", **ends, stiffness=stiffness, rest_length=0.0),
        vi.Gear("gear", joint_a="hinge", joint_b="pivot", radius_a=WHEEL, radius_b=wheel),
    ]
    return vi.Mechanism("balanced arm", bodies, joints, forces=forces)


def speed(state) -> float:
    """Of the counterweight, rad/s."""
    return float(state.angular_velocity[1, 1])


@cache  # least squares asks for values and derivatives in turn
def speeds(*numbers) -> tuple[np.ndarray, np.ndarray]:
    """After DURATION from each of the POSES (n,), and their derivatives by the numbers (n, 3)."""
    given = {"parameters": dict(zip(GUESS, numbers, strict=True)), "with_respect_to": list(GUESS)}
    found = [vi.gradient(partial(build, pose=pose), speed, DURATION, DT, **given) for pose in POSES]
    return np.array([g.value for g in found]), np.array([[g[name] for name in GUESS] for g in found])


def run() -> np.ndarray:
    """Stiffness (N/m), anchor and wheel (m)."""
    return scipy.optimize.least_squares(
        lambda x: speeds(*x)[0], list(GUESS.values()), jac=lambda x: speeds(*x)[1], x_scale=[20.0, 0.1, 0.1]
    ).x


def holding(numbers) -> vi.Trajectory:
    """The arm is turned from the first of the POSES to the last at 1 rad/s, by the force "hold"."""
    arm = build(*numbers, POSES[0])
    hold = vi.PrescribedMotion("hold", joint="hinge", rate=1.0)
    return vi.simulate(replace(arm, forces=[*arm.forces, hold]), np.ptp(POSES), DT)


def main(picture=None):
    numbers = run()
    print(f"{'':12}{'guess':>10}{'found':>12}{'closed form':>14}")
    for name, value in zip(GUESS, numbers, strict=True):
        print(f"{name:12}{GUESS[name]:10.4f}{value:12.6f}{EXACT[name]:14.6f}")
    turned = {"first guess": holding(GUESS.values()), "found": holding(numbers)}
    before, after = (abs(trajectory.force["hold"]).max() for trajectory in turned.values())
    print(f"to hold the arm takes up to {before:.2f} N m before, {after:.1e} N m after")
    if picture:
        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "arm from upright (rad)", "ylabel": "torque to hold it (N m)"})
        for (name, trajectory), style in zip(turned.items(), ("k-", "C1--"), strict=True):
            axes.plot(POSES[0] + trajectory.t, trajectory.force["hold"], style, label=name)
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
