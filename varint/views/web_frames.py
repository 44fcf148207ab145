"""The motion of a run as data for the page in the browser: frames, curves and arrows, encoded."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from varint.drawing.scene import placed, skins_of, strands_of
from varint.drawing.wrapped import arc_points
from varint.kinematics.frames import with_world
from varint.model.rotation_vectors import quat_product, rotation_matrix, turned, vector_from_quat
from varint.results.record import ChosenNodes
from varint.results.recorded_motion import RecordedMotion
from varint.results.table_columns import GROUPS, Column, columns
from varint.views.poses import poses_of
from varint.views.web_scene import encoded, numbered

ENERGIES = ("kinetic", "potential", "energy")
CURVES = (*ENERGIES, "coordinates", "force", "rates")
MOST_CURVES = 200
MOST_RATES = 30  # joints: of larger mechanisms rates are left out
UNIT = 32767  # of a component of a quaternion or an arrow
LEVELS = 65535  # of a curve
FULL = 255  # of an activation
BENT = 1e-3  # rad, and sizes of a part: how far lines between frames may be from the motion without velocities
FURTHEST = 2.5  # rad from frame to frame: which way a body turned further is not known
SWUNG = 0.3  # of the way by its rates: where a body misses that by more its motion between nodes is not known
ARC_POINTS = 13  # of a line around a surface


class Arrows(NamedTuple):
    """Vectors (T, n, 3) in the world at the bodies or joints ``numbers`` (n,)."""

    title: str
    unit: str
    numbers: np.ndarray
    vectors: np.ndarray


def curve_names(trajectory: RecordedMotion) -> list[dict[str, str]]:
    """Return name, unit and group of each curve, in the order of the curves in the frames."""
    first = type(trajectory)(trajectory.record.part(ChosenNodes(trajectory.nodes, slice(0, 1))))
    return [{"name": c.name, "unit": c.unit, "group": group} for group, c in _curves(first)]


def _curves(trajectory: RecordedMotion) -> list[tuple[str, Column]]:
    curves: list[tuple[str, Column]] = []
    groups = CURVES if len(GROUPS["rates"].shown_names(trajectory)) <= MOST_RATES else CURVES[:-1]
    for group in groups:
        kind = GROUPS[group].of
        named = GROUPS[group].shown_names(trajectory)[: MOST_CURVES - len(curves)] if kind else None
        label = "energy" if group in ENERGIES else group
        curves += [(label, column) for column in columns(trajectory, group, named)]
    return curves[:MOST_CURVES]


def frames_data(trajectory: RecordedMotion) -> dict[str, Any]:
    """Return the nodes of a trajectory, JSON-ready.

    Times are doubles, positions floats, components of quaternions whole numbers over 32767. A curve lies between its
    ``low`` and ``high`` in 65535 steps, vectors are whole numbers over 32767 times their ``scale``; points of arcs are
    floats, activations bytes over 255. Of contacts there are the number in each frame, and the points and forces of all
    frames as floats, in the world. All are little-endian bytes in base64, frame by frame.

    Where lines between frames would not show the motion there are ``velocities`` of bodies: 3 of the position, world,
    and 3 angular ones, body axes, whole numbers over 32767 times ``scale``, m/s, and ``turning``, rad/s;
    and ``strikes``, whether stops or contacts may change them at once.
    """
    curves = np.array([column.values for _, column in _curves(trajectory)])
    low, high = curves.min(axis=1, initial=np.inf), curves.max(axis=1, initial=-np.inf)
    low, high = (np.nan_to_num(ends, posinf=0.0, neginf=0.0) for ends in (low, high))
    width = np.where(high > low, high - low, 1.0)
    levels = np.round(np.nan_to_num((curves.T - low) / width) * LEVELS)
    return {
        "count": len(trajectory),
        "t": encoded(trajectory.t, "<f8"),
        "position": encoded(trajectory.position, "<f4"),
        "quat": encoded(np.round(trajectory.quat_wxyz * UNIT), "<i2"),
        "velocities": _velocities(trajectory),
        "curves": {"low": low.tolist(), "high": high.tolist(), "levels": encoded(levels, "<u2")},
        "arrows": [_arrows_data(arrows) for arrows in _arrows(trajectory)],
        "contacts": _contacts(trajectory),
        "arcs": encoded(_arcs(trajectory), "<f4"),
        "skins": encoded(_skins(trajectory), "<f4"),
        "activations": encoded(np.round(_activations(trajectory) * FULL), "<u1"),
    }


def _velocities(trajectory: RecordedMotion) -> dict[str, Any] | None:
    """Return the velocities of the bodies at the nodes; None where lines between these show the motion.

    None, too, where a body swings to and fro between nodes, so that velocities there would lead curves astray.
    """
    parts, sizes = (trajectory.velocity, trajectory.angular_velocity), (trajectory.mechanism.compiled.length, 1.0)
    spacing = np.diff(trajectory.t)[:, None]
    # m and rad, between chords and parabolas
    chords = [0.125 * spacing * np.linalg.norm(np.diff(part, axis=0), axis=2) for part in parts]
    if len(trajectory) > 1 and all((chord <= BENT * size).all() for chord, size in zip(chords, sizes, strict=True)):
        return None
    if any(
        _swings(*motion, spacing[..., None])
        for motion in zip(_moved(trajectory), parts, sizes, (np.inf, FURTHEST), strict=True)
    ):
        return None
    scales = [float(np.abs(part).max(initial=0.0)) or 1.0 for part in parts]
    values = np.concatenate([part / scale for part, scale in zip(parts, scales, strict=True)], axis=2)
    strikes = bool({"hard", "contacts"} & set().union(*trajectory.mechanism.force_traits))
    return {
        "scale": scales[0],
        "turning": scales[1],
        "strikes": strikes,
        "values": encoded(np.round(values * UNIT), "<i2"),
    }


def _moved(trajectory: RecordedMotion) -> tuple[np.ndarray, np.ndarray]:
    """Return how bodies move, m, world, and turn, rad, body axes, from node to node, (T - 1, nb, 3) each."""
    back = trajectory.quat_wxyz[:-1] * [1.0, -1.0, -1.0, -1.0]
    turn = quat_product(back, trajectory.quat_wxyz[1:])
    return np.diff(trajectory.position, axis=0), vector_from_quat(np.where(turn[..., :1] < 0.0, -turn, turn))


def _swings(moved: np.ndarray, rates: np.ndarray, size: float, furthest: float, spacing: np.ndarray) -> bool:
    """Return whether a body swings to and fro between nodes, so that its rates (T, nb, 3) there lead curves astray.

    ``moved`` (T - 1, nb, 3): what it does from node to node; ``size``: what matters, m or rad; ``furthest``: from where
    on that is not known, as turns are not.
    """
    ways = spacing * np.maximum(np.linalg.norm(rates[1:], axis=-1), np.linalg.norm(rates[:-1], axis=-1))[..., None]
    shown = ways < furthest
    missed = np.where(shown, moved - 0.5 * spacing * (rates[1:] + rates[:-1]), 0.0)
    whole = np.where(shown, spacing * rates[1:], 0.0)
    astray = np.square(missed).sum(axis=(0, 2)) > SWUNG**2 * np.square(whole).sum(axis=(0, 2))
    return bool((astray & (ways.max(axis=(0, 2), initial=0.0) > BENT * size)).any())


def _contacts(trajectory: RecordedMotion) -> dict[str, str]:
    """Return the points where bodies touch, m, and the forces there, N, on the first of both bodies."""
    touching = trajectory.contacts
    counts = np.bincount(touching.node, minlength=len(trajectory))
    return {
        "counts": encoded(counts, "<u2"),
        "points": encoded(touching.point, "<f4"),
        "forces": encoded(touching.force, "<f4"),
    }


def _arcs(trajectory: RecordedMotion) -> np.ndarray:
    """Return points (T, n, ARC_POINTS, 3), m, body axes of the surfaces, along each of n lines around them."""
    pieces = [
        (strand.bodies[k : k + 2], strand.points[k : k + 2], shape)
        for strand in strands_of(trajectory.mechanism)
        for k, shape in enumerate(strand.surfaces)
        if shape is not None
    ]
    arcs = np.zeros((len(trajectory), len(pieces), ARC_POINTS, 3))
    for node_arcs, position, quat in zip(
        arcs if pieces else (), trajectory.position, trajectory.quat_wxyz, strict=False
    ):
        x, R = with_world(position, quat)
        for arc, (bodies, points, shape) in zip(node_arcs, pieces, strict=True):
            centre, axes = placed(x, R, shape.body, shape.centre), R[shape.body]
            begin, end = ((placed(x, R, body, at) - centre) @ axes for body, at in zip(bodies, points, strict=True))
            arc[:] = shape.centre + arc_points(shape, begin, end, ARC_POINTS)
    return arcs


def _skins(trajectory: RecordedMotion) -> np.ndarray:
    """Return the surface vertices (T, n, 3), m, world, of all deformable bodies."""
    x, _ = poses_of(trajectory)
    return x[:, [number for surface, _ in numbered(skins_of(trajectory.mechanism)) for number in surface]]


def _activations(trajectory: RecordedMotion) -> np.ndarray:
    """Return the activation (T, n), 0 to 1, of each line of a force that has one."""
    forces = trajectory.mechanism.forces
    numbers = [strand.force for strand in strands_of(trajectory.mechanism) if forces[strand.force].activated]
    activations = [trajectory.law_state[forces[k].name] for k in numbers]
    columns = [trajectory.command[:, k] if a.ndim > 1 else a for k, a in zip(numbers, activations, strict=True)]
    return np.clip(np.array(columns).reshape(len(numbers), len(trajectory)).T, 0.0, 1.0)


def _arrows_data(arrows: Arrows) -> dict[str, Any]:
    scale = float(np.abs(arrows.vectors).max(initial=0.0)) or 1.0
    return {
        "what": arrows.title,
        "unit": arrows.unit,
        "numbers": arrows.numbers.tolist(),
        "scale": scale,
        "vectors": encoded(np.round(arrows.vectors / scale * UNIT), "<i2"),
    }


def _arrows(trajectory: RecordedMotion) -> Iterable[Arrows]:
    """Yield arrows of springs, motors and loads together on each body, and of each joint on its body b.

    None of zero, and none at bodies that stand for armature.
    """
    mechanism = trajectory.mechanism
    shown = np.array([name not in mechanism.rotors for name in mechanism.body_index])
    load = (trajectory.load + trajectory.forces_along.load) * shown[:, None]
    axes = rotation_matrix(trajectory.quat_wxyz)
    joints = () if skins_of(mechanism) else mechanism.joints  # no reactions beside vertices
    reactions = [trajectory.reactions[joint.name] for joint in joints]
    listed = np.array([joint.name not in mechanism.rotors for joint in joints])
    none = np.zeros((len(trajectory), 0, 3))
    yield _kept("force", "N", load[..., :3])
    yield _kept("torque", "N m", turned(axes, load[..., 3:]))
    yield _kept(
        "reaction", "N", np.stack([r.force for r in reactions], axis=1) * listed[:, None] if reactions else none
    )
    yield _kept(
        "reaction torque",
        "N m",
        np.stack([r.torque for r in reactions], axis=1) * listed[:, None] if reactions else none,
    )


def _kept(title: str, unit: str, vectors: np.ndarray) -> Arrows:
    vectors = np.nan_to_num(vectors)
    numbers = np.flatnonzero(np.abs(vectors).max(axis=(0, 2), initial=0.0) > 0)
    return Arrows(title, unit, numbers, vectors[:, numbers])
