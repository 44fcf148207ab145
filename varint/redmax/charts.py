"""Rotation vectors past their singularity at 2 pi: the same rotation by a shorter vector (DIFF section 2.4.8)."""

import numpy as np

from varint.redmax.kernels.rotation import right_jacobian

LONGEST = 1.5 * np.pi  # rad


def shorten(balls, q, rates) -> bool:
    """Take rotation vectors r in columns ``balls`` to (1 - 2 pi / |r|) r while longer than 1.5 pi, with their rates.

    In place; returns whether any was. S(new) dr_new = S(old) dr_old.
    """
    changed = False
    for k in balls:
        r = q[k : k + 3]
        if np.sqrt(r @ r) <= LONGEST:
            continue
        w = _matrix(r) @ rates[k : k + 3]
        while np.sqrt(r @ r) > LONGEST:
            r *= 1.0 - 2.0 * np.pi / np.sqrt(r @ r)
        rates[k : k + 3] = np.linalg.solve(_matrix(r), w)
        changed = True
    return changed


def _matrix(r):
    S = np.empty((3, 3))
    right_jacobian(*r, S)
    return S
