"""Rotation vectors along which forces act: detected where they jump, at half a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from varint.measures import Measure
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Effort, Element
from varint.model.rotation_vectors import quat_product, rotation_matrix, vector_from_matrix

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
QUARTER = 0.71  # cosine of half a quarter of a turn, and some more


@dataclass(frozen=True)
class HalfTurn:
    """A rotation beyond half a turn: the time, s, by which it was, and the message about it."""

    time: float
    message: str


class HalfTurns:
    """Looks at the nodes of a run, block after block."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.watched = {
            (m.body_a, m.body_b): force
            for force, elements in zip(mechanism.forces, mechanism.elements, strict=True)
            for m in _components(elements)
        }
        names = sorted({name for ends in self.watched for name in ends if name != WORLD})
        self._numbers = np.array([mechanism.body_index[name] for name in names], dtype=np.int64)
        place = {name: k for k, name in enumerate([*names, WORLD])}
        self._ends = np.array([[place[name] for name in ends] for ends in self.watched]).reshape(-1, 2)
        self._last: dict[str, np.ndarray] | None = None

    def passed(self, nodes: Mapping[str, np.ndarray]) -> HalfTurn | None:
        """Return the first half turn between two neighbouring nodes, including the last node of the previous block."""
        if not self.watched or not len(nodes["t"]):
            return None
        names = "t", "quat_wxyz", "angular_velocity"
        block = {name: nodes[name] for name in names}
        if self._last is not None:
            block = {name: np.concatenate([self._last[name], block[name]]) for name in names}
        self._last = {name: block[name][-1:] for name in names}
        t = block["t"]
        pairs = list(self.watched)
        jumps = [
            (t[row + 1], ends)
            for ends in [pairs[k] for k in self._far(block["quat_wxyz"])]
            for row in np.flatnonzero(self._jumps(ends, block["quat_wxyz"], block["angular_velocity"], np.diff(t)))[:1]
        ]
        if not jumps:
            return None
        time, ends = min(jumps)
        return HalfTurn(float(time), self._message(float(time), ends))

    def _far(self, quat: np.ndarray) -> np.ndarray:
        """Return the numbers of the pairs of bodies that are a quarter of a turn from the reference at some node."""
        start = np.array([self.mechanism.bodies[number].quat_wxyz for number in self._numbers]).reshape(-1, 4)
        turned = np.zeros((len(quat), len(self._numbers) + 1, 4))
        turned[:, :-1] = quat_product(quat[:, self._numbers], start * CONJUGATE)
        turned[:, -1, 0] = 1.0  # of the world
        cosine = np.sum(turned[:, self._ends[:, 0]] * turned[:, self._ends[:, 1]], axis=2)  # of half the rotation
        return np.flatnonzero((np.abs(cosine) < QUARTER).any(axis=0))

    def _jumps(self, ends: tuple[str, str], quat: np.ndarray, spin: np.ndarray, dt: np.ndarray) -> np.ndarray:
        """Return whether (T - 1,) the rotation vector jumps from one node to the next."""
        R, speed = [], np.zeros(len(quat))
        for name in ends:
            if name == WORLD:
                R.append(np.broadcast_to(np.eye(3), (len(quat), 3, 3)))
                continue
            number = self.mechanism.body_index[name]
            start = rotation_matrix(self.mechanism.bodies[number].quat_wxyz)
            R.append(rotation_matrix(quat[:, number]) @ start.T)
            speed += np.linalg.norm(spin[:, number], axis=1)
        rho = vector_from_matrix(np.swapaxes(R[0], 1, 2) @ R[1])
        far = np.linalg.norm(rho, axis=1) > 0.5 * np.pi
        near = np.maximum(speed[1:], speed[:-1]) * dt < 0.5 * np.pi
        return far[1:] & far[:-1] & near & (np.sum(rho[1:] * rho[:-1], axis=1) < 0.0)

    def _message(self, time: float, ends: tuple[str, str]) -> str:
        force = self.watched[ends]
        where = f"bodies '{ends[0]}' and '{ends[1]}'"
        if isinstance(force, AlongCoordinate):
            where = self.mechanism.joint(force.joint).label
        return (
            f"{force.label}: the rotation at {where} went beyond half a turn by t = {time:g} s, where the rotation"
            " vector jumps and no effort along it is defined: give angles=, or put joints that turn in its place"
        )


def _components(elements: Sequence[Element]) -> list[Measure]:
    acting = [element for element in elements if isinstance(element, Effort | Constraint)]
    return [m for element in acting for m in element.measures if m.jumps]
