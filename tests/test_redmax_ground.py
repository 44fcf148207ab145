"""Hard contacts with planes in reduced coordinates: closed forms, staggered projections, the single program, energy."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import varint as vi
from varint.methods.reduced.contacts import Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.saddle import LinearStep

GRAVITY = 9.81


def euler(mechanism, duration, dt, **options):
    return vi.redmax.simulate(mechanism, duration, dt=dt, integrator="euler", **options)


def free(body, *contacts, gravity=(0, 0, -GRAVITY)):
    return vi.Mechanism("free", [body], [vi.Free("base", "world", body.name)], forces=contacts, gravity=gravity)


def ball(height=0.0, radius=0.05, mass=1.0, **contact):
    body = vi.Body.sphere("ball", radius, mass, position=(0, 0, radius + height))
    return free(body, vi.HardContact("floor", "ball", radius=radius, **contact))


def block(size=(0.4, 0.3, 0.2), height=0.0, **contact):
    middle = np.array([0, 0, 0.5 * size[2] + height])
    corners = middle + 0.5 * np.array(list(itertools.product((-1, 1), repeat=3))) * size
    return free(
        vi.Body.box("block", size, 2.0, position=middle), vi.HardContact("floor", "block", points=corners, **contact)
    )


@pytest.mark.slow
def test_ball_with_backspin_slides_then_rolls():
    """The slip v - R w falls by 7/2 mu g t; then v = v0 - mu g t, to the end."""
    v, w, mu, R = 1.5, -2.0 * np.pi, 0.3, 0.05
    end, rolls = (5.0 * v + 2.0 * R * w) / 7.0, 2.0 * (v - R * w) / (7.0 * mu * GRAVITY)
    assert (round(end, 6), round(rolls, 6)) == (0.981669, 0.176123)
    mechanism = ball(friction=mu)
    start = mechanism.state(velocity={"ball": (v, 0, 0)}, angular_velocity={"ball": (0, w, 0)})
    for dt in (0.01, 0.002):
        run = euler(mechanism, 0.3, dt, state=start)
        speed, slip = run.velocity[:, 0, 0], run.velocity[:, 0, 0] - R * run.angular_velocity[:, 0, 1]
        assert speed[-1] == pytest.approx(end, abs=1e-9)
        assert run.t[np.argmax(np.abs(slip) < 1e-9)] == pytest.approx(rolls, abs=dt)
        sliding = run.t < rolls - dt
        assert speed[sliding] == pytest.approx(v - mu * GRAVITY * run.t[sliding], abs=1e-9)
        assert run.force["floor"] == pytest.approx(np.full(len(run.t), GRAVITY), rel=1e-9)
        assert run.contact_force["floor"][sliding, 0] == pytest.approx(-mu * GRAVITY, rel=1e-9)
        assert np.abs(run.contact_force["floor"][-1, :2]).max() < 1e-9
        assert run.acceleration[sliding, 0, 0] == pytest.approx(-mu * GRAVITY, rel=1e-9)
        lost = 0.5 * (v**2 - end**2) + 0.2 * R**2 * (w**2 - (end / R) ** 2)
        assert run.dissipated["floor"][-1] == pytest.approx(lost, rel=1e-9)
        assert run.penetration["floor"].max() < 1e-12


@pytest.mark.slow
def test_block_slides_until_it_stops():
    errors = []
    mechanism = block(friction=0.5)
    for dt in (0.02, 0.01):
        run = euler(mechanism, 1.2, dt, state=mechanism.state(velocity={"block": (3.0, 4.0, 0)}))
        errors.append(np.linalg.norm(run.position[-1, 0, :2]) - 2.548420)
        assert np.abs(run.velocity[-1]).max() < 1e-12
        assert run.force["floor"] == pytest.approx(np.full(len(run.t), 2.0 * GRAVITY), rel=1e-9)
        assert run.position[-1, 0, 1] == pytest.approx(4.0 / 3.0 * run.position[-1, 0, 0], rel=1e-9)
        assert run.dissipated["floor"][-1] == pytest.approx(25.0, rel=1e-9)
    assert errors == pytest.approx([-0.05, -0.025], abs=1e-4)  # the speed of a step is that of its end: -v h / 2


@pytest.mark.parametrize("slope", [0.2, 0.5])
def test_block_on_a_slope_sticks_or_slides(slope):
    """mu = 0.3: it sticks where tan(slope) is less. The plane leans, gravity does not."""
    normal, down = np.array([np.sin(slope), 0, np.cos(slope)]), np.array([np.cos(slope), 0, -np.sin(slope)])
    quat = (np.cos(0.5 * slope), 0, np.sin(0.5 * slope), 0)
    body = vi.Body.box("block", (0.4, 0.3, 0.2), 2.0, position=0.1 * normal, quat_wxyz=quat)
    feet = [x * down + y * np.array([0, 1, 0]) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    run = euler(free(body, vi.HardContact("floor", "block", points=feet, normal=normal, friction=0.3)), 0.5, 0.01)
    expected = max(0.0, GRAVITY * (np.sin(slope) - 0.3 * np.cos(slope)))
    assert run.velocity[:, 0] @ down == pytest.approx(expected * run.t, abs=1e-9)
    assert run.force["floor"] == pytest.approx(np.full(len(run.t), 2.0 * GRAVITY * np.cos(slope)), rel=1e-9)


@pytest.mark.slow
def test_as_a_stop():
    """What slides along the normal alone does what it does on a hard stop of the joint."""
    body = vi.Body.box("body", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 1.0))
    slide = vi.Prismatic("slide", "world", "body", point=(0, 0, 1.0), axis=(0, 0, 1))
    forces = vi.JointStop("f", joint="slide", lower=-1.0, restitution=0.6), vi.HardContact("f", "body", restitution=0.6)
    stop, contact = (euler(vi.Mechanism("m", [body], [slide], forces=[f]), 1.5, 0.004) for f in forces)
    assert contact.position == pytest.approx(stop.position, abs=1e-12)
    assert contact.force["f"] == pytest.approx(stop.force["f"], abs=1e-9)
    assert contact.dissipated["f"][-1] == pytest.approx(stop.dissipated["f"][-1], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("shape", ["box", "capsule"])
def test_what_tumbles_onto_the_floor_comes_to_rest_on_it(shape, restitution, rng):
    if shape == "box":
        mechanism = block(height=0.3, friction=0.4, restitution=restitution)
    else:
        body = vi.Body.capsule("block", 0.05, 0.3, 1.0, position=(0, 0, 0.6))
        ends = [(0, 0, 0.45), (0, 0, 0.75)]
        mechanism = free(
            body, vi.HardContact("floor", "block", points=ends, radius=0.05, friction=0.4, restitution=restitution)
        )
    start = mechanism.state(velocity={"block": (0.5, 0.2, -1.0)}, angular_velocity={"block": (3.0, 5.0, -2.0)})
    run = euler(mechanism, 1.0, 0.004, state=start)
    assert np.diff(run.dissipated["floor"]).min() > -1e-4  # by the speed of a step's middle, with gravity
    assert np.diff(run.energy).max() < 1e-3
    assert run.dissipated["floor"][-1] > 0.3
    assert run.force["floor"].max() > 50.0
    assert run.penetration["floor"].max() < 2e-3  # by what points turn further within a step


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_no_impact_adds_energy(restitution, rng):
    """Of corners at random, without other forces; with friction Newton's restitution alone could (Kane, Levinson)."""
    gains = []
    for _ in range(40):
        points = rng.uniform(-0.2, 0.2, (4, 3)) * [1.0, 1.0, 0.02]
        M, v, rows, z, after = impact(rng, rng.uniform(0.0, 1.5), points, restitution)
        gains.append(0.5 * (after @ M @ after - v @ M @ v))
        assert z[:4].min() >= -1e-15
        assert (rows.by_rates[:4] @ after >= rows.bound - 1e-9).all()
    assert max(gains) < 1e-12
    assert min(gains) < -0.1


def impact(rng, friction, points, restitution=0.0):
    """A body in the air within a step of the floor: the contacts, their rows, and the step without them."""
    body = vi.Body("body", mass=2.0, inertia=np.diag([0.02, 0.03, 0.045]), position=(0, 0, 0.1))
    floor = vi.HardContact("floor", "body", points=points, friction=friction, restitution=restitution)
    equations = Equations(free(body, floor))
    q, v, h = np.zeros(6), np.append([0.4, -0.3, -2.0], rng.uniform(-2, 2, 3)), 0.01
    equations.place(q)
    equations.move(q, v)
    equations.load(0.0)
    M, contacts = equations.mass_matrix(), Contacts(equations)
    step = LinearStep(M, M @ v, np.zeros((0, 6)), np.zeros(0))
    after = contacts.solve(h, v, step, np.zeros(6))
    rows = contacts._rows(h, v, v, np.zeros(6))
    return M, v, rows, contacts.z, after


TRIPOD = [(0.2, 0.0, 0.0), (-0.1, 0.15, 0.0), (-0.1, -0.15, 0.0)]


@pytest.mark.slow
def test_staggered_projections_end_at_the_same_impulses(rng):
    """DIFF Algorithm 7 with round cones, by other methods: each program solved by itself, in turn."""
    for _ in range(3):
        M, v, rows, z, after = impact(rng, 0.3, TRIPOD)
        N, T, alpha, beta = rows.by_rates[:3], rows.by_rates[3:], np.zeros(3), np.zeros(6)
        W = np.linalg.inv(M)
        L = np.linalg.cholesky(W)
        for _ in range(60):
            # min 1/2 |L^T N^T alpha + c|^2, alpha >= 0, as least squares
            wanted = -np.linalg.lstsq(N @ L, N @ (v + W @ T.T @ beta) - rows.bound, rcond=None)[0]
            alpha = nnls((N @ L).T, wanted)[0]
            S, u = T @ W @ T.T, T @ (v + W @ N.T @ alpha)
            size = np.linalg.norm(S, 2)
            for _ in range(60):
                beta = (beta - (S @ beta + u) / size).reshape(3, 2)
                length = np.linalg.norm(beta, axis=1)
                beta = (beta * np.minimum(1.0, 0.3 * alpha / np.maximum(length, 1e-300))[:, None]).ravel()
        assert alpha == pytest.approx(z[:3], abs=1e-7)  # tangential impulses of contacts that stick are redundant
        assert v + W @ (N.T @ alpha + T.T @ beta) == pytest.approx(after, abs=1e-7)


def test_the_single_program_agrees_where_contacts_stick(rng):
    """DIFF eq. 1.103, which lets sliding contacts rise (Anitescu and Hart), does not where they stick."""
    M, v, rows, z, after = impact(rng, 5.0, TRIPOD[:1])
    C = np.concatenate([rows.by_rates[:1], *(sign * rows.by_rates[1:] for sign in (1, -1))])
    W, bound = np.linalg.inv(M), np.append(rows.bound, np.zeros(4))
    S, u = C @ W @ C.T, C @ v - bound
    cone = {"type": "ineq", "fun": lambda x: 5.0 * x[0] - x[1:].sum()}
    found = minimize(
        lambda x: 0.5 * x @ S @ x + u @ x, np.ones(5), jac=lambda x: S @ x + u, bounds=[(0, None)] * 5,
        constraints=[cone], method="SLSQP", options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert np.linalg.norm(z[1:]) < 4.9 * z[0]
    assert v + W @ C.T @ found.x == pytest.approx(after, abs=1e-5)


@pytest.mark.slow
def test_a_foot_of_a_linkage_with_friction_in_its_pins():
    """The foot of a double pendulum drags over the floor; all comes to rest, and every joule is accounted for."""
    plain = vi.mechanisms.n_pendulum(n=2, angle=1.2)
    tip = plain.bodies[1].position + (plain.bodies[1].position - plain.joints[1].point)
    frictions = [vi.JointCoulombFriction(j.name, joint=j.name, coefficient=0.3, radius=0.05) for j in plain.joints]
    floor = vi.HardContact("floor", plain.bodies[1].name, points=[tip], ground=tip - [0, 0, 0.3], friction=0.4)
    mechanism = vi.Mechanism("leg", plain.bodies, plain.joints, forces=[*frictions, floor])
    balances = []
    for dt in (0.008, 0.004):
        run = euler(mechanism, 1.5, dt)
        balances.append(np.abs(run.energy_balance).max())
        assert run.dissipated["floor"][-1] > 0.0
        assert np.diff(run.dissipated["floor"]).min() > -1e-12
        assert run.penetration["floor"].max() < 1e-2 * 0.008
    assert balances[1] < 0.7 * balances[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"friction": -0.1}, "friction of hardcontact 'floor' must be zero or positive"),
        ({"radius": -1.0}, "radius of hardcontact 'floor' must be zero or positive"),
        ({"restitution": 1.5}, "restitution of hardcontact 'floor' must be at most 1, got 1.5"),
        ({"points": np.zeros((0, 3))}, "points of hardcontact 'floor' must be at least one"),
        ({"points": (0, 0, 0)}, r"points of hardcontact 'floor' must"),
        ({"normal": (0, 0, 0)}, "normal of hardcontact 'floor'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(vi.MechanismError, match=message):
        vi.HardContact("floor", "ball", **parameters)


def test_refused_elsewhere():
    with pytest.raises(vi.ArgumentError, match="'floor' is a hard contact, which composed steps do not support: use"):
        vi.simulate(ball(), 1.0, 0.01, order=4)
    with pytest.raises(vi.ArgumentError, match=r"which steps of this integrator do not support: use vi\.simulate"):
        vi.redmax.simulate(ball(), 1.0, dt=0.01, integrator="rk4")
    with pytest.raises(vi.MechanismError, match="hardcontact 'floor' acts on a body, not on the world"):
        free(vi.Body.sphere("ball", 0.1, 1.0), vi.HardContact("floor", "world"))


def test_in_a_file(tmp_path):
    mechanism = block(friction=0.3, restitution=0.2, ground=(0, 0, -1.0))
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    again, given = vi.load_mechanism(tmp_path / "m.json").forces[0], mechanism.forces[0]
    assert np.array_equal(again.points, given.points)
    assert np.array_equal(again.ground, given.ground)
    assert (again.friction, again.restitution, again.radius) == (0.3, 0.2, 0.0)
