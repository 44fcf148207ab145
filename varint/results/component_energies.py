"""Energy of each component of a mechanism along a motion, its error and what that is compared with.

A component are bodies that joints or forces connect, other than through the world (`balance_records.Components`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from varint.model.forces.path import path_inertias
from varint.model.forces.soft_mesh import soft_meshes
from varint.results.quantities import row_sums
from varint.results.recorded_motion import RecordedMotion
from varint.step.energy.balance import SLOWEST

FEW = 5  # nodes
LEAST = 1e-5  # of the energy that takes part: smaller changes are not looked at
BACK = 0.2  # s: an oscillation comes back within half of it
NODES = (20, 200)  # the fewest and the most of these times


class ComponentEnergy(NamedTuple):
    """Energies of one component at T nodes, J.

    bodies : (n,) their numbers
    error : energy that came or went without work since the start
    scale : largest kinetic energy so far, or work of gravity and forces since the start, each by its size
    energy : that takes part: the largest kinetic energy so far and the work between the last `FEW` nodes, up to
        ``scale``. Motions that are slower than the watch of steps judges do not count, see `SLOWEST`.
    """

    bodies: np.ndarray
    error: np.ndarray
    scale: np.ndarray
    energy: np.ndarray


def component_energies(motion: RecordedMotion) -> Iterator[ComponentEnergy]:
    """Yield energies of each component of a whole motion.

    Where loads, drives or mass along paths act, those of the mechanism as a whole.
    """
    mechanism, compiled = motion.mechanism, motion.mechanism.compiled
    of_body = compiled.plan.components.of_body[compiled.slot]
    tables = [_table(part, of_body) for part in motion.parts()]
    kinetic, weight, work, outside, balance = (np.concatenate(arrays) for arrays in zip(*tables, strict=True))
    of_force = np.full(work.shape[1], -1)
    of_force[compiled.force] = compiled.plan.components.of_element
    if outside.any() or path_inertias(mechanism) or soft_meshes(mechanism):
        of_body, of_force = np.zeros_like(of_body), np.zeros_like(of_force)
        kinetic, weight = kinetic.sum(axis=1, keepdims=True), weight.sum(axis=1, keepdims=True)
    slowest = SLOWEST * compiled.length / max(float(np.diff(motion.t).min(initial=np.inf)), np.finfo(float).tiny)
    for c in range(kinetic.shape[1]):
        works = np.column_stack([weight[:, c] - weight[0, c], (work - work[0])[:, of_force == c]])
        error = kinetic[:, c] - kinetic[0, c] - row_sums(works) if kinetic.shape[1] > 1 else balance
        bodies = np.flatnonzero(of_body == c)
        least = 0.5 * sum(mechanism.bodies[int(i)].mass for i in bodies) * slowest**2
        peak = np.maximum(np.maximum.accumulate(kinetic[:, c]), least)
        scale = np.maximum.accumulate(np.maximum(peak, np.abs(works).sum(axis=1)))
        done = np.append(0.0, np.abs(np.diff(works, axis=0)).sum(axis=1).cumsum())
        recent = done - np.concatenate([np.zeros(FEW), done])[: len(done)]
        yield ComponentEnergy(bodies, error, scale, np.minimum(scale, peak + recent))


def _table(part: RecordedMotion, of_body: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return kinetic energies and works of gravity of the components, works, work from outside and balance of a part.

    J; (T, components), (T, components), (T, forces), (T,), (T,).
    """
    bodies, count = part.mechanism.bodies, int(of_body.max()) + 1
    kinetic, weight = np.zeros((2, len(part.t), count))
    for i, (body, c) in enumerate(zip(bodies, of_body, strict=True)):
        w = part.angular_velocity[:, i]
        kinetic[:, c] += 0.5 * body.mass * (part.velocity[:, i] ** 2).sum(axis=1)
        kinetic[:, c] += 0.5 * np.einsum("ti,ij,tj->t", w, body.inertia, w)
        weight[:, c] += body.mass * part.position[:, i] @ part.mechanism.gravity
    return kinetic, weight, part.work, part.work_from_outside, part.energy_balance


def largest_jump(t: np.ndarray, error: np.ndarray, energy: np.ndarray, at_end: float = np.inf) -> float:
    """Return the largest lasting change of ``error`` (T,) within `FEW` nodes, over ``energy`` (T,) there.

    The smaller one of the range within these nodes and of the difference of the medians of the times `BACK` before and
    after them. The time before the end may be shorter where it has ``at_end`` nodes.
    """
    return max((size for _, size in jumps(t, error, energy, LEAST, at_end)), default=0.0)


def jumps(
    t: np.ndarray, error: np.ndarray, energy: np.ndarray, least: float, at_end: float = np.inf
) -> Iterator[tuple[int, float]]:
    """Yield node and size of each change above ``least`` that does not come back, see `largest_jump`."""
    if len(t) <= FEW:
        return
    windows = np.lib.stride_tricks.sliding_window_view(error, FEW + 1)
    span = (windows.max(axis=1) - windows.min(axis=1)) / energy[FEW:]
    same = 1e-9 * (t[1] - t[0])
    until, since = np.searchsorted(t, t + BACK - same), np.searchsorted(t, t - BACK + same)
    for k in np.flatnonzero(span > least) + 1:
        last = int(k) + FEW - 1
        after, before = np.clip((until[last] - last, k - since[k - 1]), *NODES)
        cut_off = last + after > len(t) or (after < NODES[1] and t[last] + BACK > 2 * t[-1] - t[-2] + same)
        if cut_off and len(t) - last < at_end:
            continue
        lasting = np.median(error[last : last + after]) - np.median(error[max(0, k - before) : k])
        size = min(abs(lasting) / energy[last], float(span[k - 1]))
        if size > least:
            yield last, size
