"""Arrays of a march that Python calls step by step, with one word a call (march/steps.py)."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import Bool1, CompiledRecord, Float1, Float2, Float3, Int1, Int2
from varint.step.inputs import Inputs
from varint.step.nodes.joint_readings import JointReadings
from varint.step.plan import Plan, Workspace

NODE, POSE, STRIDE, STAGGERED, KEEPS, RECORDED, HELD_FROM, STEPPED, PLACES = range(9)  # of `MarchSteps.place`


@dataclass(frozen=True, eq=False)
class NodeRows(CompiledRecord, writable=True):
    """Recorded nodes, in kernel order, as `varint.step.step.run` writes them; R of them at most."""

    position: Annotated[Float3, "R nb 3"]
    quat: Annotated[Float3, "R nb 4"]
    velocity: Annotated[Float3, "R nb 6"]
    work: Float2  # (R, ne)
    state: Float2  # (R, n)
    unresolved: Int1  # (R,)
    time: Float1  # (R,)
    counts: Int1  # (2,)


@dataclass(frozen=True, eq=False)
class Reading(CompiledRecord, writable=True):
    """The present node in the order of the description, and coordinates of joints."""

    slot: Int1  # (nb,)
    position: Annotated[Float2, "nb 3"]
    quat: Annotated[Float2, "nb 4"]
    velocity: Annotated[Float2, "nb 3"]  # m/s, world
    spin: Annotated[Float2, "nb 3"]  # rad/s, body
    motion: Annotated[Float2, "slots 6"]  # in kernel order, the world last
    work: Float1  # (ne,)
    state: Float1  # states of laws
    joints: JointReadings  # of those that compiled code reads
    q: Float1  # (nq,) m, rad
    rate: Float1  # (nq,) m/s, rad/s


@dataclass(frozen=True, eq=False)
class MarchSteps(CompiledRecord, writable=True):
    """A march, the inputs of its steps, and its record."""

    plan: Plan
    ws: Workspace
    inputs: Inputs
    rows: NodeRows
    reading: Reading
    place: Int1  # (PLACES,)
    number: Float1  # (3,) dt, s; tol; time of ``before``, s
    stages: Float1  # their sizes over that of the step
    table: Float2  # (T, ne) the memory of ``inputs.input``
    first: Int1  # (1,) the memory of ``inputs.first``
    element: Int1  # (m,) whose input is set before each step
    input: Float1  # (m,) over the next step
    before: Float1  # (m,) over the last step
    extrapolated: Bool1  # (m,) whether the input follows the line through the last two
    spans: Int2  # (k, SPAN) of what steps depend on, see `varint.base.numba.spans`
    kept: Int1  # where it is kept before a step, for one that fails
    nodes: Int1  # (1,) address of the `NodeSteps` of collocation, or zero
