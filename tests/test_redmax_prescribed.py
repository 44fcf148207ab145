"""Hybrid dynamics: joints whose motion is a function of time."""

import numpy as np
import pytest
from random_mechanisms import random_closed, random_tree, random_velocity_state

import varint as vi
from varint.redmax.equations import Equations


def swing(rng, dof):
    """A smooth motion of ``dof`` coordinates, with its rates."""
    a, b, w = rng.standard_normal((3, dof))
    return lambda t: (a + b * np.sin(w * t), b * w * np.cos(w * t), -b * w * w * np.sin(w * t))


def test_recursion_is_the_matrix_solution(rng):
    for closed in (False, True):
        for _ in range(5):
            mechanism = random_closed(rng, 8, 1) if closed else random_tree(rng, 8, floating=True)
            tree = Equations(mechanism).tree
            names = [name for name in tree.columns if name in mechanism.joint_index]
            driven = {name: swing(rng, mechanism.joint(name).dof) for name in rng.choice(names, 2, replace=False)}
            equations = Equations(mechanism, prescribed=driven, baumgarte=1.0)
            start = vi.redmax.reduced_state(mechanism, random_velocity_state(rng, mechanism))
            found = equations.acceleration(0.3, start.q, start.qdot)
            size = np.abs(found).max()
            assert found == pytest.approx(
                equations.acceleration_by_matrices(0.3, start.q, start.qdot), abs=1e-10 * size
            )
            for name, motion in driven.items():
                assert found[tree.columns[name]] == pytest.approx(motion(0.3)[2])


def test_a_run_drives_itself_as_it_was_driven():
    """The efforts that a prescribed motion takes, given to a motor, bring the same motion about."""
    mechanism = vi.mechanisms.double_pendulum()
    name = mechanism.joints[0].name

    def motion(t):
        return 0.5 * np.sin(3 * t), 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)

    T, n = 1.0, 400
    driven = vi.redmax.simulate(mechanism, T, dt=T / n, prescribed={name: motion}, rtol=1e-11)
    assert driven.coordinates[name] == pytest.approx(0.5 * np.sin(3 * driven.t), abs=1e-14)
    motor = vi.Motor("motor", joint=name, effort=driven.driving[name][:, 0])
    free = vi.Mechanism("free", mechanism.bodies, mechanism.joints, forces=[motor])
    start = vi.redmax.ReducedState(driven.q[0], driven.qdot[0])
    run = vi.redmax.simulate(free, T, dt=T / n, state=start, rtol=1e-10)
    assert run.position[-1] == pytest.approx(driven.position[-1], abs=1e-4)  # efforts are linear in between
    assert np.abs(driven.energy_balance).max() < 1e-4 * driven.kinetic.max()


def test_the_crank_of_a_loop():
    mechanism = vi.mechanisms.slider_crank()
    state = mechanism.state()
    reduced = vi.redmax.reduced_state(mechanism, state)
    name = next(name for name in vi.redmax.coordinates(mechanism) if "world" in vars(mechanism.joint(name)).values())
    first = vi.redmax.coordinates(mechanism)[name].start
    angle, rate = reduced.q[first], reduced.qdot[first]
    run = vi.redmax.simulate(mechanism, 0.2, dt=0.001, prescribed={name: lambda t: (angle + rate * t, rate, 0.0)})
    assert run.drift.max() < 1e-7
    assert run.coordinates[name][-1] == pytest.approx(angle + 0.2 * rate)
    assert np.abs(run.energy_balance).max() < 1e-4 * run.kinetic.max()


def test_wrong_requests_are_refused():
    mechanism = vi.mechanisms.four_bar()
    columns = vi.redmax.coordinates(mechanism)
    name, cut = next(iter(columns)), next(j.name for j in mechanism.joints if j.name not in columns)
    for prescribed, message in (
        ({"nothing": np.sin}, "no joint 'nothing'"),
        ({cut: np.sin}, "closes a loop"),
        ({name: 3.0}, "must be a function of time"),
        ({name: np.sin}, "must be \\(q, qdot, qddot\\)"),
        ([name], "must be a dict"),
    ):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.redmax.simulate(mechanism, 1.0, prescribed=prescribed)
    with pytest.raises(vi.ArgumentError, match="knows no prescribed joints"):
        vi.redmax.simulate(mechanism, 1.0, dt=0.1, integrator="bdf1", prescribed={name: np.sin})
