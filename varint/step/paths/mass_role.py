"""Mass along paths as a role of a step."""

import numpy as np

from varint.mathematics.arcs import ARC_NODES
from varint.step.paths.mass_coupling import fold_at_node, fold_paths
from varint.step.paths.masses import add_path_momenta, finish_paths, start_path_momenta
from varint.step.role import Role


def _path_sizes(plan, stages):
    """Return the sizes of the scratch of masses along paths."""
    table = plan.massive_paths
    points = np.where(table.lumped > 0, table.lumped, 3 * np.diff(table.first) - 3)
    arcs = table.axis.shape[0] > 0
    if arcs:
        points = points + ARC_NODES * np.diff(table.first)
    nodes = int(points.max(initial=0)) + 1
    return {
        "paths": table.mass.size, "pathpoints": table.slot.size, "pathbodies": table.body.size,
        "pathmotions": 6 * table.body.size,
        "pathnodes": nodes, "arcpoints": table.slot.size * arcs, "arcsides": 2 * table.slot.size * arcs,
        "arcnodes": 2 * nodes * arcs,
    }  # fmt: skip


def _border(plan):
    """Return six rows for each body that paths couple with others, and the number of these bodies."""
    coupled = int(plan.massive_paths.coupled[0])
    return 6 * coupled, coupled


PATH_MASSES = Role(
    lambda plan: plan.massive_paths.mass.size,
    {
        "residual": add_path_momenta, "matrices": fold_paths, "finish": finish_paths, "start": start_path_momenta,
        "inertia": fold_at_node,
    },
    sizes=_path_sizes,
    border=_border,
    double=False,
)  # fmt: skip
