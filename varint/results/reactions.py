"""Accelerations of bodies and reactions of joints at the nodes of a motion (docs/theory.md section 7)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from varint.base.display import described
from varint.kinematics.frames import JointFrames
from varint.kinematics.turns import count_from
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import COME_BACK
from varint.results.touching import ContactForces, pair_names
from varint.step.compliant.soft_joints import row_reactions
from varint.step.limits.parts import one_sided
from varint.step.limits.returning import RETURN
from varint.step.nodes.reactions import solve_nodes
from varint.step.workspace import workspace

UNITS = ("N", "N m")


class Reaction(NamedTuple):
    """Force and torque of a joint on its ``body_b`` at T nodes; those on its ``body_a`` are opposite.

    Of rows with a compliance the elastic part, without damping.

    force : (T, 3) N, world
    torque : (T, 3) N m, world, about the joint's anchor on ``body_b``
    """

    force: np.ndarray
    torque: np.ndarray

    @property
    def force_magnitude(self) -> np.ndarray:
        """Return the size (T,) of the force, N."""
        return np.linalg.norm(self.force, axis=-1)

    @property
    def torque_magnitude(self) -> np.ndarray:
        """Return the size (T,) of the torque, N m, about the joint's anchor on ``body_b``."""
        return np.linalg.norm(self.torque, axis=-1)

    def __repr__(self) -> str:
        of_each = zip(self._fields, self, UNITS, strict=True)
        parts = [f"{name} {np.shape(value)} {unit}" for name, value, unit in of_each]
        return described(self, [*parts, "world, of the joint on its body b"])


def accelerations_and_reactions(
    mechanism: Mechanism,
    load: np.ndarray,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
    bend: np.ndarray | None = None,
    with_terms: bool = False,
    contact_forces: ContactForces | None = None,
    turns: np.ndarray | None = None,
    come_back: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return accelerations (T, nb, 6), world and body axes, reactions (T, nj, 6), see `Reaction`, and efforts (T, ne).

    The efforts of elements that are constraints and, ``with_terms``, of friction in joints, and of hard stops and
    contacts that the motion rests on, of contacts the normal force; zero for the others. ``contact_forces`` gets those
    of the contacts. ``bend`` (T, ne): second time derivative of what prescribed motions move, zero where not given.

    ``load`` (T or 1, nb, 6): external force, N, world, and torque, N m, body axes, without gravity. ``turns`` (nm,):
    values of measures from which their angles count on, zero where not given. ``come_back``: 1/s, where hard stops let
    the motion come back at that rate, see `varint.step.limits.returning`.
    """
    compiled = mechanism.compiled
    plan, order = compiled.plan, compiled.order
    clusters = np.diff(plan.loops.node_row[plan.loops.cluster_node])
    tree_rows = np.repeat(plan.loops.fill_cluster, np.diff(plan.joints.rows[: plan.bodies.mass.size + 1]))
    row_cluster = np.concatenate([tree_rows, np.repeat(np.arange(clusters.size), clusters)])
    scratch = (
        row_cluster,
        np.empty((int(clusters.max(initial=0)), row_cluster.size)),
        np.empty(clusters.size),
        np.arange(row_cluster.size),
    )
    anchor = np.array(
        [JointFrames(mechanism, mechanism.joints[j]).origin_b if j >= 0 else np.zeros(3) for j in compiled.joints]
    )
    nodes = [
        np.ascontiguousarray(array[:, order])
        for array in (position, quat_wxyz, np.concatenate([velocity, angular_velocity], axis=2))
    ]
    acceleration = np.empty((len(position), plan.bodies.mass.size, 6))
    reaction = np.empty((len(position), len(anchor), 6))
    load = np.ascontiguousarray(load[:, order])
    held = np.zeros((len(position), plan.constraints.row.size))
    element = plan.constraints.element
    driven = plan.constraints.driven
    bends = np.zeros_like(held) if bend is None else np.ascontiguousarray(bend[:, element] * driven)
    resting = np.zeros((len(position), one_sided(plan).measure.size if with_terms else 0))
    contacts = plan.contacts
    pressing = np.zeros((len(position), contacts.body.size if with_terms else 0, 10))
    bearings = plan.bearings.element[: plan.bearings.element.size if with_terms else 0]
    rubbing = np.zeros((len(position), bearings.size))
    efforts = held, resting, pressing, rubbing
    ws = workspace(plan, functions=compiled.functions)
    ws.efforts.come_back[0] = come_back
    ws.bearings.acting[0] = with_terms
    if turns is not None:
        count_from(plan, ws, turns)
    solve_nodes(plan, ws, scratch, anchor, load, bends, tuple(nodes), acceleration, reaction, efforts)
    effort = np.zeros((len(position), len(compiled.force)))
    effort[:, element] = held
    np.add.at(effort.T, one_sided(plan).element[: resting.shape[1]], resting.T)
    effort[:, bearings] = rubbing
    names = pair_names(mechanism) if contact_forces is not None else []
    for k in range(pressing.shape[1]):
        effort[:, contacts.element[k]] += pressing[:, k, 3]
        if contact_forces is not None:
            name = names[k]
            contact_forces.by_name[name] = contact_forces.by_name.get(name, 0.0) + pressing[:, k, :3]
    if contact_forces is not None:
        contact_forces.rows = pressing
    of_joint = np.argsort(compiled.joints)[np.count_nonzero(compiled.joints < 0) :]
    reaction = reaction[:, of_joint]
    if plan.compliant.joint_row.size:
        _add_compliant_rows(mechanism, nodes[0], nodes[1], reaction)
    return acceleration[:, compiled.slot], reaction, effort


def _add_compliant_rows(mechanism: Mechanism, position: np.ndarray, quat: np.ndarray, reaction: np.ndarray) -> None:
    """Add the elastic forces of compliant rows to the reactions (T, nj, 6); poses in the order of the kernel.

    Their damping is left out: the round-off of a rate times the damping of a stiff row is no force.
    """
    compiled = mechanism.compiled
    plan = compiled.plan
    pushes = np.empty((len(position), plan.compliant.joint_row.size, 6))
    row_reactions(plan, workspace(plan, functions=compiled.functions), position, quat, pushes)
    element = plan.laws.element[plan.laws.sum_law[plan.compliant.joint_sum]]
    for n, number in enumerate(compiled.force[element]):
        force = mechanism.forces[number]
        assert isinstance(force, JointCompliance)
        joint = mechanism.joint_index[force.joint]
        frames, push = JointFrames(mechanism, mechanism.joints[joint]), pushes[:, n]
        slot = np.append(compiled.slot, -1)[frames.b]
        lever = rotation_matrix(quat[:, slot]) @ frames.origin_b if slot >= 0 else frames.origin_b
        reaction[:, joint, :3] += push[:, :3]
        reaction[:, joint, 3:] += push[:, 3:] - np.cross(lever, push[:, :3])


def return_rate(settings: Mapping[str, Any]) -> float:
    """Return the rate, 1/s, at which hard stops let the start of a run with these settings come back, or 0."""
    return RETURN if settings.get("beyond_stops") == COME_BACK else 0.0


def second_derivative(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the second derivative (T, ...) by t of the cubics through four neighbours.

    Zero for less than four nodes.
    """
    if len(t) < 4:
        return np.zeros_like(values)
    column = (-1, *[1] * (values.ndim - 1))
    slope = np.diff(values, axis=0) / np.diff(t).reshape(column)
    bend = np.diff(slope, axis=0) / (t[2:] - t[:-2]).reshape(column)
    third = np.diff(bend, axis=0) / (t[3:] - t[:-3]).reshape(column)
    first = np.clip(np.arange(len(t)) - 1, 0, len(t) - 4)
    apart = sum(t - t[first + k] for k in range(3))
    return 2 * (bend[first] + third[first] * apart.reshape(column))
