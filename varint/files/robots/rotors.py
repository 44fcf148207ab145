"""Rotors of motors, which turn about themselves at the rate of a joint: inertia along its coordinate alone."""

import warnings

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import LeftOutWarning
from varint.files.robots.kinds import Coupling, Revolute
from varint.files.robots.xml_files import XMLElement
from varint.model.body import WORLD, Body
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint
from varint.model.rotors import ROTOR


def rotor_of(tie: str, place: tuple[str, int], inertia: float, point: np.ndarray) -> tuple[Body, Joint, Coupling]:
    """Return the body of a rotor, its hinge to the world, and its coupling to a coordinate.

    ``tie``: the joint of the file; ``place``: of its coordinate, (joint, number); ``inertia``: kg m^2, of slides kg;
    ``point`` (3,): where the rotor is, m, world.
    """
    name = f"{ROTOR}{tie}"
    body = Body(name, mass=inertia, inertia=inertia * np.eye(3), position=point)
    hinge = Revolute(name, WORLD, name, point=point, axis=np.array([0.0, 0.0, 1.0]))
    return body, hinge, Coupling(name, terms=[(*place, 1.0), (name, 0, -1.0)])


def leave_out_armature(name: str, inertia: float, notes: ImportNotes, at: XMLElement) -> None:
    """Note, and warn, that the armature of a joint of several axes, kg m^2, is left out."""
    why = "it is inertia against the angular velocity between two bodies that move, or of one of several joints"
    says = f"armature of joint '{name}', {inertia:g} kg m^2, is left out: {why}"
    notes.not_understood(says, at)
    warnings.warn(
        f"{at.place}: {says}. The motion differs as far as that counts beside the inertias of the bodies: leave it out"
        " of the file, or give the bodies larger inertias",
        LeftOutWarning,
        stacklevel=level_of_user(),
    )
