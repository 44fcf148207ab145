"""Strong dissipation in a step: efforts by the rates at its end."""
