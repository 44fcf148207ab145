"""Bearings as a role of a step."""

from varint.step.bearings.nodes import (
    accelerate_bearings,
    brace_bearings,
    project_bearings,
    start_bearings,
    take_slips,
)
from varint.step.bearings.rows import (
    add_friction_works,
    drive_friction,
    finish_friction,
    rub,
    take_friction,
    write_friction,
)
from varint.step.role import Role


def _begin(ws):
    """Let all bearings act."""
    ws.bearings.acting[:] = True


def _sizes(plan, stages):
    """Return the sizes, by name, of the arrays of the bearings of a plan in a run."""
    count = plan.bearings.row.size
    of_nodes = plan.bodies.mass.size if count else 0, plan.rows.role.size if count else 0
    return {
        "bearings": count, "bearing_points": plan.bearings.pressure.shape[0],
        "bearing_bodies": of_nodes[0], "bearing_rows": of_nodes[1],
    }  # fmt: skip


BEARINGS = Role(
    lambda plan: plan.bearings.row.size,
    {
        "residual": rub, "matrices": write_friction, "unfold": take_friction, "finish": finish_friction,
        "start": start_bearings, "drive": drive_friction, "work": add_friction_works, "brace": brace_bearings,
    },
    also=lambda plan, stages: (project_bearings, accelerate_bearings, take_slips),
    sizes=_sizes,
    border=lambda plan: (plan.bearings.row.size, 2),
    begin=_begin,
    double=False,
    smooth=False,
)  # fmt: skip
