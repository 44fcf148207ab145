"""Points of a line that is longer than the distance of its ends, on an arc."""

import numpy as np

from varint.base.errors import MechanismError

LONGEST_LINE = 1e8  # over the distance of its ends


def sagging_points(
    a: np.ndarray, b: np.ndarray, rest: float, elements: int, down: np.ndarray, label: str
) -> np.ndarray:
    """Return points (n + 1, 3) on an arc in the plane of the chord and ``down``, chords of length ``rest`` apart.

    A line that is too short for that is straight. Raises MechanismError.
    """
    chord = b - a
    distance = float(np.linalg.norm(chord))
    along = np.linspace(0.0, 1.0, elements + 1)[:, None]
    if elements * rest <= distance * (1.0 + 1e-12):
        return a + along * chord
    if elements * rest > LONGEST_LINE * distance:
        raise MechanismError(f"length of {label} must be at most {LONGEST_LINE:g} times the distance of its points")
    x = chord / distance
    y = down - (down @ x) * x
    if np.linalg.norm(y) < 1e-6:
        raise MechanismError(f"down of {label} must not be along the line between its points")
    y = y / np.linalg.norm(y)
    # n chords that turn by g each reach rest sin(n g / 2) / sin(g / 2)
    reach = lambda g: rest * np.sin(0.5 * elements * g) / np.sin(0.5 * g) - distance  # noqa: E731
    from scipy.optimize import brentq  # takes long to import

    g = brentq(reach, 1e-9 / elements, (2.0 - 1e-9) * np.pi / elements)
    direction = g * (0.5 * (elements - 1) - np.arange(elements))
    steps = rest * (np.cos(direction)[:, None] * x + np.sin(direction)[:, None] * y)
    points = a + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    points[-1] = b
    return points
