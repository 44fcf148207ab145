"""The examples that learn do learn. They need PyTorch, and one of them stable-baselines3."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def example(monkeypatch):
    """Import one of the examples, on one core."""
    torch = pytest.importorskip("torch", reason="needs varint-dynamics[learn]")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def imported(name, needs):
        pytest.importorskip(needs, reason="needs varint-dynamics[learn]")
        return importlib.import_module(name)

    yield imported
    torch.set_num_threads(threads)
    for name in ("learn_to_reach", "learn_swing_up"):
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_arm_learns_to_reach(example):
    """A tenth of what random torques miss goals by that it has never had."""
    reach = example("learn_to_reach", "torch")
    torch = sys.modules["torch"]
    goals, random = reach.random_goals(20, seed=10**6), np.random.default_rng(0)
    ends = [reach.tip(reach.ROLLOUT(reach.efforts(torch.tensor(random.normal(size=2 * reach.KNOTS))))) for _ in goals]
    missed = torch.linalg.norm(torch.stack(ends) - goals, dim=1).mean()
    policy = reach.learn()
    with torch.no_grad():
        assert reach.distances(policy, goals).mean() < 0.1 * missed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_linkage_learns_to_swing_up(example):
    """Less than half of what random torques lose, and the linkage is up at the end."""
    swing = example("learn_swing_up", "stable_baselines3")
    random = np.random.default_rng(0)
    by_chance = swing.returns(lambda _: random.uniform(-swing.TORQUE, swing.TORQUE, 1)).mean()
    learner = swing.learn()
    assert swing.returns(lambda observation: learner.predict(observation, deterministic=True)[0]).mean() > by_chance / 2
