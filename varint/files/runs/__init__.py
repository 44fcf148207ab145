"""Run files: HDF5, written as the run goes."""
