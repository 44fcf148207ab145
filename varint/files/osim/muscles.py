"""Muscles of OpenSim along their paths: points on bodies, and the spheres and cylinders that they wrap around."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from varint.base.display import names_text
from varint.base.errors import MechanismError
from varint.files.osim.joints import body_of_path, flag, is_empty, note_rest, offset
from varint.files.robots.kinds import Musculotendon
from varint.files.robots.robot import Pose
from varint.files.robots.xml_files import XMLElement
from varint.model.body import WORLD
from varint.model.forces.base import Force
from varint.model.forces.path import At
from varint.model.forces.wrapped_path import Around, CylinderSurface, SphereSurface
from varint.model.import_report import ImportNotes

RISE_AND_FALL = {  # s, of activations where the file does not say
    "Thelen2003Muscle": (0.015, 0.05),
    "Millard2012EquilibriumMuscle": (0.01, 0.04),
    "DeGrooteFregly2016Muscle": (0.015, 0.06),
}
ACTIVE = 0.05  # default activation of all of them
USUAL = {"max_isometric_force": 1000.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2,
         "pennation_angle_at_optimal": 0.0, "max_contraction_velocity": 10.0}  # fmt: skip
OF_MUSCLE = {
    *USUAL, "appliesForce", "activation_time_constant", "deactivation_time_constant", "ignore_activation_dynamics",
    "default_activation", "GeometryPath", "path",
}  # fmt: skip
SURFACES = ("WrapSphere", "WrapCylinder")
OF_SURFACE = ("active", "xyz_body_rotation", "translation", "quadrant", "radius", "length")
OUTWARD = 2.0  # radii from the centre: where a side is
QUADRANTS = {"x": 0, "y": 1, "z": 2}
Entry = At | Around


class _NotRead(Exception):
    """Why a muscle is not understood."""


class OsimMuscles:
    """Reads muscles; ``poses``: of the bodies at zero coordinates, ``wraps``: body and element by name."""

    def __init__(
        self, poses: Mapping[str, Pose], wraps: Mapping[str, tuple[str, XMLElement]], notes: ImportNotes
    ) -> None:
        self.poses, self.wraps, self.notes = poses, wraps, notes

    def read(self, at: XMLElement) -> Iterator[Force]:
        """Yield the muscle of an element of the forces; nothing for another force, or one that is not understood."""
        name = at.attributes.get("name", at.tag)
        if not flag(at, "appliesForce", True):
            self.notes.read(f"force '{name}' does not apply", at)
            return
        if at.tag not in RISE_AND_FALL:
            self.notes.left_out(f"force '{name}' ({at.tag})", at)
            return
        try:
            muscle = self._muscle(at, name)
        except (_NotRead, MechanismError) as problem:
            self.notes.left_out(f"muscle '{name}': {problem}", at)
            return
        says = f"muscle '{name}' ({at.tag}) is a Musculotendon: rigid tendon, curves of De Groote and others (2016)"
        self.notes.approximated(says, at)
        yield muscle

    def _muscle(self, at: XMLElement, name: str) -> Musculotendon:
        rest = [child.tag for child in at.children if child.tag not in OF_MUSCLE and not is_empty(child)]
        if rest:
            self.notes.approximated(f"muscle '{name}': {names_text(rest)} left out", at)
        number = {tag: at.child_number(tag, usual) for tag, usual in USUAL.items()}
        rise, fall = RISE_AND_FALL[at.tag]
        times = at.child_number("activation_time_constant", rise), at.child_number("deactivation_time_constant", fall)
        at_once = flag(at, "ignore_activation_dynamics")
        path = self._path(at, name)
        if len({entry.body for entry in path}) < 2:
            raise _NotRead("its path stays on one body")
        activation = min(1.0, max(0.0, at.child_number("default_activation", ACTIVE)))
        return Musculotendon(
            name,
            path=path,
            max_force=number["max_isometric_force"],
            optimal_length=number["optimal_fiber_length"],
            slack_length=number["tendon_slack_length"],
            pennation=number["pennation_angle_at_optimal"],
            max_velocity=number["max_contraction_velocity"],
            activation_times=None if at_once else times,
            activation=0.0 if at_once else activation,
        )

    def _path(self, at: XMLElement, name: str) -> list[Entry]:
        other = at.one("path")
        whole = at.one("GeometryPath") or (other and (other.one("GeometryPath") or other))
        points = None if whole is None else whole.one("PathPointSet")
        listed = None if points is None else points.one("objects")
        if whole is None or listed is None:
            raise _NotRead("it has no <GeometryPath> with a <PathPointSet>")
        note_rest(whole, ("PathPointSet", "PathWrapSet"), self.notes)
        path: list[Entry] = [self._point(each) for each in listed.children]
        around = whole.one("PathWrapSet")
        wraps = around.one("objects") if around is not None else None
        after: dict[int, Around] = {}
        for each in wraps.children if wraps is not None else ():
            segment = self._wrap(each, path, name)
            if segment is not None:
                k, surface = segment
                if k in after:
                    raise _NotRead(f"it wraps around two surfaces between points {k + 1} and {k + 2}")
                after[k] = surface
        return [part for k, point in enumerate(path) for part in (point, after.get(k)) if part is not None]

    def _point(self, at: XMLElement) -> At:
        if at.tag != "PathPoint":
            raise _NotRead(f"its point '{at.attributes.get('name', '')}' is a {at.tag}: points that stay are read")
        note_rest(at, ("socket_parent_frame", "socket_parent", "location"), self.notes)
        body = body_of_path((at.one("socket_parent_frame") or at.child("socket_parent")).text)
        if body not in self.poses and body != "ground":
            raise _NotRead(f"its point '{at.attributes.get('name', '')}' is on '{body}', which is no body")
        pose = self._pose(body)
        return At(self._named(body), pose.p + pose.R @ np.array(at.child("location").own_numbers(3)))

    def _named(self, body: str) -> str:
        """Return the body that a body of the file is part of, or the world."""
        if body not in self.poses:
            return WORLD
        if body not in self.notes.body_of:
            raise _NotRead(f"'{body}', on which it is, has no mass, and is a joint here")
        return self.notes.body_of[body]

    def _pose(self, body: str) -> Pose:
        return self.poses.get(body, Pose(np.eye(3), np.zeros(3)))

    def _wrap(self, at: XMLElement, path: list[Entry], name: str) -> tuple[int, Around] | None:
        """Return the segment that leads around a surface, and the surface; None if it is inactive."""
        note_rest(at, ("wrap_object", "method", "range"), self.notes)
        wanted = at.child("wrap_object").text.strip()
        if wanted not in self.wraps:
            raise _NotRead(f"its wrap object '{wanted}' is not there")
        body, surface = self.wraps[wanted]
        if not flag(surface, "active", True):
            return None
        around = self._around(surface, body)
        first, last = (int(x) for x in at.one("range").own_numbers(2)) if at.one("range") else (-1, -1)  # type: ignore[union-attr]
        chosen = range(max(first, 1) - 1, (last if last > 0 else len(path)) - 1)
        open_ = [k for k in chosen if not _is_within(path[k : k + 2], around)]
        moving = [k for k in open_ if {entry.body for entry in path[k : k + 2]} != {around.body}] or open_
        if not moving:
            self.notes.read(f"muscle '{name}' has points within '{wanted}': straight there", at)
            return None
        k = min(moving, key=lambda k: _clearance(path[k : k + 2], around))
        if len(moving) > 1:
            says = f"muscle '{name}' wraps around '{wanted}' between points {k + 1} and {k + 2} alone, the nearest"
            self.notes.approximated(says, at)
        return k, around

    def _around(self, at: XMLElement, body: str) -> Around:
        name = at.need("name")
        if at.tag not in SURFACES:
            raise _NotRead(f"its wrap object '{name}' is a {at.tag}: spheres and cylinders are read")
        note_rest(at, OF_SURFACE, self.notes)
        pose = self._pose(body) @ offset(at, "xyz_body_rotation", "translation")
        radius, quadrant = at.child("radius").own_number(), at.one("quadrant")
        side = None
        word = "all" if quadrant is None else quadrant.text.strip().lower()
        if word != "all":
            if word.lstrip("+-") not in QUADRANTS:
                raise _NotRead(f"quadrant of '{name}' must be all, x, -x, y, -y, z or -z, got '{word}'")
            sign = -1.0 if word.startswith("-") else 1.0
            side = pose.p + sign * OUTWARD * radius * pose.R[:, QUADRANTS[word.lstrip("+-")]]
        body = self._named(body)
        if at.tag == "WrapSphere":
            return Around(body, SphereSurface(pose.p, radius, side))
        self.notes.approximated(f"cylinder '{name}' of length {at.child_number('length', 1.0):g} m has no ends", at)
        side_of_surface: dict[str, Any] = {} if side is None else {"side": side}
        return Around(body, CylinderSurface(pose.p, pose.R[:, 2], radius, **side_of_surface))


def _is_within(ends: list[Entry], around: Around) -> bool:
    """Return whether an end lies inside the surface, at zero coordinates."""
    surface = around.surface
    return any(np.linalg.norm(surface.across(end.point)) <= surface.radius for end in ends if isinstance(end, At))


def _clearance(ends: list[Entry], around: Around) -> float:
    """Return the least distance, m, of the segment between two points from a surface, at zero coordinates."""
    p, q = (around.surface.across(end.point) for end in ends if isinstance(end, At))
    along = q - p
    size = float(along @ along)
    share = min(1.0, max(0.0, -float(p @ along) / size)) if size else 0.0
    return math.dist(p + share * along, np.zeros(3)) - around.surface.radius
