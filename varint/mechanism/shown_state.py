"""A state in the names of its mechanism, for a prompt and a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from varint.base.display import html_table, numbers_text, value_text
from varint.kinematics.frames import joint_coordinates, joint_rates
from varint.model.forces.driven import Driven
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
        tables = *_aligned(OF_BODIES, bodies), *_aligned(OF_JOINTS, joints)
        return "\n".join([title, *tables, *more, *self._prescribed()])

    def _prescribed(self) -> list[str]:
        """Return a line on each joint whose rate a run takes from a prescribed motion, not from the state."""
        lines = []
        for force in self.mechanism.forces:
            if isinstance(force, Driven):
                rate, unit = force.constant_rate, coordinate_units(self.mechanism.joint(force.joint))[force.coordinate]
                value = "the rate of its position" if rate is None else f"{value_text(rate)} {unit or '1'}/s"
                lines.append(f"A run starts with joint '{force.joint}' at {value}, by {force.label}")
        return lines

    def _repr_html_(self) -> str:
        bodies, joints = self._rows()
        title = f"State of {value_text(self.mechanism.name)}"
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._prescribed())
        return html_table(OF_BODIES, bodies, title, LISTED) + html_table(OF_JOINTS, joints, most=LISTED) + lines


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
