"""Oddities of a description that can run: points beside their bodies, sizes, densities, rates, and hinges of loops."""

from collections.abc import Iterable

import numpy as np

from varint.base.display import numbers_text
from varint.kinematics.open_loops import loop_through
from varint.kinematics.stand_ins import stand_ins
from varint.model.body import WORLD, Body
from varint.model.degrees import rates_in_degrees
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Slide, Turn, coordinate_units
from varint.model.rotation_vectors import rotation_matrix
from varint.model.solid import Solid
from varint.model.structure import Structure
from varint.plan import Compiled

SLENDER = 4.0  # times its thickness: a rod, whose joints are expected on it
BESIDE = 0.25  # lengths of a rod: a joint's point that is farther from it
APART = 1000.0  # largest size of a body over the smallest
THIN_AIR = 1.0  # kg/m^3: no solid body is as light
FOAM = 15.0  # kg/m^3: lighter bodies have a density in g/cm^3
DENSEST = 3e6  # kg/m^3: denser ones have it in g/m^3; lines that stand for rods may be thin
FASTEST = 75.0  # m/s, of the far end of a body by a rate of the start: few linkages are faster
STRONGEST = 100.0  # m/s^2, of gravity
OUTSIDE = 3.0  # times the distance between a body's joints: how far its centre of mass is from them
THREAD, LONG = 0.02, 10.0  # kg/m, m: a longer and lighter body between its joints has lengths in millimetres
WIDE = 100.0  # times the distance between its joints: a body whose inertia is in kg mm^2
PARALLEL = 1e-6  # between axes
NEARLY = np.radians(10.0)  # rad: axes nearer than this to parallel are meant to be so
METRES = "lengths are in metres, not in millimetres"


def oddities(structure: Structure, compiled: Compiled) -> tuple[str, ...]:
    """Return sentences on parts of the description that look wrong, though they can be meant."""
    return (
        *_points_beside(structure),
        *_sizes(structure),
        *_densities(structure),
        *_far_centres(structure),
        *_gravity(structure),
        *(f"{label}: {rate:g} rad/s, {rate / (2 * np.pi):.3g} turns a second, looks like degrees a second"
          for label, rate in rates_in_degrees(structure)),
        *_fast_ends(structure),
        *odd_hinges(structure, compiled),
    )  # fmt: skip


def odd_hinges(structure: Structure, compiled: Compiled) -> tuple[str, ...]:
    """Return a sentence on each hinge of a planar loop that is the only one about another axis, or nearly parallel."""
    sentences: dict[str, str] = {}
    for cut in [joint for _, cuts in compiled.topology.clusters for joint in cuts]:
        loop = [structure.joints[j] for j in loop_through(structure, [cut], ())]
        hinges = [joint for joint in loop if _turns(joint) and joint.dof == 1]
        slides = [joint for joint in loop if _slides(joint)]
        if len(loop) < 4 or len(hinges) < 3 or len(hinges) + len(slides) < len(loop):
            continue
        nearly = _nearly_parallel(hinges)
        if nearly:
            sentences |= nearly
            continue
        for hinge in hinges:
            others = [other.frame[:, 2] for other in hinges if other is not hinge]
            if all(_parallel(axis, others[0]) for axis in others) and not _parallel(hinge.frame[:, 2], others[0]):
                sentences[hinge.name] = (
                    f"{hinge.label} turns about {numbers_text(hinge.frame[:, 2])} in the world, the other hinges of its"
                    f" loop, {', '.join(repr(other.name) for other in hinges if other is not hinge)}, about"
                    f" {numbers_text(others[0])}: it cannot turn, and locks a loop of four"
                )
    return tuple(sentences.values())


def _nearly_parallel(hinges: list[Joint]) -> dict[str, str]:
    """Return a sentence on each of the ``hinges`` of a loop that is off the direction of most, by name.

    Empty if they are parallel, or if axes differ by more than `NEARLY`, as those of spatial loops do.
    """
    axes = np.array([hinge.frame[:, 2] for hinge in hinges])
    sines = np.linalg.norm(np.cross(axes[:, None], axes[None]), axis=2)
    if sines.max() < PARALLEL or sines.max() > np.sin(NEARLY):
        return {}
    common = int((sines < PARALLEL).sum(axis=1).argmax())
    sentences = {}
    for k in np.flatnonzero(sines[common] >= PARALLEL).tolist():
        off = np.degrees(np.arcsin(sines[common, k]))
        sentences[hinges[k].name] = (
            f"{hinges[k].label} turns about {numbers_text(axes[k])} in the world, {off:.3g} degrees off"
            f" '{hinges[common].name}' in its loop, {numbers_text(axes[common])}: a planar loop moves only if its"
            " hinges are parallel"
        )
    return sentences


def locked_by(structure: Structure, compiled: Compiled) -> str:
    """Return the sentences of `odd_hinges`, in an error on a loop that cannot move; empty if there is no such hinge."""
    sentences = odd_hinges(structure, compiled)
    return f"Its loop is locked: {'; '.join(sentences)}" if sentences else ""


def _turns(joint: Joint) -> bool:
    """Return whether a joint turns about its point alone."""
    return bool(joint.allowed) and all(isinstance(motion, Turn | Ball) for motion in joint.allowed)


def _slides(joint: Joint) -> bool:
    """Return whether a joint slides along its axis alone."""
    return joint.dof == 1 and isinstance(joint.allowed[0], Slide)


def _parallel(axis: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.linalg.norm(np.cross(axis, other)) < PARALLEL)


def _points_beside(structure: Structure) -> Iterable[str]:
    for joint in structure.joints:
        for end, point in zip((joint.body_a, joint.body_b), structure.anchors(joint), strict=True):
            if end != WORLD and _turns(joint):
                yield from _beside(structure.body(end), joint, point)


def _beside(body: Body, joint: Joint, point: np.ndarray) -> Iterable[str]:
    """Yield a sentence if a joint's ``point`` (3,) is far from a ``body`` that is a rod."""
    if not body.solids or not any(_is_slender(solid) for solid in body.solids):
        return
    place = rotation_matrix(body.quat_wxyz).T @ (point - body.position)
    distance = min(_distance(solid, place) for solid in body.solids)
    length = max(_edges(solid).max() for solid in body.solids)
    if distance > BESIDE * length:
        yield (
            f"the point {numbers_text(point)} of {joint.label} is {distance:.3g} m from '{body.name}', which is"
            f" {length:.3g} m long"
        )


def _edges(solid: Solid) -> np.ndarray:
    """Return the sizes (3,) of the box about a solid along its axes, m."""
    sizes = solid.sizes
    if solid.kind in ("cylinder", "capsule"):
        ends = 2.0 * sizes[0] if solid.kind == "capsule" else 0.0
        return np.array([2.0 * sizes[0], 2.0 * sizes[0], sizes[1] + ends])
    if solid.kind == "mesh":
        return np.ptp(solid.vertices, axis=0) if len(solid.vertices) else np.zeros(3)
    return {"box": sizes, "sphere": np.repeat(2.0 * sizes[:1], 3), "ellipsoid": 2.0 * sizes}[solid.kind]


def _is_slender(solid: Solid) -> bool:
    _, middle, longest = np.sort(_edges(solid))
    return bool(longest > SLENDER * middle and solid.kind != "mesh")


def _distance(solid: Solid, place: np.ndarray) -> float:
    """Return the distance of a point (3,), from the centre of mass in body axes, from the box about a solid, m."""
    centre = np.zeros(3) if solid.kind != "mesh" else 0.5 * (solid.vertices.min(axis=0) + solid.vertices.max(axis=0))
    inside = rotation_matrix(solid.quat_wxyz).T @ (place - solid.position) - centre
    return float(np.linalg.norm(np.maximum(np.abs(inside) - 0.5 * _edges(solid), 0.0)))


def _sizes(structure: Structure) -> Iterable[str]:
    left_out = structure.rotors | _phantoms(structure)
    sizes = {body.name: _size(body) for body in structure.bodies if body.name not in left_out}
    if not sizes:
        return
    largest, smallest = max(sizes, key=sizes.__getitem__), min(sizes, key=sizes.__getitem__)
    if sizes[largest] > APART * sizes[smallest]:
        yield f"'{largest}' is {sizes[largest]:.3g} m long, '{smallest}' {sizes[smallest]:.3g} m: {METRES}"
    for body in structure.bodies:
        volume = sum(_volume(solid) for solid in body.solids)
        if volume and body.mass < THIN_AIR * volume:
            yield f"'{body.name}' has {body.mass:.3g} kg in {volume:.3g} m^3, less than air: {METRES}"


def _phantoms(structure: Structure) -> set[str]:
    """Return the names of `stand_ins` between joints; a last body with such an inertia has it in other units."""
    ends = [end for joint in structure.joints for end in (joint.body_a, joint.body_b)]
    names = [structure.bodies[number].name for number in stand_ins(structure, [_half(b) for b in structure.bodies])]
    return {name for name in names if ends.count(name) > 1}


def _half(body: Body) -> float:
    """Return half of the longest edge of the uniform box that has the inertia of a body, m."""
    principal = np.linalg.eigvalsh(body.inertia)
    return float(np.sqrt(3.0 * max(0.5 * principal.sum() - principal[0], 0.0) / body.mass))


def _densities(structure: Structure) -> Iterable[str]:
    """Yield a sentence on each body whose density is off by the factors that other units have."""
    for body in structure.bodies:
        volume = sum(_volume(solid) for solid in body.solids)
        if not volume or body.name in structure.rotors:
            continue
        density = body.mass / volume
        if THIN_AIR <= density < FOAM or density > DENSEST:
            unit = "g/cm^3" if density < FOAM else "g/m^3"
            yield (
                f"'{body.name}' has a density of {density:.3g} kg/m^3 ({body.mass:.3g} kg in {volume:.3g} m^3):"
                f" densities are in kg/m^3, not in {unit}; water has 1000, steel 7800"
            )


def _far_centres(structure: Structure) -> Iterable[str]:
    """Yield a sentence on each body whose centre of mass, size or mass does not fit the joints that it has."""
    points: dict[str, list[np.ndarray]] = {}
    for joint in structure.joints:
        for end, point in zip((joint.body_a, joint.body_b), structure.anchors(joint), strict=True):
            if _turns(joint):
                points.setdefault(end, []).append(point)
    for body in structure.bodies:
        at = np.array(points.get(body.name, []))
        if len(at) < 2 or body.name in structure.rotors:
            continue
        span = float(np.linalg.norm(at[:, None] - at[None], axis=2).max())
        away = float(np.linalg.norm(at - body.position, axis=1).min())
        size = _size(body)
        if away > OUTSIDE * max(span, size) > 0.0:
            yield (
                f"the centre of mass of '{body.name}', {numbers_text(body.position)}, is {away:.3g} m from the nearest"
                f" of its joints, which are {span:.3g} m apart: is position= of the body in the world?"
            )
        elif not body.solids and span > 0.0 and size > WIDE * span:
            yield (
                f"'{body.name}' has the inertia of a rod of {size:.3g} m, and joints {span:.3g} m apart: inertias"
                " are in kg m^2, not in kg mm^2"
            )
        elif not body.solids and span > LONG and body.mass < THREAD * span:
            yield f"'{body.name}' has {body.mass:.3g} kg over {span:.3g} m between its joints: {METRES}"


def _gravity(structure: Structure) -> Iterable[str]:
    strength = float(np.linalg.norm(structure.gravity))
    if strength > STRONGEST:
        yield f"gravity is {strength:.6g} m/s^2: it is in m/s^2, not in mm/s^2"


def _fast_ends(structure: Structure) -> Iterable[str]:
    """Yield a sentence on each rate of the start by which the far end of a body is faster than most things are."""
    told = {label for label, _ in rates_in_degrees(structure)}
    for name, values in (structure.start.get("rates") or {}).items():
        joint = structure.joint(name)
        label = f"rates of {joint.label} in start"
        if joint.dof != 1 or coordinate_units(joint) != ["rad"] or label in told:
            continue
        rate = float(np.ravel(values)[0])
        for end, point in zip((joint.body_b, joint.body_a), structure.anchors(joint)[::-1], strict=True):
            if end == WORLD:
                continue
            body = structure.body(end)
            reach = float(np.linalg.norm(point - body.position)) + 0.5 * _size(body)
            if abs(rate) * reach > FASTEST:
                yield (
                    f"{label}: {rate:g} rad/s, {rate / (2 * np.pi):.3g} turns a second, moves the far end of '{end}' at"
                    f" {abs(rate) * reach:.3g} m/s: rates are in rad/s, not in degrees a second"
                )
            break


def _size(body: Body) -> float:
    """Return the length of a body, m: of its solids, else as its inertia implies."""
    if body.solids:
        return float(max(_edges(solid).max() for solid in body.solids))
    return float(np.sqrt(12.0 * np.linalg.eigvalsh(body.inertia)[-1] / body.mass))


def _volume(solid: Solid) -> float:
    """Return the volume of a solid, m^3; zero of a mesh."""
    fill = {"box": 1.0, "cylinder": np.pi / 4.0, "capsule": np.pi / 6.0, "mesh": 0.0}.get(solid.kind, np.pi / 6.0)
    return float(fill * np.prod(_edges(solid)))
