"""MJCF, the files of MuJoCo: reading, repair and writing."""
