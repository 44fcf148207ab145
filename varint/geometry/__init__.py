"""Geometry of bodies that meet: pairs of features and their gaps; compiled."""
