"""Compiled algebra on unit quaternions and 3-vectors (Hamilton, scalar first, body to world)."""
