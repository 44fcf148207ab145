"""The equations of motion of a mechanism in reduced coordinates.

    J^T M (J ddq + Jdot dq) = J^T f + G^T lambda,    G ddq = -c        (DIFF eq. 2.105)

M: masses of the bodies, f: their loads less the gyroscopic terms, G: rows of the cut joints pulled back by J, c: their
second derivative at ddq = 0 and, with Baumgarte's rates, 2 b g' + b^2 g. Trees are solved by the articulated-body
recursion in O(n). With loops the same factors give M_r = (1 + K) D (1 + K)^T, and the least change of D^(1/2) (1 + K)^T
ddq, in the sense of least squares where rows are redundant: no multiplier, no squared condition number.
"""

import numpy as np
from scipy.linalg import solve_triangular

from varint.compile import compile_structure
from varint.kernels.plan import SERVO
from varint.model.rotation import matrix_from_vector, quat_from_matrix
from varint.model.state import State
from varint.redmax.charts import (
    EXPONENTIAL,
    SMALLEST,
    determinant,
    euler_matrix,
    euler_subspace,
    in_chart,
    shorten,
    vector_subspace,
)
from varint.redmax.closures import Closures
from varint.redmax.couplings import coupling_rows
from varint.redmax.kernels import articulated, forces, kinematics, matrices
from varint.redmax.kernels.closures import gather_rows, pull_rows
from varint.redmax.prescribed import find_drives
from varint.redmax.tree import Tree, find_tree

TINY = 1e-300
CLOSINGS = 3  # Newton steps; gaps are small to begin with
REDUNDANT = 1e-6  # relative singular value of the closures' rows, up to which one is redundant at a state reached ...
NO_PIVOT = 1e-9  # ... and up to which it is left out anywhere
# of the last singular value that counts, against its largest so far:
NEAR = 0.05  # nearer to a singular pose gaps are closed after each step, or the motion could leave its branch ...
RELEASED = 1e-3  # ... and a row that comes to depend on the others lets go, gradually


class Equations:
    """The equations of ``mechanism``, evaluated in arrays that the next evaluation overwrites.

    After `place`: ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), the world last; after `move`: ``velocity``
    (nb, 6), m/s, world, and rad/s, body axes. Bodies in the order of the kernels. After `load`: ``effort`` and
    ``power`` (nf,) of the laws, its result ``loaded``, and of the laws ``servos`` (ns,), which have an integral gain,
    ``deviation`` (ns,) and its ``integral``, see `integrate_from`.

    Parameters
    ----------
    mechanism : Mechanism
    inputs : function of the compiled mechanism, optional
        Makes its `Inputs`.
    baumgarte : float
        b, 1/s.
    prescribed : dict, optional
        Joint name to function of time, see `Drive.at`.
    chart : str
        Of all free rotations, at the start: "exponential" or an order of Euler angles.
    """

    def __init__(self, mechanism, inputs=None, baumgarte=0.0, prescribed=None, chart=EXPONENTIAL):
        self.mechanism, self.baumgarte = mechanism, baumgarte
        self.compiled = mechanism.compiled
        self.use(find_tree(mechanism, chart))
        nodes = self.nodes
        self.closures = Closures(self.compiled)
        self.couplings = coupling_rows(mechanism, self.tree)
        self.aim = np.zeros(len(self.couplings))  # what they are kept at
        self.forced = compile_structure(mechanism, forced=True) if mechanism.forces else self.compiled
        self.inputs = inputs(self.forced) if inputs else None
        plan, nq = self.forced.plan, self.tree.nq
        nl, nb, ng, nf = nodes.parent.size, nodes.body_node.size, plan.gauge_kind.size, plan.law_kind.size
        self.nq, self.nb, self.nf = nq, nb, nf
        self.gravity, self.mass = plan.gravity, nodes.mass
        self.F, self.x = np.zeros((nl + 1, 3, 3)), np.zeros((nl + 1, 3))
        self.F[nl] = np.eye(3)
        self.S, self.Sdot = np.zeros((nq, 6)), np.zeros((nq, 6))
        self.twist, self.bias = np.zeros((nl + 1, 6)), np.zeros((nl, 6))
        self.position, self.rotation, self.velocity = np.zeros((nb + 1, 3)), np.zeros((nb + 1, 3, 3)), np.zeros((nb, 6))
        self.rotation[nb] = np.eye(3)
        self.turns, self.value, self.rate = np.zeros(ng), np.zeros(ng), np.zeros(ng)
        self.gradient, self.slopes = np.zeros((ng, 2, 6)), np.zeros((ng, 3))
        self.effort, self.power, self.law_slopes = np.zeros(nf), np.zeros(nf), np.zeros((nf, 2))
        self.servos = np.flatnonzero((plan.law_kind == SERVO) & (plan.law_parameter[:, 1] != 0.0))
        self._servo_gauge = np.repeat(np.arange(ng), np.diff(plan.gauge_law))[self.servos]
        self.integral, self.deviation = np.zeros((2, self.servos.size))
        self.integrate_from(self.integral, 0.0)
        self._matrix, self._zero = np.zeros((3, 3)), np.zeros((nl, 6))
        self._hull, self._U, self._L = np.zeros((nl + 1, 3, 3, 3)), np.zeros((nq, 6)), np.zeros((nq, 3))
        self._wrench, self._acceleration = np.zeros((nl + 1, 6)), np.zeros((nl + 1, 6))
        self.row_count = len(self.closures) + len(self.couplings)
        self.multiplier = np.zeros(self.row_count)
        self.rank, self._margin, self._sizes = 0, 0.0, np.ones(1)
        self.drives = find_drives(mechanism, self.tree, prescribed)
        self.driven, self.driven_columns = np.zeros(nl, dtype=np.bool_), np.zeros(nq, dtype=np.bool_)
        for drive in self.drives:
            self.driven[drive.nodes] = self.driven_columns[drive.columns] = True

    # ------------------------------------------------------------------------------------- charts

    def use(self, tree: Tree) -> None:
        """Work in the charts of ``tree``."""
        self.tree, self.nodes = tree, tree.nodes

    def in_charts(self, q, rates):
        """``q``, ``rates`` in the charts of the tree, from rotation vectors."""
        q, rates = q.copy(), rates.copy()
        orders = {name: order for name, order in self.tree.charts.items() if order != EXPONENTIAL}
        self._turn_over(orders, q, rates, lambda _, r: (matrix_from_vector(r), vector_subspace(r)))
        return q, rates

    def change_charts(self, q, rates) -> bool:
        """Leave charts that are near a singularity, in place; whether any was."""
        changed = shorten(self.tree.balls, q, rates)
        orders = {}
        for name, order in self.tree.charts.items():
            angles = q[self._rotation(name)]
            if order != EXPONENTIAL and determinant(order, angles) < SMALLEST:
                orders[name] = order
        self._turn_over(orders, q, rates, lambda order, a: (euler_matrix(order, a), euler_subspace(order, a)))
        return changed or bool(orders)

    def _turn_over(self, orders, q, rates, read):
        """Take the rotations of joints to ``orders``, or to regular ones; ``read`` gives R and S of the old chart."""
        charts = dict(self.tree.charts)
        for name, order in orders.items():
            columns = self._rotation(name)
            R, S = read(order, q[columns])
            charts[name], q[columns], rates[columns] = in_chart(order, R, S @ rates[columns])
        if charts != self.tree.charts:
            self.use(find_tree(self.mechanism, charts=charts))

    def _rotation(self, name):
        return slice(self.tree.columns[name].stop - 3, self.tree.columns[name].stop)

    # ------------------------------------------------------------------------------------- kinematics

    def place(self, q) -> None:
        """Poses at coordinates ``q`` (nq,)."""
        n = self.nodes
        kinematics.place(
            n.parent, n.kind, n.sign, n.column, n.turn, n.offset, n.arm, n.stage, n.product, q,
            self.F, self.x,
        )  # fmt: skip
        kinematics.subspaces(n.kind, n.sign, n.column, n.arm, n.stage, n.product, q, self.F, self.S, self._matrix)
        kinematics.to_bodies(n.body_node, n.body_axes, self.F, self.x, self.position, self.rotation)

    def move(self, q, rates) -> None:
        """Velocities and bias accelerations at ``q`` of the last `place` and ``rates`` (nq,)."""
        n = self.nodes
        kinematics.velocities(n.parent, n.kind, n.column, self.x, self.S, rates, self.twist)
        kinematics.subspace_rates(
            n.kind, n.sign, n.column, n.arm, n.stage, n.product, q, rates, self.F, self.S, self.twist, self.Sdot
        )
        kinematics.biases(n.parent, n.kind, n.column, rates, self.Sdot, self.twist, self.bias)
        kinematics.motion_to_bodies(n.body_node, self.rotation, self.twist, self.velocity)

    def state(self) -> State:
        """The bodies after `place` and `move`, in the order of the description."""
        slot = self.compiled.slot
        quat = quat_from_matrix(self.rotation[slot])
        return State(self.position[slot], quat, self.velocity[slot, :3], self.velocity[slot, 3:])

    def jacobian(self) -> np.ndarray:
        """J (6 nb, nq): ``velocity`` by the rates, after `place`."""
        n = self.nodes
        J, out = np.zeros((n.parent.size + 1, 6, self.nq)), np.empty((self.nb, 6, self.nq))
        matrices.jacobian(n.parent, n.kind, n.column, self.x, self.S, J)
        matrices.jacobian_to_bodies(n.body_node, self.rotation, J, out)
        return out.reshape(6 * self.nb, self.nq)

    def jacobian_rate(self) -> np.ndarray:
        """dJ/dt (6 nb, nq), after `move`."""
        n = self.nodes
        J, Jdot, out = (*np.zeros((2, n.parent.size + 1, 6, self.nq)), np.empty((self.nb, 6, self.nq)))
        matrices.jacobian(n.parent, n.kind, n.column, self.x, self.S, J)
        matrices.jacobian_rate(n.parent, n.kind, n.column, self.x, self.twist, self.Sdot, J, Jdot)
        matrices.jacobian_rate_to_bodies(n.body_node, self.rotation, self.twist, J, Jdot, out)
        return out.reshape(6 * self.nb, self.nq)

    # ------------------------------------------------------------------------------------- forces

    def load(self, t) -> np.ndarray:
        """(nb, 6) of all forces but gravity, N, world, and N m, body axes, after `move`; angles near ``turns``."""
        load = self.inputs.load(t).copy() if self.inputs else np.zeros((self.nb, 6))
        if self.nf:
            plan = self.forced.plan
            command = self.inputs.command(t, self.state) if self.inputs else np.zeros(self.nf)
            forces.measure_gauges(
                plan.gauge_body, plan.gauge_kind, plan.gauge_vector, self.turns,
                self.position, self.rotation, self.velocity, self.value, self.rate, self.gradient,
            )  # fmt: skip
            forces.apply_laws(
                plan.gauge_law, plan.law_kind, plan.law_parameter, plan.table,
                self.value, self.rate, command, self.effort, self.power, self.slopes, self.law_slopes,
            )  # fmt: skip
            if self.servos.size:
                self._integrate(command)
            forces.sum_loads(plan.gauge_body, self.slopes, self.gradient, load)
        self.loaded = load
        return load

    def integrate_from(self, start, span) -> None:
        """`load` finds integrals of deviations as ``start`` (ns,), m s, rad s, and ``span``, s, times the deviation."""
        self._integral_start, self._span = start, span

    def _integrate(self, command):
        """Add the efforts of integral gains to those of their laws."""
        f, e = self.servos, self._servo_gauge
        gain = self.forced.plan.law_parameter[f, 1]
        self.deviation = self.value[e] - command[f]
        self.integral = self._integral_start + self._span * self.deviation
        for slopes, row, column in ((self.slopes, e, 1), (self.law_slopes, f, 0)):
            np.subtract.at(slopes, (row, column), gain * self._span)
        np.subtract.at(self.slopes, (e, 0), gain * self.integral)
        self.effort[f] -= gain * self.integral
        self.power[f] = self.effort[f] * self.rate[e]

    def reach(self, t, q, rates) -> bool:
        """Angles of forces count their turns from this state on, and loops have the rank of the states reached.

        Returns whether the loops are clear of singular poses; else they should be closed, see `close`.
        """
        self.acceleration(t, q, rates)
        self.turns[:] = self.value
        if not self.row_count:
            return True
        rank = np.count_nonzero(self._sizes > REDUNDANT)
        if rank > self.rank:
            self.rank, self._margin = rank, 0.0
        if not self.rank:
            return True
        margin = self._sizes[self.rank - 1]
        self._margin = max(self._margin, margin)
        return margin > NEAR * self._margin

    def memory(self) -> dict[str, np.ndarray]:
        """What evaluations to come depend on, beside their arguments and the charts: arrays of fixed shapes."""
        kept = {"turns": self.turns, "aim": self.aim, "near": self.closures.near}
        return {name: array.copy() for name, array in kept.items()} | {"rank": np.array([self.rank, self._margin])}

    def recall(self, saved) -> None:
        """Go back to a `memory`."""
        self.turns[:], self.aim[:], self.closures.near[:] = saved["turns"], saved["aim"], saved["near"]
        self.rank, self._margin = int(saved["rank"][0]), float(saved["rank"][1])

    def needed(self, load):
        """Wrenches that the nodes need at zero acceleration, into scratch."""
        n = self.nodes
        articulated.wrenches(n.mass, n.inertia, self.F, self.twist, self._wrench)
        articulated.add_loads(n.body_node, self.rotation, n.mass, self.gravity, load, self._wrench)
        return self._wrench

    # ------------------------------------------------------------------------------------- dynamics

    def factor(self) -> None:
        """Articulated inertias, after `place`: what `solve` and `gather` use."""
        n = self.nodes
        articulated.factor(
            n.parent, n.kind, n.column, n.mass, n.inertia, self.F, self.x, self.S, self.driven,
            self._hull, self._U, self._L,
        )  # fmt: skip

    def _gather(self, bias, wrench, u):
        n = self.nodes
        articulated.gather(
            n.parent, n.kind, n.column, self.x, self.S, self.driven, self._hull, self._U, self._L, bias, wrench, u
        )
        return u

    def _spread(self, bias, u):
        n = self.nodes
        articulated.spread(
            n.parent, n.kind, n.column, self.x, self.S, self.driven, self._U, self._L, bias, u, self._acceleration
        )
        return u

    def solve(self, effort) -> np.ndarray:
        """M_r^-1 effort (nq,) in O(n), after `factor`."""
        self._wrench[:] = 0.0
        return self._spread(self._zero, self._gather(self._zero, self._wrench, np.array(effort, dtype=float)))

    def acceleration(self, t, q, rates) -> np.ndarray:
        """ddq (nq,) at time ``t``."""
        q, rates, second = self.imposed(t, q, rates)
        self.place(q)
        self.move(q, rates)
        for drive in self.drives:
            self._accelerate(drive, second)
        wrench = self.needed(self.load(t))
        self.factor()
        u = self._gather(self.bias, wrench, second)
        if not self.row_count:
            return self._spread(self.bias, u)
        free = self._spread(self.bias, u.copy())
        return self._spread(self.bias, u + self._correction(free, q, rates))

    def imposed(self, t, q, rates):
        """``q``, ``rates`` with those of prescribed joints at time ``t``, and the rates of their rates, else zero."""
        second = np.zeros(self.nq)
        if self.drives:
            q, rates = q.copy(), rates.copy()
            for drive in self.drives:
                q[drive.columns], rates[drive.columns], second[drive.columns] = drive.at(t)
        return q, rates, second

    def _accelerate(self, drive, second):
        """Add the acceleration of a prescribed joint to the biases of its nodes."""
        n = self.nodes
        for i in drive.nodes:
            columns = slice(n.column[i], n.column[i] + kinematics.size_of(n.kind[i]))
            self.bias[i] += second[columns] @ self.S[columns]

    def _correction(self, free, q, rates):
        """Change of `gather`'s result that closes the loops, which at accelerations ``free`` (nq,) part."""
        rows, C = self.closures.evaluate(self.position, self.rotation, self.velocity), self.couplings
        n, nb, b = self.nodes, self.nb, self.baumgarte
        motion = np.zeros((nb + 1, 6))
        kinematics.motion_to_bodies(n.body_node, self.rotation, self._acceleration, motion[:nb])
        now = np.einsum("rsk,rsk->r", rows.jacobian, motion[self.closures.side])
        wanted = -rows.bias - 2.0 * b * rows.rate - b * b * rows.value - now
        wanted = np.concatenate([wanted, -2.0 * b * (C @ rates) - b * b * (C @ q - self.aim) - C @ free])
        return self._least(self._gathered(rows), wanted)

    def _least(self, A, b):
        """The least u = A^T multiplier with A u = b in the sense of least squares, A (m, nq), of rank ``rank`` at most.

        Off its poses a mechanism with redundant rows has more independent rows than on them, which say nothing: the
        rank is that of the states reached. At a singular pose rows that come to depend on the others let go in a way
        that stays smooth: the effort that holds them is finite, and so is what is missed of it in passing.
        """
        if not A.any():  # loops that nothing moves, or that only prescribed joints move
            self._sizes, self.multiplier = np.zeros(1), np.zeros(len(b))
            return np.zeros(A.shape[1])
        left, sizes, right = np.linalg.svd(A, full_matrices=False)
        self._sizes = sizes / sizes[0]
        rank = min(self.rank or len(sizes), np.count_nonzero(sizes > NO_PIVOT * sizes[0]))
        share = np.clip(2.0 * self._sizes[:rank] / (RELEASED * self._margin + TINY) - 1.0, 0.0, 1.0)
        held = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        u = held * (left[:, :rank].T @ b) / sizes[:rank]
        self.multiplier = left[:, :rank] @ (u / sizes[:rank])
        return right[:rank].T @ u

    def gaps(self, q, rates):
        """Values and rates (m,) of the rows of closures and couplings, and G (m, nq), after `place` and `move`."""
        rows = self.closures.evaluate(self.position, self.rotation, self.velocity)
        return *self._off(rows, q, rates), np.concatenate([self.pulled_back(rows.jacobian), self.couplings])

    def _off(self, rows, q, rates):
        C = self.couplings
        return np.concatenate([rows.value, C @ q - self.aim]), np.concatenate([rows.rate, C @ rates])

    def close(self, q, rates) -> None:
        """Take the gaps of the rows and their rates off ``q`` and ``rates``, in place, by the least motions."""
        for _ in range(CLOSINGS):
            rows = self._rows_at(q, rates)
            q += self._spread(self._zero, self._least(self._gathered(rows), -self._off(rows, q, rates)[0]))
        rows = self._rows_at(q, rates)
        rates += self._spread(self._zero, self._least(self._gathered(rows), -self._off(rows, q, rates)[1]))

    def _rows_at(self, q, rates):
        self.place(q)
        self.move(q, rates)
        self.factor()
        return self.closures.evaluate(self.position, self.rotation, self.velocity)

    def _gathered(self, rows):
        """A = G (1 + K)^-T D^-1/2 (m, nq) of closures and couplings, without the columns of prescribed joints."""
        n, G = self.nodes, np.concatenate([self.pulled_back(rows.jacobian), self.couplings])
        gather_rows(
            n.parent, n.kind, n.column, self.x, self.S, self.driven, self._hull, self._U, self._L, self._zero,
            self._wrench, G,
        )  # fmt: skip
        G[:, self.driven_columns] = 0.0
        return G

    def pulled_back(self, jacobian) -> np.ndarray:
        """G (m, nq): rows ``jacobian`` (m, 2, 6) of the closures times J, in O(n) a row."""
        n = self.nodes
        G = np.empty((len(jacobian), self.nq))
        pull_rows(
            n.parent, n.kind, n.column, n.body_node, self.x, self.S, self.rotation, self.closures.side, jacobian,
            self._wrench, G,
        )  # fmt: skip
        return G

    def generalised(self, load) -> np.ndarray:
        """J^T load (nq,) in O(n), after `place`; ``load`` (nb, 6): N, world, and N m, body axes."""
        n, out = self.nodes, np.empty(self.nq)
        self._wrench[:] = 0.0
        articulated.add_loads(n.body_node, self.rotation, n.mass, np.zeros(3), -load, self._wrench)
        articulated.pull_back(n.parent, n.kind, n.column, self.x, self.S, self._wrench, out)
        return out

    def mass_matrix(self) -> np.ndarray:
        """M_r = J^T M J (nq, nq), after `place`."""
        J = self.jacobian()
        return J.T @ self._times_mass(J)

    def reduced_force(self, t) -> np.ndarray:
        """J^T (f - M Jdot dq) (nq,) at time ``t``, after `move`, in O(n): the right side where M_r ddq is the left."""
        n = self.nodes
        wrench = self.needed(self.load(t))
        kinematics.accelerations(n.parent, self.x, self.bias, self._acceleration)
        articulated.add_inertia(n.mass, n.inertia, self.F, self._acceleration, wrench)
        out = np.empty(self.nq)
        articulated.pull_back(n.parent, n.kind, n.column, self.x, self.S, wrench, out)
        return -out

    def acceleration_by_matrices(self, t, q, rates) -> np.ndarray:
        """The same as `acceleration`, dense, in O(n^3)."""
        q, rates, second = self.imposed(t, q, rates)
        self.place(q)
        self.move(q, rates)
        plan, w, load, free = self.forced.plan, self.velocity[:, 3:], self.load(t), ~self.driven_columns
        load[:, :3] += plan.mass[:, None] * self.gravity
        load[:, 3:] -= np.cross(w, np.einsum("nij,nj->ni", plan.inertia, w))
        J, a = self.jacobian(), self.jacobian_rate() @ rates
        a += J @ second
        J = J[:, free]
        lower = np.linalg.cholesky(J.T @ self._times_mass(J))
        u = solve_triangular(lower, J.T @ (load.ravel() - self._times_mass(a[:, None])[:, 0]), lower=True)
        if self.row_count:
            rows, b = self.closures.evaluate(self.position, self.rotation, self.velocity), self.baumgarte
            G = np.zeros((len(rows.value), self.nb + 1, 6))
            for s in range(2):
                G[np.arange(len(G)), self.closures.side[:, s]] += rows.jacobian[:, s]
            G = G[:, :-1].reshape(len(G), -1)
            C = self.couplings
            wanted = np.concatenate(
                [
                    -rows.bias - 2.0 * b * rows.rate - b * b * rows.value - G @ a,
                    -2.0 * b * (C @ rates) - b * b * (C @ q - self.aim) - C @ second,
                ]
            )
            A = solve_triangular(lower, np.concatenate([G @ J, C[:, free]]).T, lower=True).T
            u = u + self._least(A, wanted - A @ u)
        second[free] = solve_triangular(lower, u, lower=True, trans="T")
        return second

    def _times_mass(self, V):
        """M V for V (6 nb, k)."""
        plan, nb = self.forced.plan, self.nb
        parts = V.reshape(nb, 6, V.shape[1])
        linear, angular = plan.mass[:, None, None] * parts[:, :3], plan.inertia @ parts[:, 3:]
        return np.concatenate([linear, angular], axis=1).reshape(V.shape)
