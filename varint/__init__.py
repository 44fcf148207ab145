"""varint: variational integration of articulated rigid-body mechanisms in maximal coordinates."""

import importlib
import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import varint.mechanisms as mechanisms
from varint.analysis.dynamics import accelerations, energy
from varint.analysis.trajectory import Trajectory
from varint.errors import (
    ArgumentError,
    AssemblyError,
    ConvergenceError,
    EnsembleError,
    FailedMembersWarning,
    FileError,
    MechanismError,
    StateError,
    UnresolvedError,
    UnresolvedWarning,
    VarintError,
)
from varint.io.mechanism_file import load_mechanism, save_mechanism
from varint.kinematics.sweep import Sweep
from varint.mechanism import Mechanism
from varint.model.body import Body
from varint.model.deformable import deformable_spring
from varint.model.forces import *  # noqa: F403  and every force
from varint.model.forces import __all__ as _forces
from varint.model.forces.commanded import extrapolated
from varint.model.import_report import ImportReport
from varint.model.joints import *  # noqa: F403  every joint in the registry, see there
from varint.model.joints import __all__ as _joints
from varint.model.state import State
from varint.simulation import load, simulate
from varint.step_choice import StepChoice, choose_step

__all__ = [
    "ArgumentError",
    "AssemblyError",
    "Body",
    "ConvergenceError",
    "EnsembleError",
    "FailedMembersWarning",
    "FileError",
    "Gradient",  # noqa: F405
    "ImportReport",
    "Linearizer",  # noqa: F405
    "Mechanism",
    "MechanismError",
    "State",
    "StateError",
    "StateGradient",  # noqa: F405
    "StepChoice",
    "Sweep",
    "Trajectory",
    "UnresolvedError",
    "UnresolvedWarning",
    "VarintError",
    "accelerations",
    "choose_step",
    "compare",  # noqa: F405  see __getattr__
    "compare_catalogue",  # noqa: F405  see __getattr__
    "crossings",  # noqa: F405
    "deformable_spring",
    "energy",
    "ensemble",  # noqa: F405
    "equilibrium",  # noqa: F405
    "gradient",  # noqa: F405
    "energy_trend",  # noqa: F405
    "extrapolated",
    "inverse_dynamics",  # noqa: F405
    "linearize",  # noqa: F405
    "load",
    "load_ensemble",  # noqa: F405
    "load_mechanism",
    "lqr",  # noqa: F405
    "lyapunov_exponent",  # noqa: F405
    "lyapunov_spectrum",  # noqa: F405
    "mechanisms",
    "modes",  # noqa: F405
    "random_draws",  # noqa: F405
    "order_study",  # noqa: F405
    "periodic_orbit",  # noqa: F405
    "phase_portrait",  # noqa: F405
    "poincare_section",  # noqa: F405
    "power_spectrum",  # noqa: F405
    "save_mechanism",
    "simulate",
    "time_reversal",  # noqa: F405
    *(name for name in (*_forces, *_joints) if not name.isupper()),  # the registries are not for users
]

LINEAR = (  # imported when asked for
    "Linearizer",
    "equilibrium",
    "inverse_dynamics",
    "linearize",
    "lqr",
    "modes",
    "periodic_orbit",
)
PACKAGES = ("bridges", "redmax")  # imported when asked for
STUDIES = {  # function to its module: imported when asked for
    "crossings": "crossings",
    "energy_trend": "trend",
    "lyapunov_exponent": "lyapunov",
    "lyapunov_spectrum": "lyapunov_spectrum",
    "order_study": "order",
    "phase_portrait": "phase",
    "poincare_section": "poincare",
    "power_spectrum": "spectrum",
    "time_reversal": "reversal",
}


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return importlib.import_module(f"varint.{name}")
    if name in ("compare", "compare_catalogue"):
        return getattr(importlib.import_module("varint.comparison"), name)
    if name in ("Gradient", "StateGradient", "gradient"):
        return getattr(importlib.import_module("varint.gradients"), name)
    if name in LINEAR:
        return getattr(importlib.import_module("varint.linear"), name)
    if name in ("ensemble", "load_ensemble", "random_draws"):
        return getattr(importlib.import_module("varint.ensembles"), name)
    if name in STUDIES:
        return getattr(importlib.import_module(f"varint.studies.{STUDIES[name]}"), name)
    if name == "__version__":
        return _version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", *PACKAGES])


def _version() -> str:
    """Of the checkout that this is, whatever is installed beside it, or of the installed package."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    found = tomllib.loads(project.read_text()).get("project", {}) if project.is_file() else {}
    return found["version"] if found.get("name") == __name__ else importlib.metadata.version(__name__)
