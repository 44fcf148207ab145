"""External inputs of a mechanism during a run: loads on bodies and inputs of forces, at the nodes."""

from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Int1, njit
from varint.mathematics.vectors import add, scale, turn_of, vector, write

NEAREST = 4  # instants of a cubic
SAME_SHARE = 1e-9  # of a row


@dataclass(frozen=True, eq=False)
class Inputs(CompiledRecord):
    """Linear from node to node; targets of constraints follow cubics, by their rates. ne elements.

    Those that are functions of time have their values at P instants of each step, between which they are cubic. Targets
    of points and bodies, which may depend on each other, are as given where the stages of a step end too.
    """

    load: Float2  # (nb, 6) constant: N, world, and N m, body axes
    loads: Float3  # (T, nb, 6) added to it at the nodes from ``first`` on, none: T = 0
    input: Float2  # (T, ne) at the nodes from ``first`` on; T = 1: constant
    rate: Float2  # (T, ne) their rates
    first: Int1  # (1,)
    width: Float1  # (1,) distance of the rows, in units of dt: a share of a step divided by it is that of a row
    of_time: Int1  # (m,) elements whose inputs are functions of time
    point: Float1  # (P,) shares of a row, from 0 to 1: the middles of a step's stages are among them
    within: Float3  # (S, P, m) values there in the steps from ``first`` on
    moved: Int1  # (c,) constraints that move points and bodies
    end: Float1  # (E,) shares of a row, where the stages of a step end but for the last
    aim: Float3  # (S, E, c) their targets there in the steps from ``first`` on
    aim_rate: Float3  # (S, E, c) and the rates of these


@njit
def set_load(plan, ws, inputs, node, share):
    """Fill ``ws.load`` with gravity and the loads at ``node + share``."""
    left = node - inputs.first[0]
    right, share = min(left + 1, inputs.loads.shape[0] - 1), share / inputs.width[0]
    for i in range(plan.bodies.mass.size):
        load = inputs.load[i]
        weight = scale(plan.bodies.mass[i], vector(plan.bodies.gravity))
        write(ws.load[i], add(vector(load), weight), turn_of(load))
        if inputs.loads.shape[0]:
            for k in range(6):
                ws.load[i, k] += (1.0 - share) * inputs.loads[left, i, k] + share * inputs.loads[right, i, k]


@njit
def nodes_around(inputs, node):
    """Return the rows of ``inputs.input`` for a node and the one after it."""
    if inputs.input.shape[0] == 1:
        return 0, 0
    left = node - inputs.first[0]
    return left, min(left + 1, inputs.input.shape[0] - 1)


@njit
def set_inputs(ws, inputs, node, share):
    """Fill ``ws.efforts.input`` with the inputs at ``node + share``."""
    left, right = nodes_around(inputs, node)
    share /= inputs.width[0]
    for e in range(ws.efforts.input.size):
        ws.efforts.input[e] = (1.0 - share) * inputs.input[left, e] + share * inputs.input[right, e]
    if inputs.of_time.size:
        _set_of_time(ws, inputs, min(node - inputs.first[0], inputs.within.shape[0] - 1), share)


@njit
def _set_of_time(ws, inputs, row, share):
    """Write inputs that are functions of time at a ``share`` of a row to ``ws.efforts.input``.

    Of the polynomial through the nearest instants.
    """
    point, size = inputs.point, min(inputs.point.size, NEAREST)
    first = 0
    while first + size < point.size and point[first + size // 2] < share:
        first += 1
    for m in range(inputs.of_time.size):
        ws.efforts.input[inputs.of_time[m]] = 0.0
    for j in range(first, first + size):
        weight = 1.0
        for k in range(first, first + size):
            if k != j:
                weight *= (share - point[k]) / (point[j] - point[k])
        for m in range(inputs.of_time.size):
            ws.efforts.input[inputs.of_time[m]] += weight * inputs.within[row, j, m]
