"""Errors, checks of values from users, displays, atomic writes, and compilation by numba; all rooms stand on it."""
