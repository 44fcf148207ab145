"""Gradients that go back along the steps of a run of collocation, by all that the run depends on."""

from collections.abc import Mapping

import numpy as np

from varint.base.errors import ConvergenceError
from varint.base.numba import allocate
from varint.derivatives.backward import OF_STAGES, Adjoint
from varint.derivatives.collocation.given import CollocationGiven
from varint.derivatives.collocation.tape import CollocationTape, LinkNode
from varint.derivatives.given import Given, LoadPlace
from varint.derivatives.taped import TapedNode, TapePart
from varint.step.collocation.adjoint import add_node_gradient, link_motions, steps_back
from varint.step.collocation.transposed import TransposedWork
from varint.step.nodes.efforts import evaluate_efforts
from varint.step.plan import ByNumbers


class CollocationAdjoint(Adjoint):
    """See `Adjoint`."""

    run: CollocationTape

    def __init__(
        self, run: CollocationTape, by_states: np.ndarray, by: ByNumbers, places: Mapping[str, LoadPlace]
    ) -> None:
        super().__init__(run, by_states, by, places)
        sizes, nb, nl = run.march.sizes, len(run.mechanism.bodies), run.march.tree.mass.size
        self.links = run.march.work  # scratch here: the run restores it before it goes on
        self.plan = run.compiled.plan
        self.own: TransposedWork = allocate(TransposedWork, sizes)
        self.own.reversed.rotation[:, nl] = self.own.reversed.body_rotation[:, nb] = np.eye(3)
        evaluate_efforts.prepare()

    def _given(self, places: Mapping[str, LoadPlace]) -> Given:
        return CollocationGiven(self.run, dict(places))

    def back(self, part: TapePart) -> None:
        """See `Adjoint`."""
        run, s = self.run, self.run.march.rule.node.size
        last = part.stages // s
        for name in OF_STAGES:
            getattr(self.by, name)[: part.stages] = 0.0
        self._clear_products()
        for k in reversed(part.nodes):
            node, here, law_state = run.nodes[k], self.by_states[k].copy(), np.zeros_like(self.law_state)
            first = node.stages - part.first
            self._steps_back(first, last)
            if run.fed_back:
                here += self._fed_back(k, slice(first * s, last * s))
            self._velocities_back(k, here, law_state)
            self.given.add_rate(node, self.ws.increment_row)
            self._add(node, run.links[k + 1], here)
            last = first
        self._steps_back(0, last)
        self.given.add(part.stages, self.by)

    def _steps_back(self, first: int, last: int) -> None:
        """Take the gradient back over steps of the part of the run that is on the tape."""
        run, march = self.run, self.run.march
        failed = steps_back(
            self.plan, self.ws, march.tree, march.closures, march.rule, self.links, self.own, self.work, march.taped,
            run.tape, first, last, self.by,
        )  # fmt: skip
        if failed >= 0:
            time = run.dt * (int(march.taped.node[failed]) + float(march.taped.share[failed]))
            raise ConvergenceError(
                f"the gradient could not be taken back over the step at t = {time:g} s: it is too long for stiff"
                " forces. Take a smaller dt, or varint.Variational",
                time=time, body=None, joint=None, trajectory=None,
            )  # fmt: skip

    def _add(self, node: TapedNode, links: LinkNode, state: np.ndarray) -> None:
        """Add a gradient ``state`` (nb, 12) by pose and momenta at a ``node``."""
        march = self.run.march
        self._show(links)
        inputs = np.ascontiguousarray(self.run.commands.at(np.array([node.number]))[0, 0])
        add_node_gradient(self.plan, self.ws, march.tree, march.closures, self.links, self.own, inputs, state, self.by)

    def _show(self, links: LinkNode) -> None:
        work = self.links
        work.coordinate[:], work.turned[:], work.momentum[:] = links

    def finish(self) -> None:
        """See `Adjoint`; before, the gradient at the start is written in the axes of the bodies.

        A gradient by coordinates becomes one by poses: one of many, which agree along all motions that joints allow.
        """
        run, march, tree = self.run, self.run.march, self.run.march.tree
        self._show(run.links[0])
        inputs = np.ascontiguousarray(run.commands.at(np.zeros(1))[0, 0])
        motions = np.zeros((tree.mass.size, len(tree.link), 6))
        link_motions(self.plan, self.ws, tree, march.closures, self.links, self.own, inputs, motions)
        R = self.links.rotation[0, tree.link]
        by_momentum = np.einsum("nab,na->nb", R, self.own.by_momentum[:, 3:])
        momentum = np.einsum("nab,na->nb", R, self.links.momentum[tree.link, 3:])
        if self.by.wanted[0]:
            by_pose = self.own.by_pose[tree.link]
            self.by_start[:, :3], self.by_start[:, 3:6] = by_pose[:, :3], np.einsum("nab,na->nb", R, by_pose[:, 3:])
        else:
            self.by_start[:, :6] = self._by_poses(motions)
        self.by_start[:, 3:6] += np.cross(momentum, by_momentum)  # held in the body from here on, not in the world
        self.by_start[:, 6:9], self.by_start[:, 9:] = self.own.by_momentum[:, :3], by_momentum
        super().finish()

    def _by_poses(self, motions: np.ndarray) -> np.ndarray:
        """Return a gradient (nb, 6) by poses with the products with ``motions`` (nl, nb, 6) that coordinates have."""
        by_coordinate = self.own.by_coordinate[0].copy()
        for first in self.run.march.tree.ball:
            ball = slice(int(first), int(first) + 3)
            by_coordinate[ball] = self.links.axis[0, ball] @ by_coordinate[ball]
        by_pose = np.linalg.lstsq(motions.reshape(len(motions), -1), by_coordinate, rcond=None)[0]
        return np.reshape(by_pose, (-1, 6))
