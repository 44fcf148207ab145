"""Energies of states of a mechanism, by one compiled call each."""

from typing import NamedTuple

import numpy as np

from varint.base.numba import for_python, word_of
from varint.kinematics.turns import near_of
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.step.energy.readings import EnergyReading, read_energies
from varint.step.workspace import workspace

FLOAT = np.dtype(float)


class _Room(NamedTuple):
    """Arrays for one reading at a time."""

    reading: EnergyReading
    word: object


class EnergyReader:
    """Reads the energies of states of a mechanism; any number of threads may use it.

    Where a force has a potential that is a function of the user's, or acts along a coordinate of a joint that is a
    product of exponentials, which is searched for from node to node, ``reads`` is False, and others have to.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._compiled, self._nb, self._mechanism = mechanism.compiled, len(mechanism.bodies), mechanism
        self._counts = bool(self._compiled.counted or self._compiled.followed or self._compiled.euler_angles)
        self._shapes = (self._nb, 3), (self._nb, 4), (self._nb, 3), (self._nb, 3)
        measures, rows = self._compiled.plan.measures, self._compiled.plan.rows.role.size
        user_potentials = any(getattr(force, "potential", None) is not None for force in mechanism.forces)
        self.reads = not user_potentials and not (measures.product[rows:] >= 0).any()
        self._read = for_python(read_energies)
        self._free: list[_Room] = []  # rooms that no thread is reading in; pop and append are atomic

    def read(self, state: State) -> tuple[float, float, np.ndarray] | None:
        """Return kinetic and potential energy of the bodies, and potentials (forces,) of the forces, J, at a state.

        None for a state whose arrays are not whole, or not of the usual type.
        """
        arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
        for array, shape in zip(arrays, self._shapes, strict=True):
            if type(array) is not np.ndarray or array.shape != shape or array.dtype is not FLOAT:
                return None
        try:
            room = self._free.pop()
        except IndexError:
            room = self._room()
        reading = room.reading
        reading.position[:], reading.quat[:], reading.velocity[:], reading.spin[:] = arrays
        if self._counts:
            reading.ws.efforts.value_near[:] = near_of(self._mechanism, state)
        is_whole = self._read(room.word)
        kinetic, gravity = reading.body.tolist()
        potential = self._compiled.by_force(reading.potential[None])[0]
        self._free.append(room)
        return (kinetic, gravity, potential) if is_whole else None

    def _room(self) -> _Room:
        plan, nb = self._compiled.plan, self._nb
        velocity, spin = np.zeros((2, nb, 3))
        reading = EnergyReading(
            plan=plan, ws=workspace(plan, functions=self._compiled.functions), order=np.array(self._compiled.order),
            position=np.zeros((nb, 3)), quat=np.zeros((nb, 4)), velocity=velocity, spin=spin,
            potential=np.zeros(plan.elements.force.size), body=np.zeros(2),
        )  # fmt: skip
        return _Room(reading, word_of(reading))
