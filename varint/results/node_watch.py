"""Judges a run by its recorded nodes, where steps are not judged as they are made.

These are runs in reduced coordinates, by other simulators and by methods of the user.
"""

from collections.abc import Iterable

import numpy as np

from varint.kinematics.drift import joint_drift, left_open, most_open_bodies
from varint.model.body import WORLD
from varint.results.component_energies import FEW, component_energies, jumps
from varint.results.contact_forces import penetrations
from varint.results.recorded_motion import RecordedMotion
from varint.step.energy.balance import LARGEST_ERROR

JUMP = 0.01  # of the energy that takes part: the largest change of the energy residual within a few nodes
# drift of joints that is not reported, of the size of the parts: with error control, which closes loops at the nodes,
# and of steps of one size
OPEN, OPEN_BY_STEPS = 1e-10, 1e-3
OPEN_AS_AT_START = 10.0  # times that of the start, as of loops that close within their digits only


def judge_nodes(motion: RecordedMotion, by_energy: bool) -> np.ndarray:
    """Return the number (T,) of a body at nodes where energy jumped, contacts overlap or joints are open, -1 elsewhere.

    Energy jumps where the residual of a component changes by more than 1 % of the energy that takes part within a few
    nodes and does not come back, or exceeds 5 % of the scale (`ComponentEnergy`), in runs of more than ten nodes.
    ``by_energy``: whether it is judged, never of runs in which loads or prescribed joints do work, which is known by
    sums over the nodes alone. Joints are open beyond `open_bound`; contacts of runs with error control overlap beyond
    `overlap_bound`: an impact that a step has missed, or had in a place where there is none, balances its energy.
    """
    bodies = np.full(len(motion.t), -1)
    for node, body in (*(_jumped(motion) if by_energy else ()), *_overlapping(motion), *_open(motion)):
        bodies[node] = body
    return bodies


def open_bound(motion: RecordedMotion) -> float:
    """Return the drift, m, from which on joints are reported, at least ten times that of the start.

    By the size of a part: 1e-10 with error control, 1e-6 or 100 ``rtol`` with ``baumgarte=0``, 1e-3 of fixed steps and
    of methods of the user.
    """
    rtol, length = motion._step_tolerance, motion.mechanism.compiled.length
    if rtol is None or not is_reduced(motion):
        return OPEN_BY_STEPS * length
    if not motion.settings["baumgarte"]:
        return left_open(rtol) * length
    start = joint_drift(motion.mechanism.compiled, motion.position[:1], motion.quat_wxyz[:1])[0]
    return max(OPEN * length, OPEN_AS_AT_START * start if motion.t[0] == 0 else 0.0)


def is_reduced(motion: RecordedMotion) -> bool:
    """Return whether a run is in reduced coordinates, where joints of the spanning tree cannot open."""
    return "chart" in motion.settings  # of its coordinates


def drift_of(motion: RecordedMotion) -> np.ndarray:
    """Return the drift (T,), m, of the joints at the nodes, part by part; zero if the coordinates hold all joints."""
    if is_reduced(motion) and not motion.mechanism.compiled.topology.clusters:
        return np.zeros(len(motion.t))
    return np.concatenate([part.drift for part in motion.parts()])


def overlap_bound(motion: RecordedMotion) -> float:
    """Return the depth, m, from which on overlaps are reported; infinite in steps of one size."""
    rtol = motion._step_tolerance
    return np.inf if rtol is None else left_open(rtol) * motion.mechanism.compiled.length


def overlaps_of(motion: RecordedMotion) -> dict[str, np.ndarray]:
    """Return the depths (T,), m, of each contact at the nodes, part by part."""
    if not motion.mechanism.compiled.plan.contacts.body.size:
        return {}
    depths = [penetrations(motion.mechanism, part.position, part.quat_wxyz) for part in motion.parts()]
    return {name: np.concatenate([each[name] for each in depths]) for name in depths[0]} if depths else {}


def _overlapping(motion: RecordedMotion) -> Iterable[tuple[int, int]]:
    """Yield nodes at which a contact overlaps, and its body."""
    bound = overlap_bound(motion)
    for name, depth in overlaps_of(motion).items() if np.isfinite(bound) else ():
        bodies = [body for body in motion.mechanism.force(name).acts_on(motion.mechanism) if body != WORLD]
        yield from ((node, motion.mechanism.body_index[bodies[0]]) for node in np.flatnonzero(depth > bound).tolist())


def _jumped(motion: RecordedMotion) -> Iterable[tuple[int, int]]:
    """Yield nodes before which energy came or went without work, and the body whose velocity changed most there."""
    if len(motion.t) <= 2 * FEW or motion.work_from_outside.any():
        return
    for component in component_energies(motion):
        before = -FEW
        beyond = np.flatnonzero(np.abs(component.error) > LARGEST_ERROR * component.scale)[:1]
        nodes = [node for node, _ in jumps(motion.t, component.error, component.energy, JUMP)]
        for node in sorted([*nodes, *beyond.tolist()]):
            if node >= before + FEW:
                yield node, _most_changed(motion, component.bodies, node)
                before = node


def _most_changed(motion: RecordedMotion, bodies: np.ndarray, node: int) -> int:
    """Return the number of the body of ``bodies`` whose change of velocity to a node has most kinetic energy."""
    ends = slice(max(0, node - 1), node + 1)
    line, turn = (np.ptp(array[ends], axis=0) for array in (motion.velocity, motion.angular_velocity))
    energy = [motion.mechanism.bodies[i].mass * line[i] @ line[i] for i in bodies]
    energy += np.array([turn[i] @ motion.mechanism.bodies[i].inertia @ turn[i] for i in bodies])
    return int(bodies[int(np.argmax(energy))])


def _open(motion: RecordedMotion) -> Iterable[tuple[int, int]]:
    """Yield nodes at which joints are open, and a body on the joint that is open most."""
    nodes = np.flatnonzero(drift_of(motion) > open_bound(motion))
    if nodes.size:
        bodies = most_open_bodies(motion.mechanism.compiled, motion.position[nodes], motion.quat_wxyz[nodes])
        yield from zip(nodes.tolist(), bodies.tolist(), strict=True)
