"""Efforts, powers and potentials of a mechanism's forces at the nodes of a motion (docs/theory.md section 10)."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from varint.base.checks import call, finite
from varint.base.display import described, field_facts
from varint.kinematics.frames import joint_coordinates
from varint.kinematics.turns import count_from
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along_path import AlongPath
from varint.model.forces.base import Force
from varint.model.forces.coupled import Coupled
from varint.model.state import State
from varint.step.nodes.efforts import efforts_at_nodes
from varint.step.plan import Plan
from varint.step.workspace import workspace


class Forces(NamedTuple):
    """Efforts, powers and potentials at T nodes; one column a force of the mechanism.

    effort, power, potential : (T, forces) N or N m, W, J
    load : (T, nb, 6) of all together: force, N, world, and torque, N m, body axes
    turns : (n,) values of the measures at the last node, whose turns the nodes that follow go on counting
    value, rate : (T, sums) of the sums of measures that laws act along
    """

    effort: np.ndarray
    power: np.ndarray
    potential: np.ndarray
    load: np.ndarray
    turns: np.ndarray
    value: np.ndarray
    rate: np.ndarray

    def __repr__(self) -> str:
        return described(self, field_facts(self))


class Rates(NamedTuple):
    """Rates (T, k) of the k sums of numbers ``sums`` at T nodes."""

    sums: np.ndarray
    rates: np.ndarray


class _AtNodes(NamedTuple):
    """Arrays at nodes for each element and each sum with laws, in the order of the kernel."""

    effort: np.ndarray
    power: np.ndarray
    potential: np.ndarray
    load: np.ndarray
    value: np.ndarray
    rate: np.ndarray
    turns: np.ndarray
    gradient: np.ndarray  # at the last one


def forces_at(
    mechanism: Mechanism,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
    command: np.ndarray,
    law_state: np.ndarray | None = None,
    turns: np.ndarray | None = None,
    rates: Rates | None = None,
) -> Forces:
    """Return the forces at poses (T, nb, ...), velocities (T, nb, 3), inputs (T, forces) and states of laws (T, n).

    ``turns``: of the `Forces` at the nodes before, where angles go on counting theirs. ``rates``: of some sums, in
    place of those by the velocities.
    """
    compiled = mechanism.compiled
    if not mechanism.forces:
        none = np.zeros((len(position), 0))
        turns = np.zeros(compiled.plan.measures.kind.size)
        return Forces(none, none, none, np.zeros((*position.shape[:2], 6)), turns, none, none)
    motion = position, quat_wxyz, velocity, angular_velocity
    at_nodes = _at_nodes(mechanism, motion, command, law_state, turns, rates)
    potential = at_nodes.potential
    for f, e in enumerate(compiled.plan.laws.element):
        law = getattr(mechanism.forces[compiled.force[e]], "potential", None)
        if law is not None:
            label = f"potential of {mechanism.forces[compiled.force[e]].label}"
            whose, values = (
                f"{label}, a function that is called as f(value)",
                at_nodes.value[:, sum_of_law(compiled.plan, f)],
            )
            potential[:, e] = [finite(call(law, whose, x), f"{label} at {x:g}") for x in values.tolist()]
    by_force = compiled.by_force
    by_name = by_force(at_nodes.effort), by_force(at_nodes.power), by_force(potential)
    return Forces(*by_name, at_nodes.load[:, compiled.slot], at_nodes.turns, at_nodes.value, at_nodes.rate)


def element_efforts(
    mechanism: Mechanism,
    motion: Sequence[np.ndarray],
    command: np.ndarray,
    law_state: np.ndarray,
    rates: Rates | None = None,
) -> np.ndarray:
    """Return efforts (T, ne), N or N m, of the elements of all forces, for the ``motion`` and inputs of `forces_at`."""
    return _at_nodes(mechanism, motion, command, law_state, rates=rates).effort


def reference_gradients(mechanism: Mechanism) -> np.ndarray:
    """Return gradients (measures, 2, 6) of the forces' measures by the motions of both bodies, in the reference pose.

    In the order of the plan, times their weights; those of the rows of joints are zero.
    """
    pose = (np.array([getattr(body, name) for body in mechanism.bodies])[None] for name in ("position", "quat_wxyz"))
    still = np.zeros((1, len(mechanism.bodies), 3))
    return _at_nodes(mechanism, [*pose, still, still], np.zeros((1, len(mechanism.forces))), None).gradient


def gradients_at(mechanism: Mechanism, state: State) -> np.ndarray:
    """Return gradients (measures, 2, 6) at ``state``, see `reference_gradients`."""
    motion = (getattr(state, name)[None] for name in ("position", "quat_wxyz", "velocity", "angular_velocity"))
    return _at_nodes(mechanism, list(motion), np.zeros((1, len(mechanism.forces))), None).gradient


def states_of(mechanism: Mechanism, law_states: np.ndarray, force: Force) -> np.ndarray:
    """Return the states (T,) of the law of ``force`` out of all ``law_states`` (T, n); (T, k) unless there is one."""
    plan, compiled = mechanism.compiled.plan, mechanism.compiled
    owners = compiled.force[plan.laws.element[plan.laws.state >= 0]]
    states = law_states[:, owners == mechanism.force_index[force.name]]
    return states[:, 0] if states.shape[1] == 1 else states


def sum_of_force(mechanism: Mechanism, name: str) -> int:
    """Return the number of the sum that the first law of a force acts along."""
    plan, compiled = mechanism.compiled.plan, mechanism.compiled
    force_of_law = compiled.force[plan.laws.element].tolist()
    return sum_of_law(plan, force_of_law.index(mechanism.force_index[name]))


def path_lengths(mechanism: Mechanism, value: np.ndarray, force: Force) -> np.ndarray:
    """Return the lengths (T,), m, of a force along a path from the values (T, sums); (T, 0) of other forces."""
    if not isinstance(force, AlongPath):
        return np.zeros((len(value), 0))
    return value[:, sum_of_force(mechanism, force.name)] + force.summed(mechanism).fixed


def path_rates(mechanism: Mechanism, rate: np.ndarray, force: Force) -> np.ndarray:
    """Return the length rates (T,), m/s, of a force along a path from the rates (T, sums); (T, 0) of other forces."""
    along = isinstance(force, AlongPath)
    return rate[:, sum_of_force(mechanism, force.name)] if along else np.zeros((len(rate), 0))


def _coordinate(mechanism: Mechanism, state: State, joint: str, number: int) -> float:
    pose = state.position[None], state.quat_wxyz[None]
    return float(joint_coordinates(mechanism, mechanism.joint(joint), *pose).flat[number])


def check_laws(mechanism: Mechanism, state: State) -> None:
    """Raise MechanismError where a law, or a map of coordinates, that the user wrote is wrong at ``state``."""
    for force in mechanism.forces:
        if isinstance(force, Coupled):
            force.check_functions(partial(_coordinate, mechanism, state))
    checked = [(number, force) for number, force in enumerate(mechanism.forces) if hasattr(force, "check_law")]
    if not checked:
        return
    motion = [array[None] for array in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)]
    compiled, at_nodes = mechanism.compiled, _at_nodes(mechanism, motion, np.zeros((1, len(mechanism.forces))), None)
    force_of_law = compiled.force[compiled.plan.laws.element].tolist()
    for number, force in checked:
        s = sum_of_law(compiled.plan, force_of_law.index(number))
        force.check_law(float(at_nodes.value[0, s]), float(at_nodes.rate[0, s]))


def sum_of_law(plan: Plan, f: int) -> int:
    """Return the number of the sum of measures that law ``f`` acts along."""
    return int(np.searchsorted(plan.laws.sum_law, f, side="right")) - 1


def _at_nodes(
    mechanism: Mechanism,
    motion: Sequence[np.ndarray],
    command: np.ndarray,
    law_state: np.ndarray | None,
    turns: np.ndarray | None = None,
    rates: Rates | None = None,
) -> _AtNodes:
    compiled = mechanism.compiled
    plan, order = compiled.plan, compiled.order
    position, quat_wxyz, velocity, angular_velocity = motion
    nodes = [
        np.ascontiguousarray(array[:, order])
        for array in (position, quat_wxyz, np.concatenate([velocity, angular_velocity], axis=2))
    ]
    ws = workspace(plan, functions=compiled.functions)
    T, elements, sums = len(position), plan.elements.force.size, plan.laws.sum_law.size - 1
    effort, power, potential = np.zeros((3, T, elements))
    load, (value, rate) = np.zeros((T, plan.bodies.mass.size, 6)), np.zeros((2, T, sums))
    if turns is not None:
        count_from(plan, ws, turns)
    states = np.zeros((T, ws.efforts.state.size)) if law_state is None else np.ascontiguousarray(law_state)
    out = effort, power, potential, load, value, rate
    known_rates = rates or Rates(np.zeros(0, dtype=np.int64), np.zeros((T, 0)))
    inputs = np.ascontiguousarray(command[:, compiled.force])
    efforts_at_nodes(plan, ws, tuple(nodes), inputs, states, tuple(known_rates), out)
    return _AtNodes(*out, ws.efforts.value_near.copy(), ws.efforts.gradient)
