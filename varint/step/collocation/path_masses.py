"""Masses along paths in a collocation step (docs/theory.md section 16).

The kinetic energy T(p, u) of a path, of the places p and the velocities u of its points (paths/mass_pulls.py), is
summed by the quadrature of the action, with u_i = sum_k l_k'(c_i) p_k / h at node i. So a force acts on each point at
node j, an impulse on its body,

    f_j = sum_i b_i l_j'(c_i) P_i + h b_j (F_j + W_j),    P = dT/du,  F = dT/dp,  W of the weight

Newton's matrix of the links has what these do with the poses of their bodies at node j, as for all wrenches. Its part
H, by f_j as a function of the places p_k, couples links that are no neighbours: with the factors of the rest, A, and
the coordinates z of the links that move points,

    (A + H) z = -open,    (1 + H A^-1) y = H z_0,    z_0 = -A^-1 open,    z = -A^-1 (open + y)

    df_j / dp_k = sum_i b_i l_j'(c_i) l_k'(c_i) M_i / h + b_j l_k'(c_j) C_j + b_k l_j'(c_k) C_k^T

with M = dP/du and C = dF/du. dF/dp and dW/dp are left out: they are smaller by h^2, and zero if all paths are straight.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.collocation.closures import free_motion
from varint.step.collocation.elimination import solve_turns
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.shown import copy_poses, show_bodies
from varint.step.dense import pivoted_lu_factor, pivoted_lu_solve
from varint.step.paths.mass_pulls import find_pulls
from varint.step.paths.masses import WHAT, add_weights, find_momenta, find_points, place_paths
from varint.step.paths.straight_masses import is_straight
from varint.step.plan import Plan, Workspace

NODE = 0  # pose of the workspace in which the masses see a node


@njit
def _show_node(plan, ws, tree, work, j):
    """Place all paths at node j."""
    show_bodies(tree, work, j)
    copy_poses(work, j, ws.position[NODE], ws.rotation[NODE])
    place_paths(plan, ws, (NODE, NODE))


@njit
def _move_points(plan, tree, rule, work, h):
    """Write the velocities of all points at the nodes to ``work.paths.velocity`` (s, points, 3), m/s, world."""
    table, own, s = plan.massive_paths, work.paths, rule.weight.size
    for n in range(table.slot.size):
        b = table.slot[n]
        for i in range(s):
            moved = 0.0, 0.0, 0.0
            if b < tree.link.size:
                link, arm = natural(tree.link[b]), vector(table.arm[n])
                for k in range(1, s):
                    step = add(vector(work.shift[k, link]), rotate(work.change[k, link], arm))
                    moved = add(moved, scale(rule.slope[i, k] / h, step))
            own.velocity[i, n, 0], own.velocity[i, n, 1], own.velocity[i, n, 2] = moved


@njit
def _take_velocities(table, own, ws, p, i):
    """Let the points of path p have their velocities at node i in the scratch of the role."""
    for n in range(table.first[p], table.first[p + 1]):
        for c in range(3):
            ws.massive_paths.shift[n, c] = own.velocity[i, n, c]


@indirect(seconds=3, what=WHAT)
def push_paths(
    plan: Plan, ws: Workspace, tree: LinkTree, rule: NodeRule, work: NodeWorkspace, h: float, first: int, end: int
) -> None:
    """Add the impulses of the paths at the nodes ``first`` to ``end`` - 1 to the wrenches (s, nl, 6) and tilts.

    After `pull_link`; ``h``: size of the step, s.
    """
    table, own, s = plan.massive_paths, work.paths, rule.weight.size
    _move_points(plan, tree, rule, work, h)
    own.force[:] = 0.0
    for i in range(s):
        _show_node(plan, ws, tree, work, i)
        for p in range(table.mass.size):
            count, begin, last = find_points(plan, ws, p, (NODE, NODE)), table.first[p], table.first[p + 1]
            _take_velocities(table, own, ws, p, i)
            find_momenta(plan, ws, p, count, NODE, NODE)
            for n in range(begin, last):
                for c in range(3):
                    share = rule.weight[i] * ws.massive_paths.pull[n, c]
                    for j in range(1, s):  # the rates are of motions since node 0, whose force is minus their sum
                        own.force[j, n, c] += rule.slope[i, j] * share
                        own.force[0, n, c] -= rule.slope[i, j] * share
            if not is_straight(table, p):
                find_pulls(plan, ws, own, p, count, NODE)
                for n in range(begin, last):
                    for c in range(3):
                        own.force[i, n, c] += h * rule.weight[i] * own.pull[n, c]
            add_weights(plan, ws, p, NODE, h * rule.weight[i])
            for n in range(begin, last):
                for c in range(3):
                    own.force[i, n, c] += ws.massive_paths.pull[n, c]
    for n in range(table.slot.size):
        for j in range(first, end if table.slot[n] < tree.link.size else first):
            _push_link(tree, work, n, table.slot[n], table.arm[n], j)


@njit
def _push_link(tree, work, n, b, arm, j):
    """Add the impulse at point n, on the body in slot b at an ``arm`` (3,), to the wrench and tilt of its link."""
    link, force = natural(tree.link[b]), vector(work.paths.force[j, n])
    lever, out, A = rotate(work.rotation[j, link], vector(arm)), work.wrench[j, link], work.tilt[j, link]
    write(out, add(vector(out), force), add(turn_of(out), cross(lever, force)))
    for a in range(3):  # ax(lever force^T) = lever x force
        A[a, 0] += lever[a] * force[0]
        A[a, 1] += lever[a] * force[1]
        A[a, 2] += lever[a] * force[2]


@njit
def _differentiate_paths(plan, ws, tree, rule, work):
    """Write M and C of all nodes to ``work.paths.inertia`` and ``drift`` (s, 3 points, 3 points of a path)."""
    table, own = plan.massive_paths, work.paths
    for i in range(rule.weight.size):
        _show_node(plan, ws, tree, work, i)
        for p in range(table.mass.size):
            count, begin, last = find_points(plan, ws, p, (NODE, NODE)), table.first[p], table.first[p + 1]
            curved = not is_straight(table, p)
            if curved:
                _take_velocities(table, own, ws, p, i)
                find_momenta(plan, ws, p, count, NODE, NODE)
                find_pulls(plan, ws, own, p, count, NODE)
                for n in range(begin, last):
                    for c in range(3):
                        own.at_rate[n, c] = own.pull[n, c]
            for column in range(3 * (last - begin)):
                ws.massive_paths.shift[begin:last] = 0.0
                ws.massive_paths.shift[begin + column // 3, column % 3] = 1.0
                find_momenta(plan, ws, p, count, NODE, NODE)
                for n in range(begin, last):
                    for c in range(3):
                        own.inertia[i, 3 * n + c, column] = ws.massive_paths.pull[n, c]
                if not curved:
                    continue
                find_pulls(plan, ws, own, p, count, NODE)
                for n in range(begin, last):
                    for c in range(3):
                        own.drift[i, 3 * n + c, column] = -own.pull[n, c] - own.at_rate[n, c]
                _take_velocities(table, own, ws, p, i)
                ws.massive_paths.shift[begin + column // 3, column % 3] += 1.0
                find_momenta(plan, ws, p, count, NODE, NODE)
                find_pulls(plan, ws, own, p, count, NODE)
                for n in range(begin, last):  # F is a quadratic form of u
                    for c in range(3):
                        own.drift[i, 3 * n + c, column] += own.pull[n, c]


@njit
def _find_reach(plan, tree, work):
    """Write the motions of the points by the coordinates of links to ``work.paths.reach`` (s, points, moving, 3)."""
    table, own = plan.massive_paths, work.paths
    for n in range(table.slot.size):
        for m in range(tree.mover.size):
            if not tree.carries[n, m]:
                continue
            i, carrier = natural(tree.mover[m]), natural(tree.link[table.slot[n]])
            for k in range(work.position.shape[0]):
                line, turn = free_motion(tree, work, k, i)
                place = add(vector(work.position[k, carrier]), rotate(work.rotation[k, carrier], vector(table.arm[n])))
                moved = add(line, cross(turn, sub(place, vector(work.position[k, i]))))
                own.reach[k, n, m, 0], own.reach[k, n, m, 1], own.reach[k, n, m, 2] = moved


@njit
def _find_coupling(plan, tree, rule, work, h):
    """Write H to ``work.paths.coupling`` (n, n): rows m q + j of mover m at node j, columns of its motion at j + 1."""
    table, own, q = plan.massive_paths, work.paths, rule.weight.size - 1
    own.coupling[:] = 0.0
    for p in range(table.mass.size):
        begin, last = table.first[p], table.first[p + 1]
        for j in range(q):
            for k in range(1, q + 1):
                for n in range(begin, last):
                    for o in range(begin, last):
                        _find_block(rule, own, h, j, k, n, o, begin)
                        _add_block(tree, own, q, j, k, n, o)


@njit
def _find_block(rule, own, h, j, k, n, o, begin):
    """Write d f_j / d p_k of points n and o of the path from point ``begin`` on to ``own.block`` (3, 3)."""
    for a in range(3):
        for c in range(3):
            total = 0.0
            if own.drift.shape[1] > 0:
                total += rule.weight[j] * rule.slope[j, k] * own.drift[j, 3 * n + a, 3 * (o - begin) + c]
                total += rule.weight[k] * rule.slope[k, j] * own.drift[k, 3 * o + c, 3 * (n - begin) + a]
            for i in range(rule.weight.size):
                share = rule.weight[i] * rule.slope[i, j] * rule.slope[i, k] / h
                total += share * own.inertia[i, 3 * n + a, 3 * (o - begin) + c]
            own.block[a, c] = total


@njit
def _add_block(tree, own, q, j, k, n, o):
    """Add ``own.block`` (3, 3) of points n at node j and o at node k to H."""
    B = own.block
    for m in range(tree.mover.size):
        if not tree.carries[o, m]:
            continue
        by = vector(own.reach[k, o, m])
        force = dot(vector(B[0]), by), dot(vector(B[1]), by), dot(vector(B[2]), by)
        for r in range(tree.mover.size):
            if tree.carries[n, r]:
                own.coupling[r * q + j, m * q + k - 1] += dot(vector(own.reach[j, n, r]), force)


@indirect(seconds=6, what=WHAT)
def solve_paths(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float,
    factored: bool,
) -> float:  # fmt: skip
    """Do `solve_turns` with the masses of paths in Newton's matrix; ``factored``: with the last of their factors."""
    own, q, row = work.paths, rule.weight.size - 1, work.closures.row
    size = own.y.size
    for j in range(work.open.shape[0]):
        for i in range(work.open.shape[1]):
            own.open[j, i] = work.open[j, i]
    for r in range(row.size):
        own.row[r] = row[r]
    if not factored:
        _differentiate_paths(plan, ws, tree, rule, work)
        _find_reach(plan, tree, work)
        _find_coupling(plan, tree, rule, work, h)
        for c in range(size):
            work.open[:] = 0.0
            row[:] = 0.0
            work.open[c % q, tree.mover[c // q]] = 1.0
            solve_turns(plan, tree, closures, work)
            _couple(tree, own, work, q)
            for r in range(size):
                own.factors[r * size + c] = (1.0 if r == c else 0.0) - own.y[r]
        pivoted_lu_factor(own.factors, size, own.order, own.y)
        _bring_back(own, work)
    solve_turns(plan, tree, closures, work)
    _couple(tree, own, work, q)
    pivoted_lu_solve(own.factors, size, own.order, own.y)
    _bring_back(own, work)
    for c in range(size):
        work.open[c % q, tree.mover[c // q]] += own.y[c]
    increment = solve_turns(plan, tree, closures, work)
    for j in range(work.open.shape[0]):
        for i in range(work.open.shape[1]):
            work.open[j, i] = own.open[j, i]
    return increment


@njit
def _couple(tree, own, work, q):
    """Write H z, of the increments ``work.turn`` (nl, q), to ``own.y`` (n,)."""
    for r in range(own.y.size):
        total = 0.0
        for c in range(own.y.size):
            total += own.coupling[r, c] * work.turn[tree.mover[c // q], c % q]
        own.y[r] = total


@njit
def _bring_back(own, work):
    """Bring back the right sides: efforts that are to vanish, and values of closures' rows."""
    for j in range(work.open.shape[0]):
        for i in range(work.open.shape[1]):
            work.open[j, i] = own.open[j, i]
    for r in range(own.row.size):
        work.closures.row[r] = own.row[r]
