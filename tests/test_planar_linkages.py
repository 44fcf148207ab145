"""Planar linkages of the catalogue against closed forms and published data."""

import numpy as np
import pytest
from poses import pose_of, rows_at
from scipy.integrate import solve_ivp
from test_mechanisms import GRAVITY, build, zeros

import varint as vi
from varint.mechanisms._links import meet
from varint.model.rotation_vectors import rotation_matrix


def point_path(run, body, point):
    """Path (T, 3) of the point of a body that is at ``point`` (3,) in the reference configuration."""
    i = run.mechanism.body_index[body]
    description = run.mechanism.bodies[i]
    arm = rotation_matrix(description.quat_wxyz).T @ (np.asarray(point) - description.position)
    return run.position[:, i] + rotation_matrix(run.quat_wxyz[:, i]) @ arm


def turned(run, body):
    """Angle (T,) from x towards z by which a body has turned in the x-z plane since the start, without jumps."""
    quat = run.quat_wxyz[:, run.mechanism.body_index[body]]
    angle = np.unwrap(-2 * np.arctan2(quat[:, 2], quat[:, 0]))
    return angle - angle[0]


def joint_point(mechanism, name):
    return mechanism.joint(name).point


def energy_error(run):
    return np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()


# ------------------------------------------------------------------------------------------- four-bars


def cosines(own, coupler, other, ground):
    """Smallest and largest cosine of a link's angle from the ground: its pin must be in reach of the other pivot."""
    ends = [(own**2 + ground**2 - reach**2) / (2 * own * ground) for reach in (coupler + other, coupler - other)]
    return np.clip(ends, -1, 1)


@pytest.mark.parametrize(
    ("case", "turning"),
    [
        ("crank-rocker", {"crank"}),
        ("double-crank", {"crank", "coupler", "rocker"}),
        ("double-rocker", {"coupler"}),
        ("change-point", {"crank", "rocker"}),
        ("triple-rocker", set()),
    ],
)
def test_links_of_a_four_bar_that_turn_all_round(case, turning):
    a, b, c, g = vi.mechanisms.module("four_bar").CASES[case]
    run = vi.simulate(build("four_bar", case=case), 5.0, 0.005)
    assert run.drift.max() < 1e-10
    assert energy_error(run) < 0.02
    links = ("crank", "coupler", "rocker")
    assert {name for name in links if np.ptp(turned(run, name)) > 2.1 * np.pi} == turning
    crank = joint_point(run.mechanism, "crank pin")
    rocker = joint_point(run.mechanism, "rocker pin")
    for path, cosine in (
        (point_path(run, "crank", crank)[:, 0] / a, cosines(a, b, c, g)),
        ((g - point_path(run, "rocker", rocker)[:, 0]) / c, cosines(c, b, a, g)),
    ):
        np.testing.assert_allclose((path.min(), path.max()), cosine, atol=5e-3)


def test_lengths_of_a_four_bar_replace_those_of_its_case():
    run = vi.simulate(build("four_bar", case="double-crank", crank=1.0), 0.1, 0.01)
    pins = [joint_point(run.mechanism, name) for name in ("crank pin", "rocker pin", "rocker pivot")]
    assert np.linalg.norm(pins[0]) == pytest.approx(1.0)
    assert np.linalg.norm(pins[1] - pins[0]) == pytest.approx(0.8)
    assert pins[2][0] == 0.4


@pytest.mark.parametrize("N", [1, 2, 5])
def test_parallel_four_bars_follow_their_closed_form(N):
    """[(N + 1)/3 + N] th'' = [(N + 1)/2 + N] g sin th, th from upright, before the singular level pose."""
    run = vi.simulate(build("n_four_bar", N=N), 0.6, 0.005, order=4)
    inertia, moment = (N + 1) / 3 + N, (N + 1) / 2 + N
    assert run.kinetic[0] == pytest.approx(inertia / 2, abs=1e-12)
    assert run.potential[0] == pytest.approx(moment * GRAVITY, abs=1e-12)

    def fall(_, y):
        return y[1], moment * GRAVITY * np.sin(y[0]) / inertia

    angle, rate = solve_ivp(fall, (0, 0.6), (0.0, 1.0), "DOP853", run.t, rtol=1e-11, atol=1e-12).y
    for i in range(N + 1):
        np.testing.assert_allclose(-turned(run, f"upright {i}"), angle, atol=1e-7)
        np.testing.assert_allclose(run.angular_velocity[:, i, 1], rate, atol=1e-5)


def test_double_four_bar_of_the_benchmark():
    """IFToMM A02, N = 2: ten seconds, through the singular pose and back again and again."""
    run = vi.simulate(build("n_four_bar"), 10.0, 0.01, order=4)
    assert run.energy[0] == pytest.approx(35.835, abs=1e-12)
    top = point_path(run, "upright 0", (0, 0, 1))
    np.testing.assert_allclose(top[-1], (0.32845811154, 0, 0.94451853818), atol=2e-6)
    assert zeros(run.t, top[:, 2])[0] == pytest.approx(0.71435552929, abs=1e-6)
    np.testing.assert_allclose(2 * run.velocity[-1, 0, [0, 2]], (1.42305147020, -0.49486884548), atol=2e-5)
    assert run.drift.max() < 1e-10


# --------------------------------------------------------------------------------------- straight line


@pytest.mark.parametrize("lengths", [(1.0, 0.7, 0.3), (0.8, 0.5, 0.25)])
def test_tip_of_the_inversor_stays_on_its_line(lengths):
    arm, side, crank = lengths
    mechanism = build("peaucellier", arm=arm, side=side, crank=crank, angle=0.9)
    run = vi.simulate(mechanism, 3.0, 0.01)
    tip = point_path(run, "lower left", joint_point(mechanism, "tip"))
    np.testing.assert_allclose(tip[:, 2], -(arm**2 - side**2) / (2 * crank), atol=1e-10)
    assert tip[:, 0].max() > 0.3
    np.testing.assert_allclose(tip[:, 0].min(), -tip[:, 0].max(), rtol=1e-2)  # it swings
    assert energy_error(run) < 1e-2


# ------------------------------------------------------------------------------------------------ legs


JANSEN = {  # body: joints or foot at the two ends of a bar, holy number
    "crank": [("crank pivot", "upper crank pin", 15.0)],
    "upper rod": [("upper crank pin", "top", 50.0)],
    "lower rod": [("lower crank pin", "knee", 61.9)],
    "upper triangle": [("upper pivot", "top", 41.5), ("top", "back", 55.8), ("back", "upper pivot", 40.1)],
    "rocker": [("lower pivot", "knee", 39.3)],
    "back rod": [("back", "ankle", 39.4)],
    "lower triangle": [("lower knee", "ankle", 36.7)],
}


def test_jansen_leg_has_the_holy_numbers():
    mechanism = build("jansen_leg")
    for body, bars in JANSEN.items():
        length = 0.0
        for start, end, number in bars:
            apart = joint_point(mechanism, start) - joint_point(mechanism, end)
            assert np.linalg.norm(apart) == pytest.approx(number / 100, abs=1e-12)
            assert all(body in (mechanism.joint(j).body_a, mechanism.joint(j).body_b) for j in (start, end))
            length += number / 100
        if body == "lower triangle":
            length += 0.490 + 0.657
        assert mechanism.body(body).mass == pytest.approx(length)
    np.testing.assert_allclose(joint_point(mechanism, "upper pivot"), (-0.38, 0, -0.078))


def step(foot, crank, band):
    """Length and height of a step, m, and the share of a crank turn with the foot within ``band`` of its lowest."""
    once = slice(0, np.flatnonzero(np.abs(crank) > 2 * np.pi)[0])
    x, z = foot[once, 0], foot[once, 2]
    down = z < z.min() + band
    return np.ptp(x), np.ptp(z), np.abs(np.gradient(crank[once])[down]).sum() / (2 * np.pi)


@pytest.mark.slow
def test_jansen_leg_walks():
    mechanism = build("jansen_leg")
    run = vi.simulate(mechanism, 2.0, 0.005)
    crank = turned(run, "crank")
    assert np.ptp(crank) > 4 * np.pi
    for node in range(0, len(run.t), 25):
        there = [body.position for body in build("jansen_leg", angle=crank[node]).bodies]
        np.testing.assert_allclose(run.position[node], there, atol=1e-10)
    ankle, knee = (joint_point(mechanism, name) for name in ("ankle", "lower knee"))
    foot = point_path(run, "lower triangle", meet(knee, ankle, 0.490, 0.657))
    length, height, down = step(foot, crank, 0.02)
    assert 0.6 < length < 0.7
    assert height > 0.2
    assert down > 0.5


def test_klann_leg_walks():
    """The foot follows from the crank by the angles of two triangles."""
    mechanism = build("klann_leg")
    run = vi.simulate(mechanism, 2.0, 0.002)
    shaft, pin, lower, elbow, upper, hip, knee = (joint.point[[0, 2]] @ (1, 1j) for joint in mechanism.joints)
    crank = turned(run, "crank")
    assert np.ptp(crank) > 3 * np.pi

    def apex(a, b, from_a, from_b):  # left of a to b
        cosine = (abs(b - a) ** 2 + from_a**2 - from_b**2) / (2 * abs(b - a) * from_a)
        return a + from_a * (b - a) / abs(b - a) * np.exp(1j * np.arccos(cosine))

    pins = shaft + (pin - shaft) * np.exp(1j * crank)
    elbows = apex(lower, pins, abs(elbow - lower), abs(elbow - pin))
    knees = pins + (elbows - pins) * (knee - pin) / (elbow - pin)
    hips = apex(knees, upper, abs(hip - knee), abs(hip - upper))
    feet = knees + (hips - knees) * (0 - knee) / (hip - knee)
    foot = point_path(run, "leg", np.zeros(3))
    np.testing.assert_allclose(foot[:, [0, 2]] @ (1, 1j), feet, atol=1e-10)
    length, height, down = step(foot, crank, 0.1)
    assert length == pytest.approx(1.0, abs=0.02)
    assert height > 0.5
    assert down > 0.5


def test_toe_of_the_minitaur_leg_stays_between_the_hips():
    """With both upper links at a and b the toe is at (a + b)/2, on the far side of the knees."""
    mechanism = build("minitaur_leg")
    run = vi.simulate(mechanism, 4.0, 0.005)
    left, right = turned(run, "left upper") - np.pi, turned(run, "right upper")
    apart, middle = right - left, 0.5 * (left + right)
    assert apart.min() < -1  # the knees have passed each other
    half = 0.5 * apart
    far = 0.1 * np.cos(half) + np.sqrt(0.2**2 - (0.1 * np.sin(half)) ** 2)
    toe = point_path(run, "left lower", joint_point(mechanism, "toe"))
    np.testing.assert_allclose(toe[:, 0], far * np.cos(middle), atol=1e-9)
    np.testing.assert_allclose(toe[:, 2], far * np.sin(middle), atol=1e-9)


def test_minitaur_keeps_its_momenta():
    run = vi.simulate(build("minitaur"), 3.0, 0.01)
    for momentum in (run.linear_momentum, run.angular_momentum):
        np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)
    assert np.ptp(turned(run, "front left left upper") - turned(run, "trunk")) > 0.3  # legs move


# ----------------------------------------------------------------------------------------------- lift


@pytest.mark.parametrize("k", [1, 3])
def test_scissor_lift_falls_as_a_mechanism_of_one_angle(k):
    run = vi.simulate(build("scissor_lift", k=k, angle=0.8, rate=0.0, gravity=(0, 0, -GRAVITY)), 0.25, 0.0025, order=4)
    angle, index = 0.8 + turned(run, "rising 1"), run.mechanism.body_index
    sine, cosine = np.sin(angle), np.cos(angle)
    assert np.ptp(angle) > 0.1
    np.testing.assert_allclose(run.position[:, index["platform"], 2], k * sine, atol=1e-10)
    np.testing.assert_allclose(run.position[:, index["lower slider"], 0], cosine, atol=1e-10)
    np.testing.assert_allclose(
        run.position[:, index["upper slider"]], np.stack([cosine, 0 * sine, k * sine], 1), atol=1e-10
    )
    middles = np.arange(k) + 0.5
    bars = 2 * (k * 1.01 / 12 + k * (0.5 * sine) ** 2 + (middles**2).sum() * cosine**2)
    inertia = bars + 2 * sine**2 + (1 + 10) * (k * cosine) ** 2
    fall = GRAVITY * (2 * middles.sum() + 11 * k) * (np.sin(0.8) - sine)
    rate = run.angular_velocity[:, index["rising 1"], 1]
    np.testing.assert_allclose(rate**2, 2 * fall / inertia, atol=1e-5)


# ------------------------------------------------------------------------------------------- squeezer


def squeezer_rows(q):
    """The six constraints (6, ...) of the IVP test set at q = (beta, Theta, gamma, Phi, delta, Omega, epsilon)."""
    be, th, ga, ph, de, om, ep = q
    x, y = 0.007 * np.cos(be) - 0.028 * np.cos(be + th), 0.007 * np.sin(be) - 0.028 * np.sin(be + th)
    return np.array(
        [
            x - 0.035 * np.sin(ga) + 0.03635,
            y + 0.035 * np.cos(ga) - 0.03273,
            x - 0.02 * np.sin(ph + de) - 0.04 * np.cos(de) + 0.06934,
            y + 0.02 * np.cos(ph + de) - 0.04 * np.sin(de) + 0.00227,
            x - 0.02 * np.cos(om + ep) - 0.04 * np.sin(ep) + 0.06934,
            y - 0.02 * np.sin(om + ep) + 0.04 * np.cos(ep) + 0.00227,
        ]
    )


def squeezer_mass(q):
    """Mass matrix (7, 7) of the IVP test set."""
    _, th, _, ph, _, om, _ = q
    _, m2, m3, m4, m5, m6, m7 = m = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    i1, i2, i3, i4, i5, i6, i7 = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    rr, ra, da, sa, sb, ta, tb, zt, u, ua, ub = (
        *(0.007, 0.00092, 0.0115, 0.01874, 0.01043, 0.02308, 0.00916, 0.04, 0.04, 0.01228, 0.00449),
    )
    r = 0.02 - 0.01421  # e - ea and zf - fa
    M = np.zeros((7, 7))
    M[0, 0] = m[0] * ra**2 + m2 * (rr**2 - 2 * da * rr * np.cos(th) + da**2) + i1 + i2
    M[0, 1] = M[1, 0] = m2 * (da**2 - da * rr * np.cos(th)) + i2
    M[1, 1] = m2 * da**2 + i2
    M[2, 2] = m3 * (sa**2 + sb**2) + i3
    M[3, 3] = m4 * r**2 + i4
    M[3, 4] = M[4, 3] = m4 * (r**2 + zt * r * np.sin(ph)) + i4
    M[4, 4] = m4 * (zt**2 + 2 * zt * r * np.sin(ph) + r**2) + m5 * (ta**2 + tb**2) + i4 + i5
    M[5, 5] = m6 * r**2 + i6
    M[5, 6] = M[6, 5] = m6 * (r**2 - u * r * np.sin(om)) + i6
    M[6, 6] = m6 * (r**2 - 2 * u * r * np.sin(om) + u**2) + m7 * (ua**2 + ub**2) + i6 + i7
    return M


def by_coordinate(k1, k2, k3, k4, k5, k6, k7):
    """The test set's coordinates of the angles of the bodies, or their rates."""
    return np.array([k1, k2 - k1, k3, k4 - k5, k5, k6 - k7, k7])


SQUEEZER_START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885,
    0.487364979543842550, -0.222668390165885885, 1.23054744454982119,
)  # fmt: skip


def test_squeezer_moves_as_the_test_set_says():
    assert np.abs(squeezer_rows(SQUEEZER_START)).max() < 1e-9
    run = vi.simulate(build("andrews_squeezer", torque=0.0, stiffness=0.0, rate=100.0), 0.2, 5e-4)
    names = [f"K{i}" for i in range(1, 8)]
    start = np.array(SQUEEZER_START)[:, None]
    q = start + by_coordinate(*(turned(run, name) for name in names))
    assert np.ptp(q[0]) > 4 * np.pi  # the crank turns all round
    np.testing.assert_allclose(squeezer_rows(q), 0.0, atol=1e-12)
    rates = by_coordinate(*(-run.angular_velocity[:, i, 1] for i in range(7)))
    np.testing.assert_allclose(rates[:, 0], (100, -75, 0, 0, 0, 0, 0), atol=1e-9)
    kinetic = [0.5 * v @ squeezer_mass(p) @ v for p, v in zip(q.T, rates.T, strict=True)]
    np.testing.assert_allclose(run.kinetic, kinetic, rtol=1e-10)


def test_squeezer_starts_with_the_accelerations_of_the_test_set():
    run = vi.simulate(build("andrews_squeezer"), 1e-6, 1e-6, tol=1e-14)
    accelerations = by_coordinate(*(-run.angular_velocity[-1, i, 1] for i in range(7))) / 1e-6
    np.testing.assert_allclose(accelerations, (14222.4439199541, -10666.8329399656, 0, 0, 0, 0, 0), atol=0.01)


# ------------------------------------------------------------------------------------------- ladders


@pytest.mark.parametrize(("k", "closed"), [(1, False), (3, False), (4, True), (7, True)])
def test_ladder_is_one_cluster_with_the_freedoms_counted(k, closed):
    mechanism = build("ladder", k=k, closed=closed)
    loops = k + 1 if closed else k
    assert [len(cuts) for _, cuts in mechanism.compiled.topology.clusters] == [loops]
    _, G = rows_at(mechanism, *pose_of(mechanism.state()))
    rank = np.linalg.matrix_rank(G.reshape(len(G), -1), tol=1e-7)
    assert 6 * len(mechanism.bodies) - rank == (k - 3 if closed else k)
    assert mechanism.rows - rank == 3 * loops
    run = vi.simulate(mechanism, 1.0, 0.01)
    assert run.drift.max() < 1e-10
    assert energy_error(run) < 0.02
    assert run.kinetic.max() > 0.01
