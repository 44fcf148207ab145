"""varint: variational integration of articulated rigid-body mechanisms in maximal coordinates.

What is public is imported when it is asked for: ``import varint`` alone takes a fraction of a second.
"""

import gc
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not Path(__file__).with_name("mechanisms").is_dir():  # in a checkout the mechanisms stand beside the package
    __path__.append(str(Path(__file__).parents[1]))
import varint.mechanisms as mechanisms

if TYPE_CHECKING:  # else imported when they are asked for, see PLACES
    from varint.base.errors import (
        ArgumentError,
        AssemblyError,
        ConvergenceError,
        DegreesWarning,
        EnsembleError,
        FailedMembersWarning,
        FileError,
        FormatWarning,
        KinkWarning,
        LeftOutWarning,
        LockedWarning,
        MechanismError,
        PeerError,
        ReplacedRateWarning,
        RestartWarning,
        SparseNodesWarning,
        StateError,
        TurnsWarning,
        UnresolvedError,
        UnresolvedWarning,
        VarintError,
    )
    from varint.extras.live.live_view import LiveView, live
    from varint.extras.peer_method import Peer
    from varint.extras.rivals.maximal import Maximal
    from varint.extras.stepper import Stepper
    from varint.files.own.mechanism_file import load_mechanism, save_mechanism
    from varint.mechanism.assembly_modes import AssemblyMode, AssemblyModes
    from varint.mechanism.mechanism import Mechanism
    from varint.mechanism.sweep import Sweep
    from varint.meshes.mesh_state import MeshState
    from varint.methods.reduced.method import Reduced
    from varint.methods.simulation import load, simulate
    from varint.methods.variational.lobatto import Lobatto
    from varint.methods.variational.method import Variational, choose_step
    from varint.methods.variational.step_choice import StepChoice
    from varint.model.beam import beam, cable
    from varint.model.body import Body
    from varint.model.collision_shapes import (
        BoxShape,
        CapsuleShape,
        ConvexMesh,
        CylinderShape,
        HeightField,
        HollowCylinderShape,
        HollowSphereShape,
        PlaneShape,
        SphereShape,
    )
    from varint.model.deformable import deformable_spring
    from varint.model.forces.commanded import extrapolated
    from varint.model.forces.path import At
    from varint.model.forces.soft_mesh import AttachedVertices
    from varint.model.forces.wrapped_path import Around, CylinderSurface, Pulley, SphereSurface
    from varint.model.import_report import ImportReport
    from varint.model.muscle_mass import straight_muscle_mass
    from varint.model.section import Section
    from varint.model.state import State
    from varint.results.beam_deflection import beam_deflection
    from varint.results.dynamics import accelerations, energy
    from varint.results.section_forces import section_forces
    from varint.runs.problem import Problem, Recording
    from varint.runs.trajectory import Trajectory
    from varint.studies.sliders import Controls, controls
    from varint.views.overlay import show

PACKAGES = ("bridges", "formulations", "gym", "plot", "redmax")
PLACES = {  # name to its module, but for forces and joints
    "ArgumentError": "base.errors",
    "AssemblyError": "base.errors",
    "ConvergenceError": "base.errors",
    "DegreesWarning": "base.errors",
    "EnsembleError": "base.errors",
    "FailedMembersWarning": "base.errors",
    "FileError": "base.errors",
    "FormatWarning": "base.errors",
    "KinkWarning": "base.errors",
    "LeftOutWarning": "base.errors",
    "LockedWarning": "base.errors",
    "MechanismError": "base.errors",
    "PeerError": "base.errors",
    "ReplacedRateWarning": "base.errors",
    "RestartWarning": "base.errors",
    "SparseNodesWarning": "base.errors",
    "TurnsWarning": "base.errors",
    "StateError": "base.errors",
    "UnresolvedError": "base.errors",
    "UnresolvedWarning": "base.errors",
    "VarintError": "base.errors",
    "AssemblyMode": "mechanism.assembly_modes",
    "AssemblyModes": "mechanism.assembly_modes",
    "At": "model.forces.path",
    "Around": "model.forces.wrapped_path",
    "AttachedVertices": "model.forces.soft_mesh",
    "Body": "model.body",
    "BoxShape": "model.collision_shapes",
    "CapsuleShape": "model.collision_shapes",
    "Controls": "studies.sliders",
    "ConvexMesh": "model.collision_shapes",
    "CylinderShape": "model.collision_shapes",
    "CylinderSurface": "model.forces.wrapped_path",
    "EquationsOfMotion": "methods.reduced.equations_of_motion",
    "Gradient": "derivatives",
    "HeightField": "model.collision_shapes",
    "HollowCylinderShape": "model.collision_shapes",
    "HollowSphereShape": "model.collision_shapes",
    "ImportReport": "model.import_report",
    "Linearizer": "derivatives.linear",
    "LiveView": "extras.live.live_view",
    "Lobatto": "methods.variational.lobatto",
    "Maximal": "extras.rivals.maximal",
    "Mechanism": "mechanism.mechanism",
    "MeshState": "meshes.mesh_state",
    "Peer": "extras.peer_method",
    "PlaneShape": "model.collision_shapes",
    "Problem": "runs.problem",
    "Pulley": "model.forces.wrapped_path",
    "Recording": "runs.problem",
    "Reduced": "methods.reduced.method",
    "Section": "model.section",
    "SphereShape": "model.collision_shapes",
    "SphereSurface": "model.forces.wrapped_path",
    "State": "model.state",
    "StateGradient": "derivatives",
    "StepChoice": "methods.variational.step_choice",
    "Stepper": "extras.stepper",
    "Sweep": "mechanism.sweep",
    "Trajectory": "runs.trajectory",
    "Variational": "methods.variational.method",
    "accelerations": "results.dynamics",
    "beam": "model.beam",
    "beam_deflection": "results.beam_deflection",
    "cable": "model.beam",
    "choose_step": "methods.variational.method",
    "compare": "studies.comparison",
    "compare_catalogue": "studies.comparison",
    "controls": "studies.sliders",
    "crossings": "studies.crossings",
    "deformable_spring": "model.deformable",
    "efforts_of_motion": "derivatives.linear",
    "energy": "results.dynamics",
    "energy_trend": "studies.trend",
    "ensemble": "studies.ensembles",
    "equilibrium": "derivatives.linear",
    "extrapolated": "model.forces.commanded",
    "gradient": "derivatives",
    "holding": "derivatives.linear",
    "inverse_dynamics": "derivatives.linear",
    "linearize": "derivatives.linear",
    "live": "extras.live.live_view",
    "load": "methods.simulation",
    "load_ensemble": "studies.ensembles",
    "load_mechanism": "files.own.mechanism_file",
    "lqr": "derivatives.linear",
    "lyapunov_exponent": "studies.lyapunov",
    "lyapunov_spectrum": "studies.lyapunov_spectrum",
    "modes": "derivatives.linear",
    "moment_arms": "derivatives.linear",
    "order_study": "studies.order_study",
    "periodic_orbit": "derivatives.linear",
    "phase_portrait": "studies.phase",
    "poincare_section": "studies.poincare",
    "power_spectrum": "studies.spectrum",
    "random_draws": "studies.ensembles",
    "save_mechanism": "files.own.mechanism_file",
    "section_forces": "results.section_forces",
    "show": "views.overlay",
    "simulate": "methods.simulation",
    "static_optimization": "studies.static_optimization",
    "step_matrix": "derivatives.linear",
    "straight_muscle_mass": "model.muscle_mass",
    "time_reversal": "studies.reversal",
}
REGISTRIES = ("model.joints", "model.forces")  # every joint and every force, see there

importlib.import_module("varint.base.checks")  # which the catalogue uses


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "__all__":
        return [
            "mechanisms",
            *PLACES,
            *(each for each in _registered() if not each.isupper()),
        ]  # registries are not for users
    if name in PACKAGES:
        return _imported(name)
    if name in PLACES:
        value = getattr(_imported(PLACES[name]), name)
    elif not name.startswith("_") and name in (registered := _registered()):
        value = registered[name]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _imported(place: str) -> Any:
    """Import a module of the package.

    Without a search for garbage, of which there is none among all that is made then: that would take a seventh of it.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(f"varint.{place}")
    finally:
        if collects:
            gc.enable()


def _registered() -> dict[str, Any]:
    """Return joints and forces by name, and their registries."""
    modules = [_imported(place) for place in REGISTRIES]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__", *PACKAGES])


def _version() -> str:
    """Return the version of the checkout that this is, if it is one, or of the installed package."""
    import importlib.metadata
    import tomllib

    from varint.base.distribution import DISTRIBUTION

    project = Path(__file__).parents[1] / "pyproject.toml"
    table = tomllib.loads(project.read_text()).get("project", {}) if project.is_file() else {}
    return table["version"] if table.get("name") == DISTRIBUTION else importlib.metadata.version(DISTRIBUTION)
