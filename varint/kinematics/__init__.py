"""Motion without forces: joint coordinates, closed configurations, sweeps, mobility."""
