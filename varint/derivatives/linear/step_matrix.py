"""Newton's matrix of a step of the variational integrator, as a sparse matrix with the names of its blocks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import of_type, positive
from varint.base.display import Shown, value_text
from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.step_tangents import TangentRun
from varint.kinematics.initial_state import checked_start
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.schemes import scheme
from varint.model.bounds import divisor
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.step.dense import WIDE
from varint.step.derivatives.columns import apply_wide
from varint.step.derivatives.operator import prepare_operator
from varint.step.derivatives.tape import play_stage
from varint.step.intervals import StepSpan
from varint.step.pairs import curve_pairs
from varint.step.plan import JOINT, Plan, Tangent, Workspace

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


@dataclass(frozen=True, eq=False)
class StepMatrix(Shown):
    """The KKT matrix of a step: the derivative of its N = 6 nb + m residuals by its unknowns, [[D, -G^T], [H, C]].

    D (6 nb, 6 nb): of the momenta and the efforts. G, H (m, 6 nb): rows of joints and constraints at the start and at
    the end of the step, H by velocities. C (m, m) is zero but for ones on the diagonal of the compliant rows of joints.

    Attributes
    ----------
    mechanism : str
    dt : float
        s
    matrix : (N, N) csc_matrix
        Rows: balance of each body, N s, world, and N m s, body axes; then of each row its gap at the end over ``dt``,
        m/s or rad/s; of a compliant row what its impulse misses, N s or N m s. Columns: velocity of each body, m/s,
        world, and rad/s, body axes, constant over the step; then the impulse of each row, N s or N m s.
    velocity : (nb, 6)
        The velocities of the step, at which the matrix is.
    bodies, rows : mapping
        Slices of rows and of columns by name: of bodies, in the order of the mechanism; of joints, and of forces that
        are constraints.
    """

    mechanism: str
    dt: float
    matrix: "csc_matrix"
    velocity: np.ndarray
    bodies: Mapping[str, slice]
    rows: Mapping[str, slice]

    @property
    def jacobian(self) -> "csc_matrix":
        """G (m, 6 nb), the constraint Jacobian at the start of the step: G times the velocities of the bodies is zero.

        Those of compliant rows are not constraints; their velocities are the rates of the rows.
        Columns as those of ``matrix``; rows in the slices of ``rows`` less 6 nb.
        """
        count = self.velocity.size
        return -self.matrix[:count, count:].T.tocsc()

    def _facts(self) -> Iterable[str]:
        yield value_text(self.mechanism)
        yield f"{self.matrix.shape[0]} rows and columns, {self.matrix.nnz} entries"
        yield f"dt = {self.dt:g} s"


def step_matrix(mechanism: Mechanism, state: State | None, dt: float) -> StepMatrix:
    """Return Newton's matrix of one step of order 2 from ``state``, exact, at the solution of the step.

    Rows of efforts, which the block LDU of the package adds for forces between bodies, are not in it: their changes are
    in D. Redundant rows of loops are, so that the matrix is then singular.

    Parameters
    ----------
    mechanism : Mechanism
    state : State or None
        At t = 0; None: ``mechanism.state()``.
    dt : float
        s

    Raises
    ------
    ArgumentError
        Forces that a state does not determine, motions prescribed in the world. StateError: a wrong state; one whose
        step meets a hard stop, or is too long and would be done in halves. ConvergenceError: the step could not be
        solved.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    dt = divisor(positive(dt, "dt", ArgumentError), "dt", ArgumentError)
    refuse(mechanism, USES["linearize step"])
    start = checked_start(mechanism, mechanism.state() if state is None else state)
    run = TangentRun(mechanism, scheme(2), start, dt, 1)
    run.march_on(1)
    plan, tape = run.compiled.plan, run.march.ws.tape
    if tape.events.count[0] or tape.count[0] != 1:
        problem = "meets a hard stop" if tape.events.count[0] else "is too long for the motion"
        raise StateError(f"a step of {dt:g} s of '{mechanism.name}' {problem}: take a shorter one, or another state")
    ws = run.aside
    upper, h = play_stage(plan, ws, tape, 0)
    prepare_operator(plan, ws, 0.5 * h)
    curve_pairs(plan, ws, run.work, upper)
    owners = _owners(mechanism, ws)
    order = run.compiled.slot
    matrix = _matrix(plan, ws, run.work, StepSpan(upper, 1, h), order, [rows for _, rows in owners])
    bodies = {body.name: slice(6 * n, 6 * n + 6) for n, body in enumerate(mechanism.bodies)}
    rows, first = {}, 6 * len(bodies)
    for name, group in groupby(owners, key=lambda owner: owner[0]):
        rows[name] = slice(first, first + len(list(group)))
        first = rows[name].stop
    return StepMatrix(
        mechanism.name, dt, matrix, ws.velocity[order].copy(), MappingProxyType(bodies), MappingProxyType(rows)
    )


def _owners(mechanism: Mechanism, ws: Workspace) -> list[tuple[str, np.ndarray]]:
    """Name of the joint or force, and numbers in the plan, of each row that takes part.

    The rows of joints come first, in the order of the mechanism; those of one constraint count as one.
    """
    compiled, plan = mechanism.compiled, mechanism.compiled.plan
    joint = np.repeat(compiled.joints, np.diff(plan.joints.rows))
    has_unknown = plan.rows.role == JOINT
    has_unknown[plan.compliant.joint_row] = True
    owners = []
    for n, each in enumerate(mechanism.joints):
        numbers = np.flatnonzero((joint == n) & has_unknown)
        owners += [(each.name, np.array([r])) for r in numbers]
    forces = compiled.force[plan.constraints.element]
    for c in np.argsort(forces, kind="stable"):
        first = plan.constraints.row[c]
        if ws.released[first] == 0.0:
            rows = np.arange(first, first + plan.constraints.size[c])
            owners.append((mechanism.forces[forces[c]].name, rows))
    return owners


def _matrix(
    plan: Plan, ws: Workspace, work: Tangent, step: StepSpan, order: np.ndarray, rows: list[np.ndarray]
) -> "csc_matrix":
    """Return the derivative of a step, from the kernels' operator on eight unknowns at a time; bodies in ``order``."""
    from scipy.sparse import csc_matrix, hstack

    nb, parts = order.size, []
    size, firsts = 6 * nb + len(rows), np.array([numbers[0] for numbers in rows], dtype=int)
    to_unknown = [_to_unknown(ws.velocity[i, 3:], 0.5 * step.h) for i in order]
    for first in range(0, size, WIDE):
        body, row = np.zeros((nb, 6, WIDE)), np.zeros((plan.rows.role.size, WIDE))
        count = min(WIDE, size - first)
        for c in range(count):
            n, k = divmod(first + c, 6)
            if n < nb:
                body[order[n], :, c] = to_unknown[n][:, k]
            else:
                row[rows[first + c - 6 * nb], c] = 1.0
        changes = np.zeros_like(body), np.zeros_like(row)
        apply_wide(plan, ws, work, step, count, body, row, *changes)
        parts.append(csc_matrix(np.concatenate([changes[0][order].reshape(-1, WIDE), changes[1][firsts]])[:, :count]))
    return hstack(parts, format="csc")


def _to_unknown(w: np.ndarray, half_step: float) -> np.ndarray:
    """Return the matrix (6, 6) from changes (dv, dw) of a velocity to Newton's unknowns: dw = (c I + [u]) dphi."""
    x, y, z = half_step * w
    turn = np.sqrt(1.0 - x * x - y * y - z * z) * np.eye(3) + np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    out = np.eye(6)
    out[3:, 3:] = np.linalg.inv(turn)
    return out
