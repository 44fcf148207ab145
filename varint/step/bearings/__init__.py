"""Friction of joints of one coordinate, from the load that they transmit (docs/theory.md section 11)."""
