"""A scheme keeps its order where every second step of the spinning top is done in two halves.

No step is too long here: a process that runs the kernels as plain Python refuses the first try of these steps.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import random_velocity_state

import varint as vi
from varint.methods.variational.schemes import SCHEMES
from varint.model.rotation_vectors import rotation_matrix
from varint.step import step
from varint.step.newton import NOT_CONVERGED

# steps of the coarser run, and seconds, where the errors are those of the order and above round-off
RUNS = {
    "rattle": (64, 0.25),
    "suzuki": (32, 0.25),
    "kahan-li": (32, 0.5),
    "sofroniou-spaletta-11": (48, 1.0),
    "sofroniou-spaletta-13": (40, 1.0),
    "sofroniou-spaletta-21": (30, 1.0),
}
FINE = 768  # steps a second of the reference, order 8


def end_of(scheme, steps, duration):
    """Position, rotation and velocities at the end of a run, in a row, and the sub-steps beyond one a step."""
    top = vi.mechanisms.spinning_top()
    state = random_velocity_state(np.random.default_rng(3), top, 0.7)
    run = vi.simulate(top, duration, duration / steps, state=state, scheme=scheme, tol=1e-13, every=steps)
    parts = run.position[-1], rotation_matrix(run.quat_wxyz[-1]), run.velocity[-1], run.angular_velocity[-1]
    return np.concatenate([np.ravel(part) for part in parts]), run.substeps


def refuse_every_second_step():
    tried = step._try_part

    def refused(plan, ws, inputs, pose, h, tol, stage, extrapolate, when):
        if stage == 0 and when.before == 0.0 and when.node % 2 == 0 and refused.last != when.node:
            refused.last = when.node
            return NOT_CONVERGED, 0, pose
        return tried(plan, ws, inputs, pose, h, tol, stage, extrapolate, when)

    refused.last = -1
    step._try_part = refused


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [pytest.param(name, marks=() if name in ("rattle", "suzuki") else pytest.mark.long) for name in RUNS]
)
def test_the_slope_is_the_order(scheme, tmp_path):
    _, duration = RUNS[scheme]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, str(Path(__file__)), scheme, str(tmp_path / "ends.npy")]
    subprocess.run(command, check=True, env=environment)
    exact, _ = end_of("sofroniou-spaletta-21", int(FINE * duration), duration)
    errors = [np.abs(end - exact) for end in np.load(tmp_path / "ends.npy")]
    order = SCHEMES[scheme].order
    poses, velocities = slice(0, 12), slice(12, None)
    for part in (poses, velocities):
        assert np.log2(errors[0][part].max() / errors[1][part].max()) == pytest.approx(order, abs=0.15)


if __name__ == "__main__":
    scheme, file = sys.argv[1:]
    steps, duration = RUNS[scheme]
    refuse_every_second_step()
    ends = []
    for count in (steps, 2 * steps):
        end, substeps = end_of(scheme, count, duration)
        assert substeps == count // 2, substeps
        ends.append(end)
    np.save(file, ends)
