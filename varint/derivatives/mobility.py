"""Numbers that would lock a loop: where its rows depend on each other only at the numbers that it has.

An overconstrained loop moves because its rows say the same. Turn the axis of one hinge of a planar linkage out of its
plane, and it still closes where it stands, but moves no more: the run has no derivative by that number.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from varint.base.errors import ArgumentError, MechanismError, StateError
from varint.derivatives.numbers import GRAVITY, Number, in_the_same_axes, start_of, with_numbers
from varint.kinematics.closure import Closure
from varint.kinematics.frames import with_world
from varint.mechanism.mechanism import Mechanism
from varint.model.joints.base import Joint
from varint.model.state import State

DEPENDENT = 1e-8  # of the largest singular value: rows that say the same, to the digits of poses that are closed


class Mobility:
    """The rank of the rows where a run starts, to compare with those of a changed mechanism."""

    def __init__(self, mechanism: Mechanism, first: State, state: State | None) -> None:
        self.mechanism, self.first, self.state = mechanism, first, state
        self.rows = int(mechanism.compiled.plan.joints.rows[-1])

    @cached_property
    def rank(self) -> int:
        """Return the rank of the rows of the joints where the run starts."""
        return rank_at(self.mechanism, self.first) if self.mechanism.compiled.topology.cluster_of else self.rows

    def check(self, numbers: Sequence[Number]) -> None:
        """Raise ArgumentError if a change of one of ``numbers`` removes a degree of freedom from a loop.

        All are changed at once first, by random amounts: if the rank stays the same, it does so for each alone.
        """
        of_joints = [each for each in numbers if each.field and isinstance(each.field.item, Joint)]
        made = [each for each in numbers if not each.field and each.name != GRAVITY]
        if not (of_joints or made) or self.rank == self.rows:
            return
        if len(of_joints) > 1 and not self._locks_together(of_joints):
            of_joints = []
        for number in (*of_joints, *made):
            self._check_alone(number)

    def _locks_together(self, numbers: Sequence[Number]) -> bool:
        """Return whether loops lose a degree of freedom, or cannot close, if all ``numbers`` change at once."""
        rng = np.random.default_rng(0)
        changes = {}
        for number in numbers:
            shares = rng.uniform(0.5, 1.0, number.value.size) * number.steps
            changes[number.name] = number.value + np.tensordot(shares, number.directions(), 1)
        try:
            changed = in_the_same_axes(with_numbers(self.mechanism, changes), self.mechanism)
            return rank_at(changed, start_of(changed, self.state)) > self.rank
        except (StateError, MechanismError):  # each alone may yet be possible
            return True

    def _check_alone(self, number: Number) -> None:
        """Raise ArgumentError if a change of ``number`` removes a degree of freedom."""
        for k, (step, direction) in enumerate(zip(number.steps, number.directions(), strict=True)):
            try:
                changed = in_the_same_axes(number.replaced(number.value + step * direction), self.mechanism)
                lost = rank_at(changed, start_of(changed, self.state)) - self.rank
            except (StateError, MechanismError):  # at a bound, or it cannot change at all, which is reported later
                continue
            if lost > 0:
                label = f"component {k} of '{number.name}'" if number.value.ndim else f"'{number.name}'"
                raise ArgumentError(
                    f"{label} cannot change by {step:g}: '{self.mechanism.name}' moves only because some constraints"
                    f" are redundant; this change would remove {lost} degree{'s' if lost > 1 else ''} of freedom"
                )


def rank_at(mechanism: Mechanism, state: State) -> int:
    """Return the rank of the rows of the joints of ``mechanism`` at ``state``."""
    closure = Closure(mechanism, mechanism.compiled, alike=True, couplings=False)
    _, jacobian = closure.evaluate(*with_world(state.position, state.quat_wxyz))
    matrix = closure.matrix(jacobian, closure.row_size(jacobian))
    sizes = np.linalg.svd(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), compute_uv=False)
    return int(np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)))
