"""Hard contacts in reduced coordinates with located events, against closed forms."""

import math

import numpy as np
import pytest
from test_contact_orders import four_bar, two_links
from test_hard_contact_variational import G, ball, box, disc, moving, rod

import varint as vi
from varint.methods.reduced.events.contacts import ContactEvents
from varint.model.rotation_vectors import rotation_matrix

LOCATED = ("dop853", "rk45", "radau")


@pytest.mark.slow
@pytest.mark.parametrize("integrator", LOCATED)
def test_a_sliding_cube_stops(integrator):
    """After v^2 / (2 mu g), at once: four feet share the load in any way."""
    mechanism = box((1, 1, 1), (-1.5, -0.5, 0.5), levels=(-1,), friction=0.25)
    run = vi.redmax.simulate(mechanism, 2.0, dt=0.05, state=moving(mechanism, (4, 0.8, 0)), integrator=integrator)
    assert run.position[-1, 0] == pytest.approx([1.8265774602, 0.1653154921, 0.5], abs=1e-9)
    assert np.abs(run.velocity[-1]).max() < 1e-10
    assert run.force["floor"] == pytest.approx(G, abs=1e-6)
    assert run.work[-1, 0] == pytest.approx(-0.5 * 16.64, abs=1e-8)
    assert np.abs(run.energy_balance).max() < 1e-8


@pytest.mark.parametrize(("slope", "duration"), [(0.5 * (1 - 1e-6), 10.0), (0.75, 1.0)])
def test_a_cube_on_an_incline_sticks_or_slides(slope, duration):
    angle = math.atan(slope)
    gravity = G * np.array((math.sin(angle), 0, -math.cos(angle)))
    mechanism = box((1, 1, 1), (0, 0, 0.5), gravity=gravity, levels=(-1,), friction=0.5)
    run = vi.redmax.simulate(mechanism, duration)
    moved = 0.5 * G * max(0.0, math.sin(angle) - 0.5 * math.cos(angle)) * duration**2
    assert run.position[-1, 0] - run.position[0, 0] == pytest.approx([moved, 0, 0], abs=1e-9)


def test_a_ball_with_backspin_comes_to_roll():
    mechanism = ball(0.05, 0.05, friction=0.3)
    run = vi.redmax.simulate(mechanism, 1.0, state=moving(mechanism, (1.5, 0, 0), (0, -2 * math.pi, 0)))
    assert np.abs(run.t - 0.17612342).min() < 1e-7  # a step ends where rolling begins
    assert run.position[-1, 0, 0] == pytest.approx(1.02731391, abs=2e-8)
    assert run.velocity[-1, 0, 0] == pytest.approx(0.98166878, abs=1e-8)
    assert run.angular_velocity[-1, 0, 1] == pytest.approx(run.velocity[-1, 0, 0] / 0.05, rel=1e-12)


def test_a_rod_turns_about_a_tip_that_sticks():
    mechanism, state = rod(2.0, 0.1)
    run = vi.redmax.simulate(mechanism, 0.7, dt=0.05, state=state)
    axis = rotation_matrix(run.quat_wxyz[:, 0])[:, :, 2]
    assert np.abs(run.position[:, 0] - 0.5 * axis).max() < 1e-10
    assert np.abs(run.energy_balance).max() < 1e-7


@pytest.mark.parametrize(("friction", "force"), [(1.0, 2.5), (1.3, 25.0)])
def test_the_force_of_a_sliding_rod(friction, force):
    """1 / (1.6 - 1.2 mu) of its weight, near the paradox of Painleve."""
    mechanism, state = rod(friction, math.radians(90 - 63.43494882), -1.0)
    run = vi.redmax.simulate(mechanism, 1e-6, state=state)
    assert run.force["floor"][0] / G == pytest.approx(force, rel=1e-4)


def test_the_paradox_is_told():
    mechanism, state = rod(2.0, math.radians(90 - 63.43494882), -1.0)
    with pytest.raises(vi.ConvergenceError, match=r"no forces of hardcontact 'floor' obey the law of friction"):
        vi.redmax.simulate(mechanism, 1e-3, state=state)


def test_a_block_that_lands_on_its_other_edge():
    """Housner: the spin falls to 1 - 1.5 sin^2 a of itself, tan a = 1/2."""
    mechanism = box((1, 1, 2), (0, 0, 1), gravity=(0, 0, 0), levels=(-1,), friction=10.0)
    state = moving(mechanism, np.cross((0, -1, 0), (-0.5, 0, 1)), (0, -1, 0))
    run = vi.redmax.simulate(mechanism, 0.002, state=state)
    assert run.angular_velocity[-1, 0] == pytest.approx([0, -0.7, 0], abs=1e-12)


@pytest.mark.slow
def test_a_ball_bounces_and_comes_to_rest():
    """Rebounds e^n v0, until one would rise by less than atol: all instants by the closed form."""
    mechanism = ball(0.05, 1.05, restitution=0.9)
    run = vi.redmax.simulate(mechanism, 9.0)
    first = math.sqrt(2 / G)
    hits = first * (1 + 2 * np.cumsum(np.append(0, 0.9 ** np.arange(1, 30))))
    assert np.abs(run.t[:, None] - hits).min(axis=0).max() < 1e-9
    assert run.position[-1, 0, 2] == pytest.approx(0.05, abs=1e-12)
    assert np.abs(run.velocity[-1]).max() < 1e-12
    assert run.work[-1, 0] == pytest.approx(-G, rel=1e-9)


@pytest.mark.parametrize(
    ("friction", "speed", "spin"), [(0.2, 2.28, 8.0), (0.6, 1.8571428571428572, 18.571428571428573)]
)
def test_an_oblique_impact_of_a_spinning_ball(friction, speed, spin):
    """It slides through the impact, or grips; the closed form."""
    mechanism = ball(0.1, 0.3, gravity=(0, 0, 0), friction=friction, restitution=0.8)
    run = vi.redmax.simulate(mechanism, 0.2, state=moving(mechanism, (3, 0, -2), (0, -10, 0)))
    assert run.velocity[-1, 0] == pytest.approx([speed, 0, 1.6], abs=1e-12)
    assert run.angular_velocity[-1, 0] == pytest.approx([0, spin, 0], abs=1e-11)


def test_a_ball_that_is_pulled_up_lifts_off():
    """Where the pull, which grows by 20 N a second from 0.5 s on, is its weight; then z = 20 t^3 / 6."""
    body = vi.Body.sphere("ball", 0.05, 1.0, position=(0, 0, 0.05))
    up = vi.Prismatic("up", "world", "ball", axis=(0, 0, 1), point=(0, 0, 0))
    pull = vi.Motor("pull", joint="up", effort=lambda t: max(0.0, 20.0 * (t - 0.5)))
    floor = vi.HardContact("floor", "ball", radius=0.05, friction=0.4)
    run = vi.redmax.simulate(vi.Mechanism("lifted", [body], [up], forces=[floor, pull]), 1.5, dt=0.01)
    after = np.maximum(run.t - 0.5 - G / 20.0, 0.0)
    assert run.position[:, 0, 2] - 0.05 == pytest.approx(20.0 * after**3 / 6.0, abs=1e-7)
    resting = run.t < 0.5
    assert run.force["floor"][resting] == pytest.approx(G, abs=1e-9)


@pytest.mark.slow
def test_a_tumbling_elastic_box_keeps_its_energy():
    vector = 0.5 * np.array([3, 1, 2]) / math.sqrt(14)
    mechanism = box((0.8, 0.5, 0.3), (0, 0, 1.2), vector, mass=2.0, restitution=1.0)
    run = vi.redmax.simulate(mechanism, 12.0, state=moving(mechanism, (-0.2, 0.3, 0), (0.5, -1, 2)), rtol=1e-10)
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-9
    assert run.penetration["floor"].max() < 1e-11
    assert np.abs(run.work).max() < 1e-9


@pytest.mark.slow
def test_boxes_that_fall_come_to_rest_and_gain_nothing():
    """With friction and rebounds, on corners, edges and faces, until they lie."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        vector, velocity, spin = rng.standard_normal((3, 3))
        mechanism = box((0.8, 0.5, 0.3), (0, 0, 0.6), vector, friction=0.6, restitution=0.4)
        run = vi.redmax.simulate(mechanism, 2.0, dt=0.01, state=moving(mechanism, velocity, spin), rtol=1e-8)
        assert np.diff(run.energy).max() < 1e-7
        assert run.penetration["floor"].max() < 1e-7
        assert np.abs(run.energy_balance).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("joined", [two_links, four_bar])
def test_mechanisms_with_joints(joined):
    """Loops stay closed, the energy is balanced, and reactions, with the floor's, make up the accelerations."""
    mechanism, state = joined(friction=0.3, restitution=0.3)
    run = vi.redmax.simulate(mechanism, 0.8, dt=0.02, state=state)
    assert run.penetration["floor"].max() < 1e-8
    assert run.drift.max() < 1e-7
    assert np.abs(run.energy_balance).max() < 1e-6
    assert run.work[-1, 0] < -0.1  # J, it was hit


@pytest.mark.slow
def test_a_run_goes_on_to_the_same_bits(tmp_path):
    """From within regimes: it slides."""
    mechanism, state = disc()
    path = tmp_path / "run.h5"
    whole = vi.redmax.simulate(mechanism, 0.3, dt=0.01, state=state)
    vi.redmax.simulate(mechanism, 0.12, dt=0.01, state=state, output=path)
    rest = vi.redmax.simulate(mechanism, 0.3, dt=0.01, state=state, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "work"):
        assert np.array_equal(getattr(rest, name), getattr(whole, name))


def test_a_start_below_the_plane_is_refused():
    with pytest.raises(vi.StateError, match=r"hardcontact 'floor' starts 0\.01 m below its plane"):
        vi.redmax.simulate(ball(0.1, 0.09), 0.1)


@pytest.mark.parametrize("integrator", ["rk4", "heun", "bdf2", "sdirk2", "matrix"])
def test_others_refuse(integrator):
    with pytest.raises(vi.ArgumentError, match=r"hardcontact 'floor' is a hard contact, .* 'dop853', 'rk45', 'radau'"):
        vi.redmax.simulate(ball(0.1, 0.5), 0.1, dt=0.01, integrator=integrator)


def test_a_prescribed_joint_bears_the_contact():
    """A slide drives a block that rubs on the floor: its effort is the friction."""
    block = vi.Body.box("block", (0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.1))
    carriage = vi.Body.box("carriage", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.5))
    joints = [
        vi.Prismatic("along", "world", "carriage", axis=(1, 0, 0), point=(0, 0, 0.5)),
        vi.Prismatic("up", "carriage", "block", axis=(0, 0, 1), point=(0, 0, 0.1)),
    ]
    floor = vi.HardContact("floor", "block", points=[(0, 0, 0)], friction=0.3)
    mechanism = vi.Mechanism("driven", [carriage, block], joints, forces=[floor])
    state = mechanism.state(rates={"along": 0.5})
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.1, state=state, prescribed={"along": lambda t: (0.5 * t, 0.5, 0.0)})
    assert run.driving["along"][1:] == pytest.approx(0.3 * G, rel=1e-8)
    assert run.force["floor"][1:] == pytest.approx(G, rel=1e-8)


def capsule_over_an_edge():
    """A capsule that slides on its end over the edge of a box, then on its side; and its state."""
    capsule = vi.CapsuleShape((-0.12, 0, 0), (0.12, 0.03, 0), 0.06)
    inertia = np.diag([0.009089683818, 0.00948562326, 0.011758511519])
    body = vi.Body("b", mass=1.3393083251381213, inertia=inertia, position=(0, 0, 1), collision=[capsule])
    ground = [vi.BoxShape((0.3, 0.3, 0.15), position=(0.2, 0.1, 0.05))]
    contact = vi.Contact("c", "b", "world")
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], forces=[contact], ground=ground)
    return mechanism, mechanism.state(
        position={"b": (0.3393043880512572, -0.10100839317122208, 0.18674354209246824)},
        quat_wxyz={"b": (0.21417292761296572, 0.7012420930720862, 0.6743922723627319, 0.08708930450406437)},
        velocity={"b": (-0.20463203655418954, -0.59684660227429, -1.7657056899818147)},
        angular_velocity={"b": (-1.6931191196967421, 11.336107678326359, 8.298960474342119)},
    )


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("integrator", [*LOCATED[:2], pytest.param("radau", marks=pytest.mark.slow)])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_a_capsule_slides_over_an_edge(integrator, rtol):
    """Its contact passes from its end to its side within a long step: no energy is lost, in any of them."""
    mechanism, state = capsule_over_an_edge()
    run = vi.redmax.simulate(mechanism, 0.006, 5e-4, state=state, integrator=integrator, rtol=rtol)
    assert run.energy == pytest.approx(5.8353678, abs=2e-6)
    assert run.penetration["c"].max() < 1e-9
    assert run.velocity[-1, 0] == pytest.approx((-0.01492, -0.59702, -1.23862), abs=1e-4)


@pytest.mark.slow
def test_an_overlap_at_the_nodes_is_reported(monkeypatch):
    """What no step has seen balances its energy: the first node with an overlap is told, with the contact."""
    monkeypatch.setattr(ContactEvents, "overlooks", lambda *_: False)
    mechanism, state = capsule_over_an_edge()
    with pytest.warns(vi.UnresolvedWarning, match=r"contact 'c'.* overlap by .* m at t = .*an impact was missed"):
        run = vi.redmax.simulate(mechanism, 0.006, 5e-4, state=state)
    assert run.unresolved.size


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_box_that_rocks_on_a_smaller_one_comes_to_rest(friction):
    """It lands turned by 0.3 rad and rocks from edge to edge, ever lower, down to the tolerance, where it rests."""
    body = vi.Body.box("box", (0.2, 0.3, 0.1), 1.0, position=(0, 0, 0), collision=True)
    ground = [vi.BoxShape((0.15, 0.15, 0.1), position=(0, 0, -0.05))]
    contact = vi.Contact("c", "box", "world", friction=friction)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "box")], forces=[contact], ground=ground)
    state = mechanism.state(
        position={"box": (0, 0, 0.07)}, quat_wxyz={"box": (math.cos(0.15), 0, 0, math.sin(0.15))},
        angular_velocity={"box": (0.5, 0.3, 1.0)},
    )  # fmt: skip
    run = vi.redmax.simulate(mechanism, 0.15, 0.01, state=state)
    assert run.position[-1, 0, 2] == pytest.approx(0.05, abs=1e-9)
    assert abs(run.velocity[-1, 0, 2]) < 1e-9
    assert run.steps < 200
    same = vi.simulate(mechanism, 0.15, 1e-3, state=state)
    assert run.angular_velocity[-1, 0] == pytest.approx(same.angular_velocity[-1, 0], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", LOCATED)
@pytest.mark.parametrize("off", [0.0, 0.13])
def test_a_blow_of_edge_on_edge(integrator, off):
    """The edge of a box meets that of another across it, 10 m/s over 0.3 m: Newton's law, e = 0.5."""
    half = (math.cos(math.pi / 8), math.sin(math.pi / 8))
    start = (off, 0.05, 0.2 * math.sqrt(2) + 0.3)
    size, turned = (1, 0.2, 0.2), (half[0], half[1], 0, 0)
    body = vi.Body.box("box", size, 1.0, position=start, quat_wxyz=turned, collision=True)
    ground = [vi.BoxShape((0.2, 1, 0.2), quat_wxyz=(half[0], 0, half[1], 0))]
    contact = vi.Contact("c", "box", "world", restitution=0.5)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "box")], (0, 0, 0), forces=[contact], ground=ground)
    state = mechanism.state(velocity={"box": (0, 0, -10.0)})
    run = vi.redmax.simulate(mechanism, 0.031, state=state, integrator=integrator)
    arm = rotation_matrix(np.array(turned)).T @ np.cross((-off, 0.0, -0.1 * math.sqrt(2)), (0, 0, 1.0))
    blow = 1.5 * 10.0 / (1.0 + arm @ np.linalg.solve(body.inertia, arm))
    assert run.velocity[-1, 0] == pytest.approx((0, 0, blow - 10.0), abs=1e-6)
    assert run.angular_velocity[-1, 0] == pytest.approx(blow * np.linalg.solve(body.inertia, arm), abs=1e-6)
