"""Distance and depth of convex polyhedra by the hull of their Minkowski difference, without features."""

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, QhullError


def signed_distance(P, Q):
    """Distance of the hulls of points (n, 3), (m, 3); where they overlap less the depth."""
    differences = (P[:, None] - Q[None]).reshape(-1, 3)
    try:
        deepest = ConvexHull(differences).equations[:, 3].max()
        if deepest <= 0.0:
            return deepest
    except QhullError:  # two lines, a line and a point, two points
        pass
    weight = 1e3 * np.abs(differences).max()  # of the sum of the shares, which is one
    shares, _ = nnls(
        np.vstack([differences.T, np.full(len(differences), weight)]), np.array([0, 0, 0, weight]), maxiter=100_000
    )
    return np.linalg.norm(differences.T @ (shares / shares.sum()))
