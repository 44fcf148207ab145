"""Linear systems of mechanisms: against differences, closed forms, modes, and the discrete equations by hand."""

import dataclasses

import force_samples
import numpy as np
import pytest
from force_samples import with_forces
from holonomic import HOLONOMIC
from random_mechanisms import random_closed, random_velocity_state
from scipy.linalg import expm, logm
from test_tangent import two_form

import varint as vi
from varint.derivatives.objective import changed_state
from varint.model.rotation_vectors import quat_from_vector, quat_product, vector_from_quat

DT, STEP = 2e-3, 2.5e-4
G = 9.81
STEPS = ["double_pendulum", "four_bar", "spinning_top", "governor", "sarrus", "slider_crank"]
MORE = [
    name
    for name in HOLONOMIC
    if name not in (*STEPS, "roller_coaster", "escapement", "andrews_squeezer", "delta_robot")
]


INPUTS = {"motor": "effort", "push": "magnitude", "spinner": "speed"}
SAMPLES = [name for name in force_samples.IN_STEPS if name not in {*force_samples.IN_THE_WORLD, *force_samples.STATES}]


def driven_four_bar():
    """With a motor, a spring across the loop, a damper, and a coupling of a link on the rocker with the crank."""
    plain = vi.mechanisms.four_bar()
    rocker = plain.body("rocker").position
    arm = vi.Body.box("arm", size=(0.1, 0.1, 0.4), mass=0.7, position=rocker + (0.1, 0.2, 0.1))
    hinge = vi.Revolute("arm hinge", "rocker", "arm", point=rocker, axis=(0, 1, 0))
    forces = [
        vi.Motor("motor", joint="crank pivot", effort=1.5),
        vi.JointDamper("damper", joint="rocker pivot", damping=0.4),
        vi.Spring("spring", "world", "coupler", point_a=(0, 0, 1.5), point_b=plain.body("coupler").position,
                  stiffness=30.0, damping=0.3),
        vi.PointForce("push", "arm", direction=(0.3, 0.1, 1.0), magnitude=2.0, point=rocker + (0, 0, 0.3)),
        vi.VelocityMotor("spinner", joint="arm hinge", speed=0.5, max_effort=0.3, smoothing=2.0),
    ]  # fmt: skip
    return vi.Mechanism("driven", [*plain.bodies, arm], [*plain.joints, hinge], forces=forces)


def with_input(mechanism, name, field, share):
    given = mechanism.force(name)
    changed = dataclasses.replace(given, **{field: getattr(given, field) + share})
    return with_forces(mechanism, *(changed if force is given else force for force in mechanism.forces))


def by_differences(system, mechanism, result, held=None):
    """(k, 2 n) derivative of a function of the state by the minimal coordinates, of fourth order."""

    def both(y):
        guess = changed_state(system.state, np.tensordot(y, system.basis, 1))
        start = mechanism.assemble(guess, **(held or {}))
        return np.concatenate([system.coordinates(start), result(start)])

    h, units = STEP, np.eye(len(system.A))
    slopes = [(8 * (both(h / 2 * e) - both(-h / 2 * e)) - (both(h * e) - both(-h * e))) / (6 * h) for e in units]
    starts, ends = np.split(np.array(slopes).T, [len(units)])
    return ends @ np.linalg.inv(starts)


def stepped(mechanism, dt, order):
    return lambda state: vi.simulate(mechanism, dt, dt, state=state, order=order, tol=1e-13, on_unresolved="ignore")[-1]


def check_step(mechanism, state, order, held=None):
    system = vi.linearize(mechanism, state, DT, order=order)
    step = stepped(mechanism, DT, order)
    found = by_differences(system, mechanism, lambda s: system.coordinates(step(s)), held)
    assert np.abs(system.A - found).max() < (1e-7 if mechanism.name == "governor" else 1e-9) * np.abs(found).max()
    assert system.offset == pytest.approx(system.coordinates(step(system.state)), abs=1e-10)
    return system


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", STEPS)
def test_a_step(rng, name, order):
    lighter = {"damping": 1e3} if (name, order) == ("governor", 4) else {}  # as much as order 4 takes
    mechanism = getattr(vi.mechanisms, name)(**lighter)
    check_step(mechanism, random_velocity_state(rng, mechanism, 0.3), order)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_products_of_exponentials(order):
    """A nut on a screw that swings, and a car on a track, away from the frames where its curvature has corners."""
    plain = vi.mechanisms.double_pendulum()
    screw = vi.Helical("screw", "link 1", "link 2", point=(0.1, 0.05, -1.0), axis=(0.2, 0.1, 1.0), lead=0.05)
    screwed = dataclasses.replace(plain, joints=[plain.joints[0], screw])
    coaster = vi.mechanisms.roller_coaster(radius=2.0, height=0.6, speed=2.0)
    states = [
        screwed.state(coordinates={"joint 1": 0.5, "screw": 0.3}, rates={"joint 1": 1.0, "screw": 3.0}),
        coaster.state(coordinates={"track": 0.4, "swing": 0.2}, rates={"track": 1.0, "swing": 0.5}),
    ]
    for mechanism, state in zip((screwed, coaster), states, strict=True):
        check_step(mechanism, state, order)
        check_accelerations(mechanism, state)


@pytest.mark.slow
def test_bodies_that_float(rng):
    """Two bodies on a hinge without a joint to the world: the coordinates of the hinge, and of one of the bodies."""
    sides = {"size": (1.0, 0.5, 0.2), "mass": 1.0}
    bodies = [vi.Body.box("left", **sides), vi.Body.box("right", position=(1, 0, 0), **sides)]
    mechanism = vi.Mechanism(
        "pair", bodies, [vi.Revolute("hinge", *("left", "right"), point=(0.5, 0, 0), axis=(0, 1, 0))]
    )
    state = random_velocity_state(rng, mechanism, 0.3)
    assert check_step(mechanism, state, 2).names == (
        "hinge", *(f"left.{what}[{k}]" for what in ("position", "rotation") for k in range(3))
    )  # fmt: skip
    check_accelerations(mechanism, state)


@pytest.mark.slow
def test_what_cannot_move():
    fixed = vi.Mechanism("fixed", [vi.Body.box("b", size=(1, 1, 1), mass=1.0)], [vi.Fixed("f", "world", "b")])
    for dt in (None, 0.01):
        system = vi.linearize(fixed, dt=dt)
        assert system.A.shape == (0, 0)
        assert system.names == ()
    with pytest.raises(vi.ArgumentError, match="mechanism 'fixed' cannot move from its state"):
        vi.periodic_orbit(fixed, fixed.state(), 1.0, 0.01)
    with pytest.raises(vi.ArgumentError, match="mechanism 'fixed' cannot move from its state"):
        vi.lyapunov_spectrum(fixed, 1.0, 0.01, interval=0.05)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", MORE)
def test_a_step_of_the_catalogue(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    check_step(mechanism, random_velocity_state(rng, mechanism, 0.3), 2)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_inputs_forces_and_a_loop(rng, order):
    mechanism = driven_four_bar()
    state = random_velocity_state(rng, mechanism, 0.3)
    system = check_step(mechanism, state, order)
    assert system.inputs == ("motor", "push", "spinner")
    assert system.input == pytest.approx([1.5, 2.0, 0.5])
    for k, (name, field) in enumerate(INPUTS.items()):

        def end(share, name=name, field=field):
            return system.coordinates(stepped(with_input(mechanism, name, field, share), DT, order)(state))

        h = 1e-2
        found = (8 * (end(h / 2) - end(-h / 2)) - (end(h) - end(-h))) / (6 * h)
        assert system.B[:, k] == pytest.approx(found, abs=1e-8 * np.abs(found).max())


@pytest.mark.slow
def test_couplings_and_prescribed_motions_hold(rng):
    plain = vi.mechanisms.n_pendulum(4)
    gear = vi.Gear("gear", joint_a="joint 2", joint_b="joint 3", radius_a=2.0, radius_b=1.0)
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.3 + 0.4 * t + t**2)
    mechanism = with_forces(plain, gear, drive)
    state = mechanism.state(
        coordinates={"joint 1": 0.3, "joint 2": 0.2, "joint 3": -0.4, "joint 4": 0.1},
        rates={"joint 1": 0.4, "joint 2": 0.5, "joint 3": -1.0, "joint 4": -0.3},
    )
    state = mechanism.assemble(state, rates={"joint 1": 0.4})
    held = {"coordinates": {"joint 1": 0.3}, "rates": {"joint 1": 0.4}}
    system = check_step(mechanism, state, 2, held)
    assert len(system.names) == 2
    assert system.inputs == ()
    check_accelerations(mechanism, state, held)


def rate_of(system, mechanism):
    """x' of a nearby state, by its accelerations; the rates of rotation vectors are differences of fourth order."""
    rows, h = system.rows[len(system.A) // 2 :, :, 6:], 1e-3

    def rate(state):
        found = vi.accelerations(mechanism, state)

        def turn(t):
            quat = quat_product(state.quat_wxyz, quat_from_vector(state.angular_velocity * t))
            return vector_from_quat(quat_product(system.state.quat_wxyz * [1, -1, -1, -1], quat))

        turning = (8 * (turn(h) - turn(-h)) - (turn(2 * h) - turn(-2 * h))) / (12 * h)
        parts = np.hstack([state.velocity, turning]), np.hstack([found.linear, found.angular])
        return np.concatenate([np.tensordot(rows, part, 2) for part in parts])

    return rate


def check_accelerations(mechanism, state, held=None):
    system = vi.linearize(mechanism, state, chart=True)  # of joints: test_linearize_coordinates
    rate = rate_of(system, mechanism)
    found = by_differences(system, mechanism, rate, held)
    assert np.abs(system.A - found).max() < 1e-8 * max(np.abs(found).max(), 1.0)
    assert system.offset == pytest.approx(rate(state), abs=1e-9 * max(np.abs(system.offset).max(), 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_accelerations(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    check_accelerations(mechanism, random_velocity_state(rng, mechanism, 0.3))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", MORE)
def test_accelerations_of_the_catalogue(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    check_accelerations(mechanism, random_velocity_state(rng, mechanism, 0.3))


@pytest.mark.slow
def test_accelerations_with_forces_and_inputs(rng):
    mechanism = driven_four_bar()
    state = random_velocity_state(rng, mechanism, 0.3)
    check_accelerations(mechanism, state)
    system, h = vi.linearize(mechanism, state), 1e-2
    for k, (name, field) in enumerate(INPUTS.items()):

        def rate(share, name=name, field=field):
            found = vi.accelerations(with_input(mechanism, name, field, share), state)
            return np.hstack([found.linear, found.angular])

        found = (8 * (rate(h / 2) - rate(-h / 2)) - (rate(h) - rate(-h))) / (6 * h)
        assert system.fdu[..., k] == pytest.approx(found, abs=1e-9 * np.abs(found).max())
    n = len(system.names)
    assert system.B[n:] == pytest.approx(np.tensordot(system.rows[n:, :, 6:], system.fdu, 2), abs=1e-12)
    assert not system.B[:n].any()


@pytest.mark.many
@pytest.mark.parametrize("name", SAMPLES)
def test_every_force(rng, name):
    forces = force_samples.SAMPLES[name]
    mechanism = force_samples.sample_mechanism(np.random.default_rng(1), forces)
    state = random_velocity_state(rng, mechanism, 0.3)
    system = vi.linearize(mechanism, state)
    change, h = np.tensordot(rng.standard_normal(len(system.A)), system.basis, 1), 1e-4

    def rate(share):
        found = vi.accelerations(mechanism, changed_state(system.state, share * change))
        return np.hstack([found.linear, found.angular])

    found = (8 * (rate(h / 2) - rate(-h / 2)) - (rate(h) - rate(-h))) / (6 * h)
    exact = np.tensordot(system.fdx, change, 2)
    assert exact == pytest.approx(found, abs=1e-7 * np.abs(found).max())


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", [9, *range(4), *(pytest.param(k, marks=pytest.mark.long) for k in range(10, 40))])
def test_random_loops(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(4, 7)), 1)
    state = random_velocity_state(rng, mechanism, 0.3)
    check_step(mechanism, state, 2)
    check_accelerations(mechanism, state)


def test_a_moving_double_pendulum_in_closed_form():
    """Slender links of 1 kg and 1 m on hinges: the equations of its two joint angles, differentiated by hand."""
    moving = {"joint 1": (0.7, -1.3), "joint 2": (0.9, 2.1)}
    mechanism = vi.mechanisms.double_pendulum(angle=0.0)
    system = vi.linearize(mechanism, mechanism.state(
        coordinates={name: q for name, (q, _) in moving.items()}, rates={name: dq for name, (_, dq) in moving.items()}
    ))  # fmt: skip
    inertia = mechanism.bodies[0].inertia[1, 1]

    def accelerations(x):
        q1, q2, w1, w2 = x
        c = 0.5 * np.cos(q2)
        a, b = 1.5 + 2 * inertia + 2 * c, 0.25 + inertia + c
        mass = np.array([[a, b], [b, 0.25 + inertia]])
        turning = 0.5 * np.sin(q2) * np.array([w2 * (2 * w1 + w2), -(w1**2)])
        weight = -G * np.array([1.5 * np.sin(q1) + 0.5 * np.sin(q1 + q2), 0.5 * np.sin(q1 + q2)])
        return np.linalg.solve(mass, turning + weight)

    x = np.array([0.7, 0.9, -1.3, 2.1])
    exact = np.zeros((4, 4))
    exact[:2, 2:] = np.eye(2)
    exact[2:] = np.array([accelerations(x + 1e-20j * e).imag / 1e-20 for e in np.eye(4)]).T
    assert system.names == ("joint 1", "joint 2")
    assert system.offset == pytest.approx([*x[2:], *accelerations(x)], abs=1e-12)
    assert exact == pytest.approx(system.A, abs=1e-10)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "governor", "n_four_bar"])
def test_eigenvalues_are_the_roots_of_the_modes(name):
    mechanism = getattr(vi.mechanisms, name)()
    mechanism = with_forces(mechanism, *mechanism.forces, *(
        vi.JointDamper(f"damper {k}", joint=joint.name, damping=0.05)
        for k, joint in enumerate(mechanism.joints) if type(joint) is vi.Revolute
    ))  # fmt: skip
    rest = vi.equilibrium(mechanism)
    roots, found = vi.modes(mechanism, rest).decay, vi.linearize(mechanism, rest).eigenvalues
    gaps = np.abs(roots[:, None] - found)
    assert gaps.min(axis=0).max() < 1e-7 * np.abs(roots).max()
    assert gaps.min(axis=1).max() < 1e-7 * np.abs(roots).max()


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, pytest.param(6, marks=pytest.mark.slow)])
def test_steps_have_the_exponential_at_their_order(order):
    """At an equilibrium the flow of the linear system is exp(A t): the logarithm of a step tends to A dt."""
    mechanism = vi.mechanisms.cart_pole()
    rest = vi.equilibrium(mechanism)
    exact, steps = vi.linearize(mechanism, rest), np.array([0.1, 0.05])
    errors = []
    for dt in steps:
        found = vi.linearize(mechanism, rest, dt, order=order)
        errors.append(np.abs(logm(found.A) / dt - exact.A).max())
        assert found.offset == pytest.approx(np.zeros(4), abs=1e-13)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    held = expm(np.block([[exact.A, exact.B], [np.zeros((1, 5))]]) * 0.05)[:4, 4:]
    assert np.abs(found.B - held).max() < 5 * 0.05 ** (order + 1)


@pytest.mark.slow
def test_small_steps_tend_to_the_continuous_system(rng):
    """(A_d - I) / dt tends to A at first order, whatever the scheme, where the mechanism moves."""
    mechanism = vi.mechanisms.four_bar()
    state = random_velocity_state(rng, mechanism, 0.3)
    exact = vi.linearize(mechanism, state)
    errors = [np.abs((vi.linearize(mechanism, state, dt, order=4).A - np.eye(2)) / dt - exact.A).max() for dt in
              (1e-3, 5e-4, 2.5e-4)]  # fmt: skip
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.05)
    extrapolated = 2 * (vi.linearize(mechanism, state, 2.5e-4, order=4).A - np.eye(2)) / 2.5e-4
    extrapolated -= (vi.linearize(mechanism, state, 5e-4, order=4).A - np.eye(2)) / 5e-4
    assert extrapolated == pytest.approx(exact.A, abs=1e-4 * np.abs(exact.A).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["n_pendulum", "spinning_top", "four_bar", "bricard", "stewart_platform"])
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_reduced_steps_keep_the_two_form(rng, name, order):
    """M^T J M = J of the minimal coordinates, J by the momenta of the states at both ends."""
    mechanism = getattr(vi.mechanisms, name)()
    system = vi.linearize(mechanism, random_velocity_state(rng, mechanism, 0.5), 1e-3, order=order)
    after = stepped(mechanism, 1e-3, order)(system.state)
    masses = np.array([body.mass for body in mechanism.bodies])[:, None]
    inertias = np.array([body.inertia for body in mechanism.bodies])

    def form(changes, state):
        momenta = changes.copy()
        momenta[..., 6:9] *= masses
        momenta[..., 9:] = np.einsum("nab,cnb->cna", inertias, changes[..., 9:])
        angular = np.einsum("nab,nb->na", inertias, state.angular_velocity)
        return np.array([[two_form(a, b, angular) for a in momenta] for b in momenta])

    ends = np.tensordot(system.basis, system.fdx, ((1, 2), (2, 3)))
    before = form(system.basis, system.state)
    assert np.abs(form(ends, after) - before).max() < 1e-11 * np.abs(before).max()


def pendulum(effort=0.8):
    """1 kg m^2 about its pin and 9.8 N m of weight, as a point of 1 kg on a rod of 1 m with g = 9.8 m/s^2."""
    mass = 0.9
    bob = vi.Body("bob", mass=mass, inertia=0.1 * np.eye(3), position=(0, 0, -1))
    pin = vi.Revolute("pin", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    motor = vi.Motor("motor", joint="pin", effort=effort)
    return vi.Mechanism("pendulum", [bob], [pin], gravity=(0, 0, -9.8 / mass), forces=[motor])


def stepped_pendulum(q, p, u, h):
    """A step by hand: sin(q' - q) / h = p - h/2 9.8 sin q + h/2 u, and its derivatives by (q, p, u).

    The discrete Lagrangian of varint, (1 - cos(q' - q)) / h - h/2 (V(q) + V(q')), V = -9.8 cos q, with half of the
    motor's impulse at either end.
    """
    turn = np.arcsin(h * (p - 0.5 * h * 9.8 * np.sin(q) + 0.5 * h * u))
    end = q + turn
    by = np.array([-0.5 * h * 9.8 * np.cos(q), 1.0, 0.5 * h]) * h / np.cos(turn)  # of the turn
    end_by = by + [1.0, 0.0, 0.0]
    momentum = np.sin(turn) / h - 0.5 * h * 9.8 * np.sin(end) + 0.5 * h * u
    momentum_by = np.cos(turn) / h * by - 0.5 * h * 9.8 * np.cos(end) * end_by + [0.0, 0.0, 0.5 * h]
    return np.array([end, momentum]), np.array([end_by, momentum_by])


def midpoint_pendulum(q, p, u, h):
    """The step of trep's midpoint rule in the angle, and its derivatives by (q, p, u).

    With half of the impulse of the torque at either end; trep has all of it at the start.
    """
    end = q + h * p
    for _ in range(50):
        middle = 0.5 * (q + end)
        residual = (end - q) / h + 0.5 * h * 9.8 * np.sin(middle) - 0.5 * h * u - p
        end -= residual / (1 / h + 0.25 * h * 9.8 * np.cos(middle))
    bend = 0.25 * h * 9.8 * np.cos(0.5 * (q + end))
    end_by = np.array([1 / h - bend, 1.0, 0.5 * h]) / (1 / h + bend)
    momentum = (end - q) / h - 0.5 * h * 9.8 * np.sin(0.5 * (q + end)) + 0.5 * h * u
    momentum_by = (end_by - [1, 0, 0]) / h - bend * (end_by + [1, 0, 0]) + [0, 0, 0.5 * h]
    return np.array([end, momentum]), np.array([end_by, momentum_by])


@pytest.mark.slow
def test_the_pendulum_of_treps_check():
    q, p, u, h = 0.2, 0.5, 0.8, 0.1
    mechanism = pendulum(u)
    state = mechanism.state(coordinates={"pin": q}, rates={"pin": p})
    system = vi.linearize(mechanism, state, h)
    (end, momentum), exact = stepped_pendulum(q, p, u, h)
    assert system.offset == pytest.approx([end - q, momentum - p], abs=1e-12)
    assert np.hstack([system.A, system.B]) == pytest.approx(exact, abs=1e-10)
    gaps = []
    for dt in (h, h / 2, h / 4):
        found = vi.linearize(mechanism, state, dt)
        gaps.append(np.abs(np.hstack([found.A, found.B]) - midpoint_pendulum(q, p, u, dt)[1]).max())
    assert np.log2(np.array(gaps[:-1]) / gaps[1:]) == pytest.approx(3.0, abs=0.2)


@pytest.mark.slow
def test_what_it_says_and_refuses():
    mechanism = vi.mechanisms.cart_pole()
    system = vi.linearize(mechanism)
    text = (
        "Linearization: 'cart-pole', continuous, 2 coordinates 'track', 'pivot', coordinates of joints, 1 input 'motor'"
    )
    assert repr(system) == text
    assert system.fdx.shape == (2, 6, 2, 12)
    assert system.fdu.shape == (2, 6, 1)
    stepping = vi.linearize(mechanism, dt=0.01)
    assert stepping.fdx.shape == (2, 12, 2, 12)
    moved = mechanism.state(coordinates={"pivot": 1.2, "track": 0.1})
    assert stepping.coordinates(moved) == pytest.approx([0.1, 0.2, 0, 0])
    with pytest.raises(vi.StateError, match="position of the state must be"):
        stepping.coordinates(vi.mechanisms.four_bar().state())
    with pytest.raises(vi.ArgumentError, match="order= and scheme= are those of a step"):
        vi.linearize(mechanism, order=4)
    with pytest.raises(vi.ArgumentError, match="dt must be at least 1e-50 in size"):
        vi.linearize(mechanism, dt=1e-310)
    with pytest.raises(vi.ArgumentError, match="needs order 2 or more"):
        vi.linearize(mechanism, dt=0.01, order=1)
    with pytest.raises(
        vi.ArgumentError, match="'stop' on joint 'pivot' is closed: it is at 1 rad, its upper limit is 0 rad"
    ):
        vi.linearize(with_forces(mechanism, vi.JointStop("stop", joint="pivot", upper=0.0)))
    with pytest.raises(vi.ArgumentError, match="mechanism"):
        vi.linearize("four_bar")


def turned_by_motors():
    """A motion at a constant rate, a feedback and a spring."""
    plain = vi.mechanisms.n_pendulum(3)
    names = [joint.name for joint in plain.joints]
    forces = [
        vi.PrescribedMotion("drive", joint=names[0], rate=2.0),
        vi.Motor("feedback", joint=names[1], effort=lambda t, state: 3.0 * state.velocity[0, 0]),
        vi.TorsionSpring("spring", joint=names[2], stiffness=2.0, damping=0.1),
    ]
    return vi.Mechanism("turned", plain.bodies, plain.joints, forces=forces)


@pytest.mark.slow
@pytest.mark.parametrize("dt", [None, 1e-3, 0.4])
@pytest.mark.parametrize("build", [driven_four_bar, turned_by_motors, vi.mechanisms.sarrus, vi.mechanisms.spinning_top])
def test_a_linearizer_gives_the_same_bits_at_every_state(rng, build, dt):
    """With steps so long that they are halved; what was found before stays as it was."""
    mechanism = build()
    states = [mechanism.state(), *(random_velocity_state(rng, mechanism, 0.5) for _ in range(3))]
    linearizer = vi.Linearizer(mechanism, dt)
    found = [linearizer.at(state) for state in (*states, None)]
    for state, again in zip((*states, None), found, strict=True):
        alone = vi.linearize(mechanism, state, dt)
        assert again.names == alone.names
        assert again.inputs == alone.inputs
        for name in ("A", "B", "offset", "input", "basis", "rows", "fdx", "fdu"):
            assert np.array_equal(getattr(again, name), getattr(alone, name)), name
        assert np.array_equal(again.coordinates(states[1]), alone.coordinates(states[1]))


@pytest.mark.slow
def test_a_linearizer_goes_on_after_an_error():
    cart = vi.mechanisms.cart_pole()
    linearizer, state = vi.Linearizer(cart, 0.01, order=4), cart.state(rates={"pivot": 3.0})
    before = linearizer.at(state)
    fast = vi.State(state.position, state.quat_wxyz, state.velocity, state.angular_velocity + [0.0, 1e9, 0.0])
    with pytest.raises(vi.ConvergenceError, match="could not be solved"):
        linearizer.at(fast)
    with pytest.raises(vi.StateError, match="open"):
        linearizer.at(vi.State(state.position + 1.0, state.quat_wxyz, state.velocity, state.angular_velocity))
    assert np.array_equal(linearizer.at(state).A, before.A)
    assert repr(linearizer) == "Linearizer: 'cart-pole', steps of 0.01 s"
    with pytest.raises(vi.ArgumentError, match="give dt="):
        vi.Linearizer(cart, order=4)
