"""Compiled iterations for the stages of a symplectic step (integrators/symplectic.py) under constant inputs."""

import math
from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float1, Float2, njit
from varint.methods.reduced.recursions.kinematic_recursions import place_and_move
from varint.methods.reduced.recursions.momentum_recursions import find_forces, find_momenta, find_rates
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace
from varint.step.nodes.efforts import evaluate_efforts
from varint.step.plan import Plan, Workspace

DIVERGED = 1e6  # of the increments: by how much they may grow over the smallest one
ROUND_OFF = 1e-11  # an increment that does not shrink any more, relative to the rates or to SLOW
SLOW = 1e-3  # m/s, rad/s


@dataclass(frozen=True, eq=False)
class StageIteration(CompiledRecord, writable=True):
    """A step of s stages, with nq coordinates, ns states of laws and ne elements of forces."""

    tree: ReducedWorkspace
    a: Float2  # (s, s)
    conjugate: Float2  # (s, s) a*
    no_motion: Float2  # (nl, 6) zero
    momenta: Float2  # (nl + 1, 6) W of `find_momenta`
    load: Float2  # (nb, 6) constant: force, N, world, and torque, N m, body axes
    total: Float2  # (nb, 6) the same with the forces of the mechanism

    # at the start of the step
    q: Float2  # (2, nq) coordinates, a sum of two
    p: Float2  # (2, nq) canonical momenta, a sum of two
    integral: Float1  # (ns,) states of laws

    # of the stages
    places: Float2  # (s, nq) coordinates
    rates: Float2  # (s, nq)
    force: Float2  # (s, nq) dL/dq + Q
    flow: Float2  # (s, ns) of the states of laws
    flow_before: Float2  # (s, ns) of the last iteration
    power: Float2  # (s, ne) W


@njit
def weighted_sum(weights: Float1, rows: Float2, n: int) -> float:
    """Return the sum of column ``n`` of ``rows`` (s, n), with ``weights`` (s,)."""
    total = 0.0
    for j in range(weights.size):
        total += weights[j] * rows[j, n]
    return total


@njit
def evaluate_stages(plan: Plan, ws: Workspace, run: StageIteration, h: float) -> None:
    """Evaluate places, forces, flows and powers of all stages by their rates, in a step of ``h``, s.

    Writes ``run.places``, ``run.force``, ``run.flow``, ``run.flow_before``, ``run.power``, ``run.momenta``,
    ``run.total``, ``run.tree.q``, ``run.tree.rates`` and ``ws.efforts.state``.
    """
    tree, ne = run.tree, plan.elements.force.size
    for i in range(run.flow.shape[0]):
        for n in range(run.integral.size):
            run.flow_before[i, n] = run.flow[i, n]
    for i in range(run.rates.shape[0]):
        for n in range(tree.q.size):
            run.places[i, n] = run.q[0, n] + (run.q[1, n] + h * weighted_sum(run.a[i], run.rates, n))
            tree.q[n], tree.rates[n] = run.places[i, n], run.rates[i, n]
        place_and_move(tree)
        for b in range(run.load.shape[0]):
            for m in range(6):
                run.total[b, m] = run.load[b, m]
        if ne:
            span = h * run.a[i, i]  # the own flow of a stage is implicit
            for n in range(run.integral.size):
                others = h * weighted_sum(run.a[i], run.flow_before, n) - span * run.flow_before[i, n]
                ws.efforts.state[n] = run.integral[n] + others
            evaluate_efforts(plan, ws, tree.position, tree.rotation, tree.velocity, span, run.total, run.power[i])
            for n in range(run.integral.size):
                run.flow[i, n] = ws.efforts.flow[n]
        find_momenta(tree, run.momenta, run.force[i])
        find_forces(tree, plan.bodies.gravity, run.total, run.momenta, run.force[i])


@njit(seconds=3, what="symplectic steps in reduced coordinates")
def iterate(plan: Plan, ws: Workspace, run: StageIteration, h: float, tol: float, most: int) -> int:
    """Solve for the rates ``run.rates`` of the stages by V_i = M(q_i)^-1 p_i; return the number of iterations.

    Up to increments of ``tol``, or until they are round-off, and at most ``most`` iterations; -1 if they do not
    converge. Also writes ``run.tree.q`` and ``run.tree.rates``.
    """
    before = least = math.inf
    tree = run.tree
    for k in range(1, most + 1):
        evaluate_stages(plan, ws, run, h)
        change = size = 0.0
        for i in range(run.rates.shape[0]):
            for n in range(tree.q.size):
                tree.q[n] = run.places[i, n]
                tree.rates[n] = run.p[0, n] + (run.p[1, n] + h * weighted_sum(run.conjugate[i], run.force, n))
            find_rates(tree, run.no_motion)
            for n in range(tree.q.size):
                if not math.isfinite(tree.rates[n]):
                    return -1
                change = max(change, abs(tree.rates[n] - run.rates[i, n]))
                size = max(size, abs(tree.rates[n]))
                run.rates[i, n] = tree.rates[n]
        if change > DIVERGED * least:
            return -1
        if change <= tol or (change >= before and change <= ROUND_OFF * max(size, SLOW)):
            return k
        before, least = change, min(least, change)
    return -1
