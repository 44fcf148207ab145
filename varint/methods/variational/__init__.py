"""The variational integrators: schemes, loads and the march over nodes."""
