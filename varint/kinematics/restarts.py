"""Warning for runs that start from a node of another run, if the method also depends on earlier steps."""

import warnings
from collections.abc import Mapping
from typing import Any

from varint.base.callers import level_of_user
from varint.base.errors import RestartWarning

ADAPTIVE = "adaptive steps"


def method_name(settings: Mapping[str, Any]) -> str:
    """Return the name of the stepping method in the ``settings`` of a run, as stored in `State.made_by`.

    ADAPTIVE if ``turn`` is set, "" if unknown. In reduced coordinates it is the name of the integrator.
    """
    if settings.get("turn") is not None:
        return ADAPTIVE
    return settings.get("integrator") or settings.get("scheme") or ""


def check_restart(state: object, method: str) -> None:
    """Warn (RestartWarning) if ``state`` is a node of a run with the same ``method``, see `method_name`.

    Call only for methods with memory: multistep, staggered or adaptive.
    """
    if method and getattr(state, "made_by", "") == method:
        warnings.warn(
            f"the initial state is a node of a run by {method if method == ADAPTIVE else repr(method)}, whose steps"
            " depend on earlier ones; the node does not store them. This run agrees with a continuation only to within"
            " the error of the method. To continue exactly use resume=True or Stepper.restore",
            RestartWarning,
            stacklevel=level_of_user(),
        )
