"""Accelerations and joint reactions at given poses and velocities (docs/theory.md section 7).

    [ M  -G^T ] [ a      ]   [ load - (0, w x J w)  ]      c: second time derivative of the rows at a = 0,
    [ G   0   ] [ lambda ] = [ -c                   ]      quadratic in the velocities

Where rows are redundant, only their sum of forces is known: of all multipliers with the same effect the ones with the
smallest sum of (lambda / row_scale)^2 are taken.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import cross, rotate, vector
from varint.step.bearings.nodes import accelerate_bearings, friction_at_node, take_slips
from varint.step.closure_nodes import substitute_node
from varint.step.configuration import mass_pivots, place_node
from varint.step.constraints import follow_constraints
from varint.step.contacts.accelerations import accelerate_contacts, forces_of_contacts, rest_contacts
from varint.step.contacts.rows import has_contacts
from varint.step.ldu import solve_newton
from varint.step.limits.rows import efforts_at_node, limit_row, release_pulling, rest_at_node
from varint.step.measures import curve_rows, rate_of
from varint.step.plan import JOINT
from varint.step.rows import clear_rows


@njit(seconds=1, what="reduced coordinates")
def quadratic_terms(plan, ws, rows, position, rotation, velocity, change, out):
    """Write second time derivatives of ``rows`` (m,) at zero acceleration to ``out`` (m,).

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3); ``change`` (m, 2, 6): scratch. With constant velocities
    ``velocity`` (nb, 6), the angular ones in body axes, they are the curvature applied to the velocity, twice.
    """
    curve_rows(plan, ws, rows, position, rotation, velocity, change)
    for n in range(rows.size):
        out[n] = rate_of(plan.measures.body[rows[n]], change[n], velocity)


@njit
def _sums(row_cluster, a, b, out):
    """Write inner products of two row vectors ``a``, ``b`` (nr,), over the rows of each cluster, to ``out`` (nc,).

    ``row_cluster`` (nr,): cluster of each row, or negative.
    """
    out[:] = 0.0
    for r in range(row_cluster.size):
        if row_cluster[r] >= 0:
            out[row_cluster[r]] += a[r] * b[r]


@njit
def _add_clusterwise(row_cluster, y, factors, x):
    """Add the factor of each row's cluster times ``x`` to ``y``; ``x``, ``y`` (nr,), ``factors`` (nc,).

    ``row_cluster`` (nr,): cluster of each row, or negative.
    """
    for r in range(row_cluster.size):
        if row_cluster[r] >= 0:
            y[r] += factors[row_cluster[r]] * x[r]


@njit
def _null_vector(plan, ws, k, row):
    """Write the k-th null vector of G^T of each cluster that has as many, in one vector, to ``row`` (nr,).

    By the factors. The vector of a dense node is (-U11^-1 U12, I) with columns put back in order and scaled; the
    multipliers of the nodes before it and of the tree rows follow by substitution, in which the bodies stay at zero.
    """
    row[:] = 0.0
    for c in range(plan.loops.cluster_node.size - 1):
        n, left = plan.loops.cluster_node[c], k
        while (
            n < plan.loops.cluster_node[c + 1]
            and left >= plan.loops.node_row[n + 1] - plan.loops.node_row[n] - ws.ldu.rank[n]
        ):
            left -= plan.loops.node_row[n + 1] - plan.loops.node_row[n] - ws.ldu.rank[n]
            n += 1
        if n == plan.loops.cluster_node[c + 1]:
            continue
        first, last, rank = plan.loops.node_row[n], plan.loops.node_row[n + 1], ws.ldu.rank[n]
        start, stride = plan.loops.row_start[first] + first, plan.loops.node_high[n] - plan.loops.node_low[n]
        columns = ws.ldu.pivot[1, first:last]
        row[first + columns[rank + left]] = 1.0
        for i in range(rank - 1, -1, -1):
            total = -ws.ldu.K[start + i * stride + rank + left]
            for j in range(i + 1, rank):
                total -= ws.ldu.K[start + i * stride + j] * row[first + columns[j]]
            row[first + columns[i]] = total * ws.ldu.K[start + i * stride + i]
        for i in range(first, last):
            row[i] *= ws.ldu.closure_scale[i]
        for before in range(n - 1, plan.loops.cluster_node[c] - 1, -1):
            substitute_node(plan.loops.node_row, plan.loops.node_high, plan.loops.row_start, ws.ldu.K, before, row)
    for i in range(plan.bodies.mass.size):
        start, stop = plan.joints.rows[i], plan.joints.rows[i + 1]
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
            for r in range(start, stop):
                row[r] -= ws.ldu.fill_joint_upper[e, r - start] * row[plan.loops.fill_row[e]]


@njit
def take_smallest(plan, ws, row_cluster, basis, sums, row):
    """Take the part in the null space of G^T off the multipliers ``row`` (nr,), after `solve_newton` with H = G.

    ``row_cluster`` (nr,): cluster of each row, or -1. Scratch: ``basis`` (largest cluster, nr), ``sums`` (nc,).
    """
    count = 0
    for c in range(sums.size):
        missing = 0
        for n in range(plan.loops.cluster_node[c], plan.loops.cluster_node[c + 1]):
            missing += plan.loops.node_row[n + 1] - plan.loops.node_row[n] - ws.ldu.rank[n]
        count = max(count, missing)
    if count == 0:
        return
    for r in range(row.size):
        row[r] /= plan.rows.scale[r]
    for k in range(count):
        null = basis[k]
        _null_vector(plan, ws, k, null)
        for r in range(row.size):
            null[r] /= plan.rows.scale[r]
        for _ in range(2):  # once leaves round-off of the subtracted part
            for earlier in range(k):
                _sums(row_cluster, basis[earlier], null, sums)
                for c in range(sums.size):
                    sums[c] = -sums[c]
                _add_clusterwise(row_cluster, null, sums, basis[earlier])
        _sums(row_cluster, null, null, sums)
        for r in range(row.size):
            if row_cluster[r] >= 0 and sums[row_cluster[r]] > 0.0:
                null[r] /= sums[row_cluster[r]] ** 0.5
        _sums(row_cluster, null, row, sums)
        for c in range(sums.size):
            sums[c] = -sums[c]
        _add_clusterwise(row_cluster, row, sums, null)
    for r in range(row.size):
        row[r] *= plan.rows.scale[r]


@njit
def _wrench(plan, ws, j, anchor, row, out):
    """Write force and torque of joint j on the second body of its rows to ``out`` (6,), world.

    The torque about ``anchor`` (3,), body axes; ``row`` (nr,): multipliers.
    """
    side = 1 - plan.joints.first_body[j]
    b = plan.joints.side[j, side]
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
        if plan.rows.role[r] != JOINT:
            continue
        G = ws.jacobian[0, r, side]
        force = (force[0] + row[r] * G[0], force[1] + row[r] * G[1], force[2] + row[r] * G[2])
        torque = (torque[0] + row[r] * G[3], torque[1] + row[r] * G[4], torque[2] + row[r] * G[5])
    R = ws.rotation[0, b]
    about_centre, lever = rotate(R, torque), cross(rotate(R, vector(anchor)), force)
    for k in range(3):
        out[k] = force[k]
        out[3 + k] = about_centre[k] - lever[k]


@njit
def accelerate(plan, ws, pose, rows, velocity, bend, change):
    """Turn the loads (nb, 6) in ``ws.increment_body`` into accelerations, at a pose without rows of efforts.

    ``rows``: numbers of all rows. ``velocity`` (nb, 6). ``bend`` (nh,): second time derivative of the targets of
    constraints. ``change`` (nr, 2, 6): scratch. The multipliers go to ``ws.increment_row``.
    """
    body, row = ws.increment_body, ws.increment_row
    for i in range(plan.bodies.mass.size):
        w = vector(velocity[i, 3:])
        gyroscopic = cross(w, rotate(plan.bodies.inertia[i], w))
        for k in range(3):
            body[i, 3 + k] -= gyroscopic[k]
    quadratic_terms(plan, ws, rows, ws.position[pose], ws.rotation[pose], velocity, change, row)
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        for part in range(first + 1, first + plan.constraints.size[c]):
            row[first] += row[part]
            row[part] = 0.0
    for r in range(row.size):
        row[r] = -row[r]
    for c in range(plan.constraints.row.size):
        row[plan.constraints.row[c]] += bend[c]
    for n in range(plan.limits.measure.size):
        if ws.efforts.floor[n] < 0.0 and ws.efforts.closed[n]:
            r, b = limit_row(plan, n), ws.efforts.come_back[0]
            row[r] += b * (plan.limits.sign[n] * b * ws.efforts.floor[n] - 2.0 * ws.efforts.target_rate[r])
    if has_contacts(plan):
        accelerate_contacts(plan, ws)
        return
    if plan.bearings.row.size > 0 and ws.bearings.acting[0]:
        accelerate_bearings(plan, ws, pose)
        return
    mass_pivots(plan, ws.ldu.D)
    solve_newton(plan, ws, body, row, pose, pose)


@njit(seconds=4, what="reactions")
def solve_nodes(plan, ws, scratch, anchor, load, bend, nodes, acceleration, reaction, efforts):
    """Write accelerations and reactions at T nodes to ``acceleration``, ``reaction`` and ``efforts``.

    Everything in kernel order. ``scratch``: row_cluster, basis, sums of `take_smallest`, and the numbers of all rows.
    ``anchor`` (nj, 3): of each joint on its second body, body axes. ``load`` (T or 1, nb, 6): external, without
    gravity. ``bend`` (T, nh): second time derivative of the targets of constraints. ``nodes``: position (T, nb, 3),
    quat (T, nb, 4), velocity (T, nb, 6). Outputs: ``acceleration`` (T, nb, 6), world and body; ``reaction`` (T, nj, 6),
    world force and torque about the anchor; ``efforts``: of constraints (T, nh), of one-sided rows (T, n), of
    contacts (T, nk, 10), `forces_of_contacts`, and of friction in joints (T, n). One-sided rows and contacts take part
    where the motion rests on them, and not if their array is of shape (T, 0). Uses ``ws.increment_body``.
    """
    row_cluster, basis, sums, every_row = scratch
    effort_of_constraint, effort_of_term, force_of_contact, friction_of_joint = efforts
    with_contacts = force_of_contact.shape[1] > 0
    with_terms = effort_of_term.shape[1] > 0
    position, quat, velocity = nodes
    body, row = ws.increment_body, ws.increment_row
    for node in range(position.shape[0]):
        external = load[min(node, load.shape[0] - 1)]
        place_node(plan, ws, position[node], quat[node])
        follow_constraints(plan, ws, ws.position[0], ws.rotation[0])  # count turns from node to node
        if with_terms:
            rest_at_node(plan, ws, velocity[node])
        if with_contacts:
            rest_contacts(plan, ws, velocity[node])
        if plan.bearings.row.size > 0:
            take_slips(plan, ws, 0, velocity[node])
        solved = False
        while not solved:
            clear_rows(plan, ws.released, ws.jacobian[0])
            for i in range(plan.bodies.mass.size):
                for k in range(3):
                    body[i, k] = plan.bodies.mass[i] * plan.bodies.gravity[k] + external[i, k]
                    body[i, 3 + k] = external[i, 3 + k]
            accelerate(plan, ws, 0, every_row, velocity[node], bend[node], ws.jacobian[1])
            solved = not release_pulling(plan, ws, row)
        take_smallest(plan, ws, row_cluster, basis, sums, row)
        for i in range(plan.bodies.mass.size):
            for k in range(6):
                acceleration[node, i, k] = body[i, k]
        for j in range(plan.joints.side.shape[0]):
            _wrench(plan, ws, j, anchor[j], row, reaction[node, j])
        for c in range(plan.constraints.row.size):
            effort_of_constraint[node, c] = row[plan.constraints.row[c]]
        friction_at_node(plan, ws, friction_of_joint[node])
        if with_terms:
            efforts_at_node(plan, ws, row, effort_of_term[node])
        if with_contacts:
            forces_of_contacts(plan, ws, force_of_contact[node])
