"""What linear systems and tangents cost, beside MuJoCo and Pinocchio: the tables of docs/linear.md.

`OPENBLAS_NUM_THREADS=1 python linear.py`: all are timed in turns in one run, on one thread; the least of each is taken.
Pinocchio is the package `pin`; where it is missing, its times are left out.
"""

import importlib.util
import time

import mujoco
import numpy as np

import varint as vi
from varint.derivatives.linear.step_tangents import NO_INPUTS, TangentRun
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.step.configuration import place_anew
from varint.step.derivatives.accelerations import acceleration_changes
from varint.step.derivatives.columns import allowed_motions, carry_forward, changes_of_velocities

DT, RATE = 1e-3, 0.3
STEPS, TAPED = 200, 20  # of a run, and of those that tangents are carried through: times of one
ROUNDS, TRIALS = 60, 5


def as_mjcf(chain, dt):
    """The chain in MuJoCo's format; bodies' frames are at the hinges, with the world's axes at the start."""
    text, at = "", np.zeros(3)

    def numbers(values):
        return " ".join(f"{value:.17g}" for value in np.ravel(values))

    for body, joint in zip(chain.bodies, chain.joints, strict=True):
        text += (
            f'<body pos="{numbers(joint.point - at)}"><joint axis="{numbers(joint.axis)}"/>'
            f'<inertial pos="{numbers(body.position - joint.point)}" quat="{numbers(body.quat_wxyz)}"'
            f' mass="{body.mass:.17g}" diaginertia="{numbers(np.diag(body.inertia))}"/>'
        )
        at = joint.point
    left_out = " ".join(
        f'{name}="disable"' for name in ("constraint", "contact", "limit", "spring", "damper", "sensor")
    )
    option = (
        f'<option timestep="{dt:.17g}" integrator="RK4" gravity="{numbers(chain.gravity)}"><flag {left_out}/></option>'
    )
    return f"<mujoco>{option}<worldbody>{text}{'</body>' * len(chain.bodies)}</worldbody></mujoco>"


def microseconds(functions, rounds=ROUNDS):
    """Least of each function, a few trials of each in turn; us."""
    found = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            for _ in range(TRIALS):
                began = time.perf_counter()
                function()
                found[name] = min(found[name], time.perf_counter() - began)
    return {name: 1e6 * seconds for name, seconds in found.items()}


def chain(links, forces=False):
    """The chain, and its state at the start with all hinges turning; ``forces``: a spring and damper in each hinge."""
    plain = vi.mechanisms.n_pendulum(links)
    springs = [
        vi.TorsionSpring(f"spring {joint.name}", joint=joint.name, stiffness=0.1, damping=0.01)
        for joint in plain.joints
    ]
    mechanism = vi.Mechanism("chain", plain.bodies, plain.joints, forces=springs if forces else [])
    return mechanism, mechanism.state(rates={joint.name: RATE for joint in mechanism.joints})


def compiled_parts(mechanism, state):
    """Of a linear system of one step of order 2, and in continuous time, by name."""
    linearizer, smooth = vi.Linearizer(mechanism, DT), vi.Linearizer(mechanism)
    linearizer.at(state)
    smooth.at(state)
    plan, run, other = mechanism.compiled.plan, linearizer._system.run, smooth._system
    links, n2 = len(mechanism.joints), 2 * len(mechanism.joints)
    changes = np.ascontiguousarray(linearizer._system.basis[:, mechanism.compiled.order])
    carried, motions, found = changes.copy(), np.zeros((links, links, 6)), np.zeros((n2, links, 6))
    ends, pushes = run.candidates.ends, run.candidates.pushes(run.place(), state)

    def allow():
        allowed_motions(plan, run.place(), run.work, ends, pushes, motions)

    def carry():
        carried[:] = changes
        states, begun = np.zeros((n2, 0)), np.empty_like(carried)
        carry_forward(plan, run.aside, run.march.ws.tape, run.work, (0, 1), NO_INPUTS, carried, begun, states)

    def velocities():
        changes_of_velocities(plan, run.place(), run.work, carried)

    def whole():
        allow()
        carry()
        velocities()

    def accelerations():
        place_anew(plan, other.ws, 0)
        acceleration_changes(plan, other.ws, other.work, other.bend, other.inputs, changes, found)

    return {
        "motions": allow, "tangent": carry, "velocities": velocities, "these three": whole,
        "accelerations": accelerations, "Linearizer.at": lambda: linearizer.at(state),
        "linearize": lambda: vi.linearize(mechanism, state, DT),
    }  # fmt: skip


def mujoco_part(mechanism):
    """MuJoCo's derivatives of one step of its Euler integrator, by differences in compiled code, by name."""
    model = mujoco.MjModel.from_xml_string(as_mjcf(mechanism, DT))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(model)
    data.qvel[:] = RATE
    A = np.zeros((2 * model.nv, 2 * model.nv))
    mujoco.mj_forward(model, data)

    def differences(centred):
        return lambda: mujoco.mjd_transitionFD(model, data, 1e-6, centred, A, None, None, None)

    return {"MuJoCo, centred": differences(True), "MuJoCo, one-sided": differences(False)}


def pinocchio_part(mechanism, state):
    """Pinocchio's exact derivatives of the accelerations, by name; checked against the continuous system."""
    if importlib.util.find_spec("pinocchio") is None:
        return {}
    import pinocchio

    model, at, parent = pinocchio.Model(), np.zeros(3), 0
    model.gravity.linear = np.asarray(mechanism.gravity, dtype=float)
    for body, joint in zip(mechanism.bodies, mechanism.joints, strict=True):
        place = pinocchio.SE3(np.eye(3), joint.point - at)
        parent, at = model.addJoint(parent, pinocchio.JointModelRY(), place, joint.name), joint.point
        R = pinocchio.Quaternion(*body.quat_wxyz).matrix()
        inertia = pinocchio.Inertia(body.mass, body.position - joint.point, R @ body.inertia @ R.T)
        model.appendBodyToJoint(parent, inertia, pinocchio.SE3.Identity())
    data, n = model.createData(), model.nv
    q, v, effort = np.zeros(n), np.full(n, RATE), np.zeros(n)
    pinocchio.computeABADerivatives(model, data, q, v, effort)
    A = vi.linearize(mechanism, state).A
    exact = np.hstack([data.ddq_dq, data.ddq_dv])
    assert np.abs(A[n:] - exact).max() < 1e-9 * np.abs(exact).max()
    return {"Pinocchio": lambda: pinocchio.computeABADerivatives(model, data, q, v, effort)}


def tangents(links, forces):
    """(1, 12): times of so many tangent directions, of which ours and over a step's, us."""
    mechanism, state = chain(links, forces)
    run = TangentRun(mechanism, scheme(2), state, DT, TAPED)
    run.march_on(TAPED)
    march = March(mechanism.compiled, scheme(2), DT, 1e-10, 1 << 40)
    march.start(state)
    start = march.checkpoint()
    rng = np.random.default_rng(0)
    basis = run._momenta(run.along(run.coordinates()))
    changes = np.tensordot(rng.standard_normal((12, len(basis))), basis, 1)
    carried = changes.copy()

    def step():
        march.restore(start)
        march.advance(STEPS)

    def carry(count):
        def carry_some():
            carried[:count] = changes[:count]
            states, begun = np.zeros((count, 0)), np.empty_like(carried[:count])
            plan, tape, some = mechanism.compiled.plan, run.march.ws.tape, carried[:count]
            carry_forward(plan, run.aside, tape, run.work, (0, TAPED), NO_INPUTS, some, begun, states)

        return carry_some

    found = microseconds({"step": step, 1: carry(1), 12: carry(12)})
    return {name: value / (STEPS if name == "step" else TAPED) for name, value in found.items()}


if __name__ == "__main__":
    if importlib.util.find_spec("pinocchio") is None:
        print("Pinocchio is not installed (pip install pin): its times are left out")
    for links in (2, 5, 10, 20, 50):
        mechanism, state = chain(links)
        others = pinocchio_part(mechanism, state)
        found = microseconds(compiled_parts(mechanism, state) | mujoco_part(mechanism) | others)
        print(f"{links} links:", ", ".join(f"{what} {cost:.1f} us" for what, cost in found.items()))
    for links in (2, 10, 50):
        for forces in (False, True):
            found = tangents(links, forces)
            step, more = found["step"], (found[12] - found[1]) / 11
            print(
                f"{links} links{', springs' if forces else ''}: step {step:.2f} us; over it, the first direction"
                f" {found[1] / step:.2f}, each beyond it {more / step:.2f}, twelve {found[12] / step:.2f}"
            )
