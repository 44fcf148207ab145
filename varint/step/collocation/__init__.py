"""Lobatto IIIA-IIIB collocation steps of order 4 to 10."""
