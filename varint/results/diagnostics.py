"""Energy, momentum and drift of a run at a stride of their own, as data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.display import Shown
from varint.mechanism.mechanism import Mechanism
from varint.results.derived import QUANTITIES
from varint.results.record import Nodes

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

DIAGNOSTICS: dict[str, tuple[int, ...]] = {  # name to the shape of its values at a node
    name: (3,) if name.endswith("momentum") else () for name, quantity in QUANTITIES.items() if quantity.diagnostic
}


class RecordedDiagnostics(Shown):
    """Quantities of a run at each ``diagnostics_every``-th node and the last one, D nodes, recorded as it went.

    They are those of a trajectory that has all of these nodes, to the bit. Of a large run in a file each array is read
    when it is first asked for.

    Attributes
    ----------
    mechanism : Mechanism
    nodes : Nodes
        The arrays by name.
    t : (D,) s
    kinetic, potential, energy : (D,) J
    energy_balance : (D,) J, see `Trajectory`; the work of loads and prescribed joints is summed over the D nodes
    linear_momentum : (D, 3) N s, world
    angular_momentum : (D, 3) N m s, world, about its origin
    drift : (D,) m
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray: ...  # the quantities

    def __init__(self, mechanism: Mechanism, nodes: Nodes) -> None:
        self.mechanism, self.nodes = mechanism, nodes

    def __len__(self) -> int:
        return len(self.t)

    def _facts(self) -> Iterator[str]:
        yield f"{len(self)} nodes, t = {self.t[0]:g} to {self.t[-1]:g} s"
        yield ", ".join(DIAGNOSTICS)


def _array(name: str) -> property:
    return property(lambda diagnostics: diagnostics.nodes[name], doc="See the class.")


for _name in ("t", *DIAGNOSTICS):
    setattr(RecordedDiagnostics, _name, _array(_name))


def finest(trajectory: "RecordedMotion", name: str) -> Any:
    """Return the trajectory or its diagnostics, whichever has the quantity ``name`` at more nodes."""
    if name in DIAGNOSTICS and trajectory.diagnostics is not None:
        return trajectory.diagnostics
    return trajectory
