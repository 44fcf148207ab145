"""Constraints on poses by functions of users."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.measures.formula import PoseFormula
from varint.model.forces.base import register
from varint.model.forces.user_rows import UserRows

if TYPE_CHECKING:
    from varint.model.structure import Structure

NEARLY = 1e-9  # m: how far from zero a row may be in the reference configuration


@register
@dataclass(frozen=True, eq=False)
class UserConstraint(UserRows):
    """Keeps ``g(position, rotation)`` at zero, a number or (m,), m, of the poses of the n ``bodies``.

    ``position`` (n, 3), m, world: their centres of mass, in the order of ``bodies``; ``rotation`` (n, 3, 3): from body
    axes to the world. ``g`` is written in arithmetic and numpy's functions of these arrays, without branches on them;
    it is called once with numbers that keep record, and its derivatives are exact. It must be zero in the reference
    configuration, and so must each start of a run. Its effort (T, m), N, is along each row: the force on a body is the
    effort times the gradient of the row by its position. The function goes into no file.
    """

    g: Callable

    measure = PoseFormula
    written = "g"
    of_poses = True

    def shaped(self, results: Any) -> np.ndarray:
        rows = np.array(results, dtype=object)
        if rows.ndim > 1 or rows.size == 0:
            raise MechanismError(f"g of {self.label} must give a number or an array (m,), got the shape {rows.shape}")
        return rows.reshape(-1, 1)

    def check_rows(self, structure: "Structure") -> np.ndarray:
        rows = super().check_rows(structure)
        for n, (value,) in enumerate(rows):
            if not abs(value) <= NEARLY:
                raise MechanismError(
                    f"g of {self.label} must be zero in the reference configuration: row {n} is {shown(value)};"
                    " subtract that, or move the bodies"
                )
        return rows

    def starts_open(self, value: float) -> str:
        """Return the message if a row has a ``value``, m, other than zero at the start of a run."""
        return f"g of {self.label} is {value:.3g} m at the start, not zero: mechanism.assemble(state) sees to that"
