"""Effect of a number of the description on a reduced run: the residuals of its stages, with the motion held."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from varint.errors import MechanismError
from varint.gradients.numbers import OTHER_PARTS
from varint.gradients.objective import motion_between
from varint.gradients.reduced_adjoint import CarriedBack, Change, Derivatives
from varint.gradients.reduced_records import ReducedNode, Stage, Step
from varint.gradients.reduced_tape import ReducedTape
from varint.inputs.courses import Steady
from varint.mechanism import Mechanism
from varint.model.state import State
from varint.redmax.charts import EXPONENTIAL, vector_subspace
from varint.redmax.implicit import Motion
from varint.redmax.inverse import InverseDynamics
from varint.redmax.kernels.tree_records import BALL, REVOLUTE
from varint.redmax.states import ReducedState
from varint.redmax.tree import Tree, find_tree


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
            and [drive.name for drive in e.drives] == [drive.name for drive in before.drives]
        )
        if not alike:
            raise MechanismError(OTHER_PARTS)
        self.start = _near(run.tree, (start[0], start[1]), run.start)
        e.targets[:] = e.couplings.values(run.start[0])
        for drive in e.drives:
            if isinstance(drive.function, Steady):
                drive.function.start = float(run.start[0][drive.columns.start])
        self.inverse = InverseDynamics(e)
        self._trees: dict[tuple, Tree] = {}

    def _use(self, tree: Tree) -> None:
        """Work in the charts of ``tree``, one of the run's."""
        key = tuple(tree.charts.items())
        if key not in self._trees:
            same = tree.charts == self.equations.tree.charts
            self._trees[key] = self.equations.tree if same else find_tree(self.equations.mechanism, charts=tree.charts)
        self.equations.use(self._trees[key])

    def residual(self, step: Step, stage: Stage) -> Change:
        """tau, sigma and the integrals at the end of a stage of the run."""
        e = self.equations
        x, rates, second = e.imposed(stage.t, stage.x, stage.rates)
        second = np.where(e.driven_columns, second, stage.second)
        e.integrate_from(stage.integral, stage.s)
        tau, sigma = self.inverse.evaluate(stage.t, x, rates, second, stage.multiplier)
        return Change(tau.copy(), sigma, (e.law_state if stage.s else e.flow).copy())

    def residuals(self) -> Iterator[list[Change]]:
        """`residual` of the stages of each step."""
        targets = self.equations.targets.copy()
        for step in self.run.steps:
            self._use(step.tree)
            self.equations.recall(step.memory | {"targets": targets})
            yield [self.residual(step, stage) for stage in step.stages]

    def state(self, node: ReducedNode) -> State:
        """The bodies at a node of the run."""
        e = self.equations
        self._use(node.tree)
        q, rates, _ = e.imposed(self.run.setting.dt * node.number, *node.motion)
        e.place_and_move(q, rates)
        return e.state()


def _near(tree: Tree, motion: Motion, first: Motion) -> Motion:
    """q and rates (nq,) of the same state, with the turns and rotation vectors nearest to those of ``first``."""
    q, rates = motion[0].copy(), motion[1].copy()
    for kind, column in zip(tree.nodes.motion, tree.nodes.column, strict=True):
        if kind == REVOLUTE:
            q[column] -= 2.0 * np.pi * np.round((q[column] - first[0][column]) / (2.0 * np.pi))
        elif kind == BALL:
            own = slice(column, column + 3)
            size = np.linalg.norm(q[own])
            other = q[own] * (1.0 - 2.0 * np.pi / size) if size else q[own]
            if np.linalg.norm(other - first[0][own]) < np.linalg.norm(q[own] - first[0][own]):
                w = vector_subspace(q[own]) @ rates[own]
                q[own] = other
                rates[own] = np.linalg.solve(vector_subspace(q[own]), w)
    return q, rates


class ReducedAdjoint:
    """The gradient of an objective of a run by its start and by numbers of its description.

    ``by_states``: (nodes, nb, 12) of the objective by the states at the run's nodes, see `StateGradient`.
    """

    def __init__(self, run: ReducedTape, by_states: np.ndarray) -> None:
        self.run, self.by_states = run, by_states
        derivatives, order = Derivatives(run), run.equations.compiled.order
        self.by_nodes = [
            np.einsum("nk,nkq->q", by[order], derivatives.of_bodies(node.tree, node.motion))
            for by, node in zip(by_states, run.nodes, strict=True)
        ]
        self.back = CarriedBack(run, self.by_nodes)

    def by_first_state(self) -> np.ndarray:
        """(nb, 12) by the state that the run starts from, bodies in the order of the description: the least."""
        run, back = self.run, self.back
        of_bodies = Derivatives(run).of_bodies(run.tree, run.start)
        nb, _, width = of_bodies.shape
        by = np.concatenate([back.by_q, back.by_rates])
        found = np.linalg.lstsq(of_bodies.reshape(-1, width).T, by, rcond=None)[0]
        return found.reshape(nb, 12)[run.equations.compiled.slot]

    def by_coordinates(self, state: State | ReducedState) -> Motion:
        """Derivative by the initial coordinates and rates (nq,) of the ``state``, free rotations as vectors."""
        run, back = self.run, self.back
        if all(chart == EXPONENTIAL for chart in run.tree.charts.values()):
            return back.by_q.copy(), back.by_rates.copy()
        plain, q, rates = replace(run.setting, chart=EXPONENTIAL).equations(run.mechanism, state)
        by, width = np.concatenate([back.by_q, back.by_rates]), 2 * plain.nq
        of_vectors = InverseDynamics(plain).body_changes(q, rates).reshape(-1, width)
        of_angles = Derivatives(run).of_bodies(run.tree, run.start).reshape(-1, width)
        by_q, by_rates = np.split(by @ np.linalg.lstsq(of_angles, of_vectors, rcond=None)[0], 2)
        return by_q, by_rates

    def scalar(self, changed: Mechanism, state: State | ReducedState) -> float:
        """A function of the description with the same derivatives as the objective: its value for a ``changed`` one.

        ``state``: where the run of the ``changed`` mechanism starts.
        """
        other = Described(self.run, changed, state)
        (q, rates), (first, first_rates) = other.start, self.run.start
        total = self.back.by_q @ (q - first) + self.back.by_rates @ (rates - first_rates)
        law_start = other.equations.compiled.law_start - self.run.equations.compiled.law_start
        total += self.back.by_integral @ law_start + self.by_stages(other).sum()
        for node, by in zip(self.run.nodes, self.by_states, strict=True):
            moved = other.state(node)
            parts = motion_between(node.state, moved), moved.velocity, moved.angular_velocity
            total += np.sum(by * np.hstack(parts))
        return float(total)

    def by_stages(self, other: Described) -> np.ndarray:
        """(stages,) the residuals of all stages as ``other`` describes them, each with its dual."""
        return np.array(
            [
                sum(float(dual @ part) for dual, part in zip(duals, changes, strict=True))
                for own, found in zip(self.back.duals, other.residuals(), strict=True)
                for duals, changes in zip(own, found, strict=True)
            ]
        )
