"""Accelerations and joint reactions at given poses and velocities (docs/theory.md section 7).

    [ M  -G^T ] [ a      ]   [ load - (0, w x J w)  ]      c: second time derivative of the rows at a = 0,
    [ G   0   ] [ lambda ] = [ -c                   ]      quadratic in the velocities

Where rows are redundant, only their sum of forces is known: of all multipliers with the same
effect those of the smallest sum of (lambda / row_scale)^2 are taken.
"""

from varint._numba import njit
from varint.kernels.configuration import mass_pivots, place_anew
from varint.kernels.gauges import cross, dot, turned
from varint.kernels.ldu import solve_newton, substitute_node
from varint.kernels.on_motions import bend_of_rows
from varint.kernels.plan import DISTANCE, HELD, ON_MOTIONS, POINT, TURN

NONE = (0.0, 0.0, 0.0)


@njit
def _difference(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit
def _twist(rotation, velocity, body):
    """World velocity and angular velocity of a body; at rest for the world."""
    if body == velocity.shape[0]:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    v = velocity[body]
    return (v[0], v[1], v[2]), turned(rotation[body], v[3:])


@njit
def quadratic_terms(plan, position, rotation, velocity, near, out):
    """Second time derivative of the rows (nr,) at zero acceleration; velocity (nb, 6); ``near``: see `Workspace`."""
    for j in range(plan.side.shape[0]):
        a, b = plan.side[j, plan.first_body[j]], plan.side[j, 1 - plan.first_body[j]]
        (v_a, w_a), (v_b, w_b) = _twist(rotation, velocity, a), _twist(rotation, velocity, b)
        apart, parting = _difference(position[b], position[a]), _difference(v_b, v_a)
        if plan.joint_product[j] >= 0:
            bend_of_rows(plan, j, position, rotation, near, ((v_a, w_a), (v_b, w_b)), out)
        for r in range(plan.joint_rows[j], plan.joint_rows[j + 1]):
            if plan.row_kind[r] == ON_MOTIONS:
                continue
            if plan.row_kind[r] >= HELD:
                out[r] = _of_gauge(plan, r, position, rotation, velocity) if plan.row_kind[r] == HELD else 0.0
                continue
            if plan.row_kind[r] == DISTANCE:
                u, d = turned(rotation[a], plan.row_u[r]), turned(rotation[b], plan.row_w[r])
                du, dd = cross(w_a, u), cross(w_b, d)
                e, de = _difference(d, u), _difference(dd, du)
                e = (e[0] + apart[0], e[1] + apart[1], e[2] + apart[2])
                de = (de[0] + parting[0], de[1] + parting[1], de[2] + parting[2])
                dde = _difference(cross(w_b, dd), cross(w_a, du))
                out[r] = (dot(e, dde) + dot(de, de)) / plan.row_c[r]
                continue
            gap, opening = (apart, parting) if plan.row_kind[r] == POINT else (NONE, NONE)
            A, B, u, w = rotation[a], rotation[b], plan.row_u[r], plan.row_w[r]
            out[r] = _product(A, w_a, u, B, w_b, w, gap, opening)[2]


@njit
def _of_gauge(plan, r, position, rotation, velocity):
    """The same of the gauge of a HELD row, a TURN or a SLIDE, times its weight."""
    e = plan.row_gauge[r]
    a, b, vectors = plan.gauge_body[e, 0], plan.gauge_body[e, 1], plan.gauge_vector[e]
    (v_a, w_a), (v_b, w_b) = _twist(rotation, velocity, a), _twist(rotation, velocity, b)
    apart, parting = _difference(position[b], position[a]), _difference(v_b, v_a)
    if plan.gauge_kind[e] != TURN:
        return (
            plan.gauge_weight[e]
            * _product(rotation[a], w_a, vectors[0], rotation[b], w_b, vectors[1], apart, parting)[2]
        )
    s, ds, dds = _product(rotation[a], w_a, vectors[0], rotation[b], w_b, vectors[2], NONE, NONE)
    c, dc, ddc = _product(rotation[a], w_a, vectors[1], rotation[b], w_b, vectors[2], NONE, NONE)
    square = s * s + c * c
    rate = (c * ds - s * dc) / square
    return plan.gauge_weight[e] * ((c * dds - s * ddc) - 2.0 * rate * (s * ds + c * dc)) / square


@njit
def _product(A, w_a, u, B, w_b, w, apart, parting):
    """A u . (B w + apart) and its two time derivatives, frames turning at w_a, w_b without acceleration."""
    u, d = turned(A, u), turned(B, w)
    du, dd = cross(w_a, u), cross(w_b, d)
    ddu, ddd = cross(w_a, du), cross(w_b, dd)
    d = (d[0] + apart[0], d[1] + apart[1], d[2] + apart[2])
    dd = (dd[0] + parting[0], dd[1] + parting[1], dd[2] + parting[2])
    return dot(u, d), dot(du, d) + dot(u, dd), dot(ddu, d) + 2.0 * dot(du, dd) + dot(u, ddd)


@njit
def _sums(row_cluster, a, b, out):
    """Inner products (nc,) of two row vectors, over the rows of each cluster."""
    out[:] = 0.0
    for r in range(row_cluster.size):
        if row_cluster[r] >= 0:
            out[row_cluster[r]] += a[r] * b[r]


@njit
def _add_clusterwise(row_cluster, y, factors, x):
    """y += factor of the row's cluster times x."""
    for r in range(row_cluster.size):
        if row_cluster[r] >= 0:
            y[r] += factors[row_cluster[r]] * x[r]


@njit
def _null_vector(plan, ws, k, row):
    """The k-th null vector of G^T in each cluster that has so many, in one vector ``row`` (nr,), from its factors.

    That of a dense node is (-U11^-1 U12, I) with columns put back in order and scaled; the multipliers of the nodes
    before it and of the tree rows follow by substitution, in which the bodies stay at zero.
    """
    row[:] = 0.0
    for c in range(plan.cluster_node.size - 1):
        n, left = plan.cluster_node[c], k
        while n < plan.cluster_node[c + 1] and left >= plan.node_row[n + 1] - plan.node_row[n] - ws.rank[n]:
            left -= plan.node_row[n + 1] - plan.node_row[n] - ws.rank[n]
            n += 1
        if n == plan.cluster_node[c + 1]:
            continue
        first, last, rank = plan.node_row[n], plan.node_row[n + 1], ws.rank[n]
        start, stride = plan.row_start[first] + first, plan.node_high[n] - plan.node_low[n]
        columns = ws.pivot[1, first:last]
        row[first + columns[rank + left]] = 1.0
        for i in range(rank - 1, -1, -1):
            total = -ws.K[start + i * stride + rank + left]
            for j in range(i + 1, rank):
                total -= ws.K[start + i * stride + j] * row[first + columns[j]]
            row[first + columns[i]] = total * ws.K[start + i * stride + i]
        for i in range(first, last):
            row[i] *= ws.closure_scale[i]
        for before in range(n - 1, plan.cluster_node[c] - 1, -1):
            substitute_node(plan.node_row, plan.node_high, plan.row_start, ws.K, before, row)
    for i in range(plan.mass.size):
        start, stop = plan.joint_rows[i], plan.joint_rows[i + 1]
        for e in range(plan.fill_pass[i], plan.fill_first[i + 1]):
            for r in range(start, stop):
                row[r] -= ws.fill_joint_upper[e, r - start] * row[plan.fill_row[e]]


@njit
def take_smallest(plan, ws, row_cluster, basis, sums, row):
    """Take the part in the null space of G^T off the multipliers ``row`` (nr,), after `solve_newton` with H = G.

    ``row_cluster`` (nr,): cluster of each row, -1 for none. Scratch: ``basis`` (largest cluster, nr), ``sums`` (nc,).
    """
    count = 0
    for c in range(sums.size):
        missing = 0
        for n in range(plan.cluster_node[c], plan.cluster_node[c + 1]):
            missing += plan.node_row[n + 1] - plan.node_row[n] - ws.rank[n]
        count = max(count, missing)
    if count == 0:
        return
    for r in range(row.size):
        row[r] /= plan.row_scale[r]
    for k in range(count):
        null = basis[k]
        _null_vector(plan, ws, k, null)
        for r in range(row.size):
            null[r] /= plan.row_scale[r]
        for _ in range(2):  # once leaves round-off of what was taken off
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
        row[r] *= plan.row_scale[r]


@njit
def _wrench(plan, ws, j, anchor, row, out):
    """World force and torque about ``anchor`` (3,), body axes, of joint j on the second body of its rows."""
    side = 1 - plan.first_body[j]
    b = plan.side[j, side]
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(plan.joint_rows[j], plan.joint_rows[j + 1]):
        if plan.row_kind[r] >= HELD:
            continue
        G = ws.jacobian[0, r, side]
        force = (force[0] + row[r] * G[0], force[1] + row[r] * G[1], force[2] + row[r] * G[2])
        torque = (torque[0] + row[r] * G[3], torque[1] + row[r] * G[4], torque[2] + row[r] * G[5])
    R = ws.rotation[0, b]
    about_centre, lever = turned(R, torque), cross(turned(R, anchor), force)
    for k in range(3):
        out[k] = force[k]
        out[3 + k] = about_centre[k] - lever[k]


@njit
def solve_nodes(plan, ws, scratch, anchor, load, bend, nodes, acceleration, reaction, held):
    """Accelerations and reactions at T nodes; everything in kernel order.

    ``scratch``: row_cluster, basis, sums of `take_smallest`. ``anchor`` (nj, 3): of each joint on its
    second body, body axes. ``load`` (T or 1, nb, 6): external, without gravity. ``bend`` (T, nh):
    second time derivative of the aims of HELD rows. ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity
    (T, nb, 6). Outputs: ``acceleration`` (T, nb, 6), world and body; ``reaction`` (T, nj, 6), world force and
    torque about the anchor; ``held`` (T, nh), their efforts.
    """
    row_cluster, basis, sums = scratch
    position, quat, velocity = nodes
    body, row = ws.increment_body, ws.increment_row
    for node in range(position.shape[0]):
        external = load[min(node, load.shape[0] - 1)]
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(4):
                ws.quat[0, i, k] = quat[node, i, k]
            J, w = plan.inertia[i], velocity[node, i, 3:]
            gyroscopic = cross(w, turned(J, w))
            for k in range(3):
                body[i, k] = plan.mass[i] * plan.gravity[k] + external[i, k]
                body[i, 3 + k] = external[i, 3 + k] - gyroscopic[k]
        place_anew(plan, ws, 0)
        quadratic_terms(plan, ws.position[0], ws.rotation[0], velocity[node], ws.row_near, row)
        for r in range(row.size):
            row[r] = -row[r]
        for h in range(plan.held_row.size):
            row[plan.held_row[h]] += bend[node, h]
        mass_pivots(plan, ws.D)
        solve_newton(plan, ws, body, row, 0, 0)
        take_smallest(plan, ws, row_cluster, basis, sums, row)
        for i in range(plan.mass.size):
            for k in range(6):
                acceleration[node, i, k] = body[i, k]
        for j in range(plan.side.shape[0]):
            _wrench(plan, ws, j, anchor[j], row, reaction[node, j])
        for h in range(plan.held_row.size):
            held[node, h] = row[plan.held_row[h]]
