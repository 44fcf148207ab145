"""The motion between recorded nodes: Hermite polynomials of positions and rotation vectors."""

import numpy as np

from varint.model.rotation_vectors import left_jacobian, quat_from_vector, quat_product, turned, vector_from_quat
from varint.results.record import HeldNodes, Nodes

LOW_ORDER = 2
STENCILS = ((LOW_ORDER, 2), (6, 4))  # (highest order of the method, number of nodes)
LARGEST_STENCIL = 6
LARGEST_TURN = 2.5  # rad, within a stencil: rotation vectors are unique up to pi
EXTREMES = 0.5 - np.sqrt(1 / 12), 0.5 + np.sqrt(1 / 12)  # of an interval: where the error of a cubic's slope is largest
APART = 0.5  # of a gap: so far from it is a node that tells how well the nodes of the gap determine the motion in it
NEAREST = 0.1  # of the largest gap of a stencil: closer nodes amplify round-off
LINEAR = ("work", "command", "law_state", "load")


def interpolated(nodes: Nodes, times: np.ndarray, order: int) -> HeldNodes:
    """Return the motion at ``times`` (K,), s, within the times of ``nodes``; ``order``: of the run's method.

    Polynomials of positions and rotation vectors match values and rates at every node of a stencil; velocities are
    their derivatives. Stencils on which a body turns far, or with nodes that nearly coincide, have two nodes.
    """
    t = nodes["t"]
    wanted = next((count for highest, count in STENCILS if order <= highest), LARGEST_STENCIL)
    before = _before(t, times)
    chosen = _stencils(before, min(wanted, len(t)), len(t))
    r, r_rate = _turns(nodes["quat_wxyz"], nodes["angular_velocity"], before, chosen)
    usable = _usable(t[chosen], r, chosen - before[:, None])
    if not usable.any():
        return interpolated(nodes, times, LOW_ORDER)
    if not usable.all():
        return _joined(
            usable, *(interpolated(nodes, times[of], n) for of, n in ((usable, order), (~usable, LOW_ORDER)))
        )
    values, slopes = _hermite(t[chosen], times)
    x, v = nodes["position"][chosen], nodes["velocity"][chosen]
    turn = _sum(values, r, r_rate)
    arrays = {
        "t": times,
        "position": _sum(values, x, v),
        "quat_wxyz": quat_product(nodes["quat_wxyz"][before], quat_from_vector(turn)),
        "velocity": _sum(slopes, x, v),
        "angular_velocity": _angular_velocity(turn, _sum(slopes, r, r_rate)),
    }
    if "vertices" in nodes:
        x, v = nodes["vertices"][chosen], nodes["vertex_velocities"][chosen]
        arrays |= {"vertices": _sum(values, x, v), "vertex_velocities": _sum(slopes, x, v)}
    for name in LINEAR:
        if name in nodes:
            arrays[name] = linear(t, nodes[name], times)
    if "unresolved_body" in nodes:
        arrays["unresolved_body"] = nodes["unresolved_body"][
            np.minimum(np.searchsorted(t, times), len(t) - 1)
        ]  # of the node that follows
    return HeldNodes(arrays)


def _usable(t: np.ndarray, turn: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return whether (K,) stencils of nodes at ``t`` (K, count) may be used; true of stencils of two nodes.

    ``turn`` (K, count, nb, 3): rotation vectors from the node that is ``away`` (K, count) = 0 nodes from the first.
    """
    if t.shape[1] <= 2:
        return np.full(len(t), True)
    beside = np.where(np.abs(away) == 1, np.linalg.norm(turn, axis=-1).max(axis=2), 0.0).max(axis=1)
    gaps = np.diff(t, axis=1)
    return (np.abs(away).max(axis=1) * beside <= LARGEST_TURN) & (gaps.min(axis=1) > NEAREST * gaps.max(axis=1))


def _joined(first: np.ndarray, some: HeldNodes, others: HeldNodes) -> HeldNodes:
    """Return the motion with nodes of ``some`` where ``first`` (K,) is true, else of ``others``."""
    arrays = {name: np.empty((len(first), *some[name].shape[1:]), some[name].dtype) for name in some}
    for name, array in arrays.items():
        array[first], array[~first] = some[name], others[name]
    return HeldNodes(arrays)


def predicted_positions(nodes: Nodes, numbers: np.ndarray) -> np.ndarray:
    """Return positions (K, nb, 3), m, that neighbours alone predict at inner nodes ``numbers`` (K,)."""
    t, chosen = nodes["t"], numbers[:, None] + [-1, 1]
    values, _ = _hermite(t[chosen], t[numbers])
    return _sum(values, nodes["position"][chosen], nodes["velocity"][chosen])


def velocity_errors(nodes: Nodes, before: np.ndarray, order: int, jumps: bool) -> np.ndarray:
    """Return the estimated errors of `interpolated` velocities, m/s, and angular velocities, rad/s, (2, K, nb).

    Those between nodes ``before`` (K,) and the next, where the derivative of a cubic polynomial is least accurate. The
    estimate is the difference from the polynomials through one more node, see `_with_further`: the larger difference of
    both sides, or the smaller one where velocities may jump (``jumps``), so that an impact beside the interval does not
    count. Zero where no node is far enough from the others for this.
    """
    t = nodes["t"]
    errors = np.zeros((2, len(before), nodes["position"].shape[1]))
    for share in EXTREMES if len(t) > 2 else ():
        times = t[before] + share * (t[before + 1] - t[before])
        used, of_sides = interpolated(nodes, times, order), np.full((2, *errors.shape), np.nan)
        for side in (0, 1):
            chosen = _with_further(t, before, side)
            usable = (chosen[:, 0] >= 0) & (chosen[:, 2] < len(t))
            gaps = np.diff(t[chosen[usable]], axis=1)
            usable[usable] = gaps.min(axis=1) > NEAREST * gaps.max(axis=1)
            if not usable.any():
                continue
            chosen, middle = chosen[usable], before[usable] + side
            values, slopes = _hermite(t[chosen], times[usable])
            r, r_rate = _turns(nodes["quat_wxyz"], nodes["angular_velocity"], middle, chosen)
            v = _sum(slopes, nodes["position"][chosen], nodes["velocity"][chosen])
            w = _angular_velocity(_sum(values, r, r_rate), _sum(slopes, r, r_rate))
            misses = [v - used["velocity"][usable], w - used["angular_velocity"][usable]]
            of_sides[side][:, usable] = np.linalg.norm(misses, axis=-1)
        errors = np.fmax(errors, np.fmin(*of_sides) if jumps else np.fmax(*of_sides))
    return errors


def _with_further(t: np.ndarray, before: np.ndarray, side: int) -> np.ndarray:
    """Return nodes ``before`` (K,), the next ones, and one more: (K, 3), ascending, -1 or T beyond the ends of the run.

    The third is the nearest on a ``side`` (0: before, 1: after) by at least `APART` of the gap: a nearer one knows no
    more.
    """
    apart, after = APART * (t[before + 1] - t[before]), before + 1
    if side:
        return np.stack([before, after, np.searchsorted(t, t[after] + apart, side="left")], axis=1)
    return np.stack([np.searchsorted(t, t[before] - apart, side="right") - 1, before, after], axis=1)


def _stencils(before: np.ndarray, count: int, total: int) -> np.ndarray:
    """Return the numbers (K, count) of neighbouring nodes, half of them on either side except at the ends of a run."""
    first = np.clip(before - (count // 2 - 1), 0, total - count)
    return first[:, None] + np.arange(count)


def _hermite(t: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (K, count, 2) of values and rates at nodes ``t`` (K, count), of the polynomial and its derivative.

    With Lagrange's polynomials l_j: (1 - 2 (t - t_j) l_j'(t_j)) l_j^2 and (t - t_j) l_j^2.
    """
    count = t.shape[1]
    apart = times[:, None] - t
    lagrange, slope, own_slope = np.ones_like(t), np.zeros_like(t), np.zeros_like(t)
    for j in range(count):
        for k in range(count):
            if k != j:
                gap = t[:, j] - t[:, k]
                slope[:, j] = (slope[:, j] * apart[:, k] + lagrange[:, j]) / gap
                lagrange[:, j] *= apart[:, k] / gap
                own_slope[:, j] += 1 / gap
    square, square_slope = lagrange**2, 2 * lagrange * slope
    factor = 1 - 2 * apart * own_slope
    values = np.stack([factor * square, apart * square], axis=-1)
    slopes = np.stack([factor * square_slope - 2 * own_slope * square, apart * square_slope + square], axis=-1)
    return values, slopes


def _turns(
    quat: np.ndarray, angular_velocity: np.ndarray, before: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation vectors (K, count, nb, 3) from the node before to the stencil's nodes, rad, and their rates."""
    back = quat[before] * [1.0, -1.0, -1.0, -1.0]
    turned = quat_product(back[:, None], quat[chosen])
    vector = vector_from_quat(np.where(turned[..., :1] < 0, -turned, turned))
    rate = np.linalg.solve(left_jacobian(-vector), angular_velocity[chosen][..., None])[..., 0]
    return vector, rate


def _angular_velocity(turn: np.ndarray, turn_rate: np.ndarray) -> np.ndarray:
    """Return the angular velocity in body axes of a rotation vector and its rate: the right Jacobian times the rate."""
    return turned(left_jacobian(-turn), turn_rate)


def _sum(weights: np.ndarray, values: np.ndarray, rates: np.ndarray) -> np.ndarray:
    return np.einsum("kj,kj...->k...", weights[..., 0], values) + np.einsum("kj,kj...->k...", weights[..., 1], rates)


def linear(t: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return values at ``times`` (K,) by linear interpolation of values (T, ...) at ``t`` (T,)."""
    before = _before(t, times)
    after = np.minimum(before + 1, len(t) - 1)
    span = np.where(after > before, t[after] - t[before], 1.0)
    share = ((times - t[before]) / span).reshape(-1, *[1] * (values.ndim - 1))
    return (1 - share) * values[before] + share * values[after]


def _before(t: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the numbers (K,) of the nodes before ``times``."""
    return np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(0, len(t) - 2))
