"""Energies and momenta at nodes, and the energy balance of each step."""
