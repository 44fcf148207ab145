"""Collocation where rows alone determine the coordinates: impulses of a step without start values."""

import numpy as np
import pytest

import varint as vi


def led(start):
    """Return a double pendulum with both hinges driven, and its state: the second hinge is held."""
    plain = vi.mechanisms.double_pendulum()
    drives = [
        vi.PrescribedMotion("swing", joint="joint 1", position=lambda t: start + t + 2.0 * t * np.sin(t) ** 2),
        vi.PrescribedMotion("hold", joint="joint 2", position=lambda t: 0.5 + 0.0 * t),
    ]
    mechanism = vi.Mechanism("led", plain.bodies, plain.joints, forces=drives)
    return mechanism, mechanism.state(coordinates={"joint 1": start, "joint 2": 0.5}, rates={"joint 1": 1.0})


@pytest.mark.parametrize("order", [4, 6, 8])
def test_the_first_step_of_a_driven_mechanism_works_what_its_energy_gains(order):
    """The increments of the coordinates vanish before the impulses are right, at some of the starts."""
    for start in np.linspace(0.05, 0.6, 12):
        mechanism, state = led(start)
        run = vi.simulate(vi.Problem(mechanism, 0.01, state), vi.Lobatto(0.01, order))
        assert np.ptp(run.energy_balance) < (1e-9 if order == 4 else 1e-12)
        assert run.newton_iterations <= 5
