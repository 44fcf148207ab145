"""A run: problem, method and recording, the procedure that carries it out, and the trajectory that it returns."""
