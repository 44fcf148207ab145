"""A four-bar under feedback, and values of its numbers, for rollouts."""

import dataclasses

import numpy as np

import varint as vi

NODES = 21
NAMED = {
    "coupler.mass": 1.1,
    "rocker.mass": 0.7,
    "servo.stiffness": 12.0,
    "servo.damping": 0.4,
    "spring.stiffness": 6.0,
    "motor.effort": np.sin(np.arange(NODES)),
}


def fed_back():
    """A four-bar whose crank follows a target by feedback, with a spring and a motor."""
    four_bar = vi.mechanisms.four_bar()
    forces = [
        vi.JointServo("servo", joint="crank pivot", target=0.5, stiffness=10.0, damping=0.3),
        vi.TorsionSpring("spring", joint="rocker pivot", stiffness=5.0),
        vi.Motor("motor", joint="crank pivot", effort=0.0),
    ]
    return dataclasses.replace(four_bar, forces=forces)
