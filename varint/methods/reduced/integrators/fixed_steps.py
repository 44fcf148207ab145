"""Integrators in steps of one size."""

import numpy as np

from varint.base.errors import ArgumentError
from varint.meshes.vertex_record import LOST
from varint.methods.reduced.charts import SMALLEST
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.contact_solvers import CONTACT_SOLVERS
from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.search import step_of_one_size
from varint.methods.reduced.events.selection import events_of
from varint.methods.reduced.implicit import NotConverged, Stages
from varint.methods.reduced.integrators.base import Integrator, Task
from varint.methods.reduced.mesh_stages import MeshStages
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.known_forces import is_impulsive

SHORTER = 16  # times shorter is the step that is tried where one fails
REGULAR = 0.95  # of det S: a step that fails is tried again in charts that are as regular as there are


class Overflow(ArithmeticError):
    """A step whose end is not finite."""


class FixedSteps(Integrator):
    """Steps of ``dt``.

    Charts are changed where a step starts, and where it fails. The work of the laws is summed by the trapezoidal rule,
    or by the quadrature of a scheme with stages.
    Prescribed joints are where their motion has them from the start on.
    """

    fixed = True
    by_rates = False  # whether rows of loops and of stops in contact are kept by rates, not by accelerations

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        super().__init__(equations, q, qdot, task)
        mechanism = equations.mechanism
        touching = self.contacts and any(is_impulsive(mechanism, force) for force in mechanism.forces)
        self.touching = CONTACT_SOLVERS[task.contact_solver](equations) if touching else None
        q, qdot, _ = equations.imposed(0.0, q, qdot)
        self.events = None if self.contacts else events_of(equations, by_rates=self.by_rates)
        impulses = self.touching.impulse.size if self.touching else self.events.size if self.events else 0
        assert task.dt is not None  # see `fixed`
        self.h = task.dt
        start = equations.compiled.law_start
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.ne), start, np.zeros(impulses)])
        self.stages = MeshStages(equations) if soft_meshes(mechanism) else Stages(equations)
        self.stages.exact = self.events is not None
        self.free = np.zeros((2, 0))  # coordinates of free vertices, m, and their rates
        self.lost = self.loss = np.zeros(0)  # J, by damping of each mesh since the start, and W
        if isinstance(self.stages, MeshStages):
            self.free = self.stages.start(q, qdot, task.vertices)
            self.loss = -self.stages.inverse.damping_power(self.free)
            self.lost = np.zeros_like(self.loss)
        self.efforts = np.zeros(impulses)  # of stops and drives at the node
        self.power = self._place()
        if self.events:
            try:
                self.meet()
            except (Blocked, NotFinite) as problem:
                self.failure = str(problem)

    @property
    def newton_iterations(self) -> int:
        return self.stages.iterations

    @property
    def evaluations(self) -> int:
        return self.stages.iterations

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and rates at t + h; ``integral`` (ns,) of deviations at t."""
        raise NotImplementedError

    def remember(self, start: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Note that a step from q, rates and integrals ``start`` is done, and that the next one continues from it."""

    def forget(self) -> bool:
        """Let the next step start anew, as after a change of charts; return whether this makes a difference."""
        return False

    def take_inputs(self) -> None:
        """Take the power at the node from inputs that have changed there."""
        self.power = self._place()
        if self.events:
            self.efforts, more = self._efforts()
            self.power = self.power + more

    def _split(self) -> list[np.ndarray]:
        """Return q, qdot, the work of the laws, the integrals and the impulses: views of y."""
        e, y = self.equations, self.y
        rates, work, states = 2 * e.nq, 2 * e.nq + e.ne, 2 * e.nq + e.ne + e.law_state.size
        return [y[: e.nq], y[e.nq : rates], y[rates:work], y[work:states], y[states:]]

    def _place(self) -> np.ndarray:
        """Place the equations at the node and return the powers (ne,), W.

        Angles of forces count their turns from here, integrals end here.
        """
        equations = self.equations
        q, qdot, _, integral, _ = self._split()
        equations.place(q)
        equations.move(q, qdot)
        equations.load(self.t)
        integral[:] = equations.law_state
        equations.keep_turns()
        return equations.power.copy()

    def step(self) -> None:
        if self.failure:
            return
        try:
            if self.events:
                step_of_one_size(self, self.events)
            else:
                self.arrive(self.attempt(self.h), self.h, self.h * (self.steps + 1))
        except (Blocked, NotFinite, Overflow) as problem:
            self.failure = str(problem)
        except (NotConverged, np.linalg.LinAlgError):
            self.failure = f"Newton's iteration did not converge{self._shorter()}"
        else:
            self.steps += 1

    def _shorter(self) -> str:
        """Return whether a shorter step from the node can be solved, as the rest of a message."""
        size = self.h / SHORTER
        try:
            self.attempt(size)
        except (Blocked, NotFinite, Overflow, NotConverged, np.linalg.LinAlgError):
            return f", nor does it in a step of {size:.3g} s: shorter steps are not the remedy"
        return f". A step of {size:.3g} s converges there: take a smaller dt"

    def attempt(self, size: float) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and rates after a step of ``size``, s, which `arrive` takes; raises if it cannot be solved."""
        try:
            after = self._after(SMALLEST, size)
        except (NotConverged, np.linalg.LinAlgError):
            self.stages.multiplier = np.zeros_like(self.stages.multiplier)
            after = self._after(REGULAR, size)
        if not all(np.isfinite(part).all() for part in after):
            raise Overflow("the motion is not finite any more")
        return after

    def arrive(self, after: tuple[np.ndarray, np.ndarray], size: float, t: float) -> None:
        """Take the step of ``size``, s, that the last `attempt` was, to time ``t``."""
        self.remember(self._start)
        self.t, nq = t, self.equations.nq
        if self.free.size:
            self.free = np.array([part[nq:] for part in after])
            after = after[0][:nq], after[1][:nq]
        self.y = np.concatenate([*after, self.y[2 * nq :]])
        power, efforts = self._place(), self.efforts
        if isinstance(self.stages, MeshStages):
            before, self.loss = self.loss, -self.stages.inverse.damping_power(self.free)
            self.lost = self.lost + 0.5 * size * (before + self.loss)
        if self.events:
            efforts, more = self._efforts()
            power += more
        _, _, work, _, impulse = self._split()
        work += self._work(size, power)
        if self.touching:
            work += self.touching.work
            impulse += self.touching.impulse
        elif self.events:
            impulse += 0.5 * size * (self.efforts + efforts)
        self.power, self.efforts = power, efforts

    def _work(self, size: float, power: np.ndarray) -> np.ndarray:
        """Return the work (ne,) of the laws in a step of ``size``, s, J; ``power`` (ne,) at its end, W."""
        return 0.5 * size * (self.power + power)

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """Return q and rates (nq,) at the node, and set the integrals to the node's."""
        q, qdot, _, integral, _ = self._split()
        self.equations.integrate_from(integral, 0.0)
        return q, qdot

    def meet(self, number: int = -1, closing: bool = False) -> None:
        """Solve the jump of an event, see `Stops.settle`."""
        assert self.events is not None
        jump = self.events.settle(self.t, *self.motion(), number, closing)
        _, qdot, work, _, impulse = self._split()
        qdot += jump.rates
        work += jump.work
        impulse += jump.impulse
        self.stages.multiplier = np.zeros(self.equations.row_count)
        self.motion()
        power = self._place()
        self.efforts, more = self._efforts()
        self.power = power + more

    def _efforts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts (nc,) of stops and drives at the node, N, N m, and power (ne,) of the stops, W."""
        assert self.events is not None
        if not self.events.acts:
            return np.zeros_like(self.efforts), np.zeros_like(self.power)
        motion = self.motion()
        return self.events.efforts(self.t, *motion, self.equations.acceleration(self.t, *motion).copy())

    def _after(self, least: float, size: float) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and rates after a step of ``size``, s, in charts that are regular by ``least``."""
        present = self._split()
        changed = self.equations.change_charts(present[0], present[1], least)
        q, v, _, integral, _ = (part.copy() for part in present)
        if changed:
            self.forget()
            q, v, _ = self.equations.imposed(self.t, q, v)
        if self.free.size:
            q, v = np.append(q, self.free[0]), np.append(v, self.free[1])
        self._start = q, v, integral
        with np.errstate(over="ignore", invalid="ignore"):  # the caller finds numbers that are not finite
            return self.solve(self.t, size, q, v, integral)

    def states(self, times: np.ndarray) -> np.ndarray:
        return self.y[None]

    def vertices(self) -> dict[str, np.ndarray]:
        if not isinstance(self.stages, MeshStages):
            return {}
        return self.stages.vertices(*self.free) | {LOST: self.lost}

    def memory(self) -> dict[str, np.ndarray]:
        kept = {
            "y": self.y,
            "power": self.power,
            "multiplier": self.stages.multiplier,
            "touching": self.touching.z if self.touching else np.zeros(0),
        }
        if self.events:  # of which any may be in contact
            more = len(self.events) - int(self.equations.held.sum())
            kept |= {"multiplier": np.append(self.stages.multiplier, np.zeros(more)), "efforts": self.efforts}
        if self.free.size:
            kept |= {"free": self.free, "lost": self.lost, "loss": self.loss}
        counts = np.array([self.steps, self.stages.iterations])
        return {name: array.copy() for name, array in kept.items()} | {"counts": counts}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        self.y, self.power = saved["y"].copy(), saved["power"].copy()
        self.stages.multiplier = saved["multiplier"][: self.equations.row_count].copy()
        self.steps, self.stages.iterations = (int(number) for number in saved["counts"])
        self.t = self.h * self.steps
        if self.free.size:
            self.free, self.lost, self.loss = (saved[name].copy() for name in ("free", "lost", "loss"))
        if self.touching:
            self.touching.z = saved["touching"].copy()
        if self.events:
            self.efforts, self.failure = saved["efforts"].copy(), None


class Implicit(FixedSteps):
    """Stages solved by Newton's iteration."""

    stiff = differentiates = by_rates = True

    @classmethod
    def check(cls, equations: Equations, task: Task) -> None:
        """See `Integrator`: beside deformable bodies no prescribed motions and no hard stops."""
        mechanism = equations.mechanism
        for body in soft_meshes(mechanism):
            name = f"{body.label}: steps of {cls.name!r} with deformable bodies"
            for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True):
                if traits & {"driven", "moved"}:
                    raise ArgumentError(f"{name} know no prescribed motions, as of {force.label}: take a JointServo")
                if "hard" in traits:
                    raise ArgumentError(f"{name} know no impacts, as of {force.label}: give it a stiffness")
            if equations.drives:
                raise ArgumentError(f"{name} know no prescribed motions: leave prescribed= out, and take a JointServo")
