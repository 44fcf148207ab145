"""Mechanisms of the catalogue of rigid parts whose constraints are all equations of poses.

Those that roll are checked in test_rolling.py, those that touch in test_touching_mechanisms.py, those that bend in
test_beam_motions.py, test_beam_references.py and test_beams.py, nets in test_particle_nets.py and
test_mesh_gradients.py, those with muscles in test_musculotendon.py.
"""

import varint as vi
from varint.model.forces.beam_element import BeamElement
from varint.model.forces.spring import Cable


def _with(trait):
    """Names of mechanisms that have forces with a trait of varint/model/known_forces.py."""
    return [
        name
        for name in vi.mechanisms.NAMES
        if any(trait in traits for traits in getattr(vi.mechanisms, name)().force_traits)
    ]


TOUCHING = _with("contacts")
ROLLING = _with("rolling")
SOFT = BeamElement | Cable | vi.ParticleNet | vi.DeformableBody
FLEXIBLE = [
    name
    for name in vi.mechanisms.NAMES
    if any(isinstance(force, SOFT) for force in getattr(vi.mechanisms, name)().forces)
]
MUSCLES = [
    name
    for name in vi.mechanisms.NAMES
    if any(isinstance(force, vi.Musculotendon) for force in getattr(vi.mechanisms, name)().forces)
]
HOLONOMIC = [name for name in vi.mechanisms.NAMES if name not in {*TOUCHING, *ROLLING, *FLEXIBLE, *MUSCLES}]
