"""The arrays and settings of a recorded run as attributes, which cannot be set."""

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.results.by_name import NamedColumns
from varint.results.record import Nodes, Record

if TYPE_CHECKING:
    from varint.results.since import Since


def _recorded(name: str) -> Any:
    """Return the attribute that is the array ``name`` of the nodes."""
    return property(lambda trajectory: trajectory.nodes[name], doc="See the class.")


def _of_record(name: str) -> Any:
    """Return the attribute that is the attribute ``name`` of the record."""
    return property(operator.attrgetter(f"record.{name}"), doc="See the class.")


class RecordedArrays:
    """The record of a run with its arrays and settings as attributes, see `RecordedMotion`."""

    if TYPE_CHECKING:
        record: Record
        _counted: Mapping[str, np.ndarray] | None
        _since: "Since | None"

    def __init__(
        self, record: Record, counted: Mapping[str, np.ndarray] | None = None, since: "Since | None" = None
    ) -> None:
        """Make a motion of a record; ``counted``: joint name to coordinates whose turns the nodes continue.

        ``since``: what the nodes before these left.
        """
        self.__dict__.update(record=record, _counted=counted, _since=since)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} cannot be set: trajectory attributes are read-only")

    def __getstate__(self) -> dict[str, object]:
        return {"record": self.record, "_counted": self._counted, "_since": self._since}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    mechanism: Mechanism = _of_record("mechanism")
    nodes: Nodes = _of_record("nodes")
    settings: dict = _of_record("settings")
    status: int = _of_record("status")
    message: str = _of_record("message")
    wall_time: float = _of_record("wall_time")
    steps: int = _of_record("counts.steps")
    newton_iterations: int = _of_record("counts.newton_iterations")
    substeps: int = _of_record("counts.substeps")
    t = _recorded("t")
    position = _recorded("position")
    quat_wxyz = _recorded("quat_wxyz")
    velocity = _recorded("velocity")
    angular_velocity = _recorded("angular_velocity")
    command = _recorded("command")
    law_states = _recorded("law_state")

    @property
    def work(self) -> np.ndarray:
        """Return the work (T, forces), J, since the start of the run, in the order of ``mechanism.forces``.

        ``work["name"]``, (T,), is that of one force.
        """
        mechanism = self.mechanism
        return NamedColumns.of(self.nodes["work"], lambda name: mechanism.force_index[mechanism.force(name).name])

    @property
    def success(self) -> bool:
        """Return whether the run reached its end."""
        return self.status == 0

    def __len__(self) -> int:
        return len(self.t)
