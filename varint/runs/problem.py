"""`Problem` and `Recording`: a motion to simulate, and its record. Methods to simulate it: `varint.formulations`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import (
    array_of,
    by_name,
    checked_call,
    flag,
    function_of,
    of_type,
    positive,
    shown,
    whole_number,
)
from varint.base.display import Shown
from varint.base.errors import ArgumentError
from varint.base.paths import path_of
from varint.files.runs.made_with import ANY
from varint.files.runs.place import check_name, check_place
from varint.mechanism.mechanism import Mechanism

MOST_STEPS = 2**53  # of a run
ROUND_OFF = 1e-12  # of a time
TO_GO_ON = ", resume=True to go on with it"


@checked_call
@dataclass(frozen=True, eq=False)
class Problem(Shown):
    """A mechanism, where it starts, for how long it moves, and the loads on its bodies.

    Parameters
    ----------
    mechanism : Mechanism
    duration : float
        s
    state : State or ReducedState, optional
        The initial state; ``mechanism.state()`` where not given.
    force, torque : dict, optional
        Body name to (3,), or (steps + 1, 3) with one value per node, linear in between. Forces at the centre of mass,
        N, world axes; torques, N m, body axes.

    Raises
    ------
    ArgumentError
        Where ``mechanism`` is not a `Mechanism` or the duration is not positive. The other arguments are checked when
        the run is prepared, against the mechanism and the steps of the method.
    """

    mechanism: Mechanism
    duration: float
    state: Any = None
    force: Mapping[str, ArrayLike] | None = None
    torque: Mapping[str, ArrayLike] | None = None

    def __post_init__(self) -> None:
        of_type(self.mechanism, Mechanism, "mechanism", ArgumentError)
        object.__setattr__(self, "duration", positive(self.duration, "duration", ArgumentError))
        for name in ("force", "torque"):
            by_name(getattr(self, name), self.mechanism.body_index, name, "body", ArgumentError)

    def start(self) -> Any:
        """Return the state to start from, unchecked."""
        return self.mechanism.state() if self.state is None else self.state

    def steps(self, dt: float) -> int:
        """Return the number of whole steps of ``dt``, s, within the duration. Raises ArgumentError for zero steps."""
        return checked_times(self.duration, dt)[2]


@checked_call
@dataclass(frozen=True, eq=False)
class Recording(Shown):
    """Which nodes of a run are kept, and where.

    Parameters
    ----------
    every : int
        Record each ``every``-th node, and the last one.
    output_times : (K,), optional
        s, rising: record the start, these times and the last state, in place of the nodes.
    diagnostics_every : int, optional
        Record energy, momenta and drift at every ``diagnostics_every``-th node, see `Trajectory.diagnostics`; divides
        ``every``.
    output : path, optional
        HDF5 file, .h5 or .hdf5, written as the run goes. One that exists is refused, see ``resume``, ``overwrite``.
    resume : bool or "any"
        Go on with the run in ``output``, to the same bits as if it had not stopped; refused where another version of
        varint or numba, another class of processor or other scheme coefficients wrote it. "any" resumes there too, to
        other bits.
    overwrite : bool
        Replace the file ``output`` where it exists.
    progress : callable, optional
        Called as ``progress(steps done, steps in all)``, or ``progress(time, end)`` in s where steps are adaptive.

    Raises
    ------
    ArgumentError, FileError
    """

    every: int = 1
    output_times: ArrayLike | None = None
    diagnostics_every: int | None = None
    output: str | Path | None = None
    resume: bool | str = False
    overwrite: bool = False
    progress: Callable[[float, float], object] | None = None

    def __post_init__(self) -> None:
        if checked_resume(self.resume) and self.output is None:
            raise ArgumentError("resume needs output=, the file of the run to continue")
        if flag(self.overwrite, "overwrite", ArgumentError) and self.resume:
            raise ArgumentError(
                "overwrite=True replaces the run in output=, resume=True continues it: give one of them"
            )
        if self.output is not None:
            check_name(path_of(self.output, "output"), "output")
        if self.progress is not None:
            function_of(self.progress, "progress", ArgumentError)
        every = whole_number(self.every, "every", 1, ArgumentError, MOST_STEPS)
        object.__setattr__(self, "every", every)
        if self.diagnostics_every is not None:
            stride = whole_number(self.diagnostics_every, "diagnostics_every", 1, ArgumentError, MOST_STEPS)
            object.__setattr__(self, "diagnostics_every", stride)
            if every % stride:
                raise ArgumentError(
                    "every must be a multiple of diagnostics_every, got"
                    f" every = {every} and diagnostics_every = {stride}"
                )

    @property
    def stride(self) -> int:
        """Number of steps between two nodes that the run gives: ``diagnostics_every``, or ``every`` without it."""
        return self.every if self.diagnostics_every is None else self.diagnostics_every

    @property
    def may_exist(self) -> bool:
        """Whether the file ``output`` may be there already."""
        return bool(self.resume or self.overwrite)

    def check_place(self, resumable: bool = True) -> None:
        """Raise FileError where ``output`` cannot be written, or would replace a file that it must not.

        ``resumable``: whether the run can go on from a file.
        """
        if self.output is not None:
            check_place(Path(os.path.realpath(self.output)), self.output, self.may_exist, TO_GO_ON if resumable else "")

    def times(self, end: float) -> np.ndarray | None:
        """Return ``output_times`` (K,) of a run up to ``end``, s; None where its nodes are recorded.

        Raises ArgumentError.
        """
        if self.output_times is None:
            return None
        if self.every != 1 or self.diagnostics_every is not None:
            name = "every" if self.every != 1 else "diagnostics_every"
            raise ArgumentError(f"output_times say what is recorded, and so does {name}: give one of them")
        times = array_of(self.output_times, (None,), "output_times", ArgumentError)
        last = end * (1 + ROUND_OFF)
        if not times.size or times[0] < 0 or times[-1] > last or (np.diff(times) <= 0).any():
            raise ArgumentError(
                f"output_times must rise, and lie from 0 to the last step at {end:g} s, got {shown(self.output_times)}"
            )
        return times


def checked_resume(resume: object) -> bool | str:
    """Return ``resume``, which must be True, False or "any". Raises ArgumentError."""
    if isinstance(resume, str) and resume == ANY:
        return ANY
    if not isinstance(resume, bool | np.bool_):
        raise ArgumentError(f"resume must be True, False or '{ANY}', got {shown(resume)}")
    return bool(resume)


def checked_times(duration: float, dt: float) -> tuple[float, float, int]:
    """Return the duration and the step, s, and the number of whole steps within it; raises ArgumentError."""
    dt = positive(dt, "dt", ArgumentError)
    duration = positive(duration, "duration", ArgumentError)
    if duration / dt > MOST_STEPS:
        raise ArgumentError(f"duration {duration:g} s is more than 2^53 steps of dt = {dt:g} s")
    steps = int(np.floor(duration / dt * (1 + ROUND_OFF) + 1e-9))
    if steps < 1:
        raise ArgumentError(f"duration {duration:g} s is shorter than one step dt = {dt:g} s")
    return duration, dt, steps
