"""Forces written as MJCF: what acts along joints, tendons, actuators and equalities of joints."""

from collections.abc import Callable, Mapping
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.files.robots.kinds import (
    Cable,
    JointDamper,
    JointFriction,
    JointResistance,
    JointServo,
    JointStop,
    Motor,
    MultiPointCable,
    MultiPointSpring,
    Spring,
    TorsionSpring,
)
from varint.files.robots.motion_tree import TreePart, part_at
from varint.files.robots.written_shapes import numbers
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Force
from varint.model.forces.coupled import Coupled

OPEN = 1e-12  # of a coupling at the start


class Efforts:
    """The forces of a mechanism, as lines of sections and attributes of ``parts`` of joints.

    site : function of body, point and name that makes a site, and gives its name in quotes
    control : of each actuator
    refused : what is not held, in words
    refused_forces : names of the forces among them
    """

    def __init__(self, mechanism: Mechanism, parts: Mapping[str, list[TreePart]], site: Callable[..., str]) -> None:
        self.mechanism, self.parts, self.site = mechanism, parts, site
        self.equality: list[str] = []
        self.tendon: list[str] = []
        self.actuator: list[str] = []
        self.control: list[float] = []
        self.refused: list[str] = []
        self.refused_forces: list[str] = []
        self.springs: dict[str, list[float]] = {}  # of a part: stiffness, that times rest, damping

    def take(self) -> None:
        """Convert all forces."""
        for force in self.mechanism.forces:
            why = self._taken(force)
            if why is not None:
                self.refused.append(f"force '{force.name}', a {type(force).__name__}{why}")
                self.refused_forces.append(force.name)

    def _taken(self, force: Force) -> str | None:
        """Return why a force cannot be represented; None if it is."""
        if isinstance(force, Coupled):
            return self._coupled(force)
        if isinstance(force, JointResistance) and force.of_ball(self.mechanism):
            return self._about_ball(force)
        if isinstance(force, AlongCoordinate):
            part = part_at(self.parts, force.joint, force.coordinate or 0)
            return " on a joint that has no such hinge or slide" if part is None else self._along(force, part)
        if type(force) in (Spring, Cable, MultiPointSpring, MultiPointCable):
            return self._tendon(force)
        return ""

    def _about_ball(self, force: JointResistance) -> str | None:
        """Take the damping or friction of a ball joint; return as `_taken`."""
        part = next((part for part in self.parts.get(force.joint, ()) if part.kind == "ball"), None)
        if part is None:
            return " on a ball joint that closes a loop"
        if isinstance(force, JointFriction):
            if part.axes[0, 0] < 0.0:  # the child is body a
                return " about the axes of the parent"
            return self._rubbed(force, part)
        assert isinstance(force, JointDamper)
        sums = self.springs.setdefault(part.name, [0.0, 0.0, 0.0])
        sums[2] += force.damping
        part.given["damping"] = numbers([sums[2]])
        return None

    def _rubbed(self, force: JointFriction, part: TreePart) -> str | None:
        """Take friction along a part; return as `_taken`."""
        if "frictionloss" in part.given or force.smoothing != JointFriction.smoothing:
            return " with a smoothing of its own, or beside another"
        part.given["frictionloss"] = numbers([force.effort])
        return None

    def _along(self, force: AlongCoordinate, part: TreePart) -> str | None:
        keys = part.given
        if isinstance(force, TorsionSpring | JointDamper):
            stiffness, rest = getattr(force, "stiffness", 0.0), getattr(force, "rest_angle", 0.0)
            sums = self.springs.setdefault(part.name, [0.0, 0.0, 0.0])
            for number, value in enumerate((stiffness, stiffness * rest, force.damping)):
                sums[number] += value
            keys["damping"] = numbers([sums[2]])
            if sums[0]:
                keys |= {"stiffness": numbers([sums[0]]), "springref": numbers([sums[1] / sums[0]])}
            return None
        if isinstance(force, JointFriction):
            return self._rubbed(force, part)
        if isinstance(force, JointStop):
            bounds = [force.lower, force.upper]
            if "range" in keys or force.stiffness is not None or force.restitution or not np.isfinite(bounds).all():
                return " that is soft, bounces, has one side, or is beside another"
            keys |= {"limited": "true", "range": numbers(bounds)}
            return None
        if isinstance(force, Motor | JointServo):
            given_input = force.input
            if isinstance(given_input, np.ndarray) and given_input.ndim == 0:
                return self._actuator(force, part, float(given_input))
            return " whose input is no number"
        return ""

    def _actuator(self, force: Motor | JointServo, part: TreePart, control: float) -> str | None:
        ends = f"name={quoteattr(force.name)} joint={quoteattr(part.name)}"
        if isinstance(force, Motor):
            self.actuator.append(f"<motor {ends}/>")
        elif force.integral:
            return " with an integral"
        else:
            gains = f'kp="{numbers([force.stiffness])}" kv="{numbers([force.damping])}"'
            self.actuator.append(f"<position {ends} {gains}/>")
        self.control.append(control)
        return None

    def _coupled(self, force: Coupled) -> str | None:
        """Add the equality of two joints, or of a fixed tendon; return as `_taken`."""
        coordinates: Mapping[str, np.ndarray] = {}
        if self.mechanism.start:
            coordinates = self.mechanism.coordinates(self.mechanism.state())
        if force.bent(self.mechanism):
            return " of functions"
        for number, terms in enumerate(force.terms_of(self.mechanism)):
            parts = [part_at(self.parts, joint, coordinate) for joint, coordinate, *_ in terms]
            held = sum(np.ravel(coordinates.get(joint, np.zeros(9)))[k] * factor for joint, k, factor, _ in terms)
            if None in parts or abs(held) > OPEN:
                return " of what is no hinge or slide, or of a sum that is not zero at the start"
            names = [quoteattr(part.name) for part in parts if part is not None]
            quoted_name = quoteattr(force.name if not number else f"{force.name} {number + 1}")
            if len(terms) == 2:
                ratio = numbers([0.0, -terms[1][2] / terms[0][2], 0.0, 0.0, 0.0])
                line = f'<joint name={quoted_name} joint1={names[0]} joint2={names[1]} polycoef="{ratio}"/>'
            else:
                pairs = zip(names, terms, strict=True)
                listed = "".join(f'<joint joint={name} coef="{numbers([term[2]])}"/>' for name, term in pairs)
                self.tendon.append(f"<fixed name={quoted_name}>{listed}</fixed>")
                line = f"<tendon name={quoted_name} tendon1={quoted_name}/>"
            self.equality.append(line)
        return None

    def _tendon(self, force: Force) -> str | None:
        assert isinstance(force, Spring | MultiPointSpring)
        slack = isinstance(force, Cable | MultiPointCable)
        if slack and force.damping:
            return " with damping"
        assert force.rest_length is not None  # since it was made
        rest = [0.0, force.rest_length] if slack else [force.rest_length] * 2
        sites = [self.site(body, at, f"{force.name}: {n}") for n, (body, at) in enumerate(force.course())]
        over = "".join(f"<site site={site}/>" for site in sites)
        attributes = f'stiffness="{numbers([force.stiffness])}" damping="{numbers([force.damping])}"'
        opening = f'name={quoteattr(force.name)} {attributes} springlength="{numbers(rest)}"'
        self.tendon.append(f"<spatial {opening}>{over}</spatial>")
        return None
