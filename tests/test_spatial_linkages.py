"""The spatial linkages of the catalogue against closed forms: their geometry, and motions of one freedom by energy."""

import numpy as np
import pytest
from poses import pose_of, rows_at
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.kinematics.frames import JointFrames
from varint.model.rotation_vectors import rotation_matrix

NAMES = ("bennett", "bricard", "delta_robot", "sarrus", "spatial_slider_crank", "stewart_platform")
X, Y, Z = np.eye(3)


def build(name, **parameters):
    return getattr(vi.mechanisms, name)(**parameters)


def unit(vector):
    return vector / np.linalg.norm(vector)


def joint_coordinate(mechanism, name, run):
    """Coordinate (T,) of a joint with one; an angle without jumps."""
    joint = mechanism.joint(name)
    frames = JointFrames(mechanism, joint)
    states = zip(run.position, run.quat_wxyz, run.velocity, run.angular_velocity, strict=True)
    q = np.array([frames.measure(*pose_of(vi.State(*state)))[0] for state in states])
    return np.unwrap(q) if isinstance(joint, vi.Revolute) else q


def rank(mechanism, run, node):
    state = vi.State(run.position[node], run.quat_wxyz[node], run.velocity[node], run.angular_velocity[node])
    _, G = rows_at(mechanism, *pose_of(state))
    return np.linalg.matrix_rank(G.reshape(len(G), -1), tol=1e-7)


class OneFreedom:
    """Motion of a mechanism of one freedom, its pose known in closed form of a parameter u of period 2 pi.

    ``pose(u)``: centres of mass (nb, 3) and any axes (nb, 3, 3) fixed in each body; the reference configuration
    is at ``reference``. With the kinetic energy I(u) u'^2 / 2,  I u'' + I' u'^2 / 2 + V' = 0.
    """

    def __init__(self, mechanism, pose, reference, samples=255):
        self.pose = pose
        self.reference = pose(reference)[1]
        self.quats = [body.quat_wxyz for body in mechanism.bodies]
        np.testing.assert_allclose(pose(reference)[0], [body.position for body in mechanism.bodies], rtol=0, atol=1e-12)
        x, axes = (np.array(part) for part in zip(*map(pose, 2 * np.pi * np.arange(samples) / samples), strict=True))
        R = axes @ np.swapaxes(self.reference, 1, 2) @ rotation_matrix(np.array(self.quats))
        k = np.fft.fftfreq(samples, 1 / samples)

        def derivative(values):
            return np.fft.ifft(1j * k * np.fft.fft(values.reshape(samples, -1).T)).real.T.reshape(values.shape)

        spin = np.swapaxes(R, 2, 3) @ derivative(R)  # [w]
        w = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        masses = np.array([body.mass for body in mechanism.bodies])
        inertias = np.array([body.inertia for body in mechanism.bodies])
        I = np.einsum("n,tni->t", masses, derivative(x) ** 2) + np.einsum("tni,nij,tnj->t", w, inertias, w)
        V = -np.einsum("n,tni,i->t", masses, x, mechanism.gravity)
        self.series = np.fft.rfft([I, V]) * np.append(1, np.full(samples // 2, 2)) / samples
        assert (np.abs(self.series[:, -8:]).max(axis=1) < 1e-9 * np.abs(self.series).max(axis=1)).all()  # resolved

    def motion(self, u, rate, t, **options):
        """solve_ivp's solution, y = (u, u'), from ``u``, ``rate`` at ``t[0]`` to the times ``t`` (T,)."""
        k = np.arange(self.series.shape[1])

        def derivative(_, y):
            wave = np.exp(1j * k * y[0])
            (I, _), (dI, dV) = (self.series @ wave).real, (self.series @ (1j * k * wave)).real
            return [y[1], -(0.5 * dI * y[1] ** 2 + dV) / I]

        return solve_ivp(derivative, (t[0], t[-1]), [u, rate], "DOP853", t, rtol=1e-11, atol=1e-11, **options)

    def compare(self, run, u, atol):
        """See that the poses of a run are those at the parameters ``u`` (T,)."""
        for position, quat, parameter in zip(run.position, run.quat_wxyz, u, strict=True):
            x, axes = self.pose(parameter)
            R = axes @ np.swapaxes(self.reference, 1, 2) @ rotation_matrix(np.array(self.quats))
            np.testing.assert_allclose(position, x, rtol=0, atol=atol)
            np.testing.assert_allclose(rotation_matrix(quat), R, rtol=0, atol=atol)


def frame(along, across):
    """Axes (3, 3) fixed in a link along the one direction (3,), the other not parallel to it."""
    z = unit(along)
    y = unit(np.cross(z, across))
    return np.column_stack([np.cross(y, z), y, z])


@pytest.mark.parametrize("name", NAMES)
def test_ten_seconds(name):
    facts, mechanism = vi.mechanisms.module(name).EXPECTED, build(name)
    run = vi.simulate(mechanism, 10.0, facts["dt"])
    assert run.success
    assert run.substeps == 0
    assert run.drift.max() < 1e-11
    error = np.abs(run.energy - run.energy[0]) / run.kinetic.max()
    assert error.max() < 0.015
    middle = len(error) // 2
    assert error[middle:].max() < 3 * error[:middle].max()
    ranks = [rank(mechanism, run, node) for node in range(0, len(run.t), 97)]
    assert max(ranks) == min(ranks) == mechanism.rows - facts["redundant"]  # no singular pose on the way


# -------------------------------------------------------------------------------------------- Bricard


def bricard_pose(u):
    """Every other hinge has the same angle, and sin a + sin b + sin a sin b = 0 of both, counted from the cube.

    So cos(t / 2) cos(s / 2) = 1 / 2 of t = pi / 2 - a, s = pi / 2 - b; here tan(t / 2) = sqrt(3) cos u.
    """
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = (Y, Z, X, Y, Z, X)
    t = 2 * np.arctan(np.sqrt(3) * np.cos(u))
    s = 2 * np.arctan(np.sqrt(3) * np.sin(u) / np.sqrt(1 + 3 * np.cos(u) ** 2))
    R, point, centres, frames = np.eye(3), corners[0], [], []
    for i in range(5):
        R = R @ Rotation.from_rotvec((np.pi / 2 - (s if i % 2 else t)) * axes[i]).as_matrix()
        along = R @ (corners[i + 1] - corners[i])
        centres.append(point + 0.5 * along)
        frames.append(R)
        point = point + along
    np.testing.assert_allclose(point, corners[5], atol=1e-12)
    np.testing.assert_allclose(R @ axes[5], axes[5], atol=1e-12)
    return np.array(centres), np.array(frames)


BRICARD_START = np.arccos(1 / np.sqrt(3))


def at_rest(t, y):
    """Event of `OneFreedom.motion`: the second turn."""
    return y[1]


@pytest.mark.slow
def test_bricard_returns_after_its_period():
    mechanism, period = build("bricard"), vi.mechanisms.module("bricard").EXPECTED["period"]
    exact = OneFreedom(mechanism, bricard_pose, BRICARD_START)
    solution = exact.motion(BRICARD_START, 0.0, np.linspace(0, 10, 1001), events=at_rest)
    turns = solution.t_events[0][solution.t_events[0] > 0.1]
    np.testing.assert_allclose(turns, period / 2 * np.arange(1, 5), rtol=1e-9)
    run = vi.simulate(mechanism, period, period / 500, order=4)
    np.testing.assert_allclose(run.position[-1], run.position[0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.quat_wxyz[-1], run.quat_wxyz[0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.velocity[-1], 0, atol=1e-6)  # at rest, not only near
    assert np.ptp(run.position[:, 1], axis=0).max() > 0.5  # away from it in between


@pytest.mark.slow
def test_bricard_against_its_one_equation():
    mechanism = build("bricard")
    exact = OneFreedom(mechanism, bricard_pose, BRICARD_START)
    run = vi.simulate(mechanism, 10.0, 0.01, order=4, every=10)
    exact.compare(run, exact.motion(BRICARD_START, 0.0, run.t).y[0], atol=1e-7)


@pytest.mark.slow
def test_bricard_keeps_its_energy():
    """The benchmark's published error is 9.1e-7 J."""
    for order, dt, allowed in ((2, 1e-3, 4e-6), (4, 1e-2, 1e-8)):
        run = vi.simulate(build("bricard"), 10.0, dt, order=order)
        assert np.abs(run.energy - run.energy[0]).max() < allowed


# -------------------------------------------------------------------------------------------- Bennett

BENNETT = [(0.5, 1.0, np.pi / 6), (0.8, 1.0, -0.7), (1.0, 0.6, 0.5)]


@pytest.mark.parametrize("sizes", BENNETT)
def test_bennett_is_closed(sizes):
    module = vi.mechanisms.module("bennett")
    crank, coupler, twist = sizes
    other = module.coupler_twist(*sizes)
    assert np.sin(twist) / crank == pytest.approx(np.sin(other) / coupler)
    for angle in np.linspace(-3, 3, 8):
        points, axes = module.hinges(*sizes, angle)
        following = np.roll(points, -1, axis=0), np.roll(axes, -1, axis=0)
        links = following[0] - points
        np.testing.assert_allclose(np.linalg.norm(links, axis=1), [crank, coupler] * 2, atol=1e-12)
        for end in (axes, following[1]):
            np.testing.assert_allclose(np.einsum("ij,ij->i", links, end), 0, atol=1e-12)
        sines = np.einsum("ij,ij->i", np.cross(axes, following[1]), links) / [crank, coupler, crank, coupler]
        np.testing.assert_allclose(sines, [np.sin(twist), np.sin(other)] * 2, atol=1e-12)
        np.testing.assert_allclose(
            np.einsum("ij,ij->i", axes, following[1]), [np.cos(twist), np.cos(other)] * 2, atol=1e-12
        )
        assert np.arctan2(points[1, 1], points[1, 0]) == pytest.approx(angle)


@pytest.mark.parametrize("sizes", BENNETT)
def test_bennett_hinges_turn_by_bennetts_equation(sizes):
    """tan(t / 2) tan(s / 2) = sin((b + a) / 2) / sin((b - a) / 2), of the hinges on both ends of the crank."""
    start, (crank, coupler, twist) = 0.4, sizes
    other = np.arcsin(np.sin(twist) * coupler / crank)
    ratio = np.sin(0.5 * (other + twist)) / np.sin(0.5 * (other - twist))
    mechanism = build("bennett", crank=crank, coupler=coupler, twist=twist, angle=start)
    run = vi.simulate(mechanism, 2.0, 0.01, order=4)
    first, second, third, fourth = (joint_coordinate(mechanism, joint.name, run) for joint in mechanism.joints)
    assert np.ptp(first) > 2 * np.pi  # all round
    t, s = start + first, 2 * np.arctan(ratio / np.tan(0.5 * start)) + second
    np.testing.assert_allclose(
        np.sin(t / 2) * np.sin(s / 2), ratio * np.cos(t / 2) * np.cos(s / 2), rtol=0, atol=1e-10 * (1 + abs(ratio))
    )
    np.testing.assert_allclose(third, -first, atol=1e-10)
    np.testing.assert_allclose(fourth, second, atol=1e-10)


@pytest.mark.slow
def test_bennett_against_its_one_equation():
    start, rate = np.pi / 3, 2 * np.pi
    mechanism, module = build("bennett"), vi.mechanisms.module("bennett")

    def pose(u):
        points, axes = module.hinges(0.5, 1.0, np.pi / 6, u)
        ends = [(0, 1, 0), (1, 2, 1), (3, 2, 3)]  # from, to, a hinge of the link
        return (
            np.array([0.5 * (points[a] + points[b]) for a, b, _ in ends]),
            np.array([frame(points[b] - points[a], axes[c]) for a, b, c in ends]),
        )

    exact = OneFreedom(mechanism, pose, start)
    run = vi.simulate(mechanism, 4.0, 0.005, order=4, every=20)
    exact.compare(run, exact.motion(start, rate, run.t).y[0], atol=1e-6)


# --------------------------------------------------------------------------------------------- Sarrus

SHORT, LONG, DROP = 0.8, 1.0, 1.3


@pytest.mark.parametrize("sizes", [(SHORT, LONG, DROP), (1.2, 0.7, 1.0)])
def test_sarrus_leads_along_a_straight_line(sizes):
    run = vi.simulate(build("sarrus", **dict(zip(("short", "long", "drop"), sizes, strict=True))), 5.0, 0.01)
    assert np.ptp(run.position[:, 0, 2]) > 0.2
    np.testing.assert_allclose(run.position[:, 0, :2], 0, atol=1e-10)
    np.testing.assert_allclose(run.quat_wxyz[:, 0], np.broadcast_to((1, 0, 0, 0), (len(run.t), 4)), atol=1e-10)


@pytest.mark.slow
def test_sarrus_against_its_one_equation():
    """Of the angle u of the upper short link from hanging."""
    mechanism, start = build("sarrus"), np.arccos(0.5 * DROP / SHORT)

    def pose(u):
        down, a, b = SHORT * np.cos(u), SHORT * np.sin(u), np.sqrt(LONG**2 - (SHORT * np.cos(u)) ** 2)
        short, long = (out * w - down * Z for out, w in ((a, X), (b, Y)))  # the upper links
        lower_short, lower_long = (-out * w - down * Z for out, w in ((a, X), (b, Y)))
        links = (
            (0.2 * X + 0.5 * short, short, Y),
            (0.2 * X + short + 0.5 * lower_short, lower_short, Y),
            (0.2 * Y + 0.5 * long, long, X),
            (0.2 * Y + long + 0.5 * lower_long, lower_long, X),
        )
        centres, frames = zip(*((at, frame(along, hinge)) for at, along, hinge in links), strict=True)
        return np.array([-2 * down * Z, *centres]), np.array([np.eye(3), *frames])

    exact = OneFreedom(mechanism, pose, start)
    run = vi.simulate(mechanism, 5.0, 0.005, order=4, every=20)
    u = exact.motion(start, 0.0, run.t).y[0]
    assert u.min() < -0.3  # the knee swings through the straight chain
    exact.compare(run, u, atol=1e-5)


# ------------------------------------------------------------------------------- spatial slider-crank


def slider_and_pin(angle):
    """Place of the slider on x, and the crank pin (..., 3): a rod of 0.3 m between them."""
    pin = np.stack([0 * angle, 0.1 - 0.08 * np.sin(angle), 0.12 + 0.08 * np.cos(angle)], axis=-1)
    return np.sqrt(0.09 - pin[..., 1] ** 2 - pin[..., 2] ** 2), pin


@pytest.mark.parametrize("parameters", [{}, {"wrist": "spherical"}, {"angle": 2.0, "rate": -9.0}])
def test_slider_follows_the_crank_across(parameters):
    mechanism = build("spatial_slider_crank", **parameters)
    run = vi.simulate(mechanism, 2.0, 0.005)
    angle = parameters.get("angle", 0.0) + joint_coordinate(mechanism, "crank pivot", run)
    assert np.ptp(angle) > 3
    place, pin = slider_and_pin(angle)
    np.testing.assert_allclose(run.position[:, 2], place[:, None] * X, atol=1e-10)
    np.testing.assert_allclose(run.position[:, 1], 0.5 * (place[:, None] * X + pin), atol=1e-10)
    turn = 0.08 * run.angular_velocity[:, 0] @ rotation_matrix(mechanism.body("crank").quat_wxyz).T @ X
    climb = pin[:, 1] * -np.cos(angle) + pin[:, 2] * -np.sin(angle)
    np.testing.assert_allclose(run.velocity[:, 2, 0], -climb * turn / place, atol=1e-8)


def test_slider_crank_starts_as_in_the_benchmark():
    state = build("spatial_slider_crank").state()
    np.testing.assert_allclose(state.position[2], (0.2, 0, 0), atol=1e-12)
    np.testing.assert_allclose(state.velocity, [(0, 0, 0), (0.12, -0.24, 0), (0.24, 0, 0)], atol=1e-12)


def test_slider_crank_wrists():
    """A ball lets the rod spin, a universal joint does not."""
    for wrist, mobility in (("universal", 1), ("spherical", 2)):
        mechanism = build("spatial_slider_crank", wrist=wrist)
        run = vi.simulate(mechanism, 0.5, 0.005)
        assert 18 - rank(mechanism, run, 37) == mobility


@pytest.mark.slow
def test_slider_crank_against_its_one_equation():
    mechanism = build("spatial_slider_crank")

    def pose(angle):
        place, pin = slider_and_pin(np.float64(angle))
        end = place * X
        crank = np.column_stack([X, np.cross(pin - (0, 0.1, 0.12), X), pin - (0, 0.1, 0.12)]) / (1, 0.08, 0.08)
        return np.array([(0, 0.1, 0.12), 0.5 * (pin + end), end]), np.array([crank, frame(end - pin, X), np.eye(3)])

    exact = OneFreedom(mechanism, pose, 0.0)
    run = vi.simulate(mechanism, 5.0, 0.0025, order=4, every=40)
    exact.compare(run, exact.motion(0.0, 6.0, run.t).y[0], atol=1e-5)


# ----------------------------------------------------------------------------------- parallel robots


@pytest.mark.parametrize(("legs", "mobility"), [("universal", 6), ("spherical", 12)])
def test_stewart_legs_are_as_long_as_the_platform_wants(legs, mobility):
    mechanism = build("stewart_platform", legs=legs)
    run = vi.simulate(mechanism, 10.0, 0.02, every=50)
    assert 78 - rank(mechanism, run, 7) == mobility
    turn = rotation_matrix(run.quat_wxyz[:, 0])
    ends = vi.mechanisms.module("stewart_platform").feet_and_heads(1.0, 0.6, 0.25)
    for i, (foot, head) in enumerate(ends, start=1):
        assert np.linalg.norm(foot) == pytest.approx(1.0)
        assert np.linalg.norm(head) == pytest.approx(0.6)
        lengths = np.linalg.norm(run.position[:, 0] + turn @ head - foot, axis=1)
        assert np.ptp(lengths) > 0.1
        stretch = joint_coordinate(mechanism, f"leg {i}", run)
        np.testing.assert_allclose(lengths, np.linalg.norm(head + 1.2 * Z - foot) + stretch, atol=1e-10)


def three_spheres(centres, radius):
    """The lower point (3,) at ``radius`` from the three centres (3, 3)."""
    a, b = centres[1] - centres[0], centres[2] - centres[0]
    normal = np.cross(a, b)
    middle = np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * normal @ normal)
    below = np.sqrt(radius**2 - middle @ middle) * unit(normal)
    return centres[0] + middle - np.sign(below[2]) * below


@pytest.mark.parametrize(("rods", "mobility"), [("spherical", 9), ("universal", 3)])
def test_delta_platform_stays_level_over_its_arms(rods, mobility):
    mechanism = build("delta_robot", rods=rods)
    run = vi.simulate(mechanism, 10.0, 0.01, every=10)
    assert 60 - rank(mechanism, run, 37) == mobility
    assert np.ptp(run.position[:, 0], axis=0).min() > 0.15  # in all three directions
    np.testing.assert_allclose(run.quat_wxyz[:, 0], np.broadcast_to((1, 0, 0, 0), (len(run.t), 4)), atol=1e-10)
    angles = 2 * np.pi / 3 * np.arange(3)
    radial = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    for place, arms in zip(run.position[:, 0], run.position[:, [1, 4, 7]], strict=True):
        elbows = 2 * arms - 0.6 * radial  # the arm's middle is half-way from its hinge at 0.6 m
        np.testing.assert_allclose(np.linalg.norm(elbows - 0.6 * radial, axis=1), 0.4, atol=1e-10)
        np.testing.assert_allclose(place, three_spheres(elbows - 0.1 * radial, 0.8), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bennett", {"twist": 1.0}),
        ("bennett", {"crank": 1.0}),
        ("delta_robot", {"rods": "fixed"}),
        ("delta_robot", {"position": (0, 0, -2.0)}),
        ("delta_robot", {"position": (0, 1.0, -0.5)}),
        ("sarrus", {"drop": 1.6}),
        ("spatial_slider_crank", {"wrist": "fixed"}),
        ("stewart_platform", {"legs": "fixed"}),
    ],
)
def test_impossible_parameters(name, parameters):
    with pytest.raises(vi.MechanismError):
        build(name, **parameters)
