"""The facts that the bits of a run depend on beside its arguments, as its file records them.

`MADE_WITH` is a setting of every run: name to text. `RESUMED_WITH` is one of a run that went on with something else: a
list of the same, each with the time ``t`` from which on it holds, s.
"""

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.base.errors import FileError
from varint.base.numba.digests import VERSIONS
from varint.base.numba.shipped import cpu_class

MADE_WITH, RESUMED_WITH, MEMBER = "made_with", "resumed_with", "member"
ANY = "any"  # in place of resume=True
NAMES = {  # of the entries, in messages
    "varint": "version of varint",
    "numba": "version of numba",
    "processor": "class of processor",
    "scheme": "set of scheme coefficients",
}


@functools.cache
def _installed() -> dict[str, str]:
    import varint  # its version, which is read when asked for

    return {"varint": varint.__version__, "numba": VERSIONS["numba"], "processor": cpu_class()}


def made_with(coefficients: np.ndarray | None) -> dict[str, str]:
    """Return the versions and the processor of this process, and a digest of the ``coefficients`` of a scheme."""
    if coefficients is None:
        return dict(_installed())
    return _installed() | {"scheme": hashlib.sha256(np.asarray(coefficients, dtype="<f8").tobytes()).hexdigest()[:16]}


def last_made_with(settings: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Return the record of the software that wrote the last nodes of a run; None if there is no record."""
    resumed = settings.get(RESUMED_WITH)
    return resumed[-1] if resumed else settings.get(MADE_WITH)


def other(settings: Mapping[str, Any], here: Mapping[str, str]) -> str:
    """Return in words the software that wrote the last nodes of a run and differs from ``here``; "" if all is equal."""
    there = last_made_with(settings)
    if there is None:
        return "it is not known which version wrote it"
    unlike = [name for name in NAMES if there.get(name) != here.get(name)]
    return ", ".join(f"another {NAMES[name]} wrote it, {there.get(name)}, here is {here.get(name)}" for name in unlike)


def check_resumable(settings: Mapping[str, Any], here: Mapping[str, str], resume: bool | str, name: object) -> None:
    """Raise FileError if a run would continue with other bits than an uninterrupted one.

    resume : True or "any", which lets it go on
    name : of the file, in the message
    """
    why = other(settings, here)
    if why and resume != ANY:
        where = "" if last_made_with(settings) is None else " Go on where that is the same;"
        raise FileError(
            f"the run in '{name}' may not go on to the same bits: {why}.{where} resume='any' goes on nevertheless, and"
            " the run then records it; overwrite=True begins anew"
        )


def resumed_settings(old: Mapping[str, Any], new: Mapping[str, Any], time: float) -> dict[str, Any]:
    """Return the settings of a run that continues at ``time``, s: the ``new`` ones, with a record of its parts."""
    here = new[MADE_WITH]
    records = {name: old[name] for name in (MADE_WITH, RESUMED_WITH) if name in old}
    if other(old, here):
        records[RESUMED_WITH] = [*old.get(RESUMED_WITH, []), {"t": time, **here}]
    return {name: value for name, value in new.items() if name != MADE_WITH} | records


def check_entries(settings: Mapping[str, Any]) -> None:
    """Raise ValueError where the entries of a file are not as they were written."""
    resumed = settings.get(RESUMED_WITH, [])
    if not isinstance(resumed, list):
        raise ValueError(f"its setting '{RESUMED_WITH}' is no list")
    for entry in [settings.get(MADE_WITH, {}), *resumed]:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(name, ""), str) for name in NAMES):
            raise ValueError("its settings do not record with what it was made")
    if not all(type(entry.get("t")) in (int, float) for entry in resumed):
        raise ValueError(f"its setting '{RESUMED_WITH}' has no times")
