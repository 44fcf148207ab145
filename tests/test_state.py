"""States: on the joints, and with the coordinates, rates, poses and velocities that were asked for."""

from dataclasses import replace

import numpy as np
import pytest
from poses import measured, measured_rates, pose_of, reachable, rows_at
from random_mechanisms import random_tree
from scipy.spatial.transform import Rotation

import varint as vi
from varint.model.joints import REGISTRY

TREES = ("double_pendulum", "n_pendulum", "snake", "spinning_top", "tree")
every_tree = pytest.mark.parametrize("name", TREES)


def build(name, **parameters):
    return getattr(vi.mechanisms, name)(**parameters)


def assert_consistent(mechanism, state):
    """On every joint, the right way round, with velocities that keep it there."""
    x, R = pose_of(state)
    g, G = rows_at(mechanism, x, R)
    size = max(1.0, np.abs(x).max())
    assert np.abs(g).max(initial=0.0) < 1e-11 * size
    for joint in mechanism.joints:
        assert reachable(mechanism, joint.name, x, R)
    velocity = np.hstack([state.velocity, state.angular_velocity])
    speed = max(1.0, np.abs(velocity).max())
    assert np.abs(np.einsum("rnk,nk->r", G, velocity)).max(initial=0.0) < 1e-10 * size * speed
    np.testing.assert_allclose(np.linalg.norm(state.quat_wxyz, axis=1), 1.0, atol=1e-14)
    for array in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity):
        assert not array.flags.writeable


def assert_has(mechanism, state, coordinates, rates):
    x, R = pose_of(state)
    for name, q in coordinates.items():
        np.testing.assert_allclose(measured(mechanism, name, x, R), np.atleast_1d(q), atol=1e-10)
    for name, rate in rates.items():
        np.testing.assert_allclose(measured_rates(mechanism, name, state), np.atleast_1d(rate), atol=1e-6)


def random_motion(rng, mechanism, reach=0.8):
    """Coordinates and rates of all joints."""
    coordinates = {joint.name: rng.uniform(-reach, reach, joint.dof) for joint in mechanism.joints}
    for joint in mechanism.joints:
        if isinstance(joint, vi.SplineCurve):  # a round starts at zero
            coordinates[joint.name] = abs(coordinates[joint.name])
    return coordinates, {joint.name: rng.standard_normal(joint.dof) for joint in mechanism.joints}


# ----------------------------------------------------------------------------------------------- trees


@every_tree
def test_reference_at_rest(name):
    mechanism = replace(build(name), start={})
    state = mechanism.state()
    assert_consistent(mechanism, state)
    np.testing.assert_allclose(state.position, [body.position for body in mechanism.bodies], atol=1e-15)
    for found, body in zip(state.quat_wxyz, mechanism.bodies, strict=True):
        assert abs(found @ body.quat_wxyz) == pytest.approx(1, abs=1e-14)
    assert not state.velocity.any()
    assert not state.angular_velocity.any()


@every_tree
def test_tree_at_coordinates_and_rates(name, rng):
    mechanism = build(name)
    for _ in range(3):
        coordinates, rates = random_motion(rng, mechanism)
        state = mechanism.state(coordinates=coordinates, rates=rates)
        assert_consistent(mechanism, state)
        assert_has(mechanism, state, coordinates, rates)


@pytest.mark.many
@pytest.mark.parametrize("kind", sorted(REGISTRY))
@pytest.mark.parametrize("floating", [False, True], ids=["hung", "floating"])
def test_trees_with_any_joint(kind, floating, rng):
    mechanism = random_tree(rng, 4, kinds=(kind,), floating=floating)
    coordinates, rates = random_motion(rng, mechanism)
    state = mechanism.state(coordinates=coordinates, rates=rates)
    assert_consistent(mechanism, state)
    assert_has(mechanism, state, coordinates, rates)


def test_joints_not_named_keep_their_coordinates_and_rest():
    mechanism = build("n_pendulum", n=4)
    state = mechanism.state(coordinates={"joint 2": 2.5}, rates={"joint 2": 3.0})
    zero = {f"joint {i}": 0.0 for i in (1, 3, 4)}
    assert_consistent(mechanism, state)
    assert_has(mechanism, state, zero | {"joint 2": 2.5}, zero | {"joint 2": 3.0})


def test_the_start_gives_way_to_arguments():
    mechanism = build("snake", n=3)
    assert mechanism.state().velocity.any()
    assert not mechanism.state(coordinates={"joint 1": (0.1, 0.2)}).velocity.any()


@every_tree
def test_a_pose_asked_for_is_held(name, rng):
    """Ask for the pose of one body in a state known to be possible: whole, place only, orientation only."""
    mechanism = build(name)
    goal = mechanism.state(coordinates=random_motion(rng, mechanism, reach=0.4)[0])
    body = mechanism.bodies[-1].name
    position, quat_wxyz = {body: goal.position[-1]}, {body: goal.quat_wxyz[-1]}
    for given in ({"position": position, "quat_wxyz": quat_wxyz}, {"position": position}, {"quat_wxyz": quat_wxyz}):
        state = mechanism.state(**given)
        assert_consistent(mechanism, state)
        if "position" in given:
            np.testing.assert_allclose(state.position[-1], position[body], atol=1e-6)
        if "quat_wxyz" in given:
            assert abs(state.quat_wxyz[-1] @ quat_wxyz[body]) == pytest.approx(1, abs=1e-10)


@every_tree
def test_a_velocity_asked_for_is_held(name, rng):
    mechanism = build(name)
    coordinates, rates = random_motion(rng, mechanism)
    goal = mechanism.state(coordinates=coordinates, rates=rates)
    body = mechanism.bodies[-1].name
    velocity, angular_velocity = {body: goal.velocity[-1]}, {body: goal.angular_velocity[-1]}
    for given in (
        {"velocity": velocity, "angular_velocity": angular_velocity},
        {"velocity": velocity},
        {"angular_velocity": angular_velocity},
    ):
        state = mechanism.state(coordinates=coordinates, **given)
        assert_consistent(mechanism, state)
        assert_has(mechanism, state, coordinates, {})
        if "velocity" in given:
            np.testing.assert_allclose(state.velocity[-1], velocity[body], atol=1e-6)
        if "angular_velocity" in given:
            np.testing.assert_allclose(state.angular_velocity[-1], angular_velocity[body], atol=1e-6)


def test_the_velocities_of_all_bodies_come_back(rng):
    mechanism = build("tree")
    coordinates, rates = random_motion(rng, mechanism)
    goal = mechanism.state(coordinates=coordinates, rates=rates)
    names = [body.name for body in mechanism.bodies]
    state = mechanism.state(
        position=dict(zip(names, goal.position, strict=True)),
        quat_wxyz=dict(zip(names, goal.quat_wxyz, strict=True)),
        velocity=dict(zip(names, goal.velocity, strict=True)),
        angular_velocity=dict(zip(names, goal.angular_velocity, strict=True)),
    )
    for field in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(state, field), getattr(goal, field), atol=1e-9)


def test_a_free_body_is_put_anywhere(rng):
    mechanism = build("free_body")
    turn = Rotation.random(random_state=1).as_quat(scalar_first=True)
    given = [{"box": value} for value in ((3, -2, 1), turn, (1, 2, 3), (4, 5, 6))]
    keys = ("position", "quat_wxyz", "velocity", "angular_velocity")
    state = mechanism.state(**dict(zip(keys, given, strict=True)))
    np.testing.assert_allclose(state.position[0], (3, -2, 1), rtol=1e-15)
    assert abs(state.quat_wxyz[0] @ turn) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(state.velocity[0], (1, 2, 3), rtol=1e-14)
    np.testing.assert_allclose(state.angular_velocity[0], (4, 5, 6), rtol=1e-14)


# ----------------------------------------------------------------------------------------------- loops

LOOPS = [
    ("four_bar", {}, {"crank pivot": 2.5}, {"crank pivot": -3.0}),
    ("four_bar", {}, {"rocker pivot": 0.2}, {"rocker pivot": 0.7}),
    ("slider_crank", {}, {"slide": 0.9}, {"slide": 0.5}),
    ("slider_crank", {}, {"crank pivot": -3.0}, {"wrist pin": 0.5}),
    ("three_link_loop", {}, {"joint 1": 0.4}, {"joint 4": 1.0}),
    ("three_link_loop", {"joint": "spherical"}, {"joint 1": (0.3, 0.2, -0.4)}, {"joint 1": (1.0, 2.0, 3.0)}),
    ("rhombus_chain", {"m": 1}, {"top left 1": 0.5, "top right 1": -0.2}, {"top left 1": 1.0, "right 1": -2.0}),
    (
        "rhombus_chain",
        {"m": 3},
        {"top left 1": 0.4, "top right 1": 0.1, "bottom 2": 0.3, "top left 3": -0.5},
        {"top left 1": 0.4, "top right 1": 0.1, "bottom 2": 0.3, "top left 3": -0.5},
    ),
]


@pytest.mark.parametrize(("name", "parameters", "coordinates", "rates"), LOOPS)
def test_loops_at_coordinates_and_rates(name, parameters, coordinates, rates):
    mechanism = build(name, **parameters)
    state = mechanism.state(coordinates=coordinates, rates=rates)
    assert_consistent(mechanism, state)
    assert_has(mechanism, state, coordinates, rates)
    still = mechanism.state(coordinates=coordinates)
    assert not still.velocity.any()
    np.testing.assert_array_equal(still.position, state.position)


@pytest.mark.parametrize(("name", "parameters", "coordinates", "rates"), LOOPS)
def test_loops_hold_a_body(name, parameters, coordinates, rates):
    mechanism = build(name, **parameters)
    goal = mechanism.state(coordinates=coordinates, rates=rates)
    body = mechanism.bodies[0].name
    state = mechanism.state(position={body: goal.position[0]}, quat_wxyz={body: goal.quat_wxyz[0]})
    assert_consistent(mechanism, state)
    np.testing.assert_allclose(state.position[0], goal.position[0], atol=1e-6)
    assert abs(state.quat_wxyz[0] @ goal.quat_wxyz[0]) == pytest.approx(1, abs=1e-10)
    moving = mechanism.state(coordinates=coordinates, angular_velocity={body: goal.angular_velocity[0]})
    assert_consistent(mechanism, moving)
    np.testing.assert_allclose(moving.angular_velocity[0], goal.angular_velocity[0], atol=1e-6)


def test_a_loop_is_driven_all_round_on_its_branch():
    """A crank-rocker comes back to where it was: the drive does not jump to the crossed branch."""
    mechanism = build("four_bar")
    there, back = (mechanism.state(coordinates={"crank pivot": q}) for q in (-np.pi, np.pi))
    np.testing.assert_allclose(there.position, back.position, atol=1e-10)


def test_a_mechanism_in_several_groups(rng):
    """Two chains that float apart from each other and one that hangs."""
    parts = [build("snake", n=3), build("n_pendulum", n=2)]
    bodies, joints = [], []
    for prefix in ("a", "b"):
        bodies += [replace(body, name=f"{prefix} {body.name}") for body in parts[0].bodies]
        joints += [
            replace(j, name=f"{prefix} {j.name}", body_a=f"{prefix} {j.body_a}", body_b=f"{prefix} {j.body_b}")
            for j in parts[0].joints
        ]
    mechanism = vi.Mechanism("groups", [*bodies, *parts[1].bodies], [*joints, *parts[1].joints])
    coordinates, rates = random_motion(rng, mechanism)
    state = mechanism.state(coordinates=coordinates, rates=rates)
    assert_consistent(mechanism, state)
    assert_has(mechanism, state, coordinates, rates)


def test_points_of_bodies_move_as_their_paths():
    mechanism = vi.mechanisms.four_bar()
    run, place = vi.simulate(mechanism, 0.05, 0.01), np.array([0.3, 0.1, -0.2])
    body, number = mechanism.body("coupler"), mechanism.body_index["coupler"]
    reference = vi.State(body.position[None], body.quat_wxyz[None], *np.zeros((2, 1, 3)))
    path = run.path("coupler", reference.point(0, place))
    for k in range(6):
        state = run.state(k)
        assert np.allclose(state.point(number, place), path.position[k], atol=1e-14)
        assert np.allclose(state.point_velocity(number, place), path.velocity[k], atol=1e-13)
    assert np.array_equal(state.point(number), state.position[number])
    seen = reference.point(0, place)
    assert np.array_equal(run.point("coupler", seen), path.position)
    assert np.allclose(mechanism.point(state, "coupler", seen), path.position[5], atol=1e-14)
    assert np.array_equal(mechanism.point(state, "coupler"), run.point("coupler")[5])
    with pytest.raises(vi.MechanismError, match="'couplr', did you mean 'coupler'"):
        mechanism.point(state, "couplr")
    with pytest.raises(vi.ArgumentError, match="point of body 'coupler'"):
        mechanism.point(state, "coupler", (0.0, 1.0))
    with pytest.raises(vi.StateError, match="state"):
        mechanism.point(reference, "coupler", seen)
    for wrong, message in (("coupler", "mechanism.body_index"), (3, "up to 2"), (-1, "from 0"), (True, "whole")):
        with pytest.raises(vi.StateError, match=message):
            state.point(wrong)
    with pytest.raises(vi.StateError, match="place of a point"):
        state.point_velocity(number, (0.0, 1.0))


def test_the_state_of_the_start_is_made_once_and_each_has_arrays_of_its_own(monkeypatch):
    mech = vi.mechanisms.four_bar()
    first = mech.state()

    def remade(*given, **named):
        raise AssertionError("the state is made anew")

    monkeypatch.setattr("varint.mechanism.mechanism.make_state", remade)
    kept = first.position.copy()
    motion = (first.position, first.quat_wxyz, first.velocity, first.angular_velocity)
    for values in (*motion, *first.turns.values()):
        if values.flags.writeable:
            values[:] = np.nan
    again = mech.state()
    assert np.array_equal(again.position, kept)
    assert all(np.isfinite(values).all() for values in again.turns.values())
    assert mech.state(beyond_stops="come back").beyond_stops == "come back"
    with pytest.raises(AssertionError, match="made anew"):
        mech.replace(gravity=(0, 0, -1)).state()
