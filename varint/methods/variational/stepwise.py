"""A march that Python steps: inputs are set before a step, and the node is read after it, by one compiled call each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from varint.base.numba import for_python, spans_of, word_of
from varint.kinematics.joint_reader import JointColumns, joint_readings
from varint.kinematics.turns import changes_what_states_carry
from varint.methods.variational.march import March
from varint.methods.variational.welded import spread
from varint.model.state import State, state_block
from varint.step.inputs import Inputs
from varint.step.march.records import (
    HELD_FROM,
    KEEPS,
    NODE,
    PLACES,
    POSE,
    RECORDED,
    STAGGERED,
    STEPPED,
    STRIDE,
    MarchSteps,
    NodeRows,
    Reading,
)
from varint.step.march.steps import DONE, FAILED, copy_march, read_node, take_steps
from varint.step.step import worst_residual


class Stepwise:
    """Steps of a `March` one by one, with inputs of the ``elements`` that are set before each.

    Parameters
    ----------
    march : March
        At its start, or where a run goes on.
    elements : sequence of int
        Whose ``input`` is set.
    extrapolated : (m,) bool
        Whether each follows the line through the last two nodes over a step, in place of being held.
    keeps : bool
        Whether to go back to the node before a step that fails.
    joints : sequence of JointColumns
        Whose coordinates readings have, among ``size``.

    Attributes
    ----------
    input : (m,) over the next step
    both : (2 nq,) joint coordinates and rates of the reading
    reading : Reading
    take, read : `take_steps` and `read_node`, as Python calls them
    """

    def __init__(
        self,
        march: March,
        elements: Sequence[int],
        extrapolated: Sequence[bool],
        keeps: bool,
        joints: Sequence[JointColumns] = (),
        size: int = 0,
    ) -> None:
        self.march, self.moving = march, any(extrapolated)
        march.prepare_steps()
        self.take, self.read = for_python(take_steps), for_python(read_node)
        if march.divides:
            self._take, self.take = self.take, self._take_or_divide
        self.input, before = np.zeros((2, len(elements)))
        number = np.array([march.dt, march.tol, 0.0])
        self.place = np.zeros(PLACES, dtype=np.int64)
        self.place[[STRIDE, STAGGERED, KEEPS]] = march.every, march.scheme.staggered, keeps
        kept = *(array for _, array in march.state_arrays()), self.place, number, before
        spans, words = spans_of((array, False) for array in kept)
        self.kept = np.zeros(words, dtype=np.int64)
        self.both = np.zeros(2 * size)
        self.reading, self._block = _reading(march, joints, self.both.reshape(2, size))
        self._made = State.of_block
        self._fixed: dict[str, Any] = {
            "reading": self.reading,
            "place": self.place,
            "number": number,
            "stages": march.scheme.stages.copy(),
            "element": np.array(elements, dtype=np.int64),
            "input": self.input,
            "before": before,
            "extrapolated": np.array(extrapolated, dtype=np.bool_),
            "nodes": np.array([march.word]),
            "spans": spans,
            "kept": self.kept,
        }
        self.begin()

    def begin(self) -> None:
        """Go on from the node where the march is; over the first step inputs are held."""
        self.place[[NODE, POSE]] = self.march.node, self.march.pose
        self.place[HELD_FROM] = self.march.node
        compiled, self._turns = self.march.compiled, self.march.turns
        self._is_plain = compiled.welds is None and not changes_what_states_carry(compiled)

    def leave(self) -> None:
        """Set the march to the node that the steps have come to."""
        self.march.node, self.march.pose = self.place[[NODE, POSE]].tolist()

    def _take_or_divide(self, word: int, steps: int) -> int:
        """Take steps as `take_steps` does; the march divides each step that cannot be solved."""
        status, march, place = self._take(word, steps), self.march, self.place
        while status == FAILED:
            steps -= int(place[STEPPED]) + 1
            self.leave()
            record, (*rows, counts) = int(place[RECORDED]), self.steps.rows
            if not march.divide((*(array[record:] for array in rows), counts), self.steps.table):
                return FAILED
            place[NODE] = march.node
            place[RECORDED] += march.node % march.every == 0
            place[STEPPED] += 1
            status = self._take(word, steps) if steps else DONE
        return status

    def hold(self) -> None:
        """Keep all that acts constant but for the inputs that are set; nothing is recorded."""
        march, rows = self.march, 2 if self.moving else 1
        march.hold()
        table, first = np.repeat(march.commands[:1], rows, axis=0), np.array([march.node])
        rates = np.repeat(march.command_rates[:1], rows, axis=0)
        acting = replace(march.acting(), input=table.view(), rate=rates, first=first.view())
        self._bind(acting, table, first if self.moving else first[:0], march.outputs(0))

    def within(self, rows: tuple[np.ndarray, ...]) -> None:
        """Take inputs and loads from the tables of the march, with a row a node, and record nodes in ``rows``."""
        acting = self.march.acting()
        self._bind(acting, self.march.commands, np.zeros(0, dtype=np.int64), rows)

    def record(self, rows: tuple[np.ndarray, ...]) -> None:
        """Record in other ``rows``, see `March.outputs`, from the first on."""
        self._bind(self.steps.inputs, self.steps.table, self.steps.first, rows)

    def _bind(self, acting: Inputs, table: np.ndarray, first: np.ndarray, rows: tuple[np.ndarray, ...]) -> None:
        self.place[RECORDED] = 0
        plan, ws = self.march.compiled.plan, self.march.ws
        self.steps = MarchSteps(
            plan=plan, ws=ws, inputs=acting, rows=NodeRows(*rows), table=table, first=first, **self._fixed
        )
        self.word = word_of(self.steps)

    @property
    def recorded(self) -> int:
        """Number of the recorded nodes since `within` or `record`."""
        return int(self.place[RECORDED])

    def state(self) -> State:
        """Return the present node."""
        self.read(self.word)
        return self._made(self._block.copy(), self._turns) if self._is_plain else self.present()

    def present(self) -> State:
        """Return the node that was read last."""
        r, welds = self.reading, self.march.compiled.welds
        if welds is None:
            return self.march.carried(self._made(self._block.copy(), self._turns))
        motion = spread(welds, (r.position[None], r.quat[None], r.motion[None, :-1]))
        return self.march.carried(State(*(array[0] for array in motion)))

    def go_back(self) -> tuple[int, int]:
        """Return the body and the joint where the step that failed is worst; the march is at the node before it.

        Where it ``keeps``; else it stays in the middle of the step.
        """
        march, solved = self.march, int(self.place[STEPPED])
        worst = worst_residual(march.compiled.plan, march.ws)
        if self.place[KEEPS]:
            self.recall(self.kept)
            if solved:
                self.take(self.word, solved)
        return worst

    def save(self) -> np.ndarray:
        """Return all that the steps to come depend on but for the inputs."""
        copy_march(self.word, False)
        return self.kept.copy()

    def recall(self, saved: np.ndarray) -> None:
        """Go back to a result of `save`."""
        self.kept[:] = saved
        copy_march(self.word, True)
        self.leave()
        self.march.stand()


def _reading(march: March, joints: Sequence[JointColumns], place: np.ndarray) -> tuple[Reading, np.ndarray]:
    """Return room for readings of a march, and its block; joint coordinates and rates are in ``place`` (2, nq).

    Compiled code fills those of ``joints``.

    They are of all bodies, or, with welds, of the bodies that carry the others, in the order of the kernel. The block
    (5, nb, 3) has their poses and velocities, see `State.of_block`.
    """
    slot, welds, nb = march.compiled.slot, march.compiled.welds, len(march.compiled.order)
    slots = slot if welds is None else np.arange(nb)
    block, position, quat, velocity, spin = state_block(nb)
    q, rate = place
    reading = Reading(
        slot=np.array(slots), position=position, quat=quat, velocity=velocity, spin=spin,
        motion=np.zeros((nb + 1, 6)), work=np.zeros(len(march.compiled.force)),
        state=np.zeros(march.ws.efforts.state.size), joints=joint_readings(joints, slot, welds, nb), q=q, rate=rate,
    )  # fmt: skip
    return reading, block
