"""A counterweight and a spring for an even torque at Jansen's crank: ``python examples/jansen_torque.py [PICTURE]``.

A leg of Jansen's walking machine is turned through the air, half a turn a second. Asked are the place of a
counterweight on the crank, and stiffness and anchor on the ground of a spring that pulls at the ankle, so that the
driving torque varies least over a turn. A gradient is of the states of a run, which hold no torques. So the crank
carries a heavy flywheel, and nothing drives it: what the leg takes over a step is the inertia of the wheel times the
change of its speed. The mean square of that is least. It is then held against the torque of a drive at constant speed.
"""

import dataclasses
import sys

import numpy as np
import scipy.optimize
from matplotlib.figure import Figure

import varint as vi

RATE, STEPS = np.pi, 100  # rad/s, a turn
TURN = 2 * np.pi / RATE  # s
DT, TIMES = TURN / STEPS, TURN / STEPS * np.arange(STEPS + 1)  # s
FLYWHEEL, COUNTERWEIGHT = 20.0, 1.0  # kg m^2: the crank's speed stays even to a percent; kg
LEG = vi.mechanisms.jansen_leg(rate=RATE)
# x and z of the counterweight, m; the spring's stiffness, 100 N/m, and that times x and z of its anchor, 100 N
GUESS = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
BODY, JOINT = "lower triangle", "ankle"  # what the spring pulls at, and where


def build(numbers) -> vi.Mechanism:
    """The leg with counterweight, flywheel and spring, by its five numbers."""
    x, z, stiffness, *pull = numbers
    anchor = np.array([pull[0], 0.0, pull[1]]) / stiffness
    wheel = vi.Body("wheel", mass=1.0, inertia=np.diag([FLYWHEEL] * 3), position=(0, 0, 0))
    weight = vi.Body.sphere("counterweight", radius=0.03, mass=COUNTERWEIGHT, position=(x, 0, z))
    crank = vi.Body.composite("crank", [LEG.bodies[0], weight, wheel])
    ends = {"point_a": anchor, "point_b": LEG.joint(JOINT).point}
    spring = vi.Spring("spring", "world", BODY, **ends, stiffness=100.0 * stiffness, rest_length=0.0)
    return dataclasses.replace(LEG, bodies=[crank, *LEG.bodies[1:]], forces=[spring])


def torque_of_wheel(states) -> np.ndarray:
    """(STEPS,) mean over each step, N m."""
    return FLYWHEEL / DT * np.diff([state.angular_velocity[0, 1] for state in states])


def unevenness(states) -> float:
    """Mean square of the torque, (N m)^2."""
    return float(np.mean(torque_of_wheel(states) ** 2))


def by_states(states):
    """The gradient of `unevenness`: by the crank's angular velocity at each time."""
    by_speed = -np.diff(2 * FLYWHEEL / DT / STEPS * torque_of_wheel(states), prepend=0.0, append=0.0)
    none, of_crank = np.zeros((len(LEG.bodies), 3)), np.zeros((len(LEG.bodies), 3))
    of_crank[0, 1] = 1.0
    return [(none, none, none, value * of_crank) for value in by_speed]


unevenness.gradient = by_states


def value_and_slope(numbers):
    given = {"parameters": {"numbers": numbers}, "with_respect_to": ["numbers"]}
    g = vi.gradient(build, unevenness, TURN, DT, times=TIMES, **given)
    return g.value, g["numbers"]


def run() -> np.ndarray:
    """The numbers (5,)."""
    bounds = [(None, None)] * 2 + [(0.05, None)] + [(None, None)] * 2
    return scipy.optimize.minimize(value_and_slope, GUESS, jac=True, bounds=bounds).x


def driven(mechanism) -> vi.Trajectory:
    """A turn at constant speed, by the force "drive"."""
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=RATE)
    return vi.simulate(dataclasses.replace(mechanism, forces=[*mechanism.forces, drive]), TURN, DT)


def main(picture=None):
    x, z, stiffness, *pull = numbers = run()
    print(f"a counterweight of {COUNTERWEIGHT:g} kg at {x:.3f} and {z:.3f} m of the crank where the crank is along x;")
    anchor = np.array(pull) / stiffness
    print(f"a spring of {100 * stiffness:.1f} N/m from the {JOINT} to {anchor[0]:.3f} and {anchor[1]:.3f} m")
    turns = {"the leg alone": driven(LEG), "balanced": driven(build(numbers))}
    for name, turn in turns.items():
        torque = turn.force["drive"]
        print(f"{name}: the torque varies by {np.std(torque[1:]):.2f} N m, its most is {abs(torque).max():.1f} N m")
    if picture:
        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "turn of the crank (rad)", "ylabel": "driving torque (N m)"})
        for (name, turn), style in zip(turns.items(), ("k-", "C1--"), strict=True):
            axes.plot(RATE * turn.t, turn.force["drive"], style, label=name)
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
