"""The schemes of fixed steps in reduced coordinates: order, loops, forces, long steps."""

import numpy as np
import pytest
from random_mechanisms import random_tree, random_velocity_state

import varint as vi

ORDERS = {"euler": 1, "bdf1": 1, "bdf2": 2, "sdirk2": 2}
CASES = {
    "double_pendulum": {"joint": "spherical"},
    "four_bar": {},
    "governor": {},  # with springs and dampers
    "three_link_loop": {},
    "tree": {"depth": 2},
}


def errors(mechanism, integrator, exact, T, steps, **start):
    found = []
    for n in steps:
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator, every=n, **start)
        assert run.steps == n
        found.append([np.abs(getattr(run, a)[-1] - getattr(exact, a)[-1]).max() for a in ("position", "velocity")])
    return np.array(found)


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_order(name, integrator):
    mechanism, T = getattr(vi.mechanisms, name)(**CASES[name]), 0.4
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11)
    found = errors(mechanism, integrator, exact, T, (80, 160, 320))
    slopes = -np.polyfit(np.log([80, 160, 320]), np.log(found), 1)[0]
    assert slopes == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.1)


@pytest.mark.parametrize("integrator", ORDERS)
def test_order_on_a_random_tree(rng, integrator):
    mechanism, T = random_tree(rng, 5, floating=True), 0.25
    start = {"state": random_velocity_state(rng, mechanism)}
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11, **start)
    found = errors(mechanism, integrator, exact, T, (80, 160, 320), **start)
    slopes = -np.polyfit(np.log([80, 160, 320]), np.log(found), 1)[0]
    assert slopes == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.15)


@pytest.mark.parametrize("integrator", ORDERS)
def test_work_and_dissipation_balance(integrator):
    mechanism = vi.mechanisms.governor()
    balance = [
        np.abs(vi.redmax.simulate(mechanism, 0.4, dt=dt, integrator=integrator).energy_balance).max()
        for dt in (0.002, 0.001)
    ]
    assert balance[1] < 0.7 * balance[0]


@pytest.mark.parametrize("integrator", ["euler", "bdf1", "bdf2", "sdirk2", "radau"])
def test_stiff_springs_at_long_steps(integrator):
    """A spring with a time constant of microseconds, in steps of 10 ms."""
    spring = vi.TorsionSpring("spring", joint="hinge", stiffness=1e6, damping=1e4)
    body = vi.Body.box("b", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = vi.Mechanism("stiff", [body], [hinge], forces=[spring])
    state = mechanism.state(coordinates={"hinge": 0.01})
    run = vi.redmax.simulate(mechanism, 2.0, dt=0.01, integrator=integrator, state=state, rtol=1e-4)
    assert np.abs(run.coordinates["hinge"][-1]) < 1e-6
    assert run.steps <= 200


def test_no_convergence_is_an_error(monkeypatch):
    monkeypatch.setattr("varint.redmax.implicit.ITERATIONS", 1)
    with pytest.raises(vi.ConvergenceError, match="smaller dt") as caught:
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, dt=0.1, integrator="bdf1")
    assert not caught.value.trajectory.success


def test_needs_the_step():
    with pytest.raises(vi.ArgumentError, match="'bdf2' needs dt="):
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, integrator="bdf2")
