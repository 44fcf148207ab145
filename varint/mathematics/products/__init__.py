"""Joints that are products of exponentials: poses and twists, their rows, and their coordinates at a pose; compiled."""
