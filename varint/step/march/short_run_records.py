"""Arrays of a whole run that one call starts and marches (short_run.py)."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Int1
from varint.step.inputs import Inputs
from varint.step.march.records import NodeRows
from varint.step.plan import Workspace

ENERGY_ERROR, LARGEST_KINETIC, LARGEST_DRIFT, START_DRIFT, FIGURES = range(5)  # of `ShortRun.figure`


@dataclass(frozen=True, eq=False)
class ShortRun(CompiledRecord, writable=True):
    """The start of a run, its T nodes and its figures; the plan comes with each call, as members differ in numbers."""

    ws: Workspace
    inputs: Inputs  # none act
    rows: NodeRows  # all T nodes, in kernel order
    slot: Int1  # (nb,) of each body of the description
    position: Annotated[Float2, "nb 3"]  # start, in the order of the description; m, world
    quat: Annotated[Float2, "nb 4"]
    velocity: Annotated[Float2, "nb 3"]  # m/s, world
    spin: Annotated[Float2, "nb 3"]  # rad/s, body
    stages: Float1  # their sizes over that of the step
    number: Float1  # (3,) dt, s; tol, m/s; bound of the last node, see `judge_end`
    mass: Float1  # (nb,) in the order of the description, as all below
    inertia: Annotated[Float3, "nb 3 3"]
    places: Annotated[Float3, "T nb 3"]  # m, world
    velocities: Annotated[Float3, "T nb 3"]
    spins: Annotated[Float3, "T nb 3"]
    kinetic: Float1  # (T,) J
    potential: Float1  # (T,) J, of gravity
    terms: Float1  # (3 nb,) of a sum
    drift: Float1  # (T,) m
    figure: Float1  # (FIGURES,)
