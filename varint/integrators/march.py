"""The march of a mechanism over its nodes, in blocks, with everything needed to stop and go on."""

from dataclasses import dataclass

import numpy as np

from varint.compile import Compiled
from varint.errors import ArgumentError
from varint.integrators.schemes import Scheme
from varint.kernels.configuration import place, place_anew
from varint.kernels.couplings import aim_held, begin_held
from varint.kernels.gauges import measure
from varint.kernels.newton import CONVERGED
from varint.kernels.step import record_node, run, set_load, start_momentum, worst_residual
from varint.kernels.stops import measure_stop, set_closed
from varint.kernels.workspace import workspace
from varint.model.state import State

RECORDED = ("node", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command")
CHECKPOINT = (
    "position", "quat", "momentum", "velocity", "history", "gauge_value", "work", "closed", "rest_gap",
    "row_near", "row_aim", "row_rate", "integral",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Block:
    """Recorded nodes in the order of the description; T nodes, nb bodies."""

    node: np.ndarray  # (T,) number of the node
    position: np.ndarray  # (T, nb, 3)
    quat_wxyz: np.ndarray  # (T, nb, 4)
    velocity: np.ndarray  # (T, nb, 3)
    angular_velocity: np.ndarray  # (T, nb, 3)
    work: np.ndarray  # (T, forces) J
    command: np.ndarray  # (T, forces)
    newton_iterations: int
    substeps: int


def join_blocks(blocks) -> Block:
    """One block of several, one after the other."""
    joined: dict = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in RECORDED}
    joined |= {name: sum(getattr(block, name) for block in blocks) for name in ("newton_iterations", "substeps")}
    return Block(**joined)


class March:
    """State of a run between two nodes.

    Same mechanism, same arguments, same machine: the same bits, however the steps are cut into
    blocks, and whether or not the run was stopped and restored from its `checkpoint`.

    Parameters
    ----------
    compiled : Compiled
    scheme : Scheme
    dt, tol : float
    every : int
        Record each ``every``-th node.
    loads : (constant, series)
        From `load_arrays`.
    commands : (2, T, nf), optional
        Inputs of the laws at the nodes and their rates, T = 1 where constant.
    """

    def __init__(self, compiled: Compiled, scheme: Scheme, dt, tol, every, loads, commands=None):
        self.compiled, self.scheme, self.dt, self.tol, self.every = compiled, scheme, dt, tol, every
        commands = np.zeros((2, 1, compiled.plan.law_kind.size)) if commands is None else commands
        (self.commands, self.command_rates), self.loads, self.first_command = commands, loads, 0
        self.inputs = np.zeros(0)  # of functions, at the present node
        self.ws = workspace(compiled.plan, scheme.stages.size)
        self.node = 0
        self.failure: tuple | None = None

    def start(self, state: State) -> Block:
        """Place the mechanism at node 0, and record it."""
        plan, ws, order = self.compiled.plan, self.ws, self.compiled.order
        ws.position[:, :-1] = state.position[order]
        ws.quat[:, :-1] = state.quat_wxyz[order]
        ws.velocity[:, :3], ws.velocity[:, 3:] = state.velocity[order], state.angular_velocity[order]
        ws.history[:] = ws.velocity
        self.pose = 0
        if plan.held_row.size:
            self._start_held()
        place_anew(plan, ws, 0)
        measure(plan, ws.position[0], ws.rotation[0], ws.velocity, ws.gauge_gradient, ws.gauge_value)
        set_load(ws.load, plan.mass, plan.gravity, *self.loads, 0, 0, 0.0)
        fastest = np.linalg.norm(state.angular_velocity, axis=1).max()
        if self.scheme.staggered and fastest * self.dt >= 2:
            raise ArgumentError(f"order 1 needs dt below 2 / |w| = {2 / fastest:.3g} s at the start, got {self.dt:g} s")
        start_momentum(plan, ws, 0.5 * self.dt if self.scheme.staggered else 0.0)
        arrays = self._outputs(1)
        record_node(plan, ws, 0, self.scheme.staggered, *(array[0] for array in arrays[:4]))
        return self._block(np.array([0]), arrays, 1)

    def _start_held(self):
        """Aims at node 0, and the velocities that keep to them."""
        plan, ws = self.compiled.plan, self.ws
        place_anew(plan, ws, 0)
        aim_held(plan, ws, self.commands, self.command_rates, 0, 0, 0.0, self.dt)
        rates = ws.increment_row.copy()
        begin_held(plan, ws, 0)
        driven = plan.held_row[plan.held_driven == 1]
        ws.row_rate[driven] = rates[driven]
        place(plan, ws, 0)
        start_momentum(plan, ws, 0.0)
        record_node(plan, ws, 0, False, *(array[0] for array in self._outputs(1)[:4]))
        ws.velocity[:] = ws.increment_body
        ws.history[:] = ws.velocity

    def off_aim(self):
        """Of each driven HELD row at node 0: its law, its coordinate (m or rad), and the aim where that should be."""
        plan, ws = self.compiled.plan, self.ws
        pairs = zip(plan.held_law, plan.held_row, plan.held_driven, strict=True)
        return [(int(f), float(ws.row_near[r]), float(ws.row_aim[r])) for f, r, driven in pairs if driven]

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the one that fails: then ``failure`` is (node, body, joint)."""
        last = self.node + steps
        nodes = np.arange(self.node // self.every + 1, last // self.every + 1) * self.every
        arrays = self._outputs(len(nodes))
        status, self.pose, done, records = run(
            self.compiled.plan, self.ws, self.pose, self.node, steps, self.every, self.dt, self.scheme.stages,
            self.tol, self.scheme.staggered,
            (*self.loads, 0, self.commands, self.command_rates, self.first_command), arrays,
        )  # fmt: skip
        self.node += done
        if status != CONVERGED:
            self.failure = (self.node, *worst_residual(self.compiled.plan, self.ws))
        return self._block(nodes[:records], arrays, records)

    def state(self) -> State:
        """The present node."""
        arrays = self._outputs(1)
        record_node(self.compiled.plan, self.ws, self.pose, self.scheme.staggered, *(array[0] for array in arrays[:4]))
        block = self._block(np.array([self.node]), arrays, 1)
        return State(block.position[0], block.quat_wxyz[0], block.velocity[0], block.angular_velocity[0])

    def checkpoint(self) -> dict:
        """Everything that the steps to come depend on, as arrays."""
        ws = self.ws
        return {name: getattr(ws, name).copy() for name in CHECKPOINT} | {"place": np.array([self.node, self.pose])}

    def restore(self, saved: dict) -> None:
        """Go back to a `checkpoint` of the same run."""
        for name in CHECKPOINT:
            getattr(self.ws, name)[:] = saved[name]
        self.node, self.pose = (int(number) for number in saved["place"])
        plan, ws = self.compiled.plan, self.ws
        place(plan, ws, self.pose)
        for s, closed in enumerate(ws.closed):
            set_closed(plan, ws, s, bool(closed))
            measure_stop(plan, ws, self.pose, s, ws.jacobian[self.pose])

    def _outputs(self, records):
        nb, nf = self.compiled.plan.mass.size, self.compiled.plan.law_kind.size
        return (
            np.empty((records, nb, 3)),
            np.empty((records, nb, 4)),
            np.empty((records, nb, 6)),
            np.empty((records, nf)),
            np.zeros(2, dtype=np.int64),
        )

    def _block(self, nodes, arrays, records):
        position, quat, velocity, work, counts = arrays
        slot = self.compiled.slot
        rows = nodes - self.first_command if len(self.commands) > 1 else np.zeros_like(nodes)
        parts = position, quat, velocity[..., :3], velocity[..., 3:]
        # contiguous, as they come back from a file: sums over them then have the same bits
        arrays = (np.ascontiguousarray(part[:records, slot]) for part in parts)
        of_forces = (self.compiled.by_force(values) for values in (work[:records], self.commands[rows]))
        return Block(nodes, *arrays, *of_forces, int(counts[0]), int(counts[1]))
