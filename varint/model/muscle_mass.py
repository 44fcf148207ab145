"""The mass of a straight muscle by three point masses: exact for any motion of its two ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, check_name, positive
from varint.base.errors import MechanismError
from varint.model.body import WORLD, Body
from varint.model.forces.base import Force
from varint.model.forces.coupling import Coupling
from varint.model.joints import REGISTRY
from varint.model.mechanism_parts import MechanismParts

RADIUS = 0.05  # of a particle in lengths of the muscle: for pictures, since it does not turn
AT_END, AT_MIDDLE = 1.0 / 6.0, 2.0 / 3.0  # shares of the mass, by Simpson's rule: the velocity is linear along it


def straight_muscle_mass(
    name: str, body_a: str, body_b: str, *, point_a: ArrayLike, point_b: ArrayLike, mass: float
) -> MechanismParts:
    """Return parts for a mass spread evenly along the line from ``point_a`` of body a to ``point_b`` of body b.

    The mass of a muscle on two points as bodies, joints and forces, for all formulations: a sixth of it at each end,
    "NAME a" and "NAME b", and two thirds at "NAME middle", which three couplings keep halfway between the ends. An end
    on the world needs no body. Kinetic and potential energy are those of `PathMass` with this path, see
    docs/muscle_inertia.md. The mass exerts no effort.

    Parameters
    ----------
    body_a, body_b : str
        Two bodies, "world" among them.
    point_a, point_b : (3,)
        m, world, reference configuration.
    mass : float
        kg, above zero.

    Raises
    ------
    MechanismError
    """
    label = f"straight muscle mass '{check_name(name, 'a straight muscle mass')}'"
    for end, which in ((body_a, "body_a"), (body_b, "body_b")):
        check_name(end, f"{which} of {label}")
    if body_a == body_b:
        raise MechanismError(f"{label} must lead from one body to another, both ends are on '{body_a}'")
    point_a, point_b = array_of(point_a, (3,), f"point_a of {label}"), array_of(point_b, (3,), f"point_b of {label}")
    mass = positive(mass, f"mass of {label}")
    length = float(np.linalg.norm(point_b - point_a))
    if length == 0.0:
        raise MechanismError(f"{label} needs two points that are apart")
    middle = f"{name} middle"
    bodies = [_particle(middle, AT_MIDDLE * mass, 0.5 * (point_a + point_b), length)]
    joints = [REGISTRY["Translational"](middle, WORLD, middle)]
    ends = []
    for letter, body, point in (("a", body_a, point_a), ("b", body_b, point_b)):
        if body == WORLD:
            continue
        end = f"{name} {letter}"
        bodies.append(_particle(end, AT_END * mass, point, length))
        joints.append(REGISTRY["Spherical"](f"{end} on {body}", body, end, point=point))
        joints.append(REGISTRY["Translational"](end, WORLD, end))  # its coordinates are those of the end
        ends.append(end)
    forces: list[Force] = [
        Coupling(f"{name} {axis}", terms=[(middle, k, 1.0), *((joint, k, -0.5) for joint in ends)])
        for k, axis in enumerate("xyz")
    ]
    return MechanismParts(bodies, joints, forces)


def _particle(name: str, mass: float, position: np.ndarray, length: float) -> Body:
    return Body.sphere(name, radius=RADIUS * length, mass=mass, position=position)
