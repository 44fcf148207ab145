"""Beams, joints with a compliance, and the rows of both, as roles of a step."""

from varint.step.compliant.beam_steps import apply_beams, finish_beams, stiffen_beams
from varint.step.compliant.beams import evaluate_beams
from varint.step.compliant.braced_joints import brace_rows
from varint.step.compliant.ringing import extrapolate_ringing, keep_ringing
from varint.step.compliant.rows import keep_efforts, start_multipliers, weigh_open
from varint.step.compliant.soft_joint_changes import (
    rows_at_end,
    rows_at_end_back,
    rows_from_start,
    rows_from_start_back,
)
from varint.step.compliant.soft_joints import apply_rows, apply_rows_back, average_rows, finish_rows, stiffen_rows
from varint.step.role import Role

SOFT_JOINTS = Role(
    lambda plan: plan.compliant.joint_row.size,
    {
        "residual": average_rows, "matrices": stiffen_rows, "finish": finish_rows, "remember": keep_ringing,
        "brace": brace_rows,
    },
    {
        "apply": apply_rows, "apply_back": apply_rows_back, "from_start": rows_from_start,
        "from_start_back": rows_from_start_back, "at_end": rows_at_end, "at_end_back": rows_at_end_back,
    },
    also=lambda plan, stages: (extrapolate_ringing,),
    sizes=lambda plan, stages: {"ringing": stages * (plan.compliant.joint_row.size > 0)},
    smooth=False,
)  # fmt: skip
BEAMS = Role(
    lambda plan: plan.beams.first.size,
    {"residual": apply_beams, "matrices": stiffen_beams, "finish": finish_beams},
    also=lambda plan, stages: (evaluate_beams,),
    sizes=lambda plan, stages: {"beams": plan.beams.first.size},
)
COMPLIANT_ROWS = Role(
    lambda plan: plan.compliant.row.size, {"aim": start_multipliers, "residual": weigh_open, "finish": keep_efforts}
)
