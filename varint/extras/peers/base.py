"""`Simulator`: the interface to another simulator that runs a mechanism, and the registry of simulators."""

import importlib
import importlib.metadata
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from varint.base.checks import choice, known_name
from varint.base.distribution import install_command
from varint.base.errors import PeerError
from varint.files.robots.kinds import JointStop
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State

HERE = ("mujoco", "pinocchio", "drake", "exudyn")  # files of this folder that register a simulator
REGISTERED: dict[str, type["Simulator"]] = {}  # by name
SHOWN = 8  # refused parts that an error lists
KindOfSimulator = TypeVar("KindOfSimulator", bound="Simulator")


class BodyMotion(NamedTuple):
    """Poses and velocities of nb bodies at n nodes.

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
    """Base class of models of a mechanism in another simulator, which steps it.

    A subclass is registered by `register`. It imports the simulator in its methods only, so that it may be missing.

    Attributes
    ----------
    name : str
        Name that users write, and that of the extra of varint that installs the simulator.
    package, distribution : str
        Name of its package in an import, and in pip.
    integrators : dict
        Name of each integrator to a short description; the first is the default.
    loops : str
        Short description of how it closes loops.
    refused : list of str
        Joints and forces that the simulator cannot represent, collected by `build`.
    stops : list of JointStop
        Stops that the model does not have: a run ends where it reaches one.
    stopped : str
        Ends the sentence "the step at t = ... s" if `advance` returns fewer states than asked for.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    distribution: ClassVar[str]
    integrators: ClassVar[dict[str, str]]
    loops: ClassVar[str]

    def __init__(self, mechanism: Mechanism, dt: float, integrator: str) -> None:
        """Build the model. Raises PeerError if the simulator is not installed or cannot represent a part."""
        if not self.is_installed():
            raise PeerError(f"{self.name} is not installed: {install_command(self.name)}")
        self.mechanism, self.dt, self.integrator = mechanism, dt, integrator
        self.refused: list[str] = []
        self.stops: list[JointStop] = []
        self.stopped = "stopped"
        self.build()
        if self.refused:
            raise PeerError(f"{self.name} has no counterpart of {listed(self.refused)}")

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether the simulator's package can be imported."""
        return importlib.util.find_spec(cls.package) is not None

    @classmethod
    def version(cls) -> str:
        """Return the version of the simulator's package, empty if it is not installed."""
        return importlib.metadata.version(cls.distribution) if cls.is_installed() else ""

    @abstractmethod
    def build(self) -> None:
        """Build the model; append to ``refused`` the joints and forces that it cannot represent, as texts."""

    @abstractmethod
    def start(self, state: State) -> None:
        """Set the model to ``state``, whose joints are closed, at t = 0."""

    @abstractmethod
    def advance(self, steps: int) -> Any:
        """Take ``steps`` steps and return the state after each, in the simulator's coordinates. Only this is timed.

        If the simulator stops early, returns the states so far and sets ``stopped``.
        """

    @abstractmethod
    def motion(self, states: Any) -> BodyMotion:
        """Return poses and velocities of the bodies, in the order of the mechanism, in the states from `advance`."""

    def refuse_forces(self, supported: Callable[[Any], str | None]) -> None:
        """Append to ``refused`` each force for which ``supported`` returns a text, which may be empty, and not None.

        The text follows the force's name and class in the error. A `JointStop` is not refused but appended to
        ``stops``: it does not act before it is reached.
        """
        for force in self.mechanism.forces:
            if isinstance(force, JointStop):
                self.stops.append(force)
                continue
            reason = supported(force)
            if reason is not None:
                self.refused.append(f"force '{force.name}', a {type(force).__name__}{reason}")


def register(cls: type[KindOfSimulator]) -> type[KindOfSimulator]:
    """Add a simulator to the registry, under its name, and return it: a class decorator."""
    REGISTERED[cls.name] = cls
    return cls


def simulators() -> list[str]:
    """Return the names of all simulators: of this folder, then of classes registered outside this package."""
    return [*HERE, *(name for name in REGISTERED if name not in HERE)]


def simulator_class(name: str) -> type[Simulator]:
    """Return the class of the simulator ``name``; import its file if needed. Raises PeerError for an unknown name."""
    known_name(name, simulators(), "there is no simulator", PeerError)
    if name not in REGISTERED:
        importlib.import_module(f"varint.extras.peers.{name}")
    return REGISTERED[name]


def parsed(text: str, integrator: str | None) -> tuple[type[Simulator], str]:
    """Return the class of a simulator and the name of its integrator, by default its first.

    ``text``: "name" or "name:integrator"; ``integrator``: in place of the second part. Raises PeerError for an unknown
    name, and if both name an integrator.
    """
    name, colon, after = text.partition(":")
    kind = simulator_class(name)
    if colon and integrator is not None:
        raise PeerError(f"'{text}' and integrator= both name an integrator: give one of them")
    wanted = after if colon else integrator
    known = tuple(kind.integrators)
    return kind, known[0] if wanted is None else choice(wanted, known, f"integrator of {name}", PeerError)


def listed(refused: Iterable[str]) -> str:
    """Return the first ``SHOWN`` of the ``refused`` as a text, and the number of the others."""
    refused = list(refused)
    more = len(refused) - SHOWN
    return "; ".join(refused[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
