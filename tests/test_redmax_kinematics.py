"""Reduced coordinates: motion subspaces, Jacobians and their rates against differences, states both ways."""

import numpy as np
import pytest
from random_mechanisms import random_joint, random_tree, random_velocity_state

import varint as vi
from varint.mathematics.rotation_vector import right_jacobian, right_jacobian_along, right_jacobian_twice
from varint.methods.reduced.charts import (
    LONGEST,
    ORDERS,
    determinant,
    euler_angles,
    euler_matrix,
    euler_subspace,
    shorten,
)
from varint.methods.reduced.equations import Equations
from varint.model.joints import REGISTRY
from varint.model.motion import joint_pose, motion_subspace

every_joint = pytest.mark.parametrize("kind", REGISTRY)


def derivative(function, x, h=1e-3):
    """Derivatives of ``function`` by each component of x in the last index: central differences of order six."""
    columns = []
    for e in np.eye(len(x)):
        ahead, back = ([function(x + sign * k * h * e) for k in (1, 2, 3)] for sign in (1, -1))
        columns.append(sum(c * (a - b) for c, a, b in zip((45, -9, 1), ahead, back, strict=True)) / (60 * h))
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(function(x)), 0))


def a_joint(rng, kind):
    return random_joint(rng, kind, "j", "world", "b", rng.standard_normal(3))


def twist_of(W):
    """(w, v) of a matrix in se(3), rows [[w], v]."""
    return np.array([W[2, 1], W[0, 2], W[1, 0], *W[:3, 3]])


# ---------------------------------------------------------------------------------------- joints


@every_joint
def test_motion_subspace(rng, kind):
    joint = a_joint(rng, kind)

    def pose(q):
        R, p = joint_pose(joint, q)
        return np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    for _ in range(5):
        q = 0.8 * rng.standard_normal(joint.dof)
        slopes = np.linalg.inv(pose(q)) @ np.moveaxis(derivative(pose, q), -1, 0)
        subspace = np.reshape([twist_of(slope) for slope in slopes], (-1, 6)).T
        assert motion_subspace(joint, q) == pytest.approx(subspace, abs=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-6, 0.3, 0.499, 0.501, 2.0, 4.5])
def test_rotation_vector(rng, size):
    r = rng.standard_normal(3)
    r *= size / np.linalg.norm(r)
    u, v, z = rng.standard_normal((3, 3))

    def S(r):
        out = np.empty((3, 3))
        right_jacobian(*r, out)
        return out

    once = (derivative(S, r) @ u) @ z
    twice = derivative(lambda r: np.array(right_jacobian_along(r, u, z)), r) @ v
    assert np.array(right_jacobian_along(r, u, z)) == pytest.approx(once, abs=1e-10)
    assert np.array(right_jacobian_twice(r, u, v, z)) == pytest.approx(twice, abs=1e-10)


def test_shorter_rotation_vector_is_the_same_motion(rng):
    mechanism = vi.Mechanism(
        "ball", [vi.Body.box("b", (1, 2, 3), 1.0)], [vi.Spherical("j", "world", "b", point=(1, 0, 0))]
    )
    equations = Equations(mechanism)
    for _ in range(10):
        q, rates = rng.standard_normal((2, 3))
        q *= rng.uniform(LONGEST, 6.0) / np.linalg.norm(q)
        motions = []
        for _ in range(2):
            acceleration = equations.acceleration(0.0, q, rates)
            body = np.concatenate([equations.twist[0], equations.work.acceleration[0]])
            motions.append(np.concatenate([equations.rotation[0].ravel(), body]))
            assert np.isfinite(acceleration).all()
            shorten(equations.tree.balls, q, rates)
        assert np.linalg.norm(q) <= np.pi
        assert motions[1] == pytest.approx(motions[0], abs=1e-11)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles(rng, order):
    for _ in range(10):
        angles = rng.uniform(-np.pi, np.pi, 3)
        R = euler_matrix(order, angles)
        again = euler_angles(order, R)
        assert euler_matrix(order, again) == pytest.approx(R, abs=1e-14)
        assert determinant(order, again) == pytest.approx(determinant(order, angles), abs=1e-14)
        slopes = R.T @ np.moveaxis(derivative(lambda a: euler_matrix(order, a), angles), -1, 0)
        subspace = euler_subspace(order, angles)
        assert pytest.approx(subspace, abs=1e-9) == np.array([(W[2, 1], W[0, 2], W[1, 0]) for W in slopes]).T
        assert abs(np.linalg.det(subspace)) == pytest.approx(determinant(order, angles), abs=1e-14)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["Spherical", "Free", "Rod"])
def test_charts_are_the_same_motion(rng, kind, order):
    """Bodies move alike in rotation vectors and in Euler angles."""
    for reverse in (False, True):
        ends = ("b0", "world") if reverse else ("world", "b0")
        mechanism = vi.Mechanism("one", random_tree(rng, 1).bodies, [random_joint(rng, kind, "j", *ends, np.ones(3))])
        plain, euler = Equations(mechanism), Equations(mechanism, chart=order)
        q, rates = rng.uniform(-1.4, 1.4, (2, plain.nq))
        motions = []
        for equations in (plain, euler):
            q, rates = equations.in_charts(q, rates)
            equations.acceleration(0.0, q, rates)
            body = equations.work.acceleration[equations.nodes.body_node[0]]
            motions.append(np.concatenate([equations.rotation[0].ravel(), equations.velocity[0], body]))
        assert motions[1] == pytest.approx(motions[0], abs=1e-10 * np.abs(motions[0]).max())


@pytest.mark.parametrize("order", ORDERS)
def test_orders_change_near_their_singularity(rng, order):
    mechanism = vi.Mechanism("ball", random_tree(rng, 1).bodies, [vi.Spherical("j", "world", "b0", point=(1, 0, 0))])
    equations = Equations(mechanism, chart=order)
    q, rates = rng.standard_normal((2, 3))
    q[1] = 0.1 if order[0] == order[2] else 1.4
    equations.acceleration(0.0, q, rates)
    motion = np.concatenate([equations.rotation[0].ravel(), equations.velocity[0], equations.work.acceleration[2]])
    assert equations.change_charts(q, rates)
    assert equations.tree.charts["j"] != order
    equations.acceleration(0.0, q, rates)
    again = np.concatenate([equations.rotation[0].ravel(), equations.velocity[0], equations.work.acceleration[2]])
    assert again == pytest.approx(motion, abs=1e-10 * np.abs(motion).max())
    assert not equations.change_charts(q, rates)


# ---------------------------------------------------------------------------------------- mechanisms


@every_joint
@pytest.mark.parametrize("reverse", [False, True])
def test_jacobians_of_a_chain(rng, kind, reverse):
    ends = [("world", "a"), ("a", "b"), ("b", "c")]
    ends = [pair[::-1] if reverse else pair for pair in ends]
    bodies = random_tree(rng, 3).bodies
    bodies = [
        vi.Body(name, mass=b.mass, inertia=b.inertia, position=b.position)
        for name, b in zip("abc", bodies, strict=True)
    ]
    joints = [random_joint(rng, kind, f"j{i}", *pair, bodies[i].position + 0.3) for i, pair in enumerate(ends)]
    check_jacobians(rng, Equations(vi.Mechanism("chain", bodies, joints)))


def test_jacobians_of_random_trees(rng):
    for _ in range(5):
        check_jacobians(rng, Equations(random_tree(rng, 8)))


def check_jacobians(rng, equations):
    q, qdot = 0.7 * rng.standard_normal((2, equations.nq))

    def at(q):
        equations.place(q)
        equations.move(q, qdot)
        return equations

    def poses(q):
        at(q)
        return np.concatenate([equations.position[:-1, :, None], equations.rotation[:-1]], axis=2).copy()

    if equations.nq:
        slopes, R = derivative(poses, q), at(q).rotation[:-1]
        turns = np.einsum("bji,bjkn->bikn", R, slopes[:, :, 1:])  # [w] in body axes
        J = np.concatenate(
            [slopes[:, :, 0], np.stack([turns[:, 2, 1], turns[:, 0, 2], turns[:, 1, 0]], axis=1)], axis=1
        )
        assert at(q).jacobian() == pytest.approx(J.reshape(-1, equations.nq), abs=1e-9)
    rate = derivative(lambda t: at(q + t * qdot).jacobian(), np.zeros(1))[..., 0]
    at(q)
    assert equations.jacobian_rate() == pytest.approx(rate, abs=1e-8)
    assert equations.velocity.ravel() == pytest.approx(equations.jacobian() @ qdot, abs=1e-12)


def test_product_with_the_transpose(rng):
    equations = Equations(random_tree(rng, 8))
    q, qdot = 0.7 * rng.standard_normal((2, equations.nq))
    equations.place(q)
    equations.move(q, qdot)
    load = rng.standard_normal((equations.nb, 6))
    assert equations.generalised(load) == pytest.approx(equations.jacobian().T @ load.ravel(), abs=1e-12)


# ---------------------------------------------------------------------------------------- states


@every_joint
@pytest.mark.parametrize("reverse", [False, True])
def test_states_both_ways(rng, kind, reverse):
    ends = ("b0", "world") if reverse else ("world", "b0")
    joint = random_joint(rng, kind, "j", *ends, rng.standard_normal(3))
    tree = random_tree(rng, 1)
    mechanism = vi.Mechanism("one", tree.bodies, [joint])
    for _ in range(5):
        q, qdot = rng.uniform(-1.4, 1.4, (2, joint.dof))
        if kind == "SplineCurve":
            q = abs(q)  # a round starts at zero
        state = vi.redmax.maximal_state(mechanism, vi.redmax.ReducedState(q, qdot))
        same = mechanism.state(coordinates={"j": q}, rates={"j": qdot})
        for name in ("position", "velocity", "angular_velocity"):
            assert getattr(state, name) == pytest.approx(getattr(same, name), abs=1e-12)
        assert abs(np.sum(state.quat_wxyz * same.quat_wxyz, axis=1)) == pytest.approx(np.ones(1), abs=1e-12)
        back = vi.redmax.reduced_state(mechanism, state)
        assert back.q == pytest.approx(q, abs=1e-12)
        assert back.qdot == pytest.approx(qdot, abs=1e-12)


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_states_of_the_catalogue_both_ways(name):
    mechanism = getattr(vi.mechanisms, name)()
    state = mechanism.state()
    back = vi.redmax.maximal_state(mechanism, vi.redmax.reduced_state(mechanism, state))
    for field in ("position", "velocity", "angular_velocity"):
        size = 1 + np.abs(getattr(state, field)).max()
        assert getattr(back, field) == pytest.approx(getattr(state, field), abs=1e-10 * size)


def test_angles_count_their_turns():
    mechanism = vi.mechanisms.double_pendulum()
    equations = Equations(mechanism)
    turned = np.array([[0.0, 0.3], [5.0, 9.0], [10.0, 18.0]])
    for q in turned:
        equations.place(q)
        position = equations.position.copy()
        equations.place(q + 2 * np.pi)
        assert equations.position == pytest.approx(position, abs=1e-12)
    state = vi.redmax.ReducedState(np.array([20.0, -15.0]), np.zeros(2))
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.05, state=state)
    joints = [joint.name for joint in mechanism.joints]
    assert [run.coordinates[name][0] for name in joints] == [20.0, -15.0]


def test_floating_base(rng):
    mechanism = random_tree(rng, 4, floating=True)
    state = random_velocity_state(rng, mechanism)
    reduced = vi.redmax.reduced_state(mechanism, state)
    back = vi.redmax.maximal_state(mechanism, reduced)
    assert back.position == pytest.approx(state.position, abs=1e-12)
    assert back.velocity == pytest.approx(state.velocity, abs=1e-11)


def test_wrong_states_are_refused():
    mechanism = vi.mechanisms.double_pendulum()
    with pytest.raises(vi.StateError, match="q of the reduced state"):
        vi.redmax.maximal_state(mechanism, vi.redmax.ReducedState(np.zeros(3), np.zeros(2)))
    with pytest.raises(vi.StateError, match="ReducedState"):
        vi.redmax.simulate(mechanism, 1.0, state=np.zeros(2))
