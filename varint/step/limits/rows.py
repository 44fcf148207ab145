"""Hard limits of measures, with restitution (docs/theory.md section 11).

A limit keeps gap = sign (limit - measure) from falling below zero. While it is open its measure takes no part. Closed,
its measure's row is a constraint, until the multiplier would pull. How it is met: impacts.py.

Arguments: ``pose``, number of a pose of the workspace, ``end`` that at the end of a step; ``n``, number of a limit, of
nl. The row of a limit is one of nr, see `limit_row`; several limits may have the same.
"""

import math

from varint.base.numba import indirect, njit
from varint.mathematics.products.rows import leap_of_turns
from varint.mathematics.vectors import continued
from varint.step.measures import measure_at, rate_of
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

# times `unit_of_limit` a limit, and for rates times it a second:
TOUCHING = 1e-11  # a gap of this size counts as none
LEAP = 1.5  # rad: turns that change by more in a step passed a pose where two hinges are parallel
NEAR, SLOW = 1e-9, 1e-7  # at a recorded node a motion so near and slow rests on the limit
BEYOND = 1e-6  # so does one so far beyond; a start may be as far beyond as joints may be open


@njit
def limit_row(plan, n):
    """Return the row of limit n."""
    return plan.measures.row[plan.limits.measure[n]]


@njit
def unit_of_limit(plan, n):
    """Return the unit of gaps of limit n, m or rad: the `length_unit` of the parts, or 1 rad."""
    is_angle = plan.rows.scale[limit_row(plan, n)] != 1.0  # rows in m have 1; where the length is 1 both units are
    return 1.0 if is_angle else length_unit(plan)


@indirect(seconds=2, what="hard stops")
def limit_gap(plan: Plan, ws: Workspace, pose: int, n: int) -> float:
    """Return the gap of limit n at a pose; the gradient of its measure goes to its row of that pose's Jacobian.

    m or rad. The row is (2, 6), by the motions of both bodies.
    """
    near, gradient = ws.efforts.value_near[plan.limits.measure[n]], ws.jacobian[pose, limit_row(plan, n)]
    return gap_near(plan, ws, n, near, ws.position[pose], ws.rotation[pose], gradient)


@njit
def any_limit_closed(ws):
    """Return whether a limit is closed."""
    for n in range(ws.efforts.closed.size):
        if ws.efforts.closed[n]:
            return True
    return False


@njit
def gap_near(plan, ws, n, near, position, rotation, gradient):
    """Return the gap of limit n, m or rad, at a pose; write the ``gradient`` (2, 6) of its measure.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3); turns go on from ``near``, a value of the measure.
    """
    m = plan.limits.measure[n]
    value = continued(plan.measures.period[m], near, measure_at(plan, ws, m, position, rotation, gradient))
    return plan.limits.sign[n] * (plan.limits.value[n] - value)


@njit
def gap_with_rate(plan, ws, pose, n, velocity):
    """Return the gap of limit n at a pose, m or rad, and its rate, m/s or rad/s, for body velocities (nb, 6).

    Writes its row of ``ws.jacobian``, zero if the row is released: its gradient must not stay there.
    """
    gap = limit_gap(plan, ws, pose, n)
    row = ws.jacobian[pose, limit_row(plan, n)]
    rate = -plan.limits.sign[n] * rate_of(plan.measures.body[plan.limits.measure[n]], row, velocity)
    if ws.released[limit_row(plan, n)] > 0.0:
        row[:] = 0.0
    return gap, rate


@njit
def write_closed_rows(plan, ws, held, position, rotation, value, gradient):
    """Write the rows of the closed limits at a pose: ``value`` (nr,), m or rad, and ``gradient`` (nr, 2, 6).

    ``held`` (nl,): gaps that they keep, m or rad; ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3).
    """
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n]:
            r, near = limit_row(plan, n), ws.efforts.value_near[plan.limits.measure[n]]
            gap = gap_near(plan, ws, n, near, position, rotation, gradient[r])
            value[r] = plan.limits.sign[n] * (held[n] - gap)


@indirect(seconds=1, what="hard stops")
def close_rows(plan: Plan, ws: Workspace, end: int) -> None:
    """Do `write_closed_rows` at the end pose, to ``ws.residual_row`` (nr,), against ``ws.efforts.rest_gap`` (nl,)."""
    position, rotation = ws.position[end], ws.rotation[end]
    write_closed_rows(plan, ws, ws.efforts.rest_gap, position, rotation, ws.residual_row, ws.jacobian[end])


@njit
def limit_clearance(plan, ws, pose, n):
    """Return the distance of limit n from its next event at a pose; below -1 it is past that event, from -1 to 1 at it.

    Of an open limit the gap over TOUCHING; one with a floor has no event. Of a closed one the force ``ws.search.push``
    (nl,) that `find_pushes` found there.
    """
    if ws.efforts.floor[n] < 0.0 and not ws.efforts.closed[n]:
        return math.inf
    if ws.efforts.closed[n]:
        return ws.search.push[n]
    return limit_gap(plan, ws, pose, n) / (TOUCHING * unit_of_limit(plan, n))


@njit
def first_limit_beyond(plan, ws, pose, forces):
    """Return the limit that is furthest past its event at a pose, or -1, and its `limit_clearance`.

    Closed ones, ``ws.efforts.closed`` (nl,), count with ``forces`` only.
    """
    worst, limit = -1.0, -1
    for n in range(plan.limits.measure.size):
        if forces or not ws.efforts.closed[n]:
            value = limit_clearance(plan, ws, pose, n)
            if value < worst:
                worst, limit = value, n
    return limit, worst


@indirect(seconds=1, what="hard stops")
def leaps(plan: Plan, ws: Workspace, end: int) -> bool:
    """Return whether turns of a joint with limits change by more than LEAP from where they were seen last to the end.

    Near a pose where two of its hinges are parallel they swing round while the bodies hardly move. In one step nobody
    sees which limits are passed, and a pose has two sets of coordinates, which are close to one another there.
    """
    seen = -1
    for n in range(plan.limits.measure.size):
        joint = plan.measures.product[plan.limits.measure[n]]
        if joint < 0 or joint == seen:
            continue
        seen = joint
        limit_gap(plan, ws, end, n)  # solves for all coordinates of the joint
        if leap_at(plan, ws, joint) > LEAP:
            return True
    return False


@njit
def leap_at(plan, ws, joint):
    """Return the largest change, rad, of a turn of a ``joint``, a product of exponentials, since it was seen last."""
    return leap_of_turns(plan.products.table, plan.products.start[joint], ws.products, joint)


@njit
def rest_at_node(plan, ws, velocity):
    """Close the limits on which the motion at pose 0 rests, or comes back, and open the others; turns are counted.

    ``velocity`` (nb, 6): of the bodies at the node, m/s, world, and rad/s, body axes. Writes ``ws.efforts.floor``
    (nl,), ``ws.efforts.target_rate`` (nr,) and ``ws.efforts.value_near`` of their measures.
    """
    b = ws.efforts.come_back[0]
    for n in range(plan.limits.measure.size):
        m, row = plan.limits.measure[n], limit_row(plan, n)
        gap = limit_gap(plan, ws, 0, n)
        ws.efforts.value_near[m] = plan.limits.value[n] - plan.limits.sign[n] * gap
        rate = rate_of(plan.measures.body[m], ws.jacobian[0, row], velocity)
        unit = unit_of_limit(plan, n)
        slow = SLOW * unit
        returns = b > 0.0 and gap < -BEYOND * unit and -slow <= -plan.limits.sign[n] * rate <= slow - b * gap
        set_closed(plan, ws, n, returns or (-BEYOND * unit <= gap <= NEAR * unit and abs(rate) <= slow))
        ws.efforts.floor[n] = gap if returns else 0.0
        ws.efforts.target_rate[row] = rate if returns else ws.efforts.target_rate[row]


@njit
def efforts_at_node(plan, ws, multiplier, out):
    """Write the efforts of the limits to ``out`` (limits,), zero for the open ones, from ``multiplier`` (nr,)."""
    for n in range(plan.limits.measure.size):
        out[n] = multiplier[limit_row(plan, n)] if ws.efforts.closed[n] else 0.0


@njit
def release_pulling(plan, ws, multiplier):
    """Open the closed limit whose ``multiplier`` (nr,) pulls most; return whether there was one."""
    most, puller = 0.0, -1
    for n in range(plan.limits.measure.size):
        pull = plan.limits.sign[n] * multiplier[limit_row(plan, n)]
        if ws.efforts.closed[n] and pull > most:
            most, puller = pull, n
    if puller >= 0:
        set_closed(plan, ws, puller, False)
    return puller >= 0


@njit
def set_closed(plan, ws, n, closed):
    """Close or open a limit. Its row is a constraint where it or the one on the other side is closed.

    Writes ``ws.efforts.closed`` (nl,) and ``ws.released`` (nr,).
    """
    ws.efforts.closed[n] = closed
    row = limit_row(plan, n)
    ws.released[row] = 1.0
    for other in range(plan.limits.measure.size):
        if ws.efforts.closed[other] and limit_row(plan, other) == row:
            ws.released[row] = 0.0


@njit(seconds=1, what="hard stops")
def place_limits(plan, ws, pose, closed, rest_gap):
    """Close the limits where ``closed`` (limits,) is not 0, and open the others; write all their rows at a pose.

    ``rest_gap`` (limits,): the gaps at which they are held, copied to ``ws.efforts.rest_gap``.
    """
    for n in range(closed.size):
        set_closed(plan, ws, n, closed[n] != 0)
        ws.efforts.rest_gap[n] = rest_gap[n]
        limit_gap(plan, ws, pose, n)


@njit
def keep_one_sided(ws, at, k):
    """Keep the state of the limits as that of stage, or event, k of a tape: ``at`` is the tape, or its `Events`.

    Writes row k of ``at.limits.closed``, 1 or 0, and of ``at.limits.rest_gap``, (nl,) each.
    """
    for n in range(ws.efforts.closed.size):
        at.limits.closed[k, n], at.limits.rest_gap[k, n] = 1 if ws.efforts.closed[n] else 0, ws.efforts.rest_gap[n]


@njit
def play_one_sided(plan, ws, at, k):
    """Give the limits the state that `keep_one_sided` kept, with their rows at pose 0.

    ``at``: a tape, or its `Events`; row k of its ``limits.closed`` and ``limits.rest_gap``, (nl,) each, is read.
    """
    place_limits(plan, ws, 0, at.limits.closed[k], at.limits.rest_gap[k])


@njit
def add_numbers(plan, ws, row, h, by):
    """Add the gradient by the values of closed limits in a stage of ``h`` seconds to ``by.limits.value`` (nl,).

    ``row`` (nr,): duals of rows.
    """
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n]:
            by.limits.value[n] += row[limit_row(plan, n)] / h
