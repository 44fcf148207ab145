"""What a run has come to, in a table."""

import numpy as np

from varint.analysis.trajectory import Trajectory
from varint.cli.common import new_table
from varint.model.body import WORLD

SINGULAR_BELOW = 0.01  # rank margin


def summary(trajectory: Trajectory, dt: float):
    """The table of a run with steps of ``dt``, s."""
    mechanism, steps = trajectory.mechanism, trajectory.steps
    nb = len(mechanism.bodies)
    table = new_table("", "", title=mechanism.name)
    table.add_row("bodies, joints", f"{nb}, {len(mechanism.joints)}")
    table.add_row("6 n - rows", f"{6 * nb - mechanism.rows}")
    table.add_row("simulated", f"{steps * dt:g} s")
    table.add_row("steps, sub-steps", f"{steps}, {trajectory.substeps}")
    iterations = trajectory.newton_iterations
    table.add_row("Newton iterations", f"{iterations}, {iterations / max(1, steps):.2f} a step")

    error = trajectory.energy - trajectory.energy[0]
    tenth = max(1, len(error) // 10)
    trend = error[-tenth:].mean() - error[:tenth].mean()
    scale = trajectory.kinetic.max()
    table.add_row("energy error, largest", _energy(np.abs(error).max(), scale))
    table.add_row("its mean, last tenth - first", _energy(trend, scale))
    if conserves_momentum(mechanism):
        for what, unit, values in (
            ("linear", "N s", trajectory.linear_momentum),
            ("angular", "N m s", trajectory.angular_momentum),
        ):
            change = np.linalg.norm(values - values[0], axis=1).max()
            table.add_row(f"{what} momentum change", f"{change:.3g} {unit} of {np.linalg.norm(values[0]):.3g}")
    table.add_row("joint drift, largest", f"{trajectory.drift.max():.3g} m")
    if mechanism.compiled.topology.clusters:
        least = int(np.argmin(trajectory.rank_margin))
        margin = trajectory.rank_margin[least]
        note = ": nearly singular" if margin < SINGULAR_BELOW else ""
        table.add_row("rank margin of the loops, least", f"{margin:.2g} at {trajectory.t[least]:g} s{note}")
    wall = trajectory.wall_time
    factor = f", {steps * dt / wall:.3g} times real time" if wall > 0 else ""
    table.add_row("stepping took", f"{wall:.3g} s{factor}")
    return table


def conserves_momentum(mechanism) -> bool:
    """Whether nothing outside acts on the mechanism: no gravity, no joint that holds it to the world."""
    held = any(joint.forbidden and WORLD in (joint.body_a, joint.body_b) for joint in mechanism.joints)
    return not held and not mechanism.gravity.any()


def _energy(joules, scale):
    relative = f", {joules / scale:.3g} of the largest kinetic" if scale > 0 else ""
    return f"{joules:.3g} J{relative}"
