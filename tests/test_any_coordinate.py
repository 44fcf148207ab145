"""Efforts along rotation vectors, Euler angles, and coordinates of splines and other products of exponentials."""

import numpy as np
import pytest
from random_mechanisms import random_body, random_joint, random_velocity_state
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.model.joints import REGISTRY

ORIGIN = (0.0, 0.0, 0.0)
SOFT = {
    "TorsionSpring": {"stiffness": 3.0, "rest_angle": 0.1},
    "JointDamper": {"damping": 0.3},
    "JointFriction": {"effort": 0.2, "smoothing": 0.5},
    "Motor": {"effort": lambda t: 0.5 * np.cos(3.0 * t)},
    "JointServo": {"target": 0.3, "stiffness": 2.0, "damping": 0.1, "integral": 1.0},
    "VelocityMotor": {"speed": 0.4, "max_effort": 0.3, "smoothing": 0.5},
    "FirstOrderActuator": {"gain": 0.5, "time_constant": 0.1, "command": 1.0},
    "TabulatedTorsionSpring": {"values": np.array([-9.0, 0.0, 9.0]), "efforts": np.array([3.0, 0.0, -4.0])},
    "JointStop": {"upper": -9.0, "stiffness": 0.1, "damping": 0.01},
}


def on_a_joint(kind, forces=(), reverse=False, gravity=(0.0, 0.0, -9.81)):
    """Two bodies, the second on a joint of that kind, with forces along its coordinates."""
    rng = np.random.default_rng(5)
    bodies = [random_body(rng, name) for name in ("upper", "lower")]
    ends = ("lower", "upper") if reverse else ("upper", "lower")
    hinge = random_joint(rng, "Revolute", "hinge", "world", "upper", bodies[0].position + 0.3)
    joint = random_joint(rng, kind, "joint", *ends, bodies[1].position + 0.2)
    return vi.Mechanism(kind, bodies, [hinge, joint], forces=forces, gravity=gravity)


def along_all(kind, **angles):
    """Every soft force along every coordinate of a joint."""
    return [
        getattr(vi, force)(f"{force} {k}", joint="joint", coordinate=k, **given, **angles)
        for k in range(on_a_joint(kind).joint("joint").dof)
        for force, given in SOFT.items()
    ]


TAKING = sorted(set(REGISTRY) - {"Fixed", "Rod"})


@pytest.mark.many
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "SplineSurface")) for kind in TAKING]
)
def test_every_effort_along_every_coordinate_in_both_formulations(kind):
    mechanism = on_a_joint(kind, along_all(kind))
    state = random_velocity_state(np.random.default_rng(1), mechanism, 0.3)
    run = vi.simulate(mechanism, 0.05, 0.0025, state=state, order=4)
    reduced = vi.redmax.simulate(mechanism, 0.05, dt=0.05, state=state, rtol=1e-10, atol=1e-11)
    assert run.position[-1] == pytest.approx(reduced.position[-1], abs=1e-7)
    for force in mechanism.forces:
        assert run.force[force.name][-1] == pytest.approx(reduced.force[force.name][-1], abs=1e-5)
    assert np.abs(run.energy_balance).max() < 1e-6


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.filterwarnings("ignore::varint.TurnsWarning")  # the state is made of poses, near the reference
@pytest.mark.parametrize("kind", TAKING)
@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the start has another rate
def test_hard_stops_and_prescribed_motions_along_every_coordinate(kind):
    """Each alone, half way to where the coordinate went without, in both formulations."""
    plain = on_a_joint(kind, gravity=ORIGIN)
    state = random_velocity_state(np.random.default_rng(1), plain, 0.3)
    free = vi.simulate(plain, 0.05, 0.0025, state=state)
    free = free.coordinates["joint"].reshape(len(free), -1)
    q, way = free[0], free[-1] - free[0]
    for k in range(q.size):
        side = {"upper" if way[k] > 0 else "lower": q[k] + 0.5 * way[k]}
        mechanism = on_a_joint(kind, [vi.JointStop("stop", joint="joint", coordinate=k, **side)], gravity=ORIGIN)
        run = vi.simulate(mechanism, 0.05, 0.0025, state=state)
        other = vi.redmax.simulate(mechanism, 0.05, dt=0.00125, integrator="euler", state=state)
        for found in (run, other):
            shown = found.coordinates["joint"].reshape(len(found), -1)[:, k]
            assert ((shown - q[k]) / way[k]).max() < 0.52
            assert ((shown - q[k]) / way[k]).max() > 0.4
        drive = vi.PrescribedMotion("drive", joint="joint", coordinate=k, position=lambda t, k=k: q[k] + 0.2 * t)
        mechanism = on_a_joint(kind, [drive])
        run = vi.simulate(mechanism, 0.05, 0.0025, state=state)
        shown = run.coordinates["joint"].reshape(len(run), -1)[:, k]
        assert shown == pytest.approx(q[k] + 0.2 * run.t, abs=1e-9)
        reduced = vi.redmax.simulate(mechanism, 0.05, dt=0.01, state=state, rtol=1e-9)
        shown = reduced.coordinates["joint"].reshape(len(reduced), -1)[:, k]
        assert shown == pytest.approx(q[k] + 0.2 * reduced.t, abs=1e-8)
        assert run.position[-1] == pytest.approx(reduced.position[-1], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["Spherical", "Prismatic"])
def test_efforts_along_a_rotation_vector_among_other_motions(first):
    """Of a composite: springs along all four coordinates, orders of the maximal form against the reduced one."""
    parts = [{"type": "Spherical"}, {"type": "Prismatic", "axis": (1, 0.2, 0)}][:: 1 if first == "Spherical" else -1]
    joint = vi.Composite("joint", "world", "a", point=(0, 0, 0), parts=parts)
    bodies = [
        vi.Body.box("a", (0.1, 0.2, 0.6), 1.5, position=(0.1, 0, -0.3)),
        vi.Body.box("b", (0.1, 0.1, 0.5), 1.0, position=(0.3, 0.1, -0.8)),
    ]
    knee = vi.Revolute("knee", "a", "b", point=(0.2, 0.05, -0.6), axis=(0, 1, 0))
    springs = [
        vi.TorsionSpring(f"spring {k}", joint="joint", coordinate=k, stiffness=10.0 + k, damping=0.1, rest_angle=0.1)
        for k in range(4)
    ]
    mechanism = vi.Mechanism("two bars", bodies, [joint, knee], forces=springs)
    state, T = mechanism.state(rates={"joint": (1.0, 0.5, -0.7, 0.3), "knee": 1.0}), 0.3
    exact = vi.redmax.simulate(mechanism, T, dt=T, rtol=1e-11, state=state)
    for order, counts in ((2, (60, 120)), (4, (30, 60))):
        runs = [vi.simulate(mechanism, T, T / n, order=order, state=state) for n in counts]
        errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    for spring in springs:
        assert runs[-1].force[spring.name][-1] == pytest.approx(exact.force[spring.name][-1], abs=1e-6)


def test_a_rod_refuses_by_name():
    with pytest.raises(vi.MechanismError, match=r"'motor': coordinate 0 of rod joint 'joint' belongs to .*massless"):
        on_a_joint("Rod", [vi.Motor("motor", joint="joint", effort=1.0)])


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("Spherical", {"angles": "xyx"}, "angles of motor 'm' must be three different letters"),
        ("Spherical", {"angles": 3}, "angles of motor 'm' must be three different letters"),
        ("Revolute", {"angles": "xyz"}, "coordinate 0 of revolute joint 'joint' is not one of them"),
        ("Free", {"angles": "xyz"}, "coordinate 0 of free joint 'joint' is not one of them"),
    ],
)
def test_bad_angles(kind, given, message):
    with pytest.raises(vi.MechanismError, match=message):
        on_a_joint(kind, [vi.Motor("m", joint="joint", effort=1.0, **given)])


CASES = {
    "Spherical": {},
    "Spherical, xyz": {"angles": "xyz"},
    "Spherical, ZXY": {"angles": "ZXY"},
    "Free": {},
    "PointOnLine": {},
    "Universal": {},
    "SplineCurve": {},
    "SplineSurface": {},
    "Composite": {},
    "Helical": {},
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_orders_against_reduced_coordinates(case, reverse):
    """Springs, dampers and motors along all coordinates: slopes 2 and 4."""
    kind = case.split(",")[0]
    joint = on_a_joint(kind).joint("joint")
    count = range(3) if CASES[case] else range(joint.dof)
    forces = [
        getattr(vi, force)(f"{force} {k}", joint="joint", coordinate=k, **SOFT[force], **CASES[case])
        for k in count
        for force in ("TorsionSpring", "JointDamper", "Motor", "JointServo")
    ]
    mechanism = on_a_joint(kind, forces, reverse)
    state = random_velocity_state(np.random.default_rng(1), mechanism, 0.3)
    exact = vi.redmax.simulate(mechanism, 0.1, dt=0.1, integrator="dop853", state=state, rtol=1e-12, atol=1e-14)
    for order, steps in ((2, (10, 20, 40)), (4, (10, 20, 40))):
        runs = [vi.simulate(mechanism, 0.1, 0.1 / n, order=order, state=state, tol=1e-13) for n in steps]
        errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
        assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)


# ---------------------------------------------------------------------------------------- by other means


def ball(forces, size=(0.3, 0.2, 0.5)):
    """A box that turns about its centre."""
    pivot = vi.Spherical("ball", "world", "box", point=ORIGIN)
    return vi.Mechanism("ball", [vi.Body.box("box", size, 3.0)], [pivot], gravity=ORIGIN, forces=forces)


@pytest.mark.slow
def test_springs_along_a_rotation_vector_by_a_small_program():
    """V = sum of k r^2 / 2: the torque is minus its slope by turns of the body, Euler's equations by scipy."""
    stiffness, start, spin = np.array([0.3, 0.7, 0.2]), np.array([0.5, -0.8, 0.4]), np.array([1.0, 2.0, -1.0])
    springs = [vi.TorsionSpring(f"s{k}", joint="ball", coordinate=k, stiffness=stiffness[k]) for k in range(3)]
    mechanism = ball(springs)
    inertia = mechanism.bodies[0].inertia

    def slope(t, y):
        turn, w = Rotation.from_quat(y[:4]), y[4:]
        energy = [
            [0.5 * stiffness @ (turn * Rotation.from_rotvec(s * e)).as_rotvec() ** 2 for s in (1e-4, -1e-4)]
            for e in np.eye(3)
        ]
        torque = -np.array([(a - b) / 2e-4 for a, b in energy])
        x, q = 0.5 * w, y[:4]
        dq = np.append(q[3] * x + np.cross(q[:3], x), -q[:3] @ x)
        return np.concatenate([dq, np.linalg.solve(inertia, torque - np.cross(w, inertia @ w))])

    y = np.concatenate([Rotation.from_rotvec(start).as_quat(), spin])
    wanted = Rotation.from_quat(solve_ivp(slope, (0, 0.5), y, rtol=1e-10, atol=1e-11).y[:4, -1])
    state = mechanism.state(coordinates={"ball": start}, angular_velocity={"box": spin})
    runs = [
        vi.simulate(mechanism, 0.5, 0.005, order=4, state=state),
        vi.redmax.simulate(mechanism, 0.5, dt=0.5, state=state, rtol=1e-11, atol=1e-12),
    ]
    for run in runs:
        found = Rotation.from_quat(run.quat_wxyz[-1, 0], scalar_first=True)
        assert (found.inv() * wanted).magnitude() < 1e-6


def test_equal_springs_along_a_rotation_vector_swing_about_one_axis():
    """A ball of inertia I, k along each component: the rotation vector is r cos(sqrt(k / I) t)."""
    springs = [vi.TorsionSpring(f"s{k}", joint="ball", coordinate=k, stiffness=0.7) for k in range(3)]
    mechanism = ball(springs, (0.2, 0.2, 0.2))
    start, rate = np.array([1.2, -0.8, 2.0]), np.sqrt(0.7 / mechanism.bodies[0].inertia[0, 0])
    state = mechanism.state(coordinates={"ball": start})
    exact = np.outer(np.cos(rate * np.arange(21) * 0.01), start)
    reduced = vi.redmax.simulate(mechanism, 0.2, dt=0.01, state=state, rtol=1e-11, atol=1e-12)
    assert reduced.coordinates["ball"] == pytest.approx(exact, abs=1e-8)
    assert vi.simulate(mechanism, 0.2, 0.01, order=6, state=state).coordinates["ball"] == pytest.approx(exact, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("angles", ["xyz", "ZYX"])
def test_limit_of_pitch(angles):
    """A ball turns about its pitched axis at 2 rad/s, yawed by 0.7: it meets the limit and comes back half as fast."""
    stop = vi.JointStop("stop", joint="ball", coordinate=1, angles=angles, upper=0.5, restitution=0.5)
    mechanism = ball([stop], (0.2, 0.2, 0.2))
    yaw = Rotation.from_euler("z", 0.7)
    state = mechanism.state(coordinates={"ball": yaw.as_rotvec()}, angular_velocity={"box": (0.0, 2.0, 0.0)})
    runs = [
        (vi.simulate(mechanism, 0.6, 0.01, state=state), 1e-4),
        (vi.redmax.simulate(mechanism, 0.6, dt=0.0005, integrator="euler", state=state), 2e-3),
    ]
    for run, off in runs:
        turned = Rotation.from_quat(run.quat_wxyz[:, 0], scalar_first=True).as_euler("xyz")
        pitch = np.where(run.t <= 0.25, 2.0 * run.t, 0.5 - 1.0 * (run.t - 0.25))
        assert turned[:, 1] == pytest.approx(pitch, abs=off)
        assert turned[:, 2] == pytest.approx(0.7, abs=off)
        assert np.abs(turned[:, 0]).max() < off


def test_efforts_along_roll_pitch_and_yaw_do_the_work_of_these_angles():
    """Motors of 0.3, -0.2 and 0.4 N m: a box gains that times the angles of scipy."""
    efforts = np.array([0.3, -0.2, 0.4])
    motors = [vi.Motor(f"m{k}", joint="ball", coordinate=k, angles="xyz", effort=e) for k, e in enumerate(efforts)]
    mechanism = ball(motors)
    state = mechanism.state(coordinates={"ball": (0.1, 0.3, -0.2)}, angular_velocity={"box": (0.5, -1.0, 0.3)})
    for run in (
        vi.simulate(mechanism, 0.4, 0.01, order=6, state=state),
        vi.redmax.simulate(mechanism, 0.4, dt=0.1, state=state, rtol=1e-11, atol=1e-12),
    ):
        turned = np.unwrap(Rotation.from_quat(run.quat_wxyz[:, 0], scalar_first=True).as_euler("xyz"), axis=0)
        assert run.kinetic - run.kinetic[0] == pytest.approx((turned - turned[0]) @ efforts, abs=1e-7)


def straight(spacing=0.3, n=8):
    """Control frames along X: the coordinate q is at spacing (q + 1)."""
    frames = np.tile(np.eye(4), (n, 1, 1))
    frames[:, 0, 3] = spacing * np.arange(n)
    return frames


@pytest.mark.slow
def test_bead_driven_along_a_spline_into_a_limit():
    """Equally spaced frames on a line: m d^2 q'' = effort, up to the limit, from which it comes back half as fast."""
    d, m, effort = 0.3, 2.0, 0.9
    bead = vi.Body.sphere("bead", 0.1, m)
    track = vi.SplineCurve("track", "world", "bead", point=ORIGIN, frames=straight(d), closed=False, at=0.5)
    forces = [
        vi.Motor("motor", joint="track", effort=effort),
        vi.JointStop("stop", joint="track", upper=2.0, restitution=0.5),
    ]
    mechanism = vi.Mechanism("bead", [bead], [track], gravity=ORIGIN, forces=forces)
    pull = effort / (m * d * d)
    hit = np.sqrt(2 * 1.5 / pull)
    speed = 0.5 * pull * hit

    def exact(t):
        after = t - hit
        return np.where(after < 0, 0.5 + 0.5 * pull * t**2, 2.0 - speed * after + 0.5 * pull * after**2)

    run = vi.simulate(mechanism, 1.2, 0.01)
    assert run.coordinates["track"] == pytest.approx(exact(run.t), abs=1e-4)
    assert run.position[:, 0, 0] - run.position[0, 0, 0] == pytest.approx(d * (exact(run.t) - 0.5), abs=3e-5)
    reduced = vi.redmax.simulate(mechanism, 1.2, dt=0.0005, integrator="euler")
    assert reduced.coordinates["track"] == pytest.approx(exact(reduced.t), abs=5e-3)


def test_spring_along_a_closed_spline_counts_its_rounds(rng):
    """A servo that asks for two rounds more takes the bead round twice, in both formulations."""
    frames = np.tile(np.eye(4), (6, 1, 1))
    frames[:, :2, 3] = [(np.cos(a), np.sin(a)) for a in np.pi / 3 * np.arange(6)]
    bead = vi.Body.sphere("bead", 0.1, 1.0, position=(1.0, 0, 0))
    track = vi.SplineCurve("track", "world", "bead", point=ORIGIN, frames=frames, at=0.2)
    servo = vi.JointServo("servo", joint="track", target=12.2, stiffness=20.0, damping=10.0)
    mechanism = vi.Mechanism("ring", [bead], [track], gravity=ORIGIN, forces=[servo])
    runs = vi.simulate(mechanism, 3.0, 0.01), vi.redmax.simulate(mechanism, 3.0, dt=0.05, rtol=1e-8)
    for run in runs:
        assert run.force["servo"][0] == pytest.approx(20.0 * 12.0, rel=1e-9)
        assert abs(run.force["servo"][-1]) < 1.0
        assert run.force["servo"][-1] == pytest.approx(runs[0].force["servo"][-1], abs=1e-2)


def test_half_a_turn_is_told():
    """A rotation vector jumps there; the angle of a joint that turns, and Euler's third, go on."""
    mechanism = ball([vi.JointDamper("damper", joint="ball", coordinate=0, damping=1e-3)], (0.2, 0.2, 0.2))
    state = mechanism.state(angular_velocity={"box": (0.0, 0.0, 10.0)})
    runs = [
        lambda: vi.simulate(mechanism, 0.5, 0.01, state=state),
        lambda: vi.redmax.simulate(mechanism, 0.5, dt=0.01, state=state),
    ]
    for run in runs:
        with pytest.raises(
            vi.ConvergenceError, match=r"'damper': .*spherical joint 'ball' .*half a turn by t = 0\.32 s"
        ):
            run()
    yaw = ball([vi.TorsionSpring("yaw", joint="ball", coordinate=2, angles="xyz", stiffness=0.01)], (0.2, 0.2, 0.2))
    turned = vi.simulate(yaw, 0.5, 0.01, order=4, state=state)
    other = vi.redmax.simulate(yaw, 0.5, dt=0.01, state=state)
    for run in (turned, other):
        assert run.force["yaw"][-1] < -0.01 * np.pi
        assert run.force["yaw"][-1] == pytest.approx(turned.force["yaw"][-1], rel=1e-3)


def test_coupling_of_a_rotation_vector_and_a_spline_in_both_formulations():
    mechanism = on_a_joint("SplineCurve")
    arm = random_body(np.random.default_rng(8), "arm")
    pivot = vi.Spherical("ball", "lower", "arm", point=arm.position + 0.2)
    sum_of = vi.Coupling("sum", terms=[("joint", 0, 1.0), ("ball", 1, 0.5), ("hinge", 0, 0.3)])
    mechanism = vi.Mechanism("c", [*mechanism.bodies, arm], [*mechanism.joints, pivot], forces=[sum_of])
    state = mechanism.state(rates={"hinge": 0.5, "ball": (0.3, -0.6, 0.2)})
    exact = vi.redmax.simulate(mechanism, 0.1, dt=0.1, state=state, rtol=1e-11, atol=1e-12)
    for order in (2, 4):
        runs = [vi.simulate(mechanism, 0.1, 0.1 / n, order=order, state=state, tol=1e-13) for n in (10, 20)]
        errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    with pytest.raises(vi.ArgumentError, match="'sum': spherical joint 'ball' is in Euler angles"):
        vi.redmax.simulate(mechanism, 0.1, dt=0.1, state=state, chart="xyz")
