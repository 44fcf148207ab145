"""Effect of a number of the description on a reduced run: the residuals of its stages, with the motion held."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from varint.base.errors import MechanismError
from varint.derivatives.meshes.start_changes import MeshStart, moved_starts
from varint.derivatives.numbers import OTHER_PARTS
from varint.derivatives.objective import motion_between
from varint.derivatives.reduced.adjoint import CarriedBack, Derivatives
from varint.derivatives.reduced.records import ReducedNode, Stage, Step
from varint.derivatives.reduced.stage_derivatives import Change, inverse_of, residuals
from varint.derivatives.reduced.tape import ReducedTape
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL, vector_subspace
from varint.methods.reduced.implicit import Motion
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.mesh_dynamics import MeshInverse
from varint.methods.reduced.recursions.tree_records import BALL, REVOLUTE
from varint.methods.reduced.states import ReducedState
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.state import State
from varint.results.inputs.courses import Steady


class Described:
    """A ``run`` as another mechanism describes it, one that was ``changed`` in its numbers; ``state``: of its start.

    Attributes
    ----------
    start : (q, rates)
        Of the changed mechanism, in the charts and with the turns of the run's.

    Raises MechanismError where the changed mechanism has other bodies or joints.
    """

    def __init__(self, run: ReducedTape, changed: Mechanism, state: State | ReducedState) -> None:
        self.run = run
        self.equations, *start = run.setting.equations(changed, state, run.tree.charts)
        e, before = self.equations, run.equations
        alike = (
            e.tree.columns == run.tree.columns
            and np.array_equal(e.compiled.order, before.compiled.order)
            and np.array_equal(e.closures.joint, before.closures.joint)
            and (e.row_count, e.law_state.size) == (before.row_count, before.law_state.size)
            and e.ws.efforts.value_near.size == before.ws.efforts.value_near.size
            and [drive.name for drive in e.drives] == [drive.name for drive in before.drives]
        )
        if not alike:
            raise MechanismError(OTHER_PARTS)
        self.start = _near(run.tree, (start[0], start[1]), run.joints_at_start)
        e.targets[:] = e.couplings.values(run.joints_at_start[0])
        for drive in e.drives:
            if isinstance(drive.function, Steady):
                drive.function.start = float(run.start[0][drive.columns.start])
        self.inverse = inverse_of(e)
        self._trees: dict[tuple, Tree] = {}

    def _use(self, tree: Tree) -> None:
        """Use the charts of ``tree``, one of the run's."""
        key = tuple(tree.charts.items())
        if key not in self._trees:
            same = tree.charts == self.equations.tree.charts
            self._trees[key] = self.equations.tree if same else find_tree(self.equations.mechanism, charts=tree.charts)
        self.equations.use(self._trees[key])

    def residual(self, step: Step, stage: Stage) -> Change:
        """Return tau, sigma and the integrals at the end of a stage of the run."""
        e = self.equations
        joints, parts = slice(e.nq), (stage.x.copy(), stage.rates.copy(), stage.second.copy())
        x, rates, second = e.imposed(stage.t, stage.x[joints], stage.rates[joints])
        second = np.where(e.driven_columns, second, stage.second[joints])
        for part, of_joints in zip(parts, (x, rates, second), strict=True):
            part[joints] = of_joints
        e.integrate_from(stage.integral, stage.s)
        tau, sigma = residuals(self.inverse, stage.t, parts, stage.multiplier)
        return Change(tau, sigma, (e.law_state if stage.s else e.flow).copy())

    def residuals(self) -> Iterator[list[Change]]:
        """Yield `residual` of all stages, a list for each step."""
        targets = self.equations.targets.copy()
        for step in self.run.steps:
            self._use(step.tree)
            self.equations.recall(step.memory | {"targets": targets})
            yield [self.residual(step, stage) for stage in step.stages]

    def state(self, node: ReducedNode) -> State:
        """Return the bodies at a node of the run."""
        e = self.equations
        self._use(node.tree)
        q, rates = (part[: e.nq] for part in node.motion)
        q, rates, _ = e.imposed(self.run.setting.dt * node.number, q, rates)
        e.place_and_move(q, rates)
        return e.state()

    def vertices(self, node: ReducedNode) -> np.ndarray:
        """Return places and velocities (2, n, 3) of all vertices at a node of the run, after `state`."""
        q, rates = (part[self.equations.nq :] for part in node.motion)
        assert isinstance(self.inverse, MeshInverse)
        return np.array([self.inverse.places(q), self.inverse.velocities(rates)])

    def vertices_at_start(self) -> MeshStart:
        """Return the start of all vertices, with the joints at the coordinates of the run."""
        e = self.equations
        self._use(self.run.tree)
        e.place_and_move(*self.run.joints_at_start)
        assert isinstance(self.inverse, MeshInverse)
        return MeshStart(self.inverse.meshes, e.position, e.rotation, e.velocity, self.run.given)


def _near(tree: Tree, motion: Motion, first: Motion) -> Motion:
    """Return q and rates (nq,) of the same state, with turns and rotation vectors nearest to ``first``."""
    q, rates = motion[0].copy(), motion[1].copy()
    for kind, column in zip(tree.nodes.motion, tree.nodes.column, strict=True):
        if kind == REVOLUTE:
            q[column] -= 2.0 * np.pi * np.round((q[column] - first[0][column]) / (2.0 * np.pi))
        elif kind == BALL:
            ball = slice(column, column + 3)
            size = np.linalg.norm(q[ball])
            other = q[ball] * (1.0 - 2.0 * np.pi / size) if size else q[ball]
            if np.linalg.norm(other - first[0][ball]) < np.linalg.norm(q[ball] - first[0][ball]):
                w = vector_subspace(q[ball]) @ rates[ball]
                q[ball] = other
                rates[ball] = np.linalg.solve(vector_subspace(q[ball]), w)
    return q, rates


def by_bodies_and_free(run: ReducedTape, by_vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a gradient ``by_vertices`` (2, n, 3) as one by bodies (nb, 12) and one by free vertices (2, 3 nf).

    Bodies are in kernel order, and where those of the equations are now.
    """
    assert run.meshes
    e, meshes = run.equations, run.meshes.meshes
    by_x, by_v = by_vertices
    by_bodies = np.hstack([meshes.wrenches(by_x, e.rotation), meshes.wrenches(by_v, e.rotation)])
    by_bodies[:, 3:6] += meshes.leverage(e.velocity, by_v[meshes.held], e.rotation)
    return by_bodies, by_vertices[:, meshes.free].reshape(2, -1)


class ReducedAdjoint:
    """The gradient of an objective of a run by its start and by numbers of its description.

    ``by_states``: (nodes, nb, 12) of the objective by the states at the run's nodes, see `StateGradient`.
    ``by_vertices``: (nodes, 2, n, 3) by places and velocities of all vertices there.

    by_q, by_rates : (nq,) by the start of the joints
    by_free : (2, nf, 3) by the start of free vertices, places and velocities
    """

    def __init__(self, run: ReducedTape, by_states: np.ndarray, by_vertices: np.ndarray) -> None:
        self.run, self.by_states, self.by_vertices = run, by_states, by_vertices
        derivatives, order = Derivatives(run), run.equations.compiled.order
        self.by_nodes = []
        for node, by, of_vertices in zip(run.nodes, by_states, by_vertices, strict=True):
            of_bodies, of_free = by[order], np.zeros((2, 0))
            changes = derivatives.of_bodies(node.tree, node.motion)
            if run.meshes:
                carried, of_free = by_bodies_and_free(run, of_vertices)
                of_bodies = of_bodies + carried
            of_q, of_rates = np.split(np.einsum("nk,nkq->q", of_bodies, changes), 2)
            self.by_nodes.append(np.concatenate([of_q, of_free[0], of_rates, of_free[1]]))
        self.back = CarriedBack(run, self.by_nodes)
        nq = run.equations.nq
        (self.by_q, free), (self.by_rates, moving) = (np.split(by, [nq]) for by in (self.back.by_q, self.back.by_rates))
        self.by_free = np.array([free, moving]).reshape(2, -1, 3)
        if run.meshes:
            self._add_start(run.meshes, derivatives.of_bodies(run.tree, run.start))

    def _add_start(self, inverse: MeshInverse, changes: np.ndarray) -> None:
        """Add the effect of the joints on where free vertices start; ``changes``: see `Derivatives.of_bodies`."""
        e, by_bodies = self.run.equations, np.zeros(changes.shape[:2])
        bodies = e.position.copy(), e.rotation.copy(), e.velocity.copy()
        for i, c, starts in moved_starts(inverse.meshes, bodies, e.compiled.length, self.run.given):
            by_bodies[i, c] = starts.of(self._of_start)
        of_q, of_rates = np.split(np.einsum("nk,nkq->q", by_bodies, changes), 2)
        self.by_q, self.by_rates = self.by_q + of_q, self.by_rates + of_rates

    def _of_start(self, start: MeshStart) -> float:
        """Return the product of the gradients by the start of free vertices with this start."""
        free = start.meshes.free
        return float(np.sum(self.by_free * [start.x[free], start.v[free]]))

    def by_first_state(self) -> np.ndarray:
        """Return the least gradient (nb, 12) by the state at the start of the run, in the order of the description."""
        run = self.run
        of_bodies = Derivatives(run).of_bodies(run.tree, run.start)
        nb, _, width = of_bodies.shape
        by = np.concatenate([self.by_q, self.by_rates])
        least = np.linalg.lstsq(of_bodies.reshape(-1, width).T, by, rcond=None)[0]
        return least.reshape(nb, 12)[run.equations.compiled.slot]

    def by_coordinates(self, state: State | ReducedState) -> Motion:
        """Return derivatives by initial coordinates and rates (nq,) of the ``state``, free rotations as vectors."""
        run = self.run
        if all(chart == EXPONENTIAL for chart in run.tree.charts.values()):
            return self.by_q.copy(), self.by_rates.copy()
        plain, q, rates = replace(run.setting, chart=EXPONENTIAL).equations(run.mechanism, state)
        by, width = np.concatenate([self.by_q, self.by_rates]), 2 * plain.nq
        of_vectors = InverseDynamics(plain).body_changes(q, rates).reshape(-1, width)
        of_angles = Derivatives(run).of_bodies(run.tree, run.start).reshape(-1, width)
        by_q, by_rates = np.split(by @ np.linalg.lstsq(of_angles, of_vectors, rcond=None)[0], 2)
        return by_q, by_rates

    def beside_stages(self, other: Described) -> float:
        """Return a scalar of the description that has, with `by_stages`, the same derivatives as the objective."""
        (q, rates), (first, first_rates) = other.start, self.run.joints_at_start
        total = self.by_q @ (q - first) + self.by_rates @ (rates - first_rates)
        law_start = other.equations.compiled.law_start - self.run.equations.compiled.law_start
        total += self.back.by_integral @ law_start
        if self.run.meshes:
            total += self._of_start(other.vertices_at_start())
        for node, by, by_vertices in zip(self.run.nodes, self.by_states, self.by_vertices, strict=True):
            moved = other.state(node)
            parts = motion_between(node.state, moved), moved.velocity, moved.angular_velocity
            total += np.sum(by * np.hstack(parts))
            if by_vertices.any():
                total += np.sum(by_vertices * other.vertices(node))
        return float(total)

    def by_stages(self, other: Described) -> np.ndarray:
        """Return the products (stages,) of the residuals, as ``other`` describes them, with their duals."""
        return np.array(
            [
                sum(float(dual @ part) for dual, part in zip(duals, changes, strict=True))
                for of_step, residuals in zip(self.back.duals, other.residuals(), strict=True)
                for duals, changes in zip(of_step, residuals, strict=True)
            ]
        )
