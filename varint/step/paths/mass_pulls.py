"""Mass along paths at one instant: momenta of the points of a path, and the derivative of its energy by their places.

With the places p and velocities u of its points, a path of straight segments has the kinetic energy
T(p, u) = 1/2 int m |w|^2 dalpha, w the velocity of the particle at the fraction alpha (paths/masses.py). A particle on
segment k, at b = (alpha - s_k) / (s_k+1 - s_k), has

    w = (1 - b) u_k + b u_k+1 - t_k ((1 - b) v_k + b v_k+1)
    v_j = c'_j - s_j l',    c'_j = sum_{k<j} t_k . (u_k+1 - u_k)

so that T depends on p by the unit vectors t_k and the fractions s_j alone: in w, and as bounds of the segments.
"""

from varint.base.numba import njit
from varint.step.paths.masses import density_of


@njit
def find_pulls(plan, ws, pulls, p, count, pose):
    """Write dT/dp of the points of path p to ``pulls.pull`` (points, 3), N, world; after `masses.find_momenta`.

    Scratch: ``pulls.by_direction`` (points, 3), the derivatives by t_k, ``pulls.by_slip`` (points,), by v_j, and
    ``pulls.by_fraction`` (points,), by s_j.
    """
    table, work = plan.massive_paths, ws.massive_paths
    first, last, t, s, u = table.first[p], table.first[p + 1] - 1, work.t[pose], work.s[pose], work.shift
    tau, by_slip, by_s = pulls.by_direction, pulls.by_slip, pulls.by_fraction
    out, length = pulls.pull, work.length[pose, p]
    for n in range(first, last + 1):
        by_slip[n] = by_s[n] = 0.0
        for c in range(3):
            tau[n, c] = out[n, c] = 0.0
    for m in range(count):
        n, b = first + work.segment[m, 0], work.part[m, 0]
        slip, grown = (1.0 - b) * work.slip[n] + b * work.slip[n + 1], work.slip[n + 1] - work.slip[n]
        along = by_b = 0.0
        for c in range(3):
            force = work.push[m, c]
            tau[n, c] -= slip * force
            along += force * t[n, c]
            by_b += force * (u[n + 1, c] - u[n, c] - grown * t[n, c])
        by_b /= s[n + 1] - s[n]
        by_slip[n] -= (1.0 - b) * along
        by_slip[n + 1] -= b * along
        by_s[n] -= (1.0 - b) * by_b
        by_s[n + 1] -= b * by_b
    if table.lumped[p] == 0:
        _move_bounds(plan, ws, by_s, p, pose)
    rate = total = shared = 0.0  # of the length; sums of the derivatives by c'_j
    for n in range(first, last):
        for c in range(3):
            rate += t[n, c] * (u[n + 1, c] - u[n, c])
    for n in range(first + 1, last):  # both ends stay
        by_s[n] -= rate * by_slip[n]
        total, shared = total + by_slip[n], shared + s[n] * by_slip[n]
    spread = mean = 0.0
    for n in range(first + 1, last):
        spread, mean = spread + by_s[n], mean + s[n] * by_s[n]
    for n in range(first, last):
        if n > first:
            total, spread = total - by_slip[n], spread - by_s[n]
        by_rate, by_size, size, along = total - shared, (spread - mean) / length, (s[n + 1] - s[n]) * length, 0.0
        for c in range(3):
            tau[n, c] += by_rate * (u[n + 1, c] - u[n, c])
            along += tau[n, c] * t[n, c]
        for c in range(3):
            force = by_size * t[n, c] + (tau[n, c] - along * t[n, c]) / size
            out[n + 1, c] += force
            out[n, c] -= force


@njit
def _move_bounds(plan, ws, by_s, p, pose):
    """Add the energy gained where the bound of two segments of path p moves to ``by_s`` (points,)."""
    table, work = plan.massive_paths, ws.massive_paths
    t, s, u = work.t[pose], work.s[pose], work.shift
    for n in range(table.first[p] + 1, table.first[p + 1] - 1):
        if not table.belly[p, 0] < s[n] < table.belly[p, 1]:
            continue
        for c in range(3):
            before, after = u[n, c] - work.slip[n] * t[n - 1, c], u[n, c] - work.slip[n] * t[n, c]
            by_s[n] += 0.5 * density_of(table, p) * (before * before - after * after)
