"""Contacts of bodies with planes of the world: rows of a reduced step (DIFF eqs. 1.90 and 1.91).

The distance of a point p of a body, or of a ball of radius r about it, is n . (x + R p - g) - r. The touching point is
R p - r n from the centre of mass x. The rows of its velocity are along n and along two directions in the plane.
"""

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.bearing_friction import cross
from varint.methods.reduced.equations import Equations
from varint.model.forces.hard_contact import HardContact
from varint.results.contact_forces import points_in_body


class Ground:
    """The points of all contacts of ``equations``, one after the other.

    ``element``, ``friction``, ``restitution`` (P,): of the contact of each point.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        mechanism, compiled = equations.mechanism, equations.compiled
        element_of = {int(k): e for e, k in enumerate(compiled.force)}
        numbered = [(k, force) for k, force in enumerate(mechanism.forces) if isinstance(force, HardContact)]
        self.contacts = [force for _, force in numbered]
        counts = [len(force.points_of(mechanism)) for force in self.contacts]
        self._contact = np.repeat(np.arange(len(counts)), counts)  # of each point
        of_point = [force for force, count in zip(self.contacts, counts, strict=True) for _ in range(count)]
        self.element = np.array([element_of[k] for k, _ in numbered], dtype=np.int64)[self._contact]
        self.friction = np.array([force.friction for force in of_point], dtype=float)
        self.restitution = np.array([force.restitution for force in of_point], dtype=float)
        self._body = np.array([compiled.slot[mechanism.body_index[force.body]] for force in of_point], dtype=np.int64)
        self._points = np.concatenate(
            [np.zeros((0, 3)), *(points_in_body(mechanism, force) for force in self.contacts)]
        )
        self._radius = np.array([force.radius for force in of_point], dtype=float)
        self._ground = np.array([force.ground for force in of_point], dtype=float).reshape(-1, 3)
        self._normal = np.array([force.normal for force in of_point], dtype=float).reshape(-1, 3)
        least = np.eye(3)[np.abs(self._normal).argmin(axis=1)]
        first = np.cross(self._normal, least)
        first /= np.linalg.norm(first, axis=1)[:, None]
        self._along = np.stack([first, np.cross(self._normal, first)], axis=1)  # (P, 2, 3) in the plane
        self._directions = np.concatenate([self._normal[:, None], self._along], axis=1)

    def __len__(self) -> int:
        return len(self.contacts)

    @property
    def labels(self) -> list[str]:
        return [force.label for force in self.contacts]

    @property
    def names(self) -> list[str]:
        return [force.name for force in self.contacts]

    @property
    def body(self) -> np.ndarray:
        """(P,) slots of the bodies."""
        return self._body

    @property
    def arms(self) -> np.ndarray:
        """(P, 3) from the centre of mass to the point, or to the centre of the ball, world, at the present pose."""
        return (self.equations.rotation[self._body] @ self._points[:, :, None])[:, :, 0]

    @property
    def directions(self) -> np.ndarray:
        """(P, 3, 3) the normal and two directions in the plane, world."""
        return self._directions

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (P,), m, and rows (P, 3, 6) of the velocities of the touching points.

        At the pose of the equations, by the motion of the body, world, and body axes: along the normal and along two
        directions in the plane.
        """
        e, body, arm = self.equations, self._body, self.arms
        gap = np.sum((e.position[body] + arm - self._ground) * self._normal, axis=1) - self._radius
        arm -= self._radius[:, None] * self._normal
        directions = self.directions
        torque = cross(arm[:, None], directions) @ e.rotation[body]
        return gap, np.concatenate([directions, torque], axis=2)

    def loads(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances (P,), m, and loads of unit impulses: normal (P, nb + 1, 6), tangential (2 P, nb + 1, 6).

        N, world, and N m, body axes, at the pose of the equations.
        """
        e, body = self.equations, self._body
        if not len(body):
            none = np.zeros((0, e.nb + 1, 6))
            return np.zeros(0), none, none
        gap, rows = self.rows()
        load = np.zeros((len(body), 3, e.nb + 1, 6))
        load[np.arange(len(body)), :, body] = rows
        return gap, load[:, 0], load[:, 1:].reshape(-1, e.nb + 1, 6)

    def add_impulses(
        self, alpha: np.ndarray, beta: np.ndarray, normal: np.ndarray, tangent: np.ndarray, out: dict[str, np.ndarray]
    ) -> None:
        """Add the impulses ``alpha`` (P,), ``beta`` (2 P,) along the `loads` to ``out``: (6,) by name of the contact.

        Forces, and torques about the centre of mass, both in world axes.
        """
        rows = np.arange(len(alpha))
        wrench = alpha[:, None] * normal[rows, self._body]
        wrench += np.sum(
            beta.reshape(-1, 2, 1) * tangent.reshape(-1, 2, *tangent.shape[1:])[rows, :, self._body], axis=1
        )
        self.add_wrenches(wrench, out)

    def add_wrenches(self, wrenches: np.ndarray, out: dict[str, np.ndarray]) -> None:
        """Add the ``wrenches`` (P, 6) on the bodies, world, and body axes, to ``out`` as `add_impulses` does."""
        wrenches = wrenches.copy()
        wrenches[:, 3:] = (self.equations.rotation[self._body] @ wrenches[:, 3:, None])[:, :, 0]
        for name, c in zip(self.names, range(len(self)), strict=True):
            out[name] += wrenches[self._contact == c].sum(axis=0)


def contact_named(mechanism: Mechanism, name: str) -> HardContact:
    """Return the contact of that name among the forces of the mechanism."""
    force = mechanism.force(name)
    assert isinstance(force, HardContact)
    return force
