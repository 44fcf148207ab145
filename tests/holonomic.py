"""Mechanisms of the catalogue whose constraints are all on poses: the others are checked in test_rolling.py."""

import varint as vi

HOLONOMIC = [
    name
    for name in vi.mechanisms.NAMES
    if not any("rolling" in traits for traits in getattr(vi.mechanisms, name)().force_traits)
]
