"""Robots in XML: what readers and writers of URDF, SDF and MJCF have in common."""
