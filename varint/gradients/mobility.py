"""Numbers that would lock a loop: where its rows depend on each other only at the numbers that it has.

An overconstrained loop moves because its rows say the same. Turn the axis of one hinge of a planar linkage out of its
plane, and it still closes where it stands, but moves no more: the run has no derivative by that number.
"""

from functools import cached_property

import numpy as np

from varint.errors import ArgumentError, MechanismError, StateError
from varint.gradients.numbers import GRAVITY, Number, in_the_same_axes, start_of
from varint.kinematics.closure import Closure
from varint.kinematics.frames import with_world
from varint.mechanism import Mechanism
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
        """Rank of the rows of the joints where the run starts."""
        return rank_at(self.mechanism, self.first) if self.mechanism.compiled.topology.cluster_of else self.rows

    def check(self, number: Number) -> None:
        """Raise ArgumentError where a change of the number removes a degree of freedom from a loop."""
        moves_joints = isinstance(number.field.item, Joint) if number.field else number.name != GRAVITY
        if not moves_joints or self.rank == self.rows:
            return
        for k, (step, direction) in enumerate(zip(number.steps, number.directions(), strict=True)):
            try:
                changed = in_the_same_axes(number.replaced(number.value + step * direction), self.mechanism)
                lost = rank_at(changed, start_of(changed, self.state)) - self.rank
            except (StateError, MechanismError):  # where it is at a bound, or cannot change at all, as is found later
                continue
            if lost > 0:
                what = f"component {k} of '{number.name}'" if number.value.ndim else f"'{number.name}'"
                raise ArgumentError(
                    f"{what} cannot change by {step:g}: '{self.mechanism.name}' moves only because some constraints"
                    f" are redundant; this change would remove {lost} degree{'s' if lost > 1 else ''} of freedom"
                )


def rank_at(mechanism: Mechanism, state: State) -> int:
    """Rank of the rows of the joints."""
    closure = Closure(mechanism, mechanism.compiled, alike=True, couplings=False)
    _, jacobian = closure.evaluate(*with_world(state.position, state.quat_wxyz))
    matrix = closure.matrix(jacobian, closure.row_size(jacobian))
    sizes = np.linalg.svd(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), compute_uv=False)
    return int(np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)))
