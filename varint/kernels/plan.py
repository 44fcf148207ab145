"""The arrays that kernels work on: the immutable `Plan` of a mechanism and the mutable `Workspace` of a run.

Glossary
--------
body i        0 .. nb-1, numbered so that a parent comes before its children; slot nb is the world.
joint j       0 .. nb-1: the tree joint of body j to its parent; nb .. nj-1: the cut joints (loop closures).
row r         one scalar constraint; the rows of a joint are contiguous.
side 0, 1     of a joint. Tree joint: side 0 is the child (body j), side 1 its parent.
cluster c     the loop closures of one biconnected component; loops of different clusters do not interact.
node n        loop closures of a cluster that are eliminated together, as one dense block.
top           of a node: the body nearest to the root of the loops it closes; the node is eliminated just before it.
fill e        one closure row made felt at one body by elimination: the only fill-in there is, but for K's.
gauge e       a scalar of the pose of two bodies; law f: one effort along a gauge (forces.py).
              A gauge without laws adds to the last one that has: its laws see the sum, and act along all of them.
              A HOLD is a law whose effort is what keeps the (weighted) sum at its aim: a constraint.
p, x, R       position of the centre of mass (m, world), pose, rotation matrix body to world.
"""

from dataclasses import dataclass

from varint._numba import Bool1, Float1, Float2, Float3, Float4, Int1, Int2, Record

# kinds of row: constraints, see rows.py and products.py, and gauges, see forces.py
POINT, AXIS, DISTANCE, ON_MOTIONS, HELD, EFFORT = range(6)
# kinds of gauge: of two bodies; directions along which one body is pushed; the motion of one body
LENGTH, SLIDE, TURN, FRAME, DEAD, FOLLOWER, SPEED, SPIN, SLIP = range(9)
# kinds of law
SPRING, CABLE, STOP, FRICTION, DRAG, SERVO, INPUT, INVERSE_SQUARE, STRAIN, TABLE, COULOMB, HOLD, USER, MOTOR = range(14)


KNOWN = 96  # words that are known of a joint with rows ON_MOTIONS, see products.py


@dataclass(frozen=True, eq=False)
class Plan(Record):
    """A compiled mechanism. Every array is read-only; nb bodies, nj joints, nr rows, nc clusters, nn nodes, ne fills.

    Rows of the tree joints come first, then those of the closures, by cluster and in the order of elimination.
    """

    # bodies
    mass: Float1  # (nb,) kg
    inertia: Float3  # (nb, 3, 3) kg m^2, about the centre of mass, body axes
    gravity: Float1  # (3,) m/s^2, world
    body_scale: Float2  # (nb, 2) turns an impulse residual (N s, N m s) into m/s
    # tree
    parent: Int1  # (nb,) body slot of the parent, nb for the world
    # joints
    side: Int2  # (nj, 2) body slots of side 0 and side 1
    first_body: Int1  # (nj,) the side whose axes the rows are written in
    joint_rows: Int1  # (nj + 1,) rows of joint j are joint_rows[j] : joint_rows[j + 1]
    row_kind: Int1  # (nr,) POINT, AXIS, DISTANCE, ON_MOTIONS; HELD or EFFORT for a gauge
    row_u: Float2  # (nr, 3) unit direction (POINT, AXIS) or anchor (DISTANCE, m), axes of the first body
    row_w: Float2  # (nr, 3) anchor (POINT, DISTANCE, m) or unit direction (AXIS), axes of the second body
    row_c: Float1  # (nr,) place of the plane (POINT) or length (DISTANCE), m
    row_scale: Float1  # (nr,) turns a row (m or rad) into m
    product: Float2  # (stages and pieces, WIDTH) joints whose rows are ON_MOTIONS, see products.py
    product_joint: Int1  # (np,) their numbers
    joint_product: Int1  # (nj,) their first rows in ``product``, -1 for others
    joint_known: Int1  # (nj,) where what is known of them starts in Workspace.row_near
    length: Float1  # (1,) size of the parts, m
    # loop clusters
    cluster_node: Int1  # (nc + 1,) nodes of cluster c are cluster_node[c] : cluster_node[c + 1]
    node_first: Int1  # (nb + 2,) nodes with top i are node_order[node_first[i] : node_first[i + 1]]
    node_order: Int1  # (nn,)
    node_row: Int1  # (nn + 1,) rows of node n are node_row[n] : node_row[n + 1]
    node_low: Int1  # (nn,) first of the rows that node n is coupled with
    node_high: Int1  # (nn,) end of them
    node_fill: Int1  # (nn,) first of the fills of node n at its top, -1 where that is the world
    row_start: Int1  # (nr + 1,) entry (r, s) of the closures' matrix is Workspace.K[row_start[r] + s]; K's size
    fill_first: Int1  # (nb + 1,) fills of body i are fill_first[i] : fill_first[i + 1] ...
    fill_pass: Int1  # (nb,) ... first those of nodes with top i, from fill_pass[i] those it passes to its parent
    fill_row: Int1  # (ne,) row r of a fill
    fill_up: Int1  # (ne,) the fill of the same row one body nearer to the root, -1 where that is the world
    fill_cluster: Int1  # (nb,) cluster that body i and its tree joint take part in, -1 for none
    row_compliance: Float1  # (nr,) 1 for efforts, 0 for constraints
    row_chain: Int1  # (nr,) of a closure row: how many rows from it on have one effort, by their sum; else 0
    row_gauge: Int1  # (nr,) the gauge of a row, -1 for a joint's
    held_row: Int1  # (nh,) of each HOLD: its first row
    held_law: Int1  # (nh,) and law
    held_driven: Int1  # (nh,) 1 where its aim is the law's input, 0 where it stays what it is at the start
    # forces; ng gauges, nf laws
    gauge_body: Int2  # (ng, 2) body slots a, b
    gauge_row: Int1  # (ng,) its row, -1 where it needs none
    gauge_flip: Int1  # (ng,) 1 where body a is on side 1 of that row
    forced: Bool1  # (nb,) whether a body has gauges
    gauge_kind: Int1  # (ng,)
    gauge_weight: Float1  # (ng,) its factor in a sum
    gauge_vector: Float3  # (ng, 7, 3) LENGTH: anchors, axes of a, b; SLIDE: direction, a, anchor, b, (offset,);
    # TURN: two axes of a, one of b; FRAME: as SLIDE, then a weight of turns, a, and R at rest; DEAD, FOLLOWER:
    # directions of force and torque, in the world or in b, point, b; SLIP: normal, world, point, b
    gauge_law: Int1  # (ng + 1,) laws of gauge e are gauge_law[e] : gauge_law[e + 1]
    stop_gauge: Int1  # (ns,) hard stops: gauge, limit, side that is forbidden (1: above, -1: below), restitution
    stop_limit: Float1  # (ns,)
    stop_sign: Float1  # (ns,)
    stop_restitution: Float1  # (ns,)
    law_kind: Int1  # (nf,)
    law_parameter: Float2  # (nf, 4) SPRING k, l0, d; CABLE the same; STOP k, upper, d, lower; FRICTION F, v0;
    # DRAG c; SERVO k, integral gain, d; MOTOR F, v0; INPUT none; INVERSE_SQUARE G M m; STRAIN k, l0, d; TABLE first
    # piece, pieces, d; COULOMB mu, v0, the law of the normal force; USER address of a function. SI units
    table: Float2  # (pieces, 6) of all TABLEs: start, effort's c0 .. c3 by (value - start), potential there
    row_fill: Int2  # (nr, 2) fill of a closure row at its own two bodies, -1 for the world or a tree row


@dataclass(frozen=True, eq=False)
class Workspace(Record, writable=True):
    """Scratch of a run, grouped by stage. Pose arrays hold two poses, the start and the end of a step."""

    # state
    position: Float3  # (2, nb + 1, 3) m, world
    quat: Float3  # (2, nb + 1, 4)
    rotation: Float4  # (2, nb + 1, 3, 3)
    momentum: Float2  # (nb, 6) linear (N s, world) and angular (N m s, body)
    jacobian: Float4  # (2, nr, 2, 6) of the rows, by pose and side: m, world and rad, body
    load: Float2  # (nb, 6) external force (N, world) and torque (N m, body), gravity included
    # step
    velocity: Float2  # (nb, 6) m/s, world and rad/s, body; constant over the step
    multiplier: Float1  # (nr,) impulse of each row
    row_near: Float1  # (nr,) value of a HELD row's gauge at the last node: tells the turns of a TURN; then
    # (np * KNOWN,) what is known of the joints with rows ON_MOTIONS
    row_aim: Float1  # (nr,) what the weighted sum of HELD rows is kept at, at the end of the step
    row_rate: Float1  # (nr,) its rate at the last node
    history: Float4  # (stages, 3, nb, 6) velocities of the last steps, latest first, for the start value
    # Newton
    base: Float2  # (nb, 6) velocity before an increment
    target: Float2  # (nb, 6) momentum that the step starts from, half kick included
    residual_body: Float2  # (nb, 6)
    residual_row: Float1  # (nr,)
    increment_body: Float2  # (nb, 6)
    increment_row: Float1  # (nr,)
    # forces
    command: Float1  # (nf,) input of a law over the step
    effort: Float1  # (nf,) N or N m
    work: Float1  # (nf,) J, done since the start
    integral: Float1  # (nf,) of the deviation of a SERVO since the start
    closed: Bool1  # (ns,) whether a hard stop is closed
    rest_gap: Float1  # (ns,) gap at which a closed stop is held, zero but for round-off
    compliance: Float1  # (nr,) row_compliance, 0 for the rows of closed stops
    middle_position: Float2  # (nb + 1, 3)
    middle_rotation: Float3  # (nb + 1, 3, 3)
    middle_turn: Float2  # (nb + 1, 4) T of forces.py, and the cosine of half the step's rotation
    middle_value: Float1  # (ng,) of the gauge in the middle of the step
    gauge_value: Float1  # (ng,) the same of the last step done: tells the turns of a TURN
    gauge_sum: Float1  # (ng,) the value that its laws see
    gauge_rate: Float1  # (ng,) and its rate
    gauge_effort: Float1  # (ng,) of its laws together
    gauge_damping: Float1  # (ng,) minus the effort over the rate: acts across the direction of SPEED, SPIN, SLIP
    gauge_gradient: Float3  # (ng, 2, 6)
    gauge_upper: Float3  # (ng, 2, 6)
    gauge_lower: Float3  # (ng, 2, 6)
    # LDU
    D: Float3  # (nb, 6, 6) body pivots, then their LU factors
    X: Float3  # (nb, 6, 8) D^-1 G^T, a column for each row of the joint; right-hand side, see dense.py
    S: Float3  # (nb, 6, 8) joint pivots, then their LU factors
    Y: Float3  # (nb, 6, 8) S^-1 H at the parent, a row for each row of the joint
    K: Float1  # matrix of the closures; then LU factors of the nodes K_nn, K_nn^-1 K_nm for later rows m
    pivot: Int2  # (2, nr) row and column order of the closure factors
    rank: Int1  # (nn,) numerical rank of each closure node
    last_pivot: Float1  # (nn,) smallest pivot that counted, relative
    closure_scale: Float1  # (nr,) scaling of the closure rows
    closure_column: Float2  # (2, largest node)
    fill_lower: Float2  # (ne, 6) F_{closure, body}
    fill_upper: Float2  # (ne, 6) F_{body, closure}, then D^-1 times it
    fill_joint_lower: Float2  # (ne, 6) F_{closure, joint}; at a top K_nn^-1 F_{closure, body}
    fill_joint_upper: Float2  # (ne, 6) S^-1 F_{joint, closure}
