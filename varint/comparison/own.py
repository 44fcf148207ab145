"""Runs by integrators of one's own."""

import time
from collections.abc import Callable

import numpy as np

from varint.analysis.forces import forces_at
from varint.errors import ArgumentError
from varint.inputs.at_nodes import inputs_at
from varint.mechanism import Mechanism
from varint.model.checks import call, in_a_shape, of_type, shown, unit_quaternion
from varint.model.state import State
from varint.record import Counts, HeldNodes, Record
from varint.trajectory import Trajectory

OWN = "own"  # the formulation of their runs
PARTS = {"position": 3, "quat_wxyz": 4, "velocity": 3, "angular_velocity": 3}

Step = Callable[[State, float], State]


def name_of(step: Step) -> str:
    """What an integrator of one's own is called; raises ArgumentError where it has no name."""
    name = getattr(step, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(
            f"integrators: {shown(step)} has no name to be called by: make it a function by def, or set its __name__"
        )
    return name


def own_run(mechanism: Mechanism, state: State, step: Step, dt: float, steps: int, every: int) -> Trajectory:
    """``steps`` steps of ``step`` from ``state``, each ``every``-th node recorded; up to numbers that are not finite.

    The work of forces without a potential is summed by the trapezoidal rule over the steps. Raises ArgumentError for
    what is no state.
    """
    name, states, seconds = name_of(step), [state], 0.0
    whose = f"integrator '{name}', a function that is called as {name}(state, dt)"
    message = "the run reached its end"
    for k in range(steps):
        began = time.perf_counter()
        found = call(step, whose, states[-1], dt)
        seconds += time.perf_counter() - began
        if not _is_finite(mechanism, found, f"what integrator '{name}' gives at t = {dt * k:g} s"):
            message = f"the step at t = {dt * k:g} s gave numbers that are not finite"
            break
        states.append(found)
    done = len(states) - 1
    settings = {
        "formulation": OWN,
        "integrator": name,
        "duration": dt * steps,
        "dt": dt,
        "every": every,
        "steps": steps,
    }
    nodes = {part: np.array([getattr(each, part) for each in states], dtype=float) for part in PARTS}
    nodes |= {"t": dt * np.arange(done + 1), "law_state": np.zeros((done + 1, 0))}
    nodes["command"] = np.array([inputs_at(mechanism, t, at) for t, at in zip(nodes["t"], states, strict=True)])
    nodes["work"] = np.zeros_like(nodes["command"])
    load, counts = np.zeros((1, len(mechanism.bodies), 6)), Counts(done)
    record = Record(mechanism, settings, {}, HeldNodes(nodes), load, counts, int(done < steps), message, seconds)
    nodes["work"] = _work(Trajectory(record))
    return Trajectory(record.part(HeldNodes({part: array[::every].copy() for part, array in nodes.items()})))


def _is_finite(mechanism: Mechanism, state: object, what: str) -> bool:
    """Whether the numbers of a state are finite; raises ArgumentError where it is none of the mechanism."""
    found, nb = of_type(state, State, what, ArgumentError), len(mechanism.bodies)
    arrays = {name: getattr(found, name) for name in PARTS}
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype == float and not np.isfinite(array).all():
            return False
        in_a_shape(array, ((nb, PARTS[name]),), f"{name} of {what}", ArgumentError)
    for body, quat in zip(mechanism.bodies, found.quat_wxyz, strict=True):
        unit_quaternion(quat, f"quat_wxyz of body '{body.name}' in {what}", ArgumentError)
    return True


def _work(run: Trajectory) -> np.ndarray:
    """(T, forces) J since the start: what left the potential, where the force has one and no damping; else summed."""
    mechanism, names = run.mechanism, list(run.mechanism.force_index)
    if not names:
        return np.zeros((len(run), 0))
    power = np.column_stack([run.power[name] for name in names])
    work = np.zeros_like(power)
    work[1:] = np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t)[:, None], axis=0)
    still, found = np.zeros_like(run.velocity), run.forces_along
    at_rest = forces_at(mechanism, run.position, run.quat_wxyz, still, still, run.command).effort
    kept = found.potential.any(axis=0) & (found.effort == at_rest).all(axis=0)
    work[:, kept] = (found.potential[0] - found.potential)[:, kept]
    return work
