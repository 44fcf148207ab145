"""Nodes that are too far apart to determine the motion between them."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import ArgumentError, SparseNodesWarning
from varint.model.joints.base import Joint
from varint.results.interpolation import predicted_positions, velocity_errors
from varint.results.points import relative

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

LARGEST_TURN = np.pi  # rad, from node to node: further ones look like turns the other way
MISSED = 0.1  # of the range of a body's motion: a node that its neighbours predict no better is too far from them
INACCURATE = 0.02  # of the largest speed of a body: a larger estimated error of its velocity between nodes is reported
WIDER = 2.0  # times a gap: the next one, if wider, says nothing of the motion in it
SMALLEST = 1e-3  # of the largest range, or speed, of a body: what moves less counts as if it moved by that
REMEDY = "record nodes more often, by a smaller 'every' or 'dt', or at the times in question, by output_times="


def warn_of_lost_turns(trajectory: "RecordedMotion", joint: Joint) -> None:
    """Give a SparseNodesWarning if a joint turns too far between two neighbouring nodes to count its turns."""
    spin = relative(trajectory, joint.body_a, joint.body_b).angular_velocity
    ends = np.arange(len(spin) - 1)[:, None] + [0, 1]
    speed = np.linalg.norm(spin, axis=1)[ends]
    harm = "whole turns are missing from its coordinates"
    _warn(f"joint {joint.name!r}", trajectory.t[ends], speed, harm)


def warn_of_unknown_motion(trajectory: "RecordedMotion", times: np.ndarray, velocities: bool = True) -> None:
    """Give a SparseNodesWarning if the nodes on either side of one of the ``times``, s, do not determine the motion.

    A body turns too far between them, or, if ``velocities`` count, its velocity there is inaccurate, see
    `_inaccurate_velocity`.
    """
    between = times[~np.isin(times, trajectory.t)]
    ends = np.unique(np.searchsorted(trajectory.t, between))[:, None] + [-1, 0]
    speed = np.linalg.norm(trajectory.angular_velocity[ends], axis=-1)  # (K, 2, nb)
    fastest = int(speed.max(axis=(0, 1), initial=0.0).argmax())
    who = f"body {trajectory.mechanism.bodies[fastest].name!r}"
    if _warn(who, trajectory.t[ends], speed[..., fastest], "the motion in between is not known"):
        return
    inaccurate = _inaccurate_velocity(trajectory, ends[:, 0]) if velocities else ""
    if inaccurate:
        warnings.warn(inaccurate, SparseNodesWarning, stacklevel=level_of_user())


def check_known_motion(trajectory: "RecordedMotion", before: np.ndarray, label: str) -> None:
    """Raise ArgumentError if nodes ``before`` (K,) and the next ones do not determine the motion in between."""
    sentence = find_unknown_motion(trajectory, before)[1]
    if sentence:
        raise ArgumentError(f"{label}: {sentence}")


def find_unknown_motion(trajectory: "RecordedMotion", before: np.ndarray) -> tuple[np.ndarray, str]:
    """Return between which nodes ``before`` (K,) and the next ones the motion is not known, (K,), and a sentence.

    That is where a body turns too far, where the neighbours of one of these nodes predict it badly (with nodes twice
    as far apart a sine is missed by `MISSED` of its range if they are a quarter of a period apart), or where a velocity
    is inaccurate, see `_velocity_shares`. A node beside a gap that is more than `WIDER` times as wide is not judged by
    its neighbours. The sentence, without its subject, is about the worst; empty if all is known.
    """
    t, bodies = trajectory.t, trajectory.mechanism.bodies
    ends = before[:, None] + [0, 1]
    turns = np.linalg.norm(trajectory.angular_velocity[ends], axis=-1).mean(axis=1) * np.diff(t[ends], axis=1)
    missed, of_node = _misses(trajectory, ends)
    shares, words = _velocity_shares(trajectory, before)
    unknown = (turns > LARGEST_TURN).any(axis=1) | (missed > MISSED).any(axis=(1, 2)) | (shares > INACCURATE)
    if (turns > LARGEST_TURN).any():
        far, body = map(int, np.unravel_index(turns.argmax(), turns.shape))
        begin, end = t[ends[far]]
        return unknown, (
            f"body '{bodies[body].name}' turns by some {turns[far, body]:.3g} rad between the nodes at"
            f" {begin:g} and {end:g} s, and nodes determine no more than half a turn: {REMEDY}"
        )
    if (missed > MISSED).any():
        k, side, body = map(int, np.unravel_index(missed.argmax(), missed.shape))
        moved = np.linalg.norm(np.ptp(trajectory.position[:, body], axis=0))
        return unknown, (
            f"the nodes around t = {t[ends[k, side]]:g} s are too far apart to know the motion between them. The"
            f" two beside it miss body '{bodies[body].name}' there by {of_node[k, side, body]:.3g} m, of"
            f" {moved:.3g} m by which it moves in all: {REMEDY}"
        )
    return unknown, words


def _misses(trajectory: "RecordedMotion", ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much neighbours miss the nodes ``ends`` (K, 2) of gaps, (K, 2, nb): over ranges of motion, and m.

    Zero at the ends of a run, and for a node whose other gap is more than `WIDER` times as wide.
    """
    t = trajectory.t
    inner = np.unique(ends)
    inner = inner[(inner > 0) & (inner < len(t) - 1)]
    apart = np.zeros((len(t), len(trajectory.mechanism.bodies)))
    if inner.size:
        apart[inner] = np.linalg.norm(
            predicted_positions(trajectory.nodes, inner) - trajectory.position[inner], axis=-1
        )
    other = np.clip(ends + [-1, 1], 0, len(t) - 1)
    beside = np.abs(t[ends] - t[other]) <= WIDER * np.diff(t[ends], axis=1)
    missed = np.where(beside[:, :, None], apart[ends], 0.0)
    moved = np.linalg.norm(np.ptp(trajectory.position, axis=0), axis=-1)
    return missed / np.maximum(moved, SMALLEST * moved.max() + np.finfo(float).tiny), missed


def largest_speeds(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the largest speed, m/s, and angular speed, rad/s, (2, nb), of each body at the nodes of a motion."""
    largest = np.zeros((2, len(trajectory.mechanism.bodies)))
    for part in trajectory.parts():
        speeds = np.linalg.norm([part.velocity, part.angular_velocity], axis=-1)
        largest = np.maximum(largest, speeds.max(axis=1))
    return largest


def _inaccurate_velocity(trajectory: "RecordedMotion", before: np.ndarray) -> str:
    """Return a sentence on the least accurate velocity between nodes ``before`` (K,) and the next; empty if all are."""
    return _velocity_shares(trajectory, before)[1]


def _velocity_shares(trajectory: "RecordedMotion", before: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the largest error of a velocity between nodes ``before`` (K,) and the next, (K,), and a sentence.

    Over the largest speed of the body, by the estimate of `velocity_errors`. Above `INACCURATE` it is too large; the
    sentence is about the worst of these, empty if there is none. Single steps are not judged where velocities may jump
    at any of them: their error counts as zero.
    """
    t, jumps = trajectory.t, trajectory._jumps
    every, judged = np.zeros(len(before)), np.full(len(before), True)
    if jumps:
        dt = trajectory.settings.get("dt")
        judged = t[before + 1] - t[before] > 1.5 * dt if dt else ~judged
        before = before[judged]
    if not before.size:
        return every, ""
    errors, largest = velocity_errors(trajectory.nodes, before, trajectory.order, jumps), trajectory._largest_speeds
    sentence, worst = "", INACCURATE
    for error, speed, name, unit in zip(
        errors, largest, ("velocity", "angular velocity"), ("m/s", "rad/s"), strict=True
    ):
        share = error / (np.maximum(speed, SMALLEST * speed.max()) + np.finfo(float).tiny)
        every[judged] = np.maximum(every[judged], share.max(axis=1))
        k, body = np.unravel_index(share.argmax(), share.shape)
        if share[k, body] > worst:
            begin, end, worst = t[before[k]], t[before[k] + 1], float(share[k, body])
            sentence = (
                f"the nodes at {begin:g} and {end:g} s are too far apart to know the motion between them: the"
                f" {name} of body '{trajectory.mechanism.bodies[body].name}' there is uncertain by about"
                f" {error[k, body]:.2g} {unit}, where {speed[body]:.3g} {unit} is its largest: {REMEDY}"
            )
    return every, sentence


def _warn(who: str, t: np.ndarray, speed: np.ndarray, harm: str) -> bool:
    """Return whether the warning was given; ``t`` (K, 2), s, ``speed`` (K, 2), rad/s: at both ends of K gaps.

    ``harm``: the consequence.
    """
    turn = speed.mean(axis=1) * np.diff(t, axis=1)[:, 0]
    if turn.max(initial=0.0) > LARGEST_TURN:
        k = int(turn.argmax())
        warnings.warn(
            f"{who} turns by some {turn[k]:.3g} rad between the nodes at {t[k, 0]:g} and {t[k, 1]:g} s, and nodes"
            f" determine no more than half a turn: {harm}. Record nodes more often, by a smaller 'every'",
            SparseNodesWarning,
            stacklevel=level_of_user(),
        )
        return True
    return False
