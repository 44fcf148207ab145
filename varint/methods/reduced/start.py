"""Start of a run in reduced coordinates."""

from collections.abc import Mapping

import numpy as np

from varint.base.checks import of_type
from varint.base.errors import StateError
from varint.kinematics.assembly import with_checked_arrays, with_rates
from varint.kinematics.drift import joint_drift
from varint.kinematics.start_at_stops import check_stops
from varint.kinematics.turns import with_followed, with_turns
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.prescribed_joints import places
from varint.methods.reduced.saddle import solve_saddle
from varint.methods.reduced.states import ReducedState, checked, maximal_state, reduce
from varint.model.forces.velocity_rows import VelocityRows
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.results.inputs.courses import Course, Steady, cannot_start, starts_elsewhere
from varint.step.limits.gaps import evaluate_gaps

LARGEST_GAP = 1e-6  # of a joint in a state to start from, in sizes of a part
LARGEST_MISS = 1e-8  # of a prescribed motion in a state to start from, in sizes of a part
LARGEST_PARTING = 1e-3  # of the fastest motion: how far the speed at the start may miss the prescribed one


def start_of(
    equations: Equations, state: State | ReducedState, motions: Mapping[str, Course], integrator: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Return q and qdot (nq,) of a `State` or `ReducedState`, in the charts of the equations.

    With the rates of ``motions``, which forces prescribe, by joint; motions at a constant rate start at the state. A
    run goes on from a node of one by the same ``integrator`` with the velocities there, as far as rows have drifted,
    and with loops as open as its steps have left them.
    Raises StateError.
    """
    of_type(state, (State, ReducedState), "state", StateError)
    if isinstance(state, ReducedState):
        reduced = _driven(equations, checked(equations, state), motions)
        state = maximal_state(equations.mechanism, reduced)
        equations.start_turns(reduced.q, {}, with_followed(equations.mechanism, equations.compiled, state, {}))
        return _meeting(equations, *equations.in_charts(reduced.q, reduced.qdot))
    state = with_checked_arrays(equations.mechanism, state, "state")
    state = with_turns(equations.mechanism, equations.compiled, state)
    reduced = _driven(equations, reduce(equations.tree, equations.mechanism, state), motions)
    equations.start_turns(reduced.q, state.turns, state.memory)
    q, qdot = equations.in_charts(reduced.q, reduced.qdot)
    if _goes_on(equations, state, integrator):
        return q, qdot
    _check_closed(equations, q, qdot, state)
    return _meeting(equations, q, qdot)


def check_reduced_stops(equations: Equations, q: np.ndarray, qdot: np.ndarray, state: State | ReducedState) -> None:
    """Raise StateError where ``q`` and ``qdot`` (nq,) of ``state`` lie beyond a hard stop, see `check_stops`."""
    plan = equations.compiled.plan
    count = plan.limits.measure.size
    if not count:
        return
    equations.place_and_move(q, qdot)
    gaps = np.zeros(count)
    evaluate_gaps(plan, equations.ws, equations.position, equations.rotation, gaps, np.zeros((count, 2, 6)))
    start = state if isinstance(state, State) else equations.state()
    check_stops(equations.mechanism, start, gaps, with_joints=True)


def _meeting(equations: Equations, q: np.ndarray, qdot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return q and qdot with the velocities of prescribed bodies and points, the rest as after an impact.

    Raises StateError where they are elsewhere, or cannot have these velocities.
    """
    e = equations
    if not e.moved:
        return q, qdot
    placed, rates, _ = e.imposed(0.0, q, qdot)
    e.place_and_move(q, qdot)
    value, speed, G = e.violations(q, qdot)
    held, length = np.eye(e.nq)[e.driven_columns], e.compiled.length
    gap = np.concatenate([value, held @ (placed - q)])
    rows, wanted = np.concatenate([G, held]), np.concatenate([-speed, held @ (rates - qdot)])
    change, _ = solve_saddle(e.mass_matrix(), rows, rows, np.zeros(e.nq), wanted)
    left = np.abs(rows @ change - wanted)
    fastest = max(np.abs(wanted).max(initial=0.0), np.abs(rows @ (qdot + change)).max(initial=0.0))
    for part, rows_of_part in zip(e.moved, places(e), strict=True):
        missed = np.abs(gap[rows_of_part]).max()
        if not missed <= LARGEST_MISS * max(1.0, length):
            if isinstance(part.force, VelocityRows):
                raise StateError(part.force.starts_open(float(gap[rows_of_part][0])))
            raise StateError(starts_elsewhere(part.force, missed))
        if isinstance(part.force, VelocityRows):
            continue
        if left[rows_of_part].max() > LARGEST_PARTING * max(fastest, length):
            raise StateError(cannot_start(part.force, left[rows_of_part].max()))
    return placed, qdot + change


def _driven(equations: Equations, reduced: ReducedState, motions: Mapping[str, Course]) -> ReducedState:
    """Return ``reduced`` with the rates at which forces move their joints; the rest changes as in an impact."""
    mechanism, columns, rates = equations.mechanism, equations.tree.columns, {}
    for name, motion in motions.items():
        if isinstance(motion, Steady):
            motion.start = float(reduced.q[columns[name].start])
        rates[name] = motion(0.0)[1]
    if all(np.array_equal(reduced.qdot[columns[name]], rate) for name, rate in rates.items()):
        return reduced
    state = with_rates(mechanism, equations.compiled, maximal_state(mechanism, reduced), rates)
    moved = reduce(equations.tree, mechanism, state)
    q = reduced.q.copy()
    for k in equations.tree.balls:  # their rates depend on the turns
        q[k : k + 3] = moved.q[k : k + 3]
    return ReducedState(q, moved.qdot)


def _goes_on(equations: Equations, state: State, integrator: str) -> bool:
    """Return whether a state is a node that the same ``integrator`` made, with joints as open as that run left them.

    Velocities that were changed by hand since then are taken as they are.
    """
    if not integrator or state.made_by != integrator:
        return False
    open_by = joint_drift(equations.compiled, state.position[None], state.quat_wxyz[None])[0]
    return bool(abs(open_by - state.open_by) <= LARGEST_GAP * equations.compiled.length)


def _check_closed(equations: Equations, q: np.ndarray, qdot: np.ndarray, state: State) -> None:
    """Check that the joints of ``state`` are closed, which ``q`` does not show."""
    length, slot = equations.compiled.length, equations.compiled.slot
    equations.place(q)
    equations.move(q, qdot)
    gaps = [
        np.abs(equations.position[slot] - state.position).max(),
        length * np.abs(equations.rotation[slot] - rotation_matrix(state.quat_wxyz)).max(),
    ]
    joints = equations.closures.moved.start  # rows of joints and attachments come first
    loops = 0.0
    if joints:
        rows = equations.closures.evaluate(equations.position, equations.rotation, equations.velocity)
        loops = np.abs(rows.value[:joints]).max()
    if not max(*gaps, loops) <= LARGEST_GAP * length:
        raise StateError(
            f"the state leaves a joint, an attachment or a constraint {max(*gaps, loops):.3g} m open:"
            " mechanism.assemble(state) closes it"
        )
