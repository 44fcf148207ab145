"""`Maximal`: classical integrators in maximal coordinates, which solve a KKT system for the velocities after a step.

Before and after a step of size h (in s): velocities v0, v1 (nb, 6), linear in m/s, world, and angular w in rad/s, body
axes; poses x0, x1, with homogeneous matrices E0, E1 (4, 4) of each body; Jacobians G0, G1 of the rows by small motions
(m, world; rad, body axes). M: masses; f: forces at (x0, v0), including gyroscopic torques; K = df/dx; D = df/dv; y:
impulses along the rows. Then

    kkt                M v1 = M v0 + h f + G0^T y,   E1 = E0 exp(h phi1)           DIFF eqs. 1.28, 1.29, 1.88
    symplectic_euler   M v1 = M v0 + h f + G0^T y,   x1 = x0 + h v1                NOTES 0.9.1
    implicit_euler     (M - h D - h^2 K) v1 = (M - h D) v0 + h f + G0^T y,   x1 = x0 + h v1            NOTES 0.9.2
    trapezoidal        (M - h/2 D - h^2/4 K) v1 = (M - h/2 D + h^2/4 K) v0 + h f + G0^T y,
                       x1 = x0 + h/2 (v0 + v1)                                                         NOTES 0.9.3
    bridson_marino     (M - h/2 D) (v - v0) = h/2 f + G0^T y,   x1 = x0 + h v,   f' = f(x1, v0),
                       (M - h/2 D) (v1 - v0) = h/2 (f + f') + G1^T y                                   NOTES 0.9.4

Each equation for v1 is solved together with G v1 = (target rates) - rate * g, where G is the one in its G^T y, and g
are the gaps of the rows, m or rad; in bridson_marino v satisfies it too, with G0. Rotations are R1 = R0 exp(h w). The
equations of "kkt" are in body axes: phi1 is w1 and the linear part of v1 in body axes, so f has the term -m w x v. D
includes the exact derivative of the gyroscopic torques -w x J w. K and D neglect the change of G^T y with the pose.

``level``: the equations at the start of a step, with rows and forces evaluated (`VelocityLevel`); its arrays
``velocity`` and ``load`` are (nb, 6) in the axes of v0, in N and N m.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from varint.base.checks import choice, not_negative, of_type
from varint.base.errors import ArgumentError
from varint.extras.rivals.velocity_level import ForceMatrices, SparseSystem, VelocityLevel
from varint.methods.reduced.equations import LARGEST_RATE
from varint.methods.stepped import Step, Stepped
from varint.model.bounds import bounded
from varint.model.known_forces import USES, Use
from varint.model.state import State
from varint.runs.method import register
from varint.runs.problem import Problem, Recording
from varint.runs.run import Run
from varint.runs.running import Job

STABILISATIONS = ("baumgarte", "project")


def _kkt(level: VelocityLevel, h: float) -> None:
    """Advance ``level`` by a step of size ``h`` (in s): "kkt" of the module."""
    load = level.load.copy()
    spin = np.einsum("nij,nj->ni", level.ws.rotation[0, :-1], level.velocity[:, 3:])
    mass = level.plan.bodies.mass[:, None]
    load[:, :3] -= mass * np.cross(spin, level.velocity[:, :3])  # -m w x v of body axes, written in world axes
    level.velocity[:] = level.solved(level.momenta(level.velocity) + h * load)
    level.move(level.velocity, along_screws=True)  # which turns the velocities with the body axes


def _symplectic_euler(level: VelocityLevel, h: float) -> None:
    """Advance ``level`` by a step of size ``h`` (in s): "symplectic_euler" of the module."""
    level.velocity[:] = level.solved(level.momenta(level.velocity) + h * level.load)
    level.move(level.velocity)


class _Linearised:
    """Base class of steps with linearised forces; M, K and D are entries (N,) of one sparsity pattern.

    A subclass is called with ``level`` and the step size ``h`` (in s), and advances ``level`` by a step.
    """

    def __init__(self, level: VelocityLevel) -> None:
        """Determine the sparsity pattern of the matrices from the mechanism of ``level``."""
        self.matrices = ForceMatrices(level)
        self.system = SparseSystem(level, self.matrices.pattern)


class _ImplicitEuler(_Linearised):
    """Step "implicit_euler" of the module."""

    def __call__(self, level: VelocityLevel, h: float) -> None:
        K, D = self.matrices.evaluate()
        damped = self.matrices.M - h * D
        p = self.matrices.product(damped, level.velocity) + h * level.load
        level.velocity[:] = self.system.solved(damped - h * h * K, p)
        level.move(level.velocity)


class _Trapezoidal(_Linearised):
    """Step "trapezoidal" of the module."""

    def __call__(self, level: VelocityLevel, h: float) -> None:
        K, D = self.matrices.evaluate()
        v0, damped, stiff = level.velocity.copy(), self.matrices.M - 0.5 * h * D, 0.25 * h * h * K
        p = self.matrices.product(damped + stiff, v0) + h * level.load
        level.velocity[:] = self.system.solved(damped - stiff, p)
        level.move(0.5 * (v0 + level.velocity))


class _BridsonMarino(_Linearised):
    """Step "bridson_marino" of the module."""

    def __call__(self, level: VelocityLevel, h: float) -> None:
        _, D = self.matrices.evaluate()
        damped = self.matrices.M - 0.5 * h * D
        p, load = self.matrices.product(damped, level.velocity), level.load.copy()
        level.move(self.system.solved(damped, p + 0.5 * h * load))
        level.evaluate()
        level.velocity[:] = self.system.solved(damped, p + 0.5 * h * (load + level.load))


class Rule(NamedTuple):
    """An integrator: ``make(level)`` returns the function ``(level, h)`` of its step, ``what`` describes it.

    ``share``: the fraction of a step at which loads and inputs by time are evaluated, 0 at its start and 1 at its end;
    those that are functions of the state are evaluated at its start.
    """

    make: Callable[[VelocityLevel], Callable[[VelocityLevel, float], None]]
    share: float
    what: str


RULES: Mapping[str, Rule] = {
    "kkt": Rule(lambda level: _kkt, 0.0, "semi-implicit Euler along screw motions; order 1"),
    "symplectic_euler": Rule(lambda level: _symplectic_euler, 0.0, "symplectic Euler; order 1"),
    "implicit_euler": Rule(_ImplicitEuler, 1.0, "implicit Euler, forces linearised; order 1"),
    "trapezoidal": Rule(_Trapezoidal, 0.5, "trapezoidal rule, forces linearised; order 2 on straight paths, else 1"),
    "bridson_marino": Rule(
        _BridsonMarino, 0.0, "velocity Verlet, damping linearised; order 2 on straight paths, else 1"
    ),
}


@register
@dataclass(frozen=True, eq=False)
class Maximal(Stepped):
    """Classical integrators in maximal coordinates, to compare with `Variational`: a KKT system at velocity level.

    Order 1; "trapezoidal" and "bridson_marino" have order 2 if no joint or constraint makes a body follow a curved
    path. See `Stepped` for recording, files, and loads that are refused.

    Parameters
    ----------
    integrator : {"kkt", "symplectic_euler", "implicit_euler", "trapezoidal", "bridson_marino"}
        A stabilisation may follow after a colon: "kkt:baumgarte". "kkt": the integrator of DIFF, with forces at the
        start of the step and screw motions at the new velocities; the others as in NOTES 0.9. All but "kkt" and
        "symplectic_euler" linearise the forces, with exact derivatives.
    dt : float
        Step, s.
    stabilisation : {None, "baumgarte", "project"}
        Treatment of gaps g of joints. None: they grow from step to step. "baumgarte": they decay by g' = -rate g (DIFF
        eq. 1.97). "project": after each step the poses, and then the velocities, are projected onto the joints by the
        least change in the kinetic-energy metric.
    rate : float, optional
        Decay rate of gaps with "baumgarte", 1/s; by default 1 / dt.

    Raises
    ------
    ArgumentError
        An unknown integrator or stabilisation, two stabilisations that differ, a ``rate`` without "baumgarte".
    """

    integrator: str = "kkt"
    dt: float = field(kw_only=True)
    stabilisation: str | None = None
    rate: float | None = None

    formulation: ClassVar[str] = "kkt"
    called: ClassVar[str] = "varint.Maximal, the KKT systems at velocity level"
    option: ClassVar[str] = "the integrators of varint.Maximal"

    def __post_init__(self) -> None:
        super().__post_init__()
        integrator, _, held = of_type(self.integrator, str, "integrator", ArgumentError).partition(":")
        if held:
            if self.stabilisation not in (None, held):
                raise ArgumentError(f"integrator {self.integrator!r} and stabilisation {self.stabilisation!r} differ")
            object.__setattr__(self, "stabilisation", held)
        object.__setattr__(self, "integrator", choice(integrator, RULES, "integrator", ArgumentError))
        if self.stabilisation is not None:
            choice(self.stabilisation, STABILISATIONS, "stabilisation", ArgumentError)
        if self.rate is not None:
            if self.stabilisation != "baumgarte":
                raise ArgumentError("rate belongs to stabilisation='baumgarte': leave it out, or give both")
            object.__setattr__(self, "rate", not_negative(self.rate, "rate", ArgumentError))
            bounded(self.rate, "rate", LARGEST_RATE, ArgumentError)

    @classmethod
    def integrators(cls) -> tuple[str, ...]:
        """See `Method`."""
        return tuple(RULES)

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        return " ".join([self.integrator, *([self.stabilisation] if self.stabilisation else [])])

    @property
    def use(self) -> Use:
        """See `Method`."""
        return USES["velocity level"]

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        run, job = super().prepare(problem, recording)
        chosen = {"integrator": self.integrator, "stabilisation": self.stabilisation, "rate": self._rate}
        return run, replace(job, settings=job.settings | chosen)

    @property
    def _rate(self) -> float:
        """Decay rate of gaps, 1/s; zero without "baumgarte"."""
        if self.stabilisation != "baumgarte":
            return 0.0
        return 1.0 / self.dt if self.rate is None else self.rate

    def stepper(self, problem: Problem) -> Step:
        """See `Stepped`."""
        rule, projected = RULES[self.integrator], self.stabilisation == "project"
        steps = problem.steps(self.dt)
        level = VelocityLevel(problem.mechanism, self.dt, steps, self._rate, rule.share, projected)
        move = rule.make(level)

        def step(state: State, dt: float) -> State:
            with np.errstate(over="ignore", invalid="ignore"):  # `SteppedRun` reports numbers that are not finite
                level.take(state)
                move(level, dt)
                return level.give()

        return step
