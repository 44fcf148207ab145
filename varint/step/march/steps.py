"""Steps of a march from Python, one or several a call, at the least cost of a call; and readings of the node."""

import math

from varint.base.numba import copy_spans, indirect, njit, record_at
from varint.step.collocation.held_steps import run_nodes, show_node
from varint.step.intervals import NodeGrid
from varint.step.march.records import HELD_FROM, KEEPS, NODE, POSE, RECORDED, STAGGERED, STEPPED, STRIDE, MarchSteps
from varint.step.newton import CONVERGED
from varint.step.nodes.joint_readings import read_joints
from varint.step.step import record_node, run

DONE, FAILED, NOT_FINITE, UNRESOLVED = range(4)  # how a call of `take_steps` ends
march_at = record_at(MarchSteps)
run_steps = indirect(run)  # the very code of other runs: the same bits


@njit(seconds=1, what="steps that Python calls one by one")
def take_steps(word: int, steps: int) -> int:
    """Take steps with the inputs of the march, see `MarchSteps`; return how that ended.

    If a step is not solved, ``place`` has the number of solved steps as STEPPED, the march is in the middle of the
    failed one, and ``kept`` has the node where the call began.
    """
    march = march_at(word)
    place, inputs = march.place, march.input
    for s in range(inputs.size):
        if not math.isfinite(inputs[s]):
            return NOT_FINITE
    if place[KEEPS] != 0:
        _copy_march(march, False)
    place[STEPPED] = 0
    part = steps if march.table.shape[0] == 1 else 1  # rows are of two nodes
    while place[STEPPED] < steps:
        _set_inputs(march)
        status, done = _run(march, part)
        place[STEPPED] += done
        if status != CONVERGED:
            return FAILED
    return UNRESOLVED if march.ws.balance.unresolved[0] >= 0 else DONE


@njit(contract=False)
def _set_inputs(march):
    """Set the inputs at the present node and at the next one in ``march.table``, and ``march.before``.

    Rounded as in `MaximalRun`, which does so for adaptive steps. Also sets ``march.first`` and the time in
    ``march.number``.
    """
    place, inputs, before, number = march.place, march.input, march.before, march.number
    if march.first.size:
        march.first[0] = place[NODE]
    row = 0 if march.table.shape[0] == 1 else place[NODE] - march.inputs.first[0]
    time = march.ws.pace.time[0]
    for s in range(inputs.size):
        e, slope = march.element[s], 0.0
        if march.extrapolated[s] and place[NODE] > place[HELD_FROM]:
            slope = (inputs[s] - before[s]) / (time - number[2])
        march.table[row, e] = inputs[s]
        if row + 1 < march.table.shape[0]:
            march.table[row + 1, e] = inputs[s] + number[0] * slope
        before[s] = inputs[s]
    number[2] = time


@njit
def _run(march, steps):
    """Take steps; return the status of the last, and the number of solved ones. Updates ``march.place``."""
    place, rows, record = march.place, march.rows, march.place[RECORDED]
    out = (
        rows.position[record:], rows.quat[record:], rows.velocity[record:], rows.work[record:], rows.state[record:],
        rows.unresolved[record:], rows.time[record:], rows.counts,
    )  # fmt: skip
    if march.nodes[0] != 0:
        h, stride = march.number[0], place[STRIDE]
        status, done, records = run_nodes(march.nodes[0], march.table, place[NODE], steps, stride, h, out)
        place[NODE] += done
        place[RECORDED] += records
        return status, done
    grid = NodeGrid(place[NODE], steps, place[STRIDE], march.number[0], math.inf)
    status, pose, done, records = run_steps(
        march.plan, march.ws, march.inputs, place[POSE], grid, march.stages, march.number[1], place[STAGGERED] != 0, out
    )
    place[NODE] += done
    place[POSE] = pose
    place[RECORDED] += records
    return status, done


@njit
def _copy_march(march, back):
    """Copy all that steps depend on to ``kept``, or back if ``back``."""
    copy_spans(march.spans, 0, march.kept, back)


@njit
def copy_march(word: int, back: bool) -> None:
    """Copy all that steps depend on to ``kept``, or back if ``back``; then the rows have to be placed anew."""
    _copy_march(march_at(word), back)


@njit(seconds=1, what="steps that Python calls one by one")
def read_node(word: int) -> None:
    """Fill the `Reading` with the present node."""
    march = march_at(word)
    reading, pose = march.reading, march.place[POSE]
    position, quat, motion = march.ws.position[pose], march.ws.quat[pose], reading.motion
    record = march.place[RECORDED] - 1
    if record >= 0 and march.rows.time[record] == march.ws.pace.time[0]:  # it was recorded just now
        for i in range(march.rows.velocity.shape[1]):
            for k in range(6):
                motion[i, k] = march.rows.velocity[record, i, k]
    else:
        out = position[:-1], quat[:-1], motion, reading.work, reading.state
        if march.nodes[0] != 0:
            show_node(march.nodes[0], out)
        else:
            record_node(march.plan, march.ws, pose, march.place[STAGGERED] != 0, out)
    for i in range(reading.slot.size):
        j = reading.slot[i]
        for k in range(3):
            reading.position[i, k] = position[j, k]
            reading.velocity[i, k], reading.spin[i, k] = motion[j, k], motion[j, 3 + k]
        for k in range(4):
            reading.quat[i, k] = quat[j, k]
    read_joints(reading.joints, position, quat, march.ws.rotation[pose], motion, reading.q, reading.rate)
