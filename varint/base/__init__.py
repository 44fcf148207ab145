"""Errors, checks of what users pass, displays, atomic writes, and compilation by numba; all other rooms stand on it."""
