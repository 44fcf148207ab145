"""A mechanism that a page steps: each request says up to which time, with which inputs, from which coordinates."""

import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

import numpy as np

from varint.base.checks import finite, of_type, whole_number
from varint.base.errors import ArgumentError, UnresolvedError, VarintError
from varint.base.printable import printable
from varint.extras.live.live_controls import coordinate_sliders, input_sliders, moved_state
from varint.extras.live.pull import Pull, PulledStepper
from varint.kinematics.frames import joint_coordinates
from varint.methods.reduced.states import ReducedState
from varint.model.bounds import LARGEST_MOTION, bounded
from varint.model.state import State
from varint.results.record import ChosenNodes
from varint.results.recorded_motion import RecordedMotion
from varint.runs.trajectory import Trajectory
from varint.views.page import page_data, page_text
from varint.views.web_frames import frames_data

BATCH, ANSWER = 100, 10_000_000  # frames, and bytes of their nodes, in an answer
BUDGET = 0.15  # s of stepping for an answer
ROOM = 500_000_000  # bytes of recorded nodes, which are in memory once


class LiveSession:
    """A stepper behind a page: one request at a time changes it.

    ``epoch`` counts the starts: frames of another epoch belong to another run.
    """

    def __init__(
        self, stepper: PulledStepper, every: int, start: State | ReducedState | None, trace: object, plane: str | None
    ) -> None:
        """Begin a session of a ``stepper`` that records each ``every``-th node, and make its page.

        Raises ArgumentError for a wrong ``trace`` or ``plane``.
        """
        self.stepper, self.every, self.epoch = stepper, every, 0
        self._start, self._lock = start, threading.Lock()
        self._pulled: Pull | None = None  # in the last step
        self._dt = vars(stepper.method)["dt"]
        begun = stepper.trajectory()
        width = sum(begun.nodes[name].nbytes for name in begun.nodes)  # of one node
        self._most, self._batch = max(2, ROOM // width), max(1, min(BATCH, ANSWER // width))
        self._last: tuple[int, Mapping[str, np.ndarray]] | None = None
        mechanism = stepper.mechanism
        names = [*mechanism.body_index, *mechanism.joint_index, *mechanism.force_index]
        pairs = {printable(name): name for name in names} | {name: name for name in names}
        self._names: dict[str, str] = pairs  # of names as the page has them, and as they are
        data = page_data(mechanism, begun, trace, plane)
        span = float(np.max(np.subtract(data["high"], data["low"])))
        session = {
            "frame": self._dt * every,
            "step": self._dt,
            "coordinates": coordinate_sliders(stepper, span),
            "inputs": input_sliders(stepper, span),
        }
        self.page = page_text(data | {"session": session})

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a request of the page; return new frames and the values of all sliders.

        request : dict
            ``epoch``, ``from``: first frame wanted, of that epoch; and any of ``until``: time to step to, s, ``reset``,
            ``coordinates``: joint name to numbers, the start of another run at rest, ``inputs``: force name to number,
            ``pull``: a body, a ``point`` of it (3,), m, body axes, and where ``to`` a spring pulls that, m, world.

        An error is the ``message`` of the answer, which holds the last good state.
        """
        message = ""
        with self._lock:
            try:
                self._set(request)
                if request.get("until") is not None:
                    until = finite(request["until"], "until", ArgumentError)
                    bounded(until, "until", LARGEST_MOTION, ArgumentError)
                    pull = Pull.asked(self.stepper.mechanism, request, self._names)
                    message = self._advance(until, pull)
            except VarintError as problem:
                message = str(problem)
            first = whole_number(request.get("from", 0), "from", 0, ArgumentError)
            return self._answer(first if request.get("epoch") == self.epoch else 0, message)

    def trajectory(self) -> Trajectory:
        """Return the run since its start."""
        with self._lock:
            return self.stepper.trajectory()

    def file(self) -> BinaryIO:
        """Return the run since its start as a run file, open, that ends when it is closed."""
        content = tempfile.TemporaryFile()  # noqa: SIM115
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.h5")
            self.trajectory().save(path)
            with path.open("rb") as file:
                shutil.copyfileobj(file, content)
        return content

    # ------------------------------------------------------------------------------------- what is asked for

    def _set(self, request: Mapping[str, Any]) -> None:
        stepper = self.stepper
        asked = {key: self._asked(request, key) for key in ("inputs", "coordinates")}
        for name, value in asked["inputs"].items():
            stepper.set(name, value)
        if request.get("reset"):
            self._begin(self._start)
        elif asked["coordinates"]:
            inputs = stepper.inputs.copy()
            self._begin(moved_state(stepper, asked["coordinates"]))
            stepper.inputs[:] = inputs

    def _asked(self, request: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return the values that a request sets, by the names of the mechanism."""
        values: dict[str, Any] = of_type(request.get(key, {}), dict, key, ArgumentError)
        return {self._names.get(name, name): value for name, value in values.items()}

    def _begin(self, start: State | ReducedState | None) -> None:
        self.stepper.reset(start)
        self.epoch += 1
        self._pulled = None
        self._last = None

    def _advance(self, until: float, pull: Pull | None) -> str:
        """Step to the recorded node at or behind a time, for ``BUDGET`` s at most; return the problem, or nothing."""
        stepper, begun = self.stepper, monotonic()
        warned = ""
        while self._node * self._dt < until - 1e-9 and monotonic() - begun < BUDGET:
            if self._recorded >= self._most:
                return (
                    f"{self._recorded} frames fill the memory for them, {ROOM // 1_000_000} MB: save the run, or reset"
                )
            steps = self.every - self._node % self.every
            try:
                self._pull(pull, steps)
            except ArgumentError as problem:
                warned, pull = str(problem), None
                self._pull(None, steps)
            try:
                solved = stepper.step(steps)
            except UnresolvedError as problem:  # once; the steps were taken
                solved, warned = True, str(problem)
            if not solved:
                assert stepper.failure is not None
                return stepper.failure.message
        return warned

    def _pull(self, pull: Pull | None, steps: int) -> None:
        """Set the load of a ``pull`` for the next ``steps``, or let it go."""
        if pull is not None:
            pull.goes_on(self._pulled)
            self.stepper.pull(pull.load(self.stepper.state, self.every * self._dt), steps)
        elif self._pulled is not None:
            self.stepper.pull(np.zeros((len(self.stepper.mechanism.bodies), 6)), steps)
        self._pulled = pull

    @property
    def _node(self) -> int:
        return round(self.stepper.time / self._dt)

    @property
    def _recorded(self) -> int:
        """Number of recorded nodes."""
        return self._node // self.every + 1

    # ------------------------------------------------------------------------------------- what is answered

    def _answer(self, first: int, message: str) -> dict[str, Any]:
        stepper = self.stepper
        data: dict[str, Any] = {"count": 0, "epoch": self.epoch, "message": message}
        last = min(self._recorded, first + self._batch)
        if first < last:
            data |= frames_data(self._frames(first, last))
        return data | {
            "more": last < self._recorded,
            "time": stepper.time,
            "failed": stepper.failure is not None,
            "inputs": stepper.inputs.tolist(),
            "coordinates": stepper.coordinates.tolist(),
        }

    def _frames(self, first: int, last: int) -> RecordedMotion:
        """Return the recorded nodes ``first`` to ``last - 1``.

        Angles continue the turns of the frames before, if these were the last to be asked for.
        """
        number, known = self._last or (-1, {})
        goes_on = 0 <= number == first - 1
        before = first - 1 if goes_on else first
        whole = self.stepper.trajectory(before)
        frames = self._part(whole, 0, last - before, None)
        mechanism, poses = whole.mechanism, (frames.position, frames.quat_wxyz)
        turned = {joint.name: joint_coordinates(mechanism, joint, *poses) for joint in mechanism.joints}
        if goes_on:
            turned = {name: (q + (known[name] - q[0]))[1:] for name, q in turned.items()}
            frames = self._part(whole, 1, last - before, turned)
        self._last = last - 1, {name: q[-1] for name, q in turned.items()}
        return frames

    @staticmethod
    def _part(whole: Trajectory, first: int, last: int, turned: Mapping[str, np.ndarray] | None) -> Trajectory:
        return type(whole)(whole.record.part(ChosenNodes(whole.nodes, slice(first, last))), turned)
