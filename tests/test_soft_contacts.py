"""Soft contacts with planes and between balls: blocks that slide, balls that bounce and roll."""

import numpy as np
import pytest
from floating_bodies import floating
from scipy.optimize import brentq

import varint as vi

# contact


def test_block_slides_to_rest_where_friction_stops_it():
    """x = v^2 / (2 mu g), and the block sinks by m g / (4 k)."""
    corners = [(1 + x, y, -0.15) for x in (-0.05, 0.05) for y in (-0.1, 0.1)]
    contacts = [
        vi.GroundContact(f"c{k}", "m", point=corner, ground=(0, 0, -0.15), stiffness=2e5, damping=200.0, friction=0.3)
        for k, corner in enumerate(corners)
    ]
    mechanism = floating(*contacts, gravity=(0, 0, -9.81))
    run = vi.simulate(mechanism, 0.6, 1e-3, state=mechanism.state(velocity={"m": (1, 0, 0)}))
    assert abs(run.position[-1, 0, 0] - 1 - 1 / (2 * 0.3 * 9.81)) < 2e-3
    assert abs(run.velocity[-1, 0, 0]) < 1e-3
    assert np.isclose(run.position[-1, 0, 2], -2 * 9.81 / (4 * 2e5), rtol=1e-2)
    assert sum(run.dissipated[force.name][-1] for force in contacts) == pytest.approx(1.0, rel=1e-2)


@pytest.mark.slow
def test_ball_bounces_without_loss():
    drop = vi.Body.sphere("m", 0.1, 1.0, position=(0, 0, 0.5))
    contact = vi.GroundContact("c", "m", point=(0, 0, 0.4), stiffness=1e4)
    mechanism = floating(contact, bodies=[drop], gravity=(0, 0, -9.81))
    run = vi.simulate(mechanism, 5.0, 2e-4)
    after = run.position[run.t > 4, 0, 2].max()
    assert abs(after - 0.5) < 2e-3


def rebound(u, damping):
    """The speed after a hit at ``u`` by the law of Hunt and Crossley: d (u + w) = log((1 + d u) / (1 - d w))."""
    return brentq(lambda w: damping * (u + w) - np.log((1 + damping * u) / (1 - damping * w)), 0.0, u)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("u", [0.5, 2.0])
def test_rebound_in_closed_form(u, exponent):
    """No stiffness, mass or exponent in it: of low speeds u, 1 - 2 d u / 3 is left."""
    given = {"law": "hunt-crossley", "stiffness": 1e5, "damping": 0.4, "exponent": exponent}
    plane = floating(
        vi.GroundContact("c", "m", radius=0.1, **given), bodies=[vi.Body.sphere("m", 0.1, 1.0, position=(0, 0, 0.15))],
        gravity=(0, 0, 0),
    )  # fmt: skip
    run = vi.simulate(plane, 0.4, 5e-5, state=plane.state(velocity={"m": (0, 0, -u)}))
    assert run.velocity[-1, 0, 2] == pytest.approx(rebound(u, 0.4), rel=1e-4)
    lost = 0.5 * (u**2 - rebound(u, 0.4) ** 2)
    assert run.dissipated["c"][-1] == pytest.approx(lost, rel=1e-3)


def test_two_balls_hit_each_other():
    """One of 1 kg at rest, one of 3 kg, off the line of centres: momentum stays, what is along the line rebounds."""
    balls = [vi.Body.sphere("a", 0.1, 1.0), vi.Body.sphere("b", 0.2, 3.0, position=(-0.3, 0.1, 0.0))]
    joints = [vi.Free(name, "world", name) for name in "ab"]
    given = {"law": "hunt-crossley", "stiffness": 1e9, "damping": 0.3}
    contact = vi.SphereContact("c", "a", "b", radius_a=0.1, radius_b=0.2, **given)
    mechanism = vi.Mechanism("balls", balls, joints, gravity=(0, 0, 0), forces=[contact])
    run = vi.simulate(mechanism, 0.02, 5e-6, state=mechanism.state(velocity={"b": (2.0, 0, 0)}))
    change = run.velocity[-1] - run.velocity[0]
    normal = change[0] / np.linalg.norm(change[0])
    assert np.array([1.0, 3.0]) @ run.velocity[-1] == pytest.approx([6.0, 0, 0], abs=1e-12)
    assert normal == pytest.approx([np.sqrt(8) / 3, -1 / 3, 0], abs=2e-3)  # of the line of centres at the hit
    before, after = (normal @ (run.velocity[k, 1] - run.velocity[k, 0]) for k in (0, -1))
    assert -after == pytest.approx(rebound(before, 0.3), rel=1e-3)


def test_a_glancing_hit_with_friction():
    """While they slide, the impulse of friction is mu times that along the line of centres."""
    balls = [vi.Body.sphere("a", 0.1, 1.0), vi.Body.sphere("b", 0.2, 3.0, position=(-0.301, 0, 0))]
    given = {"law": "hunt-crossley", "stiffness": 1e9, "damping": 0.3, "friction": 0.2, "smoothing": 1e-3}
    contact = vi.SphereContact("c", "a", "b", radius_a=0.1, radius_b=0.2, **given)
    joints = [vi.Free(name, "world", name) for name in "ab"]
    mechanism = vi.Mechanism("balls", balls, joints, gravity=(0, 0, 0), forces=[contact])
    start = mechanism.state(velocity={"b": (1.0, 0, 0)}, angular_velocity={"b": (0, 0, 20.0)})
    run = vi.simulate(mechanism, 0.002, 5e-7, state=start, every=10)
    impulse = run.velocity[-1, 0]  # of 1 kg
    spin = 0.2 * impulse[0] * np.array([0.1 / (0.4 * 0.1**2), 0.2 / (0.4 * 3.0 * 0.2**2)])
    assert impulse == pytest.approx([impulse[0], 0.2 * impulse[0], 0.0], rel=3e-3)
    assert run.angular_velocity[-1, :, 2] - [0, 20.0] == pytest.approx(-spin, rel=3e-3)
    assert np.abs(run.linear_momentum - run.linear_momentum[0]).max() < 1e-12
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("order", "dts"), [(2, (4e-3, 2e-3)), (4, (2e-2, 1e-2))])
def test_balls_that_rub_on_each_other_in_both_formulations(order, dts):
    """One of them hinged, the other on a spring; the error by the step is of the scheme's order."""
    balls = [vi.Body.sphere("a", 0.1, 1.0), vi.Body.sphere("b", 0.2, 3.0, position=(-0.2, 0.2, 0.05))]
    given = {"stiffness": 2e3, "damping": 2.0, "friction": 0.3, "smoothing": 2.0}
    contact = vi.SphereContact("c", "a", "b", radius_a=0.1, radius_b=0.2, **given)
    spring = vi.Spring("s", "a", "b", point_a=(0, 0, 0), point_b=(-0.2, 0.2, 0.05), stiffness=300.0, rest_length=0)
    joints = [
        vi.Free("free", "world", "a"),
        vi.Universal("hinge", "world", "b", point=(-0.2, 0.5, 0), axis=(1, 0, 0), axis_b=(0, 0, 1)),
    ]
    mechanism = vi.Mechanism("balls", balls, joints, forces=[contact, spring])
    start = mechanism.state(angular_velocity={"a": (9.0, 4.0, -6.0)}, rates={"hinge": (0.5, -0.3)})
    exact = vi.redmax.simulate(mechanism, 0.2, integrator="dop853", rtol=1e-12, atol=1e-12, state=start)
    runs = [vi.simulate(mechanism, 0.2, dt, state=start, order=order) for dt in dts]
    assert min(run.force["c"].min() for run in runs) > 1.0  # they never part
    errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("friction", [{"creep": 300.0}, {"smoothing": 1e-3}])
def test_backspin_ends_in_rolling(friction):
    """v = (5 v0 + 2 r w0) / 7, wherever friction is between sliding and rolling; w and v of opposite senses here."""
    r, v0, w0 = 0.05, 1.5, -2 * np.pi
    ball = vi.Body.sphere("m", r, 1.0, position=(0, 0, r - 9.81e-5))
    contact = vi.GroundContact("c", "m", radius=r, stiffness=1e5, damping=300.0, friction=0.3, **friction)
    mechanism = floating(contact, bodies=[ball], gravity=(0, 0, -9.81))
    start = mechanism.state(velocity={"m": (v0, 0, 0)}, angular_velocity={"m": (0, w0, 0)})
    run = vi.simulate(mechanism, 0.3, 2e-4, state=start)
    rolling = (5 * v0 + 2 * r * w0) / 7
    assert run.velocity[-1, 0] == pytest.approx([rolling, 0, 0], abs=1e-4)
    assert run.angular_velocity[-1, 0, 1] == pytest.approx(rolling / r, abs=2e-3)
    sliding = run.t < (v0 - r * w0) / (3.5 * 0.3 * 9.81) - 0.02
    assert run.velocity[sliding, 0, 0] == pytest.approx(v0 - 0.3 * 9.81 * run.t[sliding], abs=1e-5)


def test_corners_and_points_one_by_one_are_the_same():
    corners = np.array([(1 + x, y, -0.15) for x in (-0.05, 0.05) for y in (-0.1, 0.1)])
    given = {"ground": (0, 0, -0.15), "stiffness": 2e4, "damping": 200.0, "friction": 0.3}
    apart = [vi.GroundContact(f"c{k}", "m", point=corner, **given) for k, corner in enumerate(corners)]
    runs = []
    for forces in (apart, [vi.GroundContact("c", "m", points=corners, **given)]):
        mechanism = floating(*forces, gravity=(0, 0, -9.81))
        runs.append(vi.simulate(mechanism, 0.1, 1e-3, state=mechanism.state(velocity={"m": (1, 0.2, 0)})))
    assert np.array_equal(runs[0].position, runs[1].position)
    assert runs[1].force["c"] == pytest.approx(sum(runs[0].force[f"c{k}"] for k in range(4)), abs=1e-9)


@pytest.mark.slow
def test_a_law_of_the_user_presses():
    """The same as the linear one."""
    ball = vi.Body.sphere("m", 0.1, 1.0, position=(0, 0, 0.3))
    given = {"radius": 0.1, "friction": 0.2}
    runs = []
    for contact in (
        vi.UserContact("c", "m", law=linear_pressure, potential=linear_potential, **given),
        vi.GroundContact("c", "m", stiffness=1e4, **given),
    ):
        mechanism = floating(contact, bodies=[ball], gravity=(0, 0, -9.81))
        start = mechanism.state(velocity={"m": (1, 0, 0)}, angular_velocity={"m": (0, -3, 0)})
        runs.append(vi.simulate(mechanism, 0.5, 5e-4, state=start))
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-12)
    assert runs[0].potential == pytest.approx(runs[1].potential, abs=1e-9)


def linear_pressure(value, rate):
    return (-1e4 * value, -1e4, 0.0) if value < 0.0 else (0.0, 0.0, 0.0)


def linear_potential(value):
    return 0.5e4 * min(value, 0.0) ** 2
