"""Forces and moments within beams."""

import numpy as np

from varint.base.checks import choice, of_type
from varint.base.errors import ArgumentError
from varint.model.forces.beam_element import elements_of_beam
from varint.results.forces import element_efforts
from varint.results.recorded_motion import RecordedMotion
from varint.results.stiff_damping import rates_of_steps, warn_of_shaking


def section_forces(run: RecordedMotion, beam: str, *, at: str = "middles") -> np.ndarray:
    """Return axial force, shear along y and z, N, torque, bending moments about y and z, N m, of a beam's elements.

    Parameters
    ----------
    run : Trajectory
    beam : str
        Name that `beam` was called with.
    at : str
        "middles" of the n elements, or "ends": what the moments are there, by the shear of the element.

    Returns (T, n, 6) at the middles of the n elements, or (T, n, 2, 6) at their ends, from point_a on, at the T
    recorded nodes, in the elements' axes, x along the beam. They act on the piece before the section: tension is
    positive. Damping is included, of strongly damped beams by the means of the rates of strain over the steps before
    and after each node, if all nodes of a run of order 2 are recorded; else a SparseNodesWarning reports where
    velocities at the nodes change sign from one to the next (docs/beams.md). Raises ArgumentError.
    """
    run = of_type(run, RecordedMotion, "run", ArgumentError)
    choice(at, ("middles", "ends"), "at", ArgumentError)
    elements = elements_of_beam(run.mechanism, beam)
    warn_of_shaking(run)
    motion = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
    efforts = element_efforts(run.mechanism, motion, run.command, run.law_states, rates_of_steps(run))
    columns = [np.flatnonzero(run.mechanism.compiled.force == k) for k in elements]
    middles = -efforts[:, np.array(columns)]
    if at == "middles":
        return middles
    ends = np.stack([middles, middles], axis=2)
    half = 0.5 * np.array([np.linalg.norm(each.point_b - each.point_a) for each in elements.values()])
    for side, sign in ((0, -1.0), (1, 1.0)):
        ends[:, :, side, 4] += sign * half * middles[:, :, 2]
        ends[:, :, side, 5] -= sign * half * middles[:, :, 1]
    return ends
