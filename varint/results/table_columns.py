"""Quantities of a motion as columns: a name, a unit and a value per node. Tables and pictures are made of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.checks import known_name, sequence_of, shown, suggestion
from varint.base.errors import ArgumentError
from varint.model.forces.base import Constraint, Effort
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units
from varint.results.derived import QUANTITIES
from varint.results.reactions import UNITS
from varint.results.touching import names_of_force

if TYPE_CHECKING:
    from varint.mechanism.mechanism import Mechanism
    from varint.results.recorded_motion import RecordedMotion

XYZ = ("x", "y", "z")
OF_ONE = {"bodies": "body", "joints": "joint", "forces": "force"}


class Column(NamedTuple):
    """One number at each of T nodes.

    name : str
        "crank x", "crank pivot rate", "energy".
    unit : str
        Empty for a number without one.
    values : (T,)
    """

    name: str
    unit: str
    values: np.ndarray

    @property
    def heading(self) -> str:
        """Return the name, with its unit in brackets."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Group:
    """Columns of one kind.

    what : str
        In a few words.
    of : {"bodies", "joints", "forces", ""}
        What there are columns for; none of them where they are of the whole mechanism.
    columns : function of the trajectory and a name
        Gives the columns of a body, joint or force.
    parts : tuple of str
        Names of these columns, where they are the same for all of a kind.
    title : str
        In a picture, where it is not the name of the group.
    """

    what: str
    of: str
    columns: Callable[["RecordedMotion", str], Iterable[Column]]
    parts: tuple[str, ...] = ()
    title: str = ""

    def names(self, trajectory: "RecordedMotion") -> list[str]:
        """Return names of the bodies, joints or forces that have columns."""
        return [item.name for item in getattr(trajectory.mechanism, self.of)] if self.of else [""]

    def shown_names(self, trajectory: "RecordedMotion") -> list[str]:
        """Return the `names` that pictures show by default: without bodies that stand for armature."""
        return [name for name in self.names(trajectory) if name not in trajectory.mechanism.rotors]


def columns(trajectory: "RecordedMotion", group_name: str, of: str | Iterable[str] | None = None) -> list[Column]:
    """Return the columns of a group in `GROUPS`, of the bodies, joints or forces named in ``of``, or of all.

    Raises ArgumentError where the group or a name is unknown.
    """
    group = GROUPS[listed_name(group_name, GROUPS, "there are no columns")]
    known = group.names(trajectory)
    if of is None:
        chosen = known
    elif not group.of:
        raise ArgumentError(f"{group_name!r} is of the whole mechanism: it cannot be chosen for {of!r}")
    else:
        listed = [of] if isinstance(of, str) else sequence_of(of, "of", "names", ArgumentError)
        chosen = [known_name(name, known, f"{group_name}: no {OF_ONE[group.of]}", ArgumentError) for name in listed]
    return [column for name in chosen for column in group.columns(trajectory, name)]


def shown_columns(trajectory: "RecordedMotion", group_name: str, of: str | Iterable[str] | None = None) -> list[Column]:
    """Return `columns`, without bodies that stand for armature if ``of`` is None."""
    group = GROUPS.get(group_name) if isinstance(group_name, str) else None
    if of is None and group is not None and group.of:
        of = group.shown_names(trajectory)
    return columns(trajectory, group_name, of)


def listed_name(name: object, known: Iterable[str], problem: str) -> str:
    """Return ``name``, one of the ``known``. Raises ArgumentError: ``problem``, the nearest name, and all of them."""
    if isinstance(name, str) and name in known:
        return name
    near = ""
    if isinstance(name, str):
        near = f", did you mean {ALIKE[name]}?" if name in ALIKE else suggestion(name, known)
    raise ArgumentError(f"{problem} {shown(name)}{f'{near} There' if near else ': there'} are {', '.join(known)}")


def _bodies(attribute: str, title: str, parts: tuple[str, ...], letter: str, unit: str) -> Group:
    """Return the group of an attribute (T, nb, n) that has a vector for each body.

    ``letter`` stands before its parts.
    """

    def find(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
        array = getattr(trajectory, attribute)[:, trajectory.mechanism.body_index[name]]
        return (Column(f"{name} {letter}{part}", unit, array[:, k]) for k, part in enumerate(parts))

    return Group(title, "bodies", find, parts)


def _of_joint(attribute: str, word: str, unit: str) -> Callable[["RecordedMotion", str], Iterator[Column]]:
    def find(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
        joint: Joint = trajectory.mechanism.joint(name)
        array = getattr(trajectory, attribute)[name].reshape(len(trajectory), joint.dof)
        for k, coordinate_unit in enumerate(coordinate_units(joint)):
            number = f" {k}" if joint.dof > 1 else ""
            whole = (
                f"{coordinate_unit}{unit}" if coordinate_unit else unit.replace("/", "1/")
            )  # "1/s" for the rate of a number without unit
            yield Column(f"{name}{word}{number}", whole, array[:, k])

    return find


def _reactions(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
    reaction = trajectory.reactions[name]
    for word, array, unit in (("force", reaction.force, "N"), ("torque", reaction.torque, "N m")):
        yield from (Column(f"{name} {word} {axis}", unit, array[:, k]) for k, axis in enumerate(XYZ))


def _reaction_magnitudes(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
    reaction = trajectory.reactions[name]
    for word, array, unit in zip(MAGNITUDES, (reaction.force_magnitude, reaction.torque_magnitude), UNITS, strict=True):
        yield Column(f"{name} {word} magnitude", unit, array)


def _of_force(attribute: str, word: str, unit: str) -> Callable[["RecordedMotion", str], Iterator[Column]]:
    def find(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
        array = getattr(trajectory, attribute)[name]
        if array.ndim == 1:
            yield Column(f"{name} {word}", unit or effort_unit(trajectory.mechanism, name), array)
            return
        for part, values in zip(WRENCH, array.T, strict=False):  # of what moves a point: the force alone
            yield Column(f"{name} {part}", "N m" if part.startswith("torque") else "N", values)

    return find


def _contact_forces(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
    for each in names_of_force(trajectory, name):
        force = trajectory.contact_force[each]
        yield from (Column(f"{each} contact force {axis}", "N", force[:, k]) for k, axis in enumerate(XYZ))


def _penetration(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
    if name in trajectory.penetration:
        yield Column(f"{name} penetration", "m", trajectory.penetration[name])


def _of_law(trajectory: "RecordedMotion", name: str) -> Iterator[Column]:
    states = trajectory.law_state[name].reshape(len(trajectory), -1)
    for k in range(states.shape[1]):
        yield Column(f"{name} state{f' {k}' * (states.shape[1] > 1)}", "", states[:, k])


def effort_unit(mechanism: "Mechanism", name: str) -> str:
    """Return the unit of the effort of the force ``name``, N or N m."""
    for element in mechanism.force(name).elements(mechanism):
        if isinstance(element, Effort | Constraint) and element.measures[0].angular:
            return "N m"
    return "N"


def _quantity(name: str) -> Callable[["RecordedMotion", str], Iterator[Column]]:
    def find(trajectory: "RecordedMotion", _: str) -> Iterator[Column]:
        array, unit = getattr(trajectory, name), QUANTITIES[name].unit
        words = name.replace("_", " ")
        if array.ndim == 1:
            yield Column(words, unit, array)
        else:
            yield from (Column(f"{words} {axis}", unit, array[:, k]) for k, axis in enumerate(XYZ))

    return find


QUATERNION = ("w", *XYZ)
WRENCH = tuple(f"{word} {axis}" for word in ("force", "torque") for axis in XYZ)
MAGNITUDES = ("force", "torque")
GROUPS: dict[str, Group] = {
    "position": _bodies("position", "centres of mass, world", XYZ, "", "m"),
    "quat_wxyz": _bodies("quat_wxyz", "orientations, body to world", QUATERNION, "q", ""),
    "velocity": _bodies("velocity", "velocities of centres of mass, world", XYZ, "v", "m/s"),
    "angular_velocity": _bodies("angular_velocity", "angular velocities, in axes of the body", XYZ, "w", "rad/s"),
    "acceleration": _bodies("acceleration", "accelerations of centres of mass, world", XYZ, "a", "m/s^2"),
    "angular_acceleration": _bodies(
        "angular_acceleration", "angular accelerations, in axes of the body", XYZ, "alpha ", "rad/s^2"
    ),
    "coordinates": Group("coordinates of joints", "joints", _of_joint("coordinates", "", "")),
    "rates": Group("rates of the coordinates of joints", "joints", _of_joint("rates", " rate", "/s")),
    "reactions": Group("forces and torques of joints on their body b, world", "joints", _reactions, WRENCH),
    "reaction_magnitudes": Group(
        "magnitudes of the forces and torques of joints", "joints", _reaction_magnitudes, MAGNITUDES
    ),
    "force": Group("efforts of forces", "forces", _of_force("force", "effort", ""), title="effort of forces"),
    "contact_force": Group("forces of hard contacts on their body, or body a, world", "forces", _contact_forces),
    "penetration": Group("depths of hard contacts", "forces", _penetration, title="penetration of contacts"),
    "length": Group("lengths of paths of forces", "forces", _of_force("length", "length", "m"), title="length"),
    "length_rate": Group("rates of these lengths", "forces", _of_force("length_rate", "length rate", "m/s")),
    "law_state": Group("states of laws of forces, such as activations", "forces", _of_law),
    "power": Group("powers of forces", "forces", _of_force("power", "power", "W")),
    "force_potential": Group("potential energy of forces", "forces", _of_force("force_potential", "potential", "J")),
    "dissipated": Group("energy dissipated by forces", "forces", _of_force("dissipated", "dissipated", "J")),
} | {name: Group(name.replace("_", " "), "", _quantity(name)) for name in QUANTITIES}
ALIKE = dict.fromkeys(
    ("torque", "torques", "moment", "effort", "efforts"),
    "'force' (efforts of forces, N or N m) or 'reactions' (forces and torques of joints)",
)
