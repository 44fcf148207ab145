"""Hard contacts of bodies with planes of the world, with friction, as a term of a step."""
