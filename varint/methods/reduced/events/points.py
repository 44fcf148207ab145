"""The points of hard contacts in reduced coordinates: of bodies on planes, then slots for features of shapes.

A slot has a feature of each of two shapes, such as a vertex and a face, for one step; then it may have others.
"""

import numpy as np

from varint.methods.reduced.bearing_friction import cross
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.ground import Ground
from varint.step.contacts.readings import check_features, overlooks_features, read_features, seek_features

SLOTS = ("kind", "key", "swapped", "place", "axis", "size")
LISTS = ("near", "near_count", "near_pair", "near_pair_count", "is_near", "listed_centre", "skin")


class ContactPoints:
    """The points of ``ground``, and after these the slots of the shapes of ``equations``, P in all.

    ``friction``, ``restitution``, ``element`` (P,); ``side`` (P, 2): slots of the two bodies, nb for the world.
    """

    def __init__(self, equations: Equations, ground: Ground) -> None:
        self.equations, self.ground, self.planes = equations, ground, ground.friction.size
        contacts = equations.compiled.plan.contacts
        self.friction, self.restitution, self.element = contacts.friction, contacts.restitution, contacts.element
        self.side = np.stack([contacts.body, contacts.other], axis=1)
        self.shapes = len(self) - self.planes
        self._gap, self._bend = np.zeros(self.shapes), np.zeros((self.shapes, 3))
        self._rows = np.zeros((self.shapes, 2, 3, 6))

    def __len__(self) -> int:
        return self.friction.size

    @property
    def _motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        e = self.equations
        return e.position, e.rotation, e.velocity

    @property
    def _arrays(self) -> tuple:
        return self.equations.compiled.plan, self.equations.ws

    def seek(self, h: float, closed: np.ndarray) -> float:
        """Fill the slots for ``h`` s ahead of the pose of the equations; return the longest step to be taken, s.

        ``closed`` (P,): points in contact; slots open where shapes do not touch so any more.
        """
        return seek_features(*self._arrays, self._motion, h, closed[self.planes :]) if self.shapes else np.inf

    def overlooks(self) -> bool:
        """Whether, at the pose of the equations, shapes have met by features that have no slot."""
        return self.shapes > 0 and overlooks_features(*self._arrays, self._motion)

    def still_faced(self, points: np.ndarray) -> np.ndarray:
        """(F,) of the slots among the ``points`` (P,) asked for: whether shapes face each other so at this pose."""
        seen = points[self.planes :].copy()
        if seen.any():
            check_features(*self._arrays, self._motion, seen)
        return seen

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Gaps (P,), m, and rows (P, 2, 3, 6) of what touches, at the pose of the equations.

        By the motions of both bodies, world, and body axes: along the normal and along two directions across it.
        """
        gap, own = self.ground.rows()
        rows = np.zeros((len(self), 2, 3, 6))
        rows[: self.planes, 0] = own
        if self.shapes:
            read_features(*self._arrays, self._motion, self._gap, self._rows, self._bend)
            gap, rows[self.planes :] = np.concatenate([gap, self._gap]), self._rows
        return gap, rows

    def along(self, rows: np.ndarray, motion: np.ndarray, points: np.ndarray) -> np.ndarray:
        """(p, 3) of the ``rows`` (p, 2, 3, 6) of ``points`` (p,) times motions of the bodies (nb, 6)."""
        with_world = np.vstack([motion, np.zeros(6)])
        first, second = (with_world[self.side[points, s]] for s in range(2))
        return np.einsum("pak,pk->pa", rows[:, 0], first) + np.einsum("pak,pk->pa", rows[:, 1], second)

    def bends(self, points: np.ndarray) -> np.ndarray:
        """(p, 3) accelerations along the rows of ``points`` (p,) that the velocities cause, after `read`."""
        e, body = self.equations, self.ground.body
        w = (e.rotation[body] @ e.velocity[body, 3:, None])[..., 0]
        centripetal = cross(w, cross(w, self.ground.arms))
        on_planes = np.einsum("pak,pk->pa", self.ground.directions, centripetal)
        return np.concatenate([on_planes, self._bend])[points]

    def loads(self, wrench: np.ndarray) -> np.ndarray:
        """(nb, 6) of the wrenches (P, 2, 6) on both bodies of the points."""
        load = np.zeros((self.equations.nb + 1, 6))
        np.add.at(load, self.side, wrench)
        return load[:-1]

    def memory(self) -> dict[str, np.ndarray]:
        """Contents of the slots."""
        work, names = self.equations.ws.contacts, SLOTS + LISTS if self.shapes else ()
        return {f"slots {name}": getattr(work, name).copy() for name in names}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Go back to a `memory`."""
        for name in SLOTS + LISTS if self.shapes else ():
            getattr(self.equations.ws.contacts, name)[:] = saved[f"slots {name}"]
