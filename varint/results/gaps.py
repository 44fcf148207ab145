"""Nodes that are too far apart to determine the motion between them."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from varint.base.errors import ArgumentError, SparseNodesWarning
from varint.model.joints.base import Joint
from varint.results.interpolation import predicted_positions
from varint.results.points import relative

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

LARGEST_TURN = np.pi  # rad, from node to node: further ones look like turns the other way
MISSED = 0.1  # of the range of a body's motion: a node that its neighbours predict no better is too far from them
SMALLEST = 1e-3  # of the largest range of a body: what moves less counts as if it moved by that
REMEDY = "record nodes more often, by a smaller 'every' or 'dt'"


def warn_of_lost_turns(trajectory: "RecordedMotion", joint: Joint) -> None:
    """Give a SparseNodesWarning if a joint turns too far between two neighbouring nodes to count its turns."""
    spin = relative(trajectory, joint.body_a, joint.body_b).angular_velocity
    ends = np.arange(len(spin) - 1)[:, None] + [0, 1]
    speed = np.linalg.norm(spin, axis=1)[ends]
    harm = "whole turns are missing from its coordinates"
    _warn(f"joint {joint.name!r}", trajectory.t[ends], speed, harm, stacklevel=5)


def warn_of_unknown_motion(trajectory: "RecordedMotion", times: np.ndarray) -> None:
    """Give a SparseNodesWarning if a body turns too far between the nodes on either side of one of the ``times``, s."""
    between = times[~np.isin(times, trajectory.t)]
    ends = np.unique(np.searchsorted(trajectory.t, between))[:, None] + [-1, 0]
    speed = np.linalg.norm(trajectory.angular_velocity[ends], axis=-1)  # (K, 2, nb)
    fastest = int(speed.max(axis=(0, 1), initial=0.0).argmax())
    who = f"body {trajectory.mechanism.bodies[fastest].name!r}"
    _warn(who, trajectory.t[ends], speed[..., fastest], "the motion in between is not known", stacklevel=4)


def check_known_motion(trajectory: "RecordedMotion", before: np.ndarray, label: str) -> None:
    """Raise ArgumentError if nodes ``before`` (K,) and the next ones do not determine the motion in between.

    That is where a body turns too far, or where the neighbours of one of these nodes predict it badly: with nodes
    twice as far apart a sine is missed by `MISSED` of its range if they are a quarter of a period apart.
    """
    t, bodies = trajectory.t, trajectory.mechanism.bodies
    ends = before[:, None] + [0, 1]
    turns = np.linalg.norm(trajectory.angular_velocity[ends], axis=-1).mean(axis=1) * np.diff(t[ends], axis=1)
    far, body = np.unravel_index(turns.argmax(), turns.shape)
    if turns[far, body] > LARGEST_TURN:
        begin, end = t[ends[far]]
        raise ArgumentError(
            f"{label}: body '{bodies[body].name}' turns by some {turns[far, body]:.3g} rad between the nodes at"
            f" {begin:g} and {end:g} s, and nodes determine no more than half a turn: {REMEDY}"
        )
    inner = np.unique(ends)
    inner = inner[(inner > 0) & (inner < len(t) - 1)]
    if not inner.size:
        return
    missed = np.linalg.norm(predicted_positions(trajectory.nodes, inner) - trajectory.position[inner], axis=-1)
    moved = np.linalg.norm(np.ptp(trajectory.position, axis=0), axis=-1)
    share = missed / np.maximum(moved, SMALLEST * moved.max() + np.finfo(float).tiny)
    node, body = np.unravel_index(share.argmax(), share.shape)
    if share[node, body] > MISSED:
        raise ArgumentError(
            f"{label}: the nodes around t = {t[inner[node]]:g} s are too far apart to know the motion between them. The"
            f" two beside it miss body '{bodies[body].name}' there by {missed[node, body]:.3g} m, of"
            f" {moved[body]:.3g} m by which it moves in all: {REMEDY}"
        )


def _warn(who: str, t: np.ndarray, speed: np.ndarray, harm: str, stacklevel: int) -> None:
    """Give the warning; ``t`` (K, 2), s, ``speed`` (K, 2), rad/s: at both ends of K gaps; ``harm``: the consequence."""
    turn = speed.mean(axis=1) * np.diff(t, axis=1)[:, 0]
    if turn.max(initial=0.0) > LARGEST_TURN:
        k = int(turn.argmax())
        warnings.warn(
            f"{who} turns by some {turn[k]:.3g} rad between the nodes at {t[k, 0]:g} and {t[k, 1]:g} s, and nodes"
            f" determine no more than half a turn: {harm}. Record nodes more often, by a smaller 'every'",
            SparseNodesWarning,
            stacklevel=stacklevel,
        )
