"""Contacts of shapes in reduced coordinates: features for the step ahead, and their gaps, rows and curvature after it.

Poses and velocities are those of the equations. Pose 0 of the workspace is where features were sought, pose 1 where
they are read.
"""

from varint.base.numba import njit
from varint.step.contacts.features import acceleration_bias, locate_contact, write_feature_frame
from varint.step.contacts.finding import choose_features, longest_share, misses_features, see_features
from varint.step.contacts.rows import OUT_OF_REACH, contact_gap

LARGEST_WAY = 0.25  # of the smaller shape: how far two that could meet move in a step


@njit
def _place(plan, ws, pose, motion):
    """Write the pose of a ``motion`` to a pose of the workspace, and its velocities.

    ``motion``: position (nb + 1, 3), rotation (nb + 1, 3, 3) and velocity (nb, 6). Writes ``ws.position``,
    ``ws.rotation``, of moving bodies, and ``ws.velocity``.
    """
    position, rotation, velocity = motion
    for i in range(plan.bodies.mass.size):
        for a in range(3):
            ws.position[pose, i, a] = position[i, a]
            for b in range(3):
                ws.rotation[pose, i, a, b] = rotation[i, a, b]
        for a in range(6):
            ws.velocity[i, a] = velocity[i, a]


@njit(seconds=12, what="contacts of shapes in reduced coordinates")
def seek_features(plan, ws, motion, h, closed):
    """Fill the slots with the features that could meet within ``h`` seconds; return the longest step to be taken, s.

    ``closed`` (features,): slots in contact. They stay so where their features, or others there, are found again; the
    others become False. Writes pose 0 and of ``ws.contacts`` ``closed``, ``held_gap``, m, and the arrays of slots.
    """
    work, planes = ws.contacts, plan.contacts.height.size
    _place(plan, ws, 0, motion)
    for f in range(closed.size):
        work.closed[planes + f] = closed[f]
        work.held_gap[planes + f] = contact_gap(plan, ws, 0, planes + f) if closed[f] else 0.0
    choose_features(plan, ws, 0, h)
    for f in range(closed.size):
        closed[f] = work.closed[planes + f]
    return h * longest_share(plan, ws, 0, h, LARGEST_WAY)


@njit(seconds=10, what="contacts of shapes in reduced coordinates")
def read_features(plan, ws, motion, gap, rows, bend):
    """Write ``gap`` (features,), m, ``rows`` (features, 2, 3, 6) and ``bend`` (features, 3), m/s^2, of the slots.

    Rows by the motions of both bodies, along the normal and two directions across it; ``bend``: see
    `acceleration_bias`. Empty slots have the gap `OUT_OF_REACH`, rows and ``bend`` zero. Writes pose 1 and
    ``ws.contacts.frame``, ``ws.contacts.upper``.
    """
    planes = plan.contacts.height.size
    _place(plan, ws, 1, motion)
    for f in range(gap.size):
        k = planes + f
        if ws.contacts.kind[f] < 0:
            gap[f] = OUT_OF_REACH
            rows[f] = 0.0
            bend[f] = 0.0
            continue
        gap[f] = locate_contact(plan, ws, 1, k)[0]
        write_feature_frame(plan, ws, 1, k)
        for side in range(2):
            for a in range(3):
                for m in range(6):
                    rows[f, side, a, m] = ws.contacts.upper[k, a, 6 * side + m]
        bend[f, 0], bend[f, 1], bend[f, 2] = acceleration_bias(plan, ws, 1, k, motion[2])


@njit(seconds=10, what="contacts of shapes in reduced coordinates")
def check_features(plan, ws, motion, seen):
    """Set ``seen`` (features,), where True, to whether the shapes still face each other by the features of the slot.

    ``motion``: see `_place`; writes pose 1.
    """
    _place(plan, ws, 1, motion)
    see_features(plan, ws, 1, seen)


@njit(seconds=10, what="contacts of shapes in reduced coordinates")
def overlooks_features(plan, ws, motion):
    """Return whether shapes have met, since features were sought, by features that have no slot."""
    _place(plan, ws, 1, motion)
    return misses_features(plan, ws, 0, 1, 1.0)
