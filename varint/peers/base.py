"""`Simulator`: the contract of another simulator that runs a mechanism in a model of its own, and their registry."""

import importlib
import importlib.metadata
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from varint.errors import PeerError
from varint.io.robot_kinds import JointStop
from varint.mechanism import Mechanism
from varint.model.checks import choice, known_name
from varint.model.state import State

HERE = ("mujoco", "pinocchio", "drake", "exudyn")  # the files of this folder, each registers a simulator of its name
REGISTERED: dict[str, type["Simulator"]] = {}  # by name
SHOWN = 8  # refused parts in an error
KindOfSimulator = TypeVar("KindOfSimulator", bound="Simulator")


class BodyMotion(NamedTuple):
    """BodyMotion of nb bodies at n nodes.

    position : (n, nb, 3) centres of mass, m, world
    rotation : (n, nb, 3, 3) from axes of the body to the world
    velocity : (n, nb, 3) of the centres of mass, m/s, world
    angular_velocity : (n, nb, 3) rad/s, axes of the body
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray


class Simulator(ABC):
    """A mechanism as a model of another simulator, which steps it.

    A subclass is registered by `register` under its ``name``, and imports the simulator in its methods only.

    Attributes
    ----------
    name : str
        What users write, and the extra of varint that installs it.
    package : str
        The package to import, and ``distribution``, the name under which it is installed.
    integrators : dict
        Name to a few words; the first is the default.
    loops : str
        How it holds closed loops, in a few words.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    distribution: ClassVar[str]
    integrators: ClassVar[dict[str, str]]
    loops: ClassVar[str]

    def __init__(self, mechanism: Mechanism, dt: float, integrator: str) -> None:
        """Build the model. Raises PeerError that names what it has no counterpart of, or how to install it."""
        if not self.is_installed():
            raise PeerError(f"{self.name} is not installed: pip install 'varint[{self.name}]'")
        self.mechanism, self.dt, self.integrator = mechanism, dt, integrator
        self.refused: list[str] = []
        self.stops: list[JointStop] = []  # that it does not have: its runs end where one is reached
        self.stopped = "stopped"  # what befell the last step, in words, where `advance` returns fewer than asked
        self.build()
        if self.refused:
            raise PeerError(f"{self.name} has no counterpart of {listed(self.refused)}")

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether its package can be imported."""
        return importlib.util.find_spec(cls.package) is not None

    @classmethod
    def version(cls) -> str:
        """Return the version of its package, empty where it is not installed."""
        return importlib.metadata.version(cls.distribution) if cls.is_installed() else ""

    @abstractmethod
    def build(self) -> None:
        """Make the model; collect in ``refused`` the joints and forces that it cannot represent, in words."""

    @abstractmethod
    def start(self, state: State) -> None:
        """Put the model into a closed ``state``, at t = 0."""

    @abstractmethod
    def advance(self, steps: int) -> Any:
        """Do ``steps`` steps, and return the states after each in its own coordinates; only this is timed.

        Fewer are returned where it stops, and ``stopped`` is set.
        """

    @abstractmethod
    def motion(self, states: Any) -> BodyMotion:
        """Return the motion of the bodies, in the order of the mechanism, in the states that `advance` returned."""

    def refuse_forces(self, supported: Callable[[Any], str | None]) -> None:
        """Collect the forces for which ``supported`` returns a reason, which may be empty, and not None.

        Stops of joints are taken as well: they do not act before they are reached.
        """
        for force in self.mechanism.forces:
            if isinstance(force, JointStop):
                self.stops.append(force)
                continue
            reason = supported(force)
            if reason is not None:
                self.refused.append(f"force '{force.name}', a {type(force).__name__}{reason}")


def register(cls: type[KindOfSimulator]) -> type[KindOfSimulator]:
    """Make a simulator known by its name."""
    REGISTERED[cls.name] = cls
    return cls


def simulators() -> list[str]:
    """Names of all simulators: those of this folder, and those registered from outside."""
    return [*HERE, *(name for name in REGISTERED if name not in HERE)]


def simulator_class(name: str) -> type[Simulator]:
    """The simulator of that name. Raises PeerError where there is no such name."""
    known_name(name, simulators(), "there is no simulator", PeerError)
    if name not in REGISTERED:
        importlib.import_module(f"varint.peers.{name}")
    return REGISTERED[name]


def parsed(text: str, integrator: str | None) -> tuple[type[Simulator], str]:
    """The simulator and the integrator of ``name`` or ``name:integrator``. Raises PeerError."""
    name, colon, after = text.partition(":")
    kind = simulator_class(name)
    if colon and integrator is not None:
        raise PeerError(f"'{text}' names an integrator, and integrator= does: give one of them")
    wanted = after if colon else integrator
    known = tuple(kind.integrators)
    return kind, known[0] if wanted is None else choice(wanted, known, f"integrator of {name}", PeerError)


def listed(refused: Iterable[str]) -> str:
    """The first of the ``refused`` in words, and how many more there are."""
    refused = list(refused)
    more = len(refused) - SHOWN
    return "; ".join(refused[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
