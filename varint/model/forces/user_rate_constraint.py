"""Constraints on velocities by functions of users."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.errors import MechanismError
from varint.measures.formula import RateFormula
from varint.model.forces.base import register
from varint.model.forces.user_rows import UserRows
from varint.model.forces.velocity_rows import VelocityRows

if TYPE_CHECKING:
    from varint.model.structure import Structure

FACTORS = 6  # of a body: of its velocity, and of its angular velocity


@register
@dataclass(frozen=True, eq=False)
class UserRateConstraint(UserRows, VelocityRows):
    """Keeps ``A(position, rotation)`` (m, n, 6), or (n, 6), times the velocities of the n ``bodies`` at zero, m/s.

    The six factors of a body are of the velocity of its centre of mass, and of its angular velocity, both in axes of
    the world. ``position`` (n, 3), m, world: the centres of mass, in the order of ``bodies``; ``rotation`` (n, 3, 3):
    from body axes to the world. ``A`` is written in arithmetic and numpy's functions of these arrays, without branches
    on them; it is called once with numbers that keep record, and its derivatives are exact. The velocities at the start
    of a run are replaced by the nearest that obey. Its effort (T, m), N, is along each row: the force and the torque on
    a body, world, are the effort times its factors. The function goes into no file.
    """

    A: Callable

    measure = RateFormula
    written = "A"

    def shaped(self, results: Any) -> np.ndarray:
        rows, count = np.array(results, dtype=object), len(self.bodies)
        if rows.shape[-2:] == (count, FACTORS) and rows.ndim in (2, 3) and rows.size:
            return rows.reshape(-1, count * FACTORS)
        raise MechanismError(
            f"A of {self.label} must give factors ({count}, {FACTORS}), or (m, {count}, {FACTORS}) for m rows, got the"
            f" shape {rows.shape}"
        )

    def check_rows(self, structure: "Structure") -> np.ndarray:
        rows = super().check_rows(structure)
        for n, row in enumerate(rows):
            if not row.any():
                raise MechanismError(
                    f"row {n} of A of {self.label} must not be zero in the reference configuration: leave it out"
                )
        return rows
