"""Directional derivatives of the inverse dynamics tau(q, dq, ddq) = J^T (M (J ddq + Jdot dq) - f): exact, O(n) each.

Along (u, du, ddu), the changes of q, dq and ddq, the nodes turn and shift by (a, b) = J u, and S with its node,
dS = a x S, and F (dS/dr . u) more for nodes with a chart. `forward` carries the changes of twists and accelerations
from the root to the leaves, `change_needed` makes those of the wrenches, `backward` brings them home.
"""

from varint._numba import njit
from varint.kernels.gauges import cross, turned, turned_back
from varint.kernels.products import ZERO3, three
from varint.kernels.rotation import less, plus
from varint.redmax.kernels.kinematics import BALL, chart_twists, size_of, unit


@njit
def own_motion(kind, column, S, rates, own):
    """``own`` (nl, 6): S rates of each node."""
    for i in range(kind.size):
        own[i] = 0.0
        for n in range(column[i], column[i] + size_of(kind[i])):
            for m in range(6):
                own[i, m] += S[n, m] * rates[n]


@njit
def forward(
    parent, kind, sign, column, arm, stage, product, q, rates, second, F, x, S, twist, acceleration, own, own_second,
    u, du, ddu, pose, change, change_second,
):  # fmt: skip
    """Changes of poses (turn, shift), twists and accelerations of the nodes, (nl + 1, 6) each, the world's zero.

    ``own``, ``own_second`` (nl, 6): S dq and S ddq of each node.
    """
    for i in range(parent.size):
        p, k = parent[i], column[i]
        r, ap, bp = less(x[i], x[p]), pose[p], pose[p, 3:]
        w, wp, alpha = twist[i], twist[p], acceleration[p]
        # pose
        shift = cross(ap, r)
        size = size_of(kind[i])
        for m in range(3):
            pose[i, m], pose[i, 3 + m] = ap[m], bp[m] + shift[m]
        for n in range(k, k + size):
            for m in range(6):
                pose[i, m] += S[n, m] * u[n]
        a = (pose[i, 0], pose[i, 1], pose[i, 2])
        dr = less(pose[i, 3:], bp)
        # S dq and S ddq + Sdot dq
        o_w, o_v = (own[i, 0], own[i, 1], own[i, 2]), (own[i, 3], own[i, 4], own[i, 5])
        do_w, do_v = cross(a, o_w), cross(a, o_v)
        dp_w, dp_v = cross(a, own_second[i]), cross(a, own_second[i, 3:])
        for n in range(k, k + size):
            do_w = (do_w[0] + S[n, 0] * du[n], do_w[1] + S[n, 1] * du[n], do_w[2] + S[n, 2] * du[n])
            do_v = (do_v[0] + S[n, 3] * du[n], do_v[1] + S[n, 4] * du[n], do_v[2] + S[n, 5] * du[n])
            dp_w = (dp_w[0] + S[n, 0] * ddu[n], dp_w[1] + S[n, 1] * ddu[n], dp_w[2] + S[n, 2] * ddu[n])
            dp_v = (dp_v[0] + S[n, 3] * ddu[n], dp_v[1] + S[n, 4] * ddu[n], dp_v[2] + S[n, 5] * ddu[n])
        if kind[i] >= BALL:
            here, rate, along = three(q, k, size), three(rates, k, size), three(u, k, size)
            bent = chart_twists(kind[i], sign[i], product, stage[i], arm[i], F[i], here, rate, rate, along)
            extra, first, more = bent[1], bent[2], bent[3]
            pairs = ((three(second, k, size), along), (rate, three(du, k, size)), (three(du, k, size), rate))
            for pair in pairs:
                part = chart_twists(kind[i], sign[i], product, stage[i], arm[i], F[i], here, pair[0], pair[1], ZERO3)[1]
                more = plus(more[0], part[0]), plus(more[1], part[1])
            do_w, do_v = plus(do_w, first[0]), plus(do_v, first[1])
            dp_w = plus(dp_w, plus(more[0], cross(a, extra[0])))
            dp_v = plus(dp_v, plus(more[1], cross(a, extra[1])))
        # twist
        dwp, dvp = (change[p, 0], change[p, 1], change[p, 2]), (change[p, 3], change[p, 4], change[p, 5])
        dw = plus(dwp, do_w)
        dv = plus(plus(dvp, cross(dwp, r)), plus(cross(wp, dr), do_v))
        # Sdot dq = w x (S dq), of a slide in its linear part alone; there S dq has no angular part
        dp_w = plus(dp_w, plus(cross(dw, o_w), cross(w, do_w)))
        dp_v = plus(dp_v, plus(cross(dw, o_v), cross(w, do_v)))
        # acceleration
        dap = (change_second[p, 0], change_second[p, 1], change_second[p, 2])
        turn = plus(cross(dap, r), cross(alpha, dr))
        parting = plus(cross(dwp, less(w[3:], wp[3:])), cross(wp, less(dv, dvp)))
        for m in range(3):
            change[i, m], change[i, 3 + m] = dw[m], dv[m]
            change_second[i, m] = dap[m] + dp_w[m]
            change_second[i, 3 + m] = change_second[p, 3 + m] + turn[m] + parting[m] + dp_v[m]


@njit
def change_needed(mass, inertia, F, twist, acceleration, pose, change, change_second, wrench):
    """Changes of the wrenches (torque, force) that the nodes' motions need, (nl + 1, 6)."""
    for i in range(mass.size):
        f = wrench[i]
        f[:] = 0.0
        if mass[i] == 0.0:
            continue
        R, J, a = F[i], inertia[i], pose[i]
        w, alpha = turned_back(R, twist[i]), turned_back(R, acceleration[i])
        dw = turned_back(R, less(change[i], cross(a, twist[i])))
        dalpha = turned_back(R, less(change_second[i], cross(a, acceleration[i])))
        Jw = turned(J, w)
        torque = turned(R, plus(turned(J, alpha), cross(w, Jw)))
        own = plus(turned(J, dalpha), plus(cross(dw, Jw), cross(w, turned(J, dw))))
        torque = plus(turned(R, own), cross(a, torque))
        for m in range(3):
            f[m] = torque[m]
            f[3 + m] = mass[i] * change_second[i, 3 + m]
    wrench[mass.size] = 0.0


@njit
def backward(parent, kind, sign, column, arm, stage, product, q, u, F, x, S, total, pose, wrench, out):
    """Changes ``out`` (nq,) of the efforts S^T total; ``total`` (nl + 1, 6): wrenches of all that hangs on a node.

    ``wrench`` (nl + 1, 6): changes of the nodes' own, which this overwrites.
    """
    for i in range(parent.size - 1, -1, -1):
        p, k, f, t = parent[i], column[i], wrench[i], total[i]
        a = pose[i]
        torque, force, size = (t[0], t[1], t[2]), (t[3], t[4], t[5]), size_of(kind[i])
        for n in range(k, k + size):
            turn, shift = cross(a, S[n]), cross(a, S[n, 3:])
            if kind[i] >= BALL:
                own = chart_twists(
                    kind[i], sign[i], product, stage[i], arm[i], F[i], three(q, k, size), unit(n - k),
                    three(u, k, size), ZERO3,
                )[1]  # fmt: skip
                turn, shift = plus(turn, own[0]), plus(shift, own[1])
            out[n] = 0.0
            for m in range(6):
                out[n] += S[n, m] * f[m]
            for m in range(3):
                out[n] += turn[m] * torque[m] + shift[m] * force[m]
        r, dr = less(x[i], x[p]), less(pose[i, 3:], pose[p, 3:])
        lever = plus(cross(r, f[3:]), cross(dr, t[3:]))
        for m in range(3):
            wrench[p, m] += f[m] + lever[m]
            wrench[p, 3 + m] += f[3 + m]
