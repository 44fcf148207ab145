"""What a run has come to, in a table."""

from typing import TYPE_CHECKING

from varint.analysis.derived import QUANTITIES
from varint.analysis.resolution import find_unresolved
from varint.analysis.trajectory import Trajectory
from varint.analysis.trajectory_display import method
from varint.cli.common import new_table

if TYPE_CHECKING:
    from rich.table import Table


def summary(trajectory: Trajectory, settings: dict) -> "Table":
    """The table of a run with these ``settings``, see `Record`."""
    mechanism, steps = trajectory.mechanism, trajectory.steps
    nb = len(mechanism.bodies)
    simulated = settings["dt"] * steps if settings["formulation"] == "maximal" else trajectory.t[-1]
    table = new_table("", "", title=mechanism.name)
    table.add_row("bodies, joints", f"{nb}, {len(mechanism.joints)}")
    table.add_row("6 n - rows", f"{6 * nb - mechanism.rows}")
    table.add_row("simulated", f"{simulated:g} s")
    table.add_row("method", method(settings))
    table.add_row("steps, sub-steps", f"{steps}, {trajectory.substeps}")
    for what, count in (
        ("Newton iterations", trajectory.newton_iterations),
        ("evaluations", getattr(trajectory, "evaluations", 0)),
    ):
        if count:
            table.add_row(what, f"{count}, {count / max(1, steps):.2f} a step")
    for quantity in QUANTITIES.values():
        if quantity.rows and quantity.shown(trajectory):
            for row in quantity.rows(trajectory):
                table.add_row(*row)
    if unresolved := find_unresolved(trajectory, settings["dt"]):
        table.add_row("warning", unresolved.message)
    wall = trajectory.wall_time
    factor = f", {simulated / wall:.3g} times real time" if wall > 0 else ""
    table.add_row("stepping took", f"{wall:.3g} s{factor}")
    return table
