"""Excitations of six muscles that track a reaching motion: ``python examples/muscle_tracking.py [PICTURE]``.

An arm of two links in the horizontal plane is to follow a minimum-jerk motion of half a second. Two muscles act on each
joint alone and two on both. Asked are their excitations, straight between knots, for the least sum of squared angle
errors and a small price of the excitations. The gradient of a run has the derivatives by the excitation at every node
at no extra cost, and those by the knots follow by the chain rule. It knows that activations take time to rise and to
fall, so that muscles are excited ahead; `vi.static_optimization` of the same motion has activations at once.
"""

import dataclasses
import sys

import numpy as np
import scipy.optimize
from matplotlib.figure import Figure

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

DURATION, DT, KNOTS = 0.5, 0.005, 9  # s
NODES = np.linspace(0.0, DURATION, round(DURATION / DT) + 1)
TIMES = NODES[2::2]  # of the angles that count
BEGIN, END = np.array([0.5, 1.2]), np.array([1.0, 1.7])  # rad, of shoulder and elbow
JOINTS = ("shoulder", "elbow")
PRICE = 2e-4  # rad^2, of a mean square excitation of one
LEAST = 0.01
# of each muscle the path (body, x, y; m), fibre (m) and strength (N); the tendon is the rest of the path at the start
UPPER, LOWER = 0.3, 0.27  # m
PATHS = {
    "shoulder flexor": ([("world", -0.08, 0.04), ("upper", 0.12, 0.02)], 0.08, 200.0),
    "shoulder extensor": ([("world", -0.04, -0.10), ("upper", 0.12, -0.02)], 0.08, 300.0),
    "elbow flexor": ([("upper", 0.12, 0.015), ("lower", 0.34, 0.02)], 0.12, 60.0),
    "elbow extensor": ([("upper", 0.12, -0.02), ("upper", 0.295, -0.025), ("lower", 0.325, -0.022)], 0.08, 150.0),
    "long flexor": ([("world", -0.07, 0.05), ("upper", 0.08, 0.03), ("lower", 0.34, 0.022)], 0.16, 60.0),
    "long extensor": (
        [("world", -0.03, -0.09), ("upper", 0.08, -0.03), ("upper", 0.295, -0.026), ("lower", 0.325, -0.024)],
        0.12,
        150.0,
    ),
}
DAMPING = 0.3  # N m s, of each joint
MUSCLES = tuple(PATHS)
SHAPE = np.array([np.interp(NODES, np.linspace(0.0, DURATION, KNOTS), unit) for unit in np.eye(KNOTS)])


def wanted(t) -> np.ndarray:
    """(T, 2) angles of the motion with the least jerk, rad."""
    s = np.asarray(t)[:, None] / DURATION
    return BEGIN + (END - BEGIN) * (10 * s**3 - 15 * s**4 + 6 * s**5)


def build() -> vi.Mechanism:
    """The arm along x in the reference configuration; both joints turn about z."""
    elbow = (UPPER, 0, 0)
    bodies = [
        vi.Body.rod("upper", (0, 0, 0), elbow, mass=1.9, radius=0.04),
        vi.Body.rod("lower", elbow, (UPPER + LOWER, 0, 0), mass=1.5, radius=0.03),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("elbow", "upper", "lower", point=elbow, axis=(0, 0, 1)),
    ]
    start = {"coordinates": dict(zip(JOINTS, BEGIN, strict=True))}
    bare = vi.Mechanism("arm", bodies, joints, gravity=(0, 0, 0), start=start)
    forces = []
    for name, (points, fibre, strength) in PATHS.items():
        path = [vi.At(body, (x, y, 0)) for body, x, y in points]
        length = vi.simulate(dataclasses.replace(bare, forces=[vi.Tendon("t", path=path, stiffness=0.0)]), DT, DT)
        slack = float(length.length["t"][0]) - fibre
        numbers = {"max_force": strength, "optimal_length": fibre, "slack_length": slack, "activation_blend": 0.1}
        forces.append(vi.Musculotendon(name, path=path, excitation=LEAST, activation=LEAST, **numbers))
    dampers = [vi.JointDamper(f"{joint} damper", joint=joint, damping=DAMPING) for joint in JOINTS]
    return dataclasses.replace(bare, forces=[*forces, *dampers])


def excited(mechanism, knots) -> vi.Mechanism:
    """With excitations straight between ``knots`` (6, KNOTS)."""
    values = np.reshape(knots, (len(MUSCLES), KNOTS)) @ SHAPE
    muscles = [dataclasses.replace(f, excitation=row) for f, row in zip(mechanism.forces, values, strict=False)]
    return dataclasses.replace(mechanism, forces=[*muscles, *mechanism.forces[len(muscles) :]])


def value_and_slope(knots, mechanism):
    """Sum of squared angle errors, and of excitations at their price, with the derivatives by the knots."""

    def off(states):
        angles = [[mechanism.coordinates(state)[joint] for joint in JOINTS] for state in states]
        return np.array(angles) - wanted(TIMES)

    def missed(states):
        return float(np.sum(off(states) ** 2))

    def by_states(states):
        """The shoulder's angle is that of the upper link, the elbow's the lower one's against it, both about z."""
        about_z = [rotation_matrix(body.quat_wxyz)[2] for body in mechanism.bodies]  # in axes of the bodies
        by_rotation = (2.0 * off(states) @ [[1.0, 0.0], [-1.0, 1.0]])[:, :, None] * about_z
        none = np.zeros((2, 3))
        return [vi.StateGradient(none, each, none, none) for each in by_rotation]

    missed.gradient = by_states
    names = [f"{name}.excitation" for name in MUSCLES]
    g = vi.gradient(excited(mechanism, knots), missed, DURATION, DT, times=TIMES, with_respect_to=names)
    slope = np.array([SHAPE @ g[name] for name in names]).ravel()
    price = PRICE * TIMES.size / KNOTS
    return g.value + price * float(np.sum(knots**2)), slope + 2.0 * price * knots


def run():
    """The mechanism with the excitations found, and scipy's result."""
    mechanism = build()
    found = scipy.optimize.minimize(
        value_and_slope, np.full(len(MUSCLES) * KNOTS, 0.05), (mechanism,), "L-BFGS-B", jac=True,
        bounds=[(LEAST, 1.0)] * (len(MUSCLES) * KNOTS), options={"maxiter": 150},
    )  # fmt: skip
    return excited(mechanism, found.x), found


def main(picture=None):
    mechanism, found = run()
    moved = vi.simulate(mechanism, DURATION, DT)
    angles = np.column_stack([moved.coordinates[joint] for joint in JOINTS])
    off = angles - wanted(NODES)
    rms, most = np.sqrt(np.mean(off**2)), abs(off).max()
    print(f"after {found.nfev} runs the angles are off by {rms:.4f} rad (RMS), by {most:.4f} rad at most")
    motion = dict(zip(JOINTS, wanted(NODES).T, strict=True))
    static = vi.static_optimization(build(), NODES, motion)
    for name in MUSCLES:
        first, then = (float(NODES[np.argmax(a)]) for a in (mechanism.force(name).excitation, static.activation[name]))
        print(f"{name}: excitation is highest at {first:.3f} s, the activation of static optimization at {then:.3f} s")
    if picture:
        figure = Figure(figsize=(6, 5.4), layout="constrained")
        top, bottom = figure.subplots(2, sharex=True)
        for column, (joint, style) in enumerate(zip(JOINTS, ("k-", "k--"), strict=True)):
            top.plot(NODES, angles[:, column], style, label=joint)
            top.plot(TIMES[::5], wanted(TIMES)[::5, column], "o", color="tab:red", markersize=4)
        top.set_ylabel("angle (rad); dots: wanted")
        top.legend(loc="upper left", fontsize="small")
        for number, name in enumerate(MUSCLES):
            bottom.plot(NODES, moved.law_state[name], color=f"C{number}", label=name)
            bottom.plot(NODES, mechanism.force(name).excitation, ":", color=f"C{number}", linewidth=0.8)
        bottom.set(xlabel="time (s)", ylabel="activation; dotted: excitation")
        bottom.legend(fontsize="x-small", ncols=2)
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
