"""Energy, accelerations, reactions and efforts of a mechanism at one state."""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from varint.base.checks import finite, flag, of_type
from varint.base.errors import ArgumentError, StateError
from varint.kinematics.assembly import checked_state, with_checked_arrays
from varint.kinematics.drift import joint_drift
from varint.kinematics.turns import near_of
from varint.mechanism.mechanism import Mechanism
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.energy_reader import EnergyReader
from varint.results.forces import forces_at
from varint.results.inputs.at_nodes import inputs_at, motions_at
from varint.results.prescribed_motions import is_vector, vector_effort
from varint.results.quantities import kinetic_energy, potential_energy
from varint.results.reactions import Reaction, accelerations_and_reactions

LARGEST_GAP = 1e-6  # of a joint, in sizes of a part
_readers: WeakKeyDictionary[Mechanism, EnergyReader] = WeakKeyDictionary()  # they do not refer to their keys


class Accelerations(NamedTuple):
    """Accelerations, reactions and efforts that solve the equations of motion at one state.

    linear : (nb, 3) m/s^2, world, of the centres of mass; bodies in the order of the mechanism
    angular : (nb, 3) rad/s^2, body axes
    reactions : dict of joint name to `Reaction`, with a force (3,) and a torque (3,)
    efforts : dict of force name to its effort, N or N m; what a prescribed motion or coupling takes among them, of a
        point and of an attachment the force (3,), of a body force and torque (6,), world
    """

    linear: np.ndarray
    angular: np.ndarray
    reactions: Mapping[str, Reaction]
    efforts: Mapping[str, float | np.ndarray]


class Energy(NamedTuple):
    """The energy of a mechanism at one state, J.

    kinetic : float
    gravity : float, zero at the origin
    forces : dict of force name to its potential energy
    """

    kinetic: float
    gravity: float
    forces: Mapping[str, float]

    @property
    def total(self) -> float:
        """Return the sum of all, J."""
        return self.kinetic + self.gravity + sum(self.forces.values())


def energy(mechanism: Mechanism, state: State, t: float = 0.0) -> Energy:
    """Return the kinetic and potential energy of a mechanism at ``state`` and time ``t``, s, for inputs of time.

    Forces on the angle of a hinge take it with the turns that the state carries, see `State`.

    Raises ArgumentError for forces that a state does not determine, see `accelerations`; StateError: a wrong state.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    t = finite(t, "t", ArgumentError)
    refuse(mechanism, USES["states"])
    of_type(state, State, "state", StateError)
    reader = _readers.get(mechanism)
    if reader is None:
        reader = _readers[mechanism] = EnergyReader(mechanism)
    reading = energy_read(mechanism, reader, state)
    if reading is not None:
        return reading
    checked = with_checked_arrays(mechanism, state, "state")
    return energy_at(mechanism, checked, lambda: inputs_at(mechanism, t, state))


def energy_read(mechanism: Mechanism, reader: EnergyReader, state: State) -> Energy | None:
    """Return the energy at a state by its ``reader``; None if that cannot read the state."""
    energies = reader.read(state) if reader.reads else None
    if energies is None:
        return None
    kinetic, gravity, potential = energies
    return Energy(kinetic, gravity, dict(zip(mechanism.force_index, potential.tolist(), strict=True)))


def energy_at(mechanism: Mechanism, state: State, inputs: Callable[[], np.ndarray]) -> Energy:
    """Return `energy` at a checked state; ``inputs()`` (forces,). Raises ArgumentError."""
    refuse(mechanism, USES["states"])
    x, quat, v, w = state.position[None], state.quat_wxyz[None], state.velocity[None], state.angular_velocity[None]
    forces = forces_at(mechanism, x, quat, v, w, inputs()[None], turns=near_of(mechanism, state))
    potentials = dict(zip(mechanism.force_index, forces.potential[0].tolist(), strict=True))
    kinetic = kinetic_energy(mechanism, v, w)
    return Energy(float(kinetic[0]), float(potential_energy(mechanism, x)[0]), potentials)


def accelerations(
    mechanism: Mechanism, state: State | None = None, t: float = 0.0, *, closed: bool = True
) -> Accelerations:
    """Return the accelerations of a mechanism at ``state`` and time ``t``, s, by the equations in maximal coordinates.

    Parameters
    ----------
    mechanism : Mechanism
    state : State, optional
        With closed joints, and velocities that keep them closed and have the rates of prescribed motions;
        ``mechanism.state()`` where not given.
    closed : bool
        Whether open joints are an error. The objective of a `gradient` takes them as they are: its differences move
        one body at a time.
    t : float
        For inputs that are functions of it.

    Hard stops do not act.

    Returns
    -------
    Accelerations
        ``linear`` (nb, 3), ``angular`` (nb, 3), ``reactions`` by joint, ``efforts`` by force.

    Raises
    ------
    ArgumentError
        Forces that a state does not determine: inputs with one value a node, laws with an internal variable, friction
        of `JointCoulombFriction`. StateError: a wrong state, or one that leaves a joint open.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    t = finite(t, "t", ArgumentError)
    state = mechanism.state() if state is None else state
    x, quat, v, w = (array[None] for array in checked_state(mechanism, state, "state"))
    gap = joint_drift(mechanism.compiled, x, quat)[0]
    if flag(closed, "closed", ArgumentError) and gap > LARGEST_GAP * mechanism.compiled.length:
        raise StateError(f"the state leaves a joint {gap:.3g} m open: mechanism.assemble(state) closes it")
    refuse(mechanism, USES["states"])
    turns = near_of(mechanism, state)
    forces = forces_at(mechanism, x, quat, v, w, inputs_at(mechanism, t, state)[None], turns=turns)
    compiled = mechanism.compiled
    bend = motions_at(mechanism, compiled, np.array([t]))[1]
    moved, reaction, held = accelerations_and_reactions(mechanism, forces.load, x, quat, v, w, bend)
    reactions = {j.name: Reaction(*np.split(part, 2)) for j, part in zip(mechanism.joints, reaction[0], strict=True)}
    efforts: dict[str, float | np.ndarray] = dict(
        zip(mechanism.force_index, (forces.effort + compiled.by_force(held))[0].tolist(), strict=True)
    )
    vectors = (force for force in mechanism.forces if is_vector(force))
    efforts.update((force.name, vector_effort(mechanism, force, held, quat)[0]) for force in vectors)
    return Accelerations(moved[0, :, :3], moved[0, :, 3:], reactions, efforts)
