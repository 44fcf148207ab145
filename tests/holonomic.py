"""Mechanisms of the catalogue of rigid parts whose constraints are all equations of poses.

Those that roll are checked in test_rolling.py, those that touch in test_touching_mechanisms.py, those that bend in
test_beam_motions.py, test_beam_references.py and test_beams.py, nets in test_particle_nets.py and
test_mesh_gradients.py, those with muscles in test_musculotendon.py. Names, so that collecting the tests builds none of
them; test_mechanisms.py compares them with what the mechanisms have.
"""

import varint as vi

TOUCHING = [
    "cam_follower", "dominoes", "geneva_drive", "gripper", "minitaur_landing", "newtons_cradle", "ratchet",
    "rimless_wheel", "slider_crank_clearance", "woodpecker",
]  # fmt: skip
ROLLING = ["ball_on_turntable", "chaplygin_sleigh", "rolling_disc"]
FLEXIBLE = [
    "cable_between_carts", "flexible_four_bar", "flexible_slider_crank", "net_between_carts", "parallelogram_flexure",
    "spinning_beam", "starfish", "tensegrity",
]  # fmt: skip
MUSCLES = ["finger_with_flexors", "spline_knee"]
HOLONOMIC = [name for name in vi.mechanisms.NAMES if name not in {*TOUCHING, *ROLLING, *FLEXIBLE, *MUSCLES}]
ALONG_PATHS = ["roller_coaster", "wrapped_double_pendulum"]  # with products of exponentials, or forces along paths
COUPLED = ["roller_coaster", "two_bones_one_muscle"]  # with products of exponentials, or couplings
