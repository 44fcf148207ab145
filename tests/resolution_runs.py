"""Runs that steps resolve or not, and the truth of it from the energy at every node."""

import dataclasses

import numpy as np
from force_samples import KINDS, in_any_motion, random_force, with_forces
from random_mechanisms import random_body, random_closed, random_joint, random_tree, random_velocity_state, unit

import varint as vi
from varint.results.component_energies import component_energies
from varint.results.component_energies import largest_jump as jump_of

JUMP = 0.01  # of the energy that takes part: a run is wrong where a component's error jumps by more
CALM = 0.005  # of the scale: the energy of a quiet run is never off by more


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


def largest_jump(run):
    """The largest of the components: jump, of the energy that takes part, and error at the end, of the scale."""
    found = [
        (jump_of(run.t, own.error, own.energy), np.abs(own.error).max() / own.scale[-1])
        for own in component_energies(run)
    ]
    return np.max(found, axis=0)


def verdict(run):
    """ "wrong", "quiet" or "neither", by the worst of the components."""
    jump, error = largest_jump(run)
    return "wrong" if jump > JUMP else "quiet" if error < CALM else "neither"
