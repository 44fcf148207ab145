"""Joints whose motion is given as a function of time: hybrid dynamics (DIFF section 2.9 and Algorithm 9)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from varint.errors import ArgumentError
from varint.mechanism import Mechanism
from varint.model.checks import call, function_of, in_a_shape, shown
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
        given = call(self.function, f"{what}, a function that is called as f(t)", t)
        if not isinstance(given, tuple | list | np.ndarray) or getattr(given, "ndim", 1) == 0 or len(given) != 3:
            raise ArgumentError(f"{what} must be (q, qdot, qddot), got {shown(given)}")
        dof = self.columns.stop - self.columns.start
        shapes = ((), (1,)) if dof == 1 else ((dof,),)
        return np.array([in_a_shape(part, shapes, what, ArgumentError).reshape(dof) for part in given])


def find_drives(mechanism: Mechanism, tree: Tree, prescribed: Mapping[str, Callable] | None) -> list[Drive]:
    """The drives of ``prescribed``, joint name to function."""
    drives = []
    for name, function in (prescribed or {}).items():
        joint = mechanism.joint(name)
        if name not in tree.columns:
            raise ArgumentError(f"{joint.label} closes a loop and cannot be prescribed: prescribe another of its loop")
        if tree.charts.get(name, EXPONENTIAL) != EXPONENTIAL:
            raise ArgumentError(f"{joint.label} cannot be prescribed in Euler angles: use the chart '{EXPONENTIAL}'")
        function_of(function, f"the motion prescribed for {joint.label}", ArgumentError)
        columns, column = tree.columns[name], tree.nodes.column
        nodes = np.flatnonzero((columns.start <= column) & (column < columns.stop) & (tree.nodes.dof > 0))
        drives.append(Drive(name, joint.label, columns, nodes, function))
    return drives
