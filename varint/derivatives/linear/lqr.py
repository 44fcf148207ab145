"""The linear quadratic regulator: gains of the state feedback that holds a mechanism at an equilibrium."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_continuous_are, solve_discrete_are

from varint.base.checks import flag, in_a_shape, of_type
from varint.base.display import Shown, count_text, names_text
from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.candidates import unit_of_coordinate
from varint.derivatives.linear.equilibrium import equilibrium
from varint.derivatives.linear.holding import held_inputs, with_inputs
from varint.derivatives.linear.linearization import Linearization, commanded, linearize
from varint.derivatives.linear.minimal_coordinates import check_moves
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.commanded import Commanded
from varint.model.state import State

AT_REST = 1e-6  # m or rad: how far a state may be from its equilibrium, about
REACHED = 1e-9  # of the largest singular value: what inputs do to a motion that they reach
BORDER = 1e-6  # of the largest element of A: a real part of an eigenvalue that is zero to round-off
SEMIDEFINITE = 1e-12  # of the largest eigenvalue of a weight


@dataclass(frozen=True, eq=False)
class Regulator(Shown):
    """The feedback u = - K x about an equilibrium, x and u as in `Linearization`.

    system : Linearization
    K : (m, 2 n)
    cost : (2 n, 2 n) solution of the Riccati equation: x . cost x is the integral, or the sum over steps, of
        x . Q x + u . R u from x on
    eigenvalues : (2 n,) complex, of A - B K; below zero in their real part, with steps below one in size
    """

    system: Linearization
    K: np.ndarray
    cost: np.ndarray
    eigenvalues: np.ndarray

    def inputs(self, state: State) -> dict[str, float]:
        """Return the inputs at a state by name of the force, each in the unit of its force: N or N m for motors."""
        inputs = self.system.input - self.K @ self.system.coordinates(state)
        return dict(zip(self.system.inputs, inputs.tolist(), strict=True))

    def closed_loop(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism with the feedback as inputs of its forces; `simulate` holds them from node to node."""
        of_type(mechanism, Mechanism, "mechanism", ArgumentError)
        if missing := [name for name in self.system.inputs if name not in mechanism.force_index]:
            raise ArgumentError(f"'{mechanism.name}' has no force '{missing[0]}', which the regulator commands")
        forces = [self._commanded(force) if force.name in self.system.inputs else force for force in mechanism.forces]
        return replace(mechanism, forces=forces)

    def _commanded(self, force):
        of_type(force, Commanded, f"force '{force.name}' of the mechanism", ArgumentError)
        k, about, n = self.system.inputs.index(force.name), self.system._about, len(self.system.names)

        def feedback(t: float, state: State) -> float:
            return float(self.system.input[k] - self.K[k] @ about.read(state))

        def by_state(t: float, state: State) -> tuple[np.ndarray, ...]:
            pose = -np.tensordot(self.K[k, :n], about.rows_at(state), 1)
            pose -= np.tensordot(self.K[k, n:], about.rates_by_pose(state), 1)
            motion = -np.tensordot(self.K[k, n:], about.rate_rows_at(state), 1)
            return pose[:, :3], pose[:, 3:], motion[:, :3], motion[:, 3:]

        feedback.gradient = by_state  # type: ignore[attr-defined]
        return replace(force, **{force.command_name: feedback})

    def _facts(self) -> Iterable[str]:
        yield f"'{self.system.mechanism}'"
        yield f"{count_text(len(self.K), 'input')} {names_text(self.system.inputs)}"
        slowest = np.abs(self.eigenvalues).max() if self.system.dt else self.eigenvalues.real.max()
        yield f"slowest eigenvalue {slowest:.6g}" + ("" if self.system.dt else " 1/s")


def lqr(
    mechanism: Mechanism,
    state: State | None = None,
    Q: ArrayLike | None = None,
    R: ArrayLike | None = None,
    dt: float | None = None,
    *,
    hold: bool = False,
    order: int | None = None,
    scheme: str | None = None,
) -> Regulator:
    """Find the gains that hold a mechanism at an equilibrium, stable or not, at the least cost (Kalman 1960).

    Parameters
    ----------
    mechanism : Mechanism
    state : State, optional
        An equilibrium with the inputs that the forces have there; `equilibrium` finds one where not given. With
        ``hold`` any pose at rest that the inputs can hold, ``mechanism.state()`` where not given.
    Q, R : (2 n, 2 n), (m, m), optional
        Weights of coordinates and their rates, and of inputs, in the order of `Linearization`; symmetric, Q positive
        semidefinite, R positive definite. Also their diagonals (2 n,), (m,), or one number for all of that. Ones on the
        diagonal where not given. Coordinates count in rad or m, their rates in rad/s or m/s, inputs in the unit of
        their force: a weight of 1 on a slide and on a hinge takes 1 m to be as bad as 1 rad.
    dt : float, optional
        s: gains for inputs that are held over steps of dt, by the derivative of a step. Else in continuous time.
    hold : bool
        Whether the regulator adds the inputs that hold the state, the least by the sum of squares of their changes, in
        place of those that the forces have. They are its ``system.input``.
    order, scheme
        Of the step, as in `simulate`.

    Raises
    ------
    ArgumentError
        A mechanism without inputs, wrong weights, motions that no input reaches and that do not die away by themselves;
        and as in `linearize`.
    StateError
        A state that is no equilibrium, or with ``hold`` one that the inputs cannot hold.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    names = [mechanism.forces[k].name for k in commanded(mechanism)]
    if not names:
        raise ArgumentError(f"'{mechanism.name}' has no force with an input: give it a Motor, for instance")
    if flag(hold, "hold", ArgumentError):
        state = mechanism.state() if state is None else state
        mechanism = with_inputs(mechanism, held_inputs(mechanism, state, names))
    elif state is None:
        state = equilibrium(mechanism)
    system = linearize(mechanism, state, dt, order=order, scheme=scheme)
    check_moves(mechanism, system._about)
    Q = _weight(Q, len(system.A), "Q", 0.0)
    R = _weight(R, len(system.inputs), "R", SEMIDEFINITE)
    _check_rest(system, mechanism)
    _check_reached(system)
    _check_weighed(system, Q)
    solve = solve_continuous_are if dt is None else solve_discrete_are
    try:
        cost = solve(system.A, system.B, Q, R)
    except np.linalg.LinAlgError as problem:
        raise ArgumentError(f"Q and R determine no regulator of '{mechanism.name}' ({problem})") from None
    A, B = system.A, system.B
    K = np.linalg.solve(R, B.T @ cost) if dt is None else np.linalg.solve(R + B.T @ cost @ B, B.T @ cost @ A)
    return Regulator(system, K, cost, np.linalg.eigvals(A - B @ K).astype(complex))


def _weight(entries: ArrayLike | None, size: int, name: str, least: float) -> np.ndarray:
    """Return a symmetric weight (size, size) whose eigenvalues are at least ``least`` of the largest.

    ``entries``: a number, a diagonal or the matrix; None: the unit matrix. With ``least`` zero, round-off below zero is
    allowed. Raises ArgumentError, with ``name`` of the argument.
    """
    if entries is None:
        return np.eye(size)
    shapes, wanted = ((), (size,), (size, size)), f"a number, a diagonal ({size},), or of shape ({size}, {size})"
    weight = in_a_shape(entries, shapes, name, ArgumentError, wanted)
    if weight.ndim < 2:
        weight = np.diag(np.broadcast_to(weight, size))
    if np.abs(weight - weight.T).max() > SEMIDEFINITE * np.abs(weight).max(initial=0.0):
        raise ArgumentError(f"{name} must be symmetric")
    sizes = np.linalg.eigvalsh(weight)
    if sizes[0] < (least or -SEMIDEFINITE) * np.abs(sizes).max() or (least and sizes[-1] <= 0.0):
        wanted = "positive definite" if least else "positive semidefinite"
        raise ArgumentError(f"{name} must be {wanted}, its least eigenvalue is {sizes[0]:.3g}")
    return weight


def _check_rest(system: Linearization, mechanism: Mechanism) -> None:
    change = system.A if system.dt is None else system.A - np.eye(len(system.A))
    if np.abs(system.offset).max() > AT_REST * max(1.0, np.abs(change).max()):
        rate, n = system.offset / (1.0 if system.dt is None else system.dt), len(system.names)
        k = int(np.abs(rate).argmax())
        unit = unit_of_coordinate(mechanism, system.names[k % n])
        does = f"moves at {rate[k]:.3g} {unit}/s" if k < n else f"accelerates at {rate[k]:.3g} {unit}/s^2"
        raise StateError(
            f"'{system.mechanism}' is not at rest in this state: with the inputs that the forces have there,"
            f" '{system.names[k % n]}' {does}. Give the equilibrium itself (vi.equilibrium finds"
            " stable ones alone), or hold=True, by which the regulator adds the inputs that hold the state"
        )


def _check_reached(system: Linearization) -> None:
    """Raise ArgumentError where a motion that does not die away is not reached by the inputs (Hautus' test)."""
    for value in system.eigenvalues:
        if (value.real if system.dt is None else np.abs(value) - 1.0) < -REACHED * np.abs(system.A).max():
            continue
        matrix = np.hstack([system.A - value * np.eye(len(system.A)), system.B])
        left, sizes, _ = np.linalg.svd(matrix)
        if sizes[-1] > REACHED * sizes[0]:
            continue
        moving = np.abs(left[:, -1]).reshape(2, -1).max(axis=0)
        names = [name for name, share in zip(system.names, moving, strict=True) if share > 0.1 * moving.max()]
        raise ArgumentError(
            f"no input of '{system.mechanism}' reaches its motion with the eigenvalue {value:.4g}, in"
            f" {names_text(names)}, which does not die away by itself: it cannot be stabilised"
        )


def _check_weighed(system: Linearization, Q: np.ndarray) -> None:
    """Raise ArgumentError where ``Q`` (2 n, 2 n) has no weight on a motion that neither grows nor dies away.

    No gains are then the best ones: Hautus' test of the observability by Q of what lies on the border of stability.
    """
    for value in system.eigenvalues:
        growth = value.real if system.dt is None else np.abs(value) - 1.0
        sizes = np.linalg.svd(np.vstack([system.A - value * np.eye(len(system.A)), Q]), compute_uv=False)
        if abs(growth) <= BORDER * np.abs(system.A).max() and sizes[-1] <= REACHED * sizes[0]:
            raise ArgumentError(
                f"Q has no weight on a motion that does not die away by itself, with the eigenvalue {value:.4g}"
            )
