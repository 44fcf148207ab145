"""Contract of integrators in reduced coordinates."""

import math
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from varint.methods.reduced.contact_solvers import CONES
from varint.methods.reduced.contacts import Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.selection import ReducedEvents

REGISTRY: dict[str, type["Integrator"]] = {}
KindOfIntegrator = TypeVar("KindOfIntegrator", bound="Integrator")


def register(cls: type[KindOfIntegrator]) -> type[KindOfIntegrator]:
    """Add an integrator to the registry, under its name, and return it: a class decorator."""
    REGISTRY[cls.name] = cls
    return cls


class Task(NamedTuple):
    """end : s; dt : size of steps without error control, s, or None; rtol, atol : of steps with it.

    stages : their number, where it can be chosen; tol : largest change of the rates in the last iteration of a step,
    m/s, rad/s, where that can be chosen; contact_solver : its name, where contacts are solved in whole steps;
    vertices : (2, n, 3) places and velocities of all at the start, else in equilibrium.
    """

    end: float
    dt: float | None
    rtol: float
    atol: float
    stages: int = 0
    tol: float = 0.0
    contact_solver: str = CONES
    vertices: np.ndarray | None = None


class Integrator:
    """Marches ``equations`` step by step from q, qdot (nq,) at t = 0.

    Facts, of the class: its ``name``; its ``order``; ``what``, its description; ``fixed``, whether it takes steps of
    ``dt`` and has no error control; ``remembers``, whether its steps of ``dt`` depend on those before; ``stiff``,
    whether stiff forces allow long steps; ``contacts``, whether it knows joint friction and hard contacts, and solves
    hard stops with them in whole steps; ``locates``, whether it locates the events of hard contacts within its steps;
    ``trees_only``, whether it refuses loops, couplings, prescribed motions and hard stops; ``differentiates``, whether
    its iteration takes derivatives of the equations, which masses along paths lack; ``stage_counts``, default and
    largest number of stages, zero where it cannot be chosen; ``tol``, default of the tolerance of its iteration, zero
    where that cannot be chosen; ``default``, whether it is the default; ``stable``, the largest c dt / m of a damper c
    on an inertia m at which its steps do not amplify motions.

    Attributes
    ----------
    t : float
        s
    y : (n,) q, qdot, the work of each element, J, the states of laws, and sums of impulses
    steps : int
    failure : str or None
    touching : Contacts or None
        Solved in whole steps.
    events : ReducedEvents or None
        Located within steps.
    """

    name: ClassVar[str]
    order: int
    what: ClassVar[str]
    fixed: ClassVar[bool] = False
    remembers: ClassVar[bool] = False
    stiff: ClassVar[bool] = False
    contacts: ClassVar[bool] = False
    locates: ClassVar[bool] = False
    trees_only: ClassVar[bool] = False
    differentiates: ClassVar[bool] = False
    stage_counts: ClassVar[tuple[int, int]] = (0, 0)
    tol: ClassVar[float] = 0.0
    default: ClassVar[bool] = False
    stable: ClassVar[float] = math.inf

    t: float
    y: np.ndarray
    steps: int
    failure: str | None
    touching: Contacts | None = None
    events: ReducedEvents | None = None

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        self.equations, self.task, self.steps, self.failure = equations, task, 0, None

    @property
    def evaluations(self) -> int:
        """Evaluations of the accelerations, or Newton iterations."""
        raise NotImplementedError

    @property
    def newton_iterations(self) -> int:
        """Zero where they are not counted."""
        return 0

    @classmethod
    def factor(cls, task: Task, z: np.ndarray) -> np.ndarray:
        """Return the factors (n,) of momenta along dampers in a step, for ``z`` (n,) = c dt / m; 0 if it ends them."""
        return np.zeros_like(z)

    @classmethod
    def check(cls, equations: Equations, task: Task) -> None:
        """Raise ArgumentError if the integrator does not support a part of the equations, or cannot do its task."""

    def step(self) -> None:
        """Make one step, or set ``failure`` to the reason why not; the charts stay as they were at its start."""
        raise NotImplementedError

    def march(self, steps: int, stop: float) -> None:
        """March up to ``steps`` steps, at least one, by `step` and `settle`, the last without `settle`.

        The last is the one that reaches ``stop``, s, that may be followed by the last of the run, see `ends`, or after
        which `settle` has something to do; or an earlier one.
        """
        self.step()

    def settle(self) -> None:
        """Make ready for the next step: charts, turns, loops."""

    def states(self, times: np.ndarray) -> np.ndarray:
        """Return y (T, n) at ``times`` (T,) within the last step, before `settle`."""
        raise NotImplementedError

    def vertices(self) -> dict[str, np.ndarray]:
        """Return places and velocities (n, 3) of all vertices of deformable bodies by the names of their records.

        The bodies are at their present poses. Also "lost" (meshes,), J: dissipated by damping since the start.
        """
        return {}

    def ends(self) -> bool:
        """Return whether the next step may be another one than in a run that goes on longer."""
        return False

    def memory(self) -> dict[str, np.ndarray]:
        """Return the memory of future steps, but for the equations: arrays of fixed shapes."""
        raise NotImplementedError

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Go back to a `memory`."""
        raise NotImplementedError
