"""Rotors of motors, which turn about themselves at the rate of a joint: inertia along its coordinate alone."""

import numpy as np

from varint.files.robots.kinds import Coupling, Revolute
from varint.model.body import WORLD, Body
from varint.model.joints.base import Joint


def rotor_of(tie: str, place: tuple[str, int], inertia: float, point: np.ndarray) -> tuple[Body, Joint, Coupling]:
    """Return the body of a rotor, its hinge to the world, and its coupling to a coordinate.

    ``tie``: the joint of the file; ``place``: of its coordinate, (joint, number); ``inertia``: kg m^2, of slides kg;
    ``point`` (3,): where the rotor is, m, world.
    """
    name = f"rotor of {tie}"
    body = Body(name, mass=inertia, inertia=inertia * np.eye(3), position=point)
    hinge = Revolute(name, WORLD, name, point=point, axis=np.array([0.0, 0.0, 1.0]))
    return body, hinge, Coupling(name, terms=[(*place, 1.0), (name, 0, -1.0)])
