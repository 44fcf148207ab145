"""Run files that lie about their sizes, links and settings, with right checksums: fifty changes of one file."""

import json

import h5py
import numpy as np
from file_runs import NODES

NUMBERS = {  # settings to values that no run has
    "duration": (float("nan"), float("inf"), 0.0, -1.0, "1", None, 10**400),
    "dt": (0.0, -1.0, float("nan"), float("inf"), [], "0.01"),
    "every": (0, -1, 10**30, 1.5, None),
    "steps": (-5, 10**30, 2.5, "5", None),
    "diagnostics_every": (0, -3, 0.5),
    "output_times": (0, -1, "all"),
    "formulation": (3, None),
}


def setting(name, value):
    def change(file):
        settings = json.loads(bytes(file.attrs["settings"])) | {name: value}
        file.attrs["settings"] = np.bytes_(json.dumps(settings))

    return change


def stored(name, written=True, claimed=0, **how):
    """Store an array of nodes in chunks of ``how["rows"]`` rows, with ``claimed`` rows."""

    def change(file):
        values, rows = file[name][()], how.get("rows", 100)
        del file[name]
        shape, options = values.shape[1:], {key: value for key, value in how.items() if key != "rows"}
        file.create_dataset(name, (max(claimed, len(values)), *shape), values.dtype, maxshape=(None, *shape),
                            chunks=(rows, *shape), **options)  # fmt: skip
        if written:
            file[name][: len(values)] = values

    return change


def claimed(rows):
    """Declare ``rows`` nodes, of which the checkpoints know."""

    def change(file):
        for name in NODES:
            file[name].resize(rows, axis=0)
        for turn in "01":
            file[f"checkpoint/{turn}/progress"][1] = rows

    return change


def linked(names, of):
    """Give a dataset ``names`` names."""

    def change(file):
        for name in names:
            file[name] = file[of]

    return change


def large_state(count):
    def change(file):
        first = file["checkpoint/0/state"].create_dataset("large", data=np.zeros(1_000_000))
        for number in range(count):
            file[f"checkpoint/0/state/{number}"] = first

    return change


def replaced(name, link):
    def change(file):
        del file[name]
        file[name] = link

    return change


def sparse(rows):
    """Declare ``rows`` nodes, of which the disk has the first and the last."""

    def change(file):
        nodes = json.loads(bytes(file.attrs["nodes"]))
        for name in (name for name, (item, _) in nodes.items() if 0 not in item):
            values = file[name][()]
            del file[name]
            file.create_dataset(name, (rows, *values.shape[1:]), values.dtype)
            file[name][: len(values)] = values
            file[name][-1:] = values[-1:]
        file["blocks"].resize(len(file["blocks"]) + 1, axis=0)
        file["blocks"][-1, 0] = rows
        for turn in "01":
            file[f"checkpoint/{turn}/progress"][1] = rows

    return change


def text(name, content):
    return lambda file: file.attrs.__setitem__(name, np.bytes_(content))


def described(file):
    del file["mechanism"]
    file.create_dataset("mechanism", (), dtype="S2000000000")


def many_blocks(file):
    values = file["blocks"][()]
    del file["blocks"]
    width = values.shape[1]
    file.create_dataset("blocks", (10**12, width), "<i8", maxshape=(None, width), chunks=(1 << 16, width))
    file["blocks"][: len(values)] = values


def blocks_of_many(file):
    file["blocks"][-1, 0] = 2**62


CHANGES = {
    "chunks of 2.7 GB": stored("position", False, rows=50_000_000),
    "compressed chunks of 48 MB": stored("position", rows=1_000_000, compression="gzip"),
    "compressed": stored("velocity", compression="gzip"),
    "shuffled": stored("velocity", shuffle=True),
    "with checksums of HDF5": stored("velocity", fletcher32=True),
    "10^12 rows": stored("position", claimed=10**12),
    "10^12 nodes": claimed(10**12),
    "2^62 nodes": claimed(2**40),
    "no nodes": claimed(0),
    "holes of 220 MB": sparse(1_000_000),
    "10^12 blocks": many_blocks,
    "a block of 2^62 nodes": blocks_of_many,
    "500 names of 8 MB": large_state(500),
    "20000 names in a checkpoint": linked([f"checkpoint/0/state/{k}" for k in range(20_000)], "t"),
    "20000 names of nodes": linked([f"x{k}" for k in range(20_000)], "position"),
    "a checkpoint in itself": replaced("checkpoint/1", h5py.SoftLink("/checkpoint")),
    "an external link": replaced("position", h5py.ExternalLink("/dev/zero", "position")),
    "a link to itself": replaced("position", h5py.SoftLink("/position")),
    "a description of 2 GB": described,
    "deep settings": text("settings", "[" * 60_000),
    "rather deep settings": setting("note", json.loads("[" * 400 + "]" * 400)),
    "deep nodes": text("nodes", '{"a":' * 10_000),
    "nodes of 2^62": text("nodes", json.dumps({"t": [[2**62], "<f8"]})),
    "nodes of many axes": text("nodes", json.dumps({"t": [[2**31 - 1] * 40, "<f8"]})),
    **{f"{name} = {value!r:.30}": setting(name, value) for name, values in NUMBERS.items() for value in values},
}
