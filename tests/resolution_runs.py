"""Runs that steps resolve or not, and the truth of it from the energy at every node."""

import dataclasses

import numpy as np
from force_samples import KINDS, in_any_motion, random_force, with_forces
from random_mechanisms import random_body, random_closed, random_joint, random_tree, random_velocity_state, unit

import varint as vi

JUMP = 0.01  # of the scale: a run is wrong where its energy changes by more within FEW steps and does not come back
FEW = 5  # steps
CALM = 0.005  # of the scale: the energy of a quiet run is never off by more
BACK = 0.2  # s: an oscillation comes back within half of it
NODES = (20, 200)  # the fewest and the most of these times


def random_run(seed):
    """Name, mechanism and state: a tree, a chain, few or many loops, each half of the times with four forces."""
    rng = np.random.default_rng(seed)
    kind, n = ("tree", "chain", "few loops", "many loops")[seed % 4], int(rng.integers(2, 7))
    if kind == "tree":
        mechanism = random_tree(rng, n)
    elif kind == "chain":
        mechanism = random_chain(rng, 2 * n)
    elif kind == "few loops":
        mechanism = random_closed(rng, n + 1, 1 + seed // 4 % 2)
    else:
        cuts = ("Rod", "PointOnPlane", "Revolute", "Spherical")
        mechanism = random_closed(rng, 12, int(rng.integers(2, 9)), cuts=cuts)
    state = random_velocity_state(rng, mechanism)
    if seed // 4 % 2:
        names = rng.choice(KINDS, 4, replace=False) if in_any_motion(mechanism) else ["Spring", "Cable"]
        forces = [random_force(rng, str(name), f"f{i}", mechanism) for i, name in enumerate(names)]
        mechanism = with_forces(mechanism, *forces)
    return f"{kind} {seed}", mechanism, state


def random_chain(rng, n):
    """``n`` links of 0.3 to 1 m, each hung from the last one's end."""
    bodies, joints, at = [], [], np.zeros(3)
    for i in range(n):
        length, along = rng.uniform(0.3, 1.0), unit(rng)
        body = random_body(rng, f"b{i}")
        there = at + length * along
        bodies.append(dataclasses.replace(body, position=0.5 * (at + there), inertia=body.inertia * length**2))
        kind = str(rng.choice(("Revolute", "Spherical", "Universal")))
        joints.append(random_joint(rng, kind, f"j{i}", f"b{i - 1}" if i else "world", f"b{i}", at))
        at = there
    return vi.Mechanism("random chain", bodies, joints)


def energy_scale(run):
    """(T,) J: the largest kinetic energy so far, or work of gravity and forces, each by its size."""
    weight = sum(
        body.mass * (run.position[:, i] - run.position[0, i]) @ run.mechanism.gravity
        for i, body in enumerate(run.mechanism.bodies)
    )
    exchanged = np.abs(weight) + np.abs(run.work - run.work[0]).sum(axis=1)
    return np.maximum(np.maximum.accumulate(np.maximum(run.kinetic, exchanged)), np.finfo(float).tiny)


def largest_jump(run):
    """The largest change of the energy balance within `FEW` steps that does not come back, and the error; of the scale.

    That is the smaller one of the range within these steps and of the difference of the medians of the times `BACK`
    before and after them.
    """
    t, error, scale, jump = run.t, run.energy_balance, energy_scale(run), 0.0
    same = 1e-9 * (t[1] - t[0])
    until, since = np.searchsorted(t, t + BACK - same), np.searchsorted(t, t - BACK + same)
    for k in range(1, len(t) - FEW + 1):
        last = k + FEW - 1
        span = np.ptp(error[k - 1 : last + 1]) / scale[last]
        after, before = np.clip((until[last] - last, k - since[k - 1]), *NODES)
        cut_off = last + after > len(t) or (after < NODES[1] and t[last] + BACK > 2 * t[-1] - t[-2] + same)
        if span <= jump or cut_off:
            continue
        lasting = np.median(error[last : last + after]) - np.median(error[max(0, k - before) : k])
        jump = max(jump, min(abs(lasting) / scale[last], span))
    return jump, np.abs(error).max() / scale[-1]


def verdict(run):
    """ "wrong", "quiet" or "neither"."""
    jump, error = largest_jump(run)
    return "wrong" if jump > JUMP else "quiet" if error < CALM else "neither"
