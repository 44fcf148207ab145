"""Diagnostics at a stride of their own: energy, momentum and drift at more nodes than are recorded."""

from collections.abc import Callable, Mapping

import numpy as np

from varint.mathematics.products.records import check_order
from varint.model.state import State
from varint.results.derived import left_by
from varint.results.diagnostics import DIAGNOSTICS
from varint.results.record import Counts, HeldNodes, Record
from varint.results.recorded_motion import RecordedMotion
from varint.results.since import Since, packed, unpacked
from varint.runs.run import Block, Reached, Run
from varint.runs.running import Job

Arrays = dict[str, np.ndarray]
TOLD = "unresolved_body"


def diagnosed(run: Run, job: Job, kind: Callable[..., RecordedMotion]) -> Run:
    """Return ``run``, with the diagnostics that its settings ask for; ``kind`` of the trajectories of its parts."""
    return Diagnosed(run, job, kind) if job.settings["diagnostics_every"] is not None else run


class Diagnosed(Run):
    """A `Run` with diagnostics at each node of the run within it, of which it records each ``job.recording.every``-th.

    The diagnostics are the quantities of the nodes, to the bit, however the steps are cut into blocks. The
    checkpoint has all that later nodes need of earlier ones.
    """

    def __init__(self, run: Run, job: Job, kind: Callable[..., RecordedMotion]) -> None:
        self.run, self.kind, self.layout = run, kind, run.layout
        self.stride = job.recording.every // job.settings["diagnostics_every"]
        made_of = job.mechanism, job.settings, run.layout, HeldNodes(), job.load
        self.record = Record(*made_of, Counts(), -1, "", 0.0)
        self.count = 0  # nodes of the run within
        self.told = -1  # body that was not resolved since the last recorded node
        self.since: Since | None = None
        self.saved: Arrays = {}
        self.none: Arrays = {}

    @property
    def reached(self) -> Reached:
        """Progress of the run."""
        return self.run.reached

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return self.run.finished

    def state(self) -> State:
        """Return the present one."""
        return self.run.state()

    def start(self) -> Block:
        """Record the start."""
        block = self.run.start()
        nodes, diagnostics = self._taken(block.nodes)
        self.none = _rows(diagnostics, slice(0))
        self._save(self.run.checkpoint())
        return Block(nodes, block.seconds, diagnostics)

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        block = self.run.advance(steps)
        self.failure = self.run.failure
        if self.failure is not None:
            nodes, diagnostics = self._taken(block.nodes)
            return Block(nodes, block.seconds, diagnostics)
        checkpoint = self.run.checkpoint()
        before = int(checkpoint["recorded"][0]) - self.count  # nodes of the block that the checkpoint counts
        if before < 0:  # it is of an earlier block
            nodes, diagnostics = self._taken(block.nodes)
            return Block(nodes, block.seconds, diagnostics)
        counted = self._taken(_rows(block.nodes, slice(before)))
        self._save(checkpoint)
        others = self._taken(_rows(block.nodes, slice(before, None)))
        nodes, diagnostics = (_joined(*tables) for tables in zip(counted, others, strict=True))
        return Block(nodes, block.seconds, diagnostics)

    def tail(self) -> Block:
        """Return the last state, if it is not a recorded node yet; diagnostics only if they are not recorded yet."""
        assert self.since is not None  # since the start
        nodes, told = self.run.tail().nodes, self.told
        if len(nodes["t"]):
            part = self._part(nodes)
            if TOLD in nodes:
                nodes = nodes | {TOLD: np.where(told < 0, nodes[TOLD], told)}
            return Block(nodes, 0.0, _diagnostics(part))
        if (self.count - 1) % self.stride == 0:
            return Block(nodes, 0.0, self.none)
        last = dict(self.since.last)
        return Block(last | ({TOLD: np.array([told])} if TOLD in last else {}), 0.0, self.none)

    def checkpoint(self) -> Arrays:
        """Return all arrays that the steps and the diagnostics to come depend on."""
        return self.saved

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`; raises ValueError where no run can have left it."""
        assert self.since is not None  # since the start
        (count, told), recorded = saved["diagnosed"].tolist(), int(saved["recorded"][0])
        if count < 1 or recorded != -(-count // self.stride) or told >= len(self.record.mechanism.bodies):
            raise ValueError("its checkpoint does not belong to its diagnostics")
        self.run.restore({**saved, "recorded": saved["diagnosed"][:1]})
        if int(self.run.checkpoint()["recorded"][0]) != count:
            raise ValueError("its checkpoint does not belong to its diagnostics")
        self.count, self.told, self.saved = count, told, dict(saved)
        self.since = unpacked(saved["since"], self.since)
        check_order(self.since.order)

    def _save(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Take the ``checkpoint`` of the run within at the present node."""
        assert self.since is not None
        self.saved = {**checkpoint} | {
            "recorded": np.array([-(-self.count // self.stride)]),
            "diagnosed": np.array([self.count, self.told]),
            "since": packed(self.since),
        }

    def _taken(self, nodes: Arrays) -> tuple[Arrays, Arrays]:
        """Return the recorded ones of the nodes that follow, and the diagnostics of all."""
        if not len(nodes["t"]):
            return nodes, self.none
        part = self._part(nodes)
        diagnostics = _diagnostics(part)
        chosen = (self.count + np.arange(len(part))) % self.stride == 0
        recorded = {name: array[chosen] for name, array in nodes.items()}
        if TOLD in nodes:
            recorded[TOLD] = self._told(nodes[TOLD], chosen)
        self.count += len(part)
        self.since = left_by(part)
        return recorded, diagnostics

    def _told(self, bodies: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return, for each chosen node, the first body that was not resolved since the one before; -1 if all were."""
        unresolved = np.full(np.count_nonzero(chosen) + 1, -1)  # the last: since the last chosen one
        group = np.concatenate([[0], np.cumsum(chosen) - chosen])
        bodies = np.concatenate([[self.told], bodies])
        groups, first = np.unique(group[bodies >= 0], return_index=True)
        unresolved[groups] = bodies[bodies >= 0][first]
        self.told = int(unresolved[-1])
        return unresolved[:-1]

    def _part(self, nodes: Mapping[str, np.ndarray]) -> RecordedMotion:
        return self.kind(self.record.part(HeldNodes(nodes)), since=self.since)


def _diagnostics(part: RecordedMotion) -> Arrays:
    return {name: getattr(part, name) for name in ("t", *DIAGNOSTICS)}


def _rows(nodes: Mapping[str, np.ndarray], chosen: slice) -> Arrays:
    return {name: array[chosen] for name, array in nodes.items()}


def _joined(one: Arrays, other: Arrays) -> Arrays:
    return {name: np.concatenate([array, other[name]]) for name, array in one.items()}
