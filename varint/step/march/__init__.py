"""Steps that Python calls, and whole short runs, one call each."""
