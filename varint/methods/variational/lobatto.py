"""`Lobatto`: variational collocation of orders 4 to 10 in maximal coordinates."""

import functools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from varint.base.checks import choice
from varint.base.clock import clock
from varint.base.errors import ArgumentError, ConvergenceError, UnresolvedError, UnresolvedWarning, VarintError
from varint.base.numba import STATE, STEP_STATE, allocate, role_arrays
from varint.kinematics.turns import carrying, start_turns
from varint.mechanism.mechanism import Mechanism
from varint.methods.stepped import PARTS, Grid, Marched, SteppedRun
from varint.methods.variational.links import check_links, closures_of, is_tree_of_hinges, link_tree
from varint.methods.variational.lobatto_rule import node_rule
from varint.model.forces.commanded import Extrapolated
from varint.model.joints.base import ProductJoint
from varint.model.known_forces import USES, Use
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.results.derived import energies
from varint.results.inputs.at_nodes import Commands, called, is_controlled, starts_of_motions
from varint.results.record import Counts
from varint.results.resolution import Unresolved
from varint.results.undamped import BY_ORDER_2, diagonal_factor, find_undamped
from varint.runs.method import register, solve
from varint.runs.problem import Problem, Recording
from varint.runs.run import Block, Failure, Reached, Run, join_blocks
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory
from varint.step.collocation.closures import start_closures
from varint.step.collocation.efforts import fastest_law
from varint.step.collocation.records import NodeWorkspace
from varint.step.collocation.steps import march_nodes
from varint.step.newton import CONVERGED
from varint.step.nodes.efforts import evaluate_efforts
from varint.step.workspace import workspace

ORDERS = (4, 6, 8, 10)
MOST_PARTS = 64  # that a step is divided into
NEVER = 1 << 62  # of nodes to record
FASTEST = {4: 2.828, 6: 3.113, 8: 3.1406, 10: 6.253}  # by order: a step times the frequency of a spring, at most
ON_UNRESOLVED = ("warn", "raise", "ignore")
ROUND_OFF = 1e-9  # of the potential energy: kinetic energies that are smaller do not count
SHORTER = 4  # times shorter steps are tried before they are proposed ...
MOST = 20_000  # ... up to so many
UNRESOLVED = 0.01  # of the largest kinetic energy: change of the energy of a motion that the steps do not resolve


@register
@dataclass(frozen=True, eq=False)
class Lobatto(Marched):
    """Variational collocation (Lobatto IIIA-IIIB) in maximal coordinates, for trees and loops.

    Symplectic and symmetric where forces have a potential. A step of order 2 s - 2 solves for the poses at s - 1 nodes
    at once, by Newton's method in O(n). At the same small energy error it takes a part of the time of `Variational` of
    orders 4 to 8 (docs/work_precision.md).

    Loops may be closed by any joint, redundant and overconstrained ones too; joints along a curve are refused by name
    in the tree of bodies. Joints are closed at all nodes. Forces that depend on pose, velocity and time, inputs
    of all kinds, prescribed motions and couplings are taken (docs/known_forces.md); the order holds where they are
    smooth. Springs need steps below about 3 over the frequency of their fastest oscillation.
    `gradient`, `Stepper` and adaptive steps need `Variational`.

    Parameters
    ----------
    dt : float
        Step, s. One that cannot be solved is divided; where that does not help the run ends with a ConvergenceError.
    order : {4, 6, 8, 10}
    on_unresolved : {"warn", "raise", "ignore"}
        Action at the end of a run whose energy changed by more than 1 % of its largest kinetic energy.

    Raises
    ------
    ArgumentError
    """

    order: int = 8
    on_unresolved: str = ON_UNRESOLVED[0]

    formulation: ClassVar[str] = "lobatto"
    called: ClassVar[str] = "varint.Lobatto"
    option: ClassVar[str] = "--lobatto"
    resumable: ClassVar[bool] = True
    orders: ClassVar[tuple[int, ...]] = ORDERS

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.order, ORDERS, f"order of {self.called}", ArgumentError)
        choice(self.on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        return f"Lobatto order {self.order}"

    @property
    def use(self) -> Use:
        """See `Method`."""
        return USES["collocation steps"]

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        if problem.force or problem.torque:
            raise ArgumentError(
                "varint.Lobatto takes no loads on bodies (force=, torque=): use PointForce and PointTorque, or"
                " varint.Variational"
            )
        return super().prepare(problem, recording)

    def check(self, mechanism: Mechanism) -> None:
        """Raise ArgumentError for the first part of a mechanism that the method does not support."""
        super().check(mechanism)
        check_links(mechanism, self.called)

    @staticmethod
    def cost(mechanism: Mechanism) -> float:
        """Return the cost of a step over that of a tree of as many hinges: loops and other joints take twice as long.

        Measured on fourteen mechanisms of the catalogue: 0.9 to 2 times.
        """
        return 1.0 if is_tree_of_hinges(mechanism) else 2.0

    def described(self) -> dict[str, Any]:
        """See `Marched`: the order."""
        return {"order": self.order}

    def stepped_run(self, problem: Problem, grid: Grid, every: int, state: State) -> "LobattoRun":
        """See `Marched`."""
        return LobattoRun(problem.mechanism, self.order // 2 + 1, grid, every, state)

    def _advice(self, trajectory: Trajectory, when: float, most: float) -> str:
        """Return the rest of a message: whether shorter steps keep the energy to ``most``, J, up to ``when``, s.

        Empty where that would be another motion, or takes too long.
        """
        dt, load = trajectory.settings["dt"] / SHORTER, trajectory.record.load
        if load is None or load.any() or not 0.0 < when <= MOST * dt:
            return ""
        finer = replace(self, dt=dt, order=trajectory.order, on_unresolved="ignore")
        try:
            change = energies(solve(Problem(trajectory.mechanism, when, trajectory[0]), finer))[0]
        except ConvergenceError:
            return f". Steps of {dt:g} s do not either"
        except VarintError:  # inputs with one value a node, or a function of the user that fails in other states
            return ""
        resolved = np.abs(change - change[0]).max() <= most
        return f". Use a smaller dt: {dt:g} s does" if resolved else f". Steps of {dt:g} s do not either"

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """See `Method`."""
        if self.on_unresolved == "ignore" or not len(trajectory.t):
            return
        factor, dt = functools.partial(diagonal_factor, trajectory.order // 2), trajectory.settings["dt"]
        undamped = find_undamped(trajectory, dt, factor, f"`Lobatto` of order {trajectory.order}", BY_ORDER_2)
        if undamped is not None:
            self._tell(trajectory, undamped, stacklevel + 1)
            return
        change, kinetic = energies(trajectory)
        change, mechanism = np.abs(change - change[0]), trajectory.mechanism
        weight = sum(body.mass for body in mechanism.bodies) * float(np.linalg.norm(mechanism.gravity))
        scale = max(float(np.max(kinetic)), ROUND_OFF * weight * float(np.max(np.abs(trajectory.position))))
        if not change.max() > UNRESOLVED * scale:
            return
        when = float(trajectory.t[int(np.argmax(change > UNRESOLVED * scale))])
        advice = self._advice(trajectory, when, UNRESOLVED * scale)
        message = (
            f"steps of {trajectory.settings['dt']:g} s do not resolve the motion: by t = {when:g} s the energy changed"
            f" by more than {UNRESOLVED:.0%} of the largest kinetic energy, {scale:.3g} J{advice}"
        )
        self._tell(trajectory, Unresolved(message, when, None), stacklevel + 1)

    def _tell(self, trajectory: Trajectory, unresolved: Unresolved, stacklevel: int) -> None:
        message, time, body = unresolved
        if self.on_unresolved == "raise":
            raise UnresolvedError(message, time=time, body=body, joint=None, trajectory=trajectory)
        warnings.warn(message, UnresolvedWarning, stacklevel=stacklevel)


class LobattoRun(SteppedRun):
    """See `varint.runs.run.Run`: a run of `Lobatto` with ``s`` nodes in a step."""

    def __init__(self, mechanism: Mechanism, s: int, grid: Grid, every: int, state: State) -> None:
        super().__init__(mechanism, None, grid, every, state)
        self.substeps = 0  # beyond one a step
        compiled, nb = mechanism.apart, len(mechanism.bodies)
        self.plan, self.ws = compiled.plan, workspace(compiled.plan, functions=compiled.functions)
        self.tree, turned, coordinate = link_tree(mechanism, state)
        self.closures, sizes = closures_of(self.plan, self.tree, s - 1)
        self.rule, nl = node_rule(s), len(coordinate)
        sizes |= {"nb": nb, "slots": nb + 1, "nl": nl, "links": nl + 1, "ne": len(self.plan.elements.force)}
        sizes |= {"s": s, "q": s - 1, "blocks": (s - 1) ** 2, "past": 2 * s - 1}
        self.work: NodeWorkspace = allocate(NodeWorkspace, sizes)
        self.work.rotation[:, nl] = self.work.body_rotation[:, nb] = np.eye(3)
        self.work.turned[:], self.work.coordinate[0] = turned, coordinate
        order, R, link = compiled.order, rotation_matrix(state.quat_wxyz[compiled.order]), self.tree.link
        self.work.momentum[link, :3] = self.plan.bodies.mass[:, None] * state.velocity[order]
        spin = np.einsum("nij,nj->ni", self.plan.bodies.inertia, state.angular_velocity[order])
        self.work.momentum[link, 3:] = np.einsum("nij,nj->ni", R, spin)
        self.ws.quat[0, :-1] = state.quat_wxyz[order]
        start_turns(compiled, self.ws, state.turns, state.memory)
        self.turns = state.turns
        self.commands = Commands(mechanism, compiled, self.total, self.dt, starts_of_motions(mechanism, state))
        elements = ((e, mechanism.forces[k]) for e, k in enumerate(compiled.force.tolist()))
        self.controllers = [(e, force) for e, force in elements if is_controlled(force)]
        follows = [isinstance(getattr(force, "input", None), Extrapolated) for _, force in self.controllers]
        self.extrapolated = np.array(follows, dtype=bool)
        self.given, self.slopes = np.zeros((2, len(self.controllers)))  # of functions of the state, and their rates
        if sizes["ne"]:
            evaluate_efforts.prepare()
        if (sizes["closed"] and sizes["ne"]) or any(isinstance(joint, ProductJoint) for joint in mechanism.joints):
            self.ws.position[0, :-1] = state.position[order]
            start_closures(self.plan, self.ws, self.commands.at(np.zeros(1))[:, 0])

    @property
    def reached(self) -> Reached:
        """Progress of the run, in steps."""
        counts = Counts(self.done, self.iterations, self.substeps)
        return Reached(self.time, self.end, self.done, self.total, counts)

    def start(self) -> Block:
        """Record the start."""
        if self.controllers:
            self._evaluate_controllers(self.state())
        return self._block(np.array([0]), self._march(0)[1], 0.0)

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails, even divided into up to `MOST_PARTS`."""
        last = min(self.done + steps, self.total)
        blocks = [self._block(np.zeros(0, dtype=np.int64), self._outputs(0), 0.0)]
        ahead = last - self.done  # steps whose inputs are worked out at once: few after one that had to be divided
        while self.done < last and self.failure is None:
            substeps = self.substeps
            blocks += self._march_and_divide(1 if self.controllers else min(ahead, last - self.done))
            ahead = 1 if self.substeps > substeps else 2 * ahead
        return join_blocks(blocks)

    def _march_and_divide(self, steps: int) -> list[Block]:
        """March up to ``steps`` steps, the last of them divided where it cannot be solved."""
        first, began = self.done, clock()
        status, out = self._march(steps)
        nodes = np.arange(first // self.every + 1, self.done // self.every + 1) * self.every
        divided = status != CONVERGED and self._divide()
        seconds = clock() - began
        if status != CONVERGED and not divided:
            self.failure = Failure(
                f"the step at t = {self.time:g} s could not be solved, nor divided into {MOST_PARTS}: it is too long"
                f" for the motion or for stiff forces{self._stiffest()}. Take a smaller dt, or varint.Variational",
                self.time,
            )
        elif self.controllers:
            before = self.given.copy()
            self._evaluate_controllers(self.state())
            self.slopes[:] = np.where(self.extrapolated, (self.given - before) / self.dt, 0.0)
        blocks = [self._block(nodes, out, seconds)]
        if divided and self.done % self.every == 0:
            blocks.append(self._block(np.array([self.done]), self._march(0)[1], 0.0))
        return blocks

    def _divide(self) -> bool:
        """Take the next step in equal parts, twice as many until they can be solved; return whether that was done."""
        start, parts = self.checkpoint(), 2
        while parts <= MOST_PARTS:
            self._drop_start_values()
            if self._march(1, parts)[0] == CONVERGED:
                self._drop_start_values()  # of steps of another length
                return True
            iterations = self.iterations
            self.restore(start)
            self.iterations = iterations
            parts *= 2
        return False

    def _drop_start_values(self) -> None:
        """Let the next step begin without start values of the steps before."""
        self.work.known[:] = 0
        self.work.closures.multiplier[:] = 0.0

    def _stiffest(self) -> str:
        """Return the end of a message: the force whose bodies may oscillate too fast for the step, if there is one."""
        if not self.ws.efforts.input.size:
            return ""
        self._march(0)
        self.ws.efforts.input[:] = self._inputs(0)[0, 0, 0]
        element, frequency = fastest_law(self.plan, self.ws, self.work)
        limit = FASTEST[2 * len(self.rule.node) - 2]
        if not self.dt * frequency > limit:
            return ""
        force = self.mechanism.forces[self.mechanism.apart.force[element]]
        return (
            f" ({force.label} lets its bodies oscillate at up to {frequency:.2g} rad/s, and steps of this order must"
            f" not be longer than {limit:g} over that, {limit / frequency:.1g} s)"
        )

    def _evaluate_controllers(self, state: State) -> None:
        """Set the inputs that are functions of the state to their values at the present node, ``state``."""
        self.given[:] = [called(force, self.time, state) for _, force in self.controllers]

    def tail(self) -> Block:
        """Return the present node, where it is not recorded."""
        chosen = np.array([self.done] if self.done % self.every else [], dtype=np.int64)
        return self._block(chosen, self._march(0)[1], 0.0)

    def state(self) -> State:
        """Return the present one."""
        nodes = self._block(np.array([self.done]), self._march(0)[1], 0.0).nodes
        state = State(*(nodes[part][0].copy() for part in PARTS))
        return carrying(self.mechanism.apart, state, self.turns, self.ws)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that the steps to come depend on."""
        saved = {name: array.copy() for name, array in role_arrays(self.work, STATE)}
        counts = {"done": self.done, "iterations": self.iterations, "substeps": self.substeps}
        counts["recorded"] = self.done // self.every + 1
        saved |= {name: array.copy() for name, array in self._kept().items()}
        return saved | {name: np.array([count]) for name, count in counts.items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        for name, array in role_arrays(self.work, STATE):
            array[:] = saved[name]
        self.done, self.iterations, self.substeps = (int(saved[name][0]) for name in ("done", "iterations", "substeps"))
        for name, array in self._kept().items():
            array[:] = saved[name]

    def _kept(self) -> dict[str, np.ndarray]:
        """Return arrays that the steps to come depend on, beside the arrays of collocation."""
        steps = {f"steps {name}": array for name, array in role_arrays(self.ws, STEP_STATE)}
        return steps | {"given": self.given, "slopes": self.slopes}

    def _outputs(self, count: int) -> tuple[np.ndarray, ...]:
        """Return arrays of ``count`` recorded nodes, see `march_nodes`."""
        nb = len(self.mechanism.bodies)
        of_bodies = (np.zeros((count, nb, width)) for width in (3, 4, 6))
        return (*of_bodies, np.zeros((count, len(self.plan.elements.force))), np.zeros((count, 0)))

    def _inputs(self, steps: int, parts: int = 1) -> np.ndarray:
        """Return inputs of the forces, and their rates, at the nodes of the next steps, (2, steps parts, s, ne).

        ``parts``: of a step, as long as each other. Of one step where the inputs are constant.
        """
        within = (np.arange(parts)[:, None] + self.rule.node) / parts
        whole = np.arange(steps if self.commands.varies and steps else 1)
        nodes = np.minimum((self.done + whole[:, None, None] + within).reshape(-1, len(self.rule.node)), self.total)
        inputs = np.zeros((2, *nodes.shape, len(self.plan.elements.force)))
        inputs.reshape(2, nodes.size, inputs.shape[3])[:] = self.commands.at(nodes.reshape(-1))
        for n, (e, _) in enumerate(self.controllers):
            inputs[0, :, :, e] = self.given[n] + self.slopes[n] * self.dt * within
        return inputs

    def _march(self, steps: int, parts: int = 1) -> tuple[int, tuple[np.ndarray, ...]]:
        """Take ``steps`` steps, 0 for the present node alone. Return the status and the recorded nodes.

        ``parts``: that each is divided into; nothing is recorded then.
        """
        divided = parts > 1
        count = (self.done + steps) // self.every - self.done // self.every if steps else 1
        out = self._outputs(0 if divided else count)
        status, done, iterations = march_nodes(
            self.plan, self.ws, self.tree, self.closures, self.rule, self.work, self._inputs(steps, parts),
            self.done, steps * parts, NEVER if divided else self.every, self.dt / parts, out,
        )  # fmt: skip
        self.done += done // parts
        self.substeps += done - done // parts
        self.iterations += iterations
        return status, out

    def _block(self, nodes: np.ndarray, out: tuple[np.ndarray, ...], seconds: float) -> Block:
        """Return nodes of these numbers, of the first rows of ``out``, in the description's order."""
        slot, T = self.mechanism.compiled.slot, len(nodes)
        position, quat, motion = (np.ascontiguousarray(part[:T, slot]) for part in out[:3])
        velocity, angular_velocity = (np.ascontiguousarray(motion[..., k : k + 3]) for k in (0, 3))
        compiled, commands = self.mechanism.compiled, np.zeros((T, out[3].shape[1]))
        commands[:] = self.commands.at(nodes)[0]
        commands[:, [e for e, _ in self.controllers]] = self.given
        forces = {"command": compiled.inputs_by_force(commands), "work": compiled.by_force(out[3][:T])}
        moving = {"velocity": velocity, "angular_velocity": angular_velocity, "law_state": np.zeros((T, 0))}
        return Block({"t": self.dt * nodes, "position": position, "quat_wxyz": quat, **moving, **forces}, seconds)
