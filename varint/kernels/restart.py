"""What a composed step changes: kept at its start, so that it can be done again in halves.

A composition keeps its order only where all its stages have their shares of one step, so a stage that cannot be solved
halves the whole step (measured: halving the stage alone leaves errors of second order).
"""

from varint._numba import njit
from varint.kernels.balance import copy_balance
from varint.kernels.configuration import place


@njit
def _copy(values, to):
    for n in range(values.size):
        to[n] = values[n]


@njit
def _copy_rows(values, to):
    for i in range(min(values.shape[0], to.shape[0])):  # poses have a row more, the world's
        for k in range(to.shape[1]):
            to[i, k] = values[i, k]


@njit
def keep_start(plan, ws, pose):
    """Keep the state at the start of a step, the pose ``pose``, in ``ws.kept``."""
    kept, efforts, products = ws.kept, ws.efforts, ws.products
    _copy_rows(ws.position[pose], kept.position)
    _copy_rows(ws.quat[pose], kept.quat)
    _copy_rows(ws.momentum, kept.momentum)
    _copy_rows(ws.position_rest[pose], kept.position_rest)
    _copy_rows(ws.quat_rest[pose], kept.quat_rest)
    _copy_rows(ws.momentum_rest, kept.momentum_rest)
    _copy(efforts.value_near, kept.value_near)
    _copy(efforts.work, kept.work)
    _copy(efforts.state, kept.state)
    _copy(efforts.target, kept.target)
    _copy(efforts.target_rate, kept.target_rate)
    if plan.products.start.size:
        _copy_rows(products.q, kept.q)
        _copy_rows(products.order, kept.order)
    copy_balance(ws.balance, kept.balance)


@njit
def go_back(plan, ws, pose):
    """Go back to the state of the last `keep_start`, with the same ``pose``."""
    kept, efforts, products = ws.kept, ws.efforts, ws.products
    _copy_rows(kept.position, ws.position[pose])
    _copy_rows(kept.quat, ws.quat[pose])
    _copy_rows(kept.momentum, ws.momentum)
    _copy_rows(kept.position_rest, ws.position_rest[pose])
    _copy_rows(kept.quat_rest, ws.quat_rest[pose])
    _copy_rows(kept.momentum_rest, ws.momentum_rest)
    _copy(kept.value_near, efforts.value_near)
    _copy(kept.work, efforts.work)
    _copy(kept.state, efforts.state)
    _copy(kept.target, efforts.target)
    _copy(kept.target_rate, efforts.target_rate)
    if plan.products.start.size:
        _copy_rows(kept.q, products.q)
        _copy_rows(kept.order, products.order)
    copy_balance(kept.balance, ws.balance)
    place(plan, ws, pose)
