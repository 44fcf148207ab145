"""The fill-in-free block LDU (VI Algorithms 3 and 4) and the dense closure nodes (VI section 4.3).

Newton's matrix (VI eq. 38, with the sign of eqs. 26 and 33) has a block row and column for every
body and every joint,

    [ D   -G^T ]      D: one 6 x 6 block a body,
    [ H    C   ]      G, H: rows of the joints at the start and at the end of the step,
                      C: zero, or one for the row of an effort (efforts.py).

Bodies are eliminated from the leaves to the root, each followed by its tree joint: a joint touches
one body that is still there, its parent, so nothing fills in. A loop closure touches two; it is
kept, and elimination brings it to the bodies on its loop (the fills of the plan), until only the top of the loop is
left. Just before that body it is eliminated as a dense node, from the top and from the closures still
there that share bodies with it; rows found redundant there get no multiplier.

The step uses it with D = derivative of the momenta, a projection with D = mass matrix and H = G.

``body`` (nb, 6), ``row`` (nr,) hold the right-hand sides of bodies and rows, and then the motions and multipliers that
solve the system. Turns and torques are in axes of the bodies outside the sweeps, in axes of the world within them.
``upper``, ``lower``: numbers, 0 or 1, of the poses of equations and unknowns; ``low``: 1 where these are two, else 0,
the place in ``ws.ldu.frame`` of what belongs to ``lower``.
"""

from typing import Any

import numpy as np

from varint.base.numba import Float1, Float2, indirect, inner_sizes, natural, njit
from varint.mathematics.vectors import ZERO, rotate, rotate_back, turn_of, vector, write
from varint.step.ball_pairs import back_ball, factor_ball, forward_ball, is_ball
from varint.step.closure_nodes import eliminate_nodes, eliminate_nodes_again, place_closures, substitute_nodes
from varint.step.dense import (
    RIGHT,
    add_product_wide,
    add_scaled6,
    dot6,
    lower_solve_columns,
    lower_solve_rows,
    lu_factor,
    lu_solve,
    multiply_wide,
    upper_solve_wide,
)
from varint.step.lower_pairs import back_pair, factor_pair, forward_pair, pass_pair, write_frame, write_other_frame
from varint.step.plan import Plan, Workspace

MOTIONS = inner_sizes(6)


@njit
def turn_bodies(rotation, body):
    """Turn the angular parts of vectors ``body`` (nb, 6) from axes of the bodies to axes of the world.

    ``rotation`` (nb + 1, 3, 3).
    """
    for i in range(body.shape[0]):
        x = body[i]
        x[3], x[4], x[5] = rotate(rotation[i], turn_of(x))


@njit
def _turn_matrix(plan, ws, upper, lower):
    """Bring pivots and rows into axes of the world: equations at the pose ``upper``, unknowns at ``lower``.

    Pivots ``ws.ldu.D`` (nb, 6, 6) in place; rows from ``ws.jacobian`` (2, nr, 2, 6) to ``ws.ldu.upper`` and
    ``ws.ldu.lower``; efforts of sprung hinges from ``ws.ldu.effort[0]``, then cleared, to ``ws.ldu.effort[1]``.
    """
    for i in range(plan.bodies.mass.size):
        D, R, Q = ws.ldu.D[i], ws.rotation[upper, i], ws.rotation[lower, i]
        if plan.bodies.coupled[i]:
            for a in range(3):
                D[a, 3], D[a, 4], D[a, 5] = rotate(Q, (D[a, 3], D[a, 4], D[a, 5]))
                D[3, a], D[4, a], D[5, a] = rotate(R, (D[3, a], D[4, a], D[5, a]))
        a, b, c = (
            rotate(Q, (D[3, 3], D[3, 4], D[3, 5])),
            rotate(Q, (D[4, 3], D[4, 4], D[4, 5])),
            rotate(Q, (D[5, 3], D[5, 4], D[5, 5])),
        )
        for k in range(3):
            for j in range(3):
                D[3 + k, 3 + j] = R[k, 0] * a[j] + R[k, 1] * b[j] + R[k, 2] * c[j]
        if plan.joints.sprung[i]:  # once: matrices without efforts follow
            effort, turned = ws.ldu.effort[0, i], ws.ldu.effort[1, i]
            write(turned, rotate(R, vector(effort)), rotate(Q, turn_of(effort)))
            write(effort, ZERO, ZERO)
    for n in range(plan.rows.eliminated.size):
        r = plan.rows.eliminated[n]
        for side in range(2):
            i, up, low = plan.measures.body[r, side], ws.ldu.upper[r, side], ws.ldu.lower[r, side]
            G, H = ws.jacobian[upper, r, side], ws.jacobian[lower, r, side]
            up[0], up[1], up[2] = G[0], G[1], G[2]
            low[0], low[1], low[2] = H[0], H[1], H[2]
            up[3], up[4], up[5] = rotate(ws.rotation[upper, i], vector(G[3:]))
            low[3], low[4], low[5] = rotate(ws.rotation[lower, i], vector(H[3:]))


@njit(inline="always")
def _eliminate(plan, ws, i, rows, G, H, body, row):
    """Eliminate body i and its tree joint, of ``rows`` rows: right-hand sides ``body`` (nb, 6), ``row`` (nr,).

    Factor D, X = D^-1 G^T, factor S = H X + C, Y = S^-1 H_p, D_p += G_p^T Y, all in ``ws.ldu``; right-hand sides x of
    the body, y of the joint, x_p of the parent. They travel as a column of X, S and Y. ``G``, ``H`` (nr, 2, 6): rows of
    the tree joints, child first, then parent.
    """
    D, X, S, Y, x = ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], body[i]
    first, parent = plan.joints.rows[i], plan.joints.parent[i]
    lu_factor(D, 6)
    lower_solve_columns(D, G[first:], rows, x, X)
    upper_solve_wide(D, 6, X)
    for k in range(6):
        x[k] = X[k, RIGHT]
    if rows == 0:
        return
    multiply_wide(H[first:], 0, X, rows, S)
    for r in range(rows):
        row[first + r] -= S[r, RIGHT]
        S[r, r] += ws.released[first + r]
    lu_factor(S, rows)
    lower_solve_rows(S, H[first:], rows, row[first:], Y)
    upper_solve_wide(S, rows, Y)
    for r in range(rows):
        row[first + r] = Y[r, RIGHT]
    if parent != plan.bodies.mass.size:
        for r in range(rows):
            add_scaled6(body[parent], row[first + r], G[first + r, 1])
        add_product_wide(G[first:], 1, Y, rows, ws.ldu.D[parent])


@njit
def _pass_fills(plan, ws, i, G, H, body, row):
    """Eliminate body i and its joint from the closure rows they feel: into the block K, ``row`` and the parent.

    After `_eliminate`, and with its ``G``, ``H`` (nr, 2, 6), ``body`` (nb, 6), ``row`` (nr,). Changes ``ws.ldu``.
    """
    # The fills of closure row e are L_e = lower[e], a row, and U_e = upper[e], a column. With X, S, Y of `_eliminate`,
    #   U_e <- D^-1 U_e,   l_e = L_e X,   u_e = -S^-1 H U_e,
    #   row_e -= L_e x + l_e y,   K_ef -= L_e U_f + l_e u_f,
    # and for the fills of the parent p   L_e,p -= l_e Y,   U_e,p += G_p^T u_e.
    first, last = plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]
    begin = plan.joints.rows[i]
    rows = plan.joints.rows[i + 1] - begin
    D, X, S, Y, x = ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], body[i]
    lower, upper, joint_lower, joint_upper = (
        ws.ldu.fill_lower,
        ws.ldu.fill_upper,
        ws.ldu.fill_joint_lower,
        ws.ldu.fill_joint_upper,
    )
    for e in range(first, last):
        low, up, joint_low, joint_up = lower[e], upper[e], joint_lower[e], joint_upper[e]
        lu_solve(D, 6, up)
        for a in range(rows):
            below = 0.0
            for k in range(6):
                below += low[k] * X[k, a]
            joint_low[a] = below
            joint_up[a] = -dot6(H[begin + a, 0], up)
        lu_solve(S, rows, joint_up)
    for e in range(first, last):
        r = plan.loops.fill_row[e]
        row[r] -= dot6(lower[e], x)
        for a in range(rows):
            row[r] -= joint_lower[e, a] * row[begin + a]
        at = plan.loops.row_start[r]
        for other in range(first, last):
            total = dot6(lower[e], upper[other])
            if e == other:
                ws.ldu.closure_scale[r] = max(ws.ldu.closure_scale[r], abs(total))
            for a in range(rows):
                total += joint_lower[e, a] * joint_upper[other, a]
            ws.ldu.K[at + plan.loops.fill_row[other]] -= total
    for e in range(first, last):
        above = plan.loops.fill_up[e]
        if above >= 0:
            for a in range(rows):
                add_scaled6(lower[above], -joint_lower[e, a], Y[a])
                add_scaled6(upper[above], joint_upper[e, a], G[begin + a, 1])


@njit(inline="always")
def _back(plan, ws, i, body, row):
    """Write the motion of body i to ``body`` (nb, 6), and the multipliers of its tree joint to ``row`` (nr,)."""
    x, start, stop = body[i], plan.joints.rows[i], plan.joints.rows[i + 1]
    if plan.joints.parent[i] != plan.bodies.mass.size:
        for r in range(start, stop):
            row[r] -= dot6(ws.ldu.Y[i, r - start], body[plan.joints.parent[i]])
    for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
        multiplier = row[plan.loops.fill_row[e]]
        add_scaled6(x, -multiplier, ws.ldu.fill_upper[e])
        for r in range(start, stop):
            row[r] -= ws.ldu.fill_joint_upper[e, r - start] * multiplier
    for k in range(6):
        for r in range(start, stop):
            x[k] += ws.ldu.X[i, k, r - start] * row[r]


@njit(inline="always")
def _is_hinge(plan, i):
    """Return whether the tree joint of body i is a hinge with five rows, or one with an effort in its pivot."""
    joints = plan.joints
    rows = joints.rows[i + 1] - joints.rows[i]
    return joints.sprung[i] or (joints.pair[i] == 5 and rows == 5 and joints.points[i] == 3)


@njit
def _eliminate_other(plan, ws, i, low, body, row):
    """Eliminate body i and its tree joint, which is no hinge: a ball, another lower pair, or any rows.

    ``body`` (nb, 6), ``row`` (nr,) and ``low``: see the top of this file.
    """
    G, H = ws.ldu.upper, ws.ldu.lower
    rows, pair, points = plan.joints.rows[i + 1] - plan.joints.rows[i], plan.joints.pair[i], plan.joints.points[i]
    if is_ball(plan, i):
        factor_ball(plan, ws, i, low)
        forward_ball(plan, ws, i, low, body, row)
    elif pair == 5 and rows == 6 and points == 3:  # a hinge with one row more
        factor_pair(plan, ws, i, 1, 1, False, low)
        pass_pair(plan, ws, i, 1, 1, low)
        forward_pair(plan, ws, i, 3, 1, 1, False, low, body, row)
    elif pair > 0:
        factor_pair(plan, ws, i, 6 - pair, rows - pair, False, low)
        pass_pair(plan, ws, i, 6 - pair, rows - pair, low)
        forward_pair(plan, ws, i, points, 6 - pair, rows - pair, False, low, body, row)
    elif rows == 5:
        _eliminate(plan, ws, i, 5, G, H, body, row)
    elif rows == 6:
        _eliminate(plan, ws, i, 6, G, H, body, row)
    else:
        _eliminate(plan, ws, i, rows, G, H, body, row)
    if pair == 0 and plan.loops.fill_pass[i] < plan.loops.fill_first[i + 1]:
        _pass_fills(plan, ws, i, G, H, body, row)


@njit
def _forward_other(plan, ws, i, low, body, row):
    """Bring the right-hand side past body i and its tree joint, which is no hinge, by their factors.

    ``body`` (nb, 6), ``row`` (nr,) and ``low``: see the top of this file.
    """
    ldu, first, x, parent = ws.ldu, plan.joints.rows[i], body[i], plan.joints.parent[i]
    rows, pair = plan.joints.rows[i + 1] - first, plan.joints.pair[i]
    if is_ball(plan, i):
        forward_ball(plan, ws, i, low, body, row)
        return
    if pair > 0:
        forward_pair(plan, ws, i, plan.joints.points[i], 6 - pair, rows - pair, False, low, body, row)
        return
    multipliers = row[first : first + rows]
    lu_solve(ldu.D[i], 6, x)
    for r in range(rows):
        multipliers[r] -= dot6(ldu.lower[first + r, 0], x)
    lu_solve(ldu.S[i], rows, multipliers)
    if parent != plan.bodies.mass.size:
        for r in range(rows):
            add_scaled6(body[parent], multipliers[r], ldu.upper[first + r, 1])
    for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
        r = plan.loops.fill_row[e]
        row[r] -= dot6(ldu.fill_lower[e], x)
        for a in range(rows):
            row[r] -= ldu.fill_joint_lower[e, a] * multipliers[a]


@njit
def _back_other(plan, ws, i, low, body, row):
    """Find the motion of body i and the multipliers of its tree joint, which is no hinge.

    In place, in ``body`` (nb, 6) and ``row`` (nr,); ``low``: see the top of this file.
    """
    rows, pair, points = plan.joints.rows[i + 1] - plan.joints.rows[i], plan.joints.pair[i], plan.joints.points[i]
    if is_ball(plan, i):
        back_ball(plan, ws, i, low, body, row)
    elif pair == 5 and rows == 6 and points == 3:
        back_pair(plan, ws, i, 3, 1, 1, False, low, body, row)
    elif pair > 0:
        back_pair(plan, ws, i, points, 6 - pair, rows - pair, False, low, body, row)
    else:
        _back(plan, ws, i, body, row)


def _sweeps(closures: bool, others: bool) -> tuple[Any, Any, Any]:
    """Return the elimination, the same for a right-hand side alone, and the substitution of a `_solver`."""
    of_nodes = place_closures, eliminate_nodes, eliminate_nodes_again, substitute_nodes, pass_pair
    place, eliminate, eliminate_again, substitute, pass_fills = of_nodes if closures else (None,) * 5
    of_others = _eliminate_other, _forward_other, _back_other
    eliminate_other, forward_other, back_other = of_others if others else (None,) * 3

    @njit(inline="always")
    def eliminate_all(plan, ws, low, body, row):
        """Factor the matrix, VI Alg. 3, with the L pass of Alg. 4 on the right-hand side in the same sweep.

        ``body`` (nb, 6), ``row`` (nr,) and ``low``: see the top of this file.
        """
        nb, G, H = plan.bodies.mass.size, ws.ldu.upper, ws.ldu.lower
        if closures:
            place(plan, ws, G, H)
        for back in range(nb):
            i = natural(nb - 1 - back)
            if closures:
                eliminate(plan, ws, i, body, row)
            if others and not _is_hinge(plan, i):
                eliminate_other(plan, ws, i, low, body, row)
            # with numbers of rows that are known here the loops unroll
            elif plan.joints.sprung[i]:
                factor_pair(plan, ws, i, 1, 0, True, low)
                if closures:
                    pass_fills(plan, ws, i, 1, 0, low)
                forward_pair(plan, ws, i, 3, 1, 0, True, low, body, row)
            else:
                factor_pair(plan, ws, i, 1, 0, False, low)
                if closures:
                    pass_fills(plan, ws, i, 1, 0, low)
                forward_pair(plan, ws, i, 3, 1, 0, False, low, body, row)
        if closures:
            eliminate(plan, ws, nb, body, row)

    @njit(inline="always")
    def forward_all(plan, ws, low, body, row):
        """Do the L pass of VI Alg. 4 on ``body`` (nb, 6), ``row`` (nr,), with the factors at hand."""
        nb = plan.bodies.mass.size
        for back in range(nb):
            i = natural(nb - 1 - back)
            if closures:
                eliminate_again(plan, ws, i, body, row)
            if others and not _is_hinge(plan, i):
                forward_other(plan, ws, i, low, body, row)
            elif plan.joints.sprung[i]:
                forward_pair(plan, ws, i, 3, 1, 0, True, low, body, row)
            else:
                forward_pair(plan, ws, i, 3, 1, 0, False, low, body, row)
        if closures:
            eliminate_again(plan, ws, nb, body, row)

    @njit(inline="always")
    def substitute_all(plan, ws, upper, lower, body, row):
        """Do the U pass of VI Alg. 4, from the root to the leaves; the solution is in axes of the bodies.

        In place, in ``body`` (nb, 6) and ``row`` (nr,).
        """
        nb, low = plan.bodies.mass.size, 1 if lower != upper else 0
        if closures:
            substitute(plan, ws, nb, row)
        for i in range(nb):
            if others and not _is_hinge(plan, i):
                back_other(plan, ws, i, low, body, row)
            elif plan.joints.sprung[i]:
                back_pair(plan, ws, i, 3, 1, 0, True, low, body, row)
            else:
                back_pair(plan, ws, i, 3, 1, 0, False, low, body, row)
            if closures:
                for e in range(plan.loops.fill_first[i], plan.loops.fill_pass[i]):
                    row[plan.loops.fill_row[e]] -= dot6(ws.ldu.fill_joint_lower[e], body[i])
                substitute(plan, ws, i, row)
        for i in range(nb):
            x = body[i]
            x[3], x[4], x[5] = rotate_back(ws.rotation[lower, i], turn_of(x))

    return eliminate_all, forward_all, substitute_all


def _solver(name: str, closures: bool, others: bool) -> Any:
    """Return the solver called ``name`` of plans with ``closures``, and with joints ``others`` than hinges, or without.

    Parts that a plan does not have are left out when its solver is compiled.
    """
    eliminate_all, forward_all, substitute_all = _sweeps(closures, others)
    write_other = write_other_frame if others else None

    @njit(inline="always")
    def write_frames(plan, ws, upper, lower):
        """Write the bases of motions and the arms from parent to child, to ``ws.ldu.frame`` and ``ws.ldu.arm``.

        ``frame`` (2, nb, 6, 6), ``arm`` (2, nb, 6), axes of the world: at index 0 those at the pose ``upper``, at 1
        those at ``lower``, which are left out if both are one pose.
        """
        for i in range(plan.bodies.mass.size):
            for at in range(2 if lower != upper else 1):
                pose = lower if at else upper
                if others and not _is_hinge(plan, i):
                    write_other(plan, ws, i, pose, at)
                else:
                    write_frame(plan, ws, i, pose, 5, 3, ws.ldu.frame[at, i], ws.ldu.arm[at, i])

    def solve(plan: Plan, ws: Workspace, body: Float2, row: Float1, upper: int, lower: int, factored: bool) -> None:
        """Solve as `solve_newton`, or with ``factored`` as `solve_again`."""
        upper, lower, body = natural(upper), natural(lower), MOTIONS(body)
        low = 1 if lower != upper else 0
        if factored:
            turn_bodies(ws.rotation[upper], body)
            forward_all(plan, ws, low, body, row)
        else:
            _turn_matrix(plan, ws, upper, lower)
            write_frames(plan, ws, upper, lower)
            turn_bodies(ws.rotation[upper], body)
            eliminate_all(plan, ws, low, body, row)
        substitute_all(plan, ws, upper, lower, body, row)

    solve.__name__ = solve.__qualname__ = name
    return indirect(solve, seconds=5, what="the solver of joints")


@indirect(seconds=1, what="the solver of joints")
def solve_free(plan: Plan, ws: Workspace, body: Float2, row: Float1, upper: int, lower: int, factored: bool) -> None:
    """Solve as `solve_newton`, or with ``factored`` as `solve_again`, bodies whose joints have no rows: each by itself.

    In place, in ``body`` (nb, 6); ``row`` (nr,) stays.
    """
    upper, lower, body = natural(upper), natural(lower), MOTIONS(body)
    if not factored:
        _turn_matrix(plan, ws, upper, lower)
    turn_bodies(ws.rotation[upper], body)
    for i in range(plan.bodies.mass.size):
        D, x = ws.ldu.D[i], body[i]
        if not factored:
            lu_factor(D, 6)
        lu_solve(D, 6, x)
        x[3], x[4], x[5] = rotate_back(ws.rotation[lower, i], turn_of(x))


solve_hinges = _solver("solve_hinges", closures=False, others=False)
solve_loops = _solver("solve_loops", closures=True, others=False)
solve_any = _solver("solve_any", closures=True, others=True)
SOLVERS = solve_hinges, solve_loops, solve_any, solve_free


def solver_of(pair: np.ndarray, rows: np.ndarray, points: np.ndarray, sprung: np.ndarray, closures: int) -> int:
    """Return the place in `SOLVERS` of the least solver that a plan needs.

    ``pair``, ``points`` and ``sprung``: as in `Joints`; ``rows`` (nb,): numbers of rows of the tree joints;
    ``closures``: how many rows close loops.
    """
    hinges = sprung | ((pair == 5) & (rows == 5) & (points == 3))
    if not closures and not rows.any() and not sprung.any():
        return SOLVERS.index(solve_free)
    if not hinges.all():
        return SOLVERS.index(solve_any)
    return SOLVERS.index(solve_loops if closures else solve_hinges)


@njit(inline="always")
def _solve(plan, ws, body, row, upper, lower, factored):
    """Call the solver of the plan, with ``factored`` for `solve_again`, on ``body`` (nb, 6), ``row`` (nr,)."""
    if plan.joints.solver[0] == 0:
        solve_hinges(plan, ws, body, row, upper, lower, factored)
    elif plan.joints.solver[0] == 1:
        solve_loops(plan, ws, body, row, upper, lower, factored)
    elif plan.joints.solver[0] == 2:
        solve_any(plan, ws, body, row, upper, lower, factored)
    else:
        solve_free(plan, ws, body, row, upper, lower, factored)


@njit
def solve_newton(plan, ws, body, row, upper, lower):
    """Solve the system above in place: right-hand side and solution in ``body`` (nb, 6), ``row`` (nr,).

    Pivots in ``ws.ldu.D``, overwritten by their factors; G is ``ws.jacobian[upper]``, H ``ws.jacobian[lower]``, and
    positions and rotations of these poses are those of the rows. Pivots couple translation with rotation for bodies
    that ``plan.bodies.coupled`` names, for no others.
    """
    _solve(plan, ws, body, row, upper, lower, False)


@njit
def solve_again(plan, ws, step, body, row):
    """Solve for another right-hand side in place, with the factors of the last `solve_newton` of the ``step``.

    ``step``: a `StepSpan`; ``body`` (nb, 6), ``row`` (nr,): as in `solve_newton`.
    """
    _solve(plan, ws, body, row, step.upper, step.end, True)
