"""Efforts, powers and potentials of a mechanism's forces at the nodes of a motion (docs/theory.md section 10)."""

from typing import NamedTuple

import numpy as np

from varint.compile import compile_structure
from varint.kernels import plan as kinds
from varint.kernels.forces import forces_at_nodes
from varint.kernels.plan import workspace


class Forces(NamedTuple):
    """At T nodes; one column a force of the mechanism.

    effort, power, potential : (T, forces) N or N m, W, J
    load : (T, nb, 6) of all together: force, N, world, and torque, N m, body axes
    """

    effort: np.ndarray
    power: np.ndarray
    potential: np.ndarray
    load: np.ndarray


def forces_at(mechanism, position, quat_wxyz, velocity, angular_velocity, command) -> Forces:
    """The forces at poses (T, nb, ...), velocities (T, nb, 3) and inputs (T, forces)."""
    compiled = compile_structure(mechanism, forced=True)
    plan, order = compiled.plan, compiled.order
    nodes = [
        np.ascontiguousarray(array[:, order])
        for array in (position, quat_wxyz, np.concatenate([velocity, angular_velocity], axis=2))
    ]
    T, nb, nf = len(position), plan.mass.size, plan.law_kind.size
    value, rate, effort = np.empty((3, T, nf))
    load = np.empty((T, nb, 6))
    given = np.ascontiguousarray(command[:, compiled.force])
    forces_at_nodes(plan, workspace(plan, 1), tuple(nodes), given, value, rate, effort, load)
    potential = np.empty((T, nf))
    for f in range(nf):
        potential[:, f] = potential_energy(plan.law_kind[f], plan.law_parameter[f], value[:, f], plan.table)
    by_force = compiled.by_force
    return Forces(by_force(effort), by_force(effort * rate), by_force(potential), load[:, compiled.slot])


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
