"""Gradients of runs by differences of whole runs, for tests."""

import numpy as np
from marched_steps import slope_of

import varint as vi
from varint.base.errors import MechanismError
from varint.derivatives.numbers import differences, number_of, start_of

LENGTH = 0.05  # s, of most runs
SIZE = 2.0  # times the steps that `vi.gradient` takes: of the differences, the largest


def objective_of(mechanism, rng):
    """A sum of positions, squared, and velocities with random weights."""
    a, b, c = rng.standard_normal((3, len(mechanism.bodies), 3))
    return lambda state: float(np.sum(a * state.position**2 + b * state.velocity + c * state.angular_velocity))


def by_runs(mechanism, objective, name, duration, dt, order=2, state=None, scale=1e-300):
    """`vi.gradient` by differences of runs, to a share of it or of the ``scale``."""
    if name == "dt":
        steps, start = round(duration / dt), mechanism.state() if state is None else state

        def longer(share):
            run = vi.simulate(
                mechanism, steps * (dt + share), dt + share, order=order, state=start, tol=1e-13, on_unresolved="ignore"
            )
            return objective(run.state(len(run) - 1))

        return slope_of(longer, SIZE * 1e-3 * dt, scale)
    number = number_of(mechanism, name)
    found = [
        along(mechanism, objective, number, direction, step, duration, dt, order, state, scale)
        for step, direction in zip(number.steps, number.directions(), strict=True)
    ]
    return np.reshape(found, number.value.shape)


def along(mechanism, objective, number, direction, step, duration, dt, order, state, scale):
    """The derivative along one change of a number."""

    def value(share):
        changed = number.replaced(number.value + share * direction)
        start = start_of(changed, state)
        run = vi.simulate(changed, duration, dt, order=order, state=start, tol=1e-13, on_unresolved="ignore")
        return objective(run.state(len(run) - 1))

    try:
        return slope_of(value, SIZE * step, scale)
    except MechanismError:  # at a bound
        return differences(value, step)


def check_along(mechanism, names, rng, duration, dt, order=2, state=None, rtol=1e-7, share=1e-3):
    """As `check`, by each number along one random change; to a ``share`` of the objective where that is more."""
    objective = objective_of(mechanism, rng)
    found = vi.gradient(mechanism, objective, duration, dt, with_respect_to=names, order=order, state=state)
    for name in names:
        number, least = number_of(mechanism, name), share * abs(found.value)
        direction = rng.standard_normal(number.value.shape)
        if number.symmetric:
            direction = direction + direction.T
        exact = along(mechanism, objective, number, direction, number.steps.min(), duration, dt, order, state, least)
        terms = found[name] * direction
        assert abs(exact - terms.sum()) < rtol * max(np.abs(terms).max(), least), (name, exact, terms.sum())


def check(mechanism, names, rng, duration=LENGTH, dt=2e-3, order=2, state=None, rtol=1e-7):
    objective = objective_of(mechanism, rng)
    found = vi.gradient(mechanism, objective, duration, dt, with_respect_to=names, order=order, state=state)
    for name in names:
        least = 1e-3 * abs(found.value)
        exact = by_runs(mechanism, objective, name, duration, dt, order, state, least)
        scale = max(np.abs(exact).max(), least)
        np.testing.assert_allclose(found[name], exact, rtol=0, atol=rtol * scale, err_msg=name)
    return found
