"""A run in reduced coordinates: an integrator's steps, the nodes that are recorded, and what it takes to go on."""

import time

import numpy as np

from varint.io.record import Counts
from varint.model.rotation import quat_from_matrix
from varint.model.state import State
from varint.redmax.equations import Equations
from varint.redmax.integrators.base import Integrator
from varint.redmax.inverse import InverseDynamics, driving_efforts
from varint.redmax.record import CHARTS, layout_of
from varint.redmax.states import without_jumps
from varint.redmax.tree import find_tree
from varint.running import Block, Failure


class ReducedRun:
    """See `varint.running.March`.

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
    """

    def __init__(self, equations: Equations, integrator: Integrator, dt: float | None, steps: int, every: int):
        self.equations, self.integrator, self.dt, self.steps, self.every = equations, integrator, dt, steps, every
        self.end = integrator.task.end
        self.contacts = getattr(integrator, "touching", None)
        self.layout = layout_of(equations, self.contacts)
        self.failure: Failure | None = None
        self.node = self.recorded = 0
        self.quat: np.ndarray | None = None  # of the last recorded node
        self.inverse = InverseDynamics(equations) if equations.drives and self.contacts is None else None
        self._kept: dict[str, np.ndarray] | None = None  # checkpoint before the first step that depends on the end

    @property
    def time(self) -> float:
        """s"""
        return self.integrator.t

    @property
    def done(self) -> float:
        """Nodes passed, or s."""
        return self.integrator.t if self.dt is None else self.node

    @property
    def total(self) -> float:
        """Nodes in all, or s."""
        return self.end if self.dt is None else self.steps

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return self.integrator.t >= self.end

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        i = self.integrator
        return Counts(i.steps, i.newton_iterations, 0, i.evaluations)

    def start(self) -> Block:
        """Record the start."""
        nodes = self._recorded([self._node(0.0, self.integrator.y)])
        self._none = {name: array[:0] for name, array in nodes.items()}
        return Block(nodes)

    def advance(self, steps: int) -> Block:
        """``steps`` steps of the integrator, or up to the end or to the one that fails."""
        blocks: list[dict] = []
        rows: list[dict] = []
        seconds = 0.0
        for _ in range(steps):
            if self.finished:
                break
            if self._kept is None and self.integrator.ends():
                blocks, rows = [self._recorded(rows)], []
                self._kept = self._present()
            began = time.perf_counter()
            self.integrator.step()
            seconds += time.perf_counter() - began
            if self.integrator.failure:
                when = self.integrator.t
                message = f"the step at t = {when:g} s could not be done: {self.integrator.failure}"
                self.failure = Failure(message, when)
                break
            rows += self._passed()
            began = time.perf_counter()
            self.integrator.settle()
            seconds += time.perf_counter() - began
            if self.dt is None and (self.integrator.steps % self.every == 0 or self.finished):
                rows.append(self._node(self.integrator.t, self.integrator.y))
        blocks.append(self._recorded(rows))
        return Block({name: np.concatenate([block[name] for block in blocks]) for name in self._none}, seconds)

    def state(self) -> State:
        """The present one."""
        self._place(self.integrator.t, self.integrator.y)
        return self.equations.state()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """All that the steps to come depend on: of the present, or from before the first step that knows the end."""
        return self._present() if self._kept is None else self._kept

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        e = self.equations
        parts: dict[str, dict] = {"equations": {}, "integrator": {}}
        for name, array in saved.items():
            owner, _, own = name.partition(" ")
            if owner in parts:
                parts[owner][own] = array
        charts = dict(zip(self.layout["charts"], (CHARTS[k] for k in saved["charts"]), strict=True))
        e.use(find_tree(e.mechanism, charts=charts))
        e.recall(parts["equations"])
        self.integrator.recall(parts["integrator"])
        e.recall(parts["equations"])  # making a solver evaluates the equations
        self.quat = saved["quat"].copy()
        self.node, self.recorded = int(saved["node"][0]), int(saved["recorded"][0])
        self._kept = None

    def _present(self):
        memories = {"equations": self.equations.memory(), "integrator": self.integrator.memory()}
        return {f"{owner} {name}": array for owner, memory in memories.items() for name, array in memory.items()} | {
            "charts": self._charts(),
            "quat": self.quat.copy(),
            "node": np.array([self.node]),
            "recorded": np.array([self.recorded]),
        }

    def _charts(self):
        return np.array([CHARTS.index(chart) for chart in self.equations.tree.charts.values()], dtype=np.int8)

    def _passed(self):
        """Rows of the nodes in the last step that are recorded."""
        times: list[float] = []
        while self.dt is not None and self.node < self.steps and self.dt * (self.node + 1) <= self.integrator.t:
            self.node += 1
            if self.node % self.every == 0:
                times.append(self.dt * self.node)
        if not times:
            return []
        return [self._node(*row) for row in zip(times, self.integrator.states(np.array(times)), strict=True)]

    def _split(self, y):
        """q, qdot, work, integrals and impulses: copies."""
        e = self.equations
        return (part.copy() for part in np.split(y, np.cumsum([e.nq, e.nq, e.ne, e.law_state.size])))

    def _place(self, t, y):
        q, qdot, *others = self._split(y)
        q, qdot, _ = self.equations.imposed(t, q, qdot)
        self.equations.place(q)
        self.equations.move(q, qdot)
        return q, qdot, *others

    def _node(self, t, y):
        """What is recorded at time ``t`` and state ``y``, in the present charts."""
        e, inputs = self.equations, self.equations.inputs
        q, qdot, work, integral, impulse = self._place(t, y)
        slot = e.compiled.slot
        row = {
            "t": np.array(t),
            "position": e.position[slot],
            "rotation": e.rotation[slot],
            "motion": e.velocity[slot],
            "work": work,
            "command": inputs.command(t, e.state),
            "q": q,
            "qdot": qdot,
            "law_state": integral,
            "chart": self._charts(),
        }
        if len(inputs.series):
            row["load"] = inputs.load(t)[slot]
        if self.contacts:
            row["impulse"] = impulse
        elif self.inverse:
            e.integrate_from(integral, 0.0)
            row["driving"] = driving_efforts(self.inverse, t, q, qdot)
        else:
            row["driving"] = np.zeros(0)
        return row

    def _recorded(self, rows):
        """The arrays that are recorded, of the rows."""
        if not rows:
            return self._none
        e, T = self.equations, len(rows)
        found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        quat, motion = without_jumps(quat_from_matrix(found.pop("rotation")), self.quat), found.pop("motion")
        self.quat = quat[-1].copy()
        self.recorded += T
        by_force = e.compiled.by_force
        found |= {
            "quat_wxyz": quat,
            "velocity": motion[..., :3].copy(),
            "angular_velocity": motion[..., 3:].copy(),
            "work": by_force(found["work"]),
            "command": by_force(found["command"]),
        }
        if self.contacts:
            found |= self._impulses(found.pop("impulse"))
        return found

    def _impulses(self, impulse):
        """Sums (T, ...) of the impulses of stops by force, of joint friction, and of drives, drive by drive."""
        e, T = self.equations, len(impulse)
        stops, friction, drives = self.contacts.parts(impulse)
        columns = np.zeros((T, e.nq))
        columns[:, e.driven_columns] = drives
        return {
            "stopping_impulse": e.compiled.by_force(stops),
            "friction_impulse": np.concatenate([np.zeros((T, 0)), *friction.values()], axis=1),
            "driving_impulse": np.concatenate(
                [np.zeros((T, 0)), *(columns[:, drive.columns] for drive in e.drives)], axis=1
            ),
        }
