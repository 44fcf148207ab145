"""What a linear system costs: `python linear.py` prints the table of docs/linear.md."""

import time

import mujoco
import numpy as np
from work_precision import as_mjcf

import varint as vi
from varint.kernels.configuration import place_anew
from varint.kernels.linear import acceleration_changes, allowed_motions, carry_with_inputs, changes_of_velocities
from varint.linear.tangents import NO_INPUTS

REPEATS = 200


def microseconds(function, repeats=REPEATS):
    """Least of some trials."""
    least = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - begin)
    return 1e6 * least


def costs(links):
    """Of the compiled parts, and of whole calls for a step and in continuous time, us."""
    mechanism = vi.mechanisms.n_pendulum(links)
    state = mechanism.state(rates={joint.name: 0.3 for joint in mechanism.joints})
    step, smooth = vi.linearize(mechanism, state, 1e-3)._system, vi.linearize(mechanism, state)._system
    plan, run = mechanism.compiled.plan, step.run
    changes = np.ascontiguousarray(step.basis[:, mechanism.compiled.order])
    carried, motions, found = changes.copy(), np.zeros((links, links, 6)), np.zeros((2 * links, links, 6))
    bodies = np.array([[k - 1 if k else links, k] for k in range(links)])
    pushes = np.ones((links, 2, 6))

    def carry():
        carried[:] = changes
        carry_with_inputs(plan, run.aside, run.march.ws.tape, run.work, (0, 1), NO_INPUTS, carried)

    def velocities():
        carried[:] = changes
        changes_of_velocities(plan, run.place(), run.work, carried)

    def accelerations():
        place_anew(plan, smooth.ws, 0)
        acceleration_changes(plan, smooth.ws, smooth.work, smooth.bend, smooth.inputs, changes, found)

    return {
        "motions": microseconds(lambda: allowed_motions(plan, run.place(), bodies, pushes, motions)),
        "tangent": microseconds(carry),
        "velocities": microseconds(velocities),
        "accelerations": microseconds(accelerations),
        "step": microseconds(lambda: vi.linearize(mechanism, state, 1e-3), 20),
        "continuous": microseconds(lambda: vi.linearize(mechanism, state), 20),
    }


def mujoco_cost(links):
    """us, of MuJoCo's derivatives of a step of the same chain, by centred differences in compiled code."""
    model = mujoco.MjModel.from_xml_string(as_mjcf(vi.mechanisms.n_pendulum(links), 1e-3))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(model)
    data.qvel[:] = 0.3
    A = np.zeros((2 * model.nv, 2 * model.nv))
    mujoco.mj_forward(model, data)
    return microseconds(lambda: mujoco.mjd_transitionFD(model, data, 1e-6, True, A, None, None, None))


if __name__ == "__main__":
    for links in (2, 5, 10, 20, 50):
        found = costs(links) | {"MuJoCo": mujoco_cost(links)}
        print(f"{links} links:", ", ".join(f"{what} {cost:.0f} us" for what, cost in found.items()))
