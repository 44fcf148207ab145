"""Steppers of mechanisms with deformable bodies and nets: the steps of runs, to the bit."""

import numpy as np
import pytest
from net_models import hung

import varint as vi

RECORDED = ("position", "quat_wxyz", "velocity", "vertices", "vertex_velocities", "work", "command")


def with_pad():
    """A plate on a soft pad."""
    plate = vi.Body.box("plate", (0.2, 0.1, 0.02), mass=0.2, position=(0, 0, 0.11))
    pad = vi.DeformableBody.box(
        "pad", (0.2, 0.1, 0.1), (2, 1, 2), E=1e4, nu=0.3, density=500.0, position=(0, 0, 0.05), damping=1e-3,
        attach={"world": lambda p: p[:, 2] < 1e-9, "plate": lambda p: p[:, 2] > 0.1 - 1e-9},
    )  # fmt: skip
    slide = vi.Prismatic("slide", "world", "plate", point=(0, 0, 0.11), axis=(0, 0, 1))
    push = vi.Motor("motor", joint="slide", effort=-0.5)
    return vi.Mechanism("pad", [plate], [slide], forces=[pad, push])


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("build", [hung, with_pad])
def test_steps_are_those_of_a_run(build, order):
    mechanism = build()
    run = vi.simulate(mechanism, 0.02, 2e-3, order=order)
    sim = vi.Stepper(mechanism, 2e-3, order=order, every=1)
    assert sim.step(4)
    assert sim.step(6)
    found = sim.trajectory()
    for name in RECORDED:
        assert np.array_equal(found.nodes[name], run.nodes[name]), name
    (name,) = run.vertices
    assert np.array_equal(sim.vertices[name], run.vertices[name][-1])
    assert np.ptp(run.vertices[name], axis=0).max() > 1e-4


@pytest.mark.slow
def test_checkpoints_inputs_and_a_new_start():
    sim = vi.Stepper(hung(), 2e-3)
    sim.step(3)
    saved, before = sim.save(), sim.vertices["cloth"]
    sim.step(5)
    once, state = sim.vertices["cloth"], sim.state
    sim.restore(saved)
    assert np.array_equal(sim.vertices["cloth"], before)
    sim.step(5)
    assert np.array_equal(sim.vertices["cloth"], once)
    assert np.array_equal(sim.state.velocity, state.velocity)
    sim.restore(saved)
    sim.set("motor", 1.0)
    sim.step(5)
    assert sim.coordinates[0] > vi.Stepper(hung(), 2e-3).coordinates[0] + 1e-3
    assert not np.array_equal(sim.state.velocity, state.velocity)
    sim.reset()
    sim.step(3)
    assert np.array_equal(sim.vertices["cloth"], before)


@pytest.mark.slow
def test_steps_in_reduced_coordinates_are_those_of_a_run():
    method = vi.Reduced("sdirk2", dt=2e-3)
    run = vi.simulate(vi.Problem(hung(), 0.01), method)
    sim = vi.Stepper(hung(), method)
    sim.step(5)
    assert np.array_equal(sim.vertices["cloth"], run.vertices["cloth"][-1])
    assert vi.Stepper(vi.mechanisms.cart_pole(), 1e-3).vertices == {}


def test_inputs_are_not_extrapolated():
    with pytest.raises(vi.ArgumentError, match=r"extrapolate=True needs .* or deformable bodies"):
        vi.Stepper(hung(), 2e-3, extrapolate=True)
