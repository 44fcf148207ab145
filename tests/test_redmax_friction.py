"""Coulomb friction inside joints in reduced coordinates: closed forms, sticking, independent reactions."""

import itertools

import numpy as np
import pytest
from random_mechanisms import random_tree, random_velocity_state

import varint as vi
from varint.model.joints import REGISTRY

GRAVITY, PIN = 9.81, 4.0 / np.pi  # the pressures on a pin add up to 4 / pi times the load across it


def euler(mechanism, duration, dt, **options):
    return vi.redmax.simulate(mechanism, duration, dt=dt, integrator="euler", **options)


def one_body(joint, friction=None, forces=(), gravity=(0, 0, -GRAVITY), body=None, **parameters):
    """A body on one joint of the world at its centre of mass, with friction."""
    body = body or vi.Body.box("body", (0.2, 0.3, 0.4), 2.0)
    parameters = {"coefficient": 0.3, "radius": 0.05} | parameters
    own = vi.JointCoulombFriction("friction", joint="joint", **parameters)
    return vi.Mechanism("one body", [body], [joint], gravity=gravity, forces=[own, *forces])


def revolute(axis=(0, 1, 0)):
    return vi.Revolute("joint", "world", "body", point=(0, 0, 0), axis=axis)


@pytest.mark.slow
def test_wheel_slows_down_evenly_and_stops():
    mechanism = one_body(revolute())
    inertia, torque = mechanism.bodies[0].inertia[1, 1], PIN * 0.3 * 0.05 * 2.0 * GRAVITY
    run = euler(mechanism, 2.0, 0.01, state=mechanism.state(rates={"joint": 5.0}))
    rate, stop = run.rates["joint"], 5.0 * inertia / torque
    assert 0.2 < stop < 1.5
    moving = run.t < stop - 0.01
    assert rate[moving] == pytest.approx(5.0 - torque / inertia * run.t[moving], abs=5e-3)
    assert np.abs(rate[run.t > stop + 0.02]).max() < 1e-9
    assert run.dissipated["friction"][-1] == pytest.approx(run.kinetic[0], rel=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-9


def test_collars_bear_the_load_along_the_pin():
    mechanism = one_body(revolute((0, 0, 1)))
    run = euler(mechanism, 0.1, 0.01, state=mechanism.state(rates={"joint": 5.0}))
    torque = 0.3 * 0.05 * 2.0 * GRAVITY
    assert run.rates["joint"] == pytest.approx(5.0 - torque / mechanism.bodies[0].inertia[2, 2] * run.t, abs=1e-7)


@pytest.mark.parametrize("angle", [0.2, 0.5])
def test_block_on_a_slope(angle):
    """Slides where tan(angle) is above the coefficient, 0.3, else sticks."""
    along = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    joint = vi.Prismatic("joint", "world", "body", point=(0, 0, 0), axis=along)
    run = euler(one_body(joint), 1.0, 0.01)
    expected = max(0.0, GRAVITY * (np.sin(angle) - 0.3 * np.cos(angle)))
    assert run.rates["joint"] == pytest.approx(expected * run.t, abs=1e-8)


def test_push_beyond_the_centre_jams_a_drawer():
    """A drawer pushed off its middle by y jams where 2 mu y is above the length: only its ends bear (no gravity)."""
    for arm, jams in ((0.5, False), (0.9, True)):
        push = vi.PointForce("push", "body", direction=(1, 0, 0), magnitude=3.0, point=(0, arm, 0))
        joint = vi.Prismatic("joint", "world", "body", point=(0, 0, 0), axis=(1, 0, 0))
        # the bar is thin: its width bears nothing of the moment
        mechanism = one_body(joint, gravity=(0, 0, 0), forces=[push], radius=1e-3, length=0.4, coefficient=0.3)
        run = euler(mechanism, 0.5, 0.01)
        acceleration = 3.0 / 2.0 * (1.0 - 2.0 * 0.3 * arm / 0.4)
        assert jams == (acceleration < 0.0)
        assert run.rates["joint"] == pytest.approx(max(acceleration, 0.0) * run.t, abs=1e-7)


def test_friction_on_a_shaft_is_against_its_helix():
    """Of a cylindrical joint along and around in proportion to the sliding velocity."""
    joint = vi.Cylindrical("joint", "world", "body", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = one_body(joint, radius=0.05)
    slide, turn = 0.3, 8.0
    run = euler(mechanism, 1e-3, 1e-4, state=mechanism.state(rates={"joint": [slide, turn]}))
    size, total = np.hypot(slide, 0.05 * turn), PIN * 0.3 * 2.0 * GRAVITY
    change = (run.rates["joint"][-1] - run.rates["joint"][0]) / 1e-3
    inertia = mechanism.bodies[0].inertia[1, 1]
    assert change[0] == pytest.approx(-total * slide / size / 2.0, rel=1e-2)
    assert change[1] == pytest.approx(-total * 0.05 * 0.05 * turn / size / inertia, rel=1e-2)


def test_ball_turns_about_its_load():
    """A ball under a load F along the axis of its spin, worn in: pressures of 3 F cos / n, together a torque mu r F."""
    joint = vi.Spherical("joint", "world", "body", point=(0, 0, 0))
    mechanism = one_body(joint)
    force = mechanism.forces[0]
    points, normals, _ = force.surface(joint)
    pressures = np.abs(np.linalg.pinv(normals.T) @ [0.0, 0.0, 2.0 * GRAVITY])
    torque = 0.3 * pressures @ np.hypot(points[:, 0], points[:, 1])
    assert torque == pytest.approx(0.3 * 0.05 * 2.0 * GRAVITY, rel=0.05)
    run = euler(mechanism, 0.1, 0.01, state=mechanism.state(angular_velocity={"body": (0, 0, 5.0)}))
    expected = 5.0 - torque / mechanism.bodies[0].inertia[2, 2] * run.t
    assert run.angular_velocity[:, 0, 2] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_spherical_pendulum_comes_to_rest_off_its_lowest_point():
    body = vi.Body.box("body", (0.1, 0.1, 1.0), 1.0, position=(0.0, 0.0, -0.5))
    joint = vi.Spherical("joint", "world", "body", point=(0, 0, 0))
    mechanism = one_body(joint, body=body, coefficient=0.5, radius=0.05)
    state = mechanism.state(coordinates={"joint": (0.0, 0.8, 0.0)}, rates={"joint": (1.0, 0.0, 2.0)})
    run = euler(mechanism, 12.0, 0.01, state=state)
    assert np.diff(run.energy).max() < 2e-3
    assert np.abs(run.angular_velocity[-1]).max() < 1e-8
    assert -0.5 + 1e-6 < run.position[-1, 0, 2] < -0.45
    assert np.abs(run.energy_balance).max() < 0.05


# ---------------------------------------------------------------------------------------- reactions


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", pytest.param("four_bar", marks=pytest.mark.slow)])
def test_dissipation_is_that_of_the_reactions(name):
    """For small friction: the power that the maximal form's reactions, without friction, ask for."""
    plain, T, mu, radius = getattr(vi.mechanisms, name)(), 0.5, 1e-3, 0.02
    frictions = [
        vi.JointCoulombFriction(joint.name, joint=joint.name, coefficient=mu, radius=radius, length=1e3)
        for joint in plain.joints
    ]
    mechanism = vi.Mechanism(name, plain.bodies, plain.joints, forces=frictions, start=dict(plain.start))
    exact = vi.simulate(plain, T, 1e-3)
    run = euler(mechanism, T, 1e-3)
    for joint in plain.joints:
        rate = np.gradient(exact.coordinates[joint.name], exact.t)
        # a long pin takes moments without pressure: what is left is the force across it
        power = mu * radius * PIN * np.linalg.norm(exact.reactions[joint.name].force, axis=1) * np.abs(rate)
        expected = np.sum(0.5 * (power[1:] + power[:-1])) * 1e-3
        assert run.dissipated[joint.name][-1] == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
def test_four_bar_loses_its_energy_to_its_joints_and_sticks():
    plain = vi.mechanisms.four_bar()
    frictions = [
        vi.JointCoulombFriction(joint.name, joint=joint.name, coefficient=0.4, radius=0.05) for joint in plain.joints
    ]
    mechanism = vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=frictions, start=dict(plain.start))
    run = euler(mechanism, 6.0, 0.01)
    taken = np.array([run.dissipated[joint.name] for joint in plain.joints])
    assert np.diff(taken).min() > -1e-3 * taken[:, -1].max()  # where one turns back within a step
    assert taken[:, -1].min() > 0.01
    assert run.kinetic[-1] < 1e-12
    assert np.abs(run.energy_balance).max() < 0.1 * run.kinetic.max()


@pytest.mark.slow
def test_with_a_stop_springs_and_dampers():
    """A pendulum with friction that leans on a stop: pressures from everything that its joint transmits."""
    body = vi.Body.box("body", (0.1, 0.1, 1.0), 1.0, position=(0.0, 0.0, -0.5))
    forces = [
        vi.JointStop("stop", joint="joint", upper=0.5, restitution=0.3),
        vi.TorsionSpring("spring", joint="joint", stiffness=20.0, rest_angle=1.5, damping=0.2),
    ]
    mechanism = one_body(revolute(), body=body, forces=forces)
    run = euler(mechanism, 4.0, 0.005)
    assert run.coordinates["joint"][-1] == pytest.approx(0.5, abs=1e-8)
    assert np.abs(run.rates["joint"][-1]) < 1e-8
    balance = np.abs(run.energy_balance).max()
    assert balance < 0.05 * run.kinetic.max()
    assert {name for name, lost in run.dissipated.items() if lost[-1] > 1e-3} == {"friction", "stop", "spring"}


def closed_by(joint, coefficient=0.4, radius=0.05):
    """The four-bar with friction in its pins, the loop closed by a ``joint`` of this type in place of the last pin."""
    plain = vi.mechanisms.four_bar()
    pins = [pin for pin in plain.joints if joint == "Revolute" or pin.name != "rocker pin"]
    last = [pin for pin in plain.joints if pin not in pins]
    joints = [
        *pins,
        *(REGISTRY[joint](pin.name, pin.body_a, pin.body_b, point=pin.point, axis=(1, 0, 0)) for pin in last),
    ]
    frictions = [
        vi.JointCoulombFriction(pin.name, joint=pin.name, coefficient=coefficient, radius=radius) for pin in pins
    ]
    return vi.Mechanism("four-bar", plain.bodies, joints, forces=frictions, start=dict(plain.start))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("joint", ["Revolute", "PointOnLine"])
@pytest.mark.parametrize(
    ("duration", "dt"), [(0.3, 0.01), pytest.param(1.2, 0.005, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_shorter_steps_settle_too_and_converge(joint, duration, dt):
    """At dt, dt/2, dt/4 and dt/8; order 1."""
    mechanism = closed_by(joint)
    runs = [euler(mechanism, duration, dt / k, every=k).position for k in (1, 2, 4, 8)]
    steps = [np.abs(b - a).max() for a, b in itertools.pairwise(runs)]
    assert [np.log2(a / b) for a, b in itertools.pairwise(steps)] == pytest.approx([1.0, 1.0], abs=0.15)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_settles_where_arms_are_long_against_the_bearings(seed):
    rng = np.random.default_rng(seed)
    plain = random_tree(rng, 4, ("Revolute", "Prismatic", "Cylindrical", "Spherical"))
    frictions = [
        vi.JointCoulombFriction(joint.name, joint=joint.name, coefficient=rng.uniform(0.2, 1.0), radius=0.1)
        for joint in plain.joints
    ]
    mechanism = vi.Mechanism("tree", plain.bodies, plain.joints, forces=frictions)
    run = euler(mechanism, 0.3, 0.01, state=random_velocity_state(rng, mechanism))
    assert run.energy[-1] < run.energy[0]
    assert sum(run.dissipated[joint.name][-1] for joint in plain.joints) > 0.0


# ---------------------------------------------------------------------------------------- forces


def test_force_on_a_sliding_block_and_on_one_that_sticks():
    joint = vi.Prismatic("joint", "world", "body", point=(0, 0, 0), axis=(1, 0, 0))
    push = vi.PointForce("push", "body", direction=(1, 0, 0), magnitude=4.0, point=(0, 0, 0))
    for speed in (2.0, -2.0, 0.0):
        mechanism = one_body(joint, forces=[push])
        run = euler(mechanism, 0.1, 0.01, state=mechanism.state(rates={"joint": speed}))
        most = 0.3 * 2.0 * GRAVITY
        expected = -np.sign(speed) * most if speed else -4.0
        assert run.force["friction"] == pytest.approx(np.full(len(run.t), expected), rel=1e-6)
        acceleration = (4.0 + expected) / 2.0
        assert run.acceleration[:, 0] == pytest.approx(np.tile([acceleration, 0, 0], (len(run.t), 1)), abs=1e-6)
        assert run.reactions["joint"].force == pytest.approx(np.tile([0, 0, 2.0 * GRAVITY], (len(run.t), 1)), abs=1e-6)
        middle = 0.5 * (run.rates["joint"][1:] + run.rates["joint"][:-1])
        assert run.power["friction"][1:] == pytest.approx(expected * middle, abs=1e-6)


def test_force_in_a_bearing_that_turns_and_slides():
    """The size of what its surfaces resist with; of a ball the torque."""
    shaft = vi.Cylindrical("joint", "world", "body", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = one_body(shaft, radius=0.05)
    run = euler(mechanism, 0.01, 0.001, state=mechanism.state(rates={"joint": [0.3, 8.0]}))
    assert run.force["friction"] == pytest.approx(np.full(len(run.t), PIN * 0.3 * 2.0 * GRAVITY), rel=5e-3)
    ball = one_body(vi.Spherical("joint", "world", "body", point=(0, 0, 0)))
    run = euler(ball, 0.05, 0.005, state=ball.state(angular_velocity={"body": (0, 0, 5.0)}))
    torque = -ball.bodies[0].inertia[2, 2] * np.diff(run.angular_velocity[:, 0, 2]) / 0.005
    assert run.force["friction"][1:] == pytest.approx(torque, rel=1e-6)
    assert run.angular_acceleration[1:, 0, 2] == pytest.approx(-torque / ball.bodies[0].inertia[2, 2], rel=1e-6)


@pytest.mark.slow
def test_a_stop_far_away_changes_nothing():
    plain = vi.mechanisms.four_bar()
    friction = vi.JointCoulombFriction("friction", joint="crank pivot", coefficient=0.4, radius=0.05)
    far = vi.JointStop("far", joint="crank pivot", upper=100.0)
    runs = [
        euler(vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=forces, start=dict(plain.start)), 0.05, 1e-3)
        for forces in ([friction], [friction, far])
    ]
    assert runs[1].position == pytest.approx(runs[0].position, abs=1e-9)


@pytest.mark.slow
def test_accelerations_see_the_friction():
    """In the joints of a loop, one of them cut: differences of the velocities."""
    plain = vi.mechanisms.four_bar()
    frictions = [
        vi.JointCoulombFriction(joint.name, joint=joint.name, coefficient=0.4, radius=0.05) for joint in plain.joints
    ]
    mechanism = vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=frictions, start=dict(plain.start))
    free = vi.redmax.simulate(plain, 0.05, dt=0.001, integrator="euler").acceleration
    errors = []
    for dt in (0.002, 0.001):
        run = euler(mechanism, 0.05, dt)
        difference = np.diff(run.velocity, axis=0) / dt
        errors.append(np.abs(run.acceleration[1:] - difference)[round(0.01 / dt) :].max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.2 * np.abs(run.acceleration - free).max()


def test_driven_joint_with_friction():
    """The drive's torque is that of the friction, sliding; the bearing is loaded by the weight."""
    mechanism = one_body(revolute())
    run = euler(mechanism, 0.1, 0.01, prescribed={"joint": lambda t: (-2.0 * t, -2.0, 0.0)})
    torque = PIN * 0.3 * 0.05 * 2.0 * GRAVITY
    assert run.force["friction"] == pytest.approx(np.full(len(run.t), torque), rel=5e-3)  # there are fifteen points
    assert run.driving["joint"][:, 0] == pytest.approx(-run.force["friction"], rel=1e-6)
    assert run.dissipated["friction"][-1] == pytest.approx(2.0 * 0.01 * run.force["friction"][1:].sum(), rel=1e-6)
    assert np.abs(run.energy_balance).max() < 1e-4


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic", "Cylindrical", "Spherical"])
def test_contact_points_transmit_what_the_joint_forbids(kind):
    axis = {} if kind == "Spherical" else {"axis": (1, 2, 3)}
    joint = REGISTRY[kind]("joint", "world", "body", point=(0, 0, 0), **axis)
    points, normals, free = vi.JointCoulombFriction("f", joint="joint", coefficient=1.0, radius=0.1).surface(joint)
    wrenches = np.hstack([np.cross(points, normals), normals])
    assert np.linalg.matrix_rank(wrenches) == 6 - joint.dof
    assert wrenches @ free == pytest.approx(np.zeros((len(points), joint.dof)), abs=1e-15)


@pytest.mark.parametrize(
    ("around", "angle", "share"),
    [
        (4, 0.0, 1.0),  # a face of a square hole bears all
        (4, np.pi / 4, np.sqrt(2.0)),  # two faces
        (3, 0.0, 4.0 / 3.0),
        (3, np.pi / 6, 2.0 / np.sqrt(3.0)),
        (999, 0.7, PIN),
    ],
)
def test_contact_points_around_a_pin(around, angle, share):
    """Least pressures on normals at the angles 2 pi k / n: (2 / n) sum |cos(2 pi k / n - angle)| times the load."""
    joint = vi.Revolute("joint", "body", "world", point=(0, 0, 0), axis=(0, 1, 0))  # the world carries the points
    pull = -GRAVITY * joint.frame @ (np.cos(angle), np.sin(angle), 0.0)
    check_slowing(one_body(joint, gravity=pull, around=around), share)


def check_slowing(mechanism, share):
    run = euler(mechanism, 0.05, 0.01, state=mechanism.state(rates={"joint": 5.0}))
    slope = share * 0.3 * 0.05 * 2.0 * GRAVITY / mechanism.bodies[0].inertia[1, 1]
    assert run.rates["joint"] == pytest.approx(5.0 - slope * run.t, abs=1e-5)


V_SHAPED = np.array([(1.0, 0.0, 1.0), (-1.0, 0.0, 1.0)]) / np.sqrt(2.0)


def v_block(across=(0.0, 1.0, 0.0), apart=0.4):
    """Two prisms that a pin of radius 0.05 lies on, and a point that bears along it."""
    ends = apart * np.array([(0, -0.5, 0), (0, 0.5, 0)])
    points = [end + 0.05 * normal for end in ends for normal in V_SHAPED] + [(0.05, 0, 0)]
    return {"points": points, "normals": [*V_SHAPED, *V_SHAPED, across]}


def test_contact_points_of_ones_own():
    """On a V at 45 degrees each side bears 1 / sqrt(2) of the load."""
    joint = vi.Revolute("joint", "body", "world", point=(0, 0, 0), axis=(0, 1, 0))
    check_slowing(one_body(joint, **v_block()), np.sqrt(2.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (v_block(across=(1.0, 1.0, 0.0)) | {"points": np.ones((5, 3))}, "revolute joint 'joint' moves along normal"),
        (v_block(apart=0.0), "its contact points cannot bear the wrench of revolute joint 'joint'"),
        ({"points": np.ones((1, 3))}, "needs points and normals, or neither"),
        (v_block() | {"normals": np.zeros((5, 3))}, "normal 0 of jointcoulombfriction 'friction' must not be zero"),
        (v_block() | {"normals": np.eye(3)}, r"normals of .* must be .*got shape \(3, 3\)"),
        ({"around": 2}, "around of jointcoulombfriction 'friction' must be a whole number from 3"),
    ],
)
def test_bad_contact_points(given, message):
    joint = vi.Revolute("joint", "body", "world", point=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(vi.MechanismError, match=message):
        one_body(joint, **given)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coefficient": -0.1}, "coefficient of jointcoulombfriction 'friction' must be zero or positive"),
        ({"radius": 0.0}, "radius of jointcoulombfriction 'friction' must be positive"),
        ({"length": 0.0}, "length of jointcoulombfriction 'friction' must be positive"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(vi.MechanismError, match=message):
        one_body(revolute(), **parameters)


def test_joints_without_such_surfaces():
    joint = vi.Universal("joint", "world", "body", point=(0, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    with pytest.raises(vi.MechanismError, match=r"friction is available for revolute.*not for universal joint 'joint'"):
        one_body(joint)
    with pytest.raises(vi.MechanismError, match="jointcoulombfriction 'friction': no joint 'joint', did you mean"):
        one_body(vi.Revolute("joints", "world", "body", point=(0, 0, 0), axis=(0, 0, 1)))


def test_refused_elsewhere():
    mechanism = one_body(revolute())
    with pytest.raises(vi.ArgumentError, match="which steps of other integrators do not support: use varint"):
        vi.redmax.simulate(mechanism, 1.0, dt=0.01)


def test_in_a_file(tmp_path):
    mechanism = one_body(revolute(), length=0.3, **v_block())
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    again = vi.load_mechanism(tmp_path / "m.json").forces[0]
    assert (again.points == mechanism.forces[0].points).all()
    assert (again.normals == mechanism.forces[0].normals).all()
    assert (again.joint, again.coefficient, again.radius, again.length) == ("joint", 0.3, 0.05, 0.3)
