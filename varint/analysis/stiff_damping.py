"""Velocities that forces at the nodes go by, where strongly damped beams make those of the steps change sign.

A mode of an element with the damping time tau and the angular frequency w decays at the rate tau w^2 where that is far
above w. A step of order 2 multiplies its momentum by (1 - s) / (1 + s), s = tau w^2 h / 2. Far above s = 1 it changes
sign from node to node and hardly decays, whatever excited it. Its velocity over a step is smaller by 1 / s than those
at the nodes, which are no motion, but the damping at a node goes by them.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.analysis.forces import element_efforts
from varint.errors import SparseNodesWarning
from varint.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.forces.beam_element import BeamElement
from varint.model.rotation_vectors import quat_product, vector_from_quat

if TYPE_CHECKING:
    from varint.analysis.recorded_motion import RecordedMotion

STIFF = 2.0  # of s: below, the mode is gone within some steps
EVEN = 1e-9  # of dt: distances of nodes that are those of steps
SHAKES = 2.0  # times the range of an element's strain: by so much a step at the rate at a node would change it
FEW = 5  # nodes: no range is known of fewer
SEEN = 0.05  # of the largest section force: a damping force that is not the motion's


class StiffBeam(NamedTuple):
    """The most strongly damped element of a mechanism: its force, tau, s, and the number s."""

    label: str
    damping_time: float
    size: float


def stiff_beam(mechanism: Mechanism, dt: float) -> StiffBeam | None:
    """The element whose damping steps of ``dt``, s, resolve least; None where all have s below STIFF."""
    worst = None
    for force in mechanism.forces:
        if isinstance(force, BeamElement) and force.damping.any():
            mobility = np.zeros(6)
            for body in (mechanism.body(name) for name in (force.body_a, force.body_b) if name != WORLD):
                mobility += np.repeat([1.0 / body.mass, 1.0 / np.linalg.eigvalsh(body.inertia)[0]], 3)
            size = 0.5 * dt * float((force.damping * mobility).max())
            if size > (STIFF if worst is None else worst.size):
                times = force.damping[force.stiffness > 0.0] / force.stiffness[force.stiffness > 0.0]
                worst = StiffBeam(force.label, float(times.max(initial=0.0)), size)
    return worst


def motion_of_forces(run: "RecordedMotion") -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, quaternions, velocities and angular velocities of a run, as forces at its nodes go by them.

    Where a beam is damped strongly, in runs of order 2 of which each node is recorded, velocities are the means of
    those over the steps before and after the node. Else they are those of the nodes, as in the first node of a run.
    """
    recorded = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
    if not has_means(run):
        return recorded
    dt = run.settings["dt"]
    back = run.quat_wxyz[:-1] * (1.0, -1.0, -1.0, -1.0)
    over_steps = np.diff(run.position, axis=0) / dt, vector_from_quat(quat_product(back, run.quat_wxyz[1:])) / dt
    means = []
    for given, rate in zip(recorded[2:], over_steps, strict=True):
        mean = np.empty_like(given)
        mean[1:-1] = 0.5 * (rate[1:] + rate[:-1])
        mean[0] = given[0] if run.t[0] == 0.0 else 2.0 * mean[1] - mean[2]
        mean[-1] = 2.0 * mean[-2] - mean[-3]
        means.append(mean)
    return recorded[0], recorded[1], means[0], means[1]


def has_means(run: "RecordedMotion") -> bool:
    """Whether its forces go by means of velocities, see `motion_of_forces`."""
    settings = run.settings
    if "scheme" not in settings or run.order != 2 or settings.get("turn") is not None or len(run) < 4:
        return False
    if stiff_beam(run.mechanism, settings["dt"]) is None:
        return False
    late = np.abs(np.diff(run.t) - settings["dt"]).max()
    return bool(late <= EVEN * settings["dt"] + 4.0 * np.spacing(run.t[-1]))


def warn_of_shaking(run: "RecordedMotion", stacklevel: int) -> None:
    """Give a SparseNodesWarning if forces at the nodes go by velocities that are no motion.

    That is, if at the rate at a node the strain of an element would change in a step by more than in the whole run.
    """
    if "scheme" not in run.settings or run.order == 1 or len(run) < FEW or has_means(run):
        return
    dt = run.settings["dt"]
    stiff = stiff_beam(run.mechanism, dt)
    if stiff is None:
        return
    still = np.zeros_like(run.velocity)
    poses, others = (run.position, run.quat_wxyz), (run.command, run.law_states)
    elastic = element_efforts(run.mechanism, (*poses, still, still), *others)
    whole = element_efforts(run.mechanism, (*poses, run.velocity, run.angular_velocity), *others)
    own = [k for k, force in enumerate(run.mechanism.forces) if isinstance(force, BeamElement) and force.damping.any()]
    columns = np.flatnonzero(np.isin(run.mechanism.compiled.force, own)).reshape(
        -1, 2, 3
    )  # elements, forces or moments
    damping, elastic = np.abs(whole - elastic)[:, columns], elastic[:, columns]
    seen = damping > SEEN * np.abs(elastic).max(axis=(0, 1, 3), keepdims=True)
    shaking = damping * dt > SHAKES * stiff.damping_time * np.ptp(elastic, axis=0)
    if (seen & shaking).any():
        warnings.warn(
            f"{stiff.label} has a damping time of {stiff.damping_time:g} s, which steps of {dt:g} s do not resolve:"
            " velocities along it change sign from node to node, and with them section forces, reactions and forces of"
            " hard contacts. Record each node, every=1, at order 2: these forces are then means of two steps. Or take a"
            " smaller damping time: at a hundredth of a step this dies out sooner",
            SparseNodesWarning,
            stacklevel=stacklevel + 1,
        )
