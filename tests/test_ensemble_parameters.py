"""The members of ensembles: grids, lists and draws; arguments that are wrong."""

import json
import sys

import numpy as np
import pytest
from ensemble_members import TIMES, figures, pendulum
from in_process import here

import varint as vi
from varint.studies.ensembles.member_parameters import members_of

__all__ = ["here"]  # a fixture


def test_a_grid_is_the_product_with_the_last_name_fastest():
    members = members_of({"a": [1, 2], "b": np.linspace(0.0, 1.0, 3), "c": "x"})
    assert members == [{"a": a, "b": b, "c": "x"} for a in (1, 2) for b in (0.0, 0.5, 1.0)]
    assert json.loads(json.dumps(members)) == members
    assert members_of([{"a": np.array([1.0, 2.0])}]) == [{"a": [1.0, 2.0]}]


@pytest.mark.slow
def test_draws_keep_to_their_seed_their_name_and_their_place():
    from scipy import stats  # imported in half a second

    wanted = {"a": ("uniform", -1.0, 2.0), "b": ("normal", 3.0, 0.5), "c": stats.poisson(4.0)}
    draws = vi.random_draws(2000, wanted, seed=5)
    columns = {name: np.array([draw[name] for draw in draws]) for name in wanted}
    assert vi.random_draws(2000, wanted, seed=5) == draws
    assert vi.random_draws(10, {"c": wanted["c"], "a": wanted["a"]}, seed=5) == [
        {"c": draw["c"], "a": draw["a"]} for draw in draws[:10]
    ]
    assert vi.random_draws(10, {"a": wanted["a"]}, seed=6) != [{"a": draw["a"]} for draw in draws[:10]]
    assert abs(np.corrcoef(columns["a"], columns["b"])[0, 1]) < 0.1
    for name, expected in (("a", stats.uniform(-1, 3)), ("b", stats.norm(3, 0.5))):
        assert stats.kstest(columns[name], expected.cdf).pvalue > 1e-3
    assert columns["a"].min() >= -1.0
    assert all(isinstance(draw["c"], int) for draw in draws)
    assert columns["c"].mean() == pytest.approx(4.0, abs=0.2)
    logs = np.log([draw["d"] for draw in vi.random_draws(2000, {"d": ("loguniform", 0.1, 10.0)})])
    assert stats.kstest(logs, stats.uniform(np.log(0.1), np.log(100)).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": ("uniform", 2, 1)}, "must rise"),
        ({"a": ("normal", 2, 0)}, "standard deviation .* positive"),
        ({"a": ("unifrom", 2, 1)}, "did you mean 'uniform'"),
        ({"a": ("uniform", 2)}, "is \\('uniform', least, largest\\)"),
        ({"a": 3.0}, "or one of scipy.stats"),
        ({}, "a mapping of names"),
    ],
)
def test_wrong_distributions(given, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.random_draws(100, given)


def test_distributions_of_scipy():
    from scipy import stats

    assert len(vi.random_draws(3, {"a": stats.norm})) == 3  # without parameters it is the standard normal
    with pytest.raises(vi.ArgumentError, match="not finite numbers"):
        vi.random_draws(100, {"a": stats.norm(loc=np.nan)})


DEEP: list = []
DEEP.append(DEEP)
WRONG = [
    ({"parameters": {"angel": [1.0]}}, "no parameter 'angel', did you mean 'angle'"),
    ({"parameters": {"coordinates.joint 3": [1.0]}}, "no joint 'joint 3', did you mean 'joint"),
    ({"parameters": {"coordinats.joint 1": [1.0]}}, "no parameter 'coordinats.joint 1'"),
    ({"parameters": {"coordinates": [{"joint 1": 1.0}]}}, "'coordinates.NAME'"),
    ({"parameters": {"rtol": [1e-6]}}, "it is of the other formulation"),
    ({"parameters": {"dt": [0.1]}}, "'dt' is given for all members and as a parameter"),
    ({"parameters": {"status": [1.0]}}, "reserved column name"),
    ({"parameters": {"angle": []}}, "give at least one"),
    ({"parameters": {"angle": [np.nan]}}, "finite numbers"),
    ({"parameters": {"angle": [DEEP]}}, "which a file can hold"),
    ({"parameters": {"angle": [pendulum]}}, "which a file can hold"),
    ({"parameters": {"a": range(10_000), "b": range(10_000)}}, "more than 10000000 members"),
    ({"parameters": []}, "has no member"),
    ({"parameters": [{"angle": 1.0}, 2.0]}, "parameters of member 1 must be a mapping"),
    ({"parameters": 1.0}, "parameters must be a list"),
    ({"dt": None}, "dt is missing"),
    ({"dt": -1.0}, "dt must be positive"),
    ({"duration": 0.001}, "shorter than one step"),
    ({"order": 3}, "order must be one of"),
    ({"scheme": "ratle"}, "did you mean 'rattle'"),
    ({"tol": 0.0}, "tol must be positive"),
    ({"every": 0}, "every must be a whole number from 1"),
    ({"every": 3, "diagnostics_every": 2}, "every must be a multiple of diagnostics_every"),
    ({"adaptive": -1.0}, "adaptive"),
    ({"odrer": 2}, "no argument 'odrer' here, did you mean 'order'"),
    ({"rtol": 1e-6}, "formulation='reduced'"),
    ({"state": None}, "build may return"),
    ({"formulation": "minimal"}, "formulation must be one of"),
    ({"formulation": "reduced", "integrator": "rk"}, "integrator must be one of"),
    ({"build": "double_pendulm"}, "did you mean 'double_pendulum'"),
    ({"build": vi.mechanisms.double_pendulum()}, "a function that returns a Mechanism"),
    ({"measure": 3}, "measure must be a function"),
    ({"progress": 3}, "progress must be a function"),
    ({"workers": 0}, "workers must be a whole number from 1"),
    ({"scheduler": "localhost:8786"}, "an address as 'tcp://host:8786', got 'localhost:8786'"),
    ({"workers": 2, "scheduler": "tcp://x:1"}, "leave out workers or scheduler"),
    ({"resume": True}, "resume needs output="),
    ({"output": "x", "resume": True, "overwrite": True}, "give one of them"),
    ({"on_unresolved": "tell"}, "on_unresolved must be one of"),
    ({"measure": lambda trajectory, file=sys.__stderr__: {file: 1}}, "cannot be sent to other processes"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_is_wrong_is_told_before_the_first_member(wrong, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = {"build": "double_pendulum", "parameters": {"angle": [1.0]}} | TIMES | wrong
    with pytest.raises(vi.ArgumentError, match=message):
        vi.ensemble(**arguments)
    assert not list(tmp_path.iterdir())


def test_a_name_of_build_and_of_the_run():
    with pytest.raises(vi.ArgumentError, match="'order' is one of build and an argument of the run"):
        vi.ensemble(lambda order: pendulum(), {"order": [1]}, **TIMES)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (vi.Variational(0.01, order=4, on_unresolved="ignore"), {"dt": 0.01, "order": 4, "on_unresolved": "ignore"}),
        (vi.Reduced("bdf2", dt=0.01), {"dt": 0.01, "formulation": "reduced", "integrator": "bdf2"}),
    ],
)
def test_a_method_takes_the_place_of_its_arguments(method, options, here):
    grid = {"angle": [0.5, 1.0]}
    by_method, by_names = (
        vi.ensemble(pendulum, grid, 0.1, method, every=2),
        vi.ensemble(pendulum, grid, 0.1, every=2, **options),
    )
    assert figures(by_method) == figures(by_names)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (vi.Variational(0.01), {"order": 4}, "give 'order' to the method, not to ensemble"),
        (vi.Variational(0.01), {"formulation": "reduced"}, "formulation='reduced' is not that of the method"),
        (vi.Variational(energy_error=1e-3), {}, "ensemble does not support 'energy_error' of a method"),
        (vi.Variational(), {}, "dt is missing"),
        (vi.Variational(0.01, on_unresolved="substep"), {}, "on_unresolved must be"),
    ],
)
def test_what_an_ensemble_does_not_take_of_a_method(method, options, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.ensemble(pendulum, {"angle": [0.5]}, 0.1, method, **options)
