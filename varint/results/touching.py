"""Points where bodies touch along a motion, and the forces there."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import is_whole, known_name, shown
from varint.base.display import Shown, count_text
from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


class ContactForces:
    """Forces of hard contacts at T nodes.

    ``by_name``: name of the force, of a pair as `pair_names` has it, to the sum (T, 3), N, world; ``rows``
    (T, nk, 10): of each contact of the plan, see `forces_of_contacts`.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, np.ndarray] = {}
        self.rows = np.zeros((0, 0, 10))


@dataclass(frozen=True, eq=False)
class TouchingPoints(Shown):
    """Points where bodies touch at the nodes of a run; one row for each point and node, in order of time.

    Attributes
    ----------
    node : (n,) int
    t : (n,) s
    contact, body_a, body_b : (n,) str
        Names of the force and of the two bodies.
    point, normal : (n, 3)
        Place, m, and unit normal from ``body_b`` to ``body_a``, world.
    force : (n, 3) N, world
        On ``body_a``, with friction. Where more points touch than determine it, one of the distributions that balance.
    nodes : int
        Number of nodes of the run.
    bodies : tuple of str
        Names of the bodies that have contacts, "world" among them; not all of them need to touch.
    """

    node: np.ndarray
    t: np.ndarray
    contact: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    point: np.ndarray = field(repr=False)
    normal: np.ndarray = field(repr=False)
    force: np.ndarray = field(repr=False)
    nodes: int = field(repr=False)
    bodies: tuple[str, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.node)

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self), "point")
        yield f"at {count_text(len(np.unique(self.node)), 'node')}"

    def columns(self) -> dict[str, np.ndarray]:
        """Return columns (n,) by heading: ``pandas.DataFrame(run.contacts.columns()).to_csv("contacts.csv")``."""
        named = {
            "node": self.node,
            "t (s)": self.t,
            "contact": self.contact,
            "body a": self.body_a,
            "body b": self.body_b,
        }
        vectors = (("point", "m", self.point), ("normal", "", self.normal), ("force", "N", self.force))
        for name, unit, vector in vectors:
            for axis, values in zip("xyz", vector.T, strict=True):
                named[f"{name} {axis} ({unit})" if unit else f"{name} {axis}"] = values
        return named

    def on(self, body: str) -> np.ndarray:
        """Return the force (T, 3), N, world, of all points that touch on ``body``, at the nodes of the run.

        Raises ArgumentError for a body without contacts.
        """
        known_name(body, self.bodies, "no contacts on", ArgumentError)
        forces = np.zeros((self.nodes, 3))
        for names, sign in ((self.body_a, 1.0), (self.body_b, -1.0)):
            rows = names == body
            np.add.at(forces, self.node[rows], sign * self.force[rows])
        return forces

    def at(self, node: int) -> "TouchingPoints":
        """Return the points at node ``node``, -T to T - 1. Raises ArgumentError, IndexError."""
        if not is_whole(node):
            raise ArgumentError(f"a node of a trajectory is a whole number, got {shown(node)}")
        if not -self.nodes <= node < self.nodes:
            raise IndexError(f"there is no node {node}: the trajectory has {self.nodes}")
        rows = self.node == node % self.nodes
        whole = ("nodes", "bodies")
        return replace(self, **{name: value[rows] for name, value in vars(self).items() if name not in whole})


def pair_names(mechanism: Mechanism) -> list[str]:
    """Return the name of the force of each contact of the plan; of a force of many pairs "NAME: body a, body b"."""
    compiled, contacts = mechanism.compiled, mechanism.compiled.plan.contacts
    bodies = [*(mechanism.bodies[i].name for i in compiled.order), WORLD]
    forces = [mechanism.forces[compiled.force[e]] for e in contacts.element.tolist()]
    ends = zip(forces, contacts.body.tolist(), contacts.other.tolist(), strict=True)
    return [f"{force.name}: {bodies[i]}, {bodies[j]}" if force.of_pairs else force.name for force, i, j in ends]


def names_of_force(trajectory: "RecordedMotion", name: str) -> list[str]:
    """Return the names in `Trajectory.contact_force` that belong to the force ``name``: one for each of its pairs."""
    if not trajectory.mechanism.force(name).of_pairs:
        return [name] if name in trajectory.contact_force else []
    return [each for each in trajectory.contact_force if each.startswith(f"{name}: ")]


def touching_points(mechanism: Mechanism, t: np.ndarray, rows: np.ndarray) -> TouchingPoints:
    """Return the points of the ``rows`` (T, nk, 10) of `ContactForces` that touch."""
    compiled, contacts = mechanism.compiled, mechanism.compiled.plan.contacts
    node, k = np.nonzero(rows[..., 7:].any(axis=2))
    forces = np.array([force.name for force in mechanism.forces], dtype=str)
    bodies = np.array([*(mechanism.bodies[i].name for i in compiled.order), WORLD], dtype=str)
    values = rows[node, k]
    return TouchingPoints(
        node=node,
        t=t[node],
        contact=forces[compiled.force[contacts.element[k]]] if len(k) else np.zeros(0, dtype=str),
        body_a=bodies[contacts.body[k]],
        body_b=bodies[contacts.other[k]],
        point=values[:, 4:7],
        normal=values[:, 7:],
        force=values[:, :3],
        nodes=len(t),
        bodies=tuple(bodies[np.unique([contacts.body, contacts.other])].tolist()) if contacts.body.size else (),
    )
