"""Forces on one body, bushings, non-linear and routed springs, contact: closed forms, differences, balances."""

import dataclasses

import numpy as np
import pytest
from floating_bodies import box, floating
from force_samples import NAMES, sample_mechanism, samples
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.files.own.mechanism_data import to_data
from varint.mathematics.vectors import arctangent
from varint.step.efforts import apply_efforts, stiffen
from varint.step.workspace import workspace

MOVING = {"velocity": {"m": (1, 0.5, -0.2)}, "angular_velocity": {"m": (1, -2, 3)}}


def two(*forces):
    return floating(*forces, bodies=[box(), box("n", (0, 0, 0))])


MATRIX = np.random.default_rng(0).normal(size=(6, 6))
POINTS = {"point_a": (0, 0, 0), "point_b": (1, 0, 0.1)}
STIFFNESS = (100, 200, 300, 5, 6, 7)
ONE_BODY = {
    "damper": vi.BodyDamper("f", "m", linear=30.0, angular=0.5),
    "drag": vi.Drag("f", "m", linear=30.0, angular=0.5),
    "dead": vi.PointForce("f", "m", point=(1.1, 0.2, 0.1), direction=(0, 1, 0), magnitude=30.0),
    "follower": vi.PointForce("f", "m", point=(1.1, 0.2, 0.1), direction=(0, 1, 0), magnitude=30.0, fixed_in="body"),
    "torque": vi.PointTorque("f", "m", direction=(0, 1, 0), magnitude=5.0),
    "body torque": vi.PointTorque("f", "m", direction=(0, 1, 0), magnitude=5.0, fixed_in="body"),
    "gravity": vi.CentralGravity("f", "world", "m", mu=1.5),
    "bushing": vi.Bushing("f", "world", "m", point=(1, 0, 0), stiffness=STIFFNESS, damping=np.ones(6)),
    "strain": vi.StrainSpring("f", "world", "m", **POINTS, stiffness=300.0, rest_length=0.7),
    "table": vi.TabulatedSpring("f", "world", "m", **POINTS, values=[0, 1, 2, 4], efforts=[50, 0, -20, -300]),
    "stop": vi.LengthStop("f", "world", "m", **POINTS, upper=0.9, stiffness=300.0),
}


# derivatives


def force_residual(plan, state, velocity, half_step):
    """Residual (6,) that forces add to one body for a step at that velocity, and its derivative by the increment."""
    ws = workspace(plan, 1)
    ws.position[:, 0], ws.quat[:, 0], ws.velocity[0] = state.position[0], state.quat_wxyz[0], velocity
    ws.efforts.input[:] = 30.0
    apply_efforts(plan, ws, 0, 1, 2.0 * half_step)
    stiffen(plan, ws, 0, 1, 2.0 * half_step, False)
    return ws.residual_body[0], ws.ldu.D[0]


@pytest.mark.parametrize("name", ONE_BODY)
def test_derivative_in_newtons_matrix_is_the_difference(name):
    """For a step short enough that the turn over it leaves no trace; at an attitude far from the reference."""
    mechanism = floating(ONE_BODY[name])
    plan = mechanism.compiled.plan
    state = mechanism.state(quat_wxyz={"m": [0.9, 0.3, np.sqrt(0.06), -0.2]}, position={"m": (0.8, 0.3, -0.4)})
    velocity, half_step, change = np.array([0.3, 0.2, -0.5, 0.4, -0.7, 0.2]), 1e-4, 1e-3
    if name == "bushing":
        velocity *= 0
    differences = np.empty((6, 6))
    for k in range(6):
        step = change * np.eye(6)[k]
        if k >= 3:  # dw = (c I + [u]) dphi
            u = half_step * velocity[3:]
            step[3:] = np.sqrt(1 - u @ u) * step[3:] + np.cross(u, step[3:])
        ends = [force_residual(plan, state, velocity + sign * step, half_step)[0] for sign in (1, -1)]
        differences[:, k] = (ends[0] - ends[1]) / (2 * change)
    found = force_residual(plan, state, velocity, half_step)[1]
    assert np.abs(found - differences).max() < 2e-3 * np.abs(differences).max()


# conservation: momentum where nothing acts from outside, energy without trend, balances that close at second order


BETWEEN = {
    "gravity": vi.CentralGravity("f", "n", "m", mu=1.5),
    "bushing": vi.Bushing("f", "n", "m", point=(1, 0, 0.2), stiffness=10 * MATRIX @ MATRIX.T),
    "damped bushing": vi.Bushing("f", "n", "m", point=(1, 0, 0.2), stiffness=STIFFNESS, damping=MATRIX @ MATRIX.T),
    "strain": vi.StrainSpring("f", "n", "m", **POINTS, stiffness=50.0),
    "table": vi.TabulatedSpring("f", "n", "m", **POINTS, values=[0, 1, 2, 4], efforts=[50, 0, -20, -300]),
    "routed": vi.MultiPointSpring(
        "f", ["m", "n", "m"], points=[(1, 0, 0.1), (0, 0.1, 0.1), (1, 0.1, -0.1)], stiffness=50.0
    ),
    "stop": vi.LengthStop("f", "n", "m", **POINTS, upper=1.2, stiffness=300.0, damping=2.0),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_between_two_bodies_momentum_is_kept_and_the_balance_is_of_second_order(name):
    mechanism = two(BETWEEN[name])
    longest = 0.0025 if name == "damped bushing" else 0.01  # longer steps take strong damping at their ends
    runs = [vi.simulate(mechanism, 1.0, dt, state=mechanism.state(**MOVING)) for dt in (longest, 0.25 * longest)]
    for run in runs:
        assert np.abs(run.linear_momentum - run.linear_momentum[0]).max() < 1e-13
        assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-10  # by the tolerance
    coarse, fine = (np.abs(run.energy_balance).max() for run in runs)
    assert fine < coarse / (6 if name == "stop" else 12) or fine < 1e-12
    conserved = name not in ("damped bushing", "stop")
    assert (np.abs(runs[0].dissipated["f"]).max() < 1e-3) == conserved


@pytest.mark.parametrize("name", ONE_BODY)
def test_balance_of_a_force_on_one_body_closes_at_second_order(name):
    mechanism = floating(ONE_BODY[name])
    given = {"state": mechanism.state(**MOVING), "on_unresolved": "ignore"}  # the torque spins it up to 0.3 rad a step
    runs = [vi.simulate(mechanism, 0.4, dt, **given) for dt in (0.002, 0.0005)]
    coarse, fine = (np.abs(run.energy_balance).max() for run in runs)
    assert fine < coarse / (6 if name == "stop" else 12) or fine < 1e-12
    assert runs[0].newton_iterations <= 3.3 * runs[0].steps


# closed forms


def test_viscous_and_quadratic_resistance_slow_a_body_as_in_closed_form():
    state = {"velocity": {"m": (3, 0, 4)}, "angular_velocity": {"m": (0, 0, 2)}}
    inertia = box().inertia[2, 2]
    mechanism = floating(vi.BodyDamper("f", "m", linear=1.5, angular=0.02))
    run = vi.simulate(mechanism, 2.0, 0.001, state=mechanism.state(**state))
    assert np.abs(run.velocity[:, 0, 2] - 4 * np.exp(-1.5 / 2 * run.t)).max() < 1e-6
    assert np.abs(run.angular_velocity[:, 0, 2] - 2 * np.exp(-0.02 / inertia * run.t)).max() < 1e-5
    mechanism = floating(vi.Drag("f", "m", linear=1.5, angular=0.02))
    run = vi.simulate(mechanism, 2.0, 0.001, state=mechanism.state(**state))
    assert np.abs(run.velocity[:, 0, 0] - 3 / (1 + 5 * 1.5 / 2 * run.t)).max() < 1e-5
    assert np.abs(run.angular_velocity[:, 0, 2] - 2 / (1 + 2 * 0.02 / inertia * run.t)).max() < 1e-5
    assert np.allclose(
        run.force["f"], -1.5 * 25 / (1 + 5 * 0.75 * run.t) ** 2 - 0.02 * run.angular_velocity[:, 0, 2] ** 2, atol=1e-3
    )


def test_point_force_accelerates_in_the_world_and_in_circles_with_the_body():
    """A body that spins about the force's normal at W: v = F / (m W) (sin W t, 1 - cos W t)."""
    spin = {"angular_velocity": {"m": (0, 0, 3.0)}}
    mechanism = floating(vi.PointForce("f", "m", direction=(2, 0, 0), magnitude=5.0))
    run = vi.simulate(mechanism, 2.0, 0.01, state=mechanism.state(**spin))
    assert np.abs(run.velocity[:, 0] - np.outer(2.5 * run.t, (1, 0, 0))).max() < 1e-10
    assert np.abs(run.work[:, 0] - (run.energy - run.energy[0])).max() < 1e-9
    mechanism = floating(vi.PointForce("f", "m", direction=(2, 0, 0), magnitude=5.0, fixed_in="body"))
    run = vi.simulate(mechanism, 2.0, 0.001, state=mechanism.state(**spin))
    circle = 2.5 / 3 * np.column_stack([np.sin(3 * run.t), 1 - np.cos(3 * run.t)])
    assert np.abs(run.velocity[:, 0, :2] - circle).max() < 1e-5


def test_inputs_of_applied_forces_may_be_one_a_node_or_a_controller():
    steps, dt = 200, 0.01
    ramp = 0.02 * np.arange(steps + 1) * dt
    for magnitude in (ramp, lambda t, state: 0.02 * (t + dt / 2)):
        mechanism = floating(vi.PointTorque("f", "m", direction=(0, 0, 1), magnitude=magnitude))
        run = vi.simulate(mechanism, steps * dt, dt)
        expected = 0.01 * run.t**2 / box().inertia[2, 2]
        assert np.abs(run.angular_velocity[:, 0, 2] - expected).max() < 2e-2 * expected.max()
        assert np.abs(run.energy_balance).max() < 1e-2 * run.energy.max()


@pytest.mark.slow
def test_kepler_orbit_closes():
    """a = 1, e = 0.6: period 2 pi / sqrt(mu); pericentre velocity sqrt(mu (1 + e) / (a (1 - e)))."""
    mu, e = 4.0, 0.6
    mechanism = floating(vi.CentralGravity("sun", "world", "m", mu=mu), bodies=[box(position=(1 - e, 0, 0))])
    state = mechanism.state(velocity={"m": (0, np.sqrt(mu * (1 + e) / (1 - e)), 0)})
    run = vi.simulate(mechanism, 5 * np.pi, np.pi / 4000, state=state, order=4)
    assert np.abs(run.position[::4000, 0] - (1 - e, 0, 0)).max() < 1e-5
    assert np.isclose(run.energy[0], -mu * 2.0 / 2, rtol=1e-12)
    assert np.ptp(run.energy) < 1e-6
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-11


def test_bushing_vibrates_at_its_eigenfrequency_and_couples():
    """A body on a bushing at its centre: w^2 = k / m along each axis, also of turned axes; work = full matrix."""
    axes = Rotation.from_rotvec((0.3, -0.2, 0.5)).as_matrix()
    bushing = vi.Bushing("f", "world", "m", point=(1, 0, 0), axes=axes, stiffness=STIFFNESS)
    mechanism = floating(bushing)
    for k in range(3):
        shift = 1e-3 * axes[:, k]
        run = vi.simulate(mechanism, 1.0, 0.001, state=mechanism.state(position={"m": (1, 0, 0) + shift}))
        expected = np.cos(np.sqrt(STIFFNESS[k] / 2.0) * run.t)
        assert np.abs(1e3 * (run.position[:, 0] - (1, 0, 0)) @ axes[:, k] - expected).max() < 3e-4
    coupled = vi.Bushing("f", "world", "m", point=(1, 0, 0), axes=axes, stiffness=MATRIX @ MATRIX.T)
    mechanism = floating(coupled)
    shift, turn = np.array([0.1, -0.2, 0.3]), np.array([0.5, -0.4, 0.8])
    quat = Rotation.from_rotvec(turn).as_quat(scalar_first=True)
    state = mechanism.state(position={"m": (1, 0, 0) + shift}, quat_wxyz={"m": quat})
    motion = np.concatenate([axes.T @ shift, axes.T @ turn])
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=state)
    assert np.isclose(run.potential[0], 0.5 * motion @ MATRIX @ MATRIX.T @ motion, rtol=1e-12)


def test_green_strain_and_table_give_their_forces():
    length, rest, k = np.hypot(1, 0.1), 0.7, 300.0
    spring = vi.simulate(floating(ONE_BODY["strain"]), 1e-3, 1e-3)
    assert np.isclose(spring.force["f"][0], -k * (length**2 - rest**2) * length / (2 * rest**2), rtol=1e-12)
    linear = {"values": np.linspace(0.9, 1.0, 7), "efforts": lambda x: -50 * (x - 0.9)}
    mechanisms = [
        floating(vi.TabulatedSpring("f", "world", "m", **POINTS, **linear, damping=0.4)),
        floating(vi.Spring("f", "world", "m", **POINTS, stiffness=50.0, rest_length=0.9, damping=0.4)),
    ]
    table, spring = (vi.simulate(m, 3.0, 0.01, state=m.state(**MOVING)) for m in mechanisms)
    lengths = np.linalg.norm(spring.position[:, 0], axis=1)
    assert lengths.min() < 0.8  # beyond the table at both ends
    assert lengths.max() > 1.1
    assert np.abs(table.position - spring.position).max() < 1e-9
    assert np.ptp(table.potential - spring.potential) < 1e-9


def test_table_along_a_joint():
    body = box(position=(0, 0, 0))
    hinge = vi.Revolute("hinge", "world", "m", point=(0, 0, 0), axis=(0, 0, 1))
    angles = np.linspace(-3, 3, 61)
    force = vi.TabulatedTorsionSpring("f", joint="hinge", values=angles, efforts=lambda q: -np.sin(q))
    mechanism = vi.Mechanism("pendulum", [body], [hinge], forces=[force])
    run = vi.simulate(mechanism, 20.0, 0.01, state=mechanism.state(coordinates={"hinge": 2.0}))
    assert np.abs(run.force["f"] + np.sin(run.coordinates["hinge"])).max() < 1e-3
    assert np.ptp(run.energy) < 2e-2


# cables


def atwood(stiffness, cable=vi.MultiPointCable):
    """2 kg and 3 kg on a cable over two points of the world."""
    bodies = [vi.Body.box(name, (0.1,) * 3, mass, position=(x, 0, -1)) for name, mass, x in (("m", 2, 0), ("n", 3, 1))]
    joints = [vi.Prismatic(f"guide {body.name}", "world", body.name, axis=(0, 0, 1)) for body in bodies]
    points = [(0, 0, -1), (0, 0, 0), (1, 0, 0), (1, 0, -1)]
    return vi.Mechanism(
        "Atwood", bodies, joints, forces=[cable("c", ["m", "world", "world", "n"], points=points, stiffness=stiffness)]
    )


def test_stiff_cable_over_pulleys_is_atwoods_machine():
    """a = g (m2 - m1) / (m1 + m2); its Newton's matrix has the coupling of the segments."""
    run = vi.simulate(atwood(1e8), 0.3, 1e-3)
    assert np.abs(run.position[:, 1, 2] + 1 + 9.81 / 5 * run.t**2 / 2).max() < 1e-5
    assert np.isclose(run.force["c"].mean(), -2 * 2 * 3 * 9.81 / 5, rtol=0.05)
    assert run.newton_iterations <= 3 * run.steps
    assert run.substeps == 0
    assert np.ptp(run.energy) < 1e-9


def test_cable_goes_slack_and_spring_does_not():
    up = {"velocity": {"m": (0, 0, 3.0)}}
    for cable, slack in ((vi.MultiPointCable, True), (vi.MultiPointSpring, False)):
        mechanism = atwood(1e4, cable)
        run = vi.simulate(mechanism, 0.1, 1e-3, state=mechanism.state(**up))
        assert (run.force["c"].max() == 0) == slack


@pytest.mark.parametrize("first", [0, 1])
def test_cable_over_moving_bodies_converges_and_keeps_energy(first):
    """A cable through links that swing, from the world or from the first link, on which its cluster then hangs."""
    bodies = [vi.Body.box(f"b{i}", (0.1,) * 3, 1.0, position=(i, 0, 0)) for i in range(4)]
    names = ["world", *(body.name for body in bodies)]
    joints = [
        vi.Revolute(f"hinge {i}", names[i], names[i + 1], point=(i - 0.5, 0, 0), axis=(0, 1, 0)) for i in range(4)
    ]
    points = [(i - 1, 0, 0.3) for i in range(first, 5)]
    spring = vi.MultiPointSpring("c", names[first:], points=points, stiffness=1e5)
    mechanism = vi.Mechanism("finger", bodies, joints, forces=[spring])
    runs = [vi.simulate(mechanism, 0.3, dt) for dt in (0.002, 0.001)]
    errors = [np.abs(run.energy_balance).max() for run in runs]
    assert errors[1] < errors[0] / 3.5
    assert runs[0].newton_iterations <= 4 * runs[0].steps
    single = vi.simulate(mechanism, 0.3, 0.002, closures="single")
    assert np.abs(single.position - runs[0].position).max() < 1e-7


def test_stiff_spring_between_groups_that_float():
    """Neither tied to the world, not even by a Free joint: the row that couples them is found all the same."""
    bodies = [vi.Body.box(f"b{i}", (0.1,) * 3, 1.0, position=(i, 0, 0)) for i in range(4)]
    joints = [vi.Spherical(f"ball {i}", f"b{i}", f"b{i + 1}", point=(i + 0.5, 0, 0)) for i in (0, 2)]
    spring = vi.Spring("s", "b1", "b2", point_a=(1, 0, 0.1), point_b=(2, 0, 0.1), stiffness=1e6)
    mechanism = vi.Mechanism("groups", bodies, joints, gravity=(0, 0, 0), forces=[spring])
    run = vi.simulate(mechanism, 0.3, 0.01, state=mechanism.state(velocity={"b0": (0, 0, 0.1)}))
    assert run.newton_iterations <= 4 * run.steps


# wrong requests


def test_wrong_forces_are_named():
    wrong = {
        "linear of bodydamper 'f' must be zero or positive": lambda: vi.BodyDamper("f", "m", linear=-1),
        "not on the world": lambda: floating(vi.Drag("f", "world", linear=1)),
        "no body 'q'": lambda: floating(vi.PointForce("f", "q", direction=(1, 0, 0), magnitude=1)),
        "fixed_in of pointforce 'f' must be one of world, body, got 'a'": lambda: vi.PointForce(
            "f", "m", direction=(1, 0, 0), magnitude=1, fixed_in="a"
        ),
        "magnitude of pointtorque 'f'": lambda: vi.PointTorque("f", "m", direction=(1, 0, 0), magnitude=np.nan),
        "law of groundcontact 'f' must be one of linear, hunt-crossley": lambda: vi.GroundContact(
            "f", "m", stiffness=1, law="hertz"
        ),
        "exponent of groundcontact 'f' must be at least 1": lambda: vi.GroundContact(
            "f", "m", stiffness=1, exponent=0.5
        ),
        "has a point and points": lambda: vi.GroundContact("f", "m", stiffness=1, point=(0,) * 3, points=[(0,) * 3]),
        "spherecontact 'f' connects 'm' to itself": lambda: vi.SphereContact(
            "f", "m", "m", radius_a=1, radius_b=1, stiffness=1
        ),
        "radius_b of spherecontact 'f' must be positive": lambda: vi.SphereContact(
            "f", "m", "n", radius_a=1, radius_b=0, stiffness=1
        ),
        "two bodies": lambda: vi.CentralGravity("f", "m", "m", mu=1),
        "stiffness of bushing 'f' must be symmetric": lambda: vi.Bushing(
            "f", "world", "m", point=(0,) * 3, stiffness=-np.ones(6)
        ),
        "above the one before": lambda: vi.TabulatedSpring("f", "world", "m", **POINTS, values=[0, 0], efforts=[1, 2]),
        "from 0 to below upper": lambda: vi.LengthStop("f", "world", "m", **POINTS, lower=2, upper=1, stiffness=1),
        "from one body to another": lambda: floating(
            vi.MultiPointCable("f", ["m", "m"], points=np.eye(3)[:2], stiffness=1)
        ),
        "rest_length of strainspring 'f' must be positive": lambda: vi.StrainSpring(
            "f", "world", "m", **POINTS, stiffness=1, rest_length=0
        ),
    }
    for message, make in wrong.items():
        with pytest.raises(vi.MechanismError, match=message):
            make()


FUNCTIONS = {
    "UserSpring",
    "UserJointForce",
    "UserContact",
    "PrescribedMotion",
    "PrescribedPoint",
    "PrescribedBody",
    "UserConstraint",
    "UserRateConstraint",
}  # in no file: test_force_inputs.py


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if name not in FUNCTIONS],
)
def test_every_force_survives_a_file(name, tmp_path, rng):
    mechanism = sample_mechanism(rng, samples(rng)[name])
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    again = vi.load_mechanism(tmp_path / "m.json")
    assert mechanism.forces
    for one, other in zip(mechanism.forces, again.forces, strict=True):
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            if field.name in ("path", "to"):  # compared by their data, and in test_attachments.py
                continue
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name
    assert to_data(again) == to_data(mechanism)


def servo_pendulum(**gains):
    body = vi.Body("m", mass=2.0, inertia=0.05 * np.eye(3), position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "m", point=(0, 0, 0), axis=(0, 1, 0))
    servo = vi.JointServo("servo", joint="hinge", target=0.8, stiffness=20.0, damping=4.0, **gains)
    return vi.Mechanism("servo", [body], [hinge], forces=[servo])


def test_integral_gain_takes_the_load_off_the_servo():
    """Against the same equations by an independent integrator: order 2, no deviation left, the effort at the nodes."""
    inertia, weight, ki = 0.05 + 2.0 * 0.25, 2.0 * 9.81 * 0.5, 15.0

    def slope(_, y):
        effort = -20.0 * (y[0] - 0.8) - 4.0 * y[1] - ki * y[2]
        return y[1], (effort - weight * np.sin(y[0])) / inertia, y[0] - 0.8

    errors = []
    for dt in (0.01, 0.005):
        run = vi.simulate(servo_pendulum(integral=ki), 3.0, dt)
        y = solve_ivp(slope, (0.0, 3.0), np.zeros(3), "DOP853", run.t, rtol=1e-11, atol=1e-12).y
        effort = -20.0 * (y[0] - 0.8) - 4.0 * y[1] - ki * y[2]
        both = run.coordinates["hinge"] - y[0], run.force["servo"] - effort
        errors.append([np.abs(error).max() for error in both])
    assert (np.array(errors[1]) < [2e-4, 5e-3]).all()
    assert ((np.array(errors[0]) / errors[1] > 3.5) & (np.array(errors[0]) / errors[1] < 4.5)).all()
    settled = vi.simulate(servo_pendulum(integral=ki), 30.0, 0.01).coordinates["hinge"][-1]
    assert settled == pytest.approx(0.8, abs=1e-6)
    assert vi.simulate(servo_pendulum(), 30.0, 0.01).coordinates["hinge"][-1] < 0.7


def test_integral_gain_is_not_negative():
    with pytest.raises(vi.MechanismError, match="integral of jointservo 'servo'"):
        servo_pendulum(integral=-1.0)


def test_arctangent_in_all_quadrants(rng):
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 500), np.arange(-4, 5) * np.pi / 4])
    for angle, size in zip(angles, rng.uniform(0.1, 10.0, angles.size), strict=True):
        s, c = size * np.sin(angle), size * np.cos(angle)
        assert arctangent(s, c) == pytest.approx(np.arctan2(s, c), abs=1e-15)
    for s, c in ((0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (-1.0, -0.0), (0.0, 1.0), (-0.0, 2.0)):
        assert arctangent(s, c) == np.arctan2(s, c)
