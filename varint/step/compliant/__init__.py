"""Compliant rows: elements of beams, and joints with a compliance."""
