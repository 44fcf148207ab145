"""The variational integrator tends to the reduced runs with located events at order 2, over scenes with contacts."""

import math

import numpy as np
import pytest
from test_hard_contact_variational import ball, box, disc, moving, rod, turn

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

STEPS = 0.01 / 2.0 ** np.arange(5)


def two_links(lower=None, **contact):
    """A double pendulum that falls on the floor, its knee on a stop."""
    bodies = [vi.Body.box(name, (0.05, 0.05, 1.0), 1.0, position=(0, 0, z)) for name, z in (("a", -0.5), ("b", -1.5))]
    pin = vi.Revolute("pin", "world", "a", point=(0, 0, 0), axis=(0, 1, 0))
    knee = vi.Revolute("knee", "a", "b", point=(0, 0, -1), axis=(0, 1, 0))
    forces = [vi.HardContact("floor", "b", points=[(0, 0, -2)], ground=(0, 0, -1.2), **contact)]
    if lower is not None:
        forces.append(vi.JointStop("stop", joint="knee", lower=lower, restitution=0.5))
    mechanism = vi.Mechanism("two links", bodies, [pin, knee], forces=forces)
    return mechanism, mechanism.state(coordinates={"pin": 0.9, "knee": -2.0})


def bar(name, p, q, mass):
    """A slender bar from p to q."""
    span = np.asarray(q) - p
    inertia = mass * span @ span / 12 * np.diag([1e-4, 1, 1])
    angle = math.atan2(-span[2], span[0])
    return vi.Body(name, mass=mass, inertia=inertia, position=(p + q) / 2, quat_wxyz=turn((0, angle, 0)))


def four_bar(**contact):
    """Crank 0.4 m at 70 degrees, coupler 1.1, rocker 0.7, base 1; a tip of the coupler falls on a plane at 0.1 m."""
    A, D = 0.4 * np.array([math.cos(math.radians(70)), 0, math.sin(math.radians(70))]), np.array([1.0, 0, 0])
    length = np.linalg.norm(D - A)
    along, x = (D - A) / length, (1.1**2 - 0.7**2 + length**2) / (2 * length)
    B = A + x * along + math.sqrt(1.1**2 - x * x) * np.array([-along[2], 0, along[0]])
    bodies = [bar("crank", np.zeros(3), A, 1.0), bar("coupler", A, B, 2.0), bar("rocker", B, D, 1.0)]
    ends = ("world", "crank", (0, 0, 0)), ("crank", "coupler", A), ("coupler", "rocker", B), ("rocker", "world", D)
    joints = [vi.Revolute(f"{a} {b}", a, b, point=point, axis=(0, 1, 0)) for a, b, point in ends]
    along = (B - A) / 1.1
    tip = (A + B) / 2 + 0.2 * along - 0.35 * np.array([-along[2], 0, along[0]])
    floor = vi.HardContact("floor", "coupler", points=[tip], ground=(0, 0, 0.1), **contact)
    mechanism = vi.Mechanism("four-bar", bodies, joints, forces=[floor])
    return mechanism, mechanism.state()


def started(mechanism, velocity, spin=(0, 0, 0)):
    return mechanism, moving(mechanism, velocity, spin)


def tumbling(**contact):
    vector = 0.5 * np.array([3, 1, 2]) / math.sqrt(14)
    mechanism = box((0.8, 0.5, 0.3), (0, 0, 1.2), vector, mass=2.0, **contact)
    return started(mechanism, (-0.2, 0.3, 0), (0.5, -1, 2))


def on_corners(**contact):
    return started(box((0.4, 0.4, 0.4), (0, 0, 0.5), (0.3, 0, 0), **contact), (0, 0.3, 0))


SCENES = {  # start, s, what happens
    "disc on three feet": (disc, 0.3),  # slides and spins
    "rod on its tip": (lambda: rod(2.0, 0.1), 0.7),  # sticks
    "rod that slips": (lambda: rod(0.3, 0.1), 0.7),  # sticks, then slides
    "backspin": (lambda: started(ball(0.05, 0.05, friction=0.3), (1.5, 0, 0), (0, -2 * math.pi, 0)), 0.5),  # then rolls
    "spin across": (lambda: started(ball(0.05, 0.05, friction=0.3), (1.5, 0.2, 0), (5, -2 * math.pi, 3)), 0.15),
    "ball on a slope": (
        lambda: started(ball(0.1, 0.1, friction=0.5, gravity=(3, 0, -9)), (0, 0.5, 0), (-5, 0, 2)),
        0.6,
    ),
    "ball that bounces": (
        lambda: started(ball(0.1, 0.4, friction=0.3, restitution=0.7), (1, 0.5, 0), (0, -15, 3)),
        1.0,
    ),
    "tumbling box": (lambda: tumbling(restitution=0.5, friction=0.4), 0.6),
    "elastic box": (lambda: tumbling(restitution=1.0), 1.0),
    "box on two corners": (lambda: on_corners(friction=0.4), 0.4),
    "double pendulum": (lambda: two_links(friction=0.3, restitution=0.3), 0.8),
    "double pendulum and a stop": (lambda: two_links(lower=-2.05, friction=0.2, restitution=0.3), 0.8),
    "four-bar": (lambda: four_bar(friction=0.3, restitution=0.5), 1.0),
}


def apart(run, reference):
    turned = rotation_matrix(run.quat_wxyz[-1]) - rotation_matrix(reference.quat_wxyz[-1])
    return max(np.abs(run.position[-1] - reference.position[-1]).max(), np.abs(turned).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_second_order_to_the_reduced_run(name):
    """Within 0.15, over steps of 10 ms to 0.6 ms; instants where slips begin or end are met by one step or the next."""
    scene, duration = SCENES[name]
    mechanism, state = scene()
    reference = vi.redmax.simulate(mechanism, duration, state=state, rtol=1e-8 if name == "rod that slips" else 1e-10)
    runs = [vi.simulate(mechanism, duration, dt, state=state, on_unresolved="ignore") for dt in STEPS]
    errors = [apart(run, reference) for run in runs]
    assert np.polyfit(np.log(STEPS), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.15)
    assert errors[-1] < 1e-3
    assert reference.penetration["floor"].max() < 1e-9


@pytest.mark.slow
def test_a_slip_that_turns_round_costs_one_order():
    """Friction jumps there, from one side to the other, within a step: the error is of the size of one slip."""
    mechanism, state = rod(0.3, 0.1)
    reference = vi.redmax.simulate(mechanism, 0.9, state=state, rtol=1e-6)
    errors = [apart(vi.simulate(mechanism, 0.9, dt, state=state), reference) for dt in STEPS]
    assert np.all(np.array(errors) < 0.1 * STEPS)
