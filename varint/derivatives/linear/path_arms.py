"""Gradients of the lengths of forces along paths by the coordinates of the tree."""

from collections.abc import Iterable, Sequence

import numpy as np

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.linear_solves import reduced_gradient
from varint.model.forces.along_path import AlongPath
from varint.results.forces import sum_of_force
from varint.step.nodes.efforts import evaluate_efforts
from varint.step.workspace import workspace


def path_arms(
    kinematics: TreeKinematics, forces: Sequence[str], motions: Iterable[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Return derivatives (T, m, nq) of the lengths of m ``forces``, by name, at T ``motions`` (q, dq) of the tree.

    Raises ArgumentError where one is not along a path, MechanismError where there is no such force.
    """
    mechanism: Mechanism = kinematics.mechanism
    for name in forces:
        if not isinstance(mechanism.force(name), AlongPath):
            raise ArgumentError(f"force '{name}' is not along a path: moment arms are of a Tendon or a Musculotendon")
    sums = [sum_of_force(mechanism, name) for name in forces]
    plan = mechanism.compiled.plan
    ws = workspace(plan, functions=mechanism.compiled.functions)
    load, power = np.zeros((kinematics.nb, 6)), np.zeros(plan.elements.force.size)
    arms: list[np.ndarray] = []
    for q, rates in motions:
        kinematics.place_and_move(q, rates)
        at = kinematics.position, kinematics.rotation, kinematics.velocity
        evaluate_efforts(plan, ws, *at, 0.0, load, power)
        arms.append(np.array([reduced_gradient(kinematics, ws.efforts.gradient, s) for s in sums]))
    return np.array(arms).reshape(len(arms), len(sums), kinematics.nq)
