"""Calls with arguments that there are not, or without those that are needed, say which there are."""

import copy
import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest

import varint as vi

PENDULUM = vi.mechanisms.double_pendulum()
PROBLEM = vi.Problem(PENDULUM, 0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vi.Motor("m", joint="j", torque=3.0), "Motor has no argument 'torque': it takes name, joint,"),
        (lambda: vi.Revolute("r", "a", "b", axis=(0, 1, 0), pivot=(0, 0, 0)), "'pivot', did you mean 'point'?"),
        (lambda: vi.Spring("s", "a", "b", k=1.0), "Spring has no argument 'k': it takes name, body_a"),
        (lambda: vi.Revolute("r", "a", axis=(0, 1, 0)), "Revolute needs body_b="),
        (lambda: vi.Motor("m"), "Motor needs joint=, effort="),
        (lambda: vi.Body("b", 1.0, np.eye(3)), "Body takes without their names only name, got 3 values"),
        (lambda: vi.Body("b", mass=1.0), "Body needs inertia="),
        (lambda: vi.Mechanism("m", [], force=[]), "Mechanism has no argument 'force', did you mean 'forces'?"),
        (lambda: vi.Stepper(PENDULUM), "Stepper needs dt="),
        (lambda: vi.Stepper(PENDULUM, timestep=0.01), "Stepper has no argument 'timestep': it takes mechanism, dt,"),
        (lambda: vi.Variational(0.01, orders=4), "Variational has no argument 'orders', did you mean 'order'?"),
        (lambda: vi.Reduced("bdf2", step=0.01), "Reduced has no argument 'step'"),
        (lambda: vi.Problem(PENDULUM, 1.0, dt=0.01), "Problem has no argument 'dt': it takes mechanism, duration,"),
        (lambda: vi.Recording(stride=2), "Recording has no argument 'stride'"),
        (lambda: vi.simulate(PENDULUM, dt=0.01), "simulate needs duration=, in s"),
        (lambda: vi.simulate(PROBLEM, dt=0.01), "simulate needs a method beside a Problem"),
        (lambda: vi.simulate(PROBLEM), "simulate needs a method beside a Problem"),
        (lambda: vi.simulate(PENDULUM, 1.0, vi.Lobatto(0.01)), "dt is a Lobatto, which simulate takes beside"),
        (lambda: vi.time_reversal(PENDULUM), "time_reversal needs duration="),
        (lambda: vi.simulate(PROBLEM, vi.Peer("mujoco")), "'mujoco euler' needs dt=, the step"),
    ],
)
def test_the_message_names_the_arguments(call, message):
    with pytest.raises(vi.ArgumentError) as caught:
        call()
    assert message in str(caught.value)


def test_calls_of_parts_are_type_errors_as_pythons_own():
    with pytest.raises(TypeError):
        vi.Motor("m", joint="j", torque=3.0)


def test_parts_keep_their_signatures_copies_and_replacements():
    motor = vi.Motor("m", joint="j", effort=2.0)
    assert [*inspect.signature(vi.Motor).parameters] == ["name", "joint", "coordinate", "angles", "effort"]
    for other in (copy.copy(motor), copy.deepcopy(motor), pickle.loads(pickle.dumps(motor))):
        assert other.effort == 2.0
    assert replace(motor, effort=3.0).effort == 3.0
    with pytest.raises(vi.ArgumentError, match="Motor has no argument 'torque'"):
        replace(motor, torque=3.0)
