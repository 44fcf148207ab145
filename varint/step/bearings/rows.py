"""The law of friction of a bearing, in a step and at a node.

With lambda the multipliers of the joint, N s or N m s, and share_kr the friction of contact point k by a unit
multiplier along row r, its rows make the contact points bear sum_r share_kr lambda_r each, in
friction along the coordinate. So the friction beta of a bearing is bounded by

    low c <= beta <= high c,    c = sum_k |sum_r share_kr lambda_r|

A bearing that stuck before has low = -1, high = 1, and sticks while beta is within. One that slid has both at -sign of
its slip: it goes on sliding. Where that would turn its slip from v > 0 to s < 0 within the step, it comes to rest after
the share v / (v - s) of it. From there on friction is within -1 and 1 times c, so that

    low = -1,    high = 1 - 2 v / (v - s)

over the whole step (for v < 0 the other way round): it sticks where beta is within, and slides back where it is not.
A step across the instant of rest is so of second order.

A bearing that sticks has its row, a constraint at `BearingWork.anchor`. Else the row is released, and its friction is
at a bound, an unknown of the border (border.py) with the row beta = bound c(lambda).

Arguments of one meaning in all functions: ``n``, number of a bearing; ``pose``, ``start``, ``end``, numbers of poses, 0
or 1; ``work``, ``ws.bearings``. All arrays named without ``ws`` are of it; their shapes stand in records.py.
"""

from varint.base.numba import Float1, indirect, natural, njit
from varint.mathematics.vectors import continued, cross, rotate_back, sub, turn_of, vector
from varint.step.bearings.records import ROWS
from varint.step.dense import add_scaled6
from varint.step.measures import measure_at
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

# modes: friction at low c; sticking; friction at high c; at rest without friction, as a rival row takes all of the load
LOW, STUCK, HIGH, AT_REST = -1, 0, 1, 2
HELD = 1e300  # bound of a bearing that does not slip whatever its load is
SLOW = 1e-7  # rad/s or, times `length_unit`, m/s: a start that is no faster rests
STOPPED = 0.5  # of the slip before a step: what is left of one that friction all but stops
ROUND_OFF = 1e-14  # of a load
WHAT = "friction of joints"


@njit
def unit_of_bearing(plan, n):
    """Return the unit of coordinates of bearing n, m or rad: the `length_unit` of the parts, or 1 rad."""
    r = plan.bearings.row[n]
    return 1.0 if plan.measures.period[r] > 0.0 else length_unit(plan)


@njit
def coordinate_at(plan, ws, pose, n):
    """Return the coordinate of bearing n at a pose; write its gradient to ``gradient[n, pose]`` (2, 6)."""
    r = plan.bearings.row[n]
    return measure_at(plan, ws, r, ws.position[pose], ws.rotation[pose], ws.bearings.gradient[n, pose])


@njit
def write_shares(plan, ws, pose):
    """Write the friction of each contact point by unit multipliers of its joint at a pose to ``share`` (points, 5)."""
    table = plan.bearings
    for n in range(table.row.size):
        j, side = natural(table.joint[n]), natural(table.side[n])
        b, first = natural(plan.joints.side[j, side]), natural(plan.joints.rows[j])
        R, E, point = ws.rotation[pose, b], table.axes[n], vector(table.point[n])
        for k in range(ROWS):
            G = ws.jacobian[pose, first + k, side]
            push = rotate_back(R, vector(G))
            turn = rotate_back(E, sub(turn_of(G), cross(point, push)))
            push = rotate_back(E, push)
            for p in range(table.first[n], table.first[n + 1]):
                P = table.pressure[p]
                ws.bearings.share[p, k] = (
                    P[0] * turn[0] + P[1] * turn[1] + P[2] * turn[2] + P[3] * push[0] + P[4] * push[1] + P[5] * push[2]
                )


@njit
def find_most(plan, ws, n, multiplier):
    """Write c of bearing n to ``most``, its derivatives to ``by_multiplier`` (5,); return whether c is news.

    So where c is not what the derivatives before foresaw: a load has changed its sign. ``multiplier`` (nr,). After
    `write_shares`.
    """
    work, table = ws.bearings, plan.bearings
    first, most, foreseen = natural(plan.joints.rows[table.joint[n]]), 0.0, 0.0
    slope = (0.0, 0.0, 0.0, 0.0, 0.0)
    for p in range(table.first[n], table.first[n + 1]):
        S = work.share[p]
        load = (
            S[0] * multiplier[first] + S[1] * multiplier[first + 1] + S[2] * multiplier[first + 2]
            + S[3] * multiplier[first + 3] + S[4] * multiplier[first + 4]
        )  # fmt: skip
        sign = 1.0 if load >= 0.0 else -1.0
        most += sign * load
        slope = (
            slope[0] + sign * S[0], slope[1] + sign * S[1], slope[2] + sign * S[2], slope[3] + sign * S[3],
            slope[4] + sign * S[4],
        )  # fmt: skip
    work.most[n] = most
    for k in range(ROWS):
        foreseen += work.by_multiplier[n, k] * multiplier[first + k]
        work.by_multiplier[n, k] = slope[k]
    return abs(most - foreseen) > ROUND_OFF * most


@njit
def has_rival(plan, ws, n):
    """Return whether a constraint of a force, or a closed limit, keeps the coordinate of bearing n (a number).

    The row of the bearing itself is then never a constraint: it would be redundant.
    """
    for k in range(plan.bearings.rival_first[n], plan.bearings.rival_first[n + 1]):
        if ws.released[plan.bearings.rival[k]] == 0.0:
            return True
    return False


@njit
def bound_of(work, n, mode):
    """Return the bound, over the most friction, that bearing n is at in a ``mode`` but STUCK (a number)."""
    if mode == AT_REST:
        return 0.0
    return work.low[n] if mode == LOW else work.high[n]


@njit
def start_bounds(work, n):
    """Write the bounds of bearing n that goes on as before, by its ``slip``."""
    work.low[n] = -1.0 if work.slip[n] >= 0.0 else 1.0
    work.high[n] = 1.0 if work.slip[n] <= 0.0 else -1.0


@njit
def turn_round(work, n, rate):
    """Write the bounds of bearing n whose ``slip`` would turn to ``rate`` in the step; return whether it would.

    Both in m/s or rad/s, ``slip`` (n,), ``rate`` a number.
    """
    slip = work.slip[n]
    if not slip * rate < 0.0 or work.low[n] != work.high[n]:
        return False
    later = 1.0 - 2.0 * slip / (slip - rate)
    if slip > 0.0:
        work.low[n], work.high[n] = -1.0, later
    else:
        work.low[n], work.high[n] = -later, 1.0
    return True


@njit
def set_row(plan, ws, pose, n, sticks):
    """Make the row of bearing n a constraint at a pose, or release it: ``ws.released`` (nr,), ``ws.jacobian``."""
    r = natural(plan.bearings.row[n])
    ws.released[r] = 0.0 if sticks else 1.0
    for side in range(2):
        for k in range(6):
            ws.jacobian[pose, r, side, k] = ws.bearings.gradient[n, pose, side, k] if sticks else 0.0


@njit
def push_bearing(plan, ws, pose, n, share, body):
    """Add a ``share`` of a unit impulse along the coordinate of bearing n at a pose to ``body`` (nb, 6)."""
    for side in range(2):
        i = natural(plan.measures.body[plan.bearings.row[n], side])
        if i < body.shape[0]:
            add_scaled6(body[i], share, ws.bearings.gradient[n, pose, side])


@njit
def begin_bearings(plan, ws, start):
    """Prepare the bearings for a step from a pose: ``value``, ``anchor``, ``low``, ``high`` (n,), `write_shares`."""
    work = ws.bearings
    work.pose[0] = start
    write_shares(plan, ws, start)
    for n in range(plan.bearings.row.size):
        work.value[n] = coordinate_at(plan, ws, start, n)
        work.anchor[n] = work.held[n] if work.is_held[n] != 0.0 else work.value[n]
        start_bounds(work, n)


@indirect(seconds=2, what=WHAT)
def rub(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Take the bearings into the residuals of a step: choose which stick, by the iterate at hand.

    Writes ``rate``, ``mode``, ``most``, ``by_multiplier``; the rows of those that stick, ``ws.residual_row`` (nr,),
    ``ws.released``, ``ws.jacobian``; subtracts the friction of the others from ``ws.residual_body`` (nb, 6). What that
    misses of its bound counts in ``ws.missed`` (3,), m/s.
    """
    work, table = ws.bearings, plan.bearings
    merit, worst, moved = ws.missed[0], ws.missed[1], ws.missed[2]
    for n in range(table.row.size):
        r = natural(table.row[n])
        period, value = plan.measures.period[r], coordinate_at(plan, ws, end, n)
        rate = (continued(period, work.value[n], value) - work.value[n]) / h
        find_most(plan, ws, n, ws.multiplier)
        work.rate[n], beta, push = rate, ws.multiplier[r], plan.rows.push[r]
        work.mode[n] = _mode(plan, ws, n, beta - rate * plan.rows.scale[r] / push, rate)
        sticks = work.mode[n] == STUCK
        set_row(plan, ws, start, n, sticks)
        set_row(plan, ws, end, n, sticks)
        ws.residual_row[r] = continued(period, work.anchor[n], value) - work.anchor[n] if sticks else 0.0
        if not sticks:
            push_bearing(plan, ws, start, n, -beta, ws.residual_body)
            size = push * abs(beta - bound_of(work, n, work.mode[n]) * work.most[n])
            merit, worst, moved = merit + size * size, max(worst, size), max(moved, push * abs(beta))
    ws.missed[0], ws.missed[1], ws.missed[2] = merit, worst, moved


@njit
def _mode(plan, ws, n, trial, rate):
    """Return the mode of bearing n by the ``trial`` impulse: beta less the impulse that would stop the ``rate``.

    ``trial`` N s or N m s, ``rate`` m/s or rad/s, both numbers.
    """
    work = ws.bearings
    if work.low[n] == work.high[n]:
        return LOW  # it slides on: both bounds are the same
    if has_rival(plan, ws, n):
        if work.slip[n] == 0.0 and abs(rate) <= SLOW * unit_of_bearing(plan, n):
            return AT_REST
        return LOW if rate >= 0.0 else HIGH
    if work.high[n] == HELD:
        return STUCK
    if trial >= work.high[n] * work.most[n]:
        return HIGH
    return LOW if trial <= work.low[n] * work.most[n] else STUCK


@njit
def add_to_border(plan, ws, pose, n):
    """Append the row of the friction of bearing n, which slides, to ``ws.border``; return its number there.

    By the gradient of its coordinate at a pose, ``gradient[n, pose]`` (2, 6).
    """
    border, work, r = ws.border, ws.bearings, natural(plan.bearings.row[n])
    i = natural(border.count[0])
    border.count[0] += 1
    for s in range(border.body.shape[1]):
        border.body[i, s] = plan.bodies.mass.size
    for side in range(2):
        border.body[i, side] = plan.measures.body[r, side]
        for k in range(6):
            border.upper[i, side, k], border.lower[i, side, k] = work.gradient[n, pose, side, k], 0.0
    border.first_row[i] = plan.joints.rows[plan.bearings.joint[n]]
    for k in range(ROWS):
        border.by_row[i, k] = -bound_of(work, n, work.mode[n]) * work.by_multiplier[n, k]
    return i


@indirect(seconds=1, what=WHAT)
def write_friction(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Add the friction of the bearings that slide to the border, or, if it is ``factored``, right sides (rows,) alone.

    By the gradients at the start of the step, the pose that ``end`` is not. ``upper`` and ``h`` (numbers) are those of
    the other roles that write to the border, and are not used.
    """
    border, work = ws.border, ws.bearings
    for i in range(0 if factored else border.count[0]):
        for k in range(ROWS):
            border.by_row[i, k] = 0.0
    for n in range(plan.bearings.row.size):
        r, slides = natural(plan.bearings.row[n]), work.mode[n] != STUCK
        if not factored:
            work.border[n] = add_to_border(plan, ws, 1 - end, n) if slides else -1
        if work.border[n] >= 0:
            wanted = bound_of(work, n, work.mode[n]) * work.most[n] - ws.multiplier[r]
            border.given[work.border[n]] = wanted if slides else 0.0


@indirect(seconds=1, what=WHAT)
def take_friction(plan: Plan, ws: Workspace) -> None:
    """Write the changes of the friction of bearings in the border to ``ws.increment_row`` (nr,)."""
    for n in range(plan.bearings.row.size):
        if ws.bearings.border[n] >= 0:
            ws.increment_row[plan.bearings.row[n]] = ws.border.y[ws.bearings.border[n]]


@indirect(seconds=1, what=WHAT)
def drive_friction(plan: Plan, ws: Workspace, share: float) -> None:
    """Add a ``share`` of the friction of a step, and of its work at the slip before, as `drive_roles` does.

    To ``ws.increment_body`` (nb, 6) and ``ws.balance.driven``; of bearings that stick the row has the impulse.
    """
    work = ws.bearings
    for n in range(plan.bearings.row.size):
        beta = share * ws.multiplier[plan.bearings.row[n]]
        ws.balance.driven[plan.components.of_element[plan.bearings.element[n]]] += beta * work.slip[n]
        if work.mode[n] != STUCK:
            push_bearing(plan, ws, work.pose[0], n, beta, ws.increment_body)


@indirect(seconds=1, what=WHAT)
def finish_friction(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add the works of friction in a stage of ``h`` s to ``ws.efforts.work`` (ne,); keep ``slip`` and ``held``."""
    work, share = ws.bearings, ws.balance.size[0] / (h + ws.balance.size[0])
    for n in range(plan.bearings.row.size):
        beta, after = ws.multiplier[plan.bearings.row[n]], 0.0 if work.mode[n] == STUCK else work.rate[n]
        # one that all but stops at the first node after an event does so at the mean of both slips, as in an impact
        part = 0.5 if share < 0.5 and abs(after) <= STOPPED * abs(work.slip[n]) else share
        ws.efforts.work[plan.bearings.element[n]] += beta * (part * work.slip[n] + (1.0 - part) * after)
        work.slip[n] = after
        work.held[n], work.is_held[n] = work.anchor[n], 1.0 if work.mode[n] == STUCK else 0.0


@indirect(seconds=1, what=WHAT)
def add_friction_works(plan: Plan, ws: Workspace, work: Float1, slip: bool) -> None:
    """Add to ``work`` (ne,), J, that of friction at a node, impulses ``ws.increment_row`` (nr,) at the slip before."""
    for n in range(plan.bearings.row.size):
        work[plan.bearings.element[n]] += ws.increment_row[plan.bearings.row[n]] * ws.bearings.slip[n]
