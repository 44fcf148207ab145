"""A whole run in one call, from its start to the figures of a member of an ensemble; without forces."""

import math

from varint.base.numba import njit, record_at
from varint.step.configuration import drift, place_anew
from varint.step.energy.balance import start_balance
from varint.step.energy.bodies import gravity_energies, kinetic_energies
from varint.step.energy.run_end import judge_end
from varint.step.inputs import set_load
from varint.step.intervals import NodeGrid
from varint.step.march.short_run_records import ENERGY_ERROR, LARGEST_DRIFT, LARGEST_KINETIC, START_DRIFT, ShortRun
from varint.step.march.steps import run_steps
from varint.step.newton import CONVERGED
from varint.step.plan import Plan
from varint.step.step import record_node, start_momentum

plan_at, short_run_at = record_at(Plan), record_at(ShortRun)


@njit(seconds=1, what="short members of ensembles")
def run_short(plan_word: int, word: int) -> bool:
    """March a `ShortRun` from its start to its end; return whether all steps were solved and resolved the motion."""
    plan, short = plan_at(plan_word), short_run_at(word)
    rows, dt, tol = short.rows, short.number[0], short.number[1]
    _start(plan, short, dt)
    out = (
        rows.position[1:], rows.quat[1:], rows.velocity[1:], rows.work[1:], rows.state[1:], rows.unresolved[1:],
        rows.time[1:], rows.counts,
    )  # fmt: skip
    grid = NodeGrid(0, rows.time.size - 1, 1, dt, math.inf)
    status, pose, _, _ = run_steps(plan, short.ws, short.inputs, 0, grid, short.stages, tol, False, out)
    if status != CONVERGED:
        return False
    for n in range(rows.unresolved.size):
        if rows.unresolved[n] >= 0:
            return False
    return judge_end(plan, short.ws, pose, short.number[2]) < 0


@njit
def _start(plan, short, dt):
    """Place the bodies at the start, as `March.start` does, and record it.

    Writes ``short.ws.position``, ``short.ws.quat``, ``short.ws.velocity``, ``short.ws.history``, ``short.ws.depth`` and
    the first nodes of ``short.rows.time``, ``short.rows.unresolved`` and ``short.rows.counts``.
    """
    ws, rows = short.ws, short.rows
    for i in range(short.slot.size):
        j = short.slot[i]
        for k in range(3):
            ws.position[0, j, k] = ws.position[1, j, k] = short.position[i, k]
            ws.velocity[j, k], ws.velocity[j, 3 + k] = short.velocity[i, k], short.spin[i, k]
        for k in range(4):
            ws.quat[0, j, k] = ws.quat[1, j, k] = short.quat[i, k]
    for stage in range(ws.history.shape[0]):
        for i in range(short.slot.size):
            for k in range(6):
                ws.history[stage, 0, i, k] = ws.velocity[i, k]
        ws.depth[stage] = ws.history.shape[1]
    place_anew(plan, ws, 0)
    set_load(plan, ws, short.inputs, 0, 0.0)
    start_momentum(plan, ws, 0.0)
    start_balance(plan, ws, dt, 0.0)
    record_node(plan, ws, 0, False, (rows.position[0], rows.quat[0], rows.velocity[0], rows.work[0], rows.state[0]))
    rows.unresolved[0], rows.time[0] = -1, 0.0
    rows.counts[0] = rows.counts[1] = 0


@njit(seconds=1, what="short members of ensembles")
def work_out_figures(plan_word: int, word: int) -> bool:
    """Write the figures of a `ShortRun` that has ended; return whether all are finite.

    To the bits of the figures of a trajectory. The state of the march is lost.
    """
    plan, short = plan_at(plan_word), short_run_at(word)
    rows, figure = short.rows, short.figure
    for i in range(short.slot.size):
        j = short.slot[i]
        short.mass[i] = plan.bodies.mass[j]
        for k in range(3):
            for m in range(3):
                short.inertia[i, k, m] = plan.bodies.inertia[j, k, m]
        for n in range(rows.time.size):
            for k in range(3):
                short.places[n, i, k] = rows.position[n, j, k]
                short.velocities[n, i, k], short.spins[n, i, k] = rows.velocity[n, j, k], rows.velocity[n, j, 3 + k]
    drift(plan, short.ws, rows.position, rows.quat, short.drift)
    kinetic_energies(short.mass, short.inertia, short.velocities, short.spins, short.kinetic)
    gravity_energies(short.mass, plan.bodies.gravity, short.places, short.terms, short.potential)
    figure[START_DRIFT] = short.drift[0]
    return _largest(short.kinetic, short.potential, short.drift, figure)


@njit(contract=False)
def _largest(kinetic, potential, drift, figure):
    """Write the largest values over the nodes to ``figure`` (n,); return whether all are finite.

    ``kinetic``, ``potential``, ``drift`` (T,): J, J and m, at the nodes.
    """
    error = most = open_by = total = 0.0
    first = kinetic[0] + potential[0]
    for n in range(kinetic.size):
        change = abs(kinetic[n] + potential[n] - first)
        error, most, open_by = max(error, change), max(most, kinetic[n]), max(open_by, drift[n])
        total += change + drift[n]
    figure[ENERGY_ERROR], figure[LARGEST_KINETIC], figure[LARGEST_DRIFT] = error, most, open_by
    return math.isfinite(total)
