"""Text and HTML of a trajectory; nothing is simulated for them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from varint.base.checks import suggestion
from varint.base.display import described, html_table, names_text
from varint.results.record import DONE

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

OTHER_NAMES = {"time": "t", "times": "t", "dt": "settings", "q": "coordinates", "qdot": "rates", "x": "position"}


def text(trajectory: "RecordedMotion") -> str:
    """Return the repr of a trajectory."""
    return described(trajectory, _facts(trajectory), trajectory.mechanism.name)


def _facts(trajectory: "RecordedMotion") -> Iterator[str]:
    t = trajectory.t
    doubt = f", not resolved from t = {trajectory.unresolved[0]:g} s on" if trajectory.unresolved.size else ""
    ended = "a part of a run" if is_part(trajectory) and trajectory.message == DONE else trajectory.message
    yield f"{len(t)} nodes, t = {t[0]:g} to {t[-1]:g} s; {ended}{doubt}"


def is_part(trajectory: "RecordedMotion") -> bool:
    """Return whether the record is not of a whole run: a slice, interpolated nodes, or the nodes of a `Stepper`."""
    record = trajectory.record
    return record.inputs is None and not record.fingerprint


def in_html(trajectory: "RecordedMotion") -> str:
    """Return HTML of a trajectory in a notebook: a table of the run, and a picture of the last recorded pose."""
    from varint.drawing.thumbnail import thumbnail

    mechanism, settings = trajectory.mechanism, trajectory.settings
    tolerances = [f"{name} {settings[name]:g}" for name in ("tol", "rtol", "atol") if settings.get(name)]
    rows = [
        ("bodies", names_text(name for name in mechanism.body_index if name not in mechanism.rotors)),
        ("joints", names_text(name for name in mechanism.joint_index if name not in mechanism.rotors)),
        ("forces", names_text(name for name in mechanism.force_index if name not in mechanism.rotors)),
        ("method", method(settings)),
        ("step (dt)", f"{settings['dt']:g} s" if settings["dt"] else "chosen by the method"),
        ("duration asked for", f"{settings['duration']:g} s"),
        ("recorded", f"{len(trajectory)} nodes" if is_part(trajectory) else _recorded(trajectory)),
        ("tolerances", ", ".join(tolerances)),
        ("steps, sub-steps", f"{trajectory.steps}, {trajectory.substeps}"),
        ("Newton iterations", trajectory.newton_iterations),
        ("evaluations", getattr(trajectory, "evaluations", 0)),
        ("stepping took", f"{trajectory.wall_time:.3g} s"),
    ]
    vertices = [places[-1] for places in trajectory.vertices.values()]
    picture = thumbnail(mechanism, trajectory.position[-1], trajectory.quat_wxyz[-1], vertices)
    return html_table(("", ""), [row for row in rows if row[1]], text(trajectory)) + picture


def _recorded(trajectory: "RecordedMotion") -> str:
    every = trajectory.settings["every"]
    if trajectory.settings.get("output_times"):
        return f"{len(trajectory)} nodes, at output_times"
    return f"{len(trajectory)} nodes, " + ("each step" if every == 1 else f"every {every} steps")


def method(settings: dict) -> str:
    """Return the method that made a run, in a few words."""
    if "scheme" in settings:
        return f"order {settings['order']} ({settings['scheme']})"
    if "simulator" in settings:
        return f"{settings['integrator']}, another simulator"
    where = "an integrator of the user's"
    if "chart" in settings:
        where = "reduced coordinates"
    elif "order" in settings:
        where = "collocation"
    elif "stabilisation" in settings:
        where = f"maximal coordinates, stabilisation {settings['stabilisation'] or 'none'}"
    return f"{settings['integrator']}, {where}"


def without_attribute(trajectory: "RecordedMotion", name: str) -> str:
    """Return the message for an attribute that a trajectory does not have, with the nearest name."""
    names = [known for known in dir(type(trajectory)) if not known.startswith("_")]
    near = f", did you mean '{OTHER_NAMES[name]}'?" if name in OTHER_NAMES else ""
    near = near or ("" if name.startswith("_") else suggestion(name, names))
    return f"a {type(trajectory).__name__} has no attribute '{name}'{near}"
