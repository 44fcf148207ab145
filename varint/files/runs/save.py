"""Saves a run that is in memory to a file."""

import os
from itertools import zip_longest
from pathlib import Path

import numpy as np

from varint.base.checks import flag
from varint.base.errors import ArgumentError
from varint.base.paths import path_of
from varint.files.runs.contents import Checkpoint, fingerprint
from varint.files.runs.lock import locked
from varint.files.runs.place import check_name, check_place
from varint.files.runs.writer import Content, RunWriter, write_at_once
from varint.results.record import Counts, HeldNodes, JoinedNodes, Nodes, Record

PART = 1 << 24  # bytes of nodes that are written at once


def save_run(record: Record, path: str | Path, overwrite: bool) -> None:
    """Save a run, see `Trajectory.save`."""
    check_name(path_of(path), "path")
    place = Path(os.path.realpath(path))
    check_place(place, path, flag(overwrite, "overwrite", ArgumentError))
    if record.layout and "q" not in record.nodes:
        raise ArgumentError(
            "times between the nodes of a run in reduced coordinates cannot be saved: save the run itself"
        )
    mark, checkpoint = record.fingerprint, record.checkpoint
    if record.inputs is not None:
        mark = fingerprint(record.mechanism, record.settings, record.inputs)
    if checkpoint is None:
        checkpoint = {"recorded": np.array([0])}  # no run can go on from there
    first, *others = _parts(record.nodes)
    finest, *finer = _parts(record.diagnostics) if record.diagnostics else [HeldNodes()]
    with locked(place):
        content = Content(record.mechanism, record.settings, record.layout, mark, record.load, first, finest)
        if not others and not finer:
            progress = content.progress(record.status, record.counts)
            write_at_once(place, content, Checkpoint(progress, record.wall_time, record.message, checkpoint))
            return
        writer = RunWriter.create(place, content, checkpoint)
        try:
            for nodes, diagnostics in zip_longest(others, finer, fillvalue=HeldNodes()):
                writer.append(nodes, None, Counts(), 0.0, diagnostics)
            writer.append({}, None, record.counts, record.wall_time)
            writer.finish(record.status, record.message)
        finally:
            writer.close()


def _parts(rows: Nodes) -> list[HeldNodes]:
    """Return the same rows in parts of at most `PART` bytes."""
    if isinstance(rows, JoinedNodes):  # which need not be joined
        return [part for block in rows.blocks for part in _parts(HeldNodes(block))]
    nodes = {name: rows[name] for name in rows}
    width = sum(array[:1].nbytes for array in nodes.values())
    many, total = max(1, PART // width), len(nodes["t"])
    return [
        HeldNodes({name: array[first : first + many] for name, array in nodes.items()})
        for first in range(0, total, many)
    ]
