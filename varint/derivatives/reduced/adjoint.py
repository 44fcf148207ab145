"""Derivatives of the steps of a reduced run, forwards and backwards: of their stages, and from one to the next."""

from collections.abc import Iterator, Sequence

import numpy as np

from varint.base.errors import ArgumentError
from varint.derivatives.meshes.stage_derivatives import MeshStageDerivatives
from varint.derivatives.reduced.records import SLOTS, Stage, Step, steady_columns
from varint.derivatives.reduced.stage_derivatives import (
    Change,
    ExplicitStage,
    ImplicitStage,
    NoDerivative,
    StageDerivatives,
    inverse_of,
    with_vertices_unmarked,
)
from varint.derivatives.reduced.tape import ReducedTape
from varint.methods.reduced.implicit import Motion
from varint.methods.reduced.mesh_dynamics import MeshInverse
from varint.methods.reduced.tree import Tree


class Derivatives:
    """The derivatives of all steps of a run, stage by stage, and between their charts."""

    def __init__(self, run: ReducedTape) -> None:
        self.run, self.equations = run, run.equations
        self.inverse = inverse_of(run.equations)
        self.kind = MeshStageDerivatives if isinstance(self.inverse, MeshInverse) else ImplicitStage
        self.ends: list[tuple[Tree, Motion]] = [
            (run.tree, run.imposed(0.0, run.start)),
            *((step.tree, step.end) for step in run.steps),
        ]

    def stage(self, step: Step, stage: Stage) -> StageDerivatives:
        """Return the derivatives of a stage; raises ArgumentError if they are not finite."""
        self.equations.use(step.tree)
        kind = self.kind if stage.s else ExplicitStage
        try:
            return kind(self.inverse, step, stage)
        except (NoDerivative, np.linalg.LinAlgError):
            nq = self.equations.nq
            body = self.equations.hardest_accelerated(stage.t, stage.x[:nq], stage.rates[:nq])
            raise ArgumentError(
                f"the step to t = {stage.t:g} s, hardest for body '{body}', has no derivative that is finite"
            ) from None

    def of_bodies(self, tree: Tree, motion: Motion) -> np.ndarray:
        """Return changes (nb, 12, 2 nq) of bodies by coordinates and rates, see `InverseDynamics.body_changes`."""
        self.equations.use(tree)
        q, rates = (part[: self.equations.nq] for part in motion)
        return self.inverse.body_changes(q, rates)

    def between_charts(self, k: int) -> np.ndarray | None:
        """Return the matrix (2 N, 2 N) from changes at the end of a step to changes at the start of step ``k``.

        Of places and rates; None if no chart changes between the two.
        """
        (tree, before), step = self.ends[k], self.run.steps[k]
        count, nq = len(before[0]), self.equations.nq
        moved = np.zeros(nq, dtype=bool)
        for columns in tree.columns.values():
            moved[columns] = any((a[columns] != b[columns]).any() for a, b in zip(before, step.start, strict=True))
        if not moved.any():
            return None
        both = np.concatenate([moved, moved])
        old = self.of_bodies(tree, before).reshape(-1, 2 * nq)[:, both]
        new = self.of_bodies(step.tree, step.start).reshape(-1, 2 * nq)[:, both]
        matrix, among = np.eye(2 * count), np.tile(with_vertices_unmarked(moved, count), 2)
        matrix[np.ix_(among, among)] = np.linalg.lstsq(new, old, rcond=None)[0]
        return matrix


def carry_forward(
    run: ReducedTape, start: Motion, changes: Sequence[Sequence[Change]] | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return changes of places and rates (N,) at the run's nodes, from ``start`` and ``changes`` of its stages.

    ``start``: changes of places and rates (N,) at the start of the run.
    """
    derivatives, e = Derivatives(run), run.equations
    nq, ns = len(start[0]), e.law_state.size
    driven, steady = (with_vertices_unmarked(marks, nq) for marks in (e.driven_columns, steady_columns(e)))
    q = np.where(driven, np.where(steady, start[0], 0.0), start[0])
    ends = [(q, np.where(driven, 0.0, start[1]), np.zeros(ns))]
    before = (np.zeros(nq), np.zeros(nq), np.zeros(ns))
    for k, step in enumerate(run.steps):
        chart, (q, v, I) = derivatives.between_charts(k), ends[-1]
        if chart is not None:
            q, v = np.split(chart @ np.concatenate([q, v]), 2)
        motion, integral = np.zeros((step.shape.d.shape[1], nq)), np.zeros((step.shape.d.shape[1], ns))
        for slot, (own_q, own_v, own_I) in enumerate((before, (q, v, I))):
            motion[SLOTS * slot], motion[SLOTS * slot + 1], integral[SLOTS * slot + 2] = own_q, own_v, own_I
        for n, stage in enumerate(step.stages):
            of_stage = step.shape.d[n] @ motion, step.shape.e[n] @ motion, step.shape.integral[n] @ integral
            more = changes[k][n] if changes else None
            place = SLOTS * (n + 2)
            motion[place], motion[place + 1], integral[place + 2] = derivatives.stage(step, stage).forward(
                *of_stage, start[0], more
            )
        before = q, v, I
        ends.append((*(step.shape.end[:2] @ motion), step.shape.end[2] @ integral))
    return [ends[node.steps][:2] for node in run.nodes]


class CarriedBack:
    """The gradient by the start and by changes of the stages, of a number with ``by_nodes`` (nodes, 2 N) at nodes.

    Attributes
    ----------
    by_q, by_rates : (N,) by the start
    by_integral : (ns,) by the states of laws there
    duals : list (steps) of lists of Change
        By the changes of the stages.
    """

    def __init__(self, run: ReducedTape, by_nodes: Sequence[np.ndarray]) -> None:
        derivatives, e, count = Derivatives(run), run.equations, len(run.steps)
        nq, ns = len(run.start[0]), e.law_state.size
        steady, driven = (with_vertices_unmarked(marks, nq) for marks in (steady_columns(e), e.driven_columns))
        starts = np.zeros((count + 1, 2 * nq)), np.zeros((count + 1, ns))
        by_node = {node.steps: by for node, by in zip(run.nodes, by_nodes, strict=True)}
        self.duals: list[list[Change]] = [[] for _ in run.steps]
        by_start = np.zeros(nq)
        for k in reversed(range(-1, count)):
            by_end, by_I = starts[0][k + 1], starts[1][k + 1]
            if k + 1 < count and (chart := derivatives.between_charts(k + 1)) is not None:
                by_end = chart.T @ by_end
            by_end = by_end + by_node.get(k + 1, 0.0)
            if k < 0:
                break
            for place, by_motion, by_integral in self._step(derivatives, k, by_end, by_I, by_start):
                if place >= 0:
                    starts[0][place] += by_motion
                    starts[1][place] += by_integral
        self.by_q = np.where(~driven | steady, by_end[:nq], 0.0) + by_start
        self.by_rates = np.where(driven, 0.0, by_end[nq:])
        self.by_integral = by_I

    def _step(
        self, derivatives: Derivatives, k: int, by_end: np.ndarray, by_I: np.ndarray, by_start: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield k - 1 and k, each with derivatives by the start of that step.

        By places and rates (2 N,), and by integrals (ns,).
        """
        step, (q, v) = derivatives.run.steps[k], np.split(by_end, 2)
        motion, integral = (np.zeros((step.shape.d.shape[1], width)) for width in (len(q), len(by_I)))
        motion += np.outer(step.shape.end[0], q) + np.outer(step.shape.end[1], v)
        integral += np.outer(step.shape.end[2], by_I)
        for n, stage in reversed(list(enumerate(step.stages))):
            place = SLOTS * (n + 2)
            by = motion[place], motion[place + 1], integral[place + 2]
            by_d, by_e, by_j, more, dual = derivatives.stage(step, stage).back(*by)
            motion += np.outer(step.shape.d[n], by_d) + np.outer(step.shape.e[n], by_e)
            integral += np.outer(step.shape.integral[n], by_j)
            by_start += more
            self.duals[k].insert(0, dual)
        for slot in (0, 1):
            yield k - 1 + slot, motion[SLOTS * slot : SLOTS * slot + 2].ravel(), integral[SLOTS * slot + 2]
