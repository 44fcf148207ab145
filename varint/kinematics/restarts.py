"""Nodes of runs from which others start: whether a node is all that the steps to come depend on."""

import warnings
from collections.abc import Mapping
from typing import Any

from varint.base.callers import level_of_user
from varint.base.errors import RestartWarning

ADAPTIVE = "adaptive steps"


def name_of_steps(settings: Mapping[str, Any]) -> str:
    """Return a name of the steps of a run with these settings, by which `check_restart` knows them again."""
    if settings.get("turn") is not None:
        return ADAPTIVE
    return settings.get("integrator") or settings.get("scheme") or ""


def check_restart(state: object, steps: str) -> None:
    """Give a RestartWarning where a run by ``steps`` with a memory starts from a node of such a run."""
    if getattr(state, "made_by", "") == steps:
        warnings.warn(
            f"the run starts from a node of a run by {steps if steps == ADAPTIVE else repr(steps)}, whose steps depend"
            " on those before: a node is not all, and this run goes on within the errors of the method, not as that one"
            " would. resume=True, and Stepper.restore, go on with all of it",
            RestartWarning,
            stacklevel=level_of_user(),
        )
