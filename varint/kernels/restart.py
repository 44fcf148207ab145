"""State that a step changes: stored at its start, to repeat it in halves or up to the instant of an event.

A composition keeps its order only where all its stages have their shares of one step, so a stage that cannot be solved
halves the whole step (measured: halving the stage alone leaves errors of second order).
"""

from varint._numba import njit
from varint.kernels.balance import copy_balance
from varint.kernels.configuration import place
from varint.terms.kernels.term_rows import copy_contacts, has_contacts, place_rows

DEEPEST_SUBSTEP = 12  # a step is halved at most so many times
ACCEPTED, AGAIN, AT_START = 0, 1, 2  # verdicts of terms on the end of a trial


@njit
def _copy(values, kept, back):
    """``values`` to ``kept``, or back if ``back``."""
    for n in range(kept.size):
        if back:
            values[n] = kept[n]
        else:
            kept[n] = values[n]


@njit
def _copy_rows(values, kept, back):
    for i in range(kept.shape[0]):  # ``values`` may have a row more, the pose of the world
        for k in range(kept.shape[1]):
            if back:
                values[i, k] = kept[i, k]
            else:
                kept[i, k] = values[i, k]


@njit
def copy_products(plan, ws, back):
    """Coordinates of products of exponentials to ``ws.kept``, or back if ``back``."""
    if plan.products.start.size:
        _copy_rows(ws.products.q, ws.kept.q, back)
        _copy_rows(ws.products.order, ws.kept.order, back)


@njit
def _copy_state(plan, ws, pose, back):
    """The state with the pose ``pose`` to ``ws.kept``, or back if ``back``."""
    kept, efforts = ws.kept, ws.efforts
    _copy_rows(ws.position[pose], kept.position, back)
    _copy_rows(ws.quat[pose], kept.quat, back)
    _copy_rows(ws.momentum, kept.momentum, back)
    _copy_rows(ws.position_rest[pose], kept.position_rest, back)
    _copy_rows(ws.quat_rest[pose], kept.quat_rest, back)
    _copy_rows(ws.momentum_rest, kept.momentum_rest, back)
    _copy(efforts.value_near, kept.value_near, back)
    _copy(efforts.work, kept.work, back)
    _copy(efforts.state, kept.state, back)
    _copy(efforts.target, kept.target, back)
    _copy(efforts.target_rate, kept.target_rate, back)
    copy_products(plan, ws, back)
    if has_contacts(plan):
        copy_contacts(ws, back)


@njit
def keep_start(plan, ws, pose):
    """Keep the state at the start of a step, the pose ``pose``, in ``ws.kept``."""
    _copy_state(plan, ws, pose, False)
    copy_balance(ws.balance, ws.kept.balance)


@njit
def go_back(plan, ws, pose):
    """Go back to the state of the last `keep_start`, with the same ``pose``."""
    _copy_state(plan, ws, pose, True)
    copy_balance(ws.kept.balance, ws.balance)
    place(plan, ws, pose)
    place_rows(plan, ws, pose)
