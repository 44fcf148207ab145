"""Impacts, contact and release within a step in reduced coordinates: hard stops and hard contacts."""
