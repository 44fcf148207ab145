"""Many mechanisms as one environment of Gymnasium; their steps run in threads."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from varint.base.errors import ArgumentError
from varint.extras.gym.environment import info_of, spaces_of
from varint.extras.gym.task import RENDER_MODES, Episode, LearningTask


class MechanismVectorEnv(VectorEnv):
    """See `varint.extras.gym.make_vector`.

    Attributes
    ----------
    steppers : list of Stepper
    observation_names, action_names
        Those of `MechanismEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: LearningTask, count: int, threads: int | None) -> None:
        self._episodes = [Episode(task) for _ in range(count)]
        self.steppers = [episode.sim for episode in self._episodes]
        self.num_envs, first = count, self._episodes[0]
        self.observation_names, self.action_names = first.observation_names, tuple(task.actions)
        self.render_mode = task.render_mode
        self.metadata = self.metadata | {"render_fps": first.frames_per_second}
        self.single_action_space, self.single_observation_space = spaces_of(task, first.observe())
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        workers = min(threads or os.cpu_count() or 1, count)
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None
        self._parts = [range(k, count, workers) for k in range(workers)]
        self._over = np.zeros(count, dtype=bool)
        self._random = [np.random.default_rng() for _ in range(count)]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begin an episode of each; return the observations and an empty dict. ``seed``: of the first, or of each."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is not None:
            seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed
            for k, each in enumerate(seeds):
                if each is not None:
                    self._random[k] = np.random.default_rng(each)
        self._over[:] = False
        pairs = zip(self._episodes, self._random, strict=True)
        return np.array([episode.reset(random) for episode, random in pairs]), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Apply an action (m,) to each; return observations, rewards, which ended, which were cut off, and a dict."""
        if len(actions) != self.num_envs:
            raise ArgumentError(f"actions must be ({self.num_envs}, m), one for each environment, got {len(actions)}")

        def advance(part: range) -> None:
            for k in part:
                if not self._over[k]:
                    self._episodes[k].advance(actions[k])

        if self._pool is None:
            advance(self._parts[0])
        else:
            list(self._pool.map(advance, self._parts))
        rewards, terminated = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        truncated = np.zeros(self.num_envs, dtype=bool)
        info: dict[str, Any] = {}
        for k, episode in enumerate(self._episodes):
            if self._over[k]:
                episode.reset(self._random[k])
            else:
                rewards[k], terminated[k], truncated[k] = episode.judge()
                info = self._add_info(info, info_of(episode), k)
        self._over = terminated | truncated
        return np.array([episode.observe() for episode in self._episodes]), rewards, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture (480, 640, 3) of each with ``render_mode="rgb_array"``, else None."""
        if self.render_mode is None:
            return None
        return tuple(picture for episode in self._episodes if (picture := episode.picture()) is not None)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
