"""Mechanisms with masses along paths that steps in maximal coordinates do not know."""

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism


def check_masses_of_paths(mechanism: Mechanism, staggered: bool = False) -> None:
    """Raise ArgumentError where mass along a path meets steps of order 1, ``staggered``, or forces with impacts."""
    of_path = [
        force for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True) if "path" in traits
    ]
    if of_path and staggered:
        raise ArgumentError(
            f"{of_path[0].label} has mass that moves with its path: take order=2 or above in place of 1"
        )
    for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True):
        if of_path and traits & {"hard", "contacts", "shapes"}:
            raise ArgumentError(
                f"{of_path[0].label} has mass that moves with its path, and {force.label} acts in impacts, which do not"
                " know such mass in maximal coordinates: give stops a stiffness, or use varint.redmax.simulate with"
                " 'dop853'"
            )
