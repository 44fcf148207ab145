"""Arrays of the balance of energy (balance.py): the components of a plan, and the state of each in a run."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, STEP_STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Int1


@dataclass(frozen=True, eq=False)
class Components(CompiledRecord):
    """Components of the mechanism: bodies that joints or forces connect, other than through the world."""

    of_body: Int1  # (nb,) number of its component
    of_element: Int1  # (ne,)
    body: Int1  # (nb,) bodies, component after component
    first_body: Int1  # (components + 1,) bodies of component c: body[first_body[c] : first_body[c + 1]]
    element: Int1  # (ne,) elements, component after component
    first_element: Int1  # (components + 1,)


@dataclass(frozen=True, eq=False)
class Balance(CompiledRecord, writable=True):
    """The energy residual and its balance from node to node (balance.py)."""

    more_inertia: Bool1  # (1,) whether momenta are not of the masses of the bodies alone
    redo: Annotated[Bool1, STATE]  # whether steps in which energy comes from nowhere are done again in halves
    at_node: Annotated[Bool1, STEP_STATE]  # whether the next piece is the first of a step
    nodes: Annotated[Int1, STEP_STATE]  # number of nodes that were checked
    smooth: Annotated[Int1, STEP_STATE]  # ... since the last impact
    dt: Annotated[Float1, STEP_STATE]  # s
    size: Annotated[Float1, STEP_STATE]  # of the last piece, s; zero after an impact, and at the start
    alike: Annotated[Float1, STEP_STATE]  # product of the pieces about the last node / dt^2; zero in composed steps
    unresolved: Annotated[Int1, STEP_STATE]  # slot of a body not resolved since the last recorded node, or -1
    # J, of each component
    kinetic: Annotated[Float2, "components 2", STEP_STATE]  # at the last node and the one before
    load: Annotated[Float1, "components", STEP_STATE]  # work of gravity and loads since the start ...
    loaded: Annotated[Float1, "components", STEP_STATE]  # ... and up to the last node
    carried: Annotated[Float1, "components", STEP_STATE]  # work of constraints, counted at the last node already
    error: Annotated[Float1, "components", STEP_STATE]  # the energy residual: energy gained without work
    oscillation: Annotated[Float1, "components", STEP_STATE]  # the part of it that comes back
    bend: Annotated[Float1, "components", STEP_STATE]  # twice the kinetic energy of the last change of velocity
    recent: Annotated[Float3, "components 2 6", STEP_STATE]  # residual, and less its oscillation, at the last nodes
    least: Annotated[Float2, "components 2", STEP_STATE]  # of the recent ones
    most: Annotated[Float2, "components 2", STEP_STATE]
    peak: Annotated[Float1, "components", STEP_STATE]  # largest kinetic energy so far
    scale: Annotated[Float1, "components", STEP_STATE]  # the same, or work of all that acts since the start
    exchange: Annotated[Float1, "components", STEP_STATE]  # work by its size within the recent steps
    landing: Annotated[Int1, "components", STEP_STATE]  # nodes from now on whose missing energy is the work ...
    lander: Annotated[Int1, "components", STEP_STATE]  # ... of this element, see `add_landing`
    landed: Annotated[Float1, "components", STEP_STATE]  # J, so far
    acted: Annotated[Float1, "ne", STEP_STATE]  # of each element: work from the start up to the last node
    # scratch, J
    present: Annotated[Float1, "components"]  # kinetic energy at the present node ...
    further: Annotated[Float1, "components"]  # ... what is not of the bodies, at the last one that was projected ...
    driven: Annotated[Float1, "components"]  # ... and work of constraints and contacts there
    works: Annotated[Float1, "ne"]  # of each element from the start up to a node
    left: Annotated[Float2, "2 components"]  # energy that steps should keep, before and after a sub-step
