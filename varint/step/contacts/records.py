"""The arrays of hard contacts: in a plan, and in a run."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, STEP_STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Float4, Int1, Int2
from varint.geometry.shape_records import ShapeTable


@dataclass(frozen=True, eq=False)
class ContactTable(CompiledRecord):
    """Contacts with friction, nk in all: np of points or balls with planes of the world, then those of pairs of bodies.

    Those of pairs of bodies are slots for the features of two shapes that face each other, see `collision.features`.
    """

    body: Int1  # (nk,) slot
    other: Int1  # (nk,) slot of the body that it touches, nb for the world
    element: Int1  # (nk,)
    friction: Float1  # (nk,)
    restitution: Float1  # (nk,)
    mobility: Float1  # (nk,) 1/kg, of the points of the free bodies that touch, mean of all directions
    # the following are empty where no contact has rolling resistance, see contacts/rolling.py
    roller: Int1  # (nk,) the contact that is the rolling resistance of this one; -1 for none
    parent: Int1  # (nk,) the contact whose rolling resistance this one is; -1 for all others
    lever: Float1  # (nk,) m, of rolling resistance: the torque over the impulse along its rows
    # planes of the world
    point: Annotated[Float2, "np 3"]  # from the centre of mass, body axes, m
    radius: Float1  # (np,) m
    frame: Annotated[Float3, "np 3 3"]  # rows: normal of the plane, two directions along it, world
    height: Float1  # (np,) m, of the plane along its normal
    # pairs of shapes, each with slots for the features that face each other; rolling resistances follow after these
    pair_first: Int1  # (pairs + 1,) the first slot of each; contact np is slot zero
    pair_shape: Annotated[Int2, "pairs 2"]  # of ``body`` and of ``other``
    shapes: ShapeTable


@dataclass(frozen=True, eq=False)
class ContactWork(CompiledRecord, writable=True):
    """The contacts in a run. Of each a frame: the normal, and two directions across it."""

    closed: Annotated[Bool1, "contacts", STATE]
    held_gap: Annotated[Float1, "contacts", STATE]  # m, at which a closed contact is held, zero but for round-off
    slip: Annotated[Float2, "contacts 2", STATE]  # m/s, over the last step; zero where it stuck
    impulse: Annotated[Float2, "contacts 3", STATE]  # N s, over the last step, of pairs in axes of the world ...
    span: Annotated[Float1, STEP_STATE]  # ... of so many seconds
    foreseen: Annotated[Int1, STATE]  # steps in a row that took no iteration, up to the last: contacts/starts.py
    drift: Float1  # m/s, of the velocities by the last iteration
    gain: Float1  # of start values by the last step
    hits: Annotated[Int1, "contacts"]  # in this step
    saved: Annotated[Float2, "contacts 10"]  # at the start of a step, of those that can touch: `copy_near`
    # those that can touch, see contacts/broad_phase.py; arrays of all others are as of open contacts
    near: Annotated[Int1, "contacts", STATE]  # their numbers, in order ...
    near_count: Annotated[Int1, STATE]  # ... and how many they are
    near_pair: Annotated[Int1, "contact_pairs", STATE]  # pairs of shapes, as well
    near_pair_count: Annotated[Int1, STATE]
    is_near: Annotated[Bool1, "contact_pairs", STATE]
    listed_centre: Annotated[Float2, "shapes 3", STATE]  # m, world, of the spheres about the shapes when listed
    skin: Annotated[Float1, "shapes", STATE]  # m, by which these were larger; below zero: to be listed anew
    # of pairs of features
    kind: Annotated[Int1, "features", STATE]  # below zero of a slot without any
    key: Annotated[Int2, "features 2", STATE]  # vertex, edge or face of the first and the second
    swapped: Annotated[Bool1, "features", STATE]  # whether the first of the features is that of ``other``
    place: Annotated[Float3, "features 2 3", STATE]  # points, from the centre of mass, body axes, m
    axis: Annotated[Float3, "features 2 3", STATE]  # unit vectors, body axes
    size: Annotated[Float2, "features 2", STATE]  # radii, m
    slip_vector: Annotated[Float2, "features 3", STATE]  # m/s, ``slip`` in axes of the world
    frame: Annotated[Float3, "features 3 3"]  # rows: the normal, two directions across it, at the pose of ``upper``
    carrier: Annotated[Float3, "features 2 3"]  # of both bodies at that pose, from the centre of mass, body axes
    # the problem to be solved; contacts that are not in it have no impulse
    taking: Annotated[Bool1, "contacts"]  # whether a contact is in it
    sticking: Annotated[Bool1, "contacts"]  # whether one without a direction sticks whatever its normal impulse is
    direction: Annotated[Float2, "contacts 2"]  # of given sliding, a unit vector; zero where none is given
    forced: Int1  # AS_FOUND, or what all contacts of it do in the next look at a step, see contacts/cones.py
    share: Float1  # of all coefficients of friction
    softened: Annotated[Bool1, "1"]  # whether increments are those of `cones.SOFTER`
    bias: Annotated[Float2, "contacts 3"]  # m/s, of the rates
    kept_bias: Annotated[Float1, "contacts"]  # scratch: of the normal rates of an impact
    upper: Annotated[Float3, "contacts 3 12"]  # rows of the impulses, of both bodies, in their axes at the start
    row: Annotated[Float3, "contacts 3 12"]  # gradients of the rates by the unknowns of both bodies
    # its iterate
    z: Annotated[Float2, "contacts 3"]  # impulses, N s
    rate: Annotated[Float2, "contacts 3"]  # m/s
    mode: Annotated[Int1, "contacts"]  # APART, STICKING, SLIDING, see contacts/cones.py
    pressing: Annotated[Float1, "contacts"]  # N s, z_n - u_n / W, zero where all are assumed to touch
    missed: Annotated[Float1, "contacts"]  # (m/s)^2, of the law, in a step; -1 in an impact that was not solved
    changes: Int1  # of modes at the last look at them
    given: Annotated[Float2, "contacts 3"]  # of lower dx + C dz = given, ...
    lower: Annotated[Float3, "contacts 3 12"]  # ... rows of the contact in the factors at hand
    inverse: Annotated[Float3, "contacts 3 3"]  # of C
    change: Annotated[Float2, "contacts 3"]  # of the impulses, by an iteration
    # the solution of a step, while problems at its start may follow
    solved: Annotated[Float2, "contacts 3"]  # impulses, N s
    solved_rate: Annotated[Float2, "contacts 3"]  # m/s
    solved_mode: Annotated[Int1, "contacts"]
    slid: Annotated[Float2, "contacts 2"]  # m/s, ``slip`` before it, of those that were closed
    # right sides of a problem at a node
    body: Annotated[Float2, "touched 6"]
    right: Annotated[Float1, "touched_rows"]
    # and its iterate
    velocity: Annotated[Float2, "touched 6"]
    multiplier: Annotated[Float1, "touched_rows"]
    # contacts between two moving bodies that touch, in the factors at hand
    coupled: Annotated[Int1, "coupled"]  # their numbers, ...
    coupled_count: Int1  # ... how many they are, ...
    coupled_row: Int1  # ... and the first of their rows in the border, three for each
    column_body: Annotated[Float2, "touched 6"]
    column_row: Annotated[Float1, "touched_rows"]
    # the dense problem of `contact_interior`
    inside: Annotated[Int1, "inside"]  # contacts that take part
    inside_parent: Annotated[Int1, "inside"]  # of rolling resistances: the place of their contact; -1 for contacts
    inside_friction: Annotated[Float1, "inside"]
    inside_mobility: Annotated[Float1, "inside_block"]
    inside_block: Annotated[Float1, "inside_block"]
    inside_order: Annotated[Int1, "inside_rows"]
    inside_rows: Annotated[Float2, "7 inside_rows"]
    # of gradients: `contact_adjoint`
    by_impulse: Annotated[Float3, "contacts 3 3"]
    back_order: Annotated[Int2, "2 inside_rows"]
    redundant: Int1  # stages, and problems at nodes, whose forces the contacts do not determine
    # 1 + the number of a contact on whose share of them the objective depends, 0: none; minus that of one too many
    undetermined: Int1


@dataclass(frozen=True, eq=False)
class ContactTape(CompiledRecord, writable=True):
    """The contacts in the stages of a run; see `ContactWork`."""

    closed: Annotated[Int2, "kept contacts"]
    mode: Annotated[Int2, "kept contacts"]
    held_gap: Annotated[Float2, "kept contacts"]
    slip: Annotated[Float3, "kept contacts 3"]  # m/s, world, of the step before, where it counts
    impulse: Annotated[Float3, "kept contacts 3"]  # along the frame
    kind: Annotated[Int2, "kept features"]
    swapped: Annotated[Int2, "kept features"]
    place: Annotated[Float4, "kept features 2 3"]
    axis: Annotated[Float4, "kept features 2 3"]
    size: Annotated[Float3, "kept features 2"]


@dataclass(frozen=True, eq=False)
class ContactEventTape(CompiledRecord, writable=True):
    """The contacts in the events of a run: a projection of the velocities, then impacts in rounds."""

    act: Annotated[Int1, "events"]  # PROJECTION, HIT or LOWERED of contacts/events.py; of no contact: 0
    met: Annotated[Int1, "events"]  # the contact that was met
    taking: Annotated[Int2, "events contacts"]  # 1 for those that take part in the impact
    restitution: Annotated[Float2, "events contacts"]
    slips: Annotated[Int2, "events contacts"]  # 1 where the slip is known after the event, which is the last one then
    closed: Annotated[Int2, "events contacts"]  # this and the following as in `ContactTape`
    mode: Annotated[Int2, "events contacts"]
    held_gap: Annotated[Float2, "events contacts"]
    slip: Annotated[Float3, "events contacts 3"]
    impulse: Annotated[Float3, "events contacts 3"]
    kind: Annotated[Int2, "events features"]
    swapped: Annotated[Int2, "events features"]
    place: Annotated[Float4, "events features 2 3"]
    axis: Annotated[Float4, "events features 2 3"]
    size: Annotated[Float3, "events features 2"]


@dataclass(frozen=True, eq=False)
class ContactNumbers(CompiledRecord, writable=True):
    """The gradient by the numbers of contacts, see `ContactTable`."""

    friction: Annotated[Float1, "contacts"]
    restitution: Annotated[Float1, "contacts"]
    radius: Annotated[Float1, "planes"]
    height: Annotated[Float1, "planes"]
    point: Annotated[Float2, "planes 3"]
