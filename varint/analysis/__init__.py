"""What a trajectory tells: energy, momentum, drift."""
