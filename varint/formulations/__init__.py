"""Methods that carry a `Problem` through time: one file per formulation, and rivals registered from outside.

A file here is named after its formulation and registers one `Method`; it is imported when its name is asked for, since
reduced coordinates are slow to import. `base.py` is the contract.
"""

from varint.formulations.base import Method, method_class, names, register, solve, trajectory_of

__all__ = ["Method", "method_class", "names", "register", "solve", "trajectory_of"]
