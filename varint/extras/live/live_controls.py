"""Sliders of a live view: which joint coordinates and inputs they set, and over which range."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.base.checks import finite, known_name, of_type
from varint.base.errors import ArgumentError
from varint.extras.stepper import Stepper
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Commanded
from varint.model.forces.coupled import Coupled
from varint.model.motion import coordinate_units
from varint.model.state import State
from varint.results.table_columns import effort_unit

UNITS = {"target": {"N": "m", "N m": "rad"}, "speed": {"N": "m/s", "N m": "rad/s"}}  # of inputs, by that of the effort
EFFORTS = ("effort", "magnitude")  # inputs in N or N m
FASTEST = 10.0  # rad/s, or lengths of the mechanism a second


def coordinate_sliders(stepper: Stepper, span: float) -> list[dict[str, Any]]:
    """Return a slider for each coordinate of the joints of the spanning tree; ``span``: size of the mechanism, m.

    There is none for bodies that stand for armature. Angles range over a turn and lengths over ``span`` about the
    present value, and up to the stops of the joint, or of the joint whose coordinate this one follows in proportion.
    """
    mechanism = stepper.mechanism
    sliders = []
    for name, columns in stepper.columns.items():
        if name not in mechanism.joint_index or name in mechanism.rotors:  # the pose of a floating body, or armature
            continue
        joint = mechanism.joints[mechanism.joint_index[name]]
        for number, unit in enumerate(coordinate_units(joint)):
            value = float(stepper.coordinates[columns.start + number])
            reach = np.pi if unit == "rad" else span
            low, high = _bounds(mechanism, name, number)
            if low is None and high is None:
                low, high = _bounds_by_coupling(stepper, name, number)
            sliders.append(
                {
                    "name": name,
                    "number": number if joint.dof > 1 else None,
                    "column": columns.start + number,
                    "unit": unit,
                    "low": value - reach if low is None else min(low, value),
                    "high": value + reach if high is None else max(high, value),
                }
            )
    return sliders


def _bounds(mechanism: Mechanism, joint: str, coordinate: int) -> tuple[float | None, float | None]:
    """Return the lower and upper limits, rad or m, that forces set to a coordinate of a joint; None where missing."""
    limits = {"lower": [], "upper": []}  # type: dict[str, list[float]]
    for force in mechanism.forces:
        if isinstance(force, AlongCoordinate) and (force.joint, force.coordinate, force.angles) == (
            joint,
            coordinate,
            None,
        ):
            for side, values in limits.items():
                value = getattr(force, side, np.inf)
                if np.isfinite(value):
                    values.append(float(value))
    return max(limits["lower"], default=None), min(limits["upper"], default=None)


def _bounds_by_coupling(stepper: Stepper, joint: str, coordinate: int) -> tuple[float | None, float | None]:
    """Return the limits of a coordinate that follow from a coupling with one other, by its stops; None without."""
    mechanism, columns = stepper.mechanism, stepper.columns
    couplings = [force for force in mechanism.forces if isinstance(force, Coupled)]
    for terms in (terms for force in couplings for terms in force.terms_of(mechanism)):
        if len(terms) != 2 or any(function is not None for *_, function in terms):
            continue
        this, other = terms if terms[0][:2] == (joint, coordinate) else terms[::-1]
        if this[:2] != (joint, coordinate) or other[0] not in columns or not this[2] * other[2]:
            continue
        value, followed = (stepper.coordinates[columns[name].start + number] for name, number, *_ in (this, other))
        low, high = _bounds(mechanism, other[0], other[1])
        if low is not None and high is not None:
            ends = [float(value - other[2] / this[2] * (bound - followed)) for bound in (low, high)]
            return min(ends), max(ends)
    return None, None


def input_sliders(stepper: Stepper, span: float) -> list[dict[str, Any]]:
    """Return a slider for each input of ``stepper``; ``span``: size of the mechanism, m.

    Efforts range over the weight of the mechanism, times its size for torques; targets range as coordinates do.
    """
    mechanism, sliders = stepper.mechanism, []
    bodies = (body for body in mechanism.bodies if body.name not in mechanism.rotors)
    weight = sum(body.mass for body in bodies) * float(np.linalg.norm(mechanism.gravity))
    for name, value in zip(stepper.input_names, stepper.inputs.tolist(), strict=True):
        force = mechanism.force(name)
        assert isinstance(force, Commanded)
        effort, kind = effort_unit(mechanism, name), force.command_name
        if kind in EFFORTS:
            unit, reach = effort, weight * (span if effort == "N m" else 1.0)
        elif kind in UNITS:
            unit = UNITS[kind][effort]
            reach = {"rad": np.pi, "m": span, "rad/s": FASTEST, "m/s": FASTEST * span}[unit]
        else:
            unit, reach = "", 1.0
        reach = max(_rounded(reach), 2.0 * abs(value)) or 1.0
        sliders.append({"name": name, "what": kind, "unit": unit, "low": -reach, "high": reach})
    return sliders


def _rounded(value: float) -> float:
    """Return ``value`` rounded up to one digit; 0 for values that are not positive."""
    if not value > 0.0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / power - 1e-9) * power)


def moved_state(stepper: Stepper, coordinates: Mapping[str, Any]) -> State:
    """Return the state at rest with joints at ``coordinates``, near the present one: joint name to numbers.

    Other joints keep theirs, but joints in the loops of a moved joint, and joints coupled to it, follow. Raises
    ArgumentError, StateError, AssemblyError.
    """
    mechanism = stepper.mechanism
    topology, wanted = mechanism.compiled.topology, {}
    clusters = set()
    cluster_of = {}
    for body, number in topology.tree_joint.items():
        if number is not None:
            cluster_of[mechanism.joints[number].name] = topology.cluster_of.get(body)
    for name, values in coordinates.items():
        known_name(name, cluster_of, "the tree has no joint", ArgumentError)
        of_type(values, list, f"coordinates of joint '{name}'", ArgumentError)
        wanted[name] = [finite(value, f"coordinate of joint '{name}'", ArgumentError) for value in values]
        clusters.add(cluster_of[name])
    free = {name for name, cluster in cluster_of.items() if cluster is not None and cluster in clusters}
    couplings = [set(force.held_joints(mechanism)) for force in mechanism.forces if isinstance(force, Coupled)]
    follows = [names for names in couplings if names & coordinates.keys()]
    free |= set().union(*follows)
    for name, columns in stepper.columns.items():
        if name in cluster_of and name not in wanted and name not in free:
            wanted[name] = stepper.coordinates[columns].tolist()
    floating = [mechanism.bodies[body].name for body, number in topology.tree_joint.items() if number is None]
    present = stepper.state
    still = np.zeros_like(present.velocity)
    rest = present.of_bodies(present.position, present.quat_wxyz, still, still)
    joint_values = {name: values[0] if len(values) == 1 else values for name, values in wanted.items() if values}
    if topology.cluster_of or follows:
        return mechanism.assemble(rest, floating, coordinates=joint_values)
    index = mechanism.body_index
    return mechanism.state(
        coordinates=joint_values,
        position={name: rest.position[index[name]] for name in floating},
        quat_wxyz={name: rest.quat_wxyz[index[name]] for name in floating},
    )
