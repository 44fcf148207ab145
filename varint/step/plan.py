"""The arrays that kernels work on: the immutable `Plan` of a mechanism and the mutable `Workspace` of a run.

Glossary
--------
body i        0 .. nb-1, numbered so that a parent comes before its children; slot nb is the world.
joint j       0 .. nb-1: the tree joint of body j to its parent; nb .. nj-1: what closes loops, cut joints and others.
side 0, 1     of a joint. Tree joint: side 0 is the child (body j), side 1 its parent.
row r         one scalar equation between two bodies; the rows of a joint are contiguous.
measure m     a scalar of the pose of two bodies (measures/); measure r is that of row r, those of laws come after.
sum s         of weighted measures, what laws and constraints refer to; most have one measure of weight one.
law f         an effort along a sum, by its value and rate (laws.py).
load l        a force and torque on one body, by its own motion (loads.py).
constraint c  keeps a sum at a target. limit n: keeps a measure on one side.
contact k     keeps a point of a body above a plane of the world, or features of two bodies apart, with friction.
element e     one effort of a force of the description: a law's, a load's, a constraint's.
cluster c     the loop closures of one biconnected component; loops of different clusters do not interact.
node n        loop closures of a cluster that are eliminated together, as one dense block.
top           of a node: the body nearest to the root of the loops it closes; the node is eliminated just before it.
fill e        one closure row that elimination brings to one body: the only fill-in there is, but for K's.
shape         of an array: its sizes, of a run by their names in workspace.py; without one it has one entry there.
role          of an array of a run: STATE, RESTORED, TAPED, BEFORE_EVENT; checkpoints, copies and tapes follow from it.
p, x, R       position of the centre of mass (m, world), pose, rotation matrix body to world.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import (
    BEFORE_EVENT,
    STATE,
    STEP_STATE,
    TAPED,
    Bool1,
    CompiledRecord,
    Float1,
    Float2,
    Float3,
    Float4,
    Int1,
    Int2,
)
from varint.geometry.shape_records import Features
from varint.mathematics.formulas.records import Formulas, FormulaWork
from varint.mathematics.products.records import Products, ProductWork
from varint.step.bearings.records import Bearings, BearingWork
from varint.step.compliant.records import Beams, CompliantRows, Ringing
from varint.step.contacts.records import ContactEventTape, ContactNumbers, ContactTable, ContactTape, ContactWork
from varint.step.damping.records import Damping, DampingTape
from varint.step.energy.records import Balance, Components
from varint.step.kept_arrays import SavedStep, Spans, write_role_spans
from varint.step.limits.records import LimitEvents, LimitNumbers, Limits, LimitSearch, LimitTape
from varint.step.paths.mass_records import MassivePaths, MassivePathWork
from varint.step.paths.records import Paths
from varint.step.solver_records import Border, Factors
from varint.step.stage_starts import StageStarts

JOINT, CONSTRAINT, EFFORT = range(3)  # roles of a row: of a joint, of a constraint of forces, of an effort
IN_PIVOT = -2  # in place of the row of a measure: a sprung hinge takes its effort
HISTORY, LONG_HISTORY = 6, 10  # velocities of the last steps that start values come from; of steps of one smooth stage
TERMS = ("limits", "contacts")  # parts of `Plan` and of `ByNumbers` that are one-sided rows


@dataclass(frozen=True, eq=False)
class Bodies(CompiledRecord):
    """The bodies."""

    mass: Float1  # (nb,) kg
    inertia: Annotated[Float3, "nb 3 3"]  # kg m^2, about the centre of mass, body axes
    inverse_inertia: Annotated[Float3, "nb 3 3"]
    gravity: Float1  # (3,) m/s^2, world
    scale: Annotated[Float2, "nb 2"]  # turns an impulse residual (N s, N m s) into m/s
    length: Float1  # (1,) size of the parts, m
    loaded: Bool1  # (nb,) whether laws, loads or contacts act on a body
    coupled: Bool1  # (nb,) whether others than those of sprung hinges do


@dataclass(frozen=True, eq=False)
class Joints(CompiledRecord):
    """The joints and the tree that they make."""

    parent: Int1  # (nb,) body slot of the parent, nb for the world
    side: Annotated[Int2, "nj 2"]  # body slots of side 0 and side 1
    first_body: Int1  # (nj,) the side whose axes the rows are written in
    rows: Int1  # (nj + 1,) rows of joint j are rows[j] : rows[j + 1]
    product: Int1  # (nj,) number of a product of exponentials, -1 for other joints
    pair: Int1  # (nb,) of a tree joint: how many of its first rows are those of a lower pair (lower_pairs.py), or zero
    points: Int1  # (nb,) how many of these are of the kind POINT, which come first
    sprung: Bool1  # (nb,) whether an effort along the angle of a hinge is in its pivot E (lower_pairs.py)
    solver: Int1  # (1,) place in `ldu.SOLVERS`


@dataclass(frozen=True, eq=False)
class Rows(CompiledRecord):
    """Facts of the rows; tree joints come first, then closures, by cluster and in the order of elimination."""

    role: Int1  # (nr,) JOINT, CONSTRAINT, EFFORT
    scale: Float1  # (nr,) turns a row (m or rad) into m
    push: Float1  # (nr,) turns the impulse along a row into m/s, of the lighter of its bodies
    chain: Int1  # (nr,) of a closure row: how many rows from it on have one effort, by their sum; else 0
    pointing: Int1  # those whose direction turns where points move: of distances and lengths
    eliminated: Int1  # those that are no row of a ``pair`` of `Joints`


@dataclass(frozen=True, eq=False)
class Measures(CompiledRecord):
    """The measures. That of row r has number r; those of laws follow, sum after sum.

    The file of a kind says what its u, v, w, c and rest are (measures/). A ``side`` is a column of ``body``, in the
    order of the tree; a and b are the bodies in the order of the kind's formula.
    """

    kind: Int1  # (nm,) place of the kind among all, see measures.py
    row: Int1  # (nm,) its row, -1 for none, or IN_PIVOT
    body: Annotated[Int2, "nm 2"]  # body slots by side
    first: Int1  # (nm,) the side of body a
    weight: Float1  # (nm,) in its sum
    period: Float1  # (nm,) after which values repeat, 0 for never
    radial: Bool1  # (nm,) see `measures.base.Measure`
    stiffening: Bool1  # (nm,)
    fused: Bool1  # (nm,) whether it is one of an element of a beam, or of a path of a muscle
    product: Int1  # (nm,) number of the product of exponentials that it is a row of, -1 for none
    third: Int1  # (nm,) slot of a third body that it depends on, -1 for none
    rotation: Int1  # (nm,) first of three numbers after those of the measures: the rotation vector followed, or -1
    u: Annotated[Float2, "nm 3"]  # axes of body a
    v: Annotated[Float2, "nm 3"]  # axes of body a
    w: Annotated[Float2, "nm 3"]  # axes of body b
    c: Float1  # (nm,)
    rest: Annotated[Float3, "nm 3 3"]


@dataclass(frozen=True, eq=False)
class Laws(CompiledRecord):
    """Sums of measures, and the laws along them."""

    sum_first: Int1  # (ns + 1,) measures of sum s are sum_first[s] : sum_first[s + 1], after those of the rows
    sum_law: Int1  # (ns + 1,) laws of sum s are sum_law[s] : sum_law[s + 1]
    other: Int1  # sums of no element of a beam
    kind: Int1  # (nf,) place of the law among all, see laws.py
    element: Int1  # (nf,)
    first: Int1  # (nf,) where its parameters start in ``parameter``
    parameter: Float1  # of all laws, in the order of their names in each law, SI units
    table_first: Int1  # (nf + 1,) pieces of its table
    table: Annotated[Float2, "pieces 6"]  # start, effort's c0 .. c3 in powers of (value - start), potential there
    state: Int1  # (nf,) number of its state, -1 for none


@dataclass(frozen=True, eq=False)
class Elements(CompiledRecord):
    """The efforts that the forces of the description are made of, in its order."""

    force: Int1  # (ne,) number of the force


@dataclass(frozen=True, eq=False)
class Constraints(CompiledRecord):
    """Sums of measures that are kept at a target."""

    row: Int1  # (nh,) first row; the others follow it
    size: Int1  # (nh,) number of rows
    element: Int1  # (nh,)
    driven: Bool1  # (nh,) whether the target is the input of the element, else the sum stays what it is at the start
    rate: Int1  # (nv,) rows of rates, whose value in a step is that of both poses (rates.py)


@dataclass(frozen=True, eq=False)
class LoadTable(CompiledRecord):
    """Loads on single bodies; the numbers that a kind has no use for are zero."""

    kind: Int1  # (n,) see loads.py
    body: Int1  # (n,) slot
    element: Int1  # (n,)
    force: Annotated[Float2, "n 3"]  # direction of a push, axes of the world, or of the body for a follower
    torque: Annotated[Float2, "n 3"]  # likewise
    point: Annotated[Float2, "n 3"]  # where it acts, body axes, m
    linear: Float1  # (n,) coefficient of a resistance, N s/m or N s^2/m^2
    angular: Float1  # (n,) N m s/rad or N m s^2/rad^2
    power: Int1  # (n,) of the speed
    friction: Float1  # (n,) coefficient
    smoothing: Float1  # (n,) m/s
    creep: Float1  # (n,) N s/m, of friction that grows with the speed up to its bound; 0 for one by `smoothing`
    radius: Float1  # (n,) of a ball about the point on a plane, m
    share: Float1  # (n,) of a ball on another: of the distance of their centres, its part up to where they touch
    pressing: Int1  # (n,) the law of the normal force, -1 for none
    pressed: Int1  # (n,) its measure, -1 for none
    other: Int1  # (n,) the opposite load on the other of two balls, -1 for none
    row: Annotated[Int2, "n 2"]  # rows that it has with that one in Newton's matrix, -1 for none


@dataclass(frozen=True, eq=False)
class Loops(CompiledRecord):
    """The closure nodes, which are dense, and their fills; nc clusters, nn closure nodes, ne fills."""

    cluster_node: Int1  # (nc + 1,) nodes of cluster c are cluster_node[c] : cluster_node[c + 1]
    node_first: Int1  # (nb + 2,) nodes with top i are node_order[node_first[i] : node_first[i + 1]]
    node_order: Int1  # (nn,)
    node_row: Int1  # (nn + 1,) rows of node n are node_row[n] : node_row[n + 1]
    node_low: Int1  # (nn,) first of the rows that node n is coupled with
    node_high: Int1  # (nn,) end of them
    node_fill: Int1  # (nn,) first of the fills of node n at its top, -1 where that is the world
    row_start: Int1  # (nr + 1,) entry (r, s) of the closures' matrix is ldu.K[row_start[r] + s]; K's size
    row_fill: Annotated[Int2, "nr 2"]  # fill of a closure row at its own two bodies, -1 for the world or a tree row
    fill_first: Int1  # (nb + 1,) fills of body i are fill_first[i] : fill_first[i + 1] ...
    fill_pass: Int1  # (nb,) ... first those of nodes with top i, from fill_pass[i] those it passes to its parent
    fill_row: Int1  # (ne,) row r of a fill
    fill_up: Int1  # (ne,) the fill of the same row one body nearer to the root, -1 where that is the world
    fill_cluster: Int1  # (nb,) cluster that body i and its tree joint take part in, -1 for none


@dataclass(frozen=True, eq=False)
class Plan(CompiledRecord):
    """A compiled mechanism; nb bodies, nj joints, nr rows, nm measures, nf laws."""

    bodies: Bodies
    joints: Joints
    rows: Rows
    measures: Measures
    elements: Elements
    components: Components
    laws: Laws
    beams: Beams
    paths: Paths
    compliant: CompliantRows
    constraints: Constraints
    limits: Limits
    contacts: ContactTable
    massive_paths: MassivePaths
    bearings: Bearings
    loads: LoadTable
    products: Products
    formulas: Formulas
    loops: Loops


@dataclass(frozen=True, eq=False)
class EffortWork(CompiledRecord, writable=True):
    """Arrays of laws, loads, constraints and limits in a run; ne elements."""

    input: Annotated[Float1, "ne"]  # over the step
    effort: Annotated[Float1, "ne"]  # N or N m
    work: Annotated[Float1, "ne", STEP_STATE]  # J, done since the start
    function: Annotated[Int1, "nf"]  # address of a user's law in this process, 0 for others
    mapped: Annotated[Int1, "nm"]  # address of a user's function of a measure, 0 for the measure itself
    state: Annotated[Float1, "states", STEP_STATE]  # at the last node
    flow: Annotated[Float1, "states"]  # their rate
    settled: Annotated[Float2, "states settled"]  # solutions of states whose flow depends on them alone, see laws.py
    by_state: Annotated[Float2, "states 4"]  # effort by the state at the start, state at the end by it, value, rate
    value: Annotated[Float1, "values"]  # of measures, turns counted; then of rotation vectors, see `Measures.rotation`
    # of the last step done, for a row of a constraint of the last node
    value_near: Annotated[Float1, "values", STEP_STATE + TAPED + BEFORE_EVENT]
    push: Annotated[Float3, "beams 2 6"]  # of elements on bodies a and b over half a step, see beam_steps.py
    gradient: Annotated[Float3, "nm 2 6"]  # by side, times the weight
    sum_at: Annotated[Float2, "2 ns"]  # at the start and the end of the last step done, if laws have a potential
    summed: Annotated[Int1, "1"]  # one more than the pose where they are known from the last step, zero for none
    sum_value: Annotated[Float1, "ns"]  # what laws see
    sum_rate: Annotated[Float1, "ns"]
    sum_effort: Annotated[Float1, "ns"]  # of all laws of a sum
    sum_by_value: Annotated[Float1, "ns"]  # its derivatives
    sum_by_rate: Annotated[Float1, "ns"]
    law_by_value: Annotated[Float1, "nf"]
    law_by_rate: Annotated[Float1, "nf"]
    wrench: Annotated[Float2, "loads 6"]  # of loads, N, world, and N m, body axes
    wrench_by_pose: Annotated[Float4, "loads 2 6 6"]  # by motions of both bodies: m, world, and rad, body axes
    wrench_by_velocity: Annotated[Float4, "loads 2 6 6"]  # by their velocities: m/s, world, and rad/s, body axes
    position: Annotated[Float2, "slots 3"]  # in the middle of the step
    rotation: Annotated[Float3, "slots 3 3"]  # in the middle of the step
    tangent: Annotated[Float2, "slots 4"]  # T of middle.py, and the cosine of half the step's rotation
    motion: Annotated[Float2, "2 6"]  # scratch for curvature
    change: Annotated[Float2, "2 6"]
    third: Annotated[Float1, "6"]  # motion of the third body of a measure, for its curvature
    slope: Annotated[Float2, "2 6"]  # scratch: the gradient of a measure of which there is a function
    column: Annotated[Float1, "6"]
    unit: Annotated[Float1, "6"]
    curved: Annotated[Float3, "nm 2 6"]  # scratch: changes of gradients
    # of constraints, at the end of the step, in the first row of each, and its rate at the last node
    target: Annotated[Float1, "nr", STEP_STATE + TAPED]
    target_rate: Annotated[Float1, "nr", STEP_STATE + BEFORE_EVENT]
    target_rate_next: Annotated[Float1, "nr"]  # its rate at the end of the step
    closed: Annotated[Bool1, "limits", STATE]  # whether a limit is closed
    rest_gap: Annotated[Float1, "limits", STATE]  # gap at which a closed limit is held, zero but for round-off
    floor: Annotated[Float1, "limits", STEP_STATE]  # zero, or below zero while a start comes back, see returning.py
    come_back: Annotated[Float1, "1", STATE]  # 1/s, rate at which it does; zero: no start is beyond a limit


@dataclass(frozen=True, eq=False)
class Pace(CompiledRecord, writable=True):
    """The size of the steps of a run that chooses them (pace.py)."""

    factor: Float1  # s, dt over the turn of a step; zero: steps of dt
    density: Annotated[Float1, STATE]  # dt over the size of the next step
    time: Annotated[Float1, "2", STATE]  # s, at the node, and what rounding took off it
    velocity: Annotated[Float2, "nb 6"]  # at the node
    acceleration: Annotated[Float2, "nb 6"]
    rows: Annotated[Int1, "nr"]  # numbers of all rows
    bend: Annotated[Float1, "constraints"]  # second time derivative of the targets of constraints


@dataclass(frozen=True, eq=False)
class Events(CompiledRecord, writable=True):
    """Jumps of the momenta in a run, each at a node before which so many stages lie. M = 0 if no term has any."""

    count: Int1  # of the events that were kept, or would have been
    stage: Annotated[Int1, "events"]
    timed: Annotated[Int1, "events"]  # 1 where the stage before ends where the event is
    before: Annotated[Int2, "events before_event_words"]  # arrays with the role BEFORE_EVENT
    momentum: Annotated[Float3, "events nb 6"]  # before the event
    limits: LimitEvents
    contacts: ContactEventTape


@dataclass(frozen=True, eq=False)
class Tape(CompiledRecord, writable=True):
    """The stages of a run (tape.py): what each starts from, acts on it and was solved for. N = 0 in most runs."""

    count: Int1  # of the stages that were kept, or would have been
    h: Annotated[Float1, "kept"]  # s
    at_end: Annotated[Bool1, "kept"]  # whether the impulses act along the rows at the end
    node: Annotated[Int1, "kept"]  # the inputs are those of this node ...
    share: Annotated[Float1, "kept"]  # ... and this share of a step
    stage: Annotated[Int2, "kept taped_words"]  # arrays with the role TAPED
    # those that derivatives read
    momentum: Annotated[Float3, "kept nb 6"]  # at the start
    velocity: Annotated[Float3, "kept nb 6"]
    load: Annotated[Float4, "kept 2 nb 6"]  # at start and end, but for gravity
    input: Annotated[Float2, "kept ne"]  # see `EffortWork`
    state: Annotated[Float2, "kept states"]
    damping: DampingTape
    limits: LimitTape
    contacts: ContactTape
    events: Events


@dataclass(frozen=True, eq=False)
class Tangent(CompiledRecord, writable=True):
    """Scratch of derivatives of stages (tangent.py)."""

    start: Annotated[Float2, "nb 6"]  # motion of the start of a step by a change of it, ...
    middle: Annotated[Float2, "nb 6"]  # ... of its middle
    end: Annotated[Float2, "nb 6"]  # ... and of its end
    velocity: Annotated[Float2, "nb 6"]  # change of the velocity over the step
    begun: Annotated[Float2, "nb 6"]  # change of the velocity at the start of a step that strong damping knows
    begun_rate: Float1  # (ns,) change of the rates of sums there
    by_begun: Annotated[Float2, "nb 12"]  # gradient by it, and then by the state at the start
    unmoved: Annotated[Float3, "2 nb 12"]  # zero: changes that leave it
    lean: Annotated[Float2, "nb 3"]  # change of T, see middle.py
    momentum: Annotated[Float2, "nb 6"]  # gradient by the momenta at the end of a step
    state: Float1  # (states of laws and slips of contacts,) gradient by those at the start of a step
    body: Annotated[Float3, "4 nb 6"]
    row: Float2  # (4, nr)
    no_row: Float1  # (nr,) zero
    left: Float1  # what each pass of a solution leaves
    # of eight changes at once (columns.py)
    joint: Annotated[Float3, "4 6 8"]
    pair: Annotated[Int2, "np 2"]  # bodies of rows that follow one another, by side
    pair_row: Int1  # (np + 1,) where the rows of each pair begin
    curve: Annotated[Float3, "np 12 12"]  # the curvature of these rows, times their multipliers
    bend: Annotated[Float2, "nr 12"]  # change of the rate of a row by motions of its two bodies, at given velocities
    turn: Annotated[Float4, "nb 2 3 3"]  # rotation matrices from the axes at the start of a step to its end and middle
    spin: Annotated[Float3, "nb 3 6"]  # change of the angular momentum at the end of a step by that of its unknowns
    wide: Annotated[Float4, "6 nb 6 8"]
    wide_row: Annotated[Float3, "4 nr 8"]
    change: Annotated[Float3, "nb 12 8"]
    node: Annotated[Float2, "largest_node 8"]
    border: Border  # of the transposed system, with the contacts that touch


@dataclass(frozen=True, eq=False)
class ByProducts(CompiledRecord, writable=True):
    """Derivatives of the rows of n products of exponentials at E poses of a run (by_products.py)."""

    count: Int1  # (1,) how many there are
    position: Annotated[Float3, "E_n 2 3"]  # of the two bodies of the joint
    rotation: Annotated[Float4, "E_n 2 3 3"]
    q: Annotated[Float2, "E_n 6"]  # coordinates near those of the pose
    order: Annotated[Int2, "E_n 6"]  # as in `ProductWork`
    motion: Annotated[Float4, "E_n rows 2 6"]  # factors of the gradients of the rows
    factor: Float2  # (E n, rows) of their values


@dataclass(frozen=True, eq=False)
class ByNumbers(CompiledRecord, writable=True):
    """The gradient of an objective by the numbers of a plan and by all that acted in N stages (by_numbers.py)."""

    mass: Float1  # (nb,)
    inertia: Annotated[Float3, "nb 3 3"]  # along symmetric changes
    gravity: Float1  # (3,)
    u: Annotated[Float2, "nm 3"]
    v: Annotated[Float2, "nm 3"]
    w: Annotated[Float2, "nm 3"]
    c: Float1  # (nm,)
    rest: Annotated[Float2, "nm 3"]  # by a rotation vector from the left
    weight: Float1  # (nm,)
    wanted: Bool1  # (1,) whether stages add what the numbers of joints' rows have, a quarter of the backward pass
    h: Float1  # (N,) by the size of a stage
    load: Annotated[Float4, "N 2 nb 6"]  # at its start and end
    input: Float2  # (N, ne)
    target: Float2  # (N, nr)
    # what laws and loads saw, and the gradient by what they gave
    value: Float2  # (N, ns)
    rate: Float2  # (N, ns)
    start_rate: Float2  # (N, ns) at the start of the stage, of sums with strong damping
    effort: Float2  # (N, ns)
    state: Float2  # (N, states of laws and slips of contacts) at the end
    rotation: Annotated[Float4, "N n 3 3"]  # of the bodies of loads, in the middle
    normal: Annotated[Float3, "N n 3"]  # along which sliding loads are pressed, in the middle
    push: Annotated[Float3, "N nb 6"]  # by a force and torque on each body, in the middle
    products: ByProducts
    limits: LimitNumbers
    contacts: ContactNumbers


@dataclass(frozen=True, eq=False)
class Extended(CompiledRecord, writable=True):
    """Arrays for stages that are solved in double-double (double/increment.py); empty if no stage is."""

    used: Bool1  # whether the last stage was
    evaluated: Bool1  # whether the last stage was evaluated at its velocities, see `newton.solve_step`
    exact: Bool1  # whether Newton's matrix has all derivatives of the roles of a plan
    joints_alone: Bool1  # whether a plan has no roles beside bodies and joints
    velocity_rest: Annotated[Float2, "sharpened 6"]
    impulse: Annotated[Float2, "sharpened 6"]  # of rows and efforts, without ``load``, at the start of the stage
    impulse_rest: Annotated[Float2, "sharpened 6"]
    rotation: Annotated[Float3, "sharpened_slots 3 3"]  # scratch: rotation matrices of a pose, the world included
    rotation_rest: Annotated[Float3, "sharpened_slots 3 3"]
    lever: Annotated[Int2, "sharpened_rows 4"]  # first row, how many, both bodies: `double.rows.find_levers`
    lever_end: Annotated[Int1, "3"]  # by kind


@dataclass(frozen=True, eq=False)
class Workspace(CompiledRecord, writable=True):
    """Scratch of a run. Pose arrays hold two poses, the start and the end of a step."""

    # state
    position: Annotated[Float3, "poses slots 3", STEP_STATE + TAPED + BEFORE_EVENT]  # m, world
    quat: Annotated[Float3, "poses slots 4", STEP_STATE + TAPED + BEFORE_EVENT]
    rotation: Annotated[Float4, "poses slots 3 3"]
    momentum: Annotated[Float2, "nb 6", STEP_STATE]  # linear (N s, world) and angular (N m s, body)
    position_rest: Annotated[Float3, "poses nb 3", STEP_STATE]  # what rounding took off the positions, see `sums`
    quat_rest: Annotated[Float3, "poses nb 4", STEP_STATE]
    momentum_rest: Annotated[Float2, "nb 6", STEP_STATE]
    jacobian: Annotated[Float4, "poses nr 2 6"]  # of the rows, by pose and side: m, world and rad, body
    load: Annotated[Float2, "nb 6"]  # external force (N, world) and torque (N m, body), gravity included
    # step
    velocity: Annotated[Float2, "nb 6", STATE]  # m/s, world and rad/s, body; constant over the step
    multiplier: Annotated[Float1, "nr", TAPED]  # impulse of each row
    last_multiplier: Annotated[Float1, "nr", STATE]  # of the last step, of trees; of compliant rows the effort
    history: Annotated[Float4, "stages history nb 6", STATE]  # the last velocity, its backward differences
    depth: Annotated[Int1, "stages", STATE]  # how many of these are up to date, the first ones
    released: Annotated[Float1, "nr"]  # 1 for a row that takes no part as a constraint, else 0; on its diagonal
    # Newton
    derivative: Annotated[Float3, "nb 6 6"]  # of the momenta, for the exact operator
    base: Annotated[Float2, "nb 6"]  # velocity before an increment
    goal: Annotated[Float2, "nb 6"]  # momentum that the step starts from, half kick included
    goal_rest: Annotated[Float2, "nb 6"]
    residual_body: Annotated[Float2, "nb 6"]
    residual_row: Annotated[Float1, "nr"]
    increment_body: Annotated[Float2, "nb 6"]
    increment_row: Annotated[Float1, "nr"]
    missed: Annotated[Float1, "3"]  # m/s, of residuals that roles weigh: sum of squares, largest, largest impulse
    # parts
    acts: Int1  # (1,), bits of the roles that the plan has, see roles.py
    extended: Extended
    efforts: EffortWork
    damping: Damping
    search: LimitSearch
    contacts: ContactWork
    massive_paths: MassivePathWork
    bearings: BearingWork
    found: Features  # of one pair of shapes
    balance: Balance
    pace: Pace
    spans: Spans
    saved_step: SavedStep
    starts: StageStarts
    ringing: Ringing
    products: ProductWork
    formulas: FormulaWork
    ldu: Factors
    border: Border
    tape: Tape

    def __post_init__(self):
        # a copy has arrays of its own
        object.__setattr__(self, "spans", deepcopy(self.spans))
        super().__post_init__()
        write_role_spans(self, self.spans)
