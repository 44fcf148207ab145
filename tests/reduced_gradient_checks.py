"""Gradients in reduced coordinates against differences of runs, forwards and backwards."""

import numpy as np
import pytest
from force_samples import IN_STEPS, IN_THE_WORLD

import varint as vi
from varint.derivatives.numbers import differences, number_of, start_of
from varint.derivatives.reduced.adjoint import CarriedBack, carry_forward
from varint.derivatives.reduced.gradient import SCHEMES
from varint.derivatives.reduced.records import ReducedSetting
from varint.derivatives.reduced.stage_derivatives import Change
from varint.derivatives.reduced.tape import ReducedTape
from varint.methods.reduced.charts import EXPONENTIAL

DT = 2e-3  # s, of most runs
LENGTH = 10 * DT
TAKEN = [name for name in IN_STEPS if name not in IN_THE_WORLD]
ROUND_OFF = 1e-12  # of the objectives of runs, relative: over a step of differences it is their noise


def objective_of(mechanism, rng):
    """A sum of positions, squared, and velocities with random weights."""
    a, b, c = rng.standard_normal((3, len(mechanism.bodies), 3))
    return lambda state: float(np.sum(a * state.position**2 + b * state.velocity + c * state.angular_velocity))


def value_of_run(mechanism, objective, state, scheme, **given):
    run = vi.redmax.simulate(mechanism, given.pop("duration", LENGTH), dt=DT, integrator=scheme, state=state, **given)
    return objective(run.state(len(run) - 1))


def by_runs(mechanism, objective, name, scheme, state=None, **given):
    """`vi.redmax.gradient` by differences of runs."""
    number, found = number_of(mechanism, name), []
    for step, direction in zip(number.steps, number.directions(), strict=True):

        def value(share, direction=direction):
            changed = number.replaced(number.value + share * direction)
            start = state if isinstance(state, vi.redmax.ReducedState) else start_of(changed, state)
            return value_of_run(changed, objective, start, scheme, **given)

        found.append(differences(value, step))
    return np.reshape(found, number.value.shape)


def check(mechanism, names, rng, scheme, state=None, within=1e-7, **given):
    objective = objective_of(mechanism, rng)
    where = {"scheme": scheme, "state": state}
    found = vi.redmax.gradient(mechanism, objective, LENGTH, DT, with_respect_to=names, **where, **given)
    for name in names:
        exact = by_runs(mechanism, objective, name, **where, **given)
        scale = max(np.abs(exact).max(), 1e-3 * abs(found.value))
        noise = ROUND_OFF * abs(found.value) / number_of(mechanism, name).steps.min()
        np.testing.assert_allclose(found[name], exact, rtol=0, atol=within * scale + noise, err_msg=name)
    return found


# ---------------------------------------------------------------------------------------- forwards and backwards


def agree(mechanism, scheme, state=None, tolerance=1e-12, steps=6, **given):
    """That what is carried forwards and back agrees: by the start, and by changes of all stages."""
    rng = np.random.default_rng(3)
    setting = {
        "force": None,
        "torque": None,
        "baumgarte": 5.0,
        "prescribed": {},
        "chart": EXPONENTIAL,
        "rtol": 1e-8,
    } | given
    first = mechanism.state() if state is None else state
    run = ReducedTape(mechanism, SCHEMES[scheme], first, ReducedSetting(steps, DT, **setting), [0, 2, steps])
    nq, rows, states = len(run.start[0]), run.equations.row_count, run.equations.law_state.size
    start = rng.standard_normal((2, nq))
    # of rows, those that are redundant among them, as the tree's motions change them
    changes = [
        [
            Change(rng.standard_normal(nq), rng.standard_normal(rows), 0.1 * rng.standard_normal(states))
            for _ in step.stages
        ]
        for step in run.steps
    ]
    by_nodes = rng.standard_normal((3, 2 * nq))
    back = CarriedBack(run, by_nodes)
    forward = np.concatenate([np.concatenate(pair) for pair in carry_forward(run, tuple(start), changes)])
    products = [back.by_q * start[0], back.by_rates * start[1]]
    for duals, own in zip(back.duals, changes, strict=True):
        for dual, change in zip(duals, own, strict=True):
            products += [a * b for a, b in zip(dual, change, strict=True)]
    found, size = sum(part.sum() for part in products), sum(np.abs(part).sum() for part in products)
    expected = np.concatenate(by_nodes) * forward
    assert found == pytest.approx(expected.sum(), abs=tolerance * max(size, np.abs(expected).sum()))


IMPLICIT, EXPLICIT = ([name for name, kind in SCHEMES.items() if kind.stiff == stiff] for stiff in (True, False))
BACK = [pytest.param(scheme, marks=[] if scheme == "bdf2" else pytest.mark.slow) for scheme in IMPLICIT]


# ---------------------------------------------------------------------------------------- prescribed motions


def swing(t):
    return 0.3 * np.sin(4.0 * t), 1.2 * np.cos(4.0 * t), -4.8 * np.sin(4.0 * t)


# ---------------------------------------------------------------------------------------- the start


def check_start(mechanism, start, rng, scheme, directions=None, within=1e-7, **given):
    """By coordinates and rates at a ReducedState, along ``directions`` (k, 2, nq), or each alone."""
    objective = objective_of(mechanism, rng)
    names = ["start.q", "start.qdot"]
    found = vi.redmax.gradient(
        mechanism, objective, LENGTH, DT, with_respect_to=names, scheme=scheme, state=start, **given
    )
    n = len(start.q)
    directions = np.eye(2 * n).reshape(-1, 2, n) if directions is None else directions
    expected, slopes = [], []
    for dq, dv in directions:

        def value(share, dq=dq, dv=dv):
            changed = vi.redmax.ReducedState(start.q + share * dq, start.qdot + share * dv)
            return value_of_run(mechanism, objective, changed, scheme, **given)

        expected.append(differences(value, 1e-3))
        slopes.append(found["start.q"] @ dq + found["start.qdot"] @ dv)
    assert slopes == pytest.approx(expected, abs=within * max(np.abs(expected).max(), 1e-3 * abs(found.value)))
    return found
