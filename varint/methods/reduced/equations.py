"""The equations of motion of a mechanism in reduced coordinates.

    J^T M (J ddq + Jdot dq) = J^T f + G^T lambda,    G ddq = -c        (DIFF eq. 2.105)

M: masses of the bodies, f: their loads less the gyroscopic terms, G: rows of the cut joints times J, c: their second
derivative at ddq = 0 and, with Baumgarte's rates, 2 b g' + b^2 g. Trees are solved by the articulated-body algorithm
in O(n). With loops the same factors give M_r = (1 + K) L L^T (1 + K)^T (recursions/articulated.py), and
constraint_forces.py the least change of L^T (1 + K)^T ddq that closes them, in the sense of least squares where rows
are redundant. Mass along paths (path_masses.py) adds to M_r and f, and the factors are dense.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from varint.kinematics.turns import counted_turns, followed_near, memory_of, start_memory, start_turns, turning
from varint.mathematics.products.records import check_order
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL
from varint.methods.reduced.closures import ClosureRows, Closures
from varint.methods.reduced.constraint_forces import ConstraintSolver, NotFinite
from varint.methods.reduced.couplings import Couplings
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.path_masses import DenseMass, PathMasses
from varint.methods.reduced.prescribed_joints import Drive, find_drives, find_moved
from varint.methods.reduced.recursions import articulated, wrenches
from varint.methods.reduced.recursions import kinematic_recursions as kinematics
from varint.model.state import State
from varint.plan import Compiled
from varint.results.inputs.at_times import InputsAtTimes
from varint.results.inputs.courses import Course
from varint.step.loads import differentiate_loads
from varint.step.nodes.efforts import evaluate_efforts, keep_turns
from varint.step.workspace import workspace

LARGEST_RATE = 1e12  # 1/s, of Baumgarte's: its square is a number still
CLOSINGS = 3  # Newton steps; violations are small to begin with
CLOSED = 1e-11  # of the size of a part: loops of recorded nodes that are open by less are left as they are


class Equations(TreeKinematics):
    """The equations of ``mechanism``, evaluated in arrays that the next evaluation overwrites.

    After `load`: ``power`` (ne,) of the elements of forces, W, its result ``loaded``, and the states ``law_state``
    (ns,) of the laws that have one, see `integrate_from`; the rest is in ``ws``, the workspace of laws and loads.

    Parameters
    ----------
    mechanism : Mechanism
    inputs : function of the compiled mechanism, optional
        Makes its `InputsAtTimes`.
    baumgarte : float
        b, 1/s.
    prescribed : dict, optional
        Joint name to function of time, see `Drive.at`.
    chart : str
        Of all free rotations, at the start: "exponential" or an order of Euler angles.
    moved : dict, optional
        Name of a force that moves a body or a point to its course.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        inputs: Callable[[Compiled], InputsAtTimes] | None = None,
        baumgarte: float = 0.0,
        prescribed: Mapping[str, Callable] | None = None,
        chart: str = EXPONENTIAL,
        moved: Mapping[str, Course] | None = None,
    ) -> None:
        super().__init__(mechanism, chart)
        self.baumgarte = baumgarte
        plan = self.compiled.plan
        self.moved = find_moved(mechanism, self.tree, moved)
        by_rows = [(part.elements, part.course) for part in self.moved if not part.drive]
        by_own_rows = {k for k, force in enumerate(mechanism.forces) if force.of_points or force.of_poses}
        attaching = np.flatnonzero(np.isin(self.compiled.force, [*(by_own_rows - self.tree.pinned)]))
        acting = np.isin(plan.constraints.element, [*attaching, *(e for elements, _ in by_rows for e in elements)])
        self.ws = workspace(plan, functions=self.compiled.functions, inactive=np.flatnonzero(~acting))
        freed = [number for number, joint in enumerate(mechanism.joints) if joint.compliant]
        self.closures = Closures(self.compiled, self.ws, by_rows, freed, attaching)
        self.couplings = Couplings(mechanism, self.tree)
        self.paths = PathMasses(mechanism)
        self.targets = np.zeros(len(self.couplings))  # of the sums that they keep
        self.row_count = len(self.closures) + len(self.couplings)
        self.held = np.zeros(0, dtype=np.bool_)  # (n,) one-sided rows in contact, where events are
        self.constraints = self._lasting = ConstraintSolver(self.row_count, plan.bodies.mass.sum())
        self._no_motion = np.zeros((self.nodes.parent.size, 6))
        self.drives = [
            *find_drives(mechanism, self.tree, prescribed),
            *(part.drive for part in self.moved if part.drive),
        ]
        self.driven_columns = np.zeros(self.nq, dtype=np.bool_)
        for drive in self.drives:
            self.work.prescribed[drive.nodes] = self.driven_columns[drive.columns] = True
        self.inputs = inputs(self.compiled) if inputs else None
        self.gravity, self.ne, self._span = plan.bodies.gravity, plan.elements.force.size, 0.0
        self.power, self.law_state = np.zeros(self.ne), self.compiled.law_start.copy()
        self.ws.efforts.state[:] = self.law_state
        self.turns: Mapping[str, np.ndarray] = {}  # at the start, (dof,) by joint
        self.start_memory: Mapping[str, np.ndarray] = {}  # by force
        known = mechanism.joint_index
        as_described = [j for j in self.tree.joints if j.name in known and j is mechanism.joint(j.name)]
        names = {joint.name for joint in as_described}
        about_axes = [angle for angle in self.compiled.counted if angle.joint in names and angle.product < 0]
        pairs = [(m, self.tree.columns[a.joint].start + a.number) for a in about_axes for m in a.measures]
        self.tree_angles = np.array(pairs, dtype=int).reshape(-1, 2).T
        self._turning = [joint for joint in as_described if turning(joint) and joint.name not in self.tree.charts]

    def start_turns(self, q: np.ndarray, turns: Mapping[str, np.ndarray], memory: Mapping[str, np.ndarray]) -> None:
        """Let angles of forces count on from ``q`` (nq,), and from ``turns``, (dof,) by joint, of the other joints.

        ``memory``: internal variables of laws, by force.
        """
        self.turns = {**turns, **self._turns_of(q)}
        self.start_memory = memory
        start_turns(self.compiled, self.ws, self.turns, memory)
        self.law_state[:] = start_memory(self.compiled, memory)
        self.ws.efforts.state[:] = self.law_state

    def count_turns(self) -> None:
        """Let angles of forces that are tree coordinates have the turns of these, after `place`."""
        measures, columns = self.tree_angles
        if measures.size:
            self.ws.efforts.value_near[measures] = self.work.q[columns]

    def _turns_of(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Return the coordinates of the tree joints that turn about axes, by joint."""
        return {joint.name: q[self.tree.columns[joint.name]].copy() for joint in self._turning}

    def state(self) -> State:
        """Return the bodies after `place` and `move`, in the order of the description, with their turns."""
        turns = {
            **self.turns,
            **counted_turns(self.compiled, self.ws.efforts.value_near),
            **self._turns_of(self.work.q),
        }
        memory = memory_of(self.compiled, self.law_state, followed_near(self.compiled, self.ws.efforts.value_near))
        return replace(super().state(), turns=turns, memory=memory | self.couplings.memory(self.targets))

    @property
    def multiplier(self) -> np.ndarray:
        """(row_count,) of the rows of closures and couplings at the last accelerations."""
        return self.constraints.multiplier

    # ------------------------------------------------------------------------------------- forces

    def load(self, t: float) -> np.ndarray:
        """Return the loads (nb, 6) of all forces but gravity, N, world, and N m, body axes, after `move`.

        Keeps them as ``loaded``, the power of the laws as ``power``, and their states as ``law_state``.
        """
        load = self.inputs.load(t).copy() if self.inputs else np.zeros((self.nb, 6))
        if self.ne:
            plan, ws, work = self.compiled.plan, self.ws, self.ws.efforts
            work.input[:] = self.inputs.command(t, self.state) if self.inputs else 0.0
            self.count_turns()
            moved = self.position, self.rotation, self.velocity
            evaluate_efforts(plan, ws, *moved, self._span, load, self.power)
            self.law_state[:] = work.state + self._span * work.flow
        self.loaded = load
        return load

    def integrate_from(self, start: np.ndarray, span: float) -> None:
        """Let `load` take the states of laws as ``start`` (ns,) plus ``span``, s, times their flow."""
        self.ws.efforts.state[:], self._span = start, span

    @property
    def flow(self) -> np.ndarray:
        """(ns,) time derivatives of the states of laws, after `load`."""
        return self.ws.efforts.flow

    def differentiate_loads(self) -> None:
        """Evaluate the derivatives of the loads on single bodies, after `load`."""
        differentiate_loads(self.compiled.plan, self.ws, self.position, self.rotation, self.velocity)

    def keep_turns(self) -> None:
        """Let angles of forces count their turns from the values of the last `load`."""
        keep_turns(self.compiled.plan, self.ws.efforts)

    def memory(self) -> dict[str, np.ndarray]:
        """Return the memory of future evaluations, beside their arguments and the charts: arrays of fixed shapes."""
        memory = {name: array.copy() for name, array in self._remembered()} | {"rank": self._lasting.memory()}
        return memory | ({"held": self.held.copy(), "held rank": self.constraints.memory()} if self.held.size else {})

    def recall(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `memory`; raises ValueError for any other arrays."""
        check_order(saved["product order"])
        for name, array in self._remembered():
            array[:] = saved[name]
        self._lasting.recall(saved["rank"])
        if self.held.size:
            self.hold(saved["held"])
            self.constraints.recall(saved["held rank"])

    def hold(self, rows: np.ndarray) -> None:
        """Keep the one-sided rows closed for which ``rows`` (n,) is true, by rows after the other closures."""
        self.held[:] = rows
        self.closures.hold(np.flatnonzero(rows))
        self.row_count = len(self.closures) + len(self.couplings)
        mass = self.compiled.plan.bodies.mass.sum()
        self.constraints = ConstraintSolver(self.row_count, mass) if rows.any() else self._lasting

    @property
    def held_multiplier(self) -> np.ndarray:
        """(n,) of the one-sided rows that are held, in their order, at the last accelerations."""
        return self.multiplier[self.closures.moved.stop : len(self.closures)]

    def _remembered(self) -> list[tuple[str, np.ndarray]]:
        products = self.ws.products
        return [
            ("turns", self.ws.efforts.value_near),
            ("targets", self.targets),
            ("product coordinates", products.q),
            ("product order", products.order),
        ]

    # ------------------------------------------------------------------------------------- dynamics

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return ddq (nq,) at time ``t``."""
        q, rates, second = self.imposed(t, q, rates)
        self.place_and_move(q, rates)
        if self.paths:
            return self._dense_acceleration(t, q, rates, second)
        for drive in self.drives:
            self._accelerate(drive, second)
        articulated.inward_dynamics(self.work, self.gravity, self.load(t), second)
        if not self.row_count:
            return self._outward_pass(self.work.bias, second)
        free = self._outward_pass(self.work.bias, second.copy())
        return self._outward_pass(self.work.bias, second + self._correction(free, q, rates))

    def _dense_acceleration(self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return ddq (nq,) with mass along paths, after `move`.

        ``second`` (nq,): ddq of prescribed coordinates, else 0.
        """
        M = self.mass_matrix()
        self._dense = DenseMass(M, ~self.driven_columns)
        effort = self._tree_force(t) + self.paths.force - M @ second
        if not np.isfinite(effort).all():
            raise NotFinite
        free = second + self._dense.solve(effort)
        self._accelerate_nodes(free)
        if not self.row_count:
            return free
        free += self._dense.motion_of(self._correction(free, q, rates))
        self._accelerate_nodes(free)
        return free

    def _accelerate_nodes(self, second: np.ndarray) -> None:
        """Set ``work.acceleration`` to ddq ``second`` (nq,), after `move`."""
        n, joint = self.nodes, np.zeros_like(self._no_motion)
        for i in range(n.parent.size):
            columns = slice(n.column[i], n.column[i] + n.dof[i])
            joint[i] = second[columns] @ self.work.subspace[columns]
        kinematics.accelerations(self.work, joint, self.work.acceleration)

    def hardest_accelerated(self, t: float, q: np.ndarray, rates: np.ndarray) -> str:
        """Return the name of the body with the largest acceleration, or with one that is not finite."""
        # NotFinite in the loops: the accelerations without them are not finite
        with suppress(NotFinite), np.errstate(over="ignore", invalid="ignore"):
            self.acceleration(t, q, rates)
        motion = np.zeros((self.nb, 6))
        kinematics.motion_to_bodies(self.work, self.work.acceleration, motion)
        size = np.abs(motion[:, :3]).max(axis=1) + self.compiled.length * np.abs(motion[:, 3:]).max(axis=1)
        return self.mechanism.bodies[self.compiled.order[int(np.argmax(size))]].name

    def imposed(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``q``, ``rates`` with prescribed joints as at time ``t``, and ddq of these, else 0; all (nq,)."""
        second = np.zeros(self.nq)
        self.closures.at(t)
        if self.drives:
            q, rates = q.copy(), rates.copy()
            for drive in self.drives:
                q[drive.columns], rates[drive.columns], second[drive.columns] = drive.at(t)
        return q, rates, second

    def _accelerate(self, drive: Drive, second: np.ndarray) -> None:
        """Add the acceleration of a prescribed joint to the biases of its nodes."""
        n, work = self.nodes, self.work
        for i in drive.nodes:
            columns = slice(n.column[i], n.column[i] + n.dof[i])
            work.bias[i] += second[columns] @ work.subspace[columns]

    def factor(self) -> None:
        """Factor the articulated-body inertias, or the dense mass matrix with mass along paths, after `place`.

        `solve` uses the factors.
        """
        if self.paths:
            self._dense = DenseMass(self.mass_matrix(), ~self.driven_columns)
            return
        articulated.factor(self.work)

    def solve(self, effort: np.ndarray) -> np.ndarray:
        """Return M_r^-1 effort (nq,) in O(n), after `factor`."""
        if self.paths:
            return self._dense.solve(np.asarray(effort, dtype=float))
        u = np.array(effort, dtype=float)
        self.work.wrench[:] = 0.0
        articulated.inward_pass(self.work, self._no_motion, u)
        return self._outward_pass(self._no_motion, u)

    def _outward_pass(self, bias: np.ndarray, u: np.ndarray) -> np.ndarray:
        articulated.outward_pass(self.work, bias, u)
        return u

    def bias_wrenches(self, load: np.ndarray) -> np.ndarray:
        """Return ``work.wrench`` (nl + 1, 6): wrenches that nodes need at ddq = 0 under ``load`` (nb, 6)."""
        wrenches.bias_wrenches(self.work, self.gravity, load)
        return self.work.wrench

    def mass_matrix(self) -> np.ndarray:
        """Return M_r = J^T M J (nq, nq) with mass along paths, after `place`."""
        bodies, J = self.compiled.plan.bodies, self.jacobian()
        parts = J.reshape(self.nb, 6, self.nq)
        linear, angular = bodies.mass[:, None, None] * parts[:, :3], bodies.inertia @ parts[:, 3:]
        M = J.T @ np.concatenate([linear, angular], axis=1).reshape(J.shape)
        if self.paths:
            self.paths.evaluate(self.work, self.gravity)
            M += self.paths.mass
        return M

    def reduced_force(self, t: float) -> np.ndarray:
        """Return J^T (f - M Jdot dq) (nq,) at time ``t``, after `move`, in O(n): equal to M_r ddq without loops."""
        force = self._tree_force(t)
        if self.paths:
            self.paths.evaluate(self.work, self.gravity)
            force += self.paths.force
        return force

    def _tree_force(self, t: float) -> np.ndarray:
        """Return `reduced_force` without mass along paths."""
        work, out = self.work, np.empty(self.nq)
        wrench = self.bias_wrenches(self.load(t))
        kinematics.accelerations(work, self._no_motion, work.acceleration)
        wrenches.add_inertial_wrenches(work, work.acceleration, wrench)
        wrenches.transpose_product(work, wrench, out)
        return -out

    def impulse_motions(self, side: np.ndarray, jacobian: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return effects of unit impulses along k rows, with loops and couplings closed, after `place` and `move`.

        ``side`` (k, 2): bodies of the rows, ``jacobian`` (k, 2, 6). Returns E (k, nq), of which E E^T are the changes
        of the rates along the rows, see `motion_of`; the squared sizes (k,) of its rows without loops; and the
        multipliers (k, row_count).
        """
        self.factor()
        E, multiplier = np.empty((len(side), self.nq)), np.zeros((len(side), self.row_count))
        self._scale_rows(side, jacobian, E)
        alone = np.einsum("kn,kn->k", E, E)
        if self.row_count:
            A = self._scaled(self._rows())
            for k in range(len(E)):
                E[k] -= self.constraints.solve(A, A @ E[k])
                multiplier[k] = -self.multiplier
        return E, alone, multiplier

    def motion_of(self, scaled: np.ndarray) -> np.ndarray:
        """Return the change of the rates (nq,) whose coordinates in the kinetic metric are ``scaled`` (nq,)."""
        return self._dense.motion_of(scaled) if self.paths else self._outward_pass(self._no_motion, scaled.copy())

    # ------------------------------------------------------------------------------------- loops and couplings

    def reach(self, t: float, q: np.ndarray, rates: np.ndarray) -> bool:
        """Count the turns of the angles of forces from this state on, and the rank of the loops as reached here.

        Returns whether the loops are clear of singular poses; else they should be closed, see `close`.
        """
        self.acceleration(t, q, rates)
        self.keep_turns()
        return self.constraints.reach() if self.row_count else True

    def close(self, q: np.ndarray, rates: np.ndarray) -> None:
        """Correct ``q`` and ``rates``, in place, by the least motions that take all violations and their rates away."""
        for _ in range(CLOSINGS):
            rows = self._rows_at(q, rates)
            q += self._least_motion(rows, -self._violations_of(rows, q, rates)[0])
        rows = self._rows_at(q, rates)
        rates += self._least_motion(rows, -self._violations_of(rows, q, rates)[1])

    def close_loops(self, q: np.ndarray, rates: np.ndarray, widest: float) -> tuple[np.ndarray, np.ndarray]:
        """Return ``q`` and ``rates`` as `close` leaves them, in new arrays; unchanged if loops are closed or stay open.

        They stay open where they are by more than ``widest``, m: that is no error of integration. One-sided rows that
        are held keep their values, which a start may have left beyond a limit. The bodies are placed there. Nothing
        that future evaluations depend on changes.
        """
        self.place_and_move(q, rates)
        held = slice(self.closures.moved.stop, len(self.closures))
        if self.row_count == held.stop - held.start:
            return q, rates
        remembered = [(array, array.copy()) for _, array in self._remembered()]
        solver = self.constraints
        multiplier, sizes = solver.multiplier, solver.relative_sizes
        rows = self._rows()
        gap = self._violations_of(rows, q, rates)[0]
        gap[held] = 0.0
        for _ in range(CLOSINGS):
            if not CLOSED * self.compiled.length < np.abs(gap).max() <= widest:
                break
            self.factor()
            A = self._scaled(rows)
            trial = q + self.motion_of(solver.solve(A, -gap))
            self.place_and_move(trial, rates)
            rows = self._rows()
            left, speed = self._violations_of(rows, trial, rates)
            left[held] = speed[held] = 0.0
            if not np.abs(left).max() < np.abs(gap).max():
                self.place_and_move(q, rates)
                break
            q, gap = trial, left
            rates = rates + self.motion_of(solver.solve(A, -speed))
            self.place_and_move(q, rates)
        for array, before in remembered:
            array[:] = before
        solver.multiplier, solver.relative_sizes = multiplier, sizes
        return q, rates

    def violations(self, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values and rates (m,) of the rows of closures and couplings, and G (m, nq); after `move`."""
        rows = self._rows()
        return *self._violations_of(rows, q, rates), self.reduced_rows(rows)

    def _rows(self) -> ClosureRows:
        """Return the rows of the closures, after `place` and `move`."""
        return self.closures.evaluate(self.position, self.rotation, self.velocity)

    def _rows_at(self, q: np.ndarray, rates: np.ndarray) -> ClosureRows:
        self.place_and_move(q, rates)
        self.factor()
        return self._rows()

    def _violations_of(self, rows: ClosureRows, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gaps = self.couplings.values(q) - self.targets
        return np.concatenate([rows.value, gaps]), np.concatenate([rows.rate, self.couplings.rows(q) @ rates])

    def reduced_rows(self, rows: ClosureRows) -> np.ndarray:
        """Return G (m, nq): rows of the closures times J, and rows of the couplings."""
        G = self._coupling_rows()
        wrenches.reduced_rows(self.work, self.closures.side, rows.jacobian, G)
        return self.closures.summed(G)

    def _scaled(self, rows: ClosureRows) -> np.ndarray:
        """Return a = G (1 + K)^-T L^-T (m, nq), after `factor`; zero in the columns of prescribed joints."""
        G = self._coupling_rows()
        self._scale_rows(self.closures.side, rows.jacobian, G)
        return self.closures.summed(G)

    def _scale_rows(self, side: np.ndarray, jacobian: np.ndarray, G: np.ndarray) -> None:
        """Write ``G`` (m, nq) scaled as in `_scaled`; its first rows from ``jacobian`` (n, 2, 6) at ``side`` (n, 2).

        The rows after these are rows of the coordinates, scaled in place.
        """
        if self.paths:
            wrenches.reduced_rows(self.work, side, jacobian, G)
            G[:] = self._dense.scaled(G)
            return
        articulated.scaled_rows(self.work, side, jacobian, self._no_motion, G)
        G[:, self.driven_columns] = 0.0

    def _coupling_rows(self) -> np.ndarray:
        """Return an array (p + k, nq) whose last k rows are the couplings', after `place`.

        The first p, for the parts of closures, are not set.
        """
        parts = self.closures.rows.size
        G = np.empty((parts + len(self.couplings), self.nq))
        G[parts:] = self.couplings.rows(self.work.q)
        return G

    def _least_motion(self, rows: ClosureRows, change: np.ndarray) -> np.ndarray:
        """Return the least motion (nq,), in the kinetic metric, that changes the rows by ``change`` (m,)."""
        return self.motion_of(self.constraints.solve(self._scaled(rows), change))

    def _correction(self, free: np.ndarray, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Change (nq,) of the inward pass that closes the loops, which ``free`` (nq,), ddq, opens."""
        motion = np.zeros((self.nb + 1, 6))
        kinematics.motion_to_bodies(self.work, self.work.acceleration, motion[: self.nb])
        rows, wanted = self.missing_accelerations(free, q, rates, motion)
        return self.constraints.solve(self._scaled(rows), wanted)

    def missing_accelerations(
        self, free: np.ndarray, q: np.ndarray, rates: np.ndarray, motion: np.ndarray
    ) -> tuple[ClosureRows, np.ndarray]:
        """Return the rows of the closures, and the accelerations (m,) that ``free`` lacks along all rows; after `move`.

        ``free`` (nq,): ddq; ``motion`` (nb + 1, 6): accelerations of the bodies at ``free``, linear, world, and
        angular, body axes.
        """
        rows, C, b = self._rows(), self.couplings.rows(q), self.baumgarte
        present = self.closures.summed(np.einsum("rsk,rsk->r", rows.jacobian, motion[self.closures.side]))
        wanted = -rows.bias - 2.0 * b * rows.rate - b * b * rows.value - present
        bias = C @ free + self.couplings.bends(q) @ rates**2
        gaps = self.couplings.values(q) - self.targets
        return rows, np.concatenate([wanted, -2.0 * b * (C @ rates) - b * b * gaps - bias])
