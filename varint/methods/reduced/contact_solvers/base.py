"""`Rival`: base class of other contact solvers at velocity level, for comparison with the exact cones of `Contacts`.

Unknowns of a step are the rates v (nq,) of the coordinates at its end and the impulses z (n,) along the contact rows:

    A v = b + G^T lambda + B^T z,    G v = g

A (nq, nq): mass matrix and implicit terms of dampers and springs; b (nq,): momentum at the start of the step and
impulses of all other forces; G (r, nq): rows of loops, couplings and prescribed joints, g (r,): their rates (zero
except for prescribed joints), lambda (r,): their multipliers; B (n, nq): Jacobian of the contact rows, so that
u = B v (n,) are the rates along them. Elimination of G gives v = p + E y with G p = g, G E = 0, E^T A E = I, p (nq,),
E (nq, k), and

    y = target + (B E)^T z,    target = E^T (b - A p)
    u = S z + u0,              S = (B E) (B E)^T,    u0 = B (p + E target)

S (n, n) is the Delassus matrix, u0 the rates without contact impulses, y (k,) the coordinates of the rates that G
leaves free, k = nq - rank G, and target (k,) their values without contact impulses.

Rows are in the order of `Contacts`: m one-sided ones (hard stops, then normals of contact points), joint friction, two
tangents per contact point. Along a one-sided row a positive rate opens the gap of the stop or contact, and a positive
impulse pushes its two sides apart. In `Contacts`, z >= 0, u >= bound, z (u - bound) = 0 along one-sided rows, and
friction lies in round cones. A rival changes this law, for example to a friction pyramid, or stops before its iteration
converges.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.methods.reduced.contacts import ContactRows, Contacts, GivenStep
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.saddle import REDUNDANT, LinearStep

CONES = "cones"  # name of the solver with exact friction cones, `Contacts`
REGISTRY: dict[str, type["Rival"]] = {}  # contact solvers by the name that users write


def register(cls: type["Rival"]) -> type["Rival"]:
    """Add a contact solver to ``REGISTRY``, under its ``name``, and return it: a class decorator."""
    REGISTRY[cls.name] = cls
    return cls


class VelocityProblem(NamedTuple):
    """Problem for the impulses z (n,) of a step; symbols, order and signs of the rows as in the module's docstring.

    Rates are in m/s and impulses in N s; for rows of angles in rad/s and N m s.

    step : LinearStep
        A, b, G, g: the equations without contacts.
    along : (n, nq) float
        B, Jacobian of the rows.
    reduced : (n, k) float
        B E, so that S = reduced @ reduced.T.
    free : (n,) float
        u0, rates without contact impulses.
    bound : (m,) float
        Lower bounds of the rates along the one-sided rows: about -gap / dt if the gap is open (above
        zero), and -baumgarte * gap, the rate at which it returns, if it is violated (`varint.redmax`).
    start : (n,) float
        Impulses of the last step: initial guess of an iteration; do not modify in place.
    movable : (n,) bool
        False for a row whose rate no impulse changes, because G alone determines it: S_ii is round-off.
    """

    step: LinearStep
    along: np.ndarray
    reduced: np.ndarray
    free: np.ndarray
    bound: np.ndarray
    start: np.ndarray
    movable: np.ndarray


class Rival(Contacts):
    """Base class of solvers that compute the impulses of hard stops and contacts by another law than `Contacts`.

    A subclass implements `impulses` and is registered by `register`. Restitution is not supported.

    Attributes
    ----------
    name : str
        Name that users write as ``contact_solver=``.
    what : str
        Short description of the law or procedure, with its source.
    joint_friction : bool
        Whether the solver supports `JointCoulombFriction`; if not, `varint.redmax` refuses mechanisms with such forces.
    normal_rows : (P,) int
        Row numbers of the normals of the P contact points.
    tangent_rows : (P, 2) int
        Row numbers of their tangents.

    Raises
    ------
    ArgumentError
        A stop or contact has a restitution above zero; raised when the solver is made.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    joint_friction: ClassVar[bool] = False

    def __init__(self, equations: Equations) -> None:
        """Refuse restitution; set `normal_rows` and `tangent_rows` of the mechanism that ``equations`` belong to."""
        super().__init__(equations)
        for s in np.flatnonzero(self.restitution > 0.0):
            label = self._label(self.element[s])
            raise ArgumentError(
                f"{label} has a restitution, which contact_solver={self.name!r} does not support:"
                f" set it to zero, or use contact_solver={CONES!r}"
            )
        points = len(self.ground.restitution)
        self.normal_rows = np.arange(self.one_sided - points, self.one_sided)
        self.tangent_rows = self.first[len(self.frictions.sizes)] + np.arange(2 * points).reshape(-1, 2)

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """Return the impulses z (n,) along all rows, N s or N m s.

        Rows with ``movable`` False: do not divide by their S_ii; return 0 or ``start`` there, which changes no rate. If
        the rate of such a one-sided row is below its bound, no impulse can raise it: an exact solver raises Infeasible
        with the number of this row in ``rows``; others may leave it below.

        Raises
        ------
        Infeasible
            No rates satisfy all bounds; ``rows``: numbers of the contradicting one-sided rows.
        NotSolved
            A solver that minimises a convex function failed numerically.
        Blocked
            The iteration did not converge, or the law has no solution although the bounds are compatible; the message
            names the contacts and a remedy.
        """
        raise NotImplementedError

    def _impulses(self, task: GivenStep, rows: ContactRows, bound: np.ndarray) -> np.ndarray:
        """Build the `VelocityProblem` of the step ``task`` and return its impulses z (n,), N s or N m s.

        ``task``: the step without contacts; ``task.rest`` holds p, E and target as defined at the top of this file.
        ``rows``: the contact
        rows at the pose of the step. ``bound`` (m,): lower bounds of the rates, as in `VelocityProblem`.
        """
        rest, along = task.rest, rows.by_rates
        reduced = along @ rest.E
        free = along @ rest.p + reduced @ rest.target
        # A row with B_i E = 0 is a combination of rows of G. Round-off leaves |B_i E| up to about REDUNDANT |B_i| |E|.
        threshold = REDUNDANT * np.linalg.norm(along, axis=1) * np.linalg.norm(rest.E)
        movable = np.linalg.norm(reduced, axis=1) > threshold
        return self.impulses(VelocityProblem(task.step, along, reduced, free, bound, self.z, movable))
