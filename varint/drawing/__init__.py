"""Pictures of a mechanism at one instant, and what all pictures are drawn with; matplotlib."""
