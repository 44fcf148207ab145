"""`Method`: the contract of a formulation, the registry of them, and `solve`, which runs any of them."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from varint.base.checks import WrongArguments, checked_call, known_name, of_type, suggestion
from varint.base.display import Shown
from varint.base.errors import ArgumentError
from varint.files.runs.made_with import MADE_WITH, made_with
from varint.model.known_forces import Use
from varint.results.record import Record
from varint.results.recorded_motion import RecordedMotion
from varint.runs.diagnosing import diagnosed
from varint.runs.problem import Problem, Recording
from varint.runs.run import Run
from varint.runs.running import Job, answer, carry_out
from varint.runs.trajectory import Trajectory

AUTO = "auto"  # a step that the method chooses
PLACES = {  # formulation to the module that registers it, which is imported when its name is asked for
    "maximal": "methods.variational.method",
    "reduced": "methods.reduced.method",
    "kkt": "extras.rivals.maximal",
    "peer": "extras.peer_method",
    "lobatto": "methods.variational.lobatto",
}
REGISTERED: dict[str, type["Method"]] = {}  # by formulation
KindOfMethod = TypeVar("KindOfMethod", bound="Method")


@dataclass(frozen=True, eq=False)
class Method(Shown, ABC):
    """A method that simulates a `Problem`: a frozen dataclass whose fields are the arguments of the method.

    One of them is ``dt``, the step, s, or None where the method chooses its steps.

    Attributes
    ----------
    formulation : str
        Its name in records, in files, in ``ensemble(formulation=)`` and on the command line.
    called, option : str
        Its names in Python and on the command line, for error messages.
    """

    formulation: ClassVar[str]
    called: ClassVar[str]
    option: ClassVar[str] = "--method"
    gradient_in: ClassVar[str] = ""  # module of the `gradient` of its runs, if not varint.derivatives
    resumable: ClassVar[bool] = True  # whether a run can go on from its file to the same bits

    @abstractmethod
    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """Return the run in its initial state, and the job with its settings and recording.

        Raises ArgumentError, StateError, FileError.
        """

    def with_step(self, problem: Problem) -> "Method":
        """Return this method with a number for ``dt``. Raises ArgumentError where it chooses the steps of its nodes."""
        if vars(self)["dt"] is None:
            raise ArgumentError(f"'{self.title}' needs dt=, the step or the spacing of its nodes in s")
        return self

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        return self.formulation

    def takes(self, name: str) -> bool:
        """Return whether the argument ``name`` may have a value, given the others."""
        return name in self.arguments()

    @property
    def use(self) -> Use:
        """Return the `Use` that lists the traits of forces that this method does not support; empty by default."""
        return Use(self.title, f"methods '{self.formulation}'")

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """Warn, or raise UnresolvedError, where steps did not resolve the motion; the default does nothing."""

    @staticmethod
    def trajectory(record: Record) -> Trajectory:
        """Return the trajectory of a record of this formulation. Raises ValueError for an unusable record."""
        return Trajectory(record)

    @staticmethod
    def part(record: Record, **since: Any) -> Trajectory:
        """Return the trajectory of some nodes, unchecked; ``since``: see `Trajectory`."""
        return Trajectory(record, **since)

    def refined(self, dt: np.ndarray) -> tuple[str, np.ndarray]:
        """Return (name, values) of the argument that a comparison varies; ``dt`` (K,): step sizes, s, descending."""
        return "dt", dt

    @classmethod
    def arguments(cls) -> list[str]:
        """Return the names of the arguments."""
        return [field.name for field in fields(cls)]

    @classmethod
    def integrators(cls) -> tuple[str, ...]:
        """Return the names by which comparisons and the command choose among its integrators; by default empty."""
        return ()

    @classmethod
    def needs_step(cls) -> bool:
        """Return whether the default of ``dt`` is other than None: each run has a step, or "auto"."""
        return next(field.default for field in fields(cls) if field.name == "dt") is not None

    def given(self) -> dict[str, Any]:
        """Return the arguments that differ from their defaults, by name."""
        values: dict[str, tuple[Any, Any]] = {
            each.name: (getattr(self, each.name), each.default) for each in fields(self)
        }
        return {name: value for name, (value, default) in values.items() if not np.array_equal(value, default)}


def register(cls: type[KindOfMethod]) -> type[KindOfMethod]:
    """Make a method known by the name of its formulation; one that is known by it already stays as it is."""
    if REGISTERED.get(cls.formulation) is not cls:
        REGISTERED[cls.formulation] = checked_call(cls)
    return cls


def names() -> list[str]:
    """Return the names of all formulations, of this package and registered from outside."""
    return [*PLACES, *registered()]


def registered() -> list[str]:
    """Return the names of the formulations that are registered outside this package."""
    return [name for name in REGISTERED if name not in PLACES]


def is_of_user(trajectory: RecordedMotion) -> bool:
    """Return whether a method outside this package made the run."""
    return trajectory.settings["formulation"] not in PLACES


def method_class(formulation: str) -> type[Method]:
    """Return the method of that formulation. Raises ArgumentError for an unknown formulation."""
    known_name(formulation, names(), "there is no formulation", ArgumentError)
    if formulation not in REGISTERED:
        importlib.import_module(f"varint.{PLACES[formulation]}")
    return REGISTERED[formulation]


def methods_by_integrator() -> dict[str, type[Method]]:
    """Return the method that each named integrator belongs to, by the name; see `Method.integrators`."""
    return {name: cls for cls in map(method_class, names()) for name in cls.integrators()}


def solve(
    problem: Problem, method: Method, recording: Recording | None = None, noted: Mapping[str, Any] | None = None
) -> Trajectory:
    """Simulate ``problem`` by ``method``; steps that do not resolve the motion are not reported here.

    ``noted``: further entries of the settings, JSON-ready, which `varint.files.runs.contents.MAY_DIFFER` has to list.

    Raises ArgumentError, StateError, FileError before the first step; ConvergenceError, which carries the trajectory
    so far, where a step could not be solved.
    """
    of_type(problem, Problem, "problem", ArgumentError)
    of_type(method, Method, "method", ArgumentError)
    recording = Recording() if recording is None else of_type(recording, Recording, "recording", ArgumentError)
    if recording.resume and not method.resumable:
        raise ArgumentError(
            f"'{method.title}' cannot resume: its steps may depend on data outside a State, such as turns of angles;"
            " overwrite=True restarts the run"
        )
    recording.check_place(method.resumable)
    run, job = method.prepare(problem, recording)
    settings = job.settings | {MADE_WITH: made_with(job.coefficients), **(noted or {})}
    job = replace(job, settings=settings)
    record = carry_out(diagnosed(run, job, method.part), job, problem.state)
    return answer(method.trajectory(record), run.failure)


def trajectory_of(record: Record) -> Trajectory:
    """Return the trajectory of a record, a `ReducedTrajectory` where the run was reduced.

    Raises ValueError for an unusable record.
    """
    formulation = record.settings["formulation"]
    return method_class(formulation).trajectory(record) if formulation in names() else Trajectory(record)


def refuse_unknown(arguments: Iterable[str], known: Iterable[str]) -> None:
    """Raise WrongArguments for the first name in ``arguments`` that is not ``known``, and suggest the closest."""
    for name in arguments:
        owners = [method_class(each).called for each in names() if name in method_class(each).arguments()]
        where = suggestion(name, known) or (f": it belongs to {' and '.join(owners)}" if owners else "")
        raise WrongArguments(f"there is no argument {name!r} here{where}")
