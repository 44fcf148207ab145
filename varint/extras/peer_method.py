"""`Peer`: another simulator as a method, which steps the mechanism in a model of its own."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from varint.base.checks import of_type, positive
from varint.base.clock import clock
from varint.base.errors import ArgumentError
from varint.extras.peers.base import BodyMotion, Simulator, parsed
from varint.kinematics.frames import joint_coordinates, nearest_coordinates
from varint.mechanism.mechanism import Mechanism
from varint.methods.stepped import Grid, Marched, SteppedRun
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.state import State
from varint.runs.method import register
from varint.runs.problem import Problem, Recording
from varint.runs.run import Block, Failure, Run
from varint.runs.running import Job

BEYOND = 1e-9  # rad or m past a stop


@register
@dataclass(frozen=True, eq=False)
class Peer(Marched):
    """Another simulator, such as MuJoCo, with a model that is built from the mechanism.

    It steps in compiled code of its own where it has some; the states of all bodies are read off afterwards. Parts
    without a counterpart are refused by name before the first step.

    Parameters
    ----------
    simulator : {"mujoco", "pinocchio", "drake", "exudyn"}
        Or with an integrator behind a colon, as "mujoco:rk4".
    integrator : str, optional
        One of the simulator's, by default its first; docs/compare.md lists them.
    dt : float
        Step, s; by keyword. Only `compare`, whose steps it takes, can do without.

    Raises
    ------
    PeerError
        When the run is prepared: the simulator is not installed, or has no counterpart of a joint or a force.
    """

    simulator: str = ""
    integrator: str | None = None
    dt: float = field(default=None, kw_only=True)  # type: ignore[assignment]  # until a run needs it

    formulation: ClassVar[str] = "peer"
    called: ClassVar[str] = "varint.Peer"
    option: ClassVar[str] = "--peer"

    def __post_init__(self) -> None:
        kind, integrator = parsed(of_type(self.simulator, str, "simulator", ArgumentError), self.integrator)
        object.__setattr__(self, "simulator", kind.name)
        object.__setattr__(self, "integrator", integrator)
        if self.dt is not None:
            object.__setattr__(self, "dt", positive(self.dt, "dt", ArgumentError))

    @classmethod
    def needs_step(cls) -> bool:
        """See `Method`: each run needs one."""
        return True

    @property
    def kind(self) -> type[Simulator]:
        """The class of the simulator."""
        return parsed(self.simulator, None)[0]

    @property
    def title(self) -> str:
        """Simulator and integrator."""
        return f"{self.simulator} {self.integrator}"

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`. Raises ArgumentError without ``dt``."""
        self.with_step(problem)
        return super().prepare(problem, recording)

    def check(self, mechanism: Mechanism) -> None:
        """Raise PeerError if the simulator has no counterpart of a part of ``mechanism``; see `Marched`."""
        self.model(mechanism)

    def described(self) -> dict[str, str]:
        """See `Marched`: the simulator and its version."""
        return {"simulator": f"{self.simulator} {self.kind.version()}"}

    def model(self, mechanism: Mechanism) -> Simulator:
        """Return the model of a mechanism. Raises PeerError where there cannot be one."""
        return self.kind(mechanism, self.dt, str(self.integrator))

    def stepped_run(self, problem: Problem, grid: Grid, every: int, state: State) -> "PeerRun":
        """See `Marched`."""
        return PeerRun(problem.mechanism, self.model(problem.mechanism), grid, every, state)


class PeerRun(SteppedRun):
    """See `varint.runs.run.Run`: a run of a `Simulator`."""

    def __init__(self, mechanism: Mechanism, simulator: Simulator, grid: Grid, every: int, state: State) -> None:
        super().__init__(mechanism, None, grid, every, state)
        self.simulator = simulator
        self.last: dict[str, np.ndarray | None] = {stop.joint: None for stop in simulator.stops}  # their coordinates

    def start(self) -> Block:
        """Record the start."""
        self.simulator.start(self.present)
        return super().start()

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end, the first whose numbers are not finite, or one past a stop."""
        first, count = self.done, min(steps, self.total - self.done)
        began = clock()
        rows = self.simulator.advance(count)
        seconds = clock() - began
        motion = self.simulator.motion(rows)
        finite = np.all([np.isfinite(each).all(axis=tuple(range(1, each.ndim))) for each in motion], axis=0)
        good = len(finite) if finite.all() else int(np.argmin(finite))
        problem = "gave numbers that are not finite" if good < len(finite) else self.simulator.stopped
        states = [self.present, *states_of(BodyMotion(*(each[:good] for each in motion)))]
        reached, name = self._stop_reached(states)
        if reached < len(states):
            good, problem = reached - 1, f"reached '{name}', a stop that {self.simulator.name} does not have"
            states = states[:reached]
        self.present, self.done = states[-1], first + good
        if good < count:
            self.failure = Failure(f"the step at t = {self.time:g} s {problem}", self.time)
        return Block(self._nodes(states, first), seconds)

    def _stop_reached(self, states: list[State]) -> tuple[int, str]:
        """Number of the first of the ``states`` beyond a stop that the simulator does not have, and the stop's name."""
        first, name = len(states), ""
        position, quat = (np.array([getattr(state, part) for state in states]) for part in ("position", "quat_wxyz"))
        coordinates = {name: self._coordinates(name, position, quat) for name in self.last}
        for stop in self.simulator.stops:
            along = coordinates[stop.joint].reshape(len(states), -1)[:, stop.coordinate]
            beyond = np.flatnonzero((along < stop.lower - BEYOND) | (along > stop.upper + BEYOND))
            if len(beyond) and beyond[0] < first:
                first, name = int(beyond[0]), stop.name
        self.last = {name: values[-1] for name, values in coordinates.items()}
        return max(first, 1), name

    def _coordinates(self, name: str, position: np.ndarray, quat: np.ndarray) -> np.ndarray:
        """Return coordinates (n, dof), or (n,), of a joint, with its turns: the first node is the last known one."""
        joint, last = self.mechanism.joint(name), self.last[name]
        q = joint_coordinates(self.mechanism, joint, position, quat)
        return q if last is None else nearest_coordinates(joint, q, q + (last - q[0]))


def states_of(motion: BodyMotion) -> list[State]:
    """Return the states of a motion."""
    quats = quat_from_matrix(motion.rotation)
    return [State(*row) for row in zip(motion.position, quats, motion.velocity, motion.angular_velocity, strict=True)]
