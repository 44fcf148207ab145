"""What a run beside limits must not do, judged by itself: gain energy beyond its work, freeze a joint that is free."""

import dataclasses

import numpy as np

import varint as vi
from varint.results.component_energies import component_energies

GAIN = 0.05  # of the energy that takes part
STILL, MOVED = 1e-10, 1e-3  # rad/s, and rad/s^2 of a joint that no limit holds; m/s, m/s^2
FROZEN = 3  # nodes in a row
HARD = (vi.JointStop, vi.LengthStop, vi.Contact, vi.HardContact)


def energy_gain(run):
    """The largest rise of the energy residual that stays to the end, over the energy that takes part until then.

    Infinite where the residual is not finite, or rises where no energy takes part.
    """
    largest = 0.0
    for own in component_energies(run):
        if not np.isfinite(own.error).all():
            return np.inf
        stays = np.minimum.accumulate(own.error[::-1])[::-1] - np.minimum.accumulate(own.error)
        with np.errstate(divide="ignore"):
            largest = max(
                largest, float(np.divide(stays, own.energy, out=np.zeros_like(stays), where=stays > 0.0).max())
            )
    return largest


def frozen_joints(run):
    """Names of joints with one coordinate that stand still while forces drive them, and every limit is open.

    Joints with dampers or friction of their own may; mechanisms with friction anywhere are not judged.
    """
    mechanism = run.mechanism
    if any(isinstance(force, vi.JointFriction) for force in mechanism.forces):
        return []
    soft = [force for force in mechanism.forces if not isinstance(force, HARD)]
    damped = {force.joint for force in soft if isinstance(force, vi.JointDamper)}
    held = [np.abs(run.force[force.name]).reshape(len(run.t), -1).max(axis=1) for force in mechanism.forces
            if isinstance(force, HARD)]  # fmt: skip
    open_nodes = np.all([each == 0.0 for each in held], axis=0) if held else np.ones(len(run.t), dtype=bool)
    motion, columns, frozen = None, vi.redmax.coordinates(mechanism), []
    for joint in mechanism.joints:
        if joint.dof != 1 or joint.name in damped:
            continue
        still = open_nodes & (np.abs(run.rates[joint.name]) < STILL)
        rows = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(still, FROZEN).all(axis=1))
        if rows.size and motion is None:
            motion = vi.EquationsOfMotion(dataclasses.replace(mechanism, forces=soft))
        for node in rows[np.diff(rows, prepend=-2) > 1] + 1:  # each time that it stands still
            second = motion.acceleration(run.t[node], *motion.coordinates(run[int(node)]))
            if abs(second[columns[joint.name]]).max() > MOVED:
                frozen.append(joint.name)
                break
    return frozen
