"""Records for the recursions of reduced coordinates: the nodes of the tree, and the arrays computed on them.

nl nodes, a parent before its children, each with one elementary motion; number nl is the world. nb bodies in the order
of the maximal kernels; number nb is the world. nq coordinates. Twists are (angular, linear), rad/s and m/s; wrenches
(torque, force), N m and N; both at the reference point of a node, in world axes.

    F    axes of a node                                  x    its reference point
    S    motion subspace: the twist of a node against its parent is S dq
    J    Jacobian: the twists of all nodes are J dq      M    inertia of the nodes
"""

from dataclasses import dataclass

from varint.base.numba import Bool1, CompiledRecord, Float1, Float2, Float3, Float4, Int1

WELD, REVOLUTE, PRISMATIC, BALL, CURVE, SURFACE = MOTIONS = range(6)  # CURVE, SURFACE: products of exponentials
DOF = {WELD: 0, REVOLUTE: 1, PRISMATIC: 1, BALL: 3, CURVE: 1, SURFACE: 2}


@dataclass(frozen=True, eq=False)
class TreeNodes(CompiledRecord):
    """The nodes of a tree (methods/reduced/tree.py); all arrays are frozen."""

    parent: Int1  # (nl,) node that it moves against; nl for the world
    motion: Int1  # (nl,) one of MOTIONS
    dof: Int1  # (nl,) number of its coordinates
    column: Int1  # (nl,) first of its coordinates in q
    sign: Float1  # (nl,) 1, or -1 where the joint is seen from its body b
    rest_axes: Float3  # (nl, 3, 3) P: axes of the motion at rest, in axes of the parent
    offset: Float2  # (nl, 3) d: origin of the motion from the parent's reference point, axes of the parent, m
    arm: Float2  # (nl, 3) reference point from the origin of the motion, own axes, m
    stage: Int1  # (nl,) row of a CURVE or SURFACE in `products`, else -1
    mass: Float1  # (nl,) kg; zero for nodes without a body
    inertia: Float3  # (nl, 3, 3) about the reference point, own axes, kg m^2
    body_node: Int1  # (nb,) node of each body
    body_axes: Float3  # (nb, 3, 3) C: rotation of the body in axes of its node, R = F C
    products: Float2  # (stages and pieces, WIDTH) products of exponentials, see mathematics/products/stages.py


@dataclass(frozen=True, eq=False)
class ReducedWorkspace(CompiledRecord, writable=True):
    """Arrays that one run computes, by the function that writes them. The world's rows stay as they were made."""

    nodes: TreeNodes

    # inputs of the kernels
    q: Float1  # (nq,) coordinates, m, rad
    rates: Float1  # (nq,) their time derivatives, m/s, rad/s
    prescribed: Bool1  # (nl,) bool: whether the motion of the node is given as a function of time

    # kinematics.place
    axes: Float3  # (nl + 1, 3, 3) F
    point: Float2  # (nl + 1, 3) x, m, world
    subspace: Float2  # (nq, 6) S: a twist for each coordinate, per unit of its rate
    position: Float2  # (nb + 1, 3) centres of mass of the bodies, m, world
    rotation: Float3  # (nb + 1, 3, 3) R of the bodies

    # kinematics.move
    twist: Float2  # (nl + 1, 6) of the nodes
    subspace_rate: Float2  # (nq, 6) dS/dt
    bias: Float2  # (nl, 6) acceleration of a node beyond its parent's at ddq = 0, rad/s^2, m/s^2
    velocity: Float2  # (nb, 6) of the bodies: linear, m/s, world, and angular, rad/s, body axes

    # articulated.factor
    inertia: Float4  # (nl + 1, 3, 3, 3) articulated-body inertia I = [A B; B^T C] by its blocks, kg m^2, kg m, kg
    U: Float2  # (nq, 6) I S L^-T of each node
    L: Float2  # (nq, 3) Cholesky factor of S^T I S of each node, its rows by coordinate

    # articulated.inward_pass, articulated.outward_pass, and the products with J^T
    wrench: Float2  # (nl + 1, 6) that the motion of a node takes
    acceleration: Float2  # (nl + 1, 6) time derivatives of the twists, rad/s^2, m/s^2


@dataclass(frozen=True, eq=False)
class TangentWorkspace(CompiledRecord, writable=True):
    """Inverse dynamics at one motion, and its changes along changes of q, dq and ddq (tangent_recursions.py)."""

    work: ReducedWorkspace

    # inverse dynamics
    second: Float1  # (nq,) ddq, m/s^2, rad/s^2
    joint_velocity: Float2  # (nl, 6) S dq of each node: its twist against its parent
    joint_acceleration: Float2  # (nl, 6) S ddq
    acceleration: Float2  # (nl + 1, 6) of the nodes, rad/s^2, m/s^2
    total_wrench: Float2  # (nl + 1, 6) that a node passes to its parent: of all nodes beyond the joint

    # changes
    pose_change: Float2  # (nl + 1, 6) (rotation, displacement) of the nodes, rad, m
    twist_change: Float2  # (nl + 1, 6)
    acceleration_change: Float2  # (nl + 1, 6)
    wrench_change: Float2  # (nl + 1, 6) of the nodes' own wrenches, then of the total ones
