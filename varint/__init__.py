"""varint: variational integration of articulated rigid-body mechanisms in maximal coordinates.

What is public is imported when it is asked for: ``import varint`` alone takes a fraction of a second.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not Path(__file__).with_name("mechanisms").is_dir():  # in a checkout the mechanisms stand beside the package
    __path__.append(str(Path(__file__).parents[1]))
import varint.mechanisms as mechanisms

if TYPE_CHECKING:  # else imported when they are asked for, see PLACES
    from varint.analysis.beam_deflection import beam_deflection
    from varint.analysis.dynamics import accelerations, energy
    from varint.analysis.section_forces import section_forces
    from varint.configurations.assembly_modes import AssemblyMode, AssemblyModes
    from varint.configurations.sweep import Sweep
    from varint.errors import (
        ArgumentError,
        AssemblyError,
        ConvergenceError,
        DegreesWarning,
        EnsembleError,
        FailedMembersWarning,
        FileError,
        LockedWarning,
        MechanismError,
        PeerError,
        SparseNodesWarning,
        StateError,
        UnresolvedError,
        UnresolvedWarning,
        VarintError,
    )
    from varint.formulations.kkt import Maximal
    from varint.formulations.lobatto import Lobatto
    from varint.formulations.maximal import Variational, choose_step
    from varint.formulations.peer import Peer
    from varint.formulations.reduced import Reduced
    from varint.formulations.step_choice import StepChoice
    from varint.io.mechanism_file import load_mechanism, save_mechanism
    from varint.mechanism import Mechanism
    from varint.meshes.mesh_state import MeshState
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
    from varint.problem import Problem, Recording
    from varint.serving.live_view import LiveView, live
    from varint.simulation import load, simulate
    from varint.sliders import Controls, controls
    from varint.stepper import Stepper
    from varint.trajectory import Trajectory
    from varint.viz.overlay import show

PACKAGES = ("bridges", "gym", "plot", "redmax")
PLACES = {  # name to its module, but for forces and joints
    "ArgumentError": "errors",
    "AssemblyError": "errors",
    "ConvergenceError": "errors",
    "DegreesWarning": "errors",
    "EnsembleError": "errors",
    "FailedMembersWarning": "errors",
    "FileError": "errors",
    "LockedWarning": "errors",
    "MechanismError": "errors",
    "PeerError": "errors",
    "SparseNodesWarning": "errors",
    "StateError": "errors",
    "UnresolvedError": "errors",
    "UnresolvedWarning": "errors",
    "VarintError": "errors",
    "AssemblyMode": "configurations.assembly_modes",
    "AssemblyModes": "configurations.assembly_modes",
    "At": "model.forces.path",
    "Around": "model.forces.wrapped_path",
    "AttachedVertices": "model.forces.soft_mesh",
    "Body": "model.body",
    "BoxShape": "model.collision_shapes",
    "CapsuleShape": "model.collision_shapes",
    "Controls": "sliders",
    "ConvexMesh": "model.collision_shapes",
    "CylinderShape": "model.collision_shapes",
    "CylinderSurface": "model.forces.wrapped_path",
    "EquationsOfMotion": "redmax.equations_of_motion",
    "Gradient": "gradients",
    "HeightField": "model.collision_shapes",
    "HollowCylinderShape": "model.collision_shapes",
    "HollowSphereShape": "model.collision_shapes",
    "ImportReport": "model.import_report",
    "Linearizer": "linear",
    "LiveView": "serving.live_view",
    "Lobatto": "formulations.lobatto",
    "Maximal": "formulations.kkt",
    "Mechanism": "mechanism",
    "MeshState": "meshes.mesh_state",
    "Peer": "formulations.peer",
    "PlaneShape": "model.collision_shapes",
    "Problem": "problem",
    "Pulley": "model.forces.wrapped_path",
    "Recording": "problem",
    "Reduced": "formulations.reduced",
    "Section": "model.section",
    "SphereShape": "model.collision_shapes",
    "SphereSurface": "model.forces.wrapped_path",
    "State": "model.state",
    "StateGradient": "gradients",
    "StepChoice": "formulations.step_choice",
    "Stepper": "stepper",
    "Sweep": "configurations.sweep",
    "Trajectory": "trajectory",
    "Variational": "formulations.maximal",
    "accelerations": "analysis.dynamics",
    "beam": "model.beam",
    "beam_deflection": "analysis.beam_deflection",
    "cable": "model.beam",
    "choose_step": "formulations.maximal",
    "compare": "comparison",
    "compare_catalogue": "comparison",
    "controls": "sliders",
    "crossings": "studies.crossings",
    "deformable_spring": "model.deformable",
    "efforts_of_motion": "linear",
    "energy": "analysis.dynamics",
    "energy_trend": "studies.trend",
    "ensemble": "ensembles",
    "equilibrium": "linear",
    "extrapolated": "model.forces.commanded",
    "gradient": "gradients",
    "inverse_dynamics": "linear",
    "linearize": "linear",
    "live": "serving.live_view",
    "load": "simulation",
    "load_ensemble": "ensembles",
    "load_mechanism": "io.mechanism_file",
    "lqr": "linear",
    "lyapunov_exponent": "studies.lyapunov",
    "lyapunov_spectrum": "studies.lyapunov_spectrum",
    "modes": "linear",
    "moment_arms": "linear",
    "order_study": "studies.order_study",
    "periodic_orbit": "linear",
    "phase_portrait": "studies.phase",
    "poincare_section": "studies.poincare",
    "power_spectrum": "studies.spectrum",
    "random_draws": "ensembles",
    "save_mechanism": "io.mechanism_file",
    "section_forces": "analysis.section_forces",
    "show": "viz.overlay",
    "simulate": "simulation",
    "static_optimization": "studies.static_optimization",
    "step_matrix": "linear",
    "straight_muscle_mass": "model.muscle_mass",
    "time_reversal": "studies.reversal",
}
REGISTRIES = ("model.joints", "model.forces")  # every joint and every force, see there

importlib.import_module("varint.model.checks")  # which the catalogue uses


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
        return importlib.import_module(f"varint.{name}")
    if name in PLACES:
        found = getattr(importlib.import_module(f"varint.{PLACES[name]}"), name)
    elif not name.startswith("_") and name in (registered := _registered()):
        found = registered[name]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def _registered() -> dict[str, Any]:
    """Joints and forces by name, and their registries."""
    modules = [importlib.import_module(f"varint.{place}") for place in REGISTRIES]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__", *PACKAGES])


def _version() -> str:
    """Version of the checkout that this is, whatever is installed beside it, or of the installed package."""
    import importlib.metadata
    import tomllib

    project = Path(__file__).parents[1] / "pyproject.toml"
    found = tomllib.loads(project.read_text()).get("project", {}) if project.is_file() else {}
    return found["version"] if found.get("name") == __name__ else importlib.metadata.version(__name__)
