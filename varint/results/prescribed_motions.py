"""Efforts and powers of prescribed motions at the nodes of a run."""

from typing import TYPE_CHECKING

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.moved import Moved
from varint.model.forces.no_slip import NoSlip
from varint.model.forces.user_rows import UserRows
from varint.results.by_name import ByName
from varint.results.inputs.at_nodes import motions_at
from varint.results.inputs.courses import Span
from varint.results.reactions import second_derivative

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


def rates_of_motions(trajectory: "RecordedMotion", mechanism: Mechanism | None = None) -> np.ndarray:
    """Return rates of prescribed motions, and their rates, (2, T, ne), by element; zero for other elements.

    ``mechanism``: with some of the forces; that of the run where not given. A run that others recorded, without the
    steps that its motions are given at, has what follows from its nodes.
    """
    chosen, settings, t = mechanism or trajectory.mechanism, trajectory.settings, trajectory.t
    if "steps" in settings:
        whole = settings["dt"] is not None and settings.get("turn") is None  # all steps are of dt
        end = settings["steps"] * settings["dt"] if whole else settings["duration"]
        return motions_at(chosen, chosen.compiled, t, Span(settings["steps"], settings["dt"], max(end, float(t[-1]))))
    index = trajectory.mechanism.force_index
    command = trajectory.command[:, [index[force.name] for force in chosen.forces]][:, chosen.compiled.force]
    rate = np.gradient(command, t, axis=0) if len(t) > 1 else np.zeros_like(command)
    return np.array([rate, second_derivative(command, t)])


def powers_of_motions(trajectory: "RecordedMotion", held: np.ndarray) -> np.ndarray:
    """Return the powers (T, forces), W, of the prescribed motions with efforts ``held`` (T, ne)."""
    return trajectory.mechanism.compiled.by_force(held * rates_of_motions(trajectory)[0])


def is_vector(force: Force) -> bool:
    """Return whether the effort of a force is a vector, not a number."""
    return force.of_points or isinstance(force, Moved | NoSlip | UserRows)


def vector_effort(mechanism: Mechanism, force: Force, held: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """Return the effort (T, 3) or (T, 6), world, of a force that `is_vector`, from element efforts (T, elements).

    Of functions of users: (T, n), one for each row.

    ``quat`` (T, nb, 4) of the bodies.
    """
    columns = held[:, mechanism.compiled.force == mechanism.force_index[force.name]]
    if isinstance(force, NoSlip):
        return force.effort(columns, force.plane_turned(mechanism, quat))
    return (
        force.effort(mechanism, columns, quat[:, mechanism.body_index[force.body]])
        if isinstance(force, Moved)
        else columns
    )


def efforts_by_name(trajectory: "RecordedMotion", efforts: np.ndarray) -> ByName:
    """Return the effort (T,) of each force by name from ``efforts`` (T, forces).

    Of vector forces (T, 3) or (T, 6), world, see `is_vector`.
    """
    mechanism = trajectory.mechanism

    def effort_of(force: Force) -> np.ndarray:
        if not is_vector(force):
            return efforts[:, mechanism.force_index[force.name]]
        return vector_effort(mechanism, force, trajectory._dynamics[2], trajectory.quat_wxyz)

    return ByName(mechanism.force_index, mechanism.force, effort_of, "force")
