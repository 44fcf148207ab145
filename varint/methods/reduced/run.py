"""A run in reduced coordinates: an integrator's steps, the recorded nodes, and checkpoints."""

from collections.abc import Mapping

import numpy as np

from varint.base.clock import clock
from varint.base.errors import FileError
from varint.kinematics.drift import left_open
from varint.meshes.mesh_state import with_vertices
from varint.meshes.vertex_record import LOST, OF_VERTICES, subtract_lost
from varint.methods.reduced.charts import CHARTS
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators.base import Integrator
from varint.methods.reduced.integrators.error_controlled import Adaptive
from varint.methods.reduced.integrators.fixed_steps import FixedSteps
from varint.methods.reduced.inverse import InverseDynamics, driving_efforts
from varint.methods.reduced.prescribed_joints import places
from varint.methods.reduced.record import layout_of
from varint.methods.reduced.states import without_jumps
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.state import State
from varint.results.inputs.courses import cannot_follow, what_clashes
from varint.results.record import Counts
from varint.runs.problem import MOST_STEPS
from varint.runs.run import Block, Failure, Reached, SteeredRun, join_blocks

LARGEST_OPENING = 1e-3  # of a loop, in sizes of a part, before it is asked whether drives open it
LARGEST_MISS = 0.1  # of a body or point from where a force moves it, in sizes of a part


class ReducedRun(SteeredRun):
    """See `varint.runs.run.SteeredRun`.

    Parameters
    ----------
    equations : Equations
    integrator : Integrator
        At its start.
    dt : float or None
        Spacing of the nodes, s; where None they are the integrator's own.
    steps : int
        Nodes after the start, where ``dt`` is given.
    every : int
        Record each ``every``-th node.
    times : (K,), optional
        s: times recorded between the start and the end in place of the nodes.
    """

    node = 0

    def __init__(
        self,
        equations: Equations,
        integrator: Integrator,
        dt: float | None,
        steps: int,
        every: int,
        times: np.ndarray | None = None,
    ) -> None:
        self.equations, self.integrator, self.dt, self.steps, self.every = equations, integrator, dt, steps, every
        assert equations.inputs is not None
        self.mechanism, self.constant = equations.mechanism, equations.inputs.commands.constant
        self._used = self.constant.copy()  # in the last step
        self.end = integrator.task.end
        self.times = None if times is None else times[(times > 0) & (times < self.end)]
        self.contacts = integrator.events.contacts if integrator.events else integrator.touching
        self.layout = layout_of(equations, self.contacts)
        self.recorded = self.passed = 0  # nodes, and recorded ones of the times
        self.quat: np.ndarray | None = None  # of the last recorded node
        self.inverse = InverseDynamics(equations) if equations.drives and self.contacts is None else None
        self._tree: Tree | None = None
        self._numbers = np.zeros(0, dtype=np.int8)  # of its charts
        self.parts = np.cumsum([equations.nq, equations.nq, equations.ne, equations.law_state.size])  # of the state
        self._kept: dict[str, np.ndarray] | None = None  # checkpoint before the first step that depends on the end

    @property
    def reached(self) -> Reached:
        """Progress of the run: in nodes, or in s where the integrator chooses them."""
        i = self.integrator
        done, total = (i.t, self.end) if self.dt is None else (self.node, self.steps)
        return Reached(i.t, self.end, done, total, Counts(i.steps, i.newton_iterations, 0, i.evaluations))

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return self.integrator.t >= self.end

    def start(self) -> Block:
        """Record the start."""
        nodes = self._recorded([self._node(0.0, self.integrator.y)])
        self._none = {name: array[:0] for name, array in nodes.items()}
        return Block(nodes)

    def advance(self, steps: int) -> Block:
        """Make ``steps`` steps of the integrator, or up to the end or to a failed step; return the recorded nodes."""
        blocks: list[dict] = []
        rows: list[dict] = []
        seconds = 0.0
        last = self.integrator.steps + steps
        while self.integrator.steps < last and not self.finished:
            if self._kept is None and self.integrator.ends():
                blocks, rows = [self._recorded(rows)], []
                self._kept = self._present()
            until, stop = self._next_recorded()
            began = clock()
            self.integrator.march(min(last, until) - self.integrator.steps, stop)
            seconds += clock() - began
            if not self.integrator.failure:
                rows += self._passed()
            began = clock()
            if not self.integrator.failure:
                self.integrator.settle()
            seconds += clock() - began
            lost = None if self.integrator.failure else self._lost()
            if self.integrator.failure or lost:
                self.failure = self._failure(self.integrator.failure or lost or "")
                break
            if self.dt is None and self.times is None and (self.integrator.steps % self.every == 0 or self.finished):
                rows.append(self._node(self.integrator.t, self.integrator.y))
        blocks.append(self._recorded(rows))
        return Block({name: np.concatenate([block[name] for block in blocks]) for name in self._none}, seconds)

    def _next_recorded(self) -> tuple[int, float]:
        """Return the step and the time, s, by which there is something to record."""
        if self.times is not None:
            return MOST_STEPS, self.times[self.passed] if self.passed < len(self.times) else np.inf
        if self.dt is None:
            return (self.integrator.steps // self.every + 1) * self.every, np.inf
        return MOST_STEPS, self.dt * (self.node // self.every + 1) * self.every

    def tail(self) -> Block:
        """Return the last state, where it is no recorded node: at the end, or where the step that failed began."""
        i = self.integrator
        if self.times is not None:
            recorded = (self.times[self.passed - 1] if self.passed else 0.0) >= i.t
        elif self.dt is None:
            recorded = i.steps % self.every == 0 or self.finished
        else:
            recorded = self.dt * (self.node // self.every * self.every) >= i.t
        if recorded:
            return Block(self._none)
        within = self.dt is not None and not self.failure
        states = i.states(np.array([i.t])) if within else [i.y]  # as of the nodes within the step
        if i.failure and not self.failure:
            self.failure = self._failure(i.failure)
        before = self.recorded, self.quat
        nodes = self._recorded([self._node(i.t, y) for y in states])
        self.recorded, self.quat = before
        return Block(nodes)

    def steer(self, steps: int) -> Block:
        """March over ``steps`` nodes, see `SteeredRun`; under error control steps end and start anew at each node."""
        blocks = [self.advance(0)]
        while self.failure is None and len(blocks) <= steps:
            blocks.append(self._to_next_node())
        return join_blocks(blocks)

    def _to_next_node(self) -> Block:
        changed, self._used = not np.array_equal(self.constant, self._used), self.constant.copy()
        if isinstance(self.integrator, FixedSteps):
            if changed:
                self.integrator.take_inputs()
            return self.advance(1)
        assert self.dt is not None
        assert isinstance(self.integrator, Adaptive)
        self.end = self.dt * (self.node + 1)
        self.integrator.go_on(self.end)
        block = self.advance(MOST_STEPS)
        self._kept = None  # steps beyond the end belong to another run
        return block

    def coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the present q and qdot (nq,), in the present charts."""
        y, nq = self._place_closed(self.integrator.t, self.integrator.y), self.equations.nq
        return y[:nq], y[nq : 2 * nq]

    def state(self) -> State:
        """Return the present state."""
        self._place_closed(self.integrator.t, self.integrator.y)
        return with_vertices(self.equations.mechanism, self.equations.state(), self.vertex_motion())

    def vertex_motion(self) -> np.ndarray:
        """See `SteeredRun`."""
        self._place_closed(self.integrator.t, self.integrator.y)
        motion = self.integrator.vertices()
        return np.array([motion.get(name, np.zeros((0, 3))) for name in OF_VERTICES])

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return the memory of all later steps: the present, or from before the first step that knows the end."""
        return self._present() if self._kept is None else self._kept

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`; raises ValueError where no run can have left it."""
        e = self.equations
        if not all(0 <= k < len(CHARTS) for k in saved["charts"]):
            raise ValueError("its checkpoint names unknown charts")
        parts: dict[str, dict] = {"equations": {}, "integrator": {}}
        for name, array in saved.items():
            owner, _, key = name.partition(" ")
            if owner in parts:
                parts[owner][key] = array
        charts = dict(zip(self.layout["charts"], (CHARTS[k] for k in saved["charts"]), strict=True))
        e.use(find_tree(e.mechanism, charts=charts))
        e.recall(parts["equations"])
        self.integrator.recall(parts["integrator"])
        e.recall(parts["equations"])  # making a solver evaluates the equations
        self._check_drives(saved["driven"])
        self.quat = saved["quat"].copy()
        self.node, self.recorded = int(saved["node"][0]), int(saved["recorded"][0])
        self.passed, self._used = self.recorded - 1, self.constant.copy()
        self._kept = self.failure = self.integrator.failure = None

    def _present(self) -> dict[str, np.ndarray]:
        assert self.quat is not None  # since the start
        memories = {"equations": self.equations.memory(), "integrator": self.integrator.memory()}
        return {f"{owner} {name}": array for owner, memory in memories.items() for name, array in memory.items()} | {
            "charts": self._charts().copy(),
            "driven": self._driven(),
            "quat": self.quat.copy(),
            "node": np.array([self.node]),
            "recorded": np.array([self.recorded]),
        }

    def _failure(self, reason: str) -> Failure:
        """Return the failure of the step from the present state."""
        when, e = self.integrator.t, self.equations
        body = e.hardest_accelerated(when, *np.split(self.integrator.y, self.parts)[:2])
        message = f"the step at t = {when:g} s, hardest for body '{body}', could not be done: {reason}"
        return Failure(message, when, body)

    def _lost(self) -> str | None:
        """Return a message if a body or a point is not where a force moves it, or if drives open a loop; else None."""
        e, nq = self.equations, self.equations.nq
        if not (e.closures.courses or (e.drives and len(e.closures))):
            return None
        y = self._place(self.integrator.t, self.integrator.y)
        gap, largest = np.abs(e.violations(y[:nq], y[nq : 2 * nq])[0]), LARGEST_MISS * e.compiled.length
        if e.drives and gap.max() > LARGEST_OPENING * e.compiled.length:
            clash = self._clash(y[:nq], y[nq : 2 * nq])
            if clash:
                return clash
        for part, rows in zip(e.moved, places(e), strict=True):
            if not part.drive and not gap[rows].max() <= largest:
                return cannot_follow(part.force, gap[rows].max())
        return None

    def _clash(self, q: np.ndarray, qdot: np.ndarray) -> str | None:
        """Return a message if the loops cannot be closed with the prescribed joints where they are; else None."""
        drives = [drive for drive in self.equations.drives if drive.columns.stop - drive.columns.start == 1]
        wanted = {drive.name: (float(q[drive.columns][0]), float(qdot[drive.columns][0])) for drive in drives}
        labels = {drive.name: f"the motion prescribed for {drive.label}" for drive in drives}
        return what_clashes(self.equations.mechanism, self.equations.state(), wanted, labels)

    def _driven(self) -> np.ndarray:
        """Return the motions (3, nd) of the prescribed joints at the present time, drive by drive."""
        return np.concatenate([np.zeros((3, 0)), *(d.at(self.integrator.t) for d in self.equations.drives)], axis=1)

    def _check_drives(self, before: np.ndarray) -> None:
        """Check that the prescribed motions continue unchanged."""
        if not np.array_equal(self._driven(), before):
            labels = ", ".join(drive.label for drive in self.equations.drives)
            raise FileError(f"the motion prescribed for {labels} is another one than that of the run to go on with")

    def _charts(self) -> np.ndarray:
        """Return the numbers of the present charts."""
        if self._tree is not self.equations.tree:
            self._tree = self.equations.tree
            self._numbers = np.array([CHARTS.index(chart) for chart in self._tree.charts.values()], dtype=np.int8)
        return self._numbers

    def _passed(self) -> list[dict]:
        """Return the rows of the recorded nodes in the last step."""
        times: list[float] = []
        while self.dt is not None and self.node < self.steps and self.dt * (self.node + 1) <= self.integrator.t:
            self.node += 1
            if self.node % self.every == 0 and self.times is None:
                times.append(self.dt * self.node)
        if self.times is not None:
            times = self.times[self.passed : np.searchsorted(self.times, self.integrator.t, side="right")].tolist()
            self.passed += len(times)
        if not times:
            return []
        states = self.integrator.states(np.array(times))
        return [self._node(*row) for row in zip(times[: len(states)], states, strict=True)]

    def _place(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return a copy of the state ``y`` with prescribed joints as at time ``t``, and place the bodies there."""
        e, nq, y = self.equations, self.equations.nq, y.copy()
        y[:nq], y[nq : 2 * nq], _ = e.imposed(t, y[:nq], y[nq : 2 * nq])
        e.place(y[:nq])
        e.move(y[:nq], y[nq : 2 * nq])
        return y

    def _place_closed(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return `_place` with stabilised loops closed to round-off, under error control and after the start.

        Integration leaves them open by its error, and interpolation within a step by more.
        """
        y, e, nq = self._place(t, y), self.equations, self.equations.nq
        if t > 0 and e.row_count and e.baumgarte > 0 and isinstance(self.integrator, Adaptive):
            widest = left_open(self.integrator.options["rtol"]) * e.compiled.length
            y[:nq], y[nq : 2 * nq] = e.close_loops(y[:nq], y[nq : 2 * nq], widest)
        return y

    def _node(self, t: float, y: np.ndarray) -> dict:
        """Record at time ``t`` and state ``y``, in the present charts."""
        e, inputs, y = self.equations, self.equations.inputs, self._place_closed(t, y)
        assert inputs is not None
        slot = e.compiled.slot
        row = {"t": t, "y": y, "position": e.position[slot], "rotation": e.rotation[slot], "motion": e.velocity[slot]}
        row |= {"command": inputs.command(t, e.state), "chart": self._charts()}
        if inputs.loads.varies:
            row["load"] = inputs.load(t)[slot]
        row |= self.integrator.vertices()
        if self.inverse:
            q, qdot, _, integral, _ = np.split(y, self.parts)
            e.integrate_from(integral, 0.0)
            row["driving"] = driving_efforts(self.inverse, t, q, qdot)
        return row

    def _recorded(self, rows: list[dict]) -> dict[str, np.ndarray]:
        """Return the recorded arrays of ``rows``."""
        if not rows:
            return self._none
        e, T = self.equations, len(rows)
        arrays = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        quat, motion = without_jumps(quat_from_matrix(arrays.pop("rotation")), self.quat), arrays.pop("motion")
        self.quat = quat[-1].copy()
        self.recorded += T
        q, qdot, work, law_state, impulse = np.split(arrays.pop("y"), self.parts, axis=1)
        by_force = e.compiled.by_force
        arrays |= {
            "quat_wxyz": quat,
            "velocity": motion[..., :3].copy(),
            "angular_velocity": motion[..., 3:].copy(),
            "q": q.copy(),
            "qdot": qdot.copy(),
            "work": by_force(work),
            "law_state": law_state.copy(),
            "command": e.compiled.inputs_by_force(arrays["command"]),
        }
        if LOST in arrays:
            subtract_lost(e.mechanism, arrays["work"], arrays.pop(LOST))
        if self.contacts:
            return arrays | self._impulses(impulse)
        return {"driving": np.zeros((T, 0))} | arrays

    def _impulses(self, impulse: np.ndarray) -> dict[str, np.ndarray]:
        """Return the summed impulses (T, ...) of stops by force, and of joint friction, contacts and drives."""
        e, T = self.equations, len(impulse)
        assert self.contacts is not None
        along, friction, ground, drives = self.contacts.parts(impulse)
        columns = np.zeros((T, e.nq))
        columns[:, e.driven_columns] = drives
        arrays = {"ground_impulse": np.concatenate([*ground.values()], axis=1)} if ground else {}
        return arrays | {
            "stopping_impulse": e.compiled.by_force(along),
            "friction_impulse": np.concatenate([np.zeros((T, 0)), *friction.values()], axis=1),
            "driving_impulse": np.concatenate(
                [np.zeros((T, 0)), *(columns[:, drive.columns] for drive in e.drives)], axis=1
            ),
        }
