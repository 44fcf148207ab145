"""The stages of a run, kept so that their derivatives can be taken afterwards (tangent.py, adjoint.py)."""

from varint.base.numba import copy_spans, indirect, njit
from varint.step.compliant.beams import measure_beams
from varint.step.configuration import place
from varint.step.damping.end_rates import rates_at_start
from varint.step.dense import copy_motions
from varint.step.newton import evaluate_step
from varint.step.one_sided import keep_rows, play_rows
from varint.step.plan import Plan, Tape, Workspace


@indirect(seconds=1, what="recording of stages")
def keep_stage(plan: Plan, ws: Workspace, start: int, upper: int, h: float, node: int, share: float) -> None:
    """Keep the solved stage of ``h`` s from the pose ``start``, with impulses along rows ``upper``, on ``ws.tape``.

    ``start``, ``upper``: numbers of poses, 0 or 1. Among others ``tape.momentum`` and ``tape.velocity`` (N, nb, 6).
    Before its momenta are finished. Its inputs are taken ``share`` of a step after the node ``node``. A tape that is
    full counts on: its run has to be done again with a longer one.
    """
    tape, k = ws.tape, ws.tape.count[0]
    tape.count[0] += 1
    if k >= tape.h.size:
        return
    tape.h[k], tape.at_end[k], tape.node[k], tape.share[k] = h, upper != start, node, share
    for i in range(ws.velocity.shape[0]):
        for c in range(6):
            tape.momentum[k, i, c], tape.velocity[k, i, c] = ws.momentum[i, c], ws.velocity[i, c]
        _keep_load(plan, ws, i, tape.load[k, 0, i])
    copy_spans(ws.spans.taped, start, tape.stage[k], False)
    _copy(ws.efforts.input, tape.input[k])
    _copy(ws.efforts.state, tape.state[k])
    if ws.damping.active[0]:
        _keep_damping(ws, tape, k)
    keep_rows(plan, ws, tape, k)


@njit
def _keep_damping(ws, tape, k):
    """Write the leads of stage k, and velocities and rates of targets at its start, to ``tape.damping``.

    Leads (N, nf) of laws and (N, loads) of loads, velocities (N, nb, 6), rates (N, nr).
    """
    damping, kept = ws.damping, tape.damping
    kept.active[0] = True
    _copy(damping.lead, kept.lead[k])
    _copy(damping.load_lead, kept.load_lead[k])
    copy_motions(damping.start, kept.start[k])
    _copy(ws.efforts.target_rate, kept.target_rate[k])


@njit
def play_damping(ws, tape, k):
    """Write the leads of stage k, and velocities (nb, 6) at its start, to ``ws.damping``."""
    damping, kept = ws.damping, tape.damping
    damping.active[0] = kept.active[0]
    if not kept.active[0]:
        return
    _copy(kept.lead[k], damping.lead)
    _copy(kept.load_lead[k], damping.load_lead)
    copy_motions(kept.start[k], damping.start)


@njit
def keep_load(plan, ws):
    """Keep the load at the end of the stage that was kept last."""
    k = ws.tape.count[0] - 1
    if k < ws.tape.h.size:
        for i in range(ws.velocity.shape[0]):
            _keep_load(plan, ws, i, ws.tape.load[k, 1, i])


@njit
def _keep_load(plan, ws, i, load):
    """Write the load of body i, but for gravity, to ``load`` (6,)."""
    for c in range(3):
        load[c] = ws.load[i, c] - plan.bodies.mass[i] * plan.bodies.gravity[c]
        load[3 + c] = ws.load[i, 3 + c]


@njit
def _copy(values, to):
    """Copy ``values`` (n,) to ``to`` (n,)."""
    for n in range(to.size):
        to[n] = values[n]


@indirect(seconds=2, what="derivatives of steps")
def play_stage(plan: Plan, ws: Workspace, tape: Tape, k: int) -> tuple[int, float]:
    """Restore the workspace to stage k of the ``tape`` as it was solved, from pose 0 to pose 1; return (upper, h).

    Nothing is solved. Writes ``ws.position_rest``, ``ws.quat_rest``, ``ws.velocity``, ``ws.goal`` and by
    `evaluate_step`.
    """
    h, upper = tape.h[k], 1 if tape.at_end[k] else 0
    copy_spans(ws.spans.taped, 0, tape.stage[k], True)
    for i in range(plan.bodies.mass.size):
        for c in range(3):
            ws.position_rest[0, i, c] = 0.0
        for c in range(4):
            ws.quat_rest[0, i, c] = 0.0
        for c in range(6):
            ws.velocity[i, c] = tape.velocity[k, i, c]
            ws.goal[i, c] = tape.momentum[k, i, c] + 0.5 * h * tape.load[k, 0, i, c]
        for c in range(3):
            ws.goal[i, c] += 0.5 * h * plan.bodies.mass[i] * plan.bodies.gravity[c]
    _copy(tape.input[k], ws.efforts.input)
    _copy(tape.state[k], ws.efforts.state)
    play_damping(ws, tape, k)
    place(plan, ws, 0)
    if ws.damping.active[0]:
        rates_at_start(plan, ws, 0)
    play_rows(plan, ws, tape, k)
    evaluate_step(plan, ws, 0, 1, h, upper, 0.0)
    measure_beams(plan, ws, ws.efforts.position, ws.efforts.rotation)  # for gradients, which a step does without
    return upper, h


@njit
def load_start(plan, ws, tape, k):
    """Bring pose 0 of the workspace, with ``ws.momentum`` and the rates of targets, to the start of stage k.

    From a ``tape``, of a run that kept it; ``ws.momentum`` (nb, 6), ``ws.efforts.target_rate`` (nr,).
    """
    copy_spans(ws.spans.taped, 0, tape.stage[k], True)
    copy_motions(tape.momentum[k], ws.momentum)
    _copy(tape.damping.target_rate[k], ws.efforts.target_rate)
    place(plan, ws, 0)
    play_rows(plan, ws, tape, k)


@njit
def keep_event(plan, ws, pose, timed):
    """Keep the present event, at the pose ``pose``, in ``ws.tape.events``; return its number, -1 if the tape is full.

    ``pose``: 0 or 1; ``timed``: see `Events`. Its momenta before, ``ws.momentum`` (nb, 6), are kept too.
    """
    events, j = ws.tape.events, ws.tape.events.count[0]
    events.count[0] += 1
    if j >= events.stage.size:
        return -1
    events.stage[j], events.timed[j] = ws.tape.count[0], 1 if timed else 0
    copy_spans(ws.spans.before_event, pose, events.before[j], False)
    copy_motions(ws.momentum, events.momentum[j])
    keep_rows(plan, ws, events, j)
    return j


@njit
def play_event(plan, ws, events, j):
    """Bring pose 0 of the workspace, with ``ws.momentum`` (nb, 6), to where it was before event j of ``events``."""
    copy_spans(ws.spans.before_event, 0, events.before[j], True)
    copy_motions(events.momentum[j], ws.momentum)
    place(plan, ws, 0)
    play_rows(plan, ws, events, j)
