"""The time-reversal test: a motion run forward and back again."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.method import Variational
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.runs.method import Method, solve
from varint.runs.parts import Arguments, posed, with_arguments
from varint.runs.problem import Problem
from varint.runs.trajectory import Trajectory
from varint.studies.clock import Clock, by_clock
from varint.studies.comparison.differences import UNITS, Quantities, differences, largest, turn
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOL = 1e-12  # of a step, m/s
LEAST_DRAWN = 1e-18  # a logarithmic axis has no zero


@dataclass(frozen=True, eq=False)
class TimeReversal(Study):
    """Distance from its start at which a motion ends that is run forward and back again.

    Attributes
    ----------
    mechanism : str
    scheme : str
    t : (T,) s
        Nodes of the motion forward.
    difference : Quantities of (T,)
        The largest over bodies between the motion forward and that back, at each node: m, rad, m/s, rad/s.
    way : Quantities of float
        How far the motion forward goes from its start, and its largest velocities.
    """

    mechanism: str
    scheme: str
    t: np.ndarray
    difference: Quantities
    way: Quantities

    @property
    def distance(self) -> Quantities:
        """Quantities of float: from the start, where the motion back ends."""
        return Quantities(*(float(each[0]) for each in self.difference))

    @property
    def _title(self) -> str:
        return f"{self.mechanism}: back at the start but for {self.distance.position:.2g} m"

    def _facts(self) -> Iterable[str]:
        yield self.scheme
        yield f"{self.t[-1]:g} s forward and back"
        for kind, unit in UNITS._asdict().items():
            off, way = getattr(self.distance, kind), getattr(self.way, kind)
            yield f"{kind.replace('_', ' ')} off by {off:.2g} of {way:.3g} {unit}"

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.axes import legend
        from varint.drawing.style import line
        from varint.views.curves import over_time, time_unit

        unit, symbol = time_unit(self.t)
        drawn = []
        for k, kind in enumerate(UNITS._fields):
            values = np.maximum(getattr(self.difference, kind), LEAST_DRAWN)
            drawn += axes.semilogy(self.t / unit, values, linewidth=1.0, **line(k))
        axes.set_ylabel("Forward and back apart")
        legend(axes, drawn, [f"{kind.replace('_', ' ')} ({unit})" for kind, unit in UNITS._asdict().items()])
        over_time(axes, self.t, unit, symbol)


@with_arguments
def time_reversal(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | None = None,
    dt: float | None = None,
    *,
    state: State | None = None,
    order: int | None = None,
    scheme: str | None = None,
    tol: float = TOL,
) -> TimeReversal:
    """Run a mechanism, turn all velocities round, run it back: how far from the start it ends.

    A symmetric scheme returns to round-off where forces depend on the pose alone; dampers, friction and stops that take
    energy make the difference that they make in nature. Inputs that are functions of time, and prescribed motions,
    are run backward. Inputs of other forces that are functions are held over a step, which is not symmetric.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method
        s; beside a Problem any method with equal steps, whose tolerance is 1e-12 by default.
    dt : float
        s
    state, order, scheme, tol
        See `simulate`.

    Raises
    ------
    ArgumentError
        Forces that depend on more than time and state: laws with internal variables, inputs with one value a node.
    StateError, ConvergenceError
        See `simulate`.
    """
    problem, method = posed(arguments, Variational, rtol=TOL)
    mechanism = problem.mechanism
    clock = Clock(direction=-1.0)
    backward = _backward(by_clock(mechanism, clock))
    forward = solve(problem, method)
    method.report(forward, stacklevel=4)
    clock.start, end = float(forward.t[-1]), forward[-1]
    turned = end.of_bodies(end.position, end.quat_wxyz, -end.velocity, -end.angular_velocity)
    turned = replace(turned, made_by="")  # no node of that run
    back = solve(Problem(backward, problem.duration, turned), method)
    return TimeReversal(
        mechanism=mechanism.name,
        scheme=forward.settings.get("scheme", method.title),
        t=forward.t,
        difference=_differences(forward, back),
        way=_way(forward),
    )


def _backward(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with reversed motions at constant rates."""

    def turned(force: Force) -> Force:
        if not isinstance(force, Commanded) or force.constant_rate is None:
            return force
        other: dict[str, Any] = {"rate": -force.constant_rate}
        return replace(force, **other)

    forces = [turned(force) for force in mechanism.forces]
    return mechanism if forces == list(mechanism.forces) else replace(mechanism, forces=forces)


def _differences(forward: Trajectory, back: Trajectory) -> Quantities:
    """Return the differences of the reversed motion: nodes of ``back`` in reverse order, with velocities negated."""
    signs = {"position": 1.0, "quat_wxyz": 1.0, "velocity": -1.0, "angular_velocity": -1.0}
    nodes = {name: sign * getattr(back, name)[::-1] for name, sign in signs.items()}
    motion: Any = SimpleNamespace(t=forward.t, **nodes)
    return differences(motion, forward)


def _way(run: Trajectory) -> Quantities:
    x, q = run.position, run.quat_wxyz
    speeds = (np.linalg.norm(getattr(run, name), axis=2) for name in ("velocity", "angular_velocity"))
    ways = np.linalg.norm(x - x[0], axis=2), turn(q, q[0]), *speeds
    return largest(Quantities(*(each.max(axis=1) for each in ways)))
