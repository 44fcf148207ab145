"""`Rival`: the contract of contact solvers at velocity level, to be compared with the exact cones of `Contacts`.

Rows, bounds and the step are as in `Contacts`. With its names, u = B v the rates along the rows and z the impulses,

    A v = b + G^T lambda + B^T z,    u = S z + u0,    S = B E E^T B^T

where v = p + E y obeys the rows of loops, couplings and prescribed joints. A rival gives z by a law or a procedure of
its own: friction with flat sides in place of the round cone, or a solution that is left unfinished.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.methods.reduced.contacts import ContactRows, Contacts, GivenStep
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.saddle import REDUNDANT, LinearStep

CONES = "cones"  # the exact law of `Contacts`
REGISTRY: dict[str, type["Rival"]] = {}  # by name


def register(cls: type["Rival"]) -> type["Rival"]:
    """Add a contact solver to the registry, under its name, and return it: a class decorator."""
    REGISTRY[cls.name] = cls
    return cls


class VelocityProblem(NamedTuple):
    """The impulses of a step along n rows, m of them one-sided and first.

    step : LinearStep
    along : (n, nq) B: rates along the rows
    reduced : (n, k) B E
    free : (n,) rates without impulses, m/s, rad/s
    bound : (m,) least rates along the one-sided rows
    start : (n,) impulses of the last step
    moves : (n,) whether any impulse changes the rate along the row
    """

    step: LinearStep
    along: np.ndarray
    reduced: np.ndarray
    free: np.ndarray
    bound: np.ndarray
    start: np.ndarray
    moves: np.ndarray


class Rival(Contacts):
    """Hard contacts and hard stops of ``equations`` by another law or procedure; see `Contacts`.

    Facts, of the class: its ``name``, ``what``, its description in a few words, and whether it supports
    ``joint_friction``; that is refused elsewhere, and restitution here.

    Attributes
    ----------
    pressing : (P,) numbers of the rows of the points' normals
    sliding : (P, 2) numbers of the rows of their tangents

    Raises
    ------
    ArgumentError
        A restitution above zero.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    joint_friction: ClassVar[bool] = False

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        for s in np.flatnonzero(self.restitution > 0.0):
            label = self._label(self.element[s])
            raise ArgumentError(
                f"{label} has a restitution, which contact_solver={self.name!r} does not support:"
                f" set it to zero, or use contact_solver={CONES!r}"
            )
        points = len(self.ground.restitution)
        self.pressing = np.arange(self.one_sided - points, self.one_sided)
        self.sliding = self.first[len(self.frictions.sizes)] + np.arange(2 * points).reshape(-1, 2)

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """Return the impulses (n,) along all rows; raises Infeasible, NotSolved, Blocked."""
        raise NotImplementedError

    def _impulses(self, task: GivenStep, rows: ContactRows, bound: np.ndarray) -> np.ndarray:
        """See `Contacts`."""
        rest, along = task.rest, rows.by_rates
        reduced = along @ rest.E
        free = along @ rest.p + reduced @ rest.target
        least = REDUNDANT * np.linalg.norm(along, axis=1) * np.linalg.norm(rest.E)
        moves = np.linalg.norm(reduced, axis=1) > least
        return self.impulses(VelocityProblem(task.step, along, reduced, free, bound, self.z, moves))
