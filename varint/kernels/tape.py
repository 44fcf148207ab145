"""The stages of a run, kept so that their derivatives can be taken afterwards (tangent.py, adjoint.py)."""

from varint._numba import njit
from varint.kernels.configuration import place
from varint.kernels.newton import evaluate_step
from varint.terms.kernels.term_rows import keep_rows, play_rows


@njit
def keep_stage(plan, ws, start, upper, h, node, share):
    """Keep the stage of ``h`` seconds that was just solved from the pose ``start``, with impulses along rows ``upper``.

    Before its momenta are finished. Its inputs are those ``share`` of a step after the node ``node``. A tape that is
    full counts on: its run has to be done again with a longer one.
    """
    tape, k = ws.tape, ws.tape.count[0]
    tape.count[0] += 1
    if k >= tape.h.size:
        return
    tape.h[k], tape.at_end[k], tape.node[k], tape.share[k] = h, upper != start, node, share
    for i in range(ws.velocity.shape[0]):
        for c in range(3):
            tape.position[k, i, c] = ws.position[start, i, c]
        for c in range(4):
            tape.quat[k, i, c] = ws.quat[start, i, c]
        for c in range(6):
            tape.momentum[k, i, c], tape.velocity[k, i, c] = ws.momentum[i, c], ws.velocity[i, c]
        _keep_load(plan, ws, i, tape.load[k, 0, i])
    _copy(ws.multiplier, tape.multiplier[k])
    _copy(ws.efforts.value_near, tape.value_near[k])
    _copy(ws.efforts.input, tape.input[k])
    _copy(ws.efforts.target, tape.target[k])
    _copy(ws.efforts.state, tape.state[k])
    keep_rows(plan, ws, tape, k)
    for n in range(ws.products.q.shape[0]):
        _copy(ws.products.q[n], tape.q[k, n])
        _copy(ws.products.order[n], tape.order[k, n])


@njit
def keep_load(plan, ws):
    """Keep the load at the end of the stage that was kept last."""
    k = ws.tape.count[0] - 1
    if k < ws.tape.h.size:
        for i in range(ws.velocity.shape[0]):
            _keep_load(plan, ws, i, ws.tape.load[k, 1, i])


@njit
def _keep_load(plan, ws, i, load):
    """The load (6,) of body i but for gravity."""
    for c in range(3):
        load[c] = ws.load[i, c] - plan.bodies.mass[i] * plan.bodies.gravity[c]
        load[3 + c] = ws.load[i, 3 + c]


@njit
def _copy(values, to):
    for n in range(to.size):
        to[n] = values[n]


@njit
def play_stage(plan, ws, tape, k):
    """Solve nothing, but bring the workspace to where stage k was just solved; returns (upper, h).

    It leads from pose 0 to pose 1.
    """
    h, upper = tape.h[k], 1 if tape.at_end[k] else 0
    for i in range(plan.bodies.mass.size):
        for c in range(3):
            ws.position[0, i, c], ws.position_rest[0, i, c] = tape.position[k, i, c], 0.0
        for c in range(4):
            ws.quat[0, i, c], ws.quat_rest[0, i, c] = tape.quat[k, i, c], 0.0
        for c in range(6):
            ws.velocity[i, c] = tape.velocity[k, i, c]
            ws.goal[i, c] = tape.momentum[k, i, c] + 0.5 * h * tape.load[k, 0, i, c]
        for c in range(3):
            ws.goal[i, c] += 0.5 * h * plan.bodies.mass[i] * plan.bodies.gravity[c]
    _copy(tape.multiplier[k], ws.multiplier)
    _copy(tape.value_near[k], ws.efforts.value_near)
    _copy(tape.input[k], ws.efforts.input)
    _copy(tape.target[k], ws.efforts.target)
    _copy(tape.state[k], ws.efforts.state)
    for n in range(ws.products.q.shape[0]):
        _copy(tape.q[k, n], ws.products.q[n])
        _copy(tape.order[k, n], ws.products.order[n])
    place(plan, ws, 0)
    play_rows(plan, ws, tape, k)
    evaluate_step(plan, ws, 0, 1, h, upper, 0.0)
    return upper, h


@njit
def keep_event(plan, ws, pose, timed):
    """Keep the event that comes now, at the pose ``pose``; returns its number, -1 where the tape is full.

    ``timed``: see `Events`.
    """
    events, j = ws.tape.events, ws.tape.events.count[0]
    events.count[0] += 1
    if j >= events.stage.size:
        return -1
    events.stage[j], events.timed[j] = ws.tape.count[0], 1 if timed else 0
    for i in range(ws.momentum.shape[0]):
        _copy(ws.position[pose, i], events.position[j, i])
        _copy(ws.quat[pose, i], events.quat[j, i])
        _copy(ws.momentum[i], events.momentum[j, i])
    _copy(ws.efforts.value_near, events.value_near[j])
    _copy(ws.efforts.target_rate, events.target_rate[j])
    keep_rows(plan, ws, events, j)
    return j


@njit
def play_event(plan, ws, events, j):
    """Bring pose 0 of the workspace, with ``ws.momentum``, to where it was before event j."""
    for i in range(plan.bodies.mass.size):
        _copy(events.position[j, i], ws.position[0, i])
        _copy(events.quat[j, i], ws.quat[0, i])
        _copy(events.momentum[j, i], ws.momentum[i])
    _copy(events.value_near[j], ws.efforts.value_near)
    _copy(events.target_rate[j], ws.efforts.target_rate)
    place(plan, ws, 0)
    play_rows(plan, ws, events, j)
