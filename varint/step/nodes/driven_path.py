"""Regular poses along a driven joint coordinate: the predictor and corrector of sweeps, compiled.

`varint.mechanism.sweep` describes the steps, and makes those that end this part of the path: at poses near to singular
ones, and where a step has to be shorter. The matrices are dense, for linkages have few bodies.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Float4, Int1, Int2, njit
from varint.mathematics.quaternion import multiply, rotation_matrix
from varint.mathematics.vectors import add, scale, vector
from varint.step.constraints import follow_constraints
from varint.step.coordinates import steady_rows
from varint.step.nodes.joint_readings import ABOUT_AXIS, JointReadings, read_joints
from varint.step.nodes.path_equations import (
    changes_along,
    factor_normal,
    factor_rows,
    least_singular,
    set_lines,
    set_sizes,
    solve_rows,
)
from varint.step.plan import Plan, Workspace
from varint.step.rows import evaluate_rows

TOLERANCE = 1e-13  # of a closed joint, relative to the size of the parts or of the coordinates
LONGEST_TURN = 0.15  # rad, of one correction, or as many sizes of a part: larger ones turn joints over
LEAST_DAMPING = 1e-14
STEP = 0.1  # rad, or sizes of a part: largest motion of a body in one step
ITERATIONS = 12  # of a corrector
LARGEST_CORRECTION = 0.3  # of the step predicted, or it is halved
WELL_CLOSED = 1e-2  # of the tolerance: another correction would gain nothing
LAST = 5  # velocities that predict a pose
LEAST_SPACING = 0.3  # of the step, between the nodes of these
NEAR = 1e-6  # rad, or sizes of a part, of a correction: factors before and after it are alike
UNCLEAR = 1e-2  # least singular value of a regular pose, the largest being about 1
REFINEMENTS = 20  # of a velocity
ROUND_OFF = 1e-14  # of the largest change of a row
LARGEST_SLIP = 1e-10  # ... that a velocity may leave
NEXT_TO_NOTHING = 1e-60  # m, or of a unit quaternion
NEW_RANK = 1e-10  # a pivot beyond the known rank that is more than round-off
GAUSS = tuple((0.5 + 0.5 * at, 0.5 * share) for at, share in zip(*np.polynomial.legendre.leggauss(3), strict=True))
AT, PREDICTED = range(2)  # places of poses


@dataclass(frozen=True, eq=False)
class PathMetric(CompiledRecord):
    """Roots of the inverse masses of bodies, in slots, the world last, and the least squares of the sizes of rows."""

    shift: Float1  # (nb + 1,)
    turn: Float3  # (nb + 1, 3, 3)
    least: Float1  # (m,)


@dataclass(frozen=True, eq=False)
class PathRows(CompiledRecord):
    """The m rows of a closure, the last that of the driven coordinate, and readings of joints."""

    number: Int1  # (m - 1,) in the plan
    side: Int2  # (m, 2) slots
    scale: Float1  # (m,) turns a row into m
    rate: Int1  # rows that bind velocities alone
    chain: Int2  # (c, 2) rows that are one: from the first to before the last
    kinetic: PathMetric
    alike: PathMetric
    driven: JointReadings  # of the driven coordinate
    numbers: Float3  # (1, 3, 3) see `steady_rows`
    first: Int1  # (1,) zero
    readings: JointReadings  # of all joints
    length: Float1  # (1,) size of the parts, m
    smallest: Float1  # (1,) shortest step of the coordinate


@dataclass(frozen=True, eq=False)
class PathWork(CompiledRecord, writable=True):
    """A part of a path, and scratch. Poses have the world last, in slots."""

    goals: Annotated[Float1, "n"]  # values to be reached
    reached: Annotated[Int1, "n"]  # nodes at the goals
    counts: Annotated[Int1, "2"]  # goals reached, the last node
    span: Annotated[Float1, "1"]  # longest next step
    rank: Annotated[Int1, "1"]  # of the rows
    s: Annotated[Float1, "k"]  # of the nodes; the first is the start
    q: Annotated[Float2, "k 1"]  # the same with the turns of the driven joint
    coordinates: Annotated[Float2, "k nq"]  # of all joints
    x: Annotated[Float3, "k bodies 3"]
    quat: Annotated[Float3, "k bodies 4"]
    R: Annotated[Float4, "k bodies 3 3"]
    velocity: Annotated[Float3, "k bodies 6"]  # by the coordinate
    acceleration: Annotated[Float3, "k bodies 6"]  # ... and by it twice
    least: Annotated[Float1, "k"]  # a lower bound of the least singular value, zero where that is zero
    position: Annotated[Float3, "2 bodies 3"]  # at the pose, and predicted
    turned: Annotated[Float2, "bodies 4"]
    rotation: Annotated[Float4, "2 bodies 3 3"]
    motion: Annotated[Float2, "bodies 6"]
    at_rest: Annotated[Float2, "bodies 6"]  # zero
    rate: Annotated[Float1, "rates"]  # scratch
    g: Annotated[Float1, "m"]
    G: Annotated[Float3, "m 2 6"]
    sizes: Annotated[Float1, "m"]
    lines: Annotated[Float2, "m motions"]  # rows over their sizes, by motions of unit length in a metric
    product: Annotated[Float2, "m m"]  # of the rows, and its factors
    pivot: Annotated[Float1, "m"]
    column: Annotated[Float1, "m"]  # scratch
    order: Annotated[Int1, "m"]  # of the pivots
    normal: Annotated[Float2, "motions motions"]  # product of the columns, and its factors
    normal_pivot: Annotated[Float1, "motions"]
    reciprocal: Annotated[Float1, "motions"]  # of these
    normal_inverse: Annotated[Float2, "motions motions"]
    inverse: Annotated[Float2, "m m"]
    target: Annotated[Float1, "m"]
    multiplier: Annotated[Float1, "m"]
    left: Annotated[Float1, "m"]
    y: Annotated[Float1, "motions"]
    apart: Annotated[Float1, "5"]  # scratch of `_predict`
    row: Annotated[Float3, "1 2 6"]
    ends: Annotated[Int2, "1 2"]


@njit(seconds=4, what="sweeps of linkages")
def follow_regular(plan: Plan, ws: Workspace, rows: PathRows, work: PathWork) -> None:
    """Step from goal to goal as far as poses are regular; write the nodes of ``work``.

    And ``work.reached`` (n,), ``work.counts`` (2,) and ``work.span`` (1,).
    """
    done = node = 0
    _read_node(rows, work, 0)
    while done < work.goals.size:
        left = work.goals[done] - work.s[node]
        if left == 0.0:
            work.reached[done] = node
            work.span[0] = math.inf
            done += 1
            continue
        if node + 1 == work.s.size:
            break
        allowed = min(work.span[0], STEP / _speed(rows, work.velocity[node]))
        is_last = abs(left) <= allowed
        step = left if is_last else math.copysign(allowed, left)
        if not _advance(plan, ws, rows, work, node, work.goals[done] if is_last else work.s[node] + step):
            break
        work.span[0] = 2.0 * abs(step)
        node += 1
    work.counts[0], work.counts[1] = done, node


@njit
def _speed(rows, velocity):
    """Return the motion of the fastest body of a ``velocity`` (nb + 1, 6), rad or sizes of a part."""
    fastest = 1e-9
    for i in range(velocity.shape[0]):
        v = velocity[i]
        fastest = max(fastest, max(abs(v[0]), abs(v[1]), abs(v[2])) / rows.length[0])
        fastest = max(fastest, math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]))
    return fastest


@njit
def _advance(plan, ws, rows, work, node, s):
    """Make the node after ``node``, at ``s``; return whether it is regular and near enough to be on the path.

    Writes its ``work.x`` (nb + 1, 3), ``work.quat`` (nb + 1, 4), ``work.R`` (nb + 1, 3, 3), ``work.q`` (1,),
    ``work.least`` and ``work.acceleration`` (nb + 1, 6), and as scratch ``work.motion`` (nb + 1, 6), ``work.position``
    (2, nb + 1, 3) and ``work.rotation`` (2, nb + 1, 3, 3).
    """
    step = s - work.s[node]
    work.q[node + 1, 0] = work.q[node, 0]
    _predict(rows, work, node, step)
    _move(work, work.x[node], work.quat[node])
    _copy_pose(work.position[AT], work.rotation[AT], work.position[PREDICTED], work.rotation[PREDICTED])
    ahead = _distance(rows, work.x[node], work.R[node], work.position[PREDICTED], work.rotation[PREDICTED])
    if not _close(plan, ws, rows, work, work.q[node + 1], s):
        return False
    x, R = work.position[AT], work.rotation[AT]
    correction = _distance(rows, x, R, work.position[PREDICTED], work.rotation[PREDICTED])
    if correction > LARGEST_CORRECTION * max(ahead, 1e-4):
        return False
    if work.rank[0] < work.y.size:
        if not _set_velocity(rows, work, rows.kinetic, work.velocity[node + 1]):
            return False
        least = _least_of_rows(rows, work)
    else:
        if correction > NEAR:  # else the pose that was predicted has the factors of this one
            set_sizes(rows, work, rows.alike)
            factor_normal(rows, work)
        if not _set_velocity(rows, work, rows.alike, work.velocity[node + 1]):
            return False
        least = least_singular(work.normal, work.normal_pivot, work.y.size, work.normal_inverse)
    if not least >= UNCLEAR:
        return False
    work.least[node + 1] = least
    apart = abs(step) >= rows.smallest[0]
    for i in range(x.shape[0]):
        for k in range(6):
            change = (work.velocity[node + 1, i, k] - work.velocity[node, i, k]) / step
            work.acceleration[node + 1, i, k] = change if apart else work.acceleration[node, i, k]
        for k in range(4):
            work.quat[node + 1, i, k] = work.turned[i, k]
    _copy_pose(x, R, work.x[node + 1], work.R[node + 1])
    work.s[node + 1] = s
    read_joints(rows.driven, x, work.turned, R, work.at_rest, work.q[node + 1], work.rate)
    _read_node(rows, work, node + 1)
    return True


@njit
def _copy_pose(x, R, to_x, to_R):
    """Copy a pose, ``x`` (nb + 1, 3) and ``R`` (nb + 1, 3, 3), to ``to_x`` (nb + 1, 3) and ``to_R`` (nb + 1, 3, 3)."""
    for i in range(x.shape[0]):
        for k in range(3):
            to_x[i, k] = x[i, k]
            for m in range(3):
                to_R[i, k, m] = R[i, k, m]


@njit
def _predict(rows, work, node, step):
    """Write ``work.motion`` (nb + 1, 6), which leads from ``node`` over a ``step`` of the coordinate.

    Where the rows decide on the pose it is the integral of the polynomial through the last velocities, as many as have
    nodes that are apart in proportion to the step; ``work.apart`` (LAST,): scratch, their places by the step. One alone
    is taken with its acceleration, as where some motion is free: the path then depends on what predicts it.
    """
    apart, count, most = work.apart, 0, 1 if work.rank[0] < work.y.size else LAST
    while count < most and count <= node:
        at = (work.s[node - count] - work.s[node]) / step
        nearest = math.inf
        for i in range(count):
            nearest = min(nearest, abs(at - apart[i]))
        if not nearest >= LEAST_SPACING:
            break
        apart[count] = at
        count += 1
    motion = work.motion
    if count < 2:
        for i in range(motion.shape[0]):
            for k in range(6):
                motion[i, k] = step * (work.velocity[node, i, k] + 0.5 * step * work.acceleration[node, i, k])
        return
    for i in range(motion.shape[0]):
        for k in range(6):
            motion[i, k] = 0.0
    for j in range(count):
        weight = 0.0
        for at, share in GAUSS:
            basis = share
            for i in range(count):
                if i != j:
                    basis *= (at - apart[i]) / (apart[j] - apart[i])
            weight += basis
        velocity = work.velocity[node - j]
        for i in range(motion.shape[0]):
            for k in range(6):
                motion[i, k] += step * weight * velocity[i, k]


@njit
def _read_node(rows, work, node):
    """Read ``work.coordinates`` (k, nq) of all joints at a node, with turns nearest to the node before."""
    for k in range(work.coordinates.shape[1] if node > 0 else 0):
        work.coordinates[node, k] = work.coordinates[node - 1, k]
    x, quat, R = work.x[node], work.quat[node], work.R[node]
    read_joints(rows.readings, x, quat, R, work.at_rest, work.coordinates[node], work.rate)


@njit
def _close(plan, ws, rows, work, q, s):
    """Move the pose AT onto the rows with the driven coordinate at ``s``, turns near ``q`` (1,); return success.

    Newton's method with the factors of the predicted pose, which is near, where the rows alone decide on the pose.
    Writes ``work.target`` (m,), scratch.
    """
    largest = 0.0
    for i in range(work.motion.shape[0]):
        for k in range(3):
            largest = max(largest, abs(work.position[AT, i, k]))
    tolerance = TOLERANCE * max(rows.length[0], largest)
    near_q = q[0]
    gap = _evaluate(plan, ws, rows, work, q, near_q, s)
    is_free, share = work.rank[0] < work.y.size, 1.0
    metric = rows.kinetic if is_free else rows.alike
    set_sizes(rows, work, metric)
    if not is_free:
        factor_normal(rows, work)
    for k in range(ITERATIONS):
        is_near = not gap > tolerance
        if is_free:  # the corrections choose among the poses: they are those of `Closure.close`
            if k > 0:
                set_lines(rows, work, metric)
            factor_rows(work, work.sizes.size, max(LEAST_DAMPING, share * min(1.0, gap / rows.length[0])))
            share *= 0.25
        for r in range(work.sizes.size):
            work.target[r] = -work.g[r] / work.sizes[r]
        solve_rows(work, work.target)
        if not _set_motion(rows, work, metric) < LONGEST_TURN:
            return False
        _move(work, work.position[AT], work.turned)
        gap_before, gap = gap, _evaluate(plan, ws, rows, work, q, near_q, s)
        follow_constraints(plan, ws, work.position[AT], work.rotation[AT])
        if is_near or not gap < 0.5 * gap_before or (not is_free and gap < WELL_CLOSED * tolerance):
            break
    return gap <= 10.0 * tolerance


@njit
def _evaluate(plan, ws, rows, work, q, near, s):
    """Write ``work.g`` (m,), the rows, and ``work.G`` (m, 2, 6) at the pose AT; return the largest row, m.

    ``q`` (1,): scratch; the driven coordinate has the turns nearest to ``near``.
    """
    x, R, g, G = work.position[AT], work.rotation[AT], work.g, work.G
    evaluate_rows(plan, ws, x, R, ws.residual_row, ws.jacobian[0])
    last = rows.number.size
    for r in range(last):
        number = rows.number[r]
        g[r] = ws.residual_row[number]
        for side in range(2):
            for k in range(6):
                G[r, side, k] = ws.jacobian[0, number, side, k]
    for n in range(rows.rate.size):
        for side in range(2):
            for k in range(6):
                G[rows.rate[n], side, k] = 0.0
    q[0] = near
    read_joints(rows.driven, x, work.turned, R, work.at_rest, q, work.rate)
    g[last] = q[0] - s
    q[0] = near
    if rows.driven.kind[0] == ABOUT_AXIS:
        g[last] -= 2.0 * math.pi * math.floor(0.5 + g[last] / (2.0 * math.pi))
    steady_rows(x, R, rows.first, work.ends, rows.numbers, work.row)
    for side in range(2):
        for k in range(6):
            G[last, side, k] = work.row[0, side, k]
    gap = 0.0
    for r in range(last + 1):
        size = abs(rows.scale[r] * g[r])
        if not size <= gap:
            gap = size
    return gap


@njit
def _least_of_rows(rows, work):
    """Return a lower bound of the least singular value of the rows at the pose AT in the metric `alike`.

    Zero where they have a larger rank than so far, or a smaller one.
    """
    rank = work.rank[0]
    set_sizes(rows, work, rows.alike)
    if factor_rows(work, rank, 0.0) > NEW_RANK:
        return 0.0
    return least_singular(work.product, work.pivot, rank, work.inverse)


@njit
def _set_velocity(rows, work, metric, velocity):
    """Write the ``velocity`` (nb + 1, 6) of least size in a ``metric`` at which the driven coordinate has the rate 1.

    ``work.target`` (m,): scratch. The factors are those of a pose nearby, in the metric; return whether they are near
    enough.
    """
    m = work.sizes.size
    set_lines(rows, work, metric)
    for r in range(m):
        work.target[r] = 0.0
    work.target[m - 1] = 1.0 / work.sizes[m - 1]
    for i in range(velocity.shape[0]):
        for k in range(6):
            velocity[i, k] = 0.0
    left = wanted = work.target[m - 1]
    for _ in range(REFINEMENTS):
        solve_rows(work, work.target)
        _set_motion(rows, work, metric)
        for i in range(velocity.shape[0]):
            for k in range(6):
                velocity[i, k] += work.motion[i, k]
        changes_along(work.lines, work.y, work.left)
        left = 0.0
        for r in range(m):
            work.target[r] -= work.left[r]
            left = max(left, abs(work.target[r]))
        if left < ROUND_OFF * wanted:
            return True
    return left < LARGEST_SLIP * wanted


@njit
def _set_motion(rows, work, metric):
    """Write ``motion`` (nb + 1, 6) of ``y``; return the motion of the fastest body, rad or sizes of a part."""
    longest = 0.0
    for b in range(work.motion.shape[0] - 1):
        T, y, d = metric.turn[b], work.y[6 * b : 6 * b + 6], work.motion[b]
        for k in range(3):
            d[k] = metric.shift[b] * y[k]
            d[3 + k] = T[k, 0] * y[3] + T[k, 1] * y[4] + T[k, 2] * y[5]
        longest = max(longest, max(abs(d[0]), abs(d[1]), abs(d[2])) / rows.length[0])
        longest = max(longest, math.sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]))
    for k in range(6):
        work.motion[work.motion.shape[0] - 1, k] = 0.0
    return longest


@njit
def _move(work, x, quat):
    """Write the pose AT after ``motion``: ``work.position`` (2, nb + 1, 3), ``work.turned`` (nb + 1, 4), rotations.

    It begins at ``x`` (nb + 1, 3), ``quat`` (nb + 1, 4).
    """
    for i in range(work.motion.shape[0]):
        d = work.motion[i]
        turn = scale(0.5, vector(d[3:]))
        half = math.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
        sine = math.sin(half) / half if half > 0.0 else 1.0
        q = multiply(quat[i], (math.cos(half), sine * turn[0], sine * turn[1], sine * turn[2]))
        norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        to = work.turned[i]
        for k in range(4):
            to[k] = _flushed(q[k] / norm)
        rotation_matrix(to, work.rotation[AT, i])
        at = add(vector(x[i]), vector(d))
        to = work.position[AT, i]
        for k in range(3):
            to[k] = _flushed(at[k])


@njit
def _flushed(number):
    """Return ``number``, or zero in place of one that Newton's method makes smaller at each node of a planar linkage.

    It would become subnormal, and the processor takes a hundred times as long for these.
    """
    return number if abs(number) > NEXT_TO_NOTHING else 0.0


@njit
def _distance(rows, x, R, other_x, other_R):
    """Return the largest motion of a body between two poses, rad or sizes of a part.

    ``x``, ``other_x`` (nb + 1, 3); ``R``, ``other_R`` (nb + 1, 3, 3).
    """
    longest = 0.0
    for i in range(x.shape[0]):
        square = 0.0
        for k in range(3):
            longest = max(longest, abs(x[i, k] - other_x[i, k]) / rows.length[0])
            for m in range(3):
                square += (R[i, k, m] - other_R[i, k, m]) ** 2
        longest = max(longest, math.sqrt(0.5 * square))
    return longest
