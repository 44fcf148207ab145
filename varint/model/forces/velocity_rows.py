"""Constraints on velocities."""

from dataclasses import dataclass

from varint.model.forces.base import Force


@dataclass(frozen=True, eq=False)
class VelocityRows(Force):
    """Keeps rates at zero that no value of poses belongs to; some have rows of poses as well, of which it is zero too.

    The velocities of a start are replaced by the nearest that obey.
    """

    constraint = True

    def starts_open(self, value: float) -> str:
        """Return the message if a row of poses has a ``value``, m, other than zero at the start of a run."""
        raise NotImplementedError
