"""Hard limits as a role of a step."""

from varint.step.limits.floors import add_floor_works, aim_floors, drive_floors, finish_floors
from varint.step.limits.rows import close_rows, leaps, limit_gap
from varint.step.role import Role

LIMITS = Role(
    lambda plan: plan.limits.measure.size,
    {
        "rows": close_rows, "aim": aim_floors, "finish": finish_floors, "drive": drive_floors, "work": add_floor_works,
    },
    also=lambda plan, stages: (limit_gap, leaps),
    sizes=lambda plan, stages: {"limits": plan.limits.measure.size},
    events=True,
)  # fmt: skip
