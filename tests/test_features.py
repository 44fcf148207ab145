"""Pairs of features: gaps against distances that are searched for, rates against differences."""

import numpy as np
import pytest
from scipy.optimize import minimize

from varint.geometry import features
from varint.geometry.features import locate_features, move_features
from varint.model.rotation_vectors import rotation_matrix

KINDS = ("POINT_POINT", "POINT_PLANE", "POINT_LINE", "LINE_LINE", "CIRCLE_PLANE", "CIRCLE_POINT", "CIRCLE_LINE")


def quaternion(vector):
    angle = np.linalg.norm(vector)
    return np.append(np.cos(angle / 2), vector / angle * np.sin(angle / 2))


def turn(vector):
    return rotation_matrix(quaternion(vector))


def pair(kind, seed, hollow=False):
    rng = np.random.default_rng(seed)
    point, direction, x = rng.standard_normal((3, 2, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    radius = rng.uniform(0.1, 0.3, 2)
    if hollow:
        radius[1] = -8.0
    R = np.array([turn(v) for v in rng.standard_normal((2, 3))])
    if kind == "LINE_LINE":
        normal = np.cross(R[0] @ direction[0], R[1] @ direction[1])
        if normal @ (x[0] + R[0] @ point[0] - x[1] - R[1] @ point[1]) < 0:
            direction[0] *= -1
    if kind == "CIRCLE_LINE":  # the rim faces the line
        e, f = (R[s] @ direction[s] for s in range(2))
        direction[0] *= np.sign((e - (e @ f) * f) @ (x[1] + R[1] @ point[1] - x[0] - R[0] @ point[0]))
        _, normal, A, B = locate_features(features.CIRCLE_LINE, point, direction, radius, *poses(x, R))
        direction[1] *= np.sign(np.dot(normal, np.subtract(A, B)))
    return (getattr(features, kind), point, direction, radius), x, R


def rims(seed):
    """Two rims that face each other from below and from above, with the axes that `locate_features` takes."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, 3))
    R = np.array([turn(v) for v in rng.standard_normal((2, 3))])
    radius, point, direction = rng.uniform(0.1, 0.3, 2), np.zeros((2, 3)), np.zeros((2, 3))
    for s, side in enumerate((1.0, -1.0)):
        axis = np.array([*0.05 * rng.standard_normal(2), side])
        direction[s] = R[s].T @ axis / np.linalg.norm(axis)
        point[s] = R[s].T @ (np.array([-0.8 * side * radius[s], 0.03 * side, -0.02 * side]) - x[s])
    return point, direction, radius, x, R


def poses(x, R):
    return (x[0], np.ascontiguousarray(R[0])), (x[1], np.ascontiguousarray(R[1]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_gaps_are_the_least_distances(kind, seed):
    (number, point, direction, radius), x, R = pair(kind, seed)
    gap, normal, A, B = locate_features(number, point, direction, radius, *poses(x, R))
    P, Q = (x[s] + R[s] @ point[s] for s in range(2))
    e, f = (R[s] @ direction[s] for s in range(2))
    apart = {
        "POINT_POINT": lambda u: np.linalg.norm(P - Q),
        "POINT_LINE": lambda u: np.linalg.norm(P - Q - u[0] * f),
        "LINE_LINE": lambda u: np.linalg.norm(P + u[1] * e - Q - u[0] * f),
    }
    if kind in apart:
        least = minimize(apart[kind], np.zeros(2), tol=1e-14).fun - radius.sum()
        assert gap == pytest.approx(least, abs=1e-7)
    elif kind == "POINT_PLANE":
        assert gap == pytest.approx(f @ (P - Q) - radius.sum(), abs=1e-14)
    else:
        side = np.linalg.svd(e[None])[2][1:]
        angles = np.linspace(0, 2 * np.pi, 100001)
        apart = P + radius[0] * (np.cos(angles)[:, None] * side[0] + np.sin(angles)[:, None] * side[1]) - Q
        if kind == "CIRCLE_LINE":
            apart -= np.outer(apart @ f, f)
        least = (apart @ f).min() if kind == "CIRCLE_PLANE" else np.linalg.norm(apart, axis=1).min()
        assert gap == pytest.approx(least - radius[1], abs=1e-9)
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-14)
    levers = 0.0 if kind.startswith("CIRCLE") else radius[0], radius[1]
    touching = np.array(A) - levers[0] * np.array(normal), np.array(B) + levers[1] * np.array(normal)
    assert touching[0] - touching[1] == pytest.approx(gap * np.array(normal), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("flip", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_rims_that_face_each_other(seed, flip):
    """Their nearest points are apart square to both, and the rates equal differences."""
    point, direction, radius, x, R = rims(seed)
    direction[1] *= flip  # the two places where they cross
    args = features.CIRCLE_CIRCLE, point, direction, radius
    gap, normal, A, B = locate_features(*args, *poses(x, R))
    normal, away = np.array(normal), np.subtract(A, B)
    assert away == pytest.approx(gap * normal, abs=1e-12)
    tangents = []
    for s, touching in enumerate((A, B)):
        arm, axis = touching - (x[s] + R[s] @ point[s]), R[s] @ direction[s]
        assert (np.linalg.norm(arm), arm @ axis) == pytest.approx((radius[s], 0.0), abs=1e-12)
        tangents.append(np.cross(axis, arm))
        assert tangents[-1] @ normal == pytest.approx(0.0, abs=1e-10)
    assert np.cross(*tangents) @ normal > 0.0
    assert normal[2] < 0.0  # out of the second, which is above
    v, w = np.random.default_rng(seed + 50).standard_normal((2, 2, 3))
    rates = move_features(*args, *poses(x, R), *[(tuple(v[s]), tuple(w[s])) for s in range(2)])
    ends = []
    for h in (-1e-6, 1e-6):
        there = np.array([turn(h * w[s]) @ R[s] for s in range(2)])
        ends.append(locate_features(*args, *poses(x + h * v, there)))
    for found, before, after in zip(rates, ends[0][1:], ends[1][1:], strict=True):
        assert np.array(found) == pytest.approx(np.subtract(after, before) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("kind", ["POINT_POINT", "POINT_LINE"])
def test_the_gap_inside_of_a_hollow_body(kind):
    (number, point, direction, radius), x, R = pair(kind, 1, hollow=True)
    gap, normal, A, B = locate_features(number, point, direction, radius, *poses(x, R))
    distance = np.linalg.norm(np.subtract(A, B))
    assert gap == pytest.approx(8.0 - radius[0] - distance, abs=1e-13)
    assert np.array(normal) == pytest.approx(np.subtract(B, A) / distance, abs=1e-14)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_rates_equal_differences(kind, seed, hollow):
    """Also the rate of the gap, which is that of the points that touch along the normal."""
    (number, point, direction, radius), x, R = pair(kind, seed, hollow)
    v, w = np.random.default_rng(seed + 50).standard_normal((2, 2, 3))
    step, ends = 1e-6, []
    for h in (-step, step):
        there = np.array([turn(h * w[s]) @ R[s] for s in range(2)])
        ends.append(locate_features(number, point, direction, radius, *poses(x + h * v, there)))
    motions = [(tuple(v[s]), tuple(w[s])) for s in range(2)]
    rates = move_features(number, point, direction, radius, *poses(x, R), *motions)
    for found, before, after in zip(rates, ends[0][1:], ends[1][1:], strict=True):
        assert np.array(found) == pytest.approx(np.subtract(after, before) / (2 * step), rel=1e-6, abs=1e-7)
    _, normal, A, B = locate_features(number, point, direction, radius, *poses(x, R))
    at = [v[s] + np.cross(w[s], np.array((A, B)[s]) - x[s]) for s in range(2)]
    levers = np.array([0.0 if kind.startswith("CIRCLE") else -radius[0], radius[1]])
    at = [at[s] + np.cross(w[s], levers[s] * np.array(normal)) for s in range(2)]
    rate = (ends[1][0] - ends[0][0]) / (2 * step)
    assert np.array(normal) @ (at[0] - at[1]) == pytest.approx(rate, rel=1e-6, abs=1e-7)
