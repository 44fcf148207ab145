"""Spatial tendons and muscles of an MJCF model: paths over sites, around spheres and cylinders, and by pulleys."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from varint.base.errors import MechanismError
from varint.files.mjcf.numbers import (
    BIAS_MUSCLE,
    BIAS_NONE,
    DYN_MUSCLE,
    DYN_NONE,
    GAIN_MUSCLE,
    TRN_TENDON,
    WRAP_CYLINDER,
    WRAP_PULLEY,
    WRAP_SITE,
    WRAP_SPHERE,
)
from varint.files.robots.kinds import Musculotendon, Tendon
from varint.files.robots.xml_files import XMLElement
from varint.model.forces.base import Force
from varint.model.forces.path import At
from varint.model.forces.wrapped_path import Around, CylinderSurface, Pulley, SphereSurface
from varint.model.import_report import ImportNotes

Entry = At | Around | Pulley
OUTWARD = 2.0  # radii from the axis: where a side is put that is in line with the centre, but beyond the radius


class Places(Protocol):
    """Names of bodies and points of sites of a model, in the reference configuration."""

    m: Any
    rest: Any
    notes: ImportNotes

    def body_named(self, body: int) -> str:
        """Return the name of the body that a body of the model is part of."""

    def site_point(self, site: int) -> np.ndarray:
        """Return the place of a site, m, world."""


def wraps_of(m: Any, tendon: int) -> range:
    """Return the numbers of the parts of a tendon's path."""
    first = int(m.tendon_adr[tendon])
    return range(first, first + int(m.tendon_num[tendon]))


def path_of(places: Places, tendon: int, at: XMLElement) -> list[Entry]:
    """Return the path of a spatial tendon. Raises MechanismError where a point lies in a surface of another body."""
    m = places.m
    path: list[Entry] = []
    for wrap in wraps_of(m, tendon):
        kind, number, value = int(m.wrap_type[wrap]), int(m.wrap_objid[wrap]), float(m.wrap_prm[wrap])
        if kind == WRAP_PULLEY:
            path.append(Pulley(value))
        elif kind == WRAP_SITE:
            path.append(At(places.body_named(int(m.site_bodyid[number])), places.site_point(number)))
        elif kind in (WRAP_SPHERE, WRAP_CYLINDER):
            path.append(_around(places, number, round(value), kind))
    return [entry for n, entry in enumerate(path) if not (isinstance(entry, Around) and _inside(places, path, n, at))]


def _around(places: Places, geom: int, site: int, kind: int) -> Around:
    m, rest = places.m, places.rest
    body = int(m.geom_bodyid[geom])
    R = rest.xmat[body].reshape(3, 3)
    centre, radius = rest.xpos[body] + R @ m.geom_pos[geom], float(m.geom_size[geom, 0])
    w, x, y, z = m.geom_quat[geom]
    axis = R @ np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])
    side = places.site_point(site) if site >= 0 else None
    if kind == WRAP_SPHERE:
        return Around(places.body_named(body), SphereSurface(centre, radius, side))
    if side is not None:
        off = side - centre
        flat = off - (axis @ off) * axis
        size = float(np.linalg.norm(flat))
        if np.linalg.norm(off) >= radius > size > 0.0:  # which MuJoCo takes for outside, along the axis
            side = centre + OUTWARD * radius / size * flat
    return Around(places.body_named(body), CylinderSurface(centre, axis, radius, side))


def _inside(places: Places, path: list[Entry], n: int, at: XMLElement) -> bool:
    """Return whether a point beside surface n is fixed within it: MuJoCo then takes the straight line."""
    around = path[n]
    assert isinstance(around, Around)
    surface = around.surface
    for end in (path[n - 1], path[n + 1]):
        assert isinstance(end, At)
        if end.body == around.body and np.linalg.norm(surface.across(end.point)) <= surface.radius:
            says = f"a point of tendon '{at.attributes.get('name', '')}' is fixed within a surface: straight there"
            places.notes.read(says, at)
            return True
    return False


def wrapped_tendon(
    places: Places, tendon: int, name: str, at: XMLElement, effort: tuple[float, float]
) -> Iterator[Force]:
    """Yield the spring and the damper of a tendon around surfaces or pulleys; ``effort``: stiffness, damping."""
    m, (stiffness, damping) = places.m, effort
    try:
        path = path_of(places, tendon, at)
        if not _moves(path):
            places.notes.read(f"tendon '{name}' stays on one body: no effort", at)
            return
        lower, upper = (float(bound) for bound in m.tendon_lengthspring[tendon])
        forces: list[Force] = []
        if stiffness and lower == upper:
            damped: dict[str, Any] = {"damping": damping, "one_sided": False}
            forces.append(Tendon(f"tendon {name}", path=path, stiffness=stiffness, rest_length=upper, **damped))
            damping = 0.0
        elif stiffness and lower <= 0.0:
            forces.append(Tendon(f"tendon {name}", path=path, stiffness=stiffness, rest_length=upper))
        elif stiffness:
            places.notes.left_out(f"spring of tendon '{name}' with a range of rest", at)
        if damping:
            two_sided: dict[str, Any] = {"stiffness": 0.0, "damping": damping, "one_sided": False}
            forces.append(Tendon(f"damping of tendon {name}", path=path, **two_sided))
    except MechanismError as problem:
        places.notes.left_out(f"tendon '{name}': {problem}", at)
        return
    yield from forces
    places.notes.read(f"tendon '{name}' over sites, surfaces and pulleys is a Tendon", at)


def _moves(path: list[Entry]) -> bool:
    return len({entry.body for entry in path if not isinstance(entry, Pulley)}) > 1


def is_muscle(m: Any, actuator: int) -> bool:
    """Return whether an actuator is a muscle along a tendon, as MuJoCo's <muscle> makes it."""
    return bool(
        m.actuator_trntype[actuator] == TRN_TENDON
        and m.actuator_gaintype[actuator] == GAIN_MUSCLE
        and m.actuator_biastype[actuator] in (BIAS_NONE, BIAS_MUSCLE)
        and m.actuator_dyntype[actuator] in (DYN_NONE, DYN_MUSCLE)
        and m.wrap_type[wraps_of(m, int(m.actuator_trnid[actuator, 0]))[0]]
        in (WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE, WRAP_CYLINDER)
    )


def muscle(
    places: Places, actuator: int, name: str, at: XMLElement, control: float, tendon_at: Callable[[int], XMLElement]
) -> Iterator[Force]:
    """Yield the muscle of an actuator, at a constant control."""
    m, notes = places.m, places.notes
    tendon = int(m.actuator_trnid[actuator, 0])
    low, high = (float(bound) for bound in m.actuator_lengthrange[actuator])
    gain, bias = m.actuator_gainprm[actuator], m.actuator_biasprm[actuator]
    passive = m.actuator_biastype[actuator] == BIAS_MUSCLE
    if not low < high:
        notes.left_out(f"muscle '{name}' without a lengthrange: write it out", at)
        return
    if passive and not np.array_equal(gain[:9], bias[:9]):
        notes.left_out(f"muscle '{name}' with other numbers in biasprm than in gainprm", at)
        return
    begin, end, force, scale, lmin, lmax, fastest, fpmax, fvmax = (float(one) for one in gain[:9])
    gear = float(m.actuator_gear[actuator, 0])
    strength = force if force >= 0.0 else scale / max(1e-15, float(m.actuator_acc0[actuator]))
    optimal = (high - low) / (end - begin) if end > begin else math.nan
    dynamic = m.actuator_dyntype[actuator] == DYN_MUSCLE
    rise, fall, blend = (float(one) for one in m.actuator_dynprm[actuator, :3])
    try:
        made = Musculotendon(
            f"actuator {name}",
            path=path_of(places, tendon, tendon_at(tendon)),
            max_force=strength * gear,
            optimal_length=optimal / gear,
            slack_length=(low - begin * optimal) / gear,
            curves="mujoco",
            shape=(lmin, lmax, fpmax if passive else 0.0, fvmax),
            max_velocity=fastest,
            activation_times=(rise, fall) if dynamic else None,
            activation_blend=blend if dynamic else 0.0,
            excitation=np.array(control),
        )
    except (MechanismError, ZeroDivisionError) as problem:
        notes.left_out(f"muscle '{name}': {problem}", at)
        return
    if not _moves(list(made.path)):
        notes.read(f"muscle '{name}' stays on one body: no effort", at)
        return
    yield made
    notes.read(f"muscle '{name}' is a Musculotendon at the excitation {control:g}", at)
