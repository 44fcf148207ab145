"""`make` and `make_vector`: environments of a mechanism."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from varint.base.checks import whole_number
from varint.base.errors import ArgumentError
from varint.extras.gym.task import LearningTask, Reading
from varint.extras.stepper import Stepper
from varint.files.runs.tables import optional
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.runs.method import Method


def make(
    mechanism: Mechanism,
    *,
    reward: Callable[[Stepper], float],
    actions: Mapping[str, tuple[float, float]],
    observations: Reading | None = None,
    terminated: Callable[[Stepper], bool] | None = None,
    start: Callable[[np.random.Generator], State] | None = None,
    dt: float | Method = 0.005,
    frame_skip: int = 1,
    steps: int | None = None,
    render_mode: str | None = None,
    every: int | None = None,
) -> Any:
    """Make a ``gymnasium.Env`` of a mechanism.

    Its ``observation_names`` and ``action_names`` name the numbers.

    Parameters
    ----------
    mechanism : Mechanism
    reward : function
        ``reward(stepper)`` after an action: a number. ``stepper`` is the `Stepper`, with the action in its inputs.
    actions : dict
        Name of a force whose input is a number to its bounds (low, high). Actions are (m,) in this order, N or N m or
        as the forces say, and are cut to the bounds.
    observations : function, optional
        ``observations(stepper)`` returns (n,). Joint coordinates and their rates where not given.
    terminated : function, optional
        ``terminated(stepper)`` returns whether the episode ends in this state. A step that could not be solved ends it
        as well; ``info["failure"]`` has the message.
    start : function, optional
        ``start(random)`` returns the initial `State` of an episode, by a generator of numpy that ``reset(seed=)``
        seeds. ``mechanism.state()`` where not given.
    dt : float, Variational or Reduced
        Step, s, or a method, see `Stepper`. A number gives no UnresolvedWarning, which actions that jump would cause.
    frame_skip : int
        Steps over which an action is held.
    steps : int, optional
        Actions of an episode, after which it is truncated.
    render_mode : {"rgb_array"}, optional
        ``render()`` then returns a picture of the mechanism, (480, 640, 3) whole numbers from 0 to 255.
    every : int, optional
        Record each ``every``-th step of an episode: ``env.stepper.trajectory()`` is the episode so far, as a run.

    Raises
    ------
    ArgumentError
        Gymnasium is missing (the extra ``gym``), or a wrong argument.
    """
    rest = observations, terminated, start, dt, frame_skip, steps, render_mode, every
    task = LearningTask(mechanism, reward, actions, *rest)
    optional("gymnasium", "gym")
    from varint.extras.gym.environment import MechanismEnv

    return MechanismEnv(task)


def make_vector(mechanism: Mechanism, count: int, *, threads: int | None = None, **arguments: Any) -> Any:
    """Make a ``gymnasium.vector.VectorEnv`` of ``count`` environments, whose steps run in threads.

    Parameters
    ----------
    mechanism : Mechanism
    count : int
    threads : int, optional
        One a core where not given, but no more than environments. The functions of the task run in one thread.
    arguments
        See `make`.

    An environment whose episode has ended begins a new one at the next step, whose reward is zero
    (``AutoresetMode.NEXT_STEP``).

    Raises ArgumentError as `make` does.
    """
    task = LearningTask(mechanism, **arguments)
    whole_number(count, "count", 1, ArgumentError)
    if threads is not None:
        whole_number(threads, "threads", 1, ArgumentError)
    optional("gymnasium", "gym")
    from varint.extras.gym.vector import MechanismVectorEnv

    return MechanismVectorEnv(task, count, threads)
