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
    T, ng, nf = len(position), plan.gauge_kind.size, plan.law_kind.size
    value, rate, effort, load = (
        np.empty((T, ng)),
        np.empty((T, ng)),
        np.empty((T, nf)),
        np.empty((T, plan.mass.size, 6)),
    )
    given = np.ascontiguousarray(command[:, compiled.force])
    forces_at_nodes(plan, workspace(plan, 1), tuple(nodes), given, value, rate, effort, load)
    of_law = np.repeat(np.arange(ng), np.diff(plan.gauge_law))
    potential = np.empty((T, nf))
    for f in range(nf):
        potential[:, f] = potential_energy(plan.law_kind[f], plan.law_parameter[f], value[:, of_law[f]])
    by_force = compiled.by_force
    return Forces(by_force(effort), by_force(effort * rate[:, of_law]), by_force(potential), load[:, compiled.slot])


def potential_energy(kind, p, value) -> np.ndarray:
    """J, of a law at gauge values (T,); zero for laws without one. Parameters as in `Plan.law_parameter`."""
    if kind == kinds.SPRING:
        return 0.5 * p[0] * (value - p[1]) ** 2
    if kind == kinds.CABLE:
        return 0.5 * p[0] * np.maximum(value - p[1], 0.0) ** 2
    if kind == kinds.STOP:
        return 0.5 * p[0] * (np.maximum(value - p[1], 0.0) ** 2 + np.minimum(value - p[3], 0.0) ** 2)
    return np.zeros_like(value)
