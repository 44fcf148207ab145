"""Compiled recursions of the reduced formulation: flat functions of arrays, no allocation."""
