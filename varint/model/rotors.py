"""Bodies that stand for armature: inertia along one joint coordinate, as a rotor that a coupling turns about itself."""

from collections.abc import Collection, Mapping

from varint.model.body import WORLD, Body
from varint.model.joints.base import Joint

ROTOR = "rotor of "  # how names of bodies begin that stand for the armature of a joint; their hinges and couplings too


def rotor_names(bodies: Collection[Body], joints: Mapping[str, Joint]) -> frozenset[str]:
    """Return the names of the bodies without shape that stand for armature, by their names and hinges to the world.

    ``joints``: by name. Hinge and coupling of such a body have its name.
    """
    names = (body.name for body in bodies if body.name.startswith(ROTOR) and not body.solids and not body.collision)
    hinges = (joints[name] for name in names if name in joints)
    return frozenset(hinge.name for hinge in hinges if (hinge.body_a, hinge.body_b) == (WORLD, hinge.name))
