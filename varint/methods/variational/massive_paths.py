"""Masses along paths in maximal coordinates: checks before a run, and the sizes of what collocation keeps of them."""

import numpy as np

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.step.collocation.records import WELD, LinkTree
from varint.step.plan import Plan


def check_masses_of_paths(mechanism: Mechanism, staggered: bool = False) -> None:
    """Raise ArgumentError where mass along a path meets steps of order 1, ``staggered``, or forces with impacts."""
    of_path = [
        force for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True) if "path" in traits
    ]
    if of_path and staggered:
        raise ArgumentError(
            f"{of_path[0].label} has mass that moves with its path: take order=2 or above in place of 1"
        )
    for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True):
        if of_path and traits & {"hard", "contacts", "shapes"}:
            raise ArgumentError(
                f"{of_path[0].label} has mass that moves with its path, and {force.label} acts in impacts, which do not"
                " know such mass in maximal coordinates: give stops a stiffness, or use varint.redmax.simulate with"
                " 'dop853'"
            )


def movers_of(plan: Plan, link_of: np.ndarray, parent: np.ndarray, motion: np.ndarray) -> dict[str, np.ndarray]:
    """Return the links that move points of paths with mass, ``mover``, and which of them move each, ``carries``."""
    slot, nl = plan.massive_paths.slot, len(parent)
    moved = np.zeros((len(slot), nl), dtype=np.int64)
    for n in np.flatnonzero(slot < len(link_of)):
        link = int(link_of[slot[n]])
        while link < nl:
            moved[n, link] = motion[link] != WELD
            link = int(parent[link])
    mover = np.flatnonzero(moved.any(axis=0))
    return {"mover": mover, "carries": np.ascontiguousarray(moved[:, mover])}


def path_sizes(plan: Plan, tree: LinkTree, s: int, closed: int) -> dict[str, int]:
    """Return the sizes of arrays of masses along paths in steps of ``s`` nodes; ``closed``: rows of closures."""
    first, movers = plan.massive_paths.first, len(tree.mover)
    columns, moved = 3 * int(np.diff(first).max(initial=0)), movers * (s - 1)
    sizes = {"pathpoints": int(first[-1]), "pathcoordinates": 3 * int(first[-1]), "pathcolumns": columns}
    sizes |= {
        "pathbends": sizes["pathcoordinates"] if columns > 6 else 0,
        "movers": movers,
        "moved": moved,
        "moved_cells": moved * moved,
    }
    return sizes | {"pathlinks": len(tree.mass) if movers else 0, "pathrows": closed if movers else 0}
