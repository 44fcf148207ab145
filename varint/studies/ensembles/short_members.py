"""Short members of an ensemble: start, steps and figures in compiled code, without a record or a trajectory.

For mechanisms without forces, in steps of one size. A member that is not of this kind, or whose run needs a message,
runs as any other; its row has the same bits either way.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from varint.base.clock import clock
from varint.base.errors import ArgumentError, VarintError
from varint.base.numba import for_python, word_of
from varint.kinematics.initial_state import checked_arrays, largest_gap
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.march import LAST, March
from varint.methods.variational.method import Variational
from varint.methods.variational.schemes import Scheme
from varint.methods.variational.schemes import scheme as find_scheme
from varint.model.state import State
from varint.plan import Compiled
from varint.results.fast_spin import relative_excess
from varint.results.resolution import RESOLVED_TURN, SPUN
from varint.runs.method import Method
from varint.runs.problem import checked_times
from varint.step.energy.bodies import MOST_SUMMED
from varint.step.march.records import NodeRows
from varint.step.march.short_run import run_short, work_out_figures
from varint.step.march.short_run_records import (
    ENERGY_ERROR,
    FIGURES,
    LARGEST_DRIFT,
    LARGEST_KINETIC,
    START_DRIFT,
    ShortRun,
)
from varint.step.march.spare_workspaces import spare_workspace, workspace_key
from varint.step.march.steps import run_steps

ARGUMENTS = {"duration", "dt", "order", "scheme", "tol"}  # of a run that is alike in all but these
MOST_NODES = 1 << 16  # times bodies, of a short run: some MB
MOST_ROOMS = 4
ROOMS: list["Room"] = []  # that no thread runs a member in; pop and append are atomic


class ShortSteps(NamedTuple):
    """The steps of a run: its scheme, their size, s, the tolerance, m/s, and how many there are."""

    scheme: Scheme
    dt: float
    tol: float
    number: int


class ShortFigures(NamedTuple):
    """Figures of a member, see `varint.studies.ensembles.figures.FIGURES`."""

    t_end: float
    energy_error: float
    largest_kinetic: float
    drift: float
    steps: int
    substeps: int
    newton_iterations: int
    wall_time: float


class Room:
    """Arrays in which members run one after another; ``key``: all that their sizes depend on."""

    def __init__(self, key: tuple, compiled: Compiled, steps: ShortSteps) -> None:
        self.key, scheme, nodes, nb = key, steps.scheme, steps.number + 1, len(compiled.order)
        self.spare = spare_workspace(compiled.plan, **_sizes(compiled, scheme))
        inputs = March(compiled, scheme, steps.dt, steps.tol, 1).acting()
        places, velocities, spins = np.zeros((3, nodes, nb, 3))
        rows = NodeRows(
            position=np.zeros((nodes, nb, 3)), quat=np.zeros((nodes, nb, 4)), velocity=np.zeros((nodes, nb, 6)),
            work=np.zeros((nodes, 0)), state=np.zeros((nodes, 0)), unresolved=np.full(nodes, -1),
            time=np.zeros(nodes), counts=np.zeros(2, dtype=np.int64),
        )  # fmt: skip
        self.run = ShortRun(
            ws=self.spare.ws, inputs=inputs, rows=rows, slot=np.zeros(nb, dtype=np.int64),
            position=np.zeros((nb, 3)), quat=np.zeros((nb, 4)), velocity=np.zeros((nb, 3)), spin=np.zeros((nb, 3)),
            stages=scheme.stages.copy(), number=np.array([steps.dt, steps.tol, LAST]),
            mass=np.zeros(nb), inertia=np.zeros((nb, 3, 3)), places=places, velocities=velocities, spins=spins,
            kinetic=np.zeros(nodes), potential=np.zeros(nodes), terms=np.zeros(3 * nb), drift=np.zeros(nodes),
            figure=np.zeros(FIGURES),
        )  # fmt: skip
        run_steps.prepare()
        self.word, self.starts = word_of(self.run), scheme.starts
        self.dt = steps.dt
        self.march, self.work_out = for_python(run_short), for_python(work_out_figures)

    def figures(self, compiled: Compiled, state: State, gap: float) -> ShortFigures | None:
        """Return the figures of a run from ``state``, with joints open by ``gap``, m; None if it needs a message."""
        run, plan = self.run, word_of(compiled.plan)
        self.spare.renew()
        run.ws.starts.near[:], run.ws.starts.share[:] = self.starts
        run.slot[:] = compiled.slot
        run.position[:], run.quat[:] = state.position, state.quat_wxyz
        run.velocity[:], run.spin[:] = state.velocity, state.angular_velocity
        began = clock()
        solved = self.march(plan, self.word)
        spent = clock() - began
        if not solved or not self.work_out(plan, self.word) or not run.figure[START_DRIFT] <= gap:
            return None
        turn = np.linalg.norm(run.rows.velocity[..., 3:], axis=2) * self.dt
        if len(run.stages) == 1 and turn.max() > RESOLVED_TURN and relative_excess(turn, run.stages).max() >= SPUN:
            return None  # such a run may need a message
        iterations, pieces = run.rows.counts.tolist()
        return ShortFigures(
            t_end=float(run.rows.time[-1]),
            energy_error=float(run.figure[ENERGY_ERROR]),
            largest_kinetic=float(run.figure[LARGEST_KINETIC]),
            drift=float(run.figure[LARGEST_DRIFT]),
            steps=len(run.rows.time) - 1,
            substeps=pieces,
            newton_iterations=iterations,
            wall_time=spent,
        )


def short_figures(
    method: type[Method], mechanism: Mechanism, state: State, arguments: Mapping[str, Any]
) -> ShortFigures | None:
    """Return the figures of the run of ``mechanism`` from ``state``; None if the member has to run as others.

    Raises nothing: errors of a member are raised when it runs as others do.
    """
    if method is not Variational or type(mechanism) is not Mechanism or not arguments.keys() <= ARGUMENTS:
        return None
    steps = _steps(arguments)
    if steps is None or (steps.number + 1) * len(mechanism.bodies) > MOST_NODES or not _is_plain(mechanism):
        return None
    compiled = mechanism.compiled
    try:
        state = checked_arrays(mechanism, state)
    except VarintError:
        return None
    stepping = steps.scheme.name, steps.scheme.stages.tobytes(), *steps[1:]
    key = workspace_key(compiled.plan, **_sizes(compiled, steps.scheme)), stepping
    room = _free_room(key) or Room(key, compiled, steps)
    if not room.spare.contents:  # too large to be renewed
        return None
    figures = room.figures(compiled, state, largest_gap(mechanism, state.position))
    ROOMS.append(room)
    del ROOMS[:-MOST_ROOMS]
    return figures


def _steps(arguments: Mapping[str, Any]) -> ShortSteps | None:
    """Return the steps by the arguments of a run; None for other than steps of one size from the start."""
    try:
        method, count = _checked(tuple((name, type(value), value) for name, value in arguments.items()))
        scheme = find_scheme(method.order, method.scheme)
    except (VarintError, KeyError, TypeError):  # which the run as others reports
        return None
    return None if scheme.staggered else ShortSteps(scheme, method.dt, method.tol, count)


@lru_cache(maxsize=64)
def _checked(arguments: tuple[tuple[str, type, Any], ...]) -> tuple[Any, int]:
    """Return the method by the arguments (name, type, value) of a run, and the number of steps.

    Raises VarintError, KeyError.
    """
    by_name = {name: value for name, _, value in arguments}
    duration = by_name.pop("duration")
    method = Variational(**by_name)
    if isinstance(method.dt, str):
        raise ArgumentError("the step is chosen by trials")
    return method, checked_times(duration, method.dt)[2]


def _is_plain(mechanism: Mechanism) -> bool:
    """Return whether nothing but lower pairs, rods and gravity acts, and no body is welded to another."""
    if mechanism.forces or any(joint.compliant for joint in mechanism.joints):
        return False
    if 3 * len(mechanism.bodies) > MOST_SUMMED or mechanism.compiled.plan.products.start.size:
        return False
    return mechanism.merged is mechanism.compiled


def _sizes(compiled: Compiled, scheme: Scheme) -> dict[str, Any]:
    """Return the arguments of the workspace of a run, see `March`."""
    return {"stages": scheme.stages.size, "functions": compiled.functions, "sharpened": scheme.sharpened}


def _free_room(key: tuple) -> Room | None:
    for room in tuple(ROOMS):
        if room.key == key:
            try:
                ROOMS.remove(room)
            except ValueError:  # another thread was faster
                continue
            return room
    return None
