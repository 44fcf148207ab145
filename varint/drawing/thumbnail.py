"""A small picture of a mechanism for the tables of a notebook."""

import io
from base64 import b64encode
from collections.abc import Sequence

import numpy as np

from varint.kinematics.frames import with_world
from varint.model.structure import Structure

MOST_BODIES = 100  # of larger mechanisms there is none: too small to see, too slow to draw
WIDTH, HEIGHT, DPI = 3.2, 2.4, 75  # in
SHADES = 48
PICTURE = '<img alt="picture" width="{:.0f}" src="data:image/png;base64,{}">'


def thumbnail(structure: Structure, position: np.ndarray, quat_wxyz: np.ndarray, vertices: Sequence[np.ndarray]) -> str:
    """Return HTML of the bodies at (nb, 3), m, and (nb, 4), and of ``vertices``, see `with_world`; "" for too many."""
    if len(structure.bodies) - len(structure.rotors) > MOST_BODIES:
        return ""
    from PIL import Image

    from varint.drawing.mechanism_picture import make_painter  # imports matplotlib, which a prompt need not wait for
    from varint.drawing.picture import Picture
    from varint.drawing.viewpoint import choose_view

    x, R = with_world(position[None], quat_wxyz[None], [each[None] for each in vertices])
    painter = make_painter(structure, x, R, choose_view(structure, None))
    across, height = painter.upper - painter.lower
    scale = min(WIDTH / across, HEIGHT / height)
    figure = Picture(figsize=(across * scale, height * scale))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    painter.attach(axes)
    axes.set_axis_off()
    painter.still(x, R)
    painter.pose(x[0], R[0])
    drawn, data = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=2 * DPI, format="png")  # two pixels for one, for fine screens
    Image.open(drawn).convert("RGB").quantize(SHADES).save(data, format="png", optimize=True)
    return PICTURE.format(across * scale * DPI, b64encode(data.getvalue()).decode())
