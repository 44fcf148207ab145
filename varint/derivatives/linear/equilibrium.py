"""Equilibria of a mechanism: Newton's method for the balance of forces, on the motions that the joints allow."""

import numpy as np

from varint.base.checks import of_type
from varint.base.errors import ArgumentError, ConvergenceError
from varint.derivatives.linear.rest import Rest, at_rest
from varint.kinematics.assembly import checked_state
from varint.kinematics.open_stops import check_open
from varint.mechanism.mechanism import Mechanism
from varint.model.known_forces import USES
from varint.model.rotation_vectors import quat_from_vector, quat_product
from varint.model.state import State

ITERATIONS = 200
BALANCED = 1e-13  # of weights and stiffness: nothing but round-off pushes
LONGEST = 0.2  # rad, or sizes of a part, of one step
LEAST = 1e-9  # of the largest stiffness: softer motions are free


def equilibrium(mechanism: Mechanism, state: State | None = None) -> State:
    """Find a pose near ``state`` in which the mechanism stays at rest; a stable one if it is reached downhill.

    Steps go down the potential energy where the stiffness along them is negative, and to where the forces balance where
    it is positive, so maxima and saddles are left. Forces act as at t = 0 and at rest.

    Parameters
    ----------
    mechanism : Mechanism
    state : State, optional
        Where to look; ``mechanism.state()`` where not given.

    Raises
    ------
    ArgumentError
        A hard stop that is closed in the equilibrium that the mechanism has without it, laws with an internal variable.
    ConvergenceError
        No equilibrium was found, such as for a falling mechanism.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    state = mechanism.state() if state is None else state
    x, quat, _, _ = checked_state(mechanism, state, "state")
    still = np.zeros_like(x)
    here = mechanism.assemble(state.of_bodies(x, quat, still, still))
    order, length = mechanism.compiled.order, mechanism.compiled.length
    for _ in range(ITERATIONS):
        rest = at_rest(mechanism, here)
        if np.abs(rest.unbalanced).max(initial=0.0) <= BALANCED * rest.push(length):
            check_open(mechanism, here, USES["rest"])
            return here
        motion = _step(rest, length).reshape(-1, 6)
        dx, turn = np.zeros_like(x), np.zeros_like(x)
        dx[order], turn[order] = motion[:, :3], motion[:, 3:]
        quat = quat_product(here.quat_wxyz, quat_from_vector(turn))
        moved = here.of_bodies(here.position + dx, quat, still, still)
        here = mechanism.assemble(moved)
    raise ConvergenceError(
        f"no equilibrium of '{mechanism.name}' was found in {ITERATIONS} steps: give a state that is nearer to one, and"
        " see that something holds all bodies",
        time=0.0, body=None, joint=None, trajectory=None,
    )  # fmt: skip


def _step(rest: Rest, length: float) -> np.ndarray:
    """Return motions (6 nb,) towards balance, m and rad; downhill along motions of zero or negative stiffness.

    Limited to `LONGEST`.
    """
    stiffness = rest.along(rest.stiffness)
    size, shape = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    least = LEAST * np.abs(size).max(initial=0.0) + 1e-300
    step = shape @ ((shape.T @ rest.unbalanced) / np.maximum(np.abs(size), least))
    if (size > least).all():
        step = np.linalg.solve(stiffness, rest.unbalanced)
    motion = rest.motions @ step
    by_body = np.abs(motion).reshape(-1, 6)
    longest = max((by_body[:, :3] / length).max(initial=0.0), by_body[:, 3:].max(initial=0.0))
    return motion * min(1.0, LONGEST / longest) if longest > 0.0 else motion
