"""Elastic materials and linear tetrahedra: energies, forces and stiffness of deformed meshes."""
