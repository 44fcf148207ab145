"""Efforts, powers and potentials of a mechanism's forces at the nodes of a motion (docs/theory.md section 10)."""

from typing import NamedTuple

import numpy as np

from varint.compile import compile_structure
from varint.kernels import plan as kinds
from varint.kernels.forces import forces_at_nodes
from varint.kernels.workspace import workspace


class Forces(NamedTuple):
    """At T nodes; one column a force of the mechanism.

    effort, power, potential : (T, forces) N or N m, W, J
    load : (T, nb, 6) of all together: force, N, world, and torque, N m, body axes
    """

    effort: np.ndarray
    power: np.ndarray
    potential: np.ndarray
    load: np.ndarray


def forces_at(mechanism, position, quat_wxyz, velocity, angular_velocity, command, t=None) -> Forces:
    """The forces at poses (T, nb, ...), velocities (T, nb, 3), inputs (T, forces); integral gains need ``t`` (T,)."""
    if not mechanism.forces:
        none = np.zeros((len(position), 0))
        return Forces(none, none, none, np.zeros((*position.shape[:2], 6)))
    motion = position, quat_wxyz, velocity, angular_velocity
    t = np.zeros(len(position)) if t is None else t
    compiled, value, rate, effort, load = _laws_at(mechanism, t, motion, command)
    plan = compiled.plan
    potential = np.empty_like(value)
    for f, number in enumerate(compiled.force):
        own = getattr(mechanism.forces[number], "potential", None)
        if own is not None:
            potential[:, f] = [own(x) for x in value[:, f].tolist()]
        else:
            potential[:, f] = potential_energy(plan.law_kind[f], plan.law_parameter[f], value[:, f], plan.table)
    by_force = compiled.by_force
    return Forces(by_force(effort), by_force(effort * rate), by_force(potential), load[:, compiled.slot])


def check_laws(mechanism, state) -> None:
    """Raise MechanismError where a law that the user wrote is wrong at ``state``."""
    numbers = [number for number, force in enumerate(mechanism.forces) if hasattr(force, "check_law")]
    if not numbers:
        return
    motion = [array[None] for array in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)]
    compiled, value, rate, *_ = _laws_at(mechanism, np.zeros(1), motion, np.zeros((1, len(mechanism.forces))))
    for number in numbers:
        f = compiled.force.tolist().index(number)
        mechanism.forces[number].check_law(float(value[0, f]), float(rate[0, f]))


def _laws_at(mechanism, t, motion, command):
    """The compiled mechanism; value, rate and effort (T, nf) of its laws, and the load (T, nb, 6) of all."""
    compiled = compile_structure(mechanism, forced=True)
    plan, order = compiled.plan, compiled.order
    position, quat_wxyz, velocity, angular_velocity = motion
    nodes = [
        np.ascontiguousarray(array[:, order])
        for array in (position, quat_wxyz, np.concatenate([velocity, angular_velocity], axis=2))
    ]
    T, nb, nf = len(position), plan.mass.size, plan.law_kind.size
    value, rate, effort = np.empty((3, T, nf))
    load = np.empty((T, nb, 6))
    given = np.ascontiguousarray(command[:, compiled.force])
    forces_at_nodes(plan, workspace(plan, 1), t, tuple(nodes), given, value, rate, effort, load)
    return compiled, value, rate, effort, load


def potential_energy(kind, p, value, table) -> np.ndarray:
    """J, of a law at gauge values (T,); zero for laws without one. Parameters as in `Plan.law_parameter`."""
    if kind == kinds.SPRING:
        return 0.5 * p[0] * (value - p[1]) ** 2
    if kind == kinds.CABLE:
        return 0.5 * p[0] * np.maximum(value - p[1], 0.0) ** 2
    if kind == kinds.STOP:
        return 0.5 * p[0] * (np.maximum(value - p[1], 0.0) ** 2 + np.minimum(value - p[3], 0.0) ** 2)
    if kind == kinds.INVERSE_SQUARE:
        return -p[0] / value
    if kind == kinds.STRAIN:
        return p[0] * ((value**2 - p[1] ** 2) / p[1]) ** 2 / 8
    if kind == kinds.TABLE:
        pieces = table[int(p[0]) : int(p[0] + p[1])]
        start, *c, potential = pieces[np.searchsorted(pieces[1:, 0], value, side="right")].T
        x = value - start
        return potential - x * (c[0] + x * (c[1] / 2 + x * (c[2] / 3 + x * c[3] / 4)))
    return np.zeros_like(value)
