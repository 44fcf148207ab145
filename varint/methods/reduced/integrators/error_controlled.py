"""Integrators with error control, of scipy."""

from typing import Any, ClassVar

import numpy as np

from varint.kinematics.turns import followed_ends
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.search import Event, step_with_error_control
from varint.methods.reduced.events.selection import events_of
from varint.methods.reduced.integrators.base import Integrator, Task

SHORT = 1e-9  # of the run: a step as short as this gets nowhere ...
MANY_SHORT = 500  # ... if this number of others come before it
REACH, SHARE = 2.0, 0.4  # rad: rotation in a step along which angles are followed, and share of it to try after more
GIVEN_UP = "no step is short enough for rtol and atol"


class Adaptive(Integrator):
    """A solver of scipy; the work of the elements and the states of laws are integrated along.

    The solver restarts where a chart is left, where loops are closed near a singular pose, and where a hard stop is
    reached or released. The last part of y are the impulses of stops and drives; the solver has the first ``width``.
    """

    solver_class: ClassVar[Any]
    locates = True

    evaluations = 0
    short = 0  # steps in a row
    size = 0.0  # s, of the last step
    event: Event | None = None  # at which the last step ends
    natural = 0.0  # s, size of the next step without an event
    overlooked = False  # whether a step is known to have met shapes that it did not foresee

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        super().__init__(equations, q, qdot, task)
        self.events = events_of(equations, task.atol)
        self.followed_ends = followed_ends(equations.compiled, equations.tree_angles[0])
        self.own = 2 * equations.nq + equations.ne + equations.law_state.size  # numbers of y without impulses
        impulses = self.events.size if self.events else 0
        start = equations.law_state
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.ne), start, np.zeros(impulses)])
        self.width = self.y.size
        self.options: dict[str, Any] = {"rtol": task.rtol, "atol": task.atol}
        self.configure()
        if self.events:
            try:
                equations.reach(0.0, *self.motion(self.y))
                self.meet()
            except Blocked as problem:
                self.failure = str(problem)
        self._begin(None)

    @property
    def follows(self) -> bool:
        """Whether forces follow angles that are no coordinates of the tree."""
        return self.followed_ends.size > 0

    def configure(self) -> None:
        """Add to the ``options`` of the solver."""

    def _begin(self, first_step: float | None) -> None:
        self.equations.change_charts(*self._split())
        self._reach()
        self._make_solver(first_step)

    def _make_solver(self, first_step: float | None) -> None:
        # the end is set afterwards: the size of the first step does not depend on it
        y = self.y[: self.width]
        self.solver = self.solver_class(self._slope, self.t, y, np.inf, first_step=first_step, **self.options)
        self.solver.t_bound = self.task.end

    def go_on(self, end: float) -> None:
        """Start anew from the present state, as where inputs have changed, for a run up to ``end``, s."""
        self.task = self.task._replace(end=end)
        self._begin(self.solver.h_abs)

    def _split(self) -> tuple[np.ndarray, np.ndarray]:
        nq = self.equations.nq
        return self.y[:nq], self.y[nq : 2 * nq]

    def _integral(self, y: np.ndarray) -> np.ndarray:
        return y[2 * self.equations.nq + self.equations.ne : self.own]

    def _reach(self) -> bool:
        """Return whether the state was changed: near singular poses its loops are closed."""
        self.equations.integrate_from(self._integral(self.y), 0.0)
        if self.equations.reach(self.t, *self._split()):
            return False
        self.equations.close(*self._split())
        return True

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        nq, slope = self.equations.nq, np.empty_like(y)
        self.equations.integrate_from(self._integral(y), 0.0)
        slope[:nq] = self.equations.imposed(t, y[:nq], y[nq : 2 * nq])[1]
        slope[nq : 2 * nq] = self.acceleration(t, y[:nq], y[nq : 2 * nq])
        slope[2 * nq : self.own] = np.concatenate([self.equations.power, self.equations.flow])
        if self.events and y.size > self.own:
            slope[self.own :], power = self.events.efforts(t, y[:nq], y[nq : 2 * nq], slope[nq : 2 * nq])
            slope[2 * nq : 2 * nq + power.size] += power
        self.evaluations += 1
        if not np.isfinite(slope).all():
            raise NotFinite
        return slope

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return ddq (nq,), after which `Equations.load` is done."""
        model = self.events or self.equations
        return model.acceleration(t, q, rates)

    def gets_nowhere(self) -> bool:
        """Return whether no step can follow: many were very short, as ``failure`` then says, or `settle` failed."""
        if self.short > MANY_SHORT:
            self.failure = (
                f"{self.short} steps in a row were shorter than {SHORT * self.task.end:.1g} s. Larger rtol and atol, or"
                " an integrator for stiff forces, may help"
            )
        return self.failure is not None

    def step(self) -> None:
        if self.gets_nowhere():
            return
        if not self.events:
            return self.take_step()
        try:
            step_with_error_control(self, self.events)
        except (NotFinite, Blocked) as problem:
            self.failure = str(problem)

    def take_step(self) -> None:
        """Make one step of the solver, or set ``failure`` to the reason why not.

        A step in which bodies whose angles are followed turn by more than `REACH` is made again, shorter.
        """
        if not self.follows:
            return self.try_step()
        start, spin = self.present(), self._relative_spin()
        while True:
            self.try_step()
            if self.failure is not None:
                return
            turned = float((0.5 * self.size * (spin + self._relative_spin())).max())
            if turned <= REACH:
                return
            size = self.size * min(0.5, SHARE * REACH / turned)
            self.go_back(start)
            self.restart(size)

    def _relative_spin(self) -> np.ndarray:
        """Return the relative angular speeds (n,), rad/s, of the pairs ``followed_ends``."""
        e = self.equations
        e.place_and_move(*self.motion(self.y))
        spin = np.vstack([np.einsum("nij,nj->ni", e.rotation[: e.nb], e.velocity[: e.nb, 3:]), np.zeros(3)])
        return np.linalg.norm(spin[self.followed_ends[:, 0]] - spin[self.followed_ends[:, 1]], axis=1)

    def try_step(self) -> None:
        """Make one step of the solver, of any rotation."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # `_slope` finds numbers that are not finite
                message = self.solver.step()
        except NotFinite as problem:
            message = str(problem)
        if self.solver.status == "failed" or message:
            self.failure = message or GIVEN_UP
            return
        self.steps += 1
        self.size, self.t, self.y = self.solver.t - self.t, self.solver.t, self._whole(self.solver.y)
        self.short = self.short + 1 if self.size < SHORT * self.task.end else 0

    def _whole(self, y: np.ndarray) -> np.ndarray:
        """Return a copy of the solver's part of y (..., n), completed by the rest of the present y."""
        if self.width == self.y.size:
            return y.copy()
        rest = self.y[self.width :]
        return np.concatenate([y, np.broadcast_to(rest, (*y.shape[:-1], rest.size))], axis=-1)

    def settle(self) -> None:
        try:
            if self.event:
                self.meet(self.event.number)
                self._begin(self.events.first_step(self.natural) if self.events else self.natural)
                self.event = None
            elif self.t < self.task.end and (self.equations.change_charts(*self._split()) or self._reach()):
                self._begin(self.size)
        except (NotFinite, Blocked) as problem:
            self.failure = str(problem)

    # ------------------------------------------------------------------------------------- at hard stops

    def motion(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and rates (nq,) of ``y``, and set the states of laws to its own."""
        self.equations.integrate_from(self._integral(y), 0.0)
        return y[: self.equations.nq], y[self.equations.nq : 2 * self.equations.nq]

    def meet(self, number: int = -1, closing: bool = False) -> None:
        """Solve the jump of an event, see `Stops.settle`."""
        assert self.events is not None
        jump = self.events.settle(self.t, *self.motion(self.y), number, closing)
        nq = self.equations.nq
        self.y[nq : 2 * nq] += jump.rates
        self.y[2 * nq : 2 * nq + jump.work.size] += jump.work
        self.y[self.own :] += jump.impulse

    def restart(self, size: float | None, until: float | None = None) -> None:
        """Start the solver anew, with a step of ``size``, s, or of its own choice, that does not pass ``until``, s."""
        self._make_solver(size)
        if until is not None:
            self.solver.t_bound = until

    def go_back(self, start: tuple) -> None:
        """Return to a `present`, before steps that do not count; the solver is not restored."""
        turns = self.equations.ws.efforts.value_near
        self.t, self.steps, self.short = start[:3]
        self.y, turns[:] = start[3].copy(), start[4]

    def present(self) -> tuple:
        """Time, s, counts, y, and the turns of angles."""
        return self.t, self.steps, self.short, self.y.copy(), self.equations.ws.efforts.value_near.copy()

    def states(self, times: np.ndarray) -> np.ndarray:
        try:
            return self._whole(self.solver.dense_output()(times).T)
        except NotFinite as problem:
            self.failure = str(problem)
            return np.empty((0, self.y.size))

    def ends(self) -> bool:
        return self.t + self.solver.h_abs >= self.task.end

    def memory(self) -> dict[str, np.ndarray]:
        counts = np.array([self.steps, self.evaluations, self.short])
        f = np.append(self.solver.f, np.zeros(self.y.size - self.width))
        solver = {"f": f, "h_abs": np.array([self.solver.h_abs])}
        regimes = self.events.memory() if self.events else {}
        return {"t": np.array([self.t]), "y": self.y.copy(), "counts": counts} | solver | regimes

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        self.t, self.y = float(saved["t"][0]), saved["y"].copy()
        if self.events:
            self.events.recall(saved)
        self._make_solver(1.0)
        self.failure = None
        self.solver.f, self.solver.h_abs = saved["f"][: self.width].copy(), float(saved["h_abs"][0])
        self.steps, self.evaluations, self.short = (int(number) for number in saved["counts"])
