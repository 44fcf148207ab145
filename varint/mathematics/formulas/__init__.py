"""Functions that users write in Python, as lists of operations that compiled code evaluates with exact derivatives."""
