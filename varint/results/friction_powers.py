"""Power of the friction of joints from their load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


def powers_of_friction(motion: RecordedMotion) -> np.ndarray:
    """Return the power (T, forces), W, of friction in joints of one coordinate, zero of other forces; 0.0 without."""
    compiled = motion.mechanism.compiled
    bearings = compiled.plan.bearings
    powers = np.zeros((len(motion.t), len(motion.mechanism.forces)))
    for joint, element in zip(bearings.joint, bearings.element, strict=True):
        name = motion.mechanism.joints[compiled.joints[joint]].name
        powers[:, compiled.force[element]] = motion._dynamics[2][:, element] * motion.rates[name]
    return powers
