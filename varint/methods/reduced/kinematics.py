"""Coordinates, charts, poses and velocities of a mechanism's tree."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import (
    EXPONENTIAL,
    SMALLEST,
    determinant,
    euler_matrix,
    euler_subspace,
    in_chart,
    shorten,
    vector_subspace,
)
from varint.methods.reduced.recursions import kinematic_recursions as kinematics
from varint.methods.reduced.recursions import matrices, wrenches
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TreeNodes
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.rotation_vectors import matrix_from_vector, quat_from_matrix
from varint.model.state import State


def reduced_workspace(tree: Tree) -> ReducedWorkspace:
    """Return arrays for the recursions on ``tree``, whatever its charts; no node is prescribed."""
    nl, nb, nq = tree.nodes.parent.size, tree.nodes.body_node.size, tree.nq
    axes, rotation = np.zeros((nl + 1, 3, 3)), np.zeros((nb + 1, 3, 3))
    axes[nl] = rotation[nb] = np.eye(3)
    return ReducedWorkspace(
        nodes=tree.nodes,
        q=np.zeros(nq),
        rates=np.zeros(nq),
        prescribed=np.zeros(nl, dtype=np.bool_),
        axes=axes,
        point=np.zeros((nl + 1, 3)),
        subspace=np.zeros((nq, 6)),
        position=np.zeros((nb + 1, 3)),
        rotation=rotation,
        twist=np.zeros((nl + 1, 6)),
        subspace_rate=np.zeros((nq, 6)),
        bias=np.zeros((nl, 6)),
        velocity=np.zeros((nb, 6)),
        inertia=np.zeros((nl + 1, 3, 3, 3)),
        U=np.zeros((nq, 6)),
        L=np.zeros((nq, 3)),
        wrench=np.zeros((nl + 1, 6)),
        acceleration=np.zeros((nl + 1, 6)),
    )


class TreeKinematics:
    """Motion of the tree of ``mechanism``, evaluated in arrays that the next evaluation overwrites.

    After `place`: ``position`` (nb + 1, 3), m, ``rotation`` (nb + 1, 3, 3), the world last; after `move`: ``velocity``
    (nb, 6), m/s, world, and rad/s, body axes, and ``twist`` (nl + 1, 6) of the nodes. Bodies in the order of the
    kernels. ``work`` has all arrays.

    Parameters
    ----------
    mechanism : Mechanism
    chart : str
        Of all free rotations, at the start: "exponential" or an order of Euler angles.
    """

    def __init__(self, mechanism: Mechanism, chart: str = EXPONENTIAL) -> None:
        self.mechanism, self.compiled = mechanism, mechanism.compiled
        self.tree = find_tree(mechanism, chart)
        self.work = reduced_workspace(self.tree)
        self.nq, self.nb = self.tree.nq, self.nodes.body_node.size
        self.position, self.rotation = self.work.position, self.work.rotation
        self.velocity, self.twist = self.work.velocity, self.work.twist

    # ------------------------------------------------------------------------------------- charts

    def use(self, tree: Tree) -> None:
        """Take the charts of ``tree``, which has Euler angles at the same joints as the present one."""
        if tree is not self.tree:
            self.tree, self.work = tree, replace(self.work, nodes=tree.nodes)

    @property
    def nodes(self) -> TreeNodes:
        return self.tree.nodes

    def coordinate_sizes(self, length: float) -> np.ndarray:
        """Return the sizes (nq,) of coordinates, after `place`: 1 rad of turns, ``length`` m of slides."""
        turns = np.abs(self.work.subspace[:, :3]).max(axis=1, initial=0.0) > 0.0
        return np.where(turns, 1.0, length)

    def in_charts(self, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``q``, ``rates`` (nq,) in the charts of the tree, from rotation vectors."""
        q, rates = q.copy(), rates.copy()
        orders = {name: order for name, order in self.tree.charts.items() if order != EXPONENTIAL}
        self._change_orders(orders, q, rates, lambda _, r: (matrix_from_vector(r), vector_subspace(r)))
        return q, rates

    def change_charts(self, q: np.ndarray, rates: np.ndarray, least: float = SMALLEST) -> bool:
        """Leave charts that are near a singularity, det S below ``least``, in place; whether any was."""
        changed = shorten(self.tree.balls, q, rates)
        orders = {}
        for name, order in self.tree.charts.items():
            angles = q[self._rotation_columns(name)]
            if order != EXPONENTIAL and determinant(order, angles) < least:
                orders[name] = order
        read = lambda order, a: (euler_matrix(order, a), euler_subspace(order, a))  # noqa: E731
        self._change_orders(orders, q, rates, read, least)
        return changed or bool(orders)

    def _change_orders(
        self, orders: Mapping[str, str], q: np.ndarray, rates: np.ndarray, read: Callable, least: float = SMALLEST
    ) -> None:
        """Take the free rotations of joints to ``orders``, joint name to order, or to regular ones, in place.

        ``read``: function of the order and the coordinates (3,) in the old chart; R and S there. ``least``: of det S.
        """
        charts = dict(self.tree.charts)
        for name, order in orders.items():
            columns = self._rotation_columns(name)
            R, S = read(order, q[columns])
            charts[name], q[columns], rates[columns] = in_chart(order, R, S @ rates[columns], least)
        if charts != self.tree.charts:
            self.use(find_tree(self.mechanism, charts=charts))

    def _rotation_columns(self, name: str) -> slice:
        return slice(self.tree.columns[name].stop - 3, self.tree.columns[name].stop)

    # ------------------------------------------------------------------------------------- poses and velocities

    def place(self, q: np.ndarray) -> None:
        """Evaluate the poses at coordinates ``q`` (nq,)."""
        self.work.q[:] = q
        kinematics.place(self.work)

    def move(self, q: np.ndarray, rates: np.ndarray) -> None:
        """Evaluate velocities and bias accelerations at ``q`` of the last `place` and ``rates`` (nq,)."""
        self.work.q[:], self.work.rates[:] = q, rates
        kinematics.move(self.work)

    def place_and_move(self, q: np.ndarray, rates: np.ndarray) -> None:
        """Do `place` and `move`, at less cost."""
        self.work.q[:], self.work.rates[:] = q, rates
        kinematics.place_and_move(self.work)

    def state(self) -> State:
        """Return the bodies after `place` and `move`, in the order of the description."""
        slot = self.compiled.slot
        quat = quat_from_matrix(self.rotation[slot])
        return State(self.position[slot], quat, self.velocity[slot, :3], self.velocity[slot, 3:])

    # ------------------------------------------------------------------------------------- Jacobians

    def jacobian(self) -> np.ndarray:
        """Return J (6 nb, nq): ``velocity`` by the rates, after `place`."""
        J, out = np.zeros((len(self.twist), 6, self.nq)), np.empty((self.nb, 6, self.nq))
        matrices.jacobian(self.work, J)
        matrices.jacobian_to_bodies(self.work, J, out)
        return out.reshape(6 * self.nb, self.nq)

    def jacobian_rate(self) -> np.ndarray:
        """Return dJ/dt (6 nb, nq), after `move`."""
        J, Jdot, out = (*np.zeros((2, len(self.twist), 6, self.nq)), np.empty((self.nb, 6, self.nq)))
        matrices.jacobian(self.work, J)
        matrices.jacobian_rate(self.work, J, Jdot)
        matrices.jacobian_rate_to_bodies(self.work, J, Jdot, out)
        return out.reshape(6 * self.nb, self.nq)

    def generalised(self, load: np.ndarray) -> np.ndarray:
        """Return J^T load (nq,) in O(n), after `place`; ``load`` (nb, 6): N, world, and N m, body axes."""
        out = np.empty(self.nq)
        self.work.wrench[:] = 0.0
        wrenches.subtract_loads(self.work, np.zeros(3), -load)
        wrenches.transpose_product(self.work, self.work.wrench, out)
        return out
