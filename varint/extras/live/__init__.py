"""Pages that this machine serves to itself, and the mechanism that one of them steps."""
