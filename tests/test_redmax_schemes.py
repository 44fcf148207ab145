"""The schemes of fixed steps in reduced coordinates: order, loops, forces, long steps."""

import numpy as np
import pytest
from random_mechanisms import LOWER, random_tree, random_velocity_state
from scipy.integrate import solve_ivp

import varint as vi
from varint.methods.reduced.integrators import INTEGRATORS

ORDERS = {name: kind.order for name, kind in INTEGRATORS.items() if kind.fixed and kind.stiff}
CASES = {
    "double_pendulum": {"joint": "spherical"},
    "four_bar": {},
    "governor": {},  # with springs and dampers
    "three_link_loop": {},
    "tree": {"depth": 2},
}


def errors(mechanism, integrator, exact, T, steps, **start):
    found = []
    for n in steps:
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator, every=n, **start)
        assert run.steps == n
        found.append([np.abs(getattr(run, a)[-1] - getattr(exact, a)[-1]).max() for a in ("position", "velocity")])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if k % 2 else []) for k, name in enumerate(CASES)]
)
def test_order(name, integrator):
    mechanism, T = getattr(vi.mechanisms, name)(**CASES[name]), 0.4
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11)
    found = errors(mechanism, integrator, exact, T, (80, 160, 320))
    slopes = -np.polyfit(np.log([80, 160, 320]), np.log(found), 1)[0]
    assert slopes == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.1)


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.slow
def test_order_on_a_random_tree(rng, integrator):
    mechanism, T = random_tree(rng, 5, LOWER, floating=True), 0.25
    start = {"state": random_velocity_state(rng, mechanism)}
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11, **start)
    found = errors(mechanism, integrator, exact, T, (80, 160, 320), **start)
    slopes = -np.polyfit(np.log([80, 160, 320]), np.log(found), 1)[0]
    assert slopes == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ORDERS)
def test_work_and_dissipation_balance(integrator):
    mechanism = vi.mechanisms.governor()
    balance = [
        np.abs(vi.redmax.simulate(mechanism, 0.4, dt=dt, integrator=integrator).energy_balance).max()
        for dt in (0.002, 0.001)
    ]
    assert balance[1] < 0.7 * balance[0]


@pytest.mark.parametrize("integrator", [name for name, kind in INTEGRATORS.items() if kind.stiff])
def test_stiff_springs_at_long_steps(integrator):
    """A spring with a time constant of microseconds, in steps of 10 ms."""
    spring = vi.TorsionSpring("spring", joint="hinge", stiffness=1e6, damping=1e4)
    body = vi.Body.box("b", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = vi.Mechanism("stiff", [body], [hinge], forces=[spring])
    state = mechanism.state(coordinates={"hinge": 0.01})
    run = vi.redmax.simulate(mechanism, 2.0, dt=0.01, integrator=integrator, state=state, rtol=1e-4)
    assert np.abs(run.coordinates["hinge"][-1]) < 1e-6
    assert run.steps <= 200


def test_no_convergence_is_an_error(monkeypatch):
    monkeypatch.setattr("varint.methods.reduced.implicit.ITERATIONS", 1)
    with pytest.raises(vi.ConvergenceError, match="did not converge, nor does it in a step of") as caught:
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, dt=0.1, integrator="bdf1")
    assert not caught.value.trajectory.success


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bdf1", "bdf2"])
def test_steps_near_singular_angles(name):
    """Euler angles at rates of 10 rad/s: Newton's increments are halved, and where that fails the chart changes."""
    rng = np.random.default_rng(2)
    bodies = [vi.Body.box(name, (0.3, 0.2, 0.1), 1.0, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 0.5))]
    mechanism = vi.Mechanism("free", bodies, [vi.Free("one", "world", "a"), vi.Free("two", "a", "b")])
    velocity = {name: rng.normal(size=3) for name in "ab"}
    state = mechanism.state(velocity=velocity, angular_velocity={name: 5 * rng.normal(size=3) for name in "ab"})
    given = {"dt": 0.004, "state": state, "integrator": name}
    angles, vectors = (vi.redmax.simulate(mechanism, 1.2, chart=chart, **given) for chart in ("yxz", "exponential"))
    fine = vi.redmax.simulate(mechanism, 1.2, dt=0.004, state=state, rtol=1e-9)
    off = [np.abs(run.position - fine.position).max() for run in (angles, vectors)]
    assert off[0] < 5 * off[1]


def test_needs_the_step():
    with pytest.raises(vi.ArgumentError, match="'bdf2' needs dt="):
        vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, integrator="bdf2")


# ---------------------------------------------------------------------------------------- integral gains


def servo_arm(target, **gains):
    """A pendulum with a second one on it, held by a servo with an integral gain at its shoulder."""
    plain = vi.mechanisms.double_pendulum()
    given = {"stiffness": 40.0, "damping": 6.0, "integral": 30.0} | gains
    servo = vi.JointServo("servo", joint=plain.joints[0].name, target=target, **given)
    return vi.Mechanism("arm", plain.bodies, plain.joints, gravity=plain.gravity, forces=[servo])


def step_to(t, state):
    return 0.8 + 0.3 * np.sin(4.0 * t)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk45", "dop853", "radau"])
def test_integral_gain_with_error_control(integrator):
    """Against the closed equations of a pendulum, by another program, at nodes that the integrator chooses."""
    inertia, weight, ki = 0.05 + 2.0 * 0.25, 2.0 * 9.81 * 0.5, 15.0

    def slope(t, y):
        effort = -20.0 * (y[0] - step_to(t, None)) - 4.0 * y[1] - ki * y[2]
        return y[1], (effort - weight * np.sin(y[0])) / inertia, y[0] - step_to(t, None)

    body = vi.Body("m", mass=2.0, inertia=0.05 * np.eye(3), position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "m", point=(0, 0, 0), axis=(0, 1, 0))
    servo = vi.JointServo("servo", joint="hinge", target=step_to, stiffness=20.0, damping=4.0, integral=ki)
    run = vi.redmax.simulate(
        vi.Mechanism("servo", [body], [hinge], forces=[servo]), 3.0, integrator=integrator, rtol=1e-8
    )
    y = solve_ivp(slope, (0.0, 3.0), np.zeros(3), "DOP853", run.t, rtol=1e-12, atol=1e-12).y
    effort = [-20.0 * (q - step_to(t, None)) - 4.0 * v - ki * w for t, (q, v, w) in zip(run.t, y.T, strict=True)]
    assert run.coordinates["hinge"] == pytest.approx(y[0], abs=1e-5)
    assert run.force["servo"] == pytest.approx(effort, abs=1e-4)
    angular = [slope(t, state)[1] for t, state in zip(run.t, y.T, strict=True)]
    assert run.angular_acceleration[:, 0, 1] == pytest.approx(angular, abs=1e-3)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("stiffness", [40.0, 0.0])
def test_order_with_an_integral_gain(integrator, stiffness):
    mechanism = servo_arm(step_to, stiffness=stiffness)
    exact = vi.redmax.simulate(mechanism, 1.0, rtol=1e-11)
    found = []
    for n in (100, 200):
        run = vi.redmax.simulate(mechanism, 1.0, dt=1.0 / n, integrator=integrator, every=n // 4)
        errors = run.position[-1] - exact.position[-1], run.force["servo"][-1] - exact.force["servo"][-1]
        found.append([np.abs(error).max() for error in errors])
    assert np.log2(np.divide(*found)) == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.2)


def test_both_formulations_agree_on_an_integral_gain():
    mechanism = servo_arm(0.8)
    red = vi.redmax.simulate(mechanism, 1.0, dt=0.01, rtol=1e-10)
    errors = []
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 1.0, dt, every=round(0.01 / dt))
        errors.append([np.abs(getattr(run, a) - getattr(red, a)).max() for a in ("position", "velocity")])
    assert np.log2(np.divide(*errors)) == pytest.approx([2.0, 2.0], abs=0.2)
    assert run.force["servo"] == pytest.approx(red.force["servo"], abs=2e-3)


@pytest.mark.parametrize("integrator", ORDERS)
def test_strong_integral_gain_at_long_steps(integrator):
    """Of a body that only dampers slow: the integral's own time constant is a fortieth of the step."""
    body, slide = vi.Body("b", mass=1e-4, inertia=np.eye(3)), vi.Prismatic
    joint = slide("slide", "world", "b", point=(0, 0, 0), axis=(1, 0, 0))
    servo = vi.JointServo("servo", joint="slide", target=1.0, stiffness=0.0, damping=1.0, integral=400.0)
    mechanism = vi.Mechanism("slide", [body], [joint], forces=[servo])
    run = vi.redmax.simulate(mechanism, 10.0, dt=0.1, integrator=integrator)
    assert np.abs(run.coordinates["slide"]).max() < 3.0
