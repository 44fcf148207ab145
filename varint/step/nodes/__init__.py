"""Efforts, reactions and joint coordinates at recorded nodes."""
