"""Steps of all methods along strong dampers: they end the motion, or the method says that they do not."""

import warnings

import numpy as np
import pytest
from rubber_pads import pad

import varint as vi
from varint.methods.reduced.integrators import INTEGRATORS, Task
from varint.results.undamped import diagonal_factor

ORIGIN = (0, 0, 0)
DT = 1e-3
SIZES = (1e-3, 0.1, 1.0, 1.9, 2.1, 4.0, 10.0, 1e2, 1e4, 1e6)
BLOCK = vi.Body("b", mass=1.0, inertia=np.eye(3))
FORCES = {
    "joint damper": lambda c: vi.JointDamper("d", joint="p", damping=c),
    "torsion spring": lambda c: vi.TorsionSpring("d", joint="p", stiffness=0.0, damping=c),
    "servo": lambda c: vi.JointServo("d", joint="p", target=0.0, stiffness=0.0, damping=c),
    "friction": lambda c: vi.JointFriction("d", joint="p", effort=1e2 * c, smoothing=1e2),
    "motor": lambda c: vi.VelocityMotor("d", joint="p", speed=0.0, max_effort=1e2 * c, smoothing=1e2),
    "body damper": lambda c: vi.BodyDamper("d", "b", angular=c),
    "bushing": lambda c: vi.Bushing("d", "world", "b", point=ORIGIN, stiffness=[0.0] * 6, damping=[c] * 6),
    "drag": lambda c: vi.Drag("d", "b", angular=0.5 * c),
}


def rotor(force, z):
    hinge = vi.Revolute("p", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    return vi.Mechanism("rotor", [BLOCK], [hinge], gravity=ORIGIN, forces=[FORCES[force](z / DT)])


def rates(method, force, z, steps=4):
    mechanism = rotor(force, z)
    return vi.simulate(vi.Problem(mechanism, steps * DT, state=mechanism.state(rates={"p": 1.0})), method).rates["p"]


@pytest.mark.parametrize("integrator", ["bdf1", "bdf2", "sdirk2", "euler"])
@pytest.mark.parametrize("force", FORCES)
def test_dissipative_reduced_steps_end_the_motion(integrator, force):
    method = vi.Reduced(integrator=integrator, dt=DT)
    for z in SIZES if force == "joint damper" else (2.1, 1e2, 1e6):
        left = rates(method, force, z)
        assert abs(left[1]) <= (1.001 / (1 + z) if z < 2.0 else 0.7 if force == "drag" and z < 3.0 else 0.51)
        assert abs(left[-1]) <= (0.95 if force == "drag" else 0.5) * abs(left[1]) or z < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "bound"), [("heun", 2.0), ("rk4", 2.785), ("variational3", 6.0)])
@pytest.mark.parametrize("force", FORCES)
def test_reduced_steps_that_would_amplify_it_are_refused(integrator, bound, force):
    method = vi.Reduced(integrator=integrator, dt=DT)
    with pytest.raises(vi.ArgumentError, match=rf"'d' damps by up to .*'{integrator}' amplifies .*{bound:g}"):
        rates(method, force, 1.05 * bound)
    if force != "drag":  # quadratic: its slope falls with the rate
        assert abs(rates(method, force, 0.9 if integrator != "variational3" else 1.9, steps=10)[-1]) < 0.1


METHODS = {
    "variational2": vi.Reduced(integrator="variational2", dt=DT),
    "gauss": vi.Reduced(integrator="gauss", dt=DT),
    "gauss of four stages": vi.Reduced(integrator="gauss", dt=DT, stages=4),
    "order 4": vi.Variational(DT, order=4),
    "order 8": vi.Variational(DT, order=8),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_steps_that_leave_most_of_it_say_so(name):
    for force in ("joint damper", "bushing"):
        with pytest.warns(vi.UnresolvedWarning, match=r"'d' damps by up to .* leaves .*dt below"):
            left = rates(METHODS[name], force, 1e4)
        assert abs(left[1]) > 0.5
    assert abs(rates(METHODS[name], "joint damper", 2.1)[1]) < 0.5


@pytest.mark.slow
def test_the_step_of_the_warning_resolves():
    with pytest.warns(vi.UnresolvedWarning) as told:
        rates(METHODS["gauss"], "joint damper", 1e3)
    dt = float(str(told[0].message).split("dt below ")[1].split(" s")[0])
    mechanism = rotor("joint damper", 1e3)
    problem = vi.Problem(mechanism, 4 * dt, state=mechanism.state(rates={"p": 1.0}))
    left = vi.simulate(problem, vi.Reduced(integrator="gauss", dt=dt)).rates["p"]
    assert (np.abs(left[1:] / left[:-1]) <= 0.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_factors_are_those_of_steps(nodes):
    z = np.array([0.3, 3.0, 30.0, 3e5])
    task = Task(0.0, DT, 0.0, 0.0, nodes)
    np.testing.assert_allclose(INTEGRATORS["gauss"].factor(task, z), diagonal_factor(nodes, z), rtol=0, atol=1e-9)
    if nodes > 1:  # of weak dampers; others: tests/test_lobatto_strong_damping.py
        left = rates(vi.Lobatto(dt=DT, order=2 * nodes), "joint damper", 5.0)
        np.testing.assert_allclose(left[1], diagonal_factor(nodes, np.array([5.0]))[0], atol=1e-9)


@pytest.mark.slow
def test_light_links_between_heavy_ones_are_no_reason():
    """By its own inertia alone the yoke would be at c dt / m = 100."""
    rotor_body = vi.Body("rotor", mass=1.0, inertia=np.diag([0.002, 0.002, 0.004]), position=(0.2, 0, 0))
    yoke = vi.Body("yoke", mass=1e-3, inertia=np.eye(3) * 1e-7)
    joints = [
        vi.Revolute("el", "world", "yoke", point=ORIGIN, axis=(0, 1, 0)),
        vi.Revolute("sp", "yoke", "rotor", point=(0.2, 0, 0), axis=(1, 0, 0)),
    ]
    damper = vi.JointDamper("d", joint="el", damping=0.01)
    mechanism = vi.Mechanism("gimbal", [yoke, rotor_body], joints, forces=[damper])
    vi.redmax.simulate(mechanism, 0.01, DT, integrator="heun")
    vi.redmax.simulate(mechanism, 0.01, DT, integrator="gauss")


@pytest.mark.slow
def test_a_chosen_method_ends_the_motion():
    mechanism = rotor("joint damper", 1e3)
    state = mechanism.state(rates={"p": 1.0})
    run = vi.simulate(mechanism, 0.5, "auto", state=state)
    assert abs(run.rates["p"][-1]) < 0.01  # in nine steps


@pytest.mark.parametrize(("damping", "told"), [(1e5, True), (1.0, False)])
def test_runs_with_deformable_bodies_say_so(damping, told):
    bodies = [
        vi.Body.box(name, (0.1, 0.1, 0.1), mass=0.5, position=(x, 0.0, 0.0)) for name, x in (("a", -0.2), ("b", 0.2))
    ]
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    damper = vi.BodyDamper("d", "a", linear=damping)
    mechanism = vi.Mechanism("pair", bodies, free, forces=[pad(), damper], gravity=ORIGIN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vi.simulate(mechanism, 0.003, DT)
    assert told == any("'d' damps by up to" in str(each.message) for each in caught)


BOUNDED = {
    "friction": vi.JointFriction("d", joint="p", effort=50.0, smoothing=1e-3),
    "motor": vi.VelocityMotor("d", joint="p", speed=5.0, max_effort=50.0, smoothing=1e-3),
}


@pytest.mark.parametrize("force", BOUNDED)
def test_an_effort_at_its_bound_that_turns_a_rate_round_is_told(force):
    """In reduced coordinates its slope there is zero, and a step of "euler" goes by that: 50 N m turn 1 kg m2 by 0.5
    rad/s in 10 ms, more than the rate of 0.2 rad/s has to lose, or to win."""
    hinge = vi.Revolute("p", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    mechanism = vi.Mechanism("rotor", [BLOCK], [hinge], gravity=ORIGIN, forces=[BOUNDED[force]])
    ends = 5.0 if force == "motor" else 0.0
    problem = vi.Problem(mechanism, 0.2, state=mechanism.state(rates={"p": ends + 0.2}))
    with pytest.warns(
        vi.UnresolvedWarning, match=r"'d' turns its rate round in each step from t = 0 s on, with its largest effort"
    ):
        wrong = vi.simulate(problem, vi.Reduced("euler", dt=0.01)).rates["p"]
    assert np.abs(wrong[1:] - ends).min() > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shorter = vi.simulate(problem, vi.Reduced("euler", dt=1e-5)).rates["p"]
    assert shorter[-1] == pytest.approx(ends, abs=1e-6)


def test_a_swing_of_which_half_periods_are_recorded_is_not_told():
    """Its effort has another sign at each node, and nothing turns round in a step."""
    friction = vi.JointFriction("d", joint="p", effort=1e-6, smoothing=1e-6)
    spring = vi.TorsionSpring("s", joint="p", stiffness=(np.pi / 0.1) ** 2)  # half a period in 0.1 s
    hinge = vi.Revolute("p", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    mechanism = vi.Mechanism("rotor", [BLOCK], [hinge], gravity=ORIGIN, forces=[friction, spring])
    problem = vi.Problem(mechanism, 1.0, state=mechanism.state(rates={"p": 1.0}))
    with warnings.catch_warnings():
        warnings.simplefilter("error", vi.UnresolvedWarning)
        run = vi.simulate(problem, vi.Reduced("euler", dt=1e-4), vi.Recording(every=1000))
    assert (run.force["d"][1:] * run.force["d"][:-1] < 0.0).all()
