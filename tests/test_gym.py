"""Mechanisms as environments of Gymnasium."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import varint as vi

ACTIONS = {"motor": (-20.0, 20.0)}


def reward(sim):
    return -abs(sim.coordinates[1]) - 0.01 * sim.inputs[0] ** 2


def start(random):
    return vi.mechanisms.cart_pole().state(coordinates={"pivot": random.uniform(-1.0, 1.0)})


def arguments(**others):
    return {"reward": reward, "actions": ACTIONS, "start": start, "dt": 0.01, "frame_skip": 2, "steps": 30} | others


@pytest.fixture
def gymnasium():
    return pytest.importorskip("gymnasium", reason="needs varint-dynamics[gym]")


@pytest.mark.slow
def test_the_checker_passes(gymnasium):
    from gymnasium.utils.env_checker import check_env

    env = vi.gym.make(vi.mechanisms.cart_pole(), **arguments())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(infinity|unwrapped|spec|symmetric and normalized).*")
        check_env(env, skip_render_check=True)


@pytest.mark.slow
def test_an_episode_is_that_of_a_stepper(gymnasium):
    env, sim = vi.gym.make(vi.mechanisms.cart_pole(), **arguments()), vi.Stepper(vi.mechanisms.cart_pole(), 0.01)
    observation, _ = env.reset(seed=3)
    sim.reset(start(np.random.default_rng(3)))
    assert np.array_equal(observation, [*sim.coordinates, *sim.rates])
    for k in range(30):
        action = np.array([25.0 * (-1) ** k], dtype=np.float32)  # beyond the bounds
        observation, gained, terminated, truncated, info = env.step(action)
        sim.set("motor", np.clip(action[0], -20.0, 20.0))
        assert sim.step(2)
        assert np.array_equal(observation, [*sim.coordinates, *sim.rates])
        assert gained == reward(sim)
        assert (terminated, truncated, info) == (False, k == 29, {})
    other, _ = env.reset(seed=3)
    assert np.array_equal(other, env.reset(seed=3)[0])


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_many_are_as_one(gymnasium, threads):
    given = arguments(steps=5, terminated=lambda sim: abs(sim.rates[0]) > 2.0)
    envs = vi.gym.make_vector(vi.mechanisms.cart_pole(), 4, threads=threads, **given)
    singles = [vi.gym.make(vi.mechanisms.cart_pole(), **given) for _ in range(4)]
    observations, _ = envs.reset(seed=7)
    for k, single in enumerate(singles):
        assert np.array_equal(single.reset(seed=7 + k)[0], observations[k])
    over, random = np.zeros(4, dtype=bool), np.random.default_rng(0)
    for _ in range(12):
        actions = random.uniform(-20, 20, (4, 1)).astype(np.float32)
        actions[0] = 20.0
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        for k, single in enumerate(singles):
            expected = (single.reset()[0], 0.0, False, False) if over[k] else single.step(actions[k])[:4]
            assert np.array_equal(observations[k], expected[0])
            assert (rewards[k], terminated[k], truncated[k]) == expected[1:]
        over = terminated | truncated
    assert observations in envs.observation_space
    envs.close()


@pytest.mark.slow
def test_a_step_that_fails_ends_the_episode(gymnasium):
    env = vi.gym.make(
        vi.mechanisms.cart_pole(), **arguments(actions={"motor": (-1e38, 1e38)}, start=None, frame_skip=50)
    )
    env.reset()
    for _ in range(30):
        _, _, terminated, _, info = env.step(np.array([3e38], dtype=np.float32))
        if terminated:
            break
    assert "could not be solved" in info["failure"]


@pytest.mark.slow
def test_observations_of_ones_own(gymnasium):
    env = vi.gym.make(
        vi.mechanisms.cart_pole(), **arguments(observations=lambda sim: [np.cos(sim.coordinates[1]), sim.energy.total])
    )
    assert env.observation_space.shape == (2,)
    assert env.reset(seed=0)[0].shape == (2,)


def test_gymnasium_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(vi.ArgumentError, match=r'needs the package gymnasium: pip install "varint-dynamics\[gym\]"'):
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reward": 1.0}, "reward must be a function"),
        ({"actions": {}}, "actions must name a force"),
        ({"actions": {"motor": (1.0, 1.0)}}, "lower and an upper bound"),
        ({"actions": {"motor": 3.0}}, "actions\\['motor'\\] must be"),
        ({"frame_skip": 0}, "frame_skip must be a whole number from 1"),
        ({"steps": 0}, "steps must be a whole number from 1"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments(**wrong))


@pytest.mark.slow
def test_wrong_names_and_results(gymnasium):
    with pytest.raises(vi.ArgumentError, match=r"there is no input 'moter'.*motor"):
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments(actions={"moter": (-1, 1)}))
    env = vi.gym.make(vi.mechanisms.cart_pole(), **arguments(reward=lambda sim: np.nan))
    env.reset()
    with pytest.raises(vi.ArgumentError, match="the reward must be finite"):
        env.step(np.zeros(1))
    with pytest.raises(vi.ArgumentError, match=r"an action must be an array \(1,\), of motor, got the shape \(2,\)"):
        env.step(np.zeros(2))
    with pytest.raises(vi.ArgumentError, match=r"actions must be \(3, m\), one for each environment, got 2"):
        vi.gym.make_vector(vi.mechanisms.cart_pole(), 3, threads=1, **arguments()).step(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="mistake") as caught:
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments(observations=_mistaken))
    assert "observations(stepper)" in caught.value.__notes__[0]
    linkage = replace(vi.mechanisms.four_bar(), forces=[vi.Motor("motor", joint="crank pivot", effort=0.0)])
    env = vi.gym.make(linkage, **arguments(start=None))
    assert env.reset()[0].shape == env.observation_space.shape


def _mistaken(sim):
    raise ValueError("a mistake")


@pytest.mark.slow
def test_environments_draw_themselves_and_name_their_numbers(gymnasium):
    pytest.importorskip("matplotlib")
    env = vi.gym.make(vi.mechanisms.cart_pole(), **arguments(render_mode="rgb_array"))
    assert env.observation_names == ("track", "pivot", "rate of track", "rate of pivot")
    assert env.action_names == ("motor",)
    assert env.metadata["render_fps"] == 50  # 0.02 s an action
    env.reset(seed=1)
    first = env.render()
    assert (first.shape, first.dtype) == ((480, 640, 3), np.uint8)
    assert first.std() > 1.0  # something is drawn
    assert np.array_equal(env.render(), first)
    for _ in range(5):
        env.step(np.array([20.0], dtype=np.float32))
    assert not np.array_equal(env.render(), first)
    far = env.render()
    assert np.array_equal(far[:, :60], first[:, :60])  # the numbers beside the axes: in the same scale
    assert np.array_equal(far[450:], first[450:])
    assert np.array_equal((env.reset(seed=1), env.render())[1], first)
    assert vi.gym.make(vi.mechanisms.cart_pole(), **arguments()).render() is None
    own = arguments(observations=lambda sim: sim.rates, render_mode="rgb_array")
    many = vi.gym.make_vector(vi.mechanisms.cart_pole(), 2, threads=1, **own)
    assert many.observation_names is None
    assert [picture.shape for picture in many.render()] == [first.shape] * 2
    with pytest.raises(vi.ArgumentError, match="render_mode must be one of rgb_array, got 'human'"):
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments(render_mode="human"))


def test_an_episode_that_is_recorded_is_a_run(gymnasium, tmp_path):
    env = vi.gym.make(vi.mechanisms.cart_pole(), **arguments(every=1, steps=6))
    for _ in range(2):  # the record begins anew with an episode
        env.reset(seed=3)
        for k in range(6):
            observation, *_ = env.step(np.array([5.0 * (-1) ** k], dtype=np.float32))
        episode = env.stepper.trajectory()
        assert np.allclose(episode.t, 0.01 * np.arange(13), rtol=0, atol=1e-12)
        last = np.concatenate(
            [np.ravel(each[name][-1]) for each in (episode.coordinates, episode.rates) for name in env.stepper.columns]
        )
        assert np.allclose(last, observation, rtol=0, atol=1e-12)
    episode.animate(str(tmp_path / "episode.gif"))
    assert (tmp_path / "episode.gif").stat().st_size > 1000
    with pytest.raises(vi.ArgumentError, match="every"):
        vi.gym.make(vi.mechanisms.cart_pole(), **arguments(every=0))
