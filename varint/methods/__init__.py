"""Methods that carry a problem through time: variational in maximal coordinates, and in reduced coordinates."""
