"""The arrays of hard contacts: in a plan, and in a run."""

from dataclasses import dataclass
from typing import Annotated

from varint._numba import STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Int1


@dataclass(frozen=True, eq=False)
class PlaneContacts(CompiledRecord):
    """Points of bodies, or balls about them, that cannot pass a plane of the world; nk contacts."""

    body: Int1  # (nk,) slot
    element: Int1  # (nk,)
    point: Float2  # (nk, 3) from the centre of mass, body axes, m
    radius: Float1  # (nk,) m
    frame: Float3  # (nk, 3, 3) rows: normal of the plane, two directions along it, world
    height: Float1  # (nk,) m, of the plane along its normal
    friction: Float1  # (nk,)
    restitution: Float1  # (nk,)
    mobility: Float1  # (nk,) 1/kg, of the point of the free body, mean of all directions


@dataclass(frozen=True, eq=False)
class ContactWork(CompiledRecord, writable=True):
    """The contacts in a run. Of each a frame: the normal, and two directions along the plane."""

    closed: Annotated[Bool1, "contacts", STATE]
    held_gap: Annotated[Float1, "contacts", STATE]  # m, at which a closed contact is held, zero but for round-off
    slip: Annotated[Float2, "contacts 2", STATE]  # m/s, over the last step; zero where it stuck
    impulse: Annotated[Float2, "contacts 3", STATE]  # N s, over the last step ...
    span: Annotated[Float1, STATE]  # ... of so many seconds
    hits: Annotated[Int1, "contacts"]  # in this step
    # the state at the start of a step
    kept_closed: Annotated[Bool1, "contacts"]
    kept_held_gap: Annotated[Float1, "contacts"]
    kept_slip: Annotated[Float2, "contacts 2"]
    kept_impulse: Annotated[Float2, "contacts 3"]
    kept_span: Float1
    # the problem to be solved; contacts that are not in it have no impulse
    taking: Annotated[Bool1, "contacts"]  # whether a contact is in it
    sticking: Annotated[Bool1, "contacts"]  # whether one without a direction sticks whatever its normal impulse is
    direction: Annotated[Float2, "contacts 2"]  # of given sliding, a unit vector; zero where none is given
    forced: Bool1  # whether all contacts of it are taken to press and stick in the next look at a step
    share: Float1  # of all coefficients of friction
    bias: Annotated[Float2, "contacts 3"]  # m/s, of the rates
    kept_bias: Annotated[Float1, "contacts"]  # scratch: of the normal rates of an impact
    upper: Annotated[Float3, "contacts 3 6"]  # rows of the impulses, axes of the body at the start
    row: Annotated[Float3, "contacts 3 6"]  # gradients of the rates by the unknowns of the body
    # its iterate
    z: Annotated[Float2, "contacts 3"]  # impulses, N s
    rate: Annotated[Float2, "contacts 3"]  # m/s
    mode: Annotated[Int1, "contacts"]  # APART, STICKING, SLIDING, see contact_cones.py
    missed: Annotated[Float1, "contacts"]  # m/s, of the law, in a step
    changes: Int1  # of modes at the last look at them
    lower: Annotated[Float3, "contacts 3 6"]  # rows of the contact in the matrix: lower dx + C dz = given
    inverse: Annotated[Float3, "contacts 3 3"]  # of C
    given: Annotated[Float2, "contacts 3"]
    folded_lower: Annotated[Float3, "contacts 3 6"]  # the rows in the factors at hand
    folded_inverse: Annotated[Float3, "contacts 3 3"]
    change: Annotated[Float2, "contacts 3"]  # of the impulses, by an iteration
    # the solution of a step, while problems at its start may follow
    solved: Annotated[Float2, "contacts 3"]  # impulses, N s
    solved_rate: Annotated[Float2, "contacts 3"]  # m/s
    solved_mode: Annotated[Int1, "contacts"]
    # right sides of a problem at a node
    body: Annotated[Float2, "touched 6"]
    right: Annotated[Float1, "touched_rows"]
    # and its iterate
    velocity: Annotated[Float2, "touched 6"]
    multiplier: Annotated[Float1, "touched_rows"]
