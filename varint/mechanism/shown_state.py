"""A state in the names of its mechanism, for a prompt and a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from varint.base.display import html_table, numbers_text, value_text
from varint.kinematics.frames import joint_coordinates, joint_rates
from varint.model.motion import coordinate_units
from varint.model.state import LISTED, State
from varint.model.structure import Structure

OF_BODIES = ("body", "position (m)", "orientation (w, x, y, z)", "velocity (m/s)", "angular velocity (rad/s)")
OF_JOINTS = ("joint", "coordinates", "rates", "unit")


@dataclass(frozen=True, eq=False, repr=False)
class ShownState:
    """Bodies and joints of a mechanism by name at a state; its repr is a text of two tables."""

    mechanism: Structure
    state: State

    def _rows(self) -> tuple[list[tuple], list[tuple]]:
        """Return the rows of the tables of bodies and of joints, the first `LISTED` of each."""
        state = self.state
        arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
        numbered = zip(self.mechanism.body_index, *arrays, strict=False)
        rows = (row for row in numbered if row[0] not in self.mechanism.rotors)
        bodies = [(name, *map(numbers_text, row)) for name, *row in islice(rows, LISTED)]
        joints = []
        motion = [array[None] for array in arrays]
        for joint in self._listed(self.mechanism.joints)[:LISTED]:
            near = state.turns.get(joint.name)
            q = joint_coordinates(self.mechanism, joint, motion[0], motion[1], near)
            rates = joint_rates(self.mechanism, joint, q, *motion)
            units = ", ".join(dict.fromkeys(coordinate_units(joint)))
            joints.append((joint.name, _text(q[0]), _text(rates[0]), units))
        return bodies, joints

    def _listed(self, items: Sequence[Any]) -> list[Any]:
        """Return the bodies or joints that do not stand for armature."""
        return [item for item in items if item.name not in self.mechanism.rotors]

    def __repr__(self) -> str:
        bodies, joints = self._rows()
        title = f"State of {value_text(self.mechanism.name)}"
        more = [
            f"... {len(items) - LISTED} more {kind}"
            for items, kind in (
                (self._listed(self.mechanism.bodies), "bodies"),
                (self._listed(self.mechanism.joints), "joints"),
            )
            if len(items) > LISTED
        ]
        return "\n".join([title, *_aligned(OF_BODIES, bodies), *_aligned(OF_JOINTS, joints), *more])

    def _repr_html_(self) -> str:
        bodies, joints = self._rows()
        return html_table(OF_BODIES, bodies, f"State of {value_text(self.mechanism.name)}", LISTED) + html_table(
            OF_JOINTS, joints, most=LISTED
        )


def _text(values: np.ndarray) -> str:
    return value_text(float(values)) if values.ndim == 0 else numbers_text(values)


def _aligned(heads: Sequence[str], rows: Sequence[tuple]) -> list[str]:
    """Return lines with columns as wide as their longest cells; empty without rows."""
    if not rows:
        return []
    widths = [max(len(str(row[k])) for row in (heads, *rows)) for k in range(len(heads))]
    return [
        "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
