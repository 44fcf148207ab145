"""Where a run in reduced coordinates starts."""

from collections.abc import Callable, Mapping

import numpy as np

from varint.errors import StateError
from varint.kinematics.assembly import checked_state, with_rates
from varint.model.checks import of_type
from varint.model.rotation import rotation_matrix
from varint.model.state import State
from varint.redmax.couplings import Steady
from varint.redmax.equations import Equations
from varint.redmax.states import ReducedState, checked, maximal_state, reduce

LARGEST_GAP = 1e-6  # of a joint in a state to start from, in sizes of a part


def start_of(
    equations: Equations, state: State | ReducedState, motions: Mapping[str, Callable]
) -> tuple[np.ndarray, np.ndarray]:
    """q and qdot (nq,) of a `State` or `ReducedState`, in the charts of the equations, with the rates of ``motions``.

    These are the motions that forces prescribe, by joint; those at a constant rate start where the state is.
    """
    of_type(state, (State, ReducedState), "state", StateError)
    if isinstance(state, ReducedState):
        reduced = _driven(equations, checked(equations, state), motions)
        return equations.in_charts(reduced.q, reduced.qdot)
    state = State(*checked_state(equations.mechanism, state, "state"))
    reduced = _driven(equations, reduce(equations.tree, equations.mechanism, state), motions)
    q, qdot = equations.in_charts(reduced.q, reduced.qdot)
    _check_closed(equations, q, qdot, state)
    return q, qdot


def _driven(equations: Equations, reduced: ReducedState, motions: Mapping[str, Callable]) -> ReducedState:
    """``reduced`` with the rates at which forces move their joints; the rest moves on as after an impact."""
    mechanism, columns, rates = equations.mechanism, equations.tree.columns, {}
    for name, motion in motions.items():
        if isinstance(motion, Steady):
            motion.start = float(reduced.q[columns[name].start])
        rates[name] = np.array([motion(0.0)[1]], dtype=float)
    if all(np.array_equal(reduced.qdot[columns[name]], rate) for name, rate in rates.items()):
        return reduced
    state = with_rates(mechanism, equations.compiled, maximal_state(mechanism, reduced), rates)
    found = reduce(equations.tree, mechanism, state)
    q = reduced.q.copy()
    for k in equations.tree.balls:  # their rates depend on the turns
        q[k : k + 3] = found.q[k : k + 3]
    return ReducedState(q, found.qdot)


def _check_closed(equations: Equations, q: np.ndarray, qdot: np.ndarray, state: State) -> None:
    """That the joints of ``state`` are closed, which ``q`` has lost."""
    length, slot = equations.compiled.length, equations.compiled.slot
    equations.place(q)
    equations.move(q, qdot)
    gaps = [
        np.abs(equations.position[slot] - state.position).max(),
        length * np.abs(equations.rotation[slot] - rotation_matrix(state.quat_wxyz)).max(),
    ]
    if len(equations.closures):
        rows = equations.closures.evaluate(equations.position, equations.rotation, equations.velocity)
        gaps.append(np.abs(rows.value).max())
    if not max(gaps) <= LARGEST_GAP * length:
        raise StateError(f"the state leaves a joint {max(gaps):.3g} m open: mechanism.assemble(state) closes it")
