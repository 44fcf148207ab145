"""A mechanism at rest: the forces on its bodies and how they change with small motions, dense."""

from dataclasses import dataclass

import numpy as np

from varint.kinematics.turns import count_from, near_of
from varint.mechanism.mechanism import Mechanism
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.inputs.at_nodes import inputs_at
from varint.step.configuration import mass_pivots, place_anew
from varint.step.derivatives.tangent import force_changes
from varint.step.rows import clear_rows
from varint.step.workspace import tangent_work, workspace

RANK = 1e-9  # of the largest singular value of the rows: smaller ones are those of redundant rows


@dataclass(frozen=True)
class Rest:
    """A mechanism at rest at a pose. All in kernel order, motions (6 nb,): m, world, and rad, body axes.

    force : (6 nb,) N and N m, of gravity and forces, without those of the rows
    weight : (6 nb,) N, of gravity alone
    multiplier : (nr,) N or N m of each row: what holds the most of it
    stiffness, damping : (6 nb, 6 nb)
        Minus the changes of the forces, those of the rows included, with motions and with velocities.
    mass : (6 nb, 6 nb)
    motions : (6 nb, n) orthonormal basis of what the rows allow, lengths by the size of the parts
    """

    force: np.ndarray
    weight: np.ndarray
    multiplier: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    mass: np.ndarray
    motions: np.ndarray

    def push(self, length: float) -> float:
        """Return the torque, N m, against which forces are large: the largest weight times ``length``, or stiffness.

        ``length``: size of the parts, m.
        """
        by_body = np.abs(self.weight).reshape(-1, 6)[:, :3]
        return float(max(length * by_body.max(initial=0.0), np.abs(self.along(self.stiffness)).max(initial=0.0)))

    @property
    def unbalanced(self) -> np.ndarray:
        """(n,) the force along each of the ``motions``."""
        return self.motions.T @ self.force

    def along(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix (6 nb, 6 nb) reduced to the ``motions``: (n, n)."""
        return self.motions.T @ matrix @ self.motions


def at_rest(mechanism: Mechanism, state: State) -> Rest:
    """Return `Rest` at the pose of ``state`` and t = 0; hard stops take no part.

    Raises ArgumentError: laws with states.
    """
    compiled = mechanism.compiled
    plan, order, nb = compiled.plan, compiled.order, compiled.plan.bodies.mass.size
    refuse(mechanism, USES["rest"])
    ws = workspace(plan, functions=compiled.functions)
    ws.position[0, :-1], ws.quat[0, :-1] = state.position[order], state.quat_wxyz[order]
    command = inputs_at(mechanism, 0.0, state)
    ws.efforts.input[:] = command[compiled.force]
    count_from(plan, ws, near_of(mechanism, state))
    place_anew(plan, ws, 0)
    clear_rows(plan, ws.released, ws.jacobian[0])
    ws.efforts.position[:], ws.efforts.rotation[:] = ws.position[0], ws.rotation[0]
    G = _rows(plan, ws)
    units, none = np.eye(6 * nb).reshape(-1, nb, 6), np.zeros((6 * nb, nb, 6))
    work, changes = tangent_work(plan), np.zeros((6 * nb, nb, 6))
    force_changes(plan, ws, work, np.zeros(plan.rows.role.size), units[:0], none[:0], changes[:0])
    force = ws.increment_body.reshape(-1).copy()
    sizes = np.tile([compiled.length] * 3 + [1.0] * 3, nb)
    U, s, V = np.linalg.svd(G * sizes)
    rank = int((s > RANK * s.max(initial=0.0)).sum())
    share = -(U[:, :rank] / s[:rank]) @ (V[:rank] @ (force * sizes))
    multiplier = _of_each_row(plan, share)
    force_changes(plan, ws, work, multiplier, units, none, changes)
    stiffness = -changes.reshape(6 * nb, 6 * nb).T.copy()
    force_changes(plan, ws, work, multiplier, none, units, changes)
    damping = -changes.reshape(6 * nb, 6 * nb).T.copy()
    mass_pivots(plan, ws.ldu.D)
    mass = np.zeros((nb, 6, nb, 6))
    mass[np.arange(nb), :, np.arange(nb)] = ws.ldu.D
    motions = (V[rank:] * sizes).T
    weight = np.zeros((nb, 6))
    weight[:, :3] = plan.bodies.mass[:, None] * plan.bodies.gravity
    return Rest(force, weight.reshape(-1), multiplier, stiffness, damping, mass.reshape(6 * nb, 6 * nb), motions)


def _rows(plan, ws):
    """Return the Jacobian (nr, 6 nb) of the rows that take part.

    The first row of a coupling or a prescribed motion is the sum of its rows; the others, and released rows, are zero.
    """
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    G = np.zeros((nr, nb + 1, 6))
    for side in (0, 1):
        np.add.at(G, (np.arange(nr), plan.measures.body[:nr, side]), ws.jacobian[0, :, side])
    G[ws.released > 0.0] = 0.0
    for first, size in zip(plan.constraints.row, plan.constraints.size, strict=True):
        G[first] = G[first : first + size].sum(axis=0)
        G[first + 1 : first + size] = 0.0
    return G[:, :-1].reshape(nr, 6 * nb)


def _of_each_row(plan, share):
    """Set the multipliers ``share`` (nr,) of each constraint's rows to that of its first row; return ``share``."""
    for first, size in zip(plan.constraints.row, plan.constraints.size, strict=True):
        share[first : first + size] = share[first]
    return share
