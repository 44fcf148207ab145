"""Scene 33 of the reference implementation of REDMAX: a four-bar linkage that crawls on the ground."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cylinder, four_bar, pose, sphere


def build() -> vi.Mechanism:
    """A base of 10 cm with crank 4, coupler 14 and rocker 12 cm, hinged about y, on balls of 1 cm at the ends of
    the base, and with two more at the ends of an axle of 5 cm through the crank's end. The crank turns at -4 pi
    rad/s against the base, all else starts from rest. The coefficient of friction is 0.8 on the ground and in the
    pins, of 0.5 cm radius and length.

    Zero of the coordinates: base and crank along x, coupler and rocker above.
    """
    scene = Scene("redmax 33")
    four_bar(scene, vi.Free, at=(0, 0, 1))
    scene.joints.append(vi.Revolute("loop", "body 4", "body 1", point=scene.point(1, (5, 0, 0)), axis=(0, 1, 0)))
    feet = [scene.add(sphere(1.0), pose((x, 0, 0)), vi.Fixed, parent=1) for x in (-5, 5)]
    axle = scene.add(cylinder(0.5, 5.0), pose(turned=(np.pi / 2, 0, 0)), vi.Fixed, parent=3)
    feet += [scene.add(sphere(1.0), pose((0, y, 0)), vi.Fixed, parent=axle) for y in (2.5, -2.5)]
    for foot in feet:
        scene.forces.append(vi.HardContact(f"foot {foot}", body=f"body {foot}", radius=1 * CM, friction=0.8))
    for joint in ("joint 2", "joint 3", "joint 4", "loop"):
        pin = {"coefficient": 0.8, "radius": 0.5 * CM, "length": 0.5 * CM}
        scene.forces.append(vi.JointCoulombFriction(f"friction in {joint}", joint=joint, **pin))
    scene.forces.append(vi.PrescribedMotion("drive", joint="joint 2", rate=-4 * np.pi))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.005,
    "duration": 1.0,
    "baumgarte": 20.0,
    "energy": 19598.860508651258,
    "differs": "As scenes 27, 31 and 32.",
}
