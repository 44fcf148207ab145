"""Gradients of runs by collocation against differences of whole runs, for tests."""

import dataclasses

import numpy as np
from marched_steps import slope_of
from run_gradients import objective_of

import varint as vi
from varint.derivatives.numbers import differences, number_of, start_of
from varint.derivatives.objective import motion_between

LAST = vi.Recording(every=10**9)
LEAST = 1e-3  # of the objective: derivatives along a number, of its size, that are smaller count as that


def end_of(mechanism, state, duration, dt, order):
    method = vi.Lobatto(dt, order, on_unresolved="ignore")
    return vi.simulate(vi.Problem(mechanism, duration, state), method, LAST).state(-1)


def moved(mechanism, state, share):
    """The state after a ``share`` of a second along its own velocities, if nothing acts."""
    free = dataclasses.replace(mechanism, forces=[], gravity=(0, 0, 0))
    sign = np.sign(share)
    there = vi.State(state.position, state.quat_wxyz, sign * state.velocity, sign * state.angular_velocity)
    if share == 0.0:
        return state
    end = end_of(free, there, abs(share), abs(share), 10)
    return vi.State(end.position, end.quat_wxyz, sign * end.velocity, sign * end.angular_velocity)


def check_start(mechanism, objective, found, state, duration, dt, order, rtol=1e-7, step=2e-4):
    """The derivative by the start, along a motion that the joints allow."""

    def path(share):
        return moved(mechanism, state, share)

    def parts(share):
        there = path(share)
        return np.hstack([motion_between(state, there), there.velocity, there.angular_velocity])

    exact = slope_of(lambda share: objective(end_of(mechanism, path(share), duration, dt, order)), step)
    by = found["start"]
    rates = differences(parts, step).reshape(len(mechanism.bodies), 12)
    terms = np.hstack([by.position, by.rotation, by.velocity, by.angular_velocity]) * rates
    scale = max(np.abs(terms).max(), abs(exact), LEAST * abs(found.value))
    assert abs(terms.sum() - exact) < rtol * scale, (exact, terms.sum())


def check(mechanism, names, rng, duration, dt, order, state=None, rtol=1e-7, start=True):
    """The derivatives by numbers, each along one random change, and by the start."""
    objective = objective_of(mechanism, rng)
    method = vi.Lobatto(dt, order)
    problem = vi.Problem(mechanism, duration, state)
    found = vi.gradient(problem, objective, method, with_respect_to=["start", *names])
    for name in names:
        along = along_dt if name == "dt" else along_number
        exact, terms, scale = along(mechanism, objective, found, name, rng, duration, dt, order, state)
        assert abs(terms.sum() - exact) < rtol * scale, (name, exact, terms.sum())
    if start:
        check_start(mechanism, objective, found, mechanism.state() if state is None else state, duration, dt, order)
    return found


def along_number(mechanism, objective, found, name, rng, duration, dt, order, state):
    """Along one random change of a number: differences of runs, the terms of the gradient, the scale of both."""
    number = number_of(mechanism, name)
    direction = rng.standard_normal(number.value.shape)
    if number.symmetric:
        direction = direction + direction.T
    rounded = name.endswith(".mass") and mechanism.compiled.topology.cluster_of  # loops whose start is closed anew
    step = number.steps.min() * (5 if rounded else 1)

    def value(share):
        changed = number.replaced(number.value + share * direction)
        return objective(end_of(changed, start_of(changed, state), duration, dt, order))

    exact, terms = differences(value, step), np.asarray(found[name]) * direction
    least = LEAST * (1.0 + abs(found.value)) / np.abs(number.size).max()
    return exact, terms, max(np.abs(terms).max(), abs(exact), least)


def along_dt(mechanism, objective, found, name, rng, duration, dt, order, state):
    """As `along_number`, by the size of the steps."""
    steps, begun = round(duration / dt), mechanism.state() if state is None else state

    def value(longer):
        return objective(end_of(mechanism, begun, steps * (dt + longer), dt + longer, order))

    exact, terms = slope_of(value, 2e-3 * dt), np.array(found["dt"])
    return exact, terms, max(abs(exact), LEAST * abs(found.value) / duration)
