"""Mechanisms as environments of Gymnasium, under their public name; see `varint.extras.gym`."""

from varint.extras.gym import make, make_vector

__all__ = ["make", "make_vector"]
