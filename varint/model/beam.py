"""Flexible links: beams as chains of bodies with elastic elements between them, and cables as chains of points."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import (
    MOST,
    array_of,
    check_name,
    finite,
    not_negative,
    of_type,
    positive,
    unit_axis,
    whole_number,
)
from varint.base.errors import MechanismError
from varint.model.body import WORLD, Body
from varint.model.bounds import bounded
from varint.model.forces.base import Force
from varint.model.forces.beam_element import BeamElement
from varint.model.forces.spring import Cable
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint, frame_about
from varint.model.mechanism_parts import MechanismParts
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.sagging import sagging_points
from varint.model.section import Section
from varint.model.shapes import quat_from_z
from varint.model.solid import Solid

GREGORY = (-5.0 / 8.0, 1.0 / 6.0, -1.0 / 24.0)  # corrections of the weights at either end
POINT = 0.02  # radius of a node of a cable in lengths of a segment
ALONG_X = quat_from_z(np.array([1.0, 0.0, 0.0]))


def beam(
    name: str,
    body_a: str | None = None,
    body_b: str | None = None,
    *,
    point_a: ArrayLike,
    point_b: ArrayLike,
    elements: int,
    section: Section,
    normal: ArrayLike | None = None,
    curvature: float = 0.0,
    damping: float = 0.0,
) -> MechanismParts:
    """Return an elastic beam from ``point_a`` of body a to ``point_b`` of body b (3,), m, world, reference.

    Parameters
    ----------
    body_a, body_b : str or None
        Bodies, "world" among them, that the ends are clamped to. None leaves an end free: joints of the mechanism may
        name its node, "NAME 0" at point_a or "NAME n" at point_b, for a hinge.
    elements : int
        n, from 1. The nodes are n + 1 bodies, evenly spread, whose masses are the weights of Gregory's rule. An end in
        the world has no node. Nodes are named "NAME 0", at point_a, to "NAME n".
    section : Section
        Stiffnesses and masses per length.
    normal : (3,), optional
        Direction of the section's y, world; its part along the chord is left out. Where not given, any.
    curvature : float
        Of the unloaded beam, an arc from point_a to point_b, 1/m: positive if it is centred on the side of ``normal``.
    damping : float
        Relaxation time of Kelvin-Voigt damping, s: damping over stiffness of each element.

    Without loads the beam keeps the shape of the reference configuration. Raises MechanismError.
    """
    label = f"beam '{check_name(name, 'a beam')}'"
    a, b = _points(point_a, point_b, label)
    elements = whole_number(elements, f"elements of {label}", 1, most=MOST)
    of_type(section, Section, f"section of {label}", MechanismError)
    damping = not_negative(damping, f"damping of {label}")
    ends = _ends(body_a, body_b, elements, label)
    axes = _chord_axes(b - a, normal, label)
    points, frames, middles, length = _arc(a, b, axes, finite(curvature, f"curvature of {label}"), elements, label)
    stiffness = section.stiffness(length)
    masses = _shares(elements)
    bodies = [
        _node(f"{name} {k}", points[k], frames[k], section, length, (k > 0, k < elements), masses[k])
        for k in range(elements + 1)
        if ends.get(k) != WORLD
    ]
    names = [WORLD if ends.get(k) == WORLD else f"{name} {k}" for k in range(elements + 1)]
    if not bodies:
        raise MechanismError(f"{label} has no node that moves: give it more elements or free one end")
    joints: list[Joint] = [
        REGISTRY["Fixed"](names[k], ends[k], names[k], point=points[k]) for k in ends if names[k] != WORLD
    ]
    # each node follows the one before; a node that is clamped has its joint already
    joints += [
        REGISTRY["Free"](names[k + 1], names[k], names[k + 1], point=points[k + 1])
        for k in range(elements)
        if k + 1 not in ends
    ]
    forces: list[Force] = [
        BeamElement(
            f"{name} {k}", names[k], names[k + 1], point_a=points[k], point_b=points[k + 1], axes=middles[k],
            stiffness=stiffness, damping=damping * stiffness,
        )
        for k in range(elements)
    ]  # fmt: skip
    return MechanismParts(bodies, joints, forces)


def cable(
    name: str,
    body_a: str,
    body_b: str,
    *,
    point_a: ArrayLike,
    point_b: ArrayLike,
    elements: int,
    section: Section,
    length: float | None = None,
    damping: float = 0.0,
    down: ArrayLike = (0.0, 0.0, -1.0),
) -> MechanismParts:
    """Return a cable without bending stiffness, held at ``point_a`` of body a and ``point_b`` of body b (3,), m, world.

    Parameters
    ----------
    body_a, body_b : str
        "world" among them.
    elements : int
        n, from 2. The inner nodes are n - 1 points that move freely in space, bodies "NAME 1" to "NAME n-1" (for
        contacts, traces and tables); half an n-th of the mass is welded to either body, as "NAME 0" and "NAME n"; an
        end in the world has none. The elements are the forces "NAME 0" to "NAME n-1", `Cable`.
    section : Section
        Its EA and mass_per_length count. An element pulls, and is slack where it is shorter than an n-th of the length.
    length : float, optional
        Unloaded, m; the distance of the points where not given.
    damping : float
        Relaxation time, s: damping over stiffness of each element.
    down : (3,)
        Direction in which the reference configuration of a cable longer than that distance sags, on an arc.

    Raises MechanismError.
    """
    label = f"cable '{check_name(name, 'a cable')}'"
    a, b = _points(point_a, point_b, label)
    elements = whole_number(elements, f"elements of {label}", 2, most=MOST)
    of_type(section, Section, f"section of {label}", MechanismError)
    for end, which in ((body_a, "body_a"), (body_b, "body_b")):
        check_name(end, f"{which} of {label}")
    distance = float(np.linalg.norm(b - a))
    whole = distance if length is None else positive(length, f"length of {label}")
    rest, damping = whole / elements, not_negative(damping, f"damping of {label}")
    points = sagging_points(a, b, rest, elements, unit_axis(down, f"down of {label}"), label)
    ends, bodies, joints, names = {0: body_a, elements: body_b}, [], [], []
    for k, point in enumerate(points):
        parent = ends.get(k, WORLD)
        names.append(parent if k in ends and parent == WORLD else f"{name} {k}")
        if names[k] != WORLD:
            mass = section.mass_per_length * rest * (0.5 if k in ends else 1.0)
            bodies.append(Body.sphere(names[k], radius=POINT * rest, mass=mass, position=point))
            joints.append(REGISTRY["Fixed" if k in ends else "Translational"](names[k], parent, names[k], point=point))
    stiffness = section.EA / rest
    forces: list[Force] = [
        Cable(
            f"{name} {k}", near, far, point_a=points[k], point_b=points[k + 1], rest_length=rest, stiffness=stiffness,
            damping=damping * stiffness,
        )
        for k, (near, far) in enumerate(pairwise(names))
    ]  # fmt: skip
    return MechanismParts(bodies, joints, forces)


def _points(point_a: ArrayLike, point_b: ArrayLike, label: str) -> tuple[np.ndarray, np.ndarray]:
    a, b = array_of(point_a, (3,), f"point_a of {label}"), array_of(point_b, (3,), f"point_b of {label}")
    bounded(np.array([a, b]), f"points of {label}")
    if np.linalg.norm(b - a) == 0.0:
        raise MechanismError(f"{label} needs two points that are apart")
    return a, b


def _ends(body_a: str | None, body_b: str | None, elements: int, label: str) -> dict[int, str]:
    """Return the body that each clamped end is fixed to, by node."""
    ends = {}
    for node, body, which in ((0, body_a, "body_a"), (elements, body_b, "body_b")):
        if body is not None:
            ends[node] = check_name(body, f"{which} of {label}")
    return ends


def _chord_axes(chord: np.ndarray, normal: ArrayLike | None, label: str) -> np.ndarray:
    """Return axes (3, 3), columns: x along the chord, y along the normal's part across it, z."""
    x = chord / np.linalg.norm(chord)
    if normal is None:
        y = frame_about(x)[:, 0]
    else:
        y = unit_axis(normal, f"normal of {label}")
        y = y - (y @ x) * x
        if np.linalg.norm(y) < 1e-6:
            raise MechanismError(f"normal of {label} must not be along the beam, got {np.asarray(normal).tolist()}")
        y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _arc(
    a: np.ndarray, b: np.ndarray, axes: np.ndarray, curvature: float, elements: int, label: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return nodes (n + 1, 3) and axes (n + 1, 3, 3) on the arc, axes at the middles (n, 3, 3), an element's length."""
    chord = float(np.linalg.norm(b - a))
    bend = 0.5 * curvature * chord  # sine of half the arc's angle
    if abs(bend) > 1.0:
        raise MechanismError(
            f"curvature of {label} must be at most 2 over the distance of its points, {2 / chord:g} 1/m"
        )
    half = float(np.arcsin(bend))
    angle = np.linspace(-half, half, elements + 1)
    along = np.linspace(0.0, 1.0, elements + 1)
    points = a + along[:, None] * (b - a)
    if half != 0.0:
        R = 1.0 / curvature
        across = R * (np.sin(angle)[:, None] * axes[:, 0] + (np.cos(half) - np.cos(angle))[:, None] * axes[:, 1])
        points = 0.5 * (a + b) + across
        points[0], points[-1] = a, b
    length = chord / elements if half == 0.0 else 2.0 * half / curvature / elements
    middle = 0.5 * (angle[1:] + angle[:-1])
    return points, *(np.array([axes @ _about_z(t) for t in turn]) for turn in (angle, middle)), length


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _shares(elements: int) -> np.ndarray:
    """Return masses (n + 1,) of the nodes in masses of an element: weights of an integral, exact for cubics from n = 2.

    So the inertia of the whole is exact, and frequencies of bending are of fourth order in the length of an element.
    """
    shares = np.ones(elements + 1)
    corrections = GREGORY if elements > 1 else (-0.5,)
    for k, correction in enumerate(corrections):
        shares[k] += correction
        shares[-1 - k] += correction
    return shares


def _node(
    name: str, point: np.ndarray, axes: np.ndarray, section: Section, length: float, pieces: tuple[bool, bool],
    share: float,
) -> Body:  # fmt: skip
    """Return a node with half an element of ``length`` on each side that has one of the ``pieces``.

    It has a ``share`` of the mass of an element, and of the rotational inertia of the section. Rotational inertia of
    the pieces, which the motion of the nodes has already, would make the error one of second order.
    """
    size, line_inertia = section.size, section.inertia_per_length
    assert size is not None  # since the section was made
    assert line_inertia is not None
    l = 0.5 * length * sum(pieces)
    mass, inertia = section.mass_per_length * length * share, length * share * line_inertia
    place = (0.25 * length * (int(pieces[1]) - int(pieces[0])), 0.0, 0.0)
    solid = (
        Solid("cylinder", np.array([0.5 * size[0], l]), np.array(place), ALONG_X)
        if section.round
        else Solid("box", np.array([l, *size]), np.array(place))
    )
    return Body(
        name, mass=mass, inertia=np.diag(inertia), position=point, quat_wxyz=quat_from_matrix(axes), solids=(solid,)
    )
