"""Steps of bodies that hold deformable bodies."""
