"""Bodies and joints of a mechanism, checked when they are put together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from varint.base.checks import array_of, check_keys, check_name, known_name, of_type, sequence_of, shown
from varint.base.display import Shown, count_text, numbers_text
from varint.base.errors import MechanismError
from varint.model.arrays import Vector
from varint.model.body import WORLD, Body
from varint.model.collision_shapes import CollisionShape, checked_collision
from varint.model.degrees import warn_of_degrees, warn_of_forces_in_degrees
from varint.model.forces import Force
from varint.model.forces.base import Element, check_limits
from varint.model.forces.joint_compliance import with_compliances
from varint.model.import_report import ImportReport
from varint.model.joints import Joint
from varint.model.known_forces import traits_of
from varint.model.rotors import rotor_names
from varint.model.start_arguments import MOTION_KEYS, check_start

ANCHOR_TOLERANCE = 1e-9  # relative to the size of the coordinates


@dataclass(frozen=True, eq=False)
class Structure(Shown):
    """Mechanism of bodies, joints, forces and gravity, with kinematic analyses; it holds no state.

    Parameters
    ----------
    name : str
    bodies : sequence of Body
    joints : sequence of Joint
        Each body must belong to a joint; one that floats has a `Free` joint. A group of bodies without a joint to the
        world floats as a whole. If ``point`` and ``point_b`` of a joint do not coincide, the reference configuration is
        open, and ``state()`` closes it.
    gravity : array_like (3,)
        m/s^2, world.
    start : mapping, optional
        What ``state()`` without arguments gives: any of its keyword arguments. Where empty, the
        reference configuration at rest.
    forces : sequence of Force, optional
        Those of joints with a compliance are added, before these.
    ground : sequence of shapes, optional
        Shapes of the world that touch bodies, m, world. They do nothing without a contact.
    import_report : ImportReport, optional
        Report on the imported file, with the shapes that pictures show; empty if the mechanism was not imported.
        `varint.load_mechanism` sets it. Copies keep it, without the shapes and links of bodies that they do not have.

    Raises
    ------
    MechanismError
        Names the body or joint and what is wrong with it.
    """

    name: str
    bodies: Sequence[Body]
    joints: Sequence[Joint] = ()
    gravity: Vector = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    start: Mapping = field(default_factory=dict)
    forces: Sequence[Force] = ()
    ground: Sequence[CollisionShape] = ()
    import_report: ImportReport = field(default_factory=ImportReport, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731
        label = f"mechanism '{check_name(self.name, 'a mechanism')}'"
        for which, kind, one in (("bodies", Body, "body"), ("joints", Joint, "joint"), ("forces", Force, "force")):
            set_(which, sequence_of(getattr(self, which), f"{which} of {label}", which))
            if which == "forces":
                set_(which, with_compliances(self.forces, self.joints))
            _check_names(getattr(self, which), kind, one)
        set_("ground", checked_collision(self.ground, f"ground of {label}"))
        set_("gravity", array_of(self.gravity, (3,), f"gravity of {label}"))
        set_("start", MappingProxyType(dict(of_type(self.start, Mapping, f"start of {label}", MechanismError))))
        if not self.bodies:
            raise MechanismError(f"{label} has no bodies")
        check_keys(self.start, MOTION_KEYS, f"start of {label}")
        ends, touched = {**self.body_index, WORLD: -1}, set()
        for joint in self.joints:
            for end in (joint.body_a, joint.body_b):
                touched.add(known_name(end, ends, f"{joint.label}: no body"))
        for name in self.body_index:
            if name not in touched:
                raise MechanismError(
                    f"body '{name}' is connected to nothing: add a joint,"
                    f" or Free('...', 'world', '{name}') to let it float"
                )
        report = of_type(self.import_report, ImportReport, f"import_report of {label}", MechanismError)
        set_("import_report", report.of_bodies(ends))
        check_start(self, self.start, f"start of {label}", MechanismError)
        check_limits(self.forces, self.elements)  # elements raise where a force does not fit
        warn_of_degrees(self, self.start.get("coordinates") or {})
        warn_of_forces_in_degrees(self)

    def __reduce__(self) -> tuple:
        """Copy or pickle by its fields; compiled data are made again when needed."""
        fields = self.name, self.bodies, self.joints, self.gravity, dict(self.start), self.forces, self.ground
        return type(self), fields, {"import_report": self.import_report}

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self.bodies), "body", "bodies")
        yield count_text(len(self.joints), "joint")
        yield count_text(len(self.forces), "force")
        yield f"gravity {numbers_text(self.gravity)} m/s^2"

    @cached_property
    def body_index(self) -> Mapping[str, int]:
        """Return the number of each body by name."""
        return MappingProxyType({body.name: i for i, body in enumerate(self.bodies)})

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Return the number of each joint by name."""
        return MappingProxyType({joint.name: j for j, joint in enumerate(self.joints)})

    @cached_property
    def is_closed(self) -> bool:
        """Return whether the reference configuration satisfies the joints."""
        return all(is_closed(joint) for joint in self.joints)

    @cached_property
    def force_index(self) -> Mapping[str, int]:
        """Return the number of each force by name."""
        return MappingProxyType({force.name: k for k, force in enumerate(self.forces)})

    @cached_property
    def elements(self) -> tuple[tuple[Element, ...], ...]:
        """Return the elements of each force."""
        return tuple(tuple(force.elements(self)) for force in self.forces)

    @cached_property
    def rotors(self) -> frozenset[str]:
        """Return the names of the bodies without shape that stand for armature; hinges and couplings have them too.

        The readers of robots make them. Pictures do not draw them, and tables and legends name them only if asked to.
        """
        return rotor_names(self.bodies, {joint.name: joint for joint in self.joints})

    @cached_property
    def force_traits(self) -> list[set[str]]:
        """Return the names of the traits of each force, see `varint.model.known_forces`."""
        return traits_of(self)

    def anchors(self, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
        """Return world anchors (point, point_b) of a joint in the reference configuration, with defaults."""
        if joint.point is not None:
            assert joint.point_b is not None  # since it was made
            return joint.point, joint.point_b
        point = self.body(joint.body_b if joint.body_b != WORLD else joint.body_a).position
        return point, point

    def body(self, name: str) -> Body:
        """Return the body of that name."""
        return self.bodies[_find(self.body_index, name, "body")]

    def joint(self, name: str) -> Joint:
        """Return the joint of that name."""
        return self.joints[_find(self.joint_index, name, "joint")]

    def force(self, name: str) -> Force:
        """Return the force of that name."""
        return self.forces[_find(self.force_index, name, "force")]


def _find(index: Mapping[str, int], name: str, label: str) -> int:
    return index[known_name(name, index, f"no {label}")]


def _check_names(
    items: Sequence[Body] | Sequence[Joint] | Sequence[Force], kind: type[Body | Joint | Force], label: str
) -> None:
    seen = set()
    for item in items:
        if not isinstance(item, kind):
            raise MechanismError(f"expected a {label}, got {shown(item)}")
        if item.name in seen:
            several = "bodies" if label == "body" else f"{label}s"
            raise MechanismError(f"two {several} are called '{item.name}': names must be unique")
        seen.add(item.name)


def is_closed(joint: Joint) -> bool:
    """Return whether the anchors satisfy the joint in the reference configuration.

    Rows of products of exponentials count as open where the anchors differ at all: closing them moves nothing where the
    motions of the joint lead from one anchor to the other.
    """
    if joint.point is None:
        return True
    assert joint.point_b is not None  # since it was made
    apart = joint.point_b - joint.point
    tolerance = ANCHOR_TOLERANCE * max(np.abs(joint.point).max(), np.abs(joint.point_b).max())
    return all(abs(row.gap(joint.frame, apart)) <= tolerance for row in joint.rigid)
