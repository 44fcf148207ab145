"""OSIM, the files of OpenSim: joints and muscles."""
