"""A run whose stages are kept."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.errors import ArgumentError, ConvergenceError
from varint.integrators.march import March
from varint.integrators.run import MaximalRun
from varint.integrators.schemes import Scheme
from varint.kernels.plan import Plan
from varint.kernels.workspace import workspace
from varint.loads import Commands, Loads, starts_of_motions
from varint.mechanism import Mechanism
from varint.model.state import State

SPARE = 1.2  # stages that there is room for, over those of a run without sub-steps
MEASURED = ("u", "v", "w", "c", "weight")
STEP = 1e-3  # of dt: of the differences of functions of time


class Node(NamedTuple):
    """A node of a run: what its state was found from, in kernel order, and how many stages led there."""

    stages: int
    state: State
    position: np.ndarray  # (nb + 1, 3)
    quat: np.ndarray  # (nb + 1, 4)
    momentum: np.ndarray  # (nb, 6)
    value_near: np.ndarray  # as of `EffortWork`, up to target_rate
    target: np.ndarray
    target_rate: np.ndarray
    q: np.ndarray  # as of `ProductWork`
    order: np.ndarray
    closed: np.ndarray  # (limits,) int, and the gaps at which they are held
    rest_gap: np.ndarray


class TapedRun:
    """A run of which all stages are kept, and some nodes.

    Parameters
    ----------
    mechanism : Mechanism
    method : Scheme
    state : State
        To start from.
    dt, tol : float
        s, m/s
    steps : int
        Of the whole run, for which inputs and loads are given.
    at : sequence of int
        Numbers of the nodes, rising; the run is done up to the last one.
    loads : (force, torque)
        As of `simulate`.

    Raises ArgumentError, ConvergenceError.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        method: Scheme,
        state: State,
        dt: float,
        tol: float,
        steps: int,
        at: Sequence[int],
        loads: tuple[Mapping | None, Mapping | None],
    ) -> None:
        self.mechanism, self.first, self.compiled = mechanism, state, mechanism.compiled
        self.dt, self.steps, self.at = dt, steps, list(at)
        room = int(SPARE * at[-1] * method.stages.size) + 1
        while True:
            _check_memory(self.compiled.plan, room)
            march = March(self.compiled, method, dt, tol, max(at[-1], 1))
            march.ws = workspace(self.compiled.plan, method.stages.size, self.compiled.functions, kept=room)
            self._run(march, loads)
            needed = max(self.count, int(march.ws.tape.impacts.count[0]))
            if needed <= room:
                break
            room = needed  # sub-steps needed more
        self.tape = march.ws.tape
        self.inputs = self.table(mechanism, state, dt)

    def table(self, mechanism: Mechanism, start: State, dt: float) -> np.ndarray:
        """(2, T, ne) inputs of the elements at the nodes of a run with other numbers, and their rates."""
        motions, end = starts_of_motions(mechanism, start), self.steps * dt
        commands = Commands(mechanism, mechanism.compiled, self.steps, dt, motions, end)
        return commands.at(np.arange(self.steps + 1))

    def _run(self, march: March, loads: tuple) -> None:
        mechanism, steps, dt = self.mechanism, self.steps, self.dt
        acting = Loads(mechanism, self.compiled, steps, *loads)
        motions = starts_of_motions(mechanism, self.first)
        commands = Commands(mechanism, self.compiled, steps, dt, motions, steps * dt)
        run = MaximalRun(mechanism, march, self.first, steps, acting, commands)
        if run.controllers:
            force = mechanism.forces[run.controllers[0][1]]
            raise ArgumentError(
                f"{force.label} has an input that is a function of the state, which has no gradient: give one value a"
                " node"
            )
        run.start()
        self.begin = _node(march, run.state())
        self.nodes: list[Node] = []
        for number in self.at:
            run.advance(number - march.node)
            if run.failure is not None:
                message, time, body, joint = run.failure
                raise ConvergenceError(message, time=time, body=body, joint=joint, trajectory=None)
            self.nodes.append(_node(march, run.state()))
        self.count = int(march.ws.tape.count[0])
        if march.ws.tape.impacts.timed.any() and (acting.varies or commands.varies):
            raise ArgumentError(
                f"'{mechanism.name}' meets a hard stop while inputs or loads change with time, which has no gradient:"
                " give constant ones"
            )


def _check_memory(plan: Plan, stages: int) -> None:
    """Raise ArgumentError where the machine cannot hold so many stages and the gradient by what acts in them."""
    nb, nr, nm, ne = plan.bodies.mass.size, plan.rows.role.size, plan.measures.kind.size, plan.elements.force.size
    size = 8.0 * stages * (49 * nb + 3 * nr + nm + 2 * ne)
    has = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else np.inf
    if size > has:
        raise ArgumentError(
            f"a gradient keeps all stages of its run in memory: {size / 1e9:.3g} GB, and the machine has"
            f" {has / 1e9:.3g} GB. Take fewer steps, longer ones, or a lower order"
        )


def _node(march: March, state: State) -> Node:
    """Where a run is."""
    ws, efforts = march.ws, march.ws.efforts
    pose = ws.position[march.pose], ws.quat[march.pose], ws.momentum
    targets = efforts.value_near, efforts.target, efforts.target_rate
    products = ws.products.q, ws.products.order
    limits = ws.efforts.closed.astype(np.int64), ws.efforts.rest_gap
    return Node(int(ws.tape.count[0]), state, *(array.copy() for array in (*pose, *targets, *products, *limits)))
