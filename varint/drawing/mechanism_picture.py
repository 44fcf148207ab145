"""Draw a mechanism: at one instant, or as poses over a run, the earlier ones paler."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from varint.base.checks import array_of, flag, known_name, of_type, shown
from varint.base.errors import ArgumentError
from varint.drawing.paint import Painter
from varint.drawing.picture import SUFFIXES, Picture, check_suffix, write
from varint.drawing.scene import attached, make_scene, placed
from varint.drawing.style import COLOURS, INK, WIDTH
from varint.drawing.surfaces import Surfaces
from varint.drawing.viewpoint import View, choose_view
from varint.kinematics.frames import JointFrames, with_world
from varint.model.state import State
from varint.model.structure import Structure

PALEST = 0.75  # share of white in the first pose
OVER = 10.0  # distance of the drawing levels of two poses: later poses cover earlier ones
LOWEST, HIGHEST = 1.8, 5.2  # inches, height of a figure
EDGE = 0.6  # inches around the axes, both sides together


class Traced(NamedTuple):
    """A ``point`` (3,), m, relative to the centre of mass of the body with number ``body``, body axes, and its name."""

    name: str
    body: int
    point: np.ndarray


def plot_mechanism(
    structure: Structure,
    state: State,
    path: str | Path | None,
    plane: str | None,
    labels: bool = False,
    vertices: Sequence[np.ndarray] = (),
) -> Figure:
    """Draw a mechanism, see `Mechanism.plot`; ``vertices``: places (n, 3), m, of each deformable body and net."""
    file = None if path is None else check_suffix(path, SUFFIXES)
    of_type(state, State, "state", ArgumentError)
    flag(labels, "labels", ArgumentError)
    nb = len(structure.bodies)
    position = array_of(state.position, (nb, 3), "position of the state", ArgumentError)
    quat = array_of(state.quat_wxyz, (nb, 4), "quat_wxyz of the state", ArgumentError)
    x, R = with_world(position[None], quat[None], [each[None] for each in vertices])
    painter = make_painter(structure, x, R, choose_view(structure, plane))
    figure = Picture(figsize=figure_size(painter), layout="constrained")
    painter.attach(figure.add_subplot())
    painter.still(x, R)
    painter.pose(x[0], R[0])
    if labels:
        draw_names(painter, x[0], R[0])
    if file is not None:
        write(figure, file)
    return figure


def make_painter(
    structure: Structure,
    x: np.ndarray,
    R: np.ndarray,
    view: View,
    traced: Iterable[Traced] = (),
    ways: Iterable[np.ndarray] = (),
    surfaces: Surfaces | None = None,
) -> Painter:
    """Return a painter of poses ``x`` (T, n, 3), m, ``R`` (T, n, 3, 3), see `with_world`, in ``view``.

    traced : points to mark
    ways : paths (m, 3), m, world, that have to fit into the picture
    surfaces : replace the outlines of their bodies and the joints on these
    """
    scene = make_scene(structure, view, [(each.body, each.point) for each in traced])
    if surfaces:
        scene.outlines[:] = [outline for outline in scene.outlines if outline.body not in surfaces.numbers]
        scene.marks[:] = [mark for mark in scene.marks if mark.body not in surfaces.numbers]
    return Painter(scene, x, R, ways, surfaces)


def draw_poses(axes: Axes, painter: Painter, x: np.ndarray, R: np.ndarray) -> None:
    """Draw poses ``x`` (T, nb + 1, 3), ``R`` (T, nb + 1, 3, 3) on ``axes``, later ones above and darker."""
    painter.attach(axes)
    count = len(x)
    painter.still(x, R, OVER * (count - 1))
    for k in range(count):
        painter.pose(x[k], R[k], PALEST * (1.0 - k / (count - 1)) ** 0.7 if count > 1 else 0.0, OVER * k)


def draw_names(painter: Painter, x: np.ndarray, R: np.ndarray, level: float = 0.0) -> None:
    """Write the names of bodies at their centres of mass and of joints at their points.

    ``x`` (nb + 1, 3), m, ``R`` (nb + 1, 3, 3): a painted pose. ``level``: drawing level of the names.
    """
    structure, view = painter.scene.structure, painter.scene.view
    for number, body in enumerate(structure.bodies):
        if body.name in structure.rotors:
            continue
        painter.name(body.name, x[number], COLOURS[number % len(COLOURS)], level)
    labelled: list[tuple[np.ndarray, list[str]]] = []  # joints at one place of the picture share a label
    for joint in structure.joints:
        if not joint.forbidden or joint.name in structure.rotors:
            continue
        frames = JointFrames(structure, joint)
        side = (frames.a, frames.origin_a) if joint.needs_point else (frames.b, frames.origin_b)
        point = placed(x, R, *side)
        near = (names for other, names in labelled if np.linalg.norm(view.project(point - other)) < painter.size)
        names = next(near, None)
        if names is None:
            labelled.append((point, [joint.name]))
        else:
            names.append(joint.name)
    for point, names in labelled:
        painter.name("\n".join(names), point, INK, level)


def figure_size(painter: Painter) -> tuple[float, float]:
    """Return the width and height, inches, that fit the painted scene."""
    width, height = painter.upper - painter.lower
    return WIDTH, float(np.clip((WIDTH - EDGE) * height / width + EDGE, LOWEST, HIGHEST))


def find_traced(structure: Structure, trace: object) -> list[Traced]:
    """Return points by the name of a body (its centre of mass) or joint, by (body, point (3,)), or a list of these.

    Points are m, world, in the reference configuration. Raises ArgumentError.
    """
    if trace is None:
        return []
    one = isinstance(trace, str) or (isinstance(trace, tuple) and len(trace) == 2 and not isinstance(trace[1], str))
    items = [trace] if one else trace
    if not isinstance(items, list | tuple):
        raise ArgumentError(
            f"trace must be names of bodies or joints, or pairs of a body and a point, got {shown(trace)}"
        )
    return [_traced(structure, item) for item in items]


def _traced(structure: Structure, item: object) -> Traced:
    """Return the point of one ``item`` of `find_traced`. Raises ArgumentError."""
    if isinstance(item, tuple) and len(item) == 2:
        name, point = item
        known_name(name, structure.body_index, "trace: no body", ArgumentError)
        place = array_of(point, (3,), f"the traced point of body '{name}'", ArgumentError)
        number = structure.body_index[name]
        return Traced(f"point of {name}", number, attached(structure, number, place))
    name = known_name(item, (*structure.body_index, *structure.joint_index), "trace: no body or joint", ArgumentError)
    if name in structure.body_index:
        return Traced(name, structure.body_index[name], np.zeros(3))
    frames = JointFrames(structure, structure.joint(name))
    side = (frames.b, frames.origin_b) if frames.b >= 0 else (frames.a, frames.origin_a)
    return Traced(name, *side)
