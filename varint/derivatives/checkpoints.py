"""Checkpoints of a run, each in one piece: their many small arrays would take twice the memory of their numbers."""

from collections.abc import Mapping

import numpy as np


class Packing:
    """Packing of the checkpoints of a run: they all have the arrays of the first one."""

    def __init__(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        self.arrays = [(name, array.dtype, array.shape) for name, array in checkpoint.items()]
        self.size = sum(array.nbytes for array in checkpoint.values())  # bytes

    def pack(self, checkpoint: Mapping[str, np.ndarray]) -> bytes:
        """Return the arrays of ``checkpoint`` as bytes."""
        return b"".join(checkpoint[name].tobytes() for name, _, _ in self.arrays)

    def unpack(self, packed: bytes) -> dict[str, np.ndarray]:
        """Return the arrays by name of a checkpoint that was ``packed`` by `pack`; read-only."""
        arrays, place = {}, 0
        for name, dtype, shape in self.arrays:
            count = int(np.prod(shape, dtype=int))
            arrays[name] = np.frombuffer(packed, dtype, count, place).reshape(shape)
            place += count * dtype.itemsize
        return arrays
