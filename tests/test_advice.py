"""Warnings propose shorter steps where a short run with them resolves the motion, and say so where it does not."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import varint as vi
from varint.results.resolution import find_unresolved
from varint.runs import retrials


def swinging():
    """A double pendulum that starts level, in steps too long for it."""
    return vi.mechanisms.n_pendulum(n=2, angle=np.pi / 2)


def message_of(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trajectory = run()
    return trajectory, " ".join(str(each.message) for each in caught if each.category is vi.UnresolvedWarning)


def test_a_step_that_is_proposed_resolves_the_motion(monkeypatch):
    tried, solve = [], retrials.solve

    def noted(problem, method):
        tried.append((method.dt, solve(problem, method)))
        return tried[-1][1]

    monkeypatch.setattr(retrials, "solve", noted)
    _, message = message_of(lambda: vi.simulate(swinging(), 10.0, 0.1))
    assert "Try dt = " in message
    ((dt, trial),) = tried
    assert dt < 0.1
    assert not trial.unresolved.size
    assert trial.t[-1] < 2.0  # around the first node that was not resolved


@pytest.mark.parametrize("ending", ["unresolved", "failed"])
def test_a_step_that_does_not_help_is_not_proposed(monkeypatch, ending):
    def solve(problem, method):
        if ending == "failed":
            raise vi.ConvergenceError("", time=0.0, body=None, joint=None, trajectory=None)
        return SimpleNamespace(unresolved=np.ones(1))

    monkeypatch.setattr(retrials, "solve", solve)
    _, message = message_of(lambda: vi.simulate(swinging(), 10.0, 0.1))
    assert "does not resolve it either: shorter steps are not the remedy" in message
    assert "Try" not in message


def test_other_motions_are_not_tried():
    """Loads and inputs by the time: a run from a node on is another one."""
    pendulum = swinging()
    load = {pendulum.bodies[0].name: np.zeros((101, 3))}
    run, message = message_of(lambda: vi.simulate(pendulum, 10.0, 0.1, force=load))
    assert "Try dt = " in message
    assert retrials.trial_of(run)(0.01)(float(run.unresolved[0])) is None
    assert find_unresolved(run, 0.1).message in message


def test_a_step_that_fails_proposes_one_that_does_not(monkeypatch):
    """Four iterations are too few for a long step alone."""
    monkeypatch.setattr("varint.methods.reduced.implicit.ITERATIONS", 4)
    with pytest.raises(vi.ConvergenceError, match=r"converges there: take a smaller dt"):
        vi.redmax.simulate(swinging(), 10.0, dt=0.2, integrator="bdf1")


def test_steps_that_fail_say_whether_a_shorter_one_does_not(monkeypatch):
    monkeypatch.setattr("varint.methods.reduced.implicit.ITERATIONS", 0)
    with pytest.raises(vi.ConvergenceError, match=r"nor does it in a step of .*: shorter steps are not"):
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, dt=0.1, integrator="bdf1")
