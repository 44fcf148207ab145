"""Paths of muscles: lengths, wraps, and mass along them."""
