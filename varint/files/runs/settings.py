"""Settings of a run in its file, checked."""

import math

from varint.base.checks import shown
from varint.files.runs.made_with import check_entries

MOST_STEPS = 2**53  # of a run


def checked_settings(settings: dict) -> dict:
    """Return the settings of a run; raise ValueError, KeyError where one that readers use is wrong."""
    number = int | float
    wanted: dict = {"formulation": str, "duration": number, "dt": number | None, "every": int, "steps": int}
    wanted |= {name: kind for name, kind in (("scheme", str), ("integrator", str), ("order", int)) if name in settings}
    if "scheme" not in settings and "integrator" not in settings:
        raise ValueError("its settings name no method")
    for name, kind in wanted.items():
        if not isinstance(settings[name], kind) or isinstance(settings[name], bool):
            raise ValueError(f"its setting '{name}' is {shown(settings[name])}")
    wrong = [name for name, least in (("every", 1), ("steps", 0)) if not least <= settings[name] <= MOST_STEPS]
    lengths = {name: settings[name] for name in ("duration", "dt") if settings[name] is not None}
    wrong += [name for name, value in lengths.items() if not (math.isfinite(value) and value > 0.0)]
    if wrong:
        raise ValueError(f"its setting '{wrong[0]}' is {shown(settings[wrong[0]])}")
    chosen = settings.get("chosen", {"energy_error": 0.0})
    if not isinstance(chosen, dict) or not isinstance(chosen["energy_error"], number):
        raise ValueError(f"its setting 'chosen' is {chosen!r}")
    stride = settings.get("diagnostics_every")
    if stride is not None and (type(stride) is not int or stride < 1 or settings["every"] % stride):
        raise ValueError(f"its setting 'diagnostics_every' is {stride!r}")
    times = settings.get("output_times")
    if times is not None and (type(times) is not int or times < 1):
        raise ValueError(f"its setting 'output_times' is {times!r}")
    check_entries(settings)
    return settings
