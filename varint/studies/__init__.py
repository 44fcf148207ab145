"""Studies of a recorded motion, and of a mechanism by several runs; one file each."""
