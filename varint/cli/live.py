"""The page of a run that is still computed: a server that hands out frames as they come."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from varint.extras.live.page_server import HTML, Answer, Server, json_answer, page_server, problem_text
from varint.files.runs.lock import is_locked
from varint.methods.simulation import load, trajectory_of
from varint.results.record import Record, joined
from varint.runs.running import followed
from varint.runs.trajectory import Trajectory
from varint.views.page import page_data, page_text, stride
from varint.views.web_frames import frames_data

BATCH = 250  # frames in an answer
FIRST = 20  # frames in the first one
PATIENCE = 0.1  # s between two looks for the first node


class LiveSource(Protocol):
    """Source of the frames."""

    def latest(self) -> tuple[Trajectory, bool]:
        """Return the run so far, and whether it is complete."""


class OfFile:
    """A run in a file, which another process may be writing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last: tuple[Trajectory, bool] | None = None

    def latest(self) -> tuple[Trajectory, bool]:
        """Return the run so far, see `LiveSource`. Raises FileError."""
        if self._last is None or not self._last[1]:
            ended = not is_locked(self.path)  # before it is read: what is written meanwhile is read next
            trajectory = load(self.path)
            self._last = trajectory, ended or trajectory.status >= 0
        return self._last


class Growing:
    """A run that is computed by a thread of this process.

    failure : what ended it, or None
    """

    def __init__(self, simulate: Callable[[Callable[[float, float], None]], Trajectory]) -> None:
        """Start the run; ``simulate``: makes it, with a function for its ``progress``."""
        self.failure: BaseException | None = None
        self._simulate = simulate
        self._records: list[Record] = []
        self._whole: Trajectory | None = None
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Start, and wait for the first node. Raises the errors of the run before its first step."""
        self._thread.start()
        while not self._records and self._thread.is_alive():
            self._thread.join(PATIENCE)
        self._thread.join(PATIENCE)  # what does not fit into memory is refused behind the first node
        if self.failure is not None and self._whole is None:
            raise self.failure

    def stop(self) -> None:
        """End the run at its next block."""
        self._stop.set()
        self._thread.join()

    def latest(self) -> tuple[Trajectory, bool]:
        """Return the run so far, see `LiveSource`."""
        ended = not self._thread.is_alive()
        if ended and self._whole is not None:
            return self._whole, True
        with self._lock:
            if len(self._records) > 1:
                nodes = joined([{name: record.nodes[name] for name in record.nodes} for record in self._records])
                self._records = [self._records[-1].part(nodes)]
            record = self._records[0]
        if ended and self.failure is not None:
            record = replace(record, message=str(self.failure) or type(self.failure).__name__)
        return trajectory_of(record), ended

    def _run(self) -> None:
        try:
            with followed(self._take):
                self._whole = self._simulate(self._go_on)
        except BaseException as problem:  # for whoever asked for the run
            self.failure = problem
            self._whole = getattr(problem, "trajectory", None)

    def _take(self, record: Record) -> None:
        with self._lock:
            self._records.append(record)

    def _go_on(self, done: float, total: float) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt


class Live:
    """The page of a run, and its frames."""

    def __init__(self, source: LiveSource, frames: int, trace: object = None, plane: str | None = None) -> None:
        """Show ``frames`` nodes or fewer, taken evenly from the whole run. Raises ArgumentError."""
        self.source, self._lock = source, threading.Lock()
        start, _ = source.latest()
        settings = start.settings
        self.duration = float(settings["duration"])
        nodes = settings.get("output_times")  # how many
        if nodes is None and settings["dt"] and settings.get("turn") is None:
            nodes = settings["steps"] // settings["every"] + 1
        self.every = 1 if nodes is None else stride(nodes, frames)  # nobody knows how many adaptive steps there will be
        data = page_data(start.mechanism, start, trace, plane)
        if self.every > 1:
            data["notes"] += [f"each {self.every}th recorded node"]
        self.page = page_text(data | {"live": True, "duration": self.duration})

    def frames(self, first: int) -> dict[str, Any]:
        """Return frames from number ``first`` on, as in `frames_data`.

        ``more``: whether others are there already, ``done``: whether none will come after these, ``share`` of the
        duration that is computed, ``message``: how it ended.
        """
        with self._lock:
            trajectory, ended = self.source.latest()
            shown = range(first * self.every, len(trajectory), self.every)
            taken = shown[: BATCH if first else FIRST]
            more = len(shown) > len(taken)
            message = "" if trajectory.success else trajectory.message
            data: dict[str, Any] = {"count": 0, "more": more, "done": ended and not more, "message": message}
            data["share"] = float(trajectory.t[-1]) / self.duration
            if taken:
                data |= frames_data(trajectory[taken.start : taken[-1] + 1 : self.every])
            return data


def serve(live: Live, port: int = 0) -> Server:
    """Return a server of the page, by default at a free port; its `serve_forever` answers."""

    def get(asked: str) -> Answer | None:
        path, _, first = asked.partition("?from=")
        if asked == "/":
            return Answer(live.page.encode(), HTML)
        if not (path == "/frames" and first.isascii() and first.isdigit() and len(first) < 12):
            return None
        try:
            return json_answer(live.frames(int(first)))
        except Exception as problem:  # the page tells it
            text = problem_text(problem)
            return json_answer({"count": 0, "more": False, "done": True, "share": 0.0, "message": text})

    return page_server(get, port=port)
