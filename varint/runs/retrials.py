"""Short runs that test the advice of warnings: whether finer steps resolve what the steps of a run did not."""

from collections.abc import Callable

import numpy as np

from varint.base.errors import ConvergenceError, VarintError
from varint.model.forces.commanded import Commanded
from varint.model.forces.driven import Driven
from varint.model.forces.moved import Moved
from varint.results.resolution import Trial
from varint.runs.method import Method, method_class, solve
from varint.runs.problem import Problem
from varint.runs.trajectory import Trajectory

BEFORE, AFTER = 8, 3  # nodes before and after the one that was not resolved
MOST = 20_000  # steps of a short run
OF_STEPS = ("order", "scheme", "closures", "tol")  # settings of a run that a short one shares
OF_TOLERANCES = ("integrator", "atol", "baumgarte", "chart")
VARIED = {"scheme": ("dt", OF_STEPS), "rtol": ("rtol", OF_TOLERANCES)}  # by a setting that only such a run has


def trial_of(trajectory: Trajectory) -> Trial | None:
    """Return a function that tries other steps, s, or another tolerance on a run; None where no warning proposes any.

    It returns a function of a time, s: whether a short run from some nodes before it resolves the motion; None where
    such a run would be another motion, as loads, inputs or prescribed motions depend on the time, or too long.
    """
    settings = trajectory.settings
    which = next((values for key, values in VARIED.items() if key in settings), None)
    if which is None or settings.get("turn") is not None or settings.get("prescribed"):
        return None
    varied, names = which
    fixed = {name: settings[name] for name in names} | ({"on_unresolved": "ignore"} if varied == "dt" else {})

    def trial(value: float) -> Callable[[float], bool | None]:
        method = method_class(settings["formulation"])(**{varied: value}, **fixed)
        return lambda time: _resolved(trajectory, method, value if varied == "dt" else 0.0, time)

    return trial


def _resolved(trajectory: Trajectory, method: Method, step: float, time: float) -> bool | None:
    """Return whether ``method`` resolves the motion around ``time``, s, see `trial_of`; ``step``: its steps, s."""
    node = int(np.searchsorted(trajectory.t, time))
    first, last = max(0, node - BEFORE), min(len(trajectory) - 1, node + AFTER)
    duration = float(trajectory.t[last] - trajectory.t[first])
    if first == last or duration > MOST * step > 0.0 or _depends_on_time(trajectory):
        return None
    problem = Problem(trajectory.mechanism, duration, trajectory[first])
    try:
        return not solve(problem, method).unresolved.size
    except ConvergenceError:
        return False
    except VarintError:  # a node that no run starts from
        return None


def _depends_on_time(trajectory: Trajectory) -> bool:
    """Return whether loads, inputs or prescribed motions of a run depend on the time, or may."""
    load = trajectory.record.load
    if load is None or np.any(load):
        return True
    for force in trajectory.mechanism.forces:
        if isinstance(force, Moved | Driven):
            return True
        if isinstance(force, Commanded) and not (isinstance(force.input, np.ndarray) and force.input.ndim == 0):
            return True
    return False
