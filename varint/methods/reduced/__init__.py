"""Reduced coordinates (REDMAX): the same mechanism in the coordinates of its joints."""
