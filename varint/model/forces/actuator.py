"""An actuator that follows its command with a delay."""

from collections.abc import Callable
from dataclasses import dataclass, field

from varint.model.arrays import Values
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import register
from varint.model.forces.commanded import Commanded
from varint.model.forces.law import Law


def _first_order(input: float, state: float, gain: float, time_constant: float) -> tuple[float, ...]:
    return gain * state, 0.0, 0.0, gain, (input - state) / time_constant, 0.0, 0.0, -1.0 / time_constant


@register
@dataclass(frozen=True, eq=False)
class FirstOrderActuator(Commanded, AlongCoordinate):
    """An effort ``gain`` a at a joint coordinate; ``time_constant`` da/dt = ``command`` - a, a = 0 at the start.

    ``gain``: N m or N; ``time_constant``: s; ``command``: a number, one a node, or a function, see `Motor`.
    The activation a is in ``traj.law_state``.
    """

    gain: float = field(kw_only=True)
    time_constant: float = field(kw_only=True)
    command: float | Values | Callable = field(kw_only=True)

    law = Law("first-order actuator", _first_order)
    command_name = "command"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(gain="any", time_constant="positive")
