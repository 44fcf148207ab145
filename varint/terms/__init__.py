"""Terms of a step, a folder each: its arrays, its compiled functions and its part of the reduced formulation.

All else calls a term by what it does, through three modules here: kernels/term_rows.py (its rows and its state at a
pose), kernels/term_events.py (its events in a step, and their derivatives) and reduced_events.py (the same in reduced
coordinates). They list the operations of all terms: hard limits, and hard contacts.
"""
