"""Files: mechanisms and runs."""
