"""Contacts that contype, conaffinity and <exclude> of a model allow, as forces that its mechanism may be given."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from varint.files.mjcf.numbers import SHAPES, is_off
from varint.files.robots.kinds import ContactPairs
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD

NAME = "contacts"


def contacts_of(m: Any, mechanism: Mechanism, body_of: Mapping[int, str | None]) -> tuple[ContactPairs, ...]:
    """Return the contacts of the collision shapes of ``mechanism``, one force for each coefficient of friction.

    Two bodies touch if a geom of one and a geom of the other may: the contype of one has a bit of the conaffinity of
    the other, and no exclude names their bodies. Their coefficient of friction is the largest of their geoms. Pairs of
    neighbours are left out as `ContactPairs` does.

    m : MjModel
    body_of : name of the body of ``mechanism``, or "world", that a body of the model is part of; None if of none
    """
    names = [body.name for body in mechanism.bodies if body.collision] + [WORLD] * bool(mechanism.ground)
    masks: dict[int, set[tuple[int, int]]] = defaultdict(set)  # contype and conaffinity of the geoms of each body
    friction: dict[str, float] = dict.fromkeys(names, 0.0)
    for geom in range(m.ngeom):
        body, mask = int(m.geom_bodyid[geom]), (int(m.geom_contype[geom]), int(m.geom_conaffinity[geom]))
        name = body_of[body]
        if any(mask) and SHAPES.get(int(m.geom_type[geom])) and name in friction:
            masks[body].add(mask)
            friction[name] = max(friction[name], float(m.geom_friction[geom, 0]))
    excluded = {(int(both) >> 16, int(both) & 0xFFFF) for both in m.exclude_signature}
    touching = {
        frozenset((str(body_of[a]), str(body_of[b])))
        for a, b in combinations(sorted(masks), 2)
        if (a, b) not in excluded and (b, a) not in excluded and _may_touch(masks[a], masks[b])
    }
    return () if is_off(m, "CONTACT") else tuple(_by_friction(mechanism, friction, touching))


def _may_touch(masks: set[tuple[int, int]], others: set[tuple[int, int]]) -> bool:
    return any(a & d or b & c for a, b in masks for c, d in others)


def _by_friction(
    mechanism: Mechanism, friction: dict[str, float], touching: set[frozenset[str]]
) -> Iterator[ContactPairs]:
    """Yield the contacts of the pairs ``touching``, by coefficient of friction: with bodies of one up to that."""
    levels = np.unique(list(friction.values())).tolist()
    for level in levels:
        bodies = [name for name, mu in friction.items() if mu == level]
        others = [name for name, mu in friction.items() if mu <= level]
        pairs = {frozenset((a, b)): (a, b) for a in bodies for b in others if a != b}
        without = [pair for key, pair in pairs.items() if key not in touching]
        name = NAME if len(levels) == 1 else f"{NAME}, friction {level:g}"
        force = ContactPairs(name, bodies=bodies, others=others, without=without, friction=level)
        if force.pairs(mechanism):
            yield force
