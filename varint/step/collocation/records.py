"""Arrays of the collocation steps (collocation/steps.py): nb bodies, s nodes in a step, the first of them its start."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, CompiledRecord, Float1, Float2, Float3, Float4, Int1


@dataclass(frozen=True, eq=False)
class HingeTree(CompiledRecord):
    """A tree of hinges; a parent comes before its children, and the world after all bodies, at nb."""

    parent: Annotated[Int1, "nb"]
    axis: Annotated[Float2, "nb 3"]  # unit vector, axes of the child
    anchor: Annotated[Float2, "nb 3"]  # m, from the centre of the parent to the hinge, axes of the parent
    lever: Annotated[Float2, "nb 3"]  # m, from the centre of the child to the hinge, axes of the child
    turned: Annotated[Float3, "nb 3 3"]  # rotation of the child at angle zero, in axes of the parent
    mass: Annotated[Float1, "nb"]  # kg
    moments: Annotated[Float3, "nb 3 3"]  # integral of x x^T dm about the centre, axes of the body, kg m^2
    gravity: Annotated[Float1, "3"]  # m/s^2, world
    hinge: Annotated[Int1, "sums"]  # the hinge whose angle alone a sum of measures depends on, -1 for none


@dataclass(frozen=True, eq=False)
class NodeRule(CompiledRecord):
    """Nodes, weights and derivatives of the polynomials of a step (methods/variational/lobatto_rule.py)."""

    node: Annotated[Float1, "s"]  # in a step of length one, from 0 to 1
    weight: Annotated[Float1, "s"]  # of quadrature
    stiffness: Annotated[Float2, "s s"]  # sum over nodes i of weight_i l_j'(c_i) l_k'(c_i)
    slope: Annotated[Float2, "s s"]  # l_k'(c_j) of a step of length one, at node j
    ahead: Annotated[Float3, "s q past"]  # d: values at the nodes after the first by the last s + d of the past nodes


@dataclass(frozen=True, eq=False)
class NodeWorkspace(CompiledRecord, writable=True):
    """Work arrays of collocation steps; q = s - 1. Wrenches (force, torque), motions (shift, turn), world axes."""

    angle: Annotated[Float2, "2 nb", STATE]  # rad, at the present node, and what rounding took off it
    momentum: Annotated[Float2, "nb 6", STATE]  # at the present node, kg m/s and kg m^2/s, about the centres
    past: Annotated[Float2, "past nb", STATE]  # rad, past nodes of the last two steps, less the present one, the last
    known: Annotated[Int1, "2", STATE]  # steps in ``past``; how many nodes more than s were best to extrapolate from
    by: Annotated[Float2, "s nb"]  # rad, angles at the nodes of the step, less those at its start
    joint: Annotated[Float3, "nb 3 3"]  # rotation of the child at the start, axes of the parent
    position: Annotated[Float3, "s bodies 3"]  # m, world
    rotation: Annotated[Float4, "s bodies 3 3"]
    shift: Annotated[Float3, "s bodies 3"]  # `position` less that at the start, without cancellation
    change: Annotated[Float4, "s bodies 3 3"]  # `rotation` less that at the start, without cancellation
    axis: Annotated[Float3, "s nb 3"]  # of the hinge, world
    offset: Annotated[Float3, "s nb 3"]  # m, from the hinge to the centre of the child, world
    wrench: Annotated[Float3, "s nb 6"]  # of a body alone: derivative of the discrete action by its pose at a node
    carried: Annotated[Float3, "s nb 6"]  # of the body and all that it carries, about its centre
    moment: Annotated[Float3, "s nb 3"]  # of `carried` about the hinge
    open: Annotated[Float2, "s nb"]  # of `moment` along the axis: zero at the solution
    spread: Annotated[Float4, "s nb 3 3"]  # rotation times ``HingeTree.moments``
    tilt: Annotated[Float4, "s nb 3 3"]  # `spread` times the rotations differentiated, transposed
    D: Annotated[Float4, "bodies blocks 6 6"]  # derivative of the wrench at node j by the motion at node k + 1, j q + k
    U: Annotated[Float3, "bodies blocks 6"]  # D times the free motions
    V: Annotated[Float3, "bodies blocks 6"]  # E^-1 times the rows of D along the axes
    E: Annotated[Float3, "nb q q"]  # inverse of the pivots of a hinge
    motion: Annotated[Float3, "bodies q 6"]  # wrenches on the way in, motions on the way out
    turn: Annotated[Float2, "nb q"]  # rad, increments of the angles
    load: Annotated[Float2, "nb 6"]  # of laws and loads at a node: N, world, and N m, axes of the body
    power: Annotated[Float1, "ne"]  # of their elements, W
    stiff: Annotated[Float2, "s nb"]  # derivative of `open` at a node by the angle there, of laws along hinges
    damp: Annotated[Float2, "s nb"]  # the same by the rate of the angle, over the step
