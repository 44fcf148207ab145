"""Compiled functions of hard contacts."""
