"""Arrays of strong dissipation in a run (choice.py, end_rates.py), of its tape and of its gradient."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Int1

MOST_EFFORTS = 256  # that are compared with each other in each step


@dataclass(frozen=True, eq=False)
class Damping(CompiledRecord, writable=True):
    """Dissipative efforts of a run that may be strong, and in which way those of a stage act.

    Efforts k are those of a law, or along and about an axis of the resistance on a body. The arrays of a plan without
    laws and loads are empty.
    """

    active: Annotated[Bool1, "1"]  # whether any of them may be strong in the run
    count: Annotated[Int1, "1"]  # of the efforts to choose from in each stage
    law: Annotated[Int1, "damped"]  # its number, -1 for one of a load
    sum: Annotated[Int1, "damped"]  # along which it acts, -1 for one of a load
    load: Annotated[Int1, "damped"]  # its number, -1 for one of a law
    axis: Annotated[Int1, "damped"]  # of a load: 0 to 5
    # the largest against its rate, N s/m or N m s/rad; of a load at its speed; 0 of a law where it depends on its value
    slope: Annotated[Float1, "damped"]
    value: Annotated[Float1, "damped"]  # scratch: of its sum, at the start of a stage
    size: Annotated[Float2, "damped damped"]  # scratch: rates by unit impulses, then h c_k |Y_jk|
    now: Annotated[Float1, "damped"]  # scratch: slopes of a stage
    total: Annotated[Float1, "damped"]  # scratch: their sum over efforts along one sum
    alone: Annotated[Bool1, "damped"]  # scratch: whether it is strong by itself
    bends: Annotated[Bool1, "damped"]  # whether its slope depends on its rate
    strongest: Annotated[Float1, "1"]  # h c / m in a step of a run, by inertias of bodies without joints
    longest_share: Annotated[
        Float1, "1", STATE
    ]  # see relaxing.py: share of a step that the next sub-step may have, 0 at a start
    # of a stage
    lead: Annotated[Float1, "damped_laws"]  # share of half a step by which the rate that a law takes is ahead
    load_lead: Annotated[Float1, "damped_loads"]
    start: Annotated[Float2, "damped_bodies 6"]  # velocities at its start, m/s, world, and rad/s, body
    ahead: Annotated[Float2, "damped_bodies 6"]  # scratch: those that a load takes
    gradient: Annotated[Float3, "damped_measures 2 6"]  # of the measures with a lead, at its start
    start_rate: Annotated[Float1, "damped_sums"]  # rates of their sums at its start
    by_start: Annotated[Float1, "damped_sums"]  # derivatives of efforts by these


@dataclass(frozen=True, eq=False)
class DampingTape(CompiledRecord, writable=True):
    """Contents of `Damping` in the stages that are kept."""

    active: Annotated[Bool1, "1"]
    lead: Annotated[Float2, "kept damped_laws"]
    load_lead: Annotated[Float2, "kept damped_loads"]
    start: Annotated[Float3, "kept damped_bodies 6"]
    target_rate: Annotated[Float2, "kept damped_rows"]  # of constraints at the start of a stage
