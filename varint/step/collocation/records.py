"""Arrays of the collocation steps (collocation/steps.py): nl links, s nodes in a step, the first of them its start."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Float4, Int1, Int2

TURN, SLIDE, SCREW, WELD = range(4)  # motions of a link


@dataclass(frozen=True, eq=False)
class LinkTree(CompiledRecord):
    """A tree of links, each with at most one turn, slide or screw against its parent; the world comes after all, at nl.

    The last link of a joint is its body, the others have no mass. A parent comes before its children.
    """

    parent: Annotated[Int1, "nl"]
    motion: Annotated[Int1, "nl"]  # TURN, SLIDE, SCREW or WELD
    axis: Annotated[Float2, "nl 3"]  # unit vector, axes of the link
    pitch: Annotated[Float1, "nl"]  # m/rad, of a screw, else zero
    anchor: Annotated[Float2, "nl 3"]  # m, from the centre of the parent to the joint, axes of the parent
    lever: Annotated[Float2, "nl 3"]  # m, from the centre of the link to the joint, axes of the link
    unit: Annotated[Float1, "nl"]  # of an increment that counts as one: 1 rad, or the size of the parts, m
    mass: Annotated[Float1, "nl"]  # kg
    moments: Annotated[Float3, "nl 3 3"]  # integral of x x^T dm about the centre, axes of the link, kg m^2
    gravity: Annotated[Float1, "3"]  # m/s^2, world
    link: Annotated[Int1, "nb"]  # of each body
    body: Annotated[Int1, "nl"]  # slot of the body whose joint the link is of
    ball: Annotated[Int1, "balls"]  # first of three links that are a ball
    along: Annotated[Int1, "sums"]  # the link whose coordinate alone a sum of measures depends on, -1 for none
    mover: Annotated[Int1, "movers"]  # links that move points of paths with mass
    carries: Annotated[Int2, "pathpoints movers"]  # 1 where a link moves a point


@dataclass(frozen=True, eq=False)
class ClosedLoops(CompiledRecord):
    """The dense nodes of loop closures, see `Loops`; each of nr rows there is q here, one a node, row after row."""

    rows: Annotated[Int1, "2"]  # first of the rows in the plan, and their end
    rated: Annotated[Int1, "rated"]  # those of them that are of rates, see collocation/conditions_on_rates.py
    contact: Annotated[Int2, "places 3"]  # rows of closed hard contacts: along the normal, and across it or -1.
    # First those of contacts with planes, each at its own place, then places for contacts of shapes:
    first_place: Annotated[Int1, "features"]  # of the slot of a pair of features, shared by all of two bodies, ...
    end_place: Annotated[Int1, "features"]  # ... and the end of these
    across: Annotated[Int1, "rows_across"]  # all rows across normals
    rubs: Annotated[Int1, "rubbing"]  # numbers of hard contacts with friction
    node: Annotated[Int1, "dense_ends"]  # rows of dense node n are node[n] : node[n + 1]
    low: Annotated[Int1, "dense"]  # first of the rows that it is coupled with
    high: Annotated[Int1, "dense"]  # end of them
    start: Annotated[Int1, "closed"]  # entry (r, s) is K[start[r] + s]
    pair: Annotated[Int1, "link_ends"]  # entries of link n in `ClosureWork.reach` are pair[n] : pair[n + 1], by fill


@dataclass(frozen=True, eq=False)
class NodeRule(CompiledRecord):
    """Nodes, weights and derivatives of the polynomials of a step (methods/variational/lobatto_rule.py)."""

    node: Annotated[Float1, "s"]  # in a step of length one, from 0 to 1
    weight: Annotated[Float1, "s"]  # of quadrature
    stiffness: Annotated[Float2, "s s"]  # sum over nodes i of weight_i l_j'(c_i) l_k'(c_i)
    slope: Annotated[Float2, "s s"]  # l_k'(c_j) of a step of length one, at node j
    integral: Annotated[Float2, "s s"]  # integral of l_j from 0 to c_k, at (k, j)
    combined: Annotated[Float2, "q s"]  # of conditions on rates, see collocation/conditions_on_rates.py
    ahead: Annotated[Float3, "s q past"]  # d: values at the nodes after the first by the last s + d of the past nodes
    furthest: Annotated[Float1, "1"]  # rad, that a step may turn a link
    high: Annotated[Float1, "s"]  # Legendre's polynomials of degrees s - 1 and ...
    low: Annotated[Float1, "s"]  # ... s - 2 at the nodes, and of strong efforts (end_rates.py):
    lead: Annotated[Float1, "s"]  # share of the part of degree s - 2 of a rate by which it leads
    spread: Annotated[Float1, "s"]  # shares of the rates at the nodes in that part
    top: Annotated[Float1, "s"]  # derivatives of that part by the places at the nodes, in a step of length one


@dataclass(frozen=True, eq=False)
class ClosureWork(CompiledRecord, writable=True):
    """Arrays of the closures; an entry of a fill has a row and a node, j q + k."""

    multiplier: Annotated[Float1, "closed", STATE]  # N s or N m s, of the impulses along rows at the nodes 0 .. q - 1
    value: Annotated[Float2, "s rows"]  # of all rows of the plan at the nodes, m or rad
    gradient: Annotated[Float4, "s rows 2 6"]  # by motions of both bodies: m, world, and rad, axes of the body
    by_value: Annotated[Float2, "s rows"]  # of rows of efforts: derivative of the impulse at a node by the value there
    by_rate: Annotated[Float2, "s rows"]  # the same by the rate, over the step
    held: Annotated[Bool1, "rows"]  # those of efforts whose hard limit is closed, which are constraints (stops.py)
    idle: Annotated[Bool1, "rows"]  # rows of contacts that have no part in the step: their multipliers stay zero
    lower: Annotated[Float3, "fills blocks 6"]  # derivative of a closure's rows by the motions of a link
    upper: Annotated[Float3, "fills blocks 6"]  # derivative of the link's wrenches by its multipliers
    rise: Annotated[Float2, "pairs blocks"]  # `lower` along the free motion of a link
    reach: Annotated[Float2, "pairs blocks"]  # E^-1 times `upper` along it
    K: Annotated[Float1, "entries"]  # of the closures' own matrix, see `ClosedLoops.start`
    scale: Annotated[Float1, "closed"]  # size of the terms of the diagonal of K, then what brings them to one
    pivot: Annotated[Int2, "2 closed"]  # order of the rows and columns of a dense node, by their pivots
    rank: Annotated[Int1, "dense"]  # of each dense node, without the rows that are idle
    busy: Annotated[Int1, "closed"]  # of each dense node the rows that are not idle, from its first row on, ...
    busy_count: Annotated[Int1, "dense"]  # ... and how many they are
    column: Annotated[Float2, "2 closed"]  # scratch
    row: Annotated[Float1, "closed"]  # values of the rows on the way in, changes of multipliers on the way out


@dataclass(frozen=True, eq=False)
class InternalWork(CompiledRecord, writable=True):
    """Internal variables of laws at the nodes (collocation/internal_variables.py); all empty where there are none."""

    node: Annotated[Float2, "s states"]  # at the nodes
    value: Annotated[Float2, "s lagging_sums"]  # of the sums at the nodes, m or rad, where a flow depends on the motion
    rate: Annotated[Float2, "s lagging_sums"]
    by_sum: Annotated[Float3, "lagging_sums q q"]  # derivative of the impulse at node j by the value at node k + 1 ...
    by_link: Annotated[Float3, "lagging_links q q"]  # ... the same of laws along the coordinate of a link
    by_row: Annotated[Float3, "lagging_rows q q"]  # ... and of efforts with rows
    slope: Annotated[Float2, "5 s"]  # effort by z; flow, and by value, rate and z, of the law at hand
    matrix: Annotated[Float2, "q q"]
    column: Annotated[Float1, "q"]
    order: Annotated[Float1, "q"]


@dataclass(frozen=True, eq=False)
class PathNodeWork(CompiledRecord, writable=True):
    """Masses along paths at the nodes (collocation/path_masses.py), of their N points; world axes."""

    velocity: Annotated[Float3, "s pathpoints 3"]  # m/s
    force: Annotated[Float3, "s pathpoints 3"]  # impulse at each point, N s
    pull: Annotated[Float2, "pathpoints 3"]  # derivative of the kinetic energy of a path by the places of its points, N
    at_rate: Annotated[Float2, "pathpoints 3"]  # the same at the velocities of the iterate
    by_direction: Annotated[Float2, "pathpoints 3"]  # scratch of `find_pulls`
    by_slip: Annotated[Float1, "pathpoints"]
    by_fraction: Annotated[Float1, "pathpoints"]
    inertia: Annotated[Float3, "s pathcoordinates pathcolumns"]  # of each path, momenta by velocities of its points ...
    drift: Annotated[Float3, "s pathbends pathcolumns"]  # ... and `pull` by these; none where all paths are straight
    reach: Annotated[Float4, "s pathpoints movers 3"]  # motion of a point by the coordinate of a link
    block: Annotated[Float2, "3 3"]
    coupling: Annotated[Float2, "moved moved"]  # derivative of `open` by coordinates, of the links that move points
    factors: Annotated[Float1, "moved_cells"]
    order: Annotated[Int1, "moved"]
    y: Annotated[Float1, "moved"]
    open: Annotated[Float2, "s pathlinks"]  # copies of right sides
    row: Annotated[Float1, "pathrows"]


@dataclass(frozen=True, eq=False)
class TouchWork(CompiledRecord, writable=True):
    """Hard contacts at the nodes (collocation/contacts.py, friction.py); rows by motions of both bodies as `gradient`.

    Arrays of friction are empty where no contact has any.
    """

    gap: Annotated[Float2, "touching s"]  # m
    row: Annotated[Int2, "touching 3"]  # rows that a contact has in this step, see `ClosedLoops.contact`; -1 for none
    used: Annotated[Bool1, "places"]  # places that have a contact in this step
    longest: Annotated[Float1, "1"]  # share of the step in which no shapes that could meet move far
    # of contacts of shapes, see collocation/facing.py:
    seen: Annotated[Bool1, "features"]  # whether those that are closed still face each other by their features
    tangent: Annotated[Float2, "features 3"]  # direction across the normal at node 0, world
    turned: Annotated[Float3, "s features 2"]  # cosine and sine of the frame of the rows at a node in the one there
    slide: Annotated[Float2, "touching 2", STATE]  # unit direction in which one slides at the present node; zero: none
    left: Annotated[Float2, "touching 4", STATE]  # N s, along the normal, that the momenta lack: see friction.py
    slip: Annotated[Float2, "touching 2"]  # m/s, at the momenta at the end of a step or part
    across: Annotated[Float4, "s rubbed_rows 2 6"]  # rows of contact c along its plane, 2 c and 2 c + 1
    along: Annotated[Float3, "s rubbed 2"]  # direction in which a contact slides, in its plane
    speed: Annotated[Float2, "s rubbed"]  # m/s, along this
    rub: Annotated[Float4, "s rubbed 2 6"]  # row of the friction of a unit impulse along the normal


@dataclass(frozen=True, eq=False)
class EndRateWork(CompiledRecord, writable=True):
    """Strong efforts of a step (collocation/end_rates.py); twists and wrenches of loads in world axes."""

    active: Annotated[Bool1, "1"]  # whether any effort may be strong in the run ...
    any: Annotated[Bool1, "1"]  # ... any is in the step ...
    used: Annotated[Bool1, "1"]  # ... or was in a step before
    mean: Annotated[Float1, "led_sums"]  # parts r' of rates, of degree s - 2
    by_rate: Annotated[Float1, "led_sums"]  # derivatives of strong efforts at the node at hand by their rates
    apart: Annotated[Float2, "2 led_sums"]  # rates of the momenta at both ends less those of the polynomials
    high: Annotated[Float1, "led_laws"]  # impulses of strong laws at the nodes, times `NodeRule.high` ...
    low: Annotated[Float1, "led_laws"]  # ... and times `NodeRule.low`
    led: Annotated[Bool1, "led_loads"]  # which loads are strong
    load_mean: Annotated[Float2, "led_loads 6"]  # of loads what `mean` and the others are of laws
    load_apart: Annotated[Float3, "2 led_loads 6"]
    load_high: Annotated[Float2, "led_loads 6"]
    load_low: Annotated[Float2, "led_loads 6"]
    load_by_rate: Annotated[Float4, "s led_loads 6 3"]  # derivatives by the velocity, by the angular velocity
    by_velocity: Annotated[Float2, "6 6"]
    carrier: Annotated[Int1, "led_sums"]  # the body of a strong sum with the world that has no row, -1 for none
    gradient: Annotated[Float3, "s led_sums 6"]  # its gradient at the nodes, world axes, ...
    world_by_value: Annotated[Float2, "s led_sums"]  # ... and derivatives of its impulses by its values, ...
    world_by_rate: Annotated[Float2, "s led_sums"]  # ... by its rates, ...
    world_by_mean: Annotated[Float2, "s led_sums"]  # ... and by the part of degree s - 2 of these
    along: Annotated[Float2, "s led_links"]  # of impulses along links by the parts of degree s - 2
    by_row: Annotated[Float2, "s led_rows"]  # of impulses of rows


@dataclass(frozen=True, eq=False)
class NodeWorkspace(CompiledRecord, writable=True):
    """Work arrays of collocation steps; q = s - 1. Wrenches (force, torque), motions (shift, turn), world axes."""

    coordinate: Annotated[Float2, "2 nl", STATE]  # rad or m, at the present node, and what rounding took off it
    turned: Annotated[Float3, "nl 3 3", STATE]  # rotation of the link at coordinate zero, in axes of the parent
    momentum: Annotated[Float2, "nl 6", STATE]  # at the present node, kg m/s and kg m^2/s, about the centres
    past: Annotated[Float2, "past nl", STATE]  # coordinates at nodes of the last two steps, less the present ones
    watch: Annotated[Int1, "1"]  # what steps do about events (stops.py), and ...
    stops: Annotated[Int1, "1"]  # ... address of a `StopWatch`; zeros in mechanisms without hard stops
    meets: Annotated[Float1, "2"]  # shares of the last step where an event is seen, and where it is expected
    gap: Annotated[Float1, "s"]  # of one hard limit at the nodes, m or rad
    known: Annotated[Int1, "2", STATE]  # steps in ``past``; how many nodes more than s were best to extrapolate from
    by: Annotated[Float2, "s nl"]  # coordinates at the nodes of the step, less those at its start
    joint: Annotated[Float3, "nl 3 3"]  # rotation of the link at the start, axes of the parent
    position: Annotated[Float3, "s links 3"]  # m, world
    rotation: Annotated[Float4, "s links 3 3"]
    shift: Annotated[Float3, "s links 3"]  # `position` less that at the start, without cancellation
    change: Annotated[Float4, "s links 3 3"]  # `rotation` less that at the start, without cancellation
    axis: Annotated[Float3, "s nl 3"]  # of the motion, world
    offset: Annotated[Float3, "s nl 3"]  # m, from the joint to the centre of the link, world
    wrench: Annotated[Float3, "s nl 6"]  # of a link alone: derivative of the discrete action by its pose at a node
    carried: Annotated[Float3, "s nl 6"]  # of the link and all that it carries, about its centre
    moment: Annotated[Float3, "s nl 3"]  # of `carried` about the joint
    open: Annotated[Float2, "s nl"]  # of `carried` along the free motion: zero at the solution
    spread: Annotated[Float4, "s nl 3 3"]  # rotation times ``LinkTree.moments``
    tilt: Annotated[Float4, "s nl 3 3"]  # `spread` times the rotations differentiated, transposed
    D: Annotated[Float4, "links blocks 6 6"]  # derivative of the wrench at node j by the motion at node k + 1, j q + k
    U: Annotated[Float3, "links blocks 6"]  # D times the free motions
    V: Annotated[Float3, "links blocks 6"]  # E^-1 times the rows of D along them
    E: Annotated[Float3, "nl q q"]  # inverse of the pivots of a link
    motion: Annotated[Float3, "links q 6"]  # wrenches on the way in, motions on the way out
    turn: Annotated[Float2, "nl q"]  # increments of the coordinates
    load: Annotated[Float2, "nb 6"]  # of laws and loads at a node: N, world, and N m, axes of the body
    given: Annotated[Float3, "s nb 6"]  # loads from outside in it, at the nodes of the step ...
    is_given: Annotated[Bool1, "1"]  # ... where there are such loads
    body_position: Annotated[Float3, "s slots 3"]  # of the bodies, by slot
    body_rotation: Annotated[Float4, "s slots 3 3"]
    closures: ClosureWork
    internal: InternalWork
    paths: PathNodeWork
    touch: TouchWork
    ends: EndRateWork
    power: Annotated[Float1, "ne"]  # of their elements, W
    stiff: Annotated[Float2, "s nl"]  # derivative of `open` at a node by the coordinate there, of laws along it
    damp: Annotated[Float2, "s nl"]  # the same by its rate, over the step
