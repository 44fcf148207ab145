"""`LearningTask`, the use that an environment makes of a mechanism, and its `Episode`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, call, choice, finite, function_of, known_name, of_type, whole_number
from varint.base.display import Shown
from varint.base.errors import ArgumentError, StateError
from varint.extras.stepper import Stepper
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.method import Variational
from varint.model.state import State
from varint.runs.method import Method

if TYPE_CHECKING:
    from varint.drawing.camera import Camera

Reading = Callable[[Stepper], ArrayLike]
RENDER_MODES = ["rgb_array"]


@dataclass(frozen=True, eq=False)
class LearningTask(Shown):
    """Use that an environment makes of a mechanism; the arguments of `varint.extras.gym.make`, checked.

    Raises ArgumentError.
    """

    mechanism: Mechanism
    reward: Callable[[Stepper], float]
    actions: Mapping[str, tuple[float, float]]
    observations: Reading | None = None
    terminated: Callable[[Stepper], bool] | None = None
    start: Callable[[np.random.Generator], State] | None = None
    dt: float | Method = 0.005
    frame_skip: int = 1
    steps: int | None = None
    render_mode: str | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        of_type(self.mechanism, Mechanism, "mechanism", ArgumentError)
        function_of(self.reward, "reward", ArgumentError)
        for name in ("observations", "terminated", "start"):
            if getattr(self, name) is not None:
                function_of(getattr(self, name), name, ArgumentError)
        whole_number(self.frame_skip, "frame_skip", 1, ArgumentError)
        if self.steps is not None:
            whole_number(self.steps, "steps", 1, ArgumentError)
        if self.every is not None:
            whole_number(self.every, "every", 1, ArgumentError)
        if self.render_mode is not None:
            choice(self.render_mode, RENDER_MODES, "render_mode", ArgumentError)
        of_type(self.actions, Mapping, "actions", ArgumentError)
        if not self.actions:
            raise ArgumentError("actions must name a force at least: actions={'motor': (-10.0, 10.0)}")
        bounds = {
            name: array_of(pair, (2,), f"actions[{name!r}]", ArgumentError) for name, pair in self.actions.items()
        }
        for name, (low, high) in bounds.items():
            if not low < high:
                raise ArgumentError(f"actions[{name!r}] must be a lower and an upper bound, got {low:g} and {high:g}")
        object.__setattr__(self, "bounds", np.array(list(bounds.values())).T.astype(np.float32))

    @property
    def low_and_high(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (m,), twice, of the actions."""
        low, high = vars(self)["bounds"]
        return low, high


def _start_of(task: LearningTask, random: np.random.Generator) -> State | None:
    """Return the state that an episode begins from; None for that of the mechanism."""
    start = task.start
    return None if start is None else call(start, "start, a function that is called as start(random)", random)


def _stepper(task: LearningTask, method: Method) -> Stepper:
    """Return a Stepper before its first episode: at the start of the mechanism, or of the task where stops forbid it.

    Raises StateError.
    """
    try:
        return Stepper(task.mechanism, method, every=task.every)
    except StateError:
        if task.start is None:
            raise
        state = _start_of(task, np.random.default_rng(0))
        return Stepper(task.mechanism, method, state=state, every=task.every)


class Episode:
    """A Stepper that goes through episodes of a task."""

    def __init__(self, task: LearningTask) -> None:
        # an action that jumps looks like energy from nowhere: such steps are no reason to warn
        method = task.dt if isinstance(task.dt, Method) else Variational(dt=task.dt, on_unresolved="ignore")
        self.task, self.sim, self.count = task, _stepper(task, method), 0
        for name in task.actions:
            known_name(name, self.sim.input_names, "there is no input", ArgumentError)
        self._slots = np.array([self.sim.input_names.index(name) for name in task.actions])
        self._low, self._high = (bound.astype(float) for bound in task.low_and_high)
        self._cut = np.zeros_like(self._low)
        self._fills = np.array_equal(self._slots, np.arange(len(self.sim.input_names)))  # all inputs, in their order
        self._size = self.observe().shape
        self._camera: Camera | None = None

    def reset(self, random: np.random.Generator) -> np.ndarray:
        """Begin an episode; return the observation."""
        self.sim.reset(_start_of(self.task, random))
        self.count = 0
        if self._camera is not None:
            self._camera.forget()
        return self.observe()

    def advance(self, action: np.ndarray) -> None:
        """Apply an action (m,), cut to its bounds, over the steps of a frame. Raises ArgumentError: another shape."""
        if getattr(action, "shape", None) != self._low.shape and np.shape(action) != self._low.shape:
            wanted = f"({len(self._low)},), of {', '.join(self.task.actions)}"
            raise ArgumentError(f"an action must be an array {wanted}, got the shape {np.shape(action)}")
        sim, cut = self.sim, self._cut
        np.minimum(np.maximum(action, self._low, out=cut), self._high, out=cut)
        if self._fills:
            sim.inputs[:] = cut
        else:
            sim.inputs[self._slots] = cut
        sim.step(self.task.frame_skip)
        self.count += 1

    def observe(self) -> np.ndarray:
        """Return the observation (n,). Raises ArgumentError for a wrong result of the user's function."""
        observations = self.task.observations
        if observations is None:
            return self.sim.coordinates_and_rates
        value = call(observations, "observations, a function that is called as observations(stepper)", self.sim)
        shape = getattr(self, "_size", (None,))
        return array_of(value, shape, "the observation", ArgumentError).copy()

    @property
    def observation_names(self) -> tuple[str, ...] | None:
        """Names of the numbers of an observation; None where the task has a function of its own for them."""
        if self.task.observations is not None:
            return None
        names = [
            f"{joint}[{k}]" if columns.stop - columns.start > 1 else joint
            for joint, columns in self.sim.columns.items()
            for k in range(columns.stop - columns.start)
        ]
        return (*names, *(f"rate of {name}" for name in names))

    @property
    def frames_per_second(self) -> int:
        """Frame rate of a film with a picture after each action, at the speed of the motion."""
        return max(1, round(1.0 / (vars(self.sim.method)["dt"] * self.task.frame_skip)))

    def picture(self) -> np.ndarray | None:
        """Return a picture (480, 640, 3) of the mechanism in the present state; None without a ``render_mode``."""
        if self.task.render_mode is None:
            return None
        if self._camera is None:
            from varint.drawing.camera import Camera  # imports matplotlib, which learning need not wait for

            self._camera = Camera(self.task.mechanism)
        return self._camera.picture(self.sim.state)

    def judge(self) -> tuple[float, bool, bool]:
        """Return the reward, whether the state or a failed step ends the episode, and whether its length does."""
        sim, task = self.sim, self.task
        reward = call(task.reward, "reward, a function that is called as reward(stepper)", sim)
        ends = task.terminated
        over = sim.failure is not None or (
            ends is not None and bool(call(ends, "terminated, a function that is called as terminated(stepper)", sim))
        )
        return finite(reward, "the reward", ArgumentError), over, task.steps is not None and self.count >= task.steps
