"""Gradients by every number of every force, below, at and above each kink of its laws, against differences of runs."""

import dataclasses
import warnings

import numpy as np
import pytest
from force_samples import NAMES, SAMPLES, sample_mechanism
from kinks_of_laws import at_kink, kinks_of
from random_mechanisms import random_velocity_state
from run_gradients import objective_of

import varint as vi
from varint.derivatives.numbers import number_of, numbers_in

DT, LENGTH = 2e-3, 0.02
WITHIN = 1e-6  # of a derivative, or of a share of the objective
SHARE = 1e-3
STEPS = (1e-4, 1e-5, 1e-3, 1e-6)  # of differences, as a share of a number's size: of which one has to agree
BESIDE = 2e-3  # of a number's size: below and above a kink
WITH_KINKS = (
    "Cable", "JointStop", "LengthStop", "GroundContact", "SphereContact", "UserContact", "MultiPointCable", "Tendon",
    "Musculotendon",
)  # fmt: skip


def in_maximal_coordinates(mechanism, objective, names, state):
    return vi.gradient(mechanism, objective, LENGTH, DT, with_respect_to=names, state=state)


def end_in_maximal_coordinates(mechanism, state):
    return vi.simulate(mechanism, LENGTH, DT, state=state, tol=1e-13, on_unresolved="ignore")


def in_reduced_coordinates(mechanism, objective, names, state):
    return vi.redmax.gradient(mechanism, objective, LENGTH, DT, with_respect_to=names, state=state)


def end_in_reduced_coordinates(mechanism, state):
    return vi.redmax.simulate(mechanism, LENGTH, DT, state=state, integrator="bdf2")


def slopes(value, step):
    """Differences of a function of a number: to both sides, to the right and to the left."""

    def at(share):
        try:
            return value(share)
        except (vi.MechanismError, vi.ConvergenceError):  # beyond a bound, or a jump on which no step ends
            return np.nan

    here, far, near, back, behind = (at(share * step) for share in (0.0, 1.0, 0.5, -0.5, -1.0))
    return (
        (8.0 * (near - back) - (far - behind)) / (6.0 * step),
        (4.0 * near - far - 3.0 * here) / step,
        (3.0 * here - 4.0 * back + behind) / step,
    )


def single_change(number, slope):
    """A change of a number, of an array of the component that matters most: sides of a kink are those of one."""
    if not number.value.ndim:
        return np.ones(())
    change = np.zeros(number.value.shape)
    change.flat[np.argmax(np.abs(slope))] = 1.0
    return 0.5 * (change + change.T) if number.symmetric else change


def holds(slope, row, least, told, is_input, at):
    """Whether a derivative is that of a run, or, where a kink is told, that of one of its sides, which differ.

    ``at``: whether the law was brought to its kink by another number, to round-off: a side is enough then.
    """
    central, right, left = row
    sides = [each for each in (right, left) if np.isfinite(each)]
    if told and not is_input:
        differ = len(sides) < 2 or not near(right, left, least)
        return differ and any(near(slope, each, least) for each in sides)
    return any(near(slope, each, least) for each in [central, *(sides if told or at or len(sides) < 2 else [])])


def near(one, other, least):
    return abs(one - other) <= WITHIN * max(abs(other), least)


def check(mechanism, force, state, at=None, gradient=in_maximal_coordinates, run_of=end_in_maximal_coordinates):
    """Each number of a force; returns the names of those that are refused. ``at``: see `cases`."""
    objective, refused = objective_of(mechanism, np.random.default_rng(4)), []
    for name in [f"{force.name}.{key}" for key in numbers_in(force)]:
        number = number_of(mechanism, name)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                found = gradient(mechanism, objective, [name], state)
            except vi.VarintError as problem:
                if force.name not in str(problem):
                    raise
                refused.append(name)
                continue
        told = any("a kink at the current value" in str(each.message) for each in warned)
        direction = single_change(number, found[name])

        def value(share, number=number, direction=direction):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = run_of(number.replaced(number.value + share * direction), state)
            return objective(run.state(len(run) - 1))

        slope, least, size = float(np.sum(found[name] * direction)), SHARE * abs(found.value), float(number.size.min())
        case = told, number.series is not None, at not in (None, name)
        assert any(holds(slope, slopes(value, step * size), least, *case) for step in STEPS), (name, slope, case)
    return refused


def cases(mechanism, state):
    """(mechanism, force, name) below, at and above each kink of each force; the number that brought it there, if at."""
    for k in range(len(mechanism.forces)):
        for kink in kinks_of(mechanism, k, state):
            if (found := at_kink(mechanism, k, state, kink)) is None:
                continue
            number, place = found
            for shift in (-1.0, 0.0, 1.0):
                try:
                    changed = number.replaced(np.array(place + shift * BESIDE * float(number.size)))
                except vi.MechanismError:  # beyond a bound
                    continue
                yield changed, changed.forces[k], None if shift else number.name


def moving(mechanism):
    return mechanism, random_velocity_state(np.random.default_rng(2), mechanism, 0.3)


def standing(mechanism):
    still = dataclasses.replace(mechanism, gravity=(0.0, 0.0, 0.0))
    return still, still.state()


@pytest.mark.slow
def test_the_numbers_of_a_cable_at_its_rest_length():
    mechanism, state = standing(vi.mechanisms.double_pendulum())
    cable = vi.Cable("c", "world", "link 2", point_a=(0, 0, 1.0), point_b=(1.0, 0, 0), stiffness=20.0, damping=0.5)
    changed = dataclasses.replace(mechanism, forces=[cable])
    names = [f"c.{key}" for key in ("rest_length", "stiffness")]
    with pytest.warns(vi.KinkWarning, match="a kink at the current value of 'c.rest_length'"):
        found = vi.gradient(changed, lambda s: s.position[1, 2], LENGTH, DT, with_respect_to=names, state=state)
    assert found["c.rest_length"] != 0.0
    assert found["c.stiffness"] == 0.0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("start", [moving, standing])
@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_every_force_beside_its_kinks(name, start):
    mechanism, state = start(sample_mechanism(np.random.default_rng(1), SAMPLES[name]))
    for changed, force, at in cases(mechanism, state):
        check(changed, force, state, at)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", WITH_KINKS)
def test_numbers_beside_kinks_in_reduced_coordinates(name):
    mechanism, state = moving(sample_mechanism(np.random.default_rng(1), SAMPLES[name]))
    for changed, force, at in cases(mechanism, state):
        check(changed, force, state, at, in_reduced_coordinates, end_in_reduced_coordinates)
