"""One mechanism as an environment of Gymnasium, which has to be installed."""

from typing import Any

import gymnasium
import numpy as np

from varint.extras.gym.task import RENDER_MODES, Episode, LearningTask


class MechanismEnv(gymnasium.Env):
    """See `varint.extras.gym.make`.

    Attributes
    ----------
    stepper : Stepper
    observation_names : tuple of str, or None
        Of each number of an observation; None with ``observations=``.
    action_names : tuple of str
        The forces that each number of an action commands.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}

    def __init__(self, task: LearningTask) -> None:
        self._episode = Episode(task)
        self.stepper = self._episode.sim
        self.action_space, self.observation_space = spaces_of(task, self._episode.observe())
        self.observation_names, self.action_names = self._episode.observation_names, tuple(task.actions)
        self.render_mode = task.render_mode
        self.metadata = self.metadata | {"render_fps": self._episode.frames_per_second}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Begin an episode; return the observation and an empty dict."""
        super().reset(seed=seed)
        return self._episode.reset(self.np_random), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Apply an action; return observation, reward, whether the episode ended or was cut off, and a dict."""
        episode = self._episode
        episode.advance(action)
        reward, terminated, truncated = episode.judge()
        return episode.observe(), reward, terminated, truncated, info_of(episode)

    def render(self) -> np.ndarray | None:
        """Return a picture (480, 640, 3) of the present state with ``render_mode="rgb_array"``, else None."""
        return self._episode.picture()


def spaces_of(task: LearningTask, observation: np.ndarray) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """Return the spaces of the actions and of the observations."""
    low, high = task.low_and_high
    actions = gymnasium.spaces.Box(low, high, dtype=np.float32)
    return actions, gymnasium.spaces.Box(-np.inf, np.inf, observation.shape, dtype=np.float64)


def info_of(episode: Episode) -> dict[str, Any]:
    """Return the message of a step that failed, as "failure"."""
    failure = episode.sim.failure
    return {} if failure is None else {"failure": failure.message}
