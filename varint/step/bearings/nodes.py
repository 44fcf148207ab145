"""Bearings at a node: velocities from momenta, velocities after impacts, and accelerations, by the law of a step.

At a given pose all but what sticks, and on which sides contact points bear, is linear. Right sides are in
``ws.increment_body`` (nb, 6) and ``ws.increment_row`` (nr,), as in `solve_newton`, and so is the solution, with the
friction of the bearings in their rows. ``pose``: number of the pose of the node.
"""

from varint.base.numba import Float2, indirect, natural, njit
from varint.step.bearings.rows import (
    AT_REST,
    HELD,
    HIGH,
    LOW,
    SLOW,
    STUCK,
    WHAT,
    add_to_border,
    coordinate_at,
    find_most,
    has_rival,
    set_row,
    start_bounds,
    take_friction,
    turn_round,
    unit_of_bearing,
    write_shares,
)
from varint.step.border import solve_bordered
from varint.step.configuration import mass_pivots
from varint.step.dense import copy_motions
from varint.step.intervals import StepSpan
from varint.step.measures import rate_of
from varint.step.plan import Plan, Workspace
from varint.step.rows import clear_rows

PASSES = 50  # of a solution, at most
ENOUGH = 256.0 * 2.220446049250313e-16  # of the largest of velocities or impulses: a rate that is zero


@njit
def rate_at(plan, ws, pose, n, velocity):
    """Return the rate of the coordinate of bearing n by the velocities (nb, 6), after `coordinate_at` of the pose."""
    return rate_of(plan.measures.body[plan.bearings.row[n]], ws.bearings.gradient[n, pose], velocity)


@indirect(seconds=1, what=WHAT)
def take_slips(plan: Plan, ws: Workspace, pose: int, velocity: Float2) -> None:
    """Write the ``slip`` of each bearing at a node with velocities (nb, 6); those slower than SLOW stick anew."""
    work = ws.bearings
    for n in range(plan.bearings.row.size):
        coordinate_at(plan, ws, pose, n)
        rate = rate_at(plan, ws, pose, n, velocity)
        work.slip[n] = rate if abs(rate) > SLOW * unit_of_bearing(plan, n) else 0.0
        work.is_held[n] = 0.0


@indirect(seconds=1, what=WHAT)
def start_bearings(plan: Plan, ws: Workspace, pose: int) -> None:
    """Write the slips, ``ws.bearings.slip``, of a motion that starts with ``ws.velocity`` (nb, 6)."""
    take_slips(plan, ws, pose, ws.velocity)


@indirect(seconds=1, what=WHAT)
def brace_bearings(plan: Plan, ws: Workspace, pose: int, held: bool) -> None:
    """Release the rows of all bearings in an impact if ``held``: friction takes no part in it. Else take the slips.

    Slips after the impact, of ``ws.increment_body`` (nb, 6).
    """
    if held:
        for n in range(plan.bearings.row.size):
            set_row(plan, ws, pose, n, False)
        return
    take_slips(plan, ws, pose, ws.increment_body)


@njit
def _keep_right_sides(ws):
    """Copy the right sides of the problem to ``ws.bearings``."""
    copy_motions(ws.increment_body, ws.bearings.body)
    for r in range(ws.increment_row.size):
        ws.bearings.right[r] = ws.increment_row[r]


@njit
def _solve(plan, ws, pose):
    """Solve the problem of a pose with the bounds ``low``, ``high`` and from the ``mode`` (n,), which the law changes.

    Right sides are those of `_keep_right_sides`; the solution goes to ``ws.increment_body`` (nb, 6).
    """
    work, table = ws.bearings, plan.bearings
    for _ in range(PASSES):
        copy_motions(work.body, ws.increment_body)
        for r in range(ws.increment_row.size):
            ws.increment_row[r] = work.right[r]
        mass_pivots(plan, ws.ldu.D)
        ws.border.count[0] = 0
        for n in range(table.row.size):
            sticks = work.mode[n] == STUCK
            set_row(plan, ws, pose, n, sticks)
            if not sticks:
                ws.increment_row[table.row[n]] = 0.0
        for n in range(table.row.size):
            work.border[n] = -1
            if work.mode[n] != STUCK:
                work.border[n] = add_to_border(plan, ws, pose, n)
                ws.border.given[work.border[n]] = 0.0
        clear_rows(plan, ws.released, ws.jacobian[pose])
        solve_bordered(plan, ws, StepSpan(pose, pose, 0.0), False, ws.increment_body, ws.increment_row)
        take_friction(plan, ws)
        changed, fastest = False, 0.0
        for i in range(ws.increment_body.shape[0]):
            for k in range(6):
                size = plan.bodies.length[0] if k >= 3 else 1.0
                fastest = max(fastest, size * abs(ws.increment_body[i, k]))
        for n in range(table.row.size):
            slides = work.mode[n] != STUCK
            changed = (find_most(plan, ws, n, ws.increment_row) and slides) or changed
        for n in range(table.row.size):
            mode = _mode(plan, ws, pose, n, fastest)
            changed, work.mode[n] = changed or mode != work.mode[n], mode
        if not changed:
            return


@njit
def _mode(plan, ws, pose, n, fastest):
    """Return the mode of bearing n by the solution at hand, ``ws.increment_body`` (nb, 6).

    ``fastest``: the largest number of that, m/s or m/s^2, rotations times the length of the mechanism.
    """
    work, r = ws.bearings, natural(plan.bearings.row[n])
    mode, low, high, most = work.mode[n], work.low[n], work.high[n], work.most[n]
    if low == high or mode == AT_REST or has_rival(plan, ws, n):
        return mode
    if mode == STUCK:
        beta = ws.increment_row[r]
        return HIGH if beta > high * most else (LOW if beta < low * most else STUCK)
    along = rate_at(plan, ws, pose, n, ws.increment_body) - work.right[r]
    slow = ENOUGH * fastest / plan.rows.scale[r]
    return STUCK if along * mode > slow else mode


@njit
def _begin(plan, ws, pose):
    """Prepare the bearings for a problem at a pose: ``low``, ``high``, ``mode`` (n,) by their ``slip`` (n,)."""
    work = ws.bearings
    write_shares(plan, ws, pose)
    for n in range(plan.bearings.row.size):
        work.kept_released[n], work.kept_mode[n] = ws.released[plan.bearings.row[n]], work.mode[n]
        coordinate_at(plan, ws, pose, n)
        find_most(plan, ws, n, ws.multiplier)
        start_bounds(work, n)
        work.mode[n] = LOW
        if work.slip[n] == 0.0:
            work.mode[n] = AT_REST if has_rival(plan, ws, n) else STUCK


@njit
def _go_back(plan, ws, pose):
    """Set ``mode`` (n,) and the rows (n, 2, 6) of the bearings at a pose as they were before the problem."""
    for n in range(plan.bearings.row.size):
        ws.bearings.mode[n] = ws.bearings.kept_mode[n]
        set_row(plan, ws, pose, n, ws.bearings.kept_released[n] == 0.0)


@indirect(seconds=2, what=WHAT)
def project_bearings(plan: Plan, ws: Workspace, pose: int) -> None:
    """Find the velocities at a node as `projection.project` does: bearings that stuck in the step before still do.

    Those that slid go on, unless that would turn them round. Right sides, ``ws.increment_body`` (nb, 6) and
    ``ws.increment_row`` (nr,), as after `momenta_and_rates`.
    """
    work = ws.bearings
    _keep_right_sides(ws)
    _begin(plan, ws, pose)
    for n in range(plan.bearings.row.size):
        if work.slip[n] == 0.0:
            work.low[n], work.high[n] = -HELD, HELD
    _solve(plan, ws, pose)
    turned = False
    for n in range(plan.bearings.row.size):
        if turn_round(work, n, rate_at(plan, ws, pose, n, ws.increment_body)):
            turned = True
            work.mode[n] = work.mode[n] if has_rival(plan, ws, n) else STUCK
    if turned:
        _solve(plan, ws, pose)
    _go_back(plan, ws, pose)


@indirect(seconds=2, what=WHAT)
def accelerate_bearings(plan: Plan, ws: Workspace, pose: int) -> None:
    """Find the accelerations at a node; the friction in ``ws.increment_row`` (nr,) is a force.

    Bearings that stuck in the step before, or rest, stick where their friction is within its bounds.
    """
    _keep_right_sides(ws)
    _begin(plan, ws, pose)
    _solve(plan, ws, pose)
    _go_back(plan, ws, pose)


@njit
def friction_at_node(plan, ws, out):
    """Write the friction of the bearings to ``out`` (n,), N or N m, after `accelerate_bearings`."""
    for n in range(out.size):
        out[n] = ws.increment_row[plan.bearings.row[n]]
