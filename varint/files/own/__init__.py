"""Mechanism files of this package: TOML, and mechanisms as plain data."""
