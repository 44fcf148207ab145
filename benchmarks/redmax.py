"""Cost of the reduced forward dynamics against the number of links, and of steps with friction in a loop."""

import time

import numpy as np
from common import chain, fastest

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators.fixed_steps import FixedSteps
from varint.methods.reduced.inverse import InverseDynamics

LENGTHS = (10, 30, 100, 300, 1000, 3000, 10_000)
EXPONENT_LIMIT = 1.1
MICROSECONDS_A_LINK = 1.5  # of long chains, where the call from Python does not count
DENSE = 100
MILLISECONDS_A_STEP = 3.0  # with friction in a loop, the longest step
RUBBING = 0.6  # s of motion


def seconds(equations, work):
    """Of one call of ``work(q, rates)`` at a bent pose in motion."""
    q, rates = 0.1 * np.random.default_rng(0).standard_normal((2, equations.nq))
    calls = max(1, 20_000 // equations.nq)
    return fastest(lambda: [work(q, rates) for _ in range(calls)]) / calls


def rubbing(closure):
    """The four-bar with friction in its pins, its loop closed by a joint of the type ``closure``."""
    plain = vi.mechanisms.four_bar()
    pins = [pin for pin in plain.joints if closure == "Revolute" or pin.name != "rocker pin"]
    last = [pin for pin in plain.joints if pin not in pins]
    joints = [*pins, *(vi.PointOnLine(p.name, p.body_a, p.body_b, point=p.point, axis=(1, 0, 0)) for p in last)]
    frictions = [vi.JointCoulombFriction(pin.name, joint=pin.name, coefficient=0.4, radius=0.05) for pin in pins]
    return vi.Mechanism("rubbing", plain.bodies, joints, forces=frictions, start=dict(plain.start))


def step_seconds(mechanism, dt):
    """Of each step of a run, of the process; the shortest of three runs, step by step, after a first one."""
    own, times = FixedSteps.step, []

    def timed(self):
        began = time.process_time()
        own(self)
        times[-1].append(time.process_time() - began)

    FixedSteps.step = timed
    try:
        for _ in range(4):
            times.append([])
            vi.redmax.simulate(mechanism, RUBBING, dt=dt, integrator="euler")
    finally:
        FixedSteps.step = own
    return np.min(times[1:], axis=0)


def friction_rows():
    rows = []
    for closure in ("Revolute", "PointOnLine"):
        for dt in (0.005, 0.0025, 0.00125, 0.000625):
            found = 1e3 * step_seconds(rubbing(closure), dt)
            most = found.max()
            rows.append((
                f"a step with friction, closed by {closure}, dt = {1e3 * dt:g} ms",
                f"{np.median(found):.2f} ms, longest {most:.2f} ms",
                f"longest <= {MILLISECONDS_A_STEP} ms",
                most <= MILLISECONDS_A_STEP,
            ))  # fmt: skip
    return rows


def measure():
    rows, times = [], []
    for n in LENGTHS:
        equations = Equations(chain(n))
        times.append(seconds(equations, lambda q, rates, e=equations: e.acceleration(0.0, q, rates)))
        rows.append(
            (f"accelerations, n = {n}", f"{times[-1] * 1e6:.1f} us = {times[-1] / n * 1e6:.2f} us a link", "", None)
        )
    a_link = times[-1] / LENGTHS[-1] * 1e6
    rows.append(
        ("a link of the longest", f"{a_link:.2f} us", f"<= {MICROSECONDS_A_LINK}", a_link <= MICROSECONDS_A_LINK)
    )
    exponent = np.polyfit(np.log(LENGTHS), np.log(times), 1)[0]
    rows.append(("exponent of the cost in n", f"{exponent:.3f}", f"<= {EXPONENT_LIMIT}", exponent <= EXPONENT_LIMIT))
    solve = seconds(equations, lambda q, rates: equations.solve(q))
    rows.append((f"M^-1 times a vector, n = {n}", f"{solve / n * 1e6:.2f} us a link", "", None))
    equations = Equations(chain(DENSE))
    inverse = InverseDynamics(equations)

    def newton_matrix(q, rates):
        inverse.evaluate(0.0, q, rates, rates, np.zeros(0))
        inverse.derivatives(1.0, 100.0, 10_000.0)

    newton = seconds(equations, newton_matrix)
    rows.append((f"a Newton matrix of BDF, n = {DENSE}", f"{newton * 1e3:.2f} ms", "", None))
    return rows + friction_rows()
