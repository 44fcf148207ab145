"""Configurations of a linkage without dynamics, with their pictures: sweeps and assembly modes."""
