"""Hard limits: measures that stay on one side, with impacts, contact and release (docs/theory.md section 11)."""
