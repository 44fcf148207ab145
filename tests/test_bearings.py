"""Friction of joints from the load that they transmit, in steps in maximal coordinates."""

import contextlib

import numpy as np
import pytest
from random_mechanisms import random_tree, random_velocity_state
from scipy.integrate import solve_ivp

import varint as vi

pytestmark = pytest.mark.slow  # by what they compile
GRAVITY, PIN, AROUND = 9.81, 4.0 / np.pi, 301  # a pin of so many points is round within 1e-5: 4 / pi times the load
MU, RADIUS = 0.4, 0.05


def friction(joint="joint", **parameters):
    return vi.JointCoulombFriction(
        joint if joint != "joint" else "friction",
        joint=joint,
        **{"coefficient": MU, "radius": RADIUS, "around": AROUND} | parameters,
    )


def revolute(ends=("world", "body")):
    return vi.Revolute("joint", *ends, point=(0, 0, 0), axis=(0, 1, 0))


def wheel(*forces, joint=None, gravity=(0, 0, -GRAVITY), **parameters):
    body = vi.Body.box("body", (0.2, 0.3, 0.4), 2.0)
    return vi.Mechanism(
        "wheel", [body], [joint or revolute()], gravity=gravity, forces=[friction(**parameters), *forces]
    )


def pendulum(*forces, ends=("world", "body"), size=1.0, **parameters):
    body = vi.Body.box("body", (0.1 * size, 0.1 * size, size), size**3, position=(0, 0, -0.5 * size))
    parameters = {"radius": RADIUS * size} | parameters
    return vi.Mechanism("pendulum", [body], [revolute(ends)], forces=[friction(**parameters), *forces])


def four_bar(*forces, coefficient=MU):
    plain = vi.mechanisms.four_bar()
    rubs = [friction(pin.name, coefficient=coefficient, around=15) for pin in plain.joints]
    return vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=[*rubs, *forces], start=dict(plain.start))


# ---------------------------------------------------------------------------------------- closed forms


def test_a_loaded_wheel_slows_evenly_stops_and_stays():
    mechanism = wheel()
    torque, inertia = PIN * MU * RADIUS * 2.0 * GRAVITY, mechanism.bodies[0].inertia[1, 1]
    stop = 5.0 * inertia / torque
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 1.0, dt, state=mechanism.state(rates={"joint": 5.0}))
        moving, angle = run.t < stop - dt, run.coordinates["joint"]
        assert run.rates["joint"][moving] == pytest.approx(5.0 - torque / inertia * run.t[moving], abs=1e-4)
        assert angle[-1] == pytest.approx(2.5 * stop, abs=3.0 * dt * dt * torque / inertia)
        assert np.ptp(angle[run.t > stop + 1.01 * dt]) < 1e-15
        assert run.work_by_force["friction"][-1] == pytest.approx(-run.kinetic[0], rel=30.0 * dt * dt)
        assert run.force["friction"][moving] == pytest.approx(-torque, rel=1e-4)
        assert run.power["friction"][moving] == pytest.approx(-torque * run.rates["joint"][moving], rel=1e-4)
        assert run.force["friction"][-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("angle", [0.2, 0.2914, 0.2915, 0.5])
def test_a_block_on_a_slope_slides_above_the_angle_of_friction(angle):
    """0.29146 rad; that is the arc tangent of the coefficient."""
    along = vi.Prismatic("joint", "world", "body", point=(0, 0, 0), axis=(np.cos(angle), 0.0, -np.sin(angle)))
    run = vi.simulate(wheel(joint=along, coefficient=0.3), 1.0, 0.01)
    expected = max(0.0, GRAVITY * (np.sin(angle) - 0.3 * np.cos(angle)))
    assert run.rates["joint"] == pytest.approx(expected * run.t, abs=1e-12)


@pytest.mark.parametrize("arm", [0.5, 0.9])
def test_push_beyond_the_centre_jams_a_drawer(arm):
    """The moment of the push is a load on the guide: with 2 mu arm above its length no push moves the drawer."""
    push = vi.PointForce("push", "body", direction=(1, 0, 0), magnitude=3.0, point=(0, arm, 0))
    along = vi.Prismatic("joint", "world", "body", point=(0, 0, 0), axis=(1, 0, 0))
    mechanism = wheel(push, joint=along, gravity=(0, 0, 0), radius=1e-3, length=0.4, coefficient=0.3)
    acceleration = 1.5 * (1.0 - 2.0 * 0.3 * arm / 0.4)
    run = vi.simulate(mechanism, 0.5, 0.01)
    assert run.rates["joint"] == pytest.approx(max(acceleration, 0.0) * run.t, abs=1e-12)
    run = vi.simulate(mechanism, 0.5, 0.01, state=mechanism.state(rates={"joint": 1.0}))
    assert run.rates["joint"] == pytest.approx(1.0 + acceleration * run.t, abs=1e-12)


def test_a_rod_is_held_below_the_angle_of_friction():
    angle = np.arcsin(PIN * MU * RADIUS / 0.5)
    mechanism = pendulum()
    held = vi.simulate(mechanism, 20.0, 0.01, state=mechanism.state(coordinates={"joint": 0.999 * angle}))
    assert np.ptp(held.coordinates["joint"]) < 1e-15
    assert held.force["friction"] == pytest.approx(0.5 * GRAVITY * np.sin(0.999 * angle), rel=1e-9)
    falls = vi.simulate(mechanism, 20.0, 0.01, state=mechanism.state(coordinates={"joint": 1.01 * angle}))
    assert falls.coordinates["joint"][-1] < 0.999 * angle


def swung(start, duration):
    """The pendulum's angle and rate, rad, rad/s, at the end, by its own equation between its turns."""

    def acceleration(angle, rate, sign):
        found = -GRAVITY * 0.5 * np.sin(angle) / inertia
        for _ in range(100):  # friction changes the load along the swing
            along, across = 0.5 * found + GRAVITY * np.sin(angle), GRAVITY * np.cos(angle) + 0.5 * rate * rate
            torque = PIN * MU * RADIUS * np.hypot(along, across)
            found = -(GRAVITY * 0.5 * np.sin(angle) + sign * torque) / inertia
        return found

    def rest(_, y):
        return y[1]

    def course(_, y):
        return [y[1], acceleration(*y, sign)]

    inertia = (1.0 + 0.1**2) / 12.0 + 0.25
    rest.terminal, t, y = True, 0.0, np.array([start, 0.0])
    while True:
        sign = -np.sign(y[0]) if abs(y[1]) < 1e-12 else np.sign(y[1])
        rest.direction = -sign
        part = solve_ivp(course, (t, duration), y, rtol=1e-10, atol=1e-12, events=rest)
        t, y = part.t[-1], part.y[:, -1]
        if part.status == 0:
            return y
        y[1] = 0.0


def test_a_pendulum_is_of_order_two_across_its_turns():
    """Against its own equation; it turns three times."""
    expected, mechanism, errors = swung(1.5, 2.5), pendulum(), []
    for dt in (0.02, 0.01):
        run = vi.simulate(mechanism, 2.5, dt, state=mechanism.state(coordinates={"joint": 1.5}))
        errors.append(np.abs([run.coordinates["joint"][-1] - expected[0], run.rates["joint"][-1] - expected[1]]))
        assert np.abs(run.energy_balance).max() < 25.0 * dt * dt
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1].max() < 5e-3


def test_load_changes_sign():
    """A bearing whose load goes through zero: a push on a wheel without gravity, along the cosine."""
    push = vi.PointForce("push", "body", direction=(0, 0, 1), magnitude=lambda t: 20.0 * np.cos(5.0 * t))
    mechanism = wheel(push, gravity=(0, 0, 0))
    run = vi.simulate(mechanism, 1.0, 0.005, state=mechanism.state(rates={"joint": 20.0}))
    t, factor = np.linspace(0.0, 1.0, 20001), PIN * MU * RADIUS * 20.0 / mechanism.bodies[0].inertia[1, 1]
    expected = 20.0 - factor * np.trapezoid(np.abs(np.cos(5.0 * t)), t)
    assert run.rates["joint"][-1] == pytest.approx(expected, rel=1e-4)


# ---------------------------------------------------------------------------------------- loops, limits


def test_a_four_bar_agrees_with_reduced_coordinates_and_sticks():
    mechanism = four_bar()
    coarse, fine, finer = (vi.simulate(mechanism, 0.6, 0.01 / k, every=k).position for k in (1, 2, 4))
    assert np.log2(np.abs(coarse - fine).max() / np.abs(fine - finer).max()) == pytest.approx(2.0, abs=0.1)
    limit = finer + (finer - fine) / 3.0
    one, two = (vi.redmax.simulate(mechanism, 0.6, dt=0.01 / k, integrator="euler", every=k).position for k in (16, 32))
    assert np.abs(2.0 * two - one - limit).max() < 3e-4  # euler is of order one: extrapolated
    run = vi.simulate(mechanism, 6.0, 0.01)
    taken = np.array([run.dissipated[pin.name] for pin in mechanism.joints])
    assert np.diff(taken).min() > -5e-4 * taken.max()  # a step in which joints turn back, and may share it otherwise
    assert run.kinetic[-1] < 1e-25
    assert np.abs(run.energy_balance).max() < 0.01 * run.kinetic.max()
    assert not run.unresolved.size


def test_hinges_in_space_agree_with_reduced_coordinates():
    """Loads of all directions and moments: order 2, and the friction of each joint as in the other formulation."""
    rng = np.random.default_rng(4)
    plain = random_tree(rng, 3, ("Revolute", "Prismatic"))
    rubs = [
        friction(joint.name, coefficient=rng.uniform(0.05, 0.3), radius=0.1, length=0.3, around=15)
        for joint in plain.joints
    ]
    mechanism = vi.Mechanism("tree", plain.bodies, plain.joints, forces=rubs)
    start = random_velocity_state(rng, mechanism)
    coarse, fine, finer = (vi.simulate(mechanism, 0.2, 0.01 / k, every=k, state=start) for k in (1, 2, 4))
    change = [np.abs(b.position - a.position).max() for a, b in ((coarse, fine), (fine, finer))]
    assert np.log2(change[0] / change[1]) == pytest.approx(2.0, abs=0.05)
    one, two = (
        vi.redmax.simulate(mechanism, 0.2, dt=0.01 / k, integrator="euler", every=k, state=start) for k in (16, 32)
    )
    assert finer.position == pytest.approx(2.0 * two.position - one.position, abs=4e-6)
    for joint in plain.joints:
        limit = 2.0 * two.dissipated[joint.name] - one.dissipated[joint.name]
        assert finer.dissipated[joint.name][-1] == pytest.approx(limit[-1], rel=1e-3)


def test_a_motor_drives_a_four_bar_against_its_friction():
    motor = vi.PrescribedMotion("motor", joint="crank pivot", rate=2.0 * np.pi)
    run = vi.simulate(four_bar(motor, coefficient=0.1), 3.0, 0.005)
    assert np.abs(run.energy_balance).max() < 0.02 * run.work_by_force["motor"][-1]
    assert all(run.dissipated[pin.name][-1] > 0.1 for pin in run.mechanism.joints)


def test_a_driven_wheel():
    """The drive takes the friction, whose sign is that of the rate; at rest it takes all."""
    turning = vi.PrescribedMotion("drive", joint="joint", position=lambda t: np.sin(3.0 * t))
    run = vi.simulate(wheel(turning), 2.0, 0.01)
    torque = PIN * MU * RADIUS * 2.0 * GRAVITY
    assert run.force["friction"] == pytest.approx(-torque * np.sign(np.cos(3.0 * run.t)), rel=1e-4)
    path = 1.0 + 2.0 + 1.0 + np.sin(6.0)  # to 1, to -1, and back to where it ends
    assert run.dissipated["friction"][-1] == pytest.approx(torque * path, rel=1e-3)
    run = vi.simulate(wheel(vi.PrescribedMotion("drive", joint="joint", position=0.0)), 0.1, 0.01)
    assert not run.coordinates["joint"].any()
    assert not run.force["friction"].any()


def test_beside_a_stop_and_a_spring():
    """It comes to rest on the stop, which takes the load then."""
    forces = [
        vi.JointStop("stop", joint="joint", upper=0.5, restitution=0.3),
        vi.TorsionSpring("spring", joint="joint", stiffness=20.0, rest_angle=1.5, damping=0.2),
    ]
    mechanism = pendulum(*forces, coefficient=0.3)
    run = vi.simulate(mechanism, 4.0, 0.005)
    assert run.coordinates["joint"][-1] == pytest.approx(0.5, abs=1e-10)
    assert abs(run.rates["joint"][-1]) < 1e-12
    assert run.force["stop"][-1] == pytest.approx(0.5 * GRAVITY * np.sin(0.5) - 20.0, rel=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-3 * run.kinetic.max()


def test_geared_pendulums_come_to_rest_together():
    bodies = [
        vi.Body.box("a", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5)),
        vi.Body.box("b", (0.1, 0.1, 0.6), 0.5, position=(1, 0, -0.3)),
    ]
    joints = [vi.Revolute(b.name, "world", b.name, point=(b.position[0], 0, 0), axis=(0, 1, 0)) for b in bodies]
    rubs = [vi.JointCoulombFriction(f"dry {j.name}", joint=j.name, coefficient=MU, radius=RADIUS) for j in joints]
    gear = vi.Gear("gear", joint_a="a", joint_b="b", radius_a=2.0, radius_b=1.0)
    mechanism = vi.Mechanism("geared", bodies, joints, forces=[gear, *rubs])
    run = vi.simulate(mechanism, 8.0, 0.01, state=mechanism.state(coordinates={"a": 1.2}))
    assert np.abs(run.energy_balance).max() < 5e-3 * run.kinetic.max()
    assert np.ptp(run.coordinates["a"][-20:]) < 1e-14


# ---------------------------------------------------------------------------------------- extremes


@pytest.mark.parametrize("coefficient", [0.0, 1e3, 1e9])
def test_no_friction_and_locks(coefficient):
    plain = vi.mechanisms.double_pendulum()
    rubs = [friction(joint.name, coefficient=coefficient, around=15) for joint in plain.joints]
    mechanism = plain.with_forces(add=rubs)
    state = mechanism.state(rates={joint.name: 1.0 for joint in plain.joints})
    with pytest.warns(vi.UnresolvedWarning) if coefficient else contextlib.nullcontext():
        run = vi.simulate(mechanism, 0.5, 0.01, state=state)
    if coefficient:
        assert np.ptp(run.position[1:], axis=0).max() < 1e-14
        lost = sum(run.work_by_force[joint.name][-1] for joint in plain.joints)
        assert lost == pytest.approx(-run.kinetic[0], rel=0.05)
    else:
        assert run.position == pytest.approx(vi.simulate(plain, 0.5, 0.01, state=state).position, abs=1e-12)


@pytest.mark.parametrize("size", [1e-9, 1e6])
def test_sizes(size):
    """The same motion in a time that goes with the root of the size."""
    root, angles = np.sqrt(size), []
    for mechanism, unit in ((pendulum(), 1.0), (pendulum(size=size), root)):
        start = mechanism.state(coordinates={"joint": 1.5})
        angles.append(vi.simulate(mechanism, 3.0 * unit, 0.01 * unit, state=start).coordinates["joint"])
    assert angles[1] == pytest.approx(angles[0], abs=1e-6)


def test_ends_and_order_of_bodies():
    """Of the joint as the body sees it: the same friction, to the roundness of the pin."""
    runs = []
    for ends, sign in ((("world", "body"), 1.0), (("body", "world"), -1.0)):
        mechanism = pendulum(ends=ends)
        run = vi.simulate(mechanism, 2.0, 0.01, state=mechanism.state(coordinates={"joint": sign * 1.5}))
        runs.append((sign * run.coordinates["joint"], sign * run.force["friction"]))
        assert run.power["friction"].max() < 1e-12
    assert runs[1][0] == pytest.approx(runs[0][0], abs=1e-5)
    assert runs[1][1][:20] == pytest.approx(runs[0][1][:20], abs=1e-4)


def test_runs_go_on_from_nodes_and_files(tmp_path):
    mechanism = four_bar()
    whole = vi.simulate(mechanism, 1.0, 0.01)
    later = vi.simulate(mechanism, 0.5, 0.01, state=whole.state(50))
    assert np.abs(later.position - whole.position[50:]).max() < 1e-5  # but for the slip over the step before
    vi.save_mechanism(mechanism, tmp_path / "m.toml")
    for duration, resume in ((0.4, False), (1.0, True)):
        recording = vi.Recording(output=tmp_path / "run.h5", resume=resume)
        vi.simulate(vi.Problem(vi.load_mechanism(tmp_path / "m.toml"), duration), vi.Variational(0.01), recording)
    loaded = vi.load(tmp_path / "run.h5")
    for name in ("position", "velocity", "work"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))
    assert np.array_equal(loaded.force["crank pin"], whole.force["crank pin"])


def test_swings_of_a_minute_end():
    mechanism = pendulum(coefficient=0.1, around=15)
    run = vi.simulate(mechanism, 60.0, 0.01, state=mechanism.state(coordinates={"joint": 1.0}))
    assert np.ptp(run.coordinates["joint"][-1000:]) < 1e-14
    assert abs(np.sin(run.coordinates["joint"][-1])) < PIN * 0.1 * RADIUS / 0.5
    assert np.abs(run.energy_balance).max() < 2e-3 * run.kinetic.max()


# ---------------------------------------------------------------------------------------- refusals


def test_what_is_refused_by_name():
    body, ball = vi.Body.sphere("body", 0.1, 1.0), vi.Spherical("joint", "world", "body", point=(0, 0, 0.3))
    with pytest.raises(vi.ArgumentError, match=r"'friction' is friction of a joint of several coordinates.*euler"):
        vi.simulate(vi.Mechanism("ball", [body], [ball], forces=[friction()]), 0.1, 0.01)
    floor = vi.HardContact("floor", "body", ground=(0, 0, -9.0))
    with pytest.raises(vi.ArgumentError, match=r"'friction' is friction of a joint from its load, and.*hard contacts"):
        vi.simulate(pendulum(floor), 0.1, 0.01)
    with pytest.raises(vi.ArgumentError, match=r"'friction' is friction of a joint from its load, which composed"):
        vi.simulate(pendulum(), 0.1, 0.01, order=4)
    soft = vi.Revolute("joint", "world", "body", point=(0, 0, 0), axis=(0, 1, 0), compliance=1e-6)
    with pytest.raises(vi.MechanismError, match=r"'friction': revolute joint 'joint' has a compliance"):
        wheel(joint=soft)
