"""Mechanisms of the catalogue whose constraints are all equations of poses.

Those that roll are checked in test_rolling.py, those that touch in test_touching_mechanisms.py.
"""

import varint as vi


def _with(trait):
    """Names of mechanisms that have forces with a trait of varint/model/known_forces.py."""
    return [
        name
        for name in vi.mechanisms.NAMES
        if any(trait in traits for traits in getattr(vi.mechanisms, name)().force_traits)
    ]


TOUCHING = _with("contacts")
ROLLING = _with("rolling")
HOLONOMIC = [name for name in vi.mechanisms.NAMES if name not in {*TOUCHING, *ROLLING}]
