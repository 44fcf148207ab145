"""A spring from the pointer of a page to a point of a body, as a load of a mechanism that is stepped."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from varint.base.checks import array_of, known_name, of_type
from varint.base.errors import ArgumentError
from varint.extras.stepper import Stepper
from varint.kinematics.frames import with_world
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.run import ReducedRun
from varint.methods.variational.maximal_run import MaximalRun
from varint.model.bounds import bounded
from varint.model.state import State
from varint.results.inputs.at_nodes import Loads
from varint.results.reactions import accelerations_and_reactions
from varint.runs.problem import Problem, Recording
from varint.runs.run import SteeredRun
from varint.runs.running import Job
from varint.step.march.steps import UNRESOLVED

RATE = 10.0  # rad/s, at which the point would swing about the pointer, were it not damped critically
SHARE = 0.15  # rad, that it would turn by in the time over which a force is set
HEAVIEST = 0.1  # of the largest mobility of a point: in directions with less it is taken as this ...
HELD = 0.02  # ... and with less than this no force acts: it would turn with the body into the other directions


class PulledStepper(Stepper):
    """A `Stepper` whose loads on bodies can be set between its steps."""

    def pull(self, wrench: np.ndarray, steps: int) -> None:
        """Let the loads go to ``wrench`` (nb, 6) over the next ``steps``: N, world, and N m, body axes.

        In the order of the mechanism, each at the centre of mass.
        """
        loads = self._steered
        node = round(self.time / vars(self.method)["dt"])
        in_order = np.zeros_like(loads.constant)
        in_order[loads.slot] = wrench
        self._by_hand = bool(wrench.any())
        loads.ramp(node, node + steps, in_order)

    def _ended(self, status: int, n: int) -> bool:
        """Handle the status of steps as `Stepper` does, but for unresolved ones while a load begins or ends by hand."""
        if status == UNRESOLVED and self._by_hand:
            self._bind()
            self.failure = None
            return True
        return super()._ended(status, n)

    def _prepared(self, problem: Problem, recording: Recording) -> tuple[SteeredRun, Job]:
        """Return the run, with all bodies by themselves and loads that can be set, and its job."""
        mechanism = problem.mechanism
        rest = {name: np.zeros(3) for name in mechanism.body_index}
        run, job = super()._prepared(replace(problem, force=rest), recording)
        if isinstance(run, MaximalRun):
            loads = run.loads
        else:
            assert isinstance(run, ReducedRun)
            assert run.equations.inputs is not None
            loads = run.equations.inputs.loads
        loads.ramp(0, 1, np.zeros_like(loads.constant))
        self._steered: Loads = loads
        self._by_hand = False
        return run, replace(job, load=None)


class Pull:
    """A point (3,) of a body, m, body axes, and the place (3,), m, world, to which it is pulled.

    ``end`` (3,), m, world: of the spring, which starts at the point and follows that place, so that no force jumps.
    """

    def __init__(self, mechanism: Mechanism, body: str, point: np.ndarray, to: np.ndarray) -> None:
        self.mechanism, self.body, self.point, self.to = mechanism, body, point, to
        self.end: np.ndarray | None = None

    def goes_on(self, before: "Pull | None") -> None:
        """Take the end of the spring from the pull ``before``, if it is of the same point."""
        if before is not None and before.body == self.body and np.array_equal(before.point, self.point):
            self.end = before.end

    @classmethod
    def asked(cls, mechanism: Mechanism, request: Mapping[str, Any], names: Mapping[str, str]) -> "Pull | None":
        """Return the pull of a request by ``body``, ``point`` and ``to``, or None.

        ``names``: those of the page to those of the mechanism. Raises ArgumentError.
        """
        asked = request.get("pull")
        if asked is None:
            return None
        of_type(asked, dict, "pull", ArgumentError)
        if asked.keys() != {"body", "point", "to"}:
            raise ArgumentError(f"pull must have body, point and to, got {', '.join(map(str, asked)) or 'nothing'}")
        body = names.get(asked["body"], asked["body"]) if isinstance(asked["body"], str) else asked["body"]
        known_name(body, mechanism.body_index, "there is no body", ArgumentError)
        places = [array_of(asked[name], (3,), f"{name} of pull", ArgumentError) for name in ("point", "to")]
        for name, place in zip(("point", "to"), places, strict=True):
            bounded(place, f"{name} of pull", error=ArgumentError)
        return cls(mechanism, body, *places)

    def load(self, state: State, seconds: float) -> np.ndarray:
        """Return the load (nb, 6) of a spring and a damper at ``state``, for forces set each ``seconds``; move ``end``.

        The point moves towards the pointer as fast for a heavy body as for a light one: the force is that of the mass
        which the mechanism has there, in each direction. Raises ArgumentError for a body that cannot move.
        """
        number = self.mechanism.body_index[self.body]
        x, R = with_world(state.position, state.quat_wxyz)
        centre, axes = x[number], R[number]
        rate = min(RATE, SHARE / seconds)
        place = centre + axes @ self.point
        self.end = place if self.end is None else self.end + (self.to - self.end) * rate * seconds
        speed = state.velocity[number] + axes @ np.cross(state.angular_velocity[number], self.point)
        force = self._masses(state, number, axes) @ (rate**2 * (self.end - place) - 2.0 * rate * speed)
        load = np.zeros((len(state.position), 6))
        load[number] = self._wrench(axes, force)
        return load

    def _wrench(self, axes: np.ndarray, force: np.ndarray) -> np.ndarray:
        return np.concatenate([force, np.cross(self.point, axes.T @ force)])

    def _masses(self, state: State, number: int, axes: np.ndarray) -> np.ndarray:
        """Return the mass (3, 3), kg, that a force at the point meets in each direction, with joints but no stops."""
        loads = np.zeros((4, len(state.position), 6))  # none, and 1 N along each axis
        for axis in range(3):
            loads[axis + 1, number] = self._wrench(axes, np.eye(3)[axis])
        x, quat = (np.repeat(array[None], 4, axis=0) for array in (state.position, state.quat_wxyz))
        still = np.zeros_like(x)
        moved = accelerations_and_reactions(self.mechanism, loads, x, quat, still, still)[0][:, number]
        answers = moved[1:] - moved[0]
        mobility = answers[:, :3] + np.cross(answers[:, 3:], self.point) @ axes.T
        values, ways = np.linalg.eigh(0.5 * (mobility + mobility.T))
        if not values[-1] > 1e-9 / self.mechanism.bodies[number].mass:
            raise ArgumentError(f"body '{self.body}' cannot be pulled there: its joints hold it")
        masses = (values > HELD * values[-1]) / np.maximum(values, HEAVIEST * values[-1])
        return (ways * masses) @ ways.T
