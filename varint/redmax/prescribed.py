"""Joints whose motion is given as a function of time: hybrid dynamics (DIFF section 2.9 and Algorithm 9)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from varint.errors import ArgumentError
from varint.mechanism import Mechanism
from varint.model.checks import array_of, suggestion
from varint.redmax.charts import EXPONENTIAL
from varint.redmax.tree import Tree


@dataclass(frozen=True)
class Drive:
    """A tree joint in motion.

    ``columns``: of its coordinates; ``nodes``: of its motions; ``function``: of time.
    """

    name: str
    label: str
    columns: slice
    nodes: np.ndarray
    function: Callable

    def at(self, t: float) -> np.ndarray:
        """Coordinates, rates and their rates (3, dof) at time ``t``."""
        what = f"the motion prescribed for {self.label} at t = {t:g} s"
        given = self.function(t)
        try:
            parts = [np.atleast_1d(part) for part in given]
        except TypeError:
            parts = []
        if len(parts) != 3:
            raise ArgumentError(f"{what} must be (q, qdot, qddot), got {given!r}")
        return np.array(
            [array_of(part, (self.columns.stop - self.columns.start,), what, ArgumentError) for part in parts]
        )


def find_drives(mechanism: Mechanism, tree: Tree, prescribed: Mapping[str, Callable] | None) -> list[Drive]:
    """The drives of ``prescribed``, joint name to function."""
    if prescribed is not None and not isinstance(prescribed, Mapping):
        raise ArgumentError(f"prescribed must be a dict of joint name to function of time, got {prescribed!r}")
    drives = []
    for name, function in (prescribed or {}).items():
        if name not in mechanism.joint_index:
            raise ArgumentError(f"prescribed: no joint '{name}'{suggestion(name, mechanism.joint_index)}")
        joint = mechanism.joint(name)
        if name not in tree.columns:
            raise ArgumentError(f"{joint.label} closes a loop and cannot be prescribed: prescribe another of its loop")
        if tree.charts.get(name, EXPONENTIAL) != EXPONENTIAL:
            raise ArgumentError(f"{joint.label} cannot be prescribed in Euler angles: use the chart '{EXPONENTIAL}'")
        if not callable(function):
            raise ArgumentError(f"the motion prescribed for {joint.label} must be a function of time, got {function!r}")
        columns, column = tree.columns[name], tree.nodes.column
        nodes = np.flatnonzero((columns.start <= column) & (column < columns.stop) & (tree.nodes.dof > 0))
        drives.append(Drive(name, joint.label, columns, nodes, function))
    return drives
