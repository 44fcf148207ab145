"""The equations of motion in reduced coordinates, for user-defined methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import WrongArguments, array_of, call, finite, not_negative, of_type
from varint.base.display import Shown, count_text, value_text
from varint.base.errors import ArgumentError, AssemblyError
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.couplings import prescribed_motions
from varint.methods.reduced.equations import LARGEST_RATE, Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.preconditioner import StiffTree
from varint.methods.reduced.start import start_of
from varint.methods.reduced.states import ReducedState, maximal_state, reduce_turned
from varint.model.bounds import bounded
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.inputs.at_times import InputsAtTimes
from varint.results.inputs.courses import Span
from varint.results.path_energies import path_pieces
from varint.results.quantities import kinetic_energy, potential_energy
from varint.step.configuration import follow_measured
from varint.step.laws import evaluate_laws, law_potential
from varint.step.plan import JOINT

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Method = TypeVar("Method", bound=Callable)
PIECE = 1.5  # rad, or m, of the way on which turns are counted
MOST_PIECES = 100_000
LARGEST_GAP = 1e-9  # of a loop, in sizes of a part
SPACING = 0.02  # s, that differences of functions of time are made for


def of_time(method: Method) -> Method:
    """Wrap a method of (t, q, qdot): a call without t raises WrongArguments, which names the arguments."""

    @wraps(method)
    def checked(self: EquationsOfMotion, *args: Any, **keywords: Any) -> Any:
        if len(args) == 2 and not keywords and np.ndim(args[0]) == 1:
            name = method.__name__
            raise WrongArguments(f"{name} takes t, s, first: {name}(0.0, q, qdot) where nothing depends on time")
        return method(self, *args, **keywords)

    return cast(Method, checked)


class EquationsOfMotion(Shown):
    """M(q) ddq = force(t, q, dq) + G(q)^T multipliers, with G ddq as the loops of the mechanism ask for.

    q are the coordinates of the tree joints, m, rad, in the columns that `coordinates` of `varint.redmax` gives; dq are
    their rates, ddq the rates of these. Free rotations are rotation vectors. All methods are functions of their
    arguments alone: a spring along an angle of 7 rad is wound up by 7 rad. `coordinates` has the
    turns that a `State` carries, and gives back the q and dq of one that `state` made.

    Parameters
    ----------
    mechanism : Mechanism
    state : State or ReducedState, optional
        Start of motions at a constant rate, and values that couplings keep; ``mechanism.state()`` where not given.
    baumgarte : float
        Rate b at which gaps of the loops close, 1/s: g'' + 2 b g' + b^2 g = 0.

    Attributes
    ----------
    mechanism : Mechanism
    size : int
        nq, the number of coordinates.

    Raises
    ------
    ArgumentError
        Forces that time and state do not determine: inputs with one value a node, laws with an internal variable,
        hard stops, joint friction. StateError: a wrong state.
    """

    def __init__(
        self, mechanism: Mechanism, state: State | ReducedState | None = None, *, baumgarte: float = 5.0
    ) -> None:
        of_type(mechanism, Mechanism, "mechanism", ArgumentError)
        baumgarte = not_negative(baumgarte, "baumgarte", ArgumentError)
        bounded(baumgarte, "baumgarte", LARGEST_RATE, ArgumentError)
        refuse(mechanism, USES["equations"])
        motions = prescribed_motions(mechanism, Span(1, SPACING, np.inf))
        self._equations = Equations(
            mechanism,
            lambda compiled: InputsAtTimes(mechanism, compiled, 1, SPACING, motions=motions),
            baumgarte,
            motions,
        )
        self.mechanism, self.size = mechanism, self._equations.nq
        if not self.size:
            raise ArgumentError(f"mechanism '{mechanism.name}' has no coordinate: nothing can move")
        q, qdot = start_of(self._equations, mechanism.state() if state is None else state, motions)
        self._equations.targets[:] = self._equations.couplings.values(q)
        self._equations.reach(0.0, q, qdot)
        self._made: WeakKeyDictionary[State, tuple[np.ndarray, np.ndarray]] = WeakKeyDictionary()
        self._turned = q.copy()  # where the turns of angles were last counted

    def _facts(self) -> Iterable[str]:
        yield value_text(self.mechanism.name)
        yield count_text(self.size, "coordinate")
        yield count_text(self._equations.row_count, "row") + " of loops and couplings"

    def coordinates(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return q and dq (nq,) of ``state``; raises StateError.

        The coordinates that `state` made it of; else angles with the turns of the state, and the shortest
        rotation vectors, refused where a force follows turns that are lost with that.
        """
        if isinstance(state, State) and state in self._made:
            q, qdot = self._made[state]
            return q.copy(), qdot.copy()
        reduced = reduce_turned(self._equations.tree, self.mechanism, state)
        return reduced.q.copy(), reduced.qdot.copy()

    def state(self, q: ArrayLike, qdot: ArrayLike) -> State:
        """Return the `State` of the bodies; only the joints of the spanning tree are sure to be closed."""
        self._place(q, qdot)
        made = maximal_state(self.mechanism, ReducedState(self._array(q, "q"), self._array(qdot, "qdot")))
        self._made[made] = self._array(q, "q").copy(), self._array(qdot, "qdot").copy()
        return made

    @of_time
    def acceleration(self, t: float, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return ddq (nq,) at time ``t``, s, with the loops and couplings held.

        Prescribed joints are where their motion has them at ``t``, whatever ``q`` and ``qdot`` say. NaN where the
        equations have no finite solution, as with q or qdot that are not finite.
        """
        e, t = self._equations, finite(t, "t", ArgumentError)
        q, qdot = self._array(q, "q"), self._array(qdot, "qdot")
        self._count_turns(q)
        try:
            return e.acceleration(t, q, qdot).copy()
        except NotFinite:
            return np.full(self.size, np.nan)

    @of_time
    def multipliers(self, t: float, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return the multipliers (m,), N, N m, of loops and couplings at time ``t``, s, in the order of `violations`.

        M ddq = force + G^T multipliers with ddq of `acceleration`, but for prescribed coordinates. Where rows are
        redundant they are the least in the sense of squares.
        """
        self.acceleration(t, q, qdot)
        return self._equations.multiplier.copy()

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Return the mass matrix M (nq, nq)."""
        self._equations.place(self._array(q, "q"))
        return self._equations.mass_matrix()

    def solve_mass(self, q: ArrayLike, x: ArrayLike) -> np.ndarray:
        """Return M^-1 x (nq,) of efforts x (nq,), N, N m, without loops and couplings, in O(n).

        Dense with mass along paths. Prescribed coordinates do not move: their entries are zero, and M is the block of
        the others.
        """
        e = self._equations
        e.place(self._array(q, "q"))
        e.factor()
        return e.solve(np.where(e.driven_columns, 0.0, self._array(x, "x")))

    def bias(self, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return centrifugal, Coriolis and gyroscopic efforts (nq,), N, N m: J^T (M Jdot dq + (0, w x J_b w)).

        M ddq + bias is the generalised force of gravity, forces and multipliers; `force` has the bias subtracted.
        """
        self._place(q, qdot)
        e, bodies = self._equations, self._equations.compiled.plan.bodies
        J, bend = e.jacobian(), (e.jacobian_rate() @ e.work.rates).reshape(-1, 6)
        w = e.velocity[:, 3:]
        spin = np.einsum("nij,nj->ni", bodies.inertia, bend[:, 3:])
        spin += np.cross(w, np.einsum("nij,nj->ni", bodies.inertia, w))
        bias = J.T @ np.concatenate([bodies.mass[:, None] * bend[:, :3], spin], axis=1).ravel()
        if e.paths:
            e.paths.evaluate(e.work, np.zeros(3))
            bias -= e.paths.force
        return bias

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """Return J (nb, 6, nq): velocities of the bodies by dq, linear in world axes and angular in body axes.

        Bodies are in the order of the mechanism; linear velocities are of the centres of mass.
        """
        self._equations.place(self._array(q, "q"))
        return self._of_bodies(self._equations.jacobian())

    def jacobian_rate(self, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return dJ/dt (nb, 6, nq), the time derivative of the entries of `jacobian` along dq."""
        self._place(q, qdot)
        return self._of_bodies(self._equations.jacobian_rate())

    def _of_bodies(self, matrix: np.ndarray) -> np.ndarray:
        """Return a ``matrix`` (6 nb, nq) in kernel order of bodies as (nb, 6, nq) in the order of the mechanism."""
        return matrix.reshape(-1, 6, self.size)[self._equations.compiled.slot]

    @of_time
    def stiffness(self, t: float, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return K = - d force / dq (nq, nq), exact, at time ``t``, s.

        Inputs that are functions of the state are held.
        """
        return self._derivatives(t, q, qdot, 1.0, 0.0)

    @of_time
    def damping(self, t: float, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return D = - d force / d dq (nq, nq), exact, with the derivative of the bias; see `stiffness`."""
        return self._derivatives(t, q, qdot, 0.0, 1.0)

    def _derivatives(self, t: float, q: ArrayLike, qdot: ArrayLike, by_q: float, by_rates: float) -> np.ndarray:
        e, t = self._equations, finite(t, "t", ArgumentError)
        refuse(self.mechanism, USES["derivatives"])
        q, qdot = self._array(q, "q"), self._array(qdot, "qdot")
        self._count_turns(q)
        inverse = InverseDynamics(e)
        inverse.evaluate(t, q, qdot, np.zeros(self.size), np.zeros(e.row_count))
        return inverse.derivatives(by_q, by_rates, 0.0)[0]

    def preconditioner(self, t: float, q: ArrayLike, qdot: ArrayLike, h: float) -> LinearOperator:
        """Return an approximate inverse (nq, nq) of M + h D + h^2 K in O(n), a `LinearOperator` (DIFF Algorithm 10).

        Symmetric and positive definite, for conjugate gradients. Stiffness and damping of laws along the coordinates of
        single tree joints are in it exactly, other forces by the blocks of single bodies. Loops, couplings, the bias
        and the turning of directions are left out. Prescribed coordinates stay at zero.

        ``h``: step, s; zero gives M^-1.
        """
        from scipy.sparse.linalg import LinearOperator

        h = not_negative(h, "h", ArgumentError)
        refuse(self.mechanism, USES["derivatives"])
        self.force(t, q, qdot)
        return LinearOperator((self.size, self.size), matvec=StiffTree(self._equations, h).solve, dtype=float)

    @of_time
    def force(self, t: float, q: ArrayLike, qdot: ArrayLike) -> np.ndarray:
        """Return gravity, forces, centrifugal and Coriolis terms (nq,), N, N m, at time ``t``, s.

        Forces of loops are left out.
        """
        e, t = self._equations, finite(t, "t", ArgumentError)
        self._count_turns(self._array(q, "q"))
        self._place(q, qdot)
        return e.reduced_force(t)

    def violations(self, q: ArrayLike, qdot: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return gaps (m,) of loops and couplings, m, rad, their rates (m,), and G (m, nq); m may be zero."""
        self._place(q, qdot)
        return self._equations.violations(self._equations.work.q, self._equations.work.rates)

    def _row_label(self, row: int) -> str:
        """Return the joint, coupling or attachment of a row of `violations`, "joint 'NAME'", for messages."""
        closures, couplings = self._equations.closures, self._equations.couplings
        if row >= len(closures):
            return self.mechanism.force(couplings.force_of(row - len(closures))).label
        part = int(closures.first[row])
        whose = closures.whole.rows.role[closures.rows[part]] == JOINT
        return self.mechanism.joints[int(closures.joint[part])].label if whose else "an attachment or a constraint"

    def closed(self, q: ArrayLike, qdot: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return q and dq (nq,) without gaps of loops and couplings, nor rates of gaps: changed by the least motion.

        Raises AssemblyError where the gaps are too large for it.
        """
        q, qdot = self._array(q, "q").copy(), self._array(qdot, "qdot").copy()
        e = self._equations
        if e.row_count:
            e.close(q, qdot)
            gap = np.abs(self.violations(q, qdot)[0]).max()
            if gap > LARGEST_GAP * e.compiled.length:
                raise AssemblyError(f"the loops of '{self.mechanism.name}' are too far open at q: {gap:.3g} m stay")
        return q, qdot

    def energy(self, q: ArrayLike, qdot: ArrayLike) -> float:
        """Return the kinetic and potential energy, J."""
        self._count_turns(self._array(q, "q"))
        self._place(q, qdot)
        e, plan, work = self._equations, self._equations.compiled.plan, self._equations.ws.efforts
        state = e.state()
        total = kinetic_energy(self.mechanism, state.velocity[None], state.angular_velocity[None])[0]
        total += potential_energy(self.mechanism, state.position[None])[0]
        nodes = state.position[None], state.quat_wxyz[None], state.velocity[None], state.angular_velocity[None]
        pieces = path_pieces(self.mechanism, nodes)
        if pieces is not None:
            total += (pieces.kinetic_energy() + pieces.potential_energy(self.mechanism.gravity))[0]
        follow_measured(plan, e.ws, e.position, e.rotation)
        evaluate_laws(plan, e.ws, e.position, e.rotation, e.velocity, 0.0)
        for s in range(plan.laws.sum_law.size - 1):
            for f in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
                force = self.mechanism.forces[e.compiled.force[plan.laws.element[f]]]
                potential, value = getattr(force, "potential", None), float(work.sum_value[s])
                label = f"potential of {force.label}"
                total += (
                    law_potential(plan, f, value) if potential is None else finite(call(potential, label, value), label)
                )
        return float(total)

    def _count_turns(self, q: np.ndarray) -> None:
        """Count the turns of angles along which forces act, up to ``q`` (nq,): they are followed in small pieces.

        Raises ArgumentError if ``q`` is too far away.
        """
        e, begin = self._equations, self._turned
        if not e.ne or not np.isfinite(q).all():
            return
        if np.abs(q - begin).max() > PIECE:
            begin = np.zeros(self.size)  # without turns
            e.ws.efforts.value_near[:] = 0.0
        pieces = int(np.ceil(np.abs(q - begin).max() / PIECE))
        if pieces > MOST_PIECES:
            raise ArgumentError(f"q is {np.abs(q).max():.3g} away from zero: too far to count the turns of angles")
        for piece in range(1, pieces + 1):
            e.place_and_move(begin + piece / pieces * (q - begin), np.zeros(self.size))
            follow_measured(e.compiled.plan, e.ws, e.position, e.rotation)
            evaluate_laws(e.compiled.plan, e.ws, e.position, e.rotation, e.velocity, 0.0)
            e.keep_turns()
        self._turned = q.copy()

    def _place(self, q: ArrayLike, qdot: ArrayLike) -> None:
        self._equations.place_and_move(self._array(q, "q"), self._array(qdot, "qdot"))

    def _array(self, value: ArrayLike, name: str) -> np.ndarray:
        """Return ``value`` as an array (nq,); arrays of floats pass as they are, finite or not.

        Raises ArgumentError, which names it by ``name``.
        """
        if isinstance(value, np.ndarray) and value.dtype == float and value.shape == (self.size,):
            return value
        return array_of(value, (self.size,), name, ArgumentError)
