"""Hard stops: bouncing with restitution, resting, and the soft form's limit."""

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

GRAVITY = 9.81


def ball(restitution, height=1.0):
    """A box on a vertical slide, ``height`` above its stop."""
    box = vi.Body.box("box", (0.2, 0.2, 0.2), 1.0, position=(0, 0, height))
    slide = vi.Prismatic("slide", "world", "box", point=(0, 0, height), axis=(0, 0, 1))
    stop = vi.JointStop("floor", joint="slide", lower=-height, restitution=restitution)
    return vi.Mechanism("ball", [box], [slide], forces=[stop])


def pendulum(angle=1.0, **stop):
    """A link that swings from ``angle`` against a stop."""
    plain = vi.mechanisms.n_pendulum(n=1, angle=angle)
    return vi.Mechanism("pendulum", plain.bodies, plain.joints, forces=[vi.JointStop("stop", joint="joint 1", **stop)])


def test_elastic_ball_keeps_its_energy_over_a_hundred_impacts():
    for dt in (0.01, 0.005):
        run = vi.simulate(ball(1.0), 100.0, dt)
        v = run.velocity[:, 0, 2]
        assert np.count_nonzero((v[:-1] < 0) & (v[1:] > 0)) > 100
        assert np.abs(run.energy - run.energy[0]).max() < 1e-10
        assert run.coordinates["slide"].min() >= -1.0 - 1e-10


def test_ball_follows_the_geometric_decay():
    e, fall = 0.5, np.sqrt(2 / GRAVITY)
    run = vi.simulate(ball(e), 3.0, 0.001)
    height = run.coordinates["slide"] + 1.0
    for bounce in range(1, 6):
        # the ball is in the air for 2 e^k t after its k-th impact
        top = fall * (1 + sum(2 * e**k for k in range(1, bounce)) + e**bounce)
        assert np.interp(top, run.t, height) == pytest.approx(e ** (2 * bounce), abs=2e-6)
    rest = run.t > fall * (1 + 2 * e / (1 - e)) + 0.01
    assert np.abs(height[rest]).max() < 1e-10
    assert np.abs(run.velocity[rest]).max() < 1e-10
    assert run.dissipated["floor"][-1] == pytest.approx(GRAVITY, rel=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-9


def test_rod_on_a_hard_stop_keeps_its_energy_to_the_order_of_the_step():
    errors = []
    for dt in (0.02, 0.01):
        run = vi.simulate(pendulum(lower=-1.0, restitution=1.0), 120.0, dt)
        assert run.substeps > 100  # one for each impact
        assert run.coordinates["joint 1"].min() > -1.0 - 1e-9
        errors.append(np.abs(run.energy - run.energy[0]).max())
    assert errors[1] < 2e-3
    assert 3 < errors[0] / errors[1] < 6  # about 4: by where in the steps the impacts fall


def test_soft_stop_converges_to_the_hard_one():
    hard = vi.simulate(pendulum(lower=-1.2, restitution=1.0), 1.2, 0.0005).coordinates["joint 1"]
    off = [
        np.abs(vi.simulate(pendulum(lower=-1.2, stiffness=k), 1.2, 0.0005).coordinates["joint 1"] - hard).max()
        for k in (1e2, 1e4, 1e6)
    ]
    # the soft one is late by half a period of its spring, as k^-1/2
    assert off[0] > 5 * off[1] > 25 * off[2]
    assert off[2] < 0.02


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_chain_with_many_stops(restitution):
    chain = vi.mechanisms.n_pendulum(n=8, angle=1.5)
    stops = [
        vi.JointStop(f"stop {joint.name}", joint=joint.name, lower=-0.5, upper=0.5, restitution=restitution)
        for joint in chain.joints[1:]
    ]
    mechanism = vi.Mechanism("chain", chain.bodies, chain.joints, forces=stops)
    balances = []
    for dt in (0.01, 0.0025):
        run = vi.simulate(mechanism, 3.0, dt)
        angles = np.array([run.coordinates[joint.name] for joint in chain.joints[1:]])
        assert np.abs(angles).max() < 0.5 + 1e-4
        assert run.drift.max() < 1e-10
        assert run.energy[-1] < run.energy[0] - 1.0
        balances.append(np.abs(run.energy_balance).max())
    assert balances[1] < 0.2 * balances[0]


def test_stop_in_a_loop():
    plain = vi.mechanisms.four_bar()
    stop = vi.JointStop("stop", joint="rocker pivot", upper=0.3, restitution=1.0)
    mechanism = vi.Mechanism("four-bar", plain.bodies, plain.joints, forces=[stop], start=dict(plain.start))
    run = vi.simulate(mechanism, 5.0, 0.005)
    assert run.coordinates["rocker pivot"].max() < 0.3 + 1e-9
    assert run.substeps > 5
    assert np.abs(run.energy - run.energy[0]).max() < 5e-3 * run.kinetic.max()


@pytest.mark.slow
def test_run_that_rests_goes_on_to_the_same_bits(tmp_path):
    whole = vi.simulate(ball(0.3), 3.0, 0.01)
    vi.simulate(ball(0.3), 2.0, 0.01, output=tmp_path / "run.h5")
    joined = vi.simulate(ball(0.3), 3.0, 0.01, output=tmp_path / "run.h5", resume=True)
    assert np.array_equal(whole.position, joined.position)
    assert np.array_equal(whole.work, joined.work)


# tethers


def tethered(restitution, end=(0, 0, 0), lower=0.0):
    """A box on a tether of 1 m from the origin, fixed to its point ``end`` (from the centre), hanging below."""
    box = vi.Body.box("box", (0.1, 0.2, 0.3), 1.0, position=(0, 0, -0.9))
    fixed = np.array([0, 0, -0.9]) + end
    tether = vi.LengthStop(
        "tether", "world", "box", point_a=(0, 0, 0), point_b=fixed, upper=1.0, lower=lower, restitution=restitution
    )
    return vi.Mechanism("tethered", [box], [vi.Free("free", "world", "box")], forces=[tether])


def length(run, end=(0, 0, 0)):
    return np.linalg.norm(run.position[:, 0] + rotation_matrix(run.quat_wxyz[:, 0]) @ np.asarray(end, float), axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("end", "bound"), [((0, 0, 0), 1e-9), ((0.02, 0.03, 0.15), 1e-7)])
def test_elastic_tether_keeps_its_energy_over_a_hundred_impacts(end, bound):
    """Fixed at the centre of mass or off it, where it sets the box spinning; a flight is exact but for the spin."""
    mechanism = tethered(1.0, end)
    thrown = mechanism.state(velocity={"box": (0.7, 0.4, 0)}, position={"box": (0, 0, -0.5)})
    run = vi.simulate(mechanism, 100.0, 0.01, state=thrown)
    assert run.substeps > 100  # one for each impact
    assert length(run, end).max() < 1 + 1e-9
    assert np.abs(run.energy - run.energy[0]).max() < bound


def test_inelastic_tether_stays_taut_until_it_would_push():
    """From the bottom with v^2 = 3.5 g L it leaves its circle at L / 2 above the centre."""
    mechanism = tethered(0.0)
    start = {"position": {"box": (0, 0, -1)}, "velocity": {"box": (np.sqrt(3.5 * GRAVITY), 0, 0)}}
    for dt in (0.004, 0.001):
        run = vi.simulate(mechanism, 2.0, dt, state=mechanism.state(**start))
        slack = np.flatnonzero(length(run) < 1 - 1e-9)[0]
        assert run.position[slack, 0, 2] == pytest.approx(0.5, abs=6 * dt)
        assert np.abs(length(run)[:slack] - 1).max() < 1e-9
        assert np.abs(run.energy[: slack + 1] - run.energy[0]).max() < 100 * dt**2
        again = slack + np.flatnonzero(np.abs(length(run)[slack:] - 1) < 1e-9)[0]
        loss = np.diff(run.dissipated["tether"])
        assert loss[again - 1] > 0.1 * run.kinetic[slack]
        assert np.abs(run.energy_balance).max() < 100 * dt**2


def test_tether_between_bodies_that_move_keeps_momentum():
    """Two boxes that fly apart at 2 m/s: with e = 1/2 they come together at 1 m/s. Both impacts are at nodes."""
    bodies = [vi.Body.box(name, (0.2, 0.2, 0.2), m, position=(x, 0, 0)) for name, m, x in (("a", 1, 0), ("b", 3, 1))]
    joints = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    ends = {"point_a": (0, 0, 0), "point_b": (1, 0, 0)}
    tether = vi.LengthStop("tether", "a", "b", **ends, lower=0.5, upper=1.5, restitution=0.5)
    mechanism = vi.Mechanism("pair", bodies, joints, forces=[tether], gravity=(0, 0, 0))
    run = vi.simulate(mechanism, 3.0, 0.01, state=mechanism.state(velocity={"b": (2, 0, 0)}))
    apart = run.velocity[:, 1, 0] - run.velocity[:, 0, 0]
    assert apart[run.t > 0.26][0] == pytest.approx(-1.0, abs=1e-9)
    assert apart[run.t > 1.26][0] == pytest.approx(0.5, abs=1e-9)  # at 0.5 m
    assert np.abs(run.linear_momentum - run.linear_momentum[0]).max() < 1e-12
    assert np.abs(run.energy_balance).max() < 1e-12


def test_bodies_on_a_row_of_tethers():
    """Three boxes that fall, each on a tether from the one before: closures of one cluster, impacts together."""
    names = ["world", "a", "b", "c"]
    bodies = [vi.Body.box(name, (0.1,) * 3, 1.0, position=(0.5 * i, 0, 0)) for i, name in enumerate("abc")]
    points = [(0, 0, 0.3), *(body.position for body in bodies)]
    tethers = [
        vi.LengthStop(
            names[i + 1], names[i], names[i + 1], point_a=points[i], point_b=points[i + 1], upper=0.7, restitution=0.7
        )
        for i in range(3)
    ]
    joints = [vi.Free(f"free {name}", "world", name) for name in "abc"]
    mechanism = vi.Mechanism("row", bodies, joints, forces=tethers)
    balances = []
    for dt in (0.005, 0.0025):
        run = vi.simulate(mechanism, 5.0, dt)
        assert run.substeps > 30
        assert np.linalg.norm(np.diff(run.position, axis=1), axis=2).max() < 0.7 + 1e-9
        balances.append(np.abs(run.energy_balance).max())
    assert balances[1] < 0.5 * balances[0] < 1e-3 * run.kinetic.max()


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_what_lies_on_a_stop_stays_there(restitution):
    mechanism = ball(restitution)
    run = vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(coordinates={"slide": -1.0}))
    assert np.abs(run.coordinates["slide"] + 1.0).max() < 1e-10
    assert np.abs(run.velocity).max() < 1e-10


def test_bad_tethers():
    ends = {"point_a": (0, 0, 0), "point_b": (0, 0, -1)}
    wrong = {
        "restitution of lengthstop 't' must be at most 1": {"upper": 1.0, "restitution": 1.5},
        "lower of lengthstop 't' must be from 0 to below upper": {"upper": 1.0, "lower": -0.5},
        "upper of lengthstop 't' must be finite": {"upper": np.nan},
        "lengthstop 't' is hard, .* not both": {"upper": 1.0, "damping": 1.0},
    }
    for message, arguments in wrong.items():
        with pytest.raises(vi.MechanismError, match=message):
            vi.LengthStop("t", "world", "box", **ends, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"upper": 1.0, "restitution": 1.5}, "restitution of jointstop 'stop' must be at most 1"),
        ({"upper": 1.0, "restitution": -0.1}, "restitution of jointstop 'stop'"),
        ({"upper": 1.0, "restitution": 0.5, "stiffness": 10.0}, "not both"),
        ({"upper": 1.0, "damping": 0.5}, "not both"),
    ],
)
def test_bad_stops(arguments, message):
    with pytest.raises(vi.MechanismError, match=message):
        pendulum(**arguments)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_many_rebounds_in_one_step_lose_nothing(simulate):
    """A light block between a wall and a heavy one that comes nearer: the lighter it is the more often it rebounds."""
    light, heavy = 0.01, 1.0
    places = {"light": (light, 0.0), "heavy": (heavy, 1.0)}
    bodies = [vi.Body(name, mass=m, inertia=np.eye(3), position=(x, 0, 0)) for name, (m, x) in places.items()]
    joints = [vi.Prismatic(name, "world", name, point=(0, 0, 0), axis=(1, 0, 0)) for name in places]
    wall = vi.JointStop("wall", joint="light", lower=0.0, restitution=1.0)
    points = {"point_a": (0, 0, 0), "point_b": (1, 0, 0)}
    between = vi.LengthStop("between", "light", "heavy", **points, lower=0.5, restitution=1.0)
    mechanism = vi.Mechanism("blocks", bodies, joints, forces=[wall, between], gravity=(0, 0, 0))
    state = mechanism.state(coordinates={"light": 1e-3, "heavy": -0.497}, rates={"heavy": -1.0})
    run = simulate(mechanism, 0.03, 0.01, state=state)
    speed = run.velocity[-1, :, 0]
    assert 0.5 * (light * speed[0] ** 2 + heavy * speed[1] ** 2) == pytest.approx(0.5 * heavy, rel=1e-9)
    assert speed[1] == pytest.approx(1.0, abs=0.05)  # all has come back
    assert abs(speed[0]) < speed[1]


def test_two_stops_at_one_place_are_refused():
    plain = vi.mechanisms.n_pendulum(n=1)
    stops = [vi.JointStop(name, joint="joint 1", lower=-1.0, upper=upper) for name, upper in (("a", 1.0), ("b", 2.0))]
    with pytest.raises(vi.MechanismError, match=r"jointstop 'b'.* has the limit -1 of jointstop 'a'.*Leave out one"):
        vi.Mechanism("twice", plain.bodies, plain.joints, forces=stops)
