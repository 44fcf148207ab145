"""Prescribed motion of a joint coordinate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.model.arrays import Values
from varint.model.forces.base import register
from varint.model.forces.commanded import Commanded
from varint.model.forces.driven import Driven


@register
@dataclass(frozen=True, eq=False)
class PrescribedMotion(Driven):
    """Moves a joint coordinate along ``position``, m or rad, or at the constant ``rate``, m/s or rad/s.

    ``position``: a number, one a node (steps + 1,), with a cubic spline in between, or a function ``f(t)`` of the time
    (s) alone, called within the run. A run must start there; angles may go on past pi. ``rate``: a number, in place of
    a position; the coordinate goes on from where the start of each run has it. Beside a position that is a function,
    ``rate`` and ``acceleration`` may be functions of time as well, its derivatives; those that are not given come from
    differences. The speed at the start is the motion's own: it replaces that of the start, and a ReplacedRateWarning
    reports a start with another rate than zero or that of the motion. Its effort (N or N m, on body b) is the one that
    the motion requires.
    """

    position: float | Values | Callable | None = field(default=None, kw_only=True)
    rate: float | Callable | None = field(default=None, kw_only=True)
    acceleration: Callable | None = field(default=None, kw_only=True)

    command_name = "position"

    def __post_init__(self) -> None:
        derivatives = [value for value in (self.rate, self.acceleration) if value is not None]
        if callable(self.position) and all(callable(value) for value in derivatives):
            super().__post_init__()
            return
        if self.acceleration is not None:
            raise MechanismError(
                f"acceleration of {self.label} must be a function, beside a position that is one,"
                f" got {shown(self.acceleration)} and the position {shown(self.position)}"
            )
        if self.rate is None and self.position is not None:
            super().__post_init__()
            return
        super(Commanded, self).__post_init__()  # there is no command
        if self.position is not None or self.rate is None:
            both = "both" if self.rate is not None else "neither"
            raise MechanismError(f"{self.label} needs position= or rate=, one of the two, got {both}")
        self._check(rate="any")

    @property
    def constant_rate(self) -> float | None:
        """Return ``rate`` if it is a number."""
        return None if callable(self.rate) else self.rate

    @property
    def derivatives(self) -> Mapping[str, Callable]:
        derivatives = {"rate": self.rate, "acceleration": self.acceleration}
        return {name: function for name, function in derivatives.items() if callable(function)}
