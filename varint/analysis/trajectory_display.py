"""How a trajectory shows itself: from what is recorded, nothing is worked out."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from varint.display import described, html_table, names_text

if TYPE_CHECKING:
    from varint.analysis.trajectory import Trajectory


def text(trajectory: "Trajectory") -> str:
    """Its repr."""
    return described(trajectory, _facts(trajectory), trajectory.mechanism.name)


def _facts(trajectory: "Trajectory") -> Iterator[str]:
    t = trajectory.t
    doubt = f", not resolved from t = {trajectory.unresolved[0]:g} s on" if trajectory.unresolved.size else ""
    yield f"{len(t)} nodes, t = {t[0]:g} to {t[-1]:g} s; {trajectory.message}{doubt}"


def in_html(trajectory: "Trajectory") -> str:
    """Its table in a notebook."""
    mechanism = trajectory.mechanism
    rows = [
        ("bodies", names_text(mechanism.body_index)),
        ("joints", names_text(mechanism.joint_index)),
        ("forces", names_text(mechanism.force_index)),
        ("method", method(trajectory.settings)),
        ("steps, sub-steps", f"{trajectory.steps}, {trajectory.substeps}"),
        ("Newton iterations", trajectory.newton_iterations),
        ("evaluations", getattr(trajectory, "evaluations", 0)),
        ("stepping took", f"{trajectory.wall_time:.3g} s"),
    ]
    return html_table(("", ""), [row for row in rows if row[1]], text(trajectory))


def method(settings: dict) -> str:
    """By what a run was made, in a few words."""
    if settings["formulation"] == "maximal":
        return f"order {settings['order']} ({settings['scheme']})"
    if settings["formulation"] == "own":
        return f"{settings['integrator']}, an integrator of the user's"
    return f"{settings['integrator']}, reduced coordinates"
