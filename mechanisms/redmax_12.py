"""Scene 12 of the reference implementation of REDMAX: two bars held by heavy springs."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, DYN, ORIGIN, Scene, pose


def _mass(scene, name, mass, position, joint, parent):
    """Add a point mass, g, at ``position`` (3,), m, as a small sphere."""
    scene.bodies.append(vi.Body.sphere(name, 1e-3, 1e-3 * mass, position=position))
    scene.joints.append(joint(name, parent, name, point=position))


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm end to end along x, hinged about y, released level. Springs of 1 g, as point masses
    with massless springs in between: from (30, 0, 10) cm over a mass halfway to the end of the second bar, and
    between the centres of the bars. The masses at the ends of the springs are welded to the bars; that in the
    ground is left out.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 12")
    scene.chain(2)
    half = pose((-5, 0, -5))[:3, 3]  # of the first spring
    _mass(scene, "knot", 1 / 3, scene.point(2, (5, 0, 0)) - half, vi.Translational, "world")
    _mass(scene, "end", 1 / 3, scene.point(2, (5, 0, 0)), vi.Fixed, "body 2")
    for number in (1, 2):
        _mass(scene, f"centre {number}", 1 / 2, scene.point(number, ORIGIN), vi.Fixed, f"body {number}")
    at = {body.name: body.position for body in scene.bodies} | {"world": pose((30, 0, 10))[:3, 3]}
    for a, b in (("world", "knot"), ("knot", "end"), ("centre 1", "centre 2")):
        length = np.linalg.norm(at[b] - at[a])
        ends = {"body_a": a, "body_b": b, "point_a": at[a], "point_b": at[b]}
        scene.forces.append(vi.Spring(f"{a} to {b}", **ends, stiffness=1e5 * DYN * CM / length**2, rest_length=length))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.005,
    "duration": 1.0,
    "energy": -11740.40135652951,
    "differs": "The reference takes the springs explicitly, which is far off at this step (energy is conserved: "
    "exact 0); here they are linearly implicit, and the masses at the ends are welded.",
}
