"""The arrays of hard limits: in a plan, in a run, on its tape, and the gradient by their numbers."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import Bool1, CompiledRecord, Float1, Float2, Int1, Int2


@dataclass(frozen=True, eq=False)
class Limits(CompiledRecord):
    """Hard limits of measures, each with a row."""

    measure: Int1  # (nl,)
    value: Float1  # (nl,) m or rad
    sign: Float1  # (nl,) side that is forbidden, 1: above, -1: below
    restitution: Float1  # (nl,)
    element: Int1  # (nl,)


@dataclass(frozen=True, eq=False)
class LimitSearch(CompiledRecord, writable=True):
    """The search for the instant of an event (impacts.py): a limit is met, or lets go."""

    any_events: Bool1  # whether a run may have any
    limit: Int1  # number of the limit, -1: none
    trials: Int1  # so far
    impacts: Annotated[Int1, "limits"]  # in this step
    changes: Int1  # of limits that closed or opened in this step
    low: Float1  # share of the step before the event ...
    high: Float1  # ... and after it
    low_value: Float1  # clearances there; of the first -1: not known to be before the event anywhere
    high_value: Float1
    was_beyond: Bool1  # whether the last trial was after it
    push: Annotated[Float1, "limits"]  # forces of closed limits at the end of a trial, over the least that counts
    # of an impact (impact_rows.py)
    taking: Annotated[Bool1, "limits"]  # whether a limit takes part
    was_closed: Annotated[Bool1, "limits"]
    rebound: Annotated[Float1, "limits"]  # m/s or rad/s, of the gap afterwards
    rate: Annotated[Float1, "limits"]  # m/s or rad/s, of the gap before ...
    after: Annotated[Float1, "limits"]  # ... and after
    impulse: Annotated[Float1, "limits"]  # N s or N m s


@dataclass(frozen=True, eq=False)
class LimitTape(CompiledRecord, writable=True):
    """The limits in the stages of a run."""

    closed: Annotated[Int2, "kept limits"]  # 1 for those that are closed, and the gaps at which they are held
    rest_gap: Annotated[Float2, "kept limits"]


@dataclass(frozen=True, eq=False)
class LimitEvents(CompiledRecord, writable=True):
    """The limits in the events of a run, which are their impacts and releases."""

    limit: Annotated[Int1, "events"]
    restitution: Annotated[Float1, "events"]
    together: Annotated[Int1, "events"]  # 1 where several limits have an impact at once
    closed: Annotated[Int2, "events limits"]  # 1 for those that are closed, 2 where they let go in the impact
    rest_gap: Annotated[Float2, "events limits"]


@dataclass(frozen=True, eq=False)
class LimitNumbers(CompiledRecord, writable=True):
    """The gradient by the numbers of limits, see `Limits`."""

    value: Annotated[Float1, "limits"]
    restitution: Annotated[Float1, "limits"]
