"""Dense nodes of loop closures and what they fill in (step/ldu.py)."""

from collections.abc import Sequence

import numpy as np

from varint.plan.topology import Topology


def loop_arrays(topology: Topology, slot: np.ndarray, joint_rows: np.ndarray, side: np.ndarray, nb: int) -> dict:
    """Return dense closure nodes and their fills (step/plan.py)."""
    nr = int(joint_rows[-1])
    nodes = [node for cluster in topology.nodes for node in cluster]
    cluster_node = np.cumsum([0] + [len(cluster) for cluster in topology.nodes])
    joints_of = np.cumsum([nb] + [len(cuts) for _, cuts in nodes])
    node_row = joint_rows[joints_of]
    top = np.array([slot[body] for body, _ in nodes], dtype=np.int64)
    fill_cluster = np.full(nb, -1)
    for body, c in topology.solved_in.items():
        fill_cluster[slot[body]] = c
    parent = [int(slot[topology.parent[i]]) for i in topology.bodies]

    # rows that reach each body: those that are eliminated just before it, then those that are passed on
    reached: list[set[int]] = [set() for _ in range(nb)]
    ends: list[list[int]] = [[] for _ in range(nb + 1)]
    for n, i in enumerate(top):
        ends[i].extend(range(node_row[n], node_row[n + 1]))
        for j in range(joints_of[n], joints_of[n + 1]):
            for body in side[j]:
                while body not in (i, nb):
                    reached[body].update(range(joint_rows[j], joint_rows[j + 1]))
                    body = parent[body]
    lists = [end + sorted(rows) for end, rows in zip(ends, reached, strict=False)]
    fill_first = np.cumsum([0] + [len(rows) for rows in lists])
    entry = [{row: fill_first[i] + k for k, row in enumerate(rows)} for i, rows in enumerate(lists)] + [{}]
    fill_up = [-1 if row in ends[i] else entry[parent[i]].get(row, -1) for i in range(nb) for row in lists[i]]
    row_fill = np.full((nr, 2), -1)
    for j in range(nb, len(side)):
        for k, body in enumerate(side[j]):
            for row in range(joint_rows[j], joint_rows[j + 1]):
                row_fill[row, k] = entry[body].get(row, -1)

    low, high = _envelope(reached, node_row)
    sizes = np.diff(node_row)
    width = np.repeat(high - low, sizes)
    row_start = np.full(nr + 1, -1)
    row_start[nr - width.size : nr] = np.cumsum(width) - width - np.repeat(low, sizes)
    row_start[nr] = width.sum()
    return {
        "cluster_node": cluster_node,
        "node_row": node_row,
        "node_low": low,
        "node_high": high,
        "node_fill": np.array([entry[i].get(row, -1) for i, row in zip(top, node_row, strict=False)], dtype=np.int64),
        "node_first": np.searchsorted(np.sort(top), np.arange(nb + 2)),
        "node_order": np.argsort(top, kind="stable"),
        "row_start": row_start,
        "fill_first": fill_first,
        "fill_pass": fill_first[:-1] + [len(end) for end in ends[:-1]],
        "fill_row": np.array([row for rows in lists for row in rows], dtype=np.int64),
        "fill_up": np.array(fill_up, dtype=np.int64),
        "fill_cluster": fill_cluster,
        "row_fill": row_fill,
    }


def _envelope(reached: Sequence[set[int]], node_row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return columns low : high (nn,) of the closures' matrix that hold each node's rows, fill-in included."""
    high = node_row[1:].copy()
    for rows in filter(None, reached):
        near = np.unique(np.searchsorted(node_row, sorted(rows), side="right") - 1)
        high[near] = np.maximum(high[near], node_row[near[-1] + 1])
    high = np.maximum.accumulate(high)  # the elimination of a node couples all that are coupled with it
    return node_row[np.searchsorted(high, node_row[:-1], side="right")], high
