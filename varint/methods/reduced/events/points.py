"""The points of hard contacts in reduced coordinates: of bodies on planes, then slots for features of shapes.

A slot holds a pair of features of two shapes, such as a vertex and a face, for one step; then it may hold another.
"""

import numpy as np

from varint.methods.reduced.bearing_friction import cross
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.ground import Ground
from varint.step.contacts.readings import check_features, overlooks_features, read_features, seek_features
from varint.step.sizes import unit_of_length

# arrays of the workspace's contacts that describe the slots, and the lists of shapes that are near each other
SLOTS = ("kind", "key", "swapped", "place", "axis", "size")
LISTS = ("near", "near_count", "near_pair", "near_pair_count", "is_near", "listed_centre", "skin")


class ContactPoints:
    """The P contact points of ``equations``: first those of bodies on planes, ``ground``, then F slots of shapes.

    friction, restitution : (P,) coefficients
    element : (P,) number of the element of each
    side : (P, 2) kernel slots of the two bodies, nb for the world
    unit : (P,) what small gaps are measured in, m, and small rates, a second: `unit_of_length` of the parts
    """

    def __init__(self, equations: Equations, ground: Ground) -> None:
        self.equations, self.ground, self.planes = equations, ground, ground.friction.size
        contacts = equations.compiled.plan.contacts
        self.friction, self.restitution, self.element = contacts.friction, contacts.restitution, contacts.element
        self.side = np.stack([contacts.body, contacts.other], axis=1)
        self.unit = np.full(len(self), unit_of_length(equations.compiled.length))
        self.shapes = len(self) - self.planes
        self._gap, self._bend = np.zeros(self.shapes), np.zeros((self.shapes, 3))
        self._rows = np.zeros((self.shapes, 2, 3, 6))

    def __len__(self) -> int:
        return self.friction.size

    @property
    def _motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions (nb + 1, 3), rotations (nb + 1, 3, 3) and velocities of the bodies."""
        e = self.equations
        return e.position, e.rotation, e.velocity

    @property
    def _arrays(self) -> tuple:
        """Return the plan and the workspace."""
        return self.equations.compiled.plan, self.equations.ws

    def seek(self, h: float, closed: np.ndarray) -> float:
        """Fill the slots for a step of ``h`` s from the pose of the equations; return the longest step allowed, s.

        ``closed`` (P,): points in contact; set to False for slots whose features no longer touch.
        """
        return seek_features(*self._arrays, self._motion, h, closed[self.planes :]) if self.shapes else np.inf

    def overlooks(self) -> bool:
        """Return whether, at the pose of the equations, shapes have met by features that have no slot."""
        return self.shapes > 0 and overlooks_features(*self._arrays, self._motion)

    def still_faced(self, points: np.ndarray) -> np.ndarray:
        """Return which (F,) of the slots among ``points`` (P,) have features that still face each other at the pose."""
        seen = points[self.planes :].copy()
        if seen.any():
            check_features(*self._arrays, self._motion, seen)
        return seen

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps (P,), m, and the rows (P, 2, 3, 6) of all points at the pose of the equations.

        rows[p, s, k]: derivative of the relative motion along the normal (k = 0) and two directions across it by the
        motion of body s: m, world, and rad, body axes.
        """
        gap, on_planes = self.ground.rows()
        rows = np.zeros((len(self), 2, 3, 6))
        rows[: self.planes, 0] = on_planes
        if self.shapes:
            read_features(*self._arrays, self._motion, self._gap, self._rows, self._bend)
            gap, rows[self.planes :] = np.concatenate([gap, self._gap]), self._rows
        return gap, rows

    def along(self, rows: np.ndarray, motion: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the products (p, 3) of ``rows`` (p, 2, 3, 6) of ``points`` (p,) and a ``motion`` (nb, 6) of bodies."""
        with_world = np.vstack([motion, np.zeros(6)])
        first, second = (with_world[self.side[points, s]] for s in range(2))
        return np.einsum("pak,pk->pa", rows[:, 0], first) + np.einsum("pak,pk->pa", rows[:, 1], second)

    def sides_and_jacobians(self, points: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bodies (3 p, 2) and Jacobians (3 p, 2, 6) of ``rows`` (p, 2, 3, 6) of ``points``, normals first."""
        side = self.side[points]
        both = np.swapaxes(rows, 1, 2)
        jacobian = np.concatenate([both[:, 0], both[:, 1:].reshape(-1, 2, 6)])
        return np.concatenate([side, np.repeat(side, 2, axis=0)]), jacobian

    def bends(self, points: np.ndarray) -> np.ndarray:
        """Return accelerations (p, 3), m/s^2, along the rows of ``points`` (p,) that velocities cause; after `read`."""
        e, body = self.equations, self.ground.body
        w = (e.rotation[body] @ e.velocity[body, 3:, None])[..., 0]
        centripetal = cross(w, cross(w, self.ground.arms))
        on_planes = np.einsum("pak,pk->pa", self.ground.directions, centripetal)
        return np.concatenate([on_planes, self._bend])[points]

    def loads(self, wrench: np.ndarray) -> np.ndarray:
        """Return the loads (nb, 6) on the bodies by wrenches (P, 2, 6) on both bodies of each point."""
        load = np.zeros((self.equations.nb + 1, 6))
        np.add.at(load, self.side, wrench)
        return load[:-1]

    def memory(self) -> dict[str, np.ndarray]:
        """Return copies of the contents of the slots."""
        work, names = self.equations.ws.contacts, SLOTS + LISTS if self.shapes else ()
        return {f"slots {name}": getattr(work, name).copy() for name in names}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Restore a `memory`."""
        for name in SLOTS + LISTS if self.shapes else ():
            getattr(self.equations.ws.contacts, name)[:] = saved[f"slots {name}"]
