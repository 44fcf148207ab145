"""Dyads of a planar linkage: the triangles whose senses distinguish its assembly modes.

Bodies that cannot move against each other form a group: to begin with, those on a held or fixed joint. Three groups
that are joined in pairs by a hinge or a slide each form a triangle of instantaneous centres, that of a slide at
infinity. At given positions of the other joints the triangle can be put together in two senses, which the sign of
its area distinguishes; then the three groups are one. A linkage that ends as one group has as many triangles as its
modes have signs. Otherwise some of its loops have to be closed together, and signs do not suffice.
"""

from collections import defaultdict
from collections.abc import Collection
from itertools import combinations
from typing import NamedTuple

import numpy as np

from varint.drawing.viewpoint import View, choose_view
from varint.kinematics.frames import JointFrames
from varint.model.body import WORLD
from varint.model.joints.base import Joint
from varint.model.motion import Slide, Turn
from varint.model.structure import Structure

NO_AREA = 1e-6  # of the triangle of unit vectors: no sign


class Dyads(NamedTuple):
    """Triangles of a planar linkage, each of three joints in the order of the description, seen as in its picture."""

    view: View
    triangles: list[tuple[JointFrames, JointFrames, JointFrames]]

    def signs(self, x: np.ndarray, R: np.ndarray, length: float) -> str:
        """Return a sign for each triangle at the pose x (nb + 1, 3), R (nb + 1, 3, 3): "+" counterclockwise, "0" flat.

        ``length``: size of the parts, m.
        """
        areas = [np.linalg.det([self._centre(frames, x, R, length) for frames in three]) for three in self.triangles]
        return "".join("0" if abs(area) < NO_AREA else "+" if area > 0 else "-" for area in areas)

    def _centre(self, frames: JointFrames, x: np.ndarray, R: np.ndarray, length: float) -> np.ndarray:
        """Return the instantaneous centre (3,) of a hinge or slide, in homogeneous coordinates of norm one."""
        (motion,) = (motion for motion in frames.joint.allowed if motion.size)
        if isinstance(motion, Slide):
            right, up = self.view.project(R[frames.a] @ frames.axes_a[:, motion.axis])
            centre = np.array([-up, right, 0.0])
        else:
            right, up = self.view.project(x[frames.a] + R[frames.a] @ frames.origin_a) / length
            centre = np.array([right, up, 1.0])
        return centre / np.linalg.norm(centre)


def find_dyads(structure: Structure, held: Collection[str]) -> Dyads | None:
    """Return the triangles of a planar linkage with the joints ``held``; None if signs do not distinguish its modes."""
    view = choose_view(structure, None)
    if not view.flat:
        return None
    group = {name: name for name in (WORLD, *structure.body_index)}
    free = []
    for joint in structure.joints:
        if joint.name in held or joint.dof == 0:
            _merge(group, joint.body_a, joint.body_b)
        elif joint.dof == 1 and any(isinstance(motion, Turn | Slide) for motion in joint.allowed):
            free.append(joint)
        else:
            return None
    triangles = []
    while joints := _next_pair(group, free) or _next_triangle(group, free):
        if len(joints) == 3:
            first, second, third = (JointFrames(structure, joint) for joint in joints)
            triangles.append((first, second, third))
        for joint in joints:
            _merge(group, joint.body_a, joint.body_b)
    return Dyads(view, triangles) if len(set(group.values())) == 1 else None


def _between(group: dict[str, str], free: list[Joint]) -> dict[frozenset, list[int]]:
    """Return numbers of the joints between each pair of groups."""
    between = defaultdict(list)
    for number, joint in enumerate(free):
        ends = frozenset((group[joint.body_a], group[joint.body_b]))
        if len(ends) == 2:
            between[ends].append(number)
    return between


def _next_pair(group: dict[str, str], free: list[Joint]) -> list[Joint]:
    """Return two joints, one of them a hinge, between the same two groups, which are rigid with one branch."""
    for numbers in _between(group, free).values():
        hinges = [k for k in numbers if any(isinstance(motion, Turn) for motion in free[k].allowed)]
        if hinges and len(numbers) > 1:
            return [free[k] for k in numbers[:2]]
    return []


def _next_triangle(group: dict[str, str], free: list[Joint]) -> list[Joint]:
    """Return the first three joints, in the order of the mechanism, that join three groups in pairs."""
    between = _between(group, free)
    triples = []
    for one, other in combinations(between, 2):
        third = one ^ other
        if len(third) == 2 and third in between:
            triples.append(sorted(between[pair][0] for pair in (one, other, third)))
    return [free[number] for number in min(triples)] if triples else []


def _merge(group: dict[str, str], body: str, other: str) -> None:
    old, new = group[other], group[body]
    group.update({name: new for name, name_of_group in group.items() if name_of_group == old})
