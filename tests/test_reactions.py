"""Reactions and accelerations: against dense solves, closed forms and differences of the motion; loads in run files."""

from functools import cache

import h5py
import numpy as np
import pytest
from holonomic import COUPLED, HOLONOMIC
from poses import moved, pose_of
from random_mechanisms import LOWER, random_body, random_closed, random_joint, random_tree, random_velocity_state
from reference import rows_and_derivatives

import varint as vi
from varint.kinematics.frames import JointFrames
from varint.model.joints import REGISTRY
from varint.model.rotation_vectors import rotation_matrix
from varint.results.reactions import accelerations_and_reactions
from varint.step.configuration import follow_products
from varint.step.nodes.reactions import quadratic_terms
from varint.step.rows import evaluate_rows
from varint.step.workspace import joint_workspace

GRAVITY = 9.81


def solved(mechanism, state, load):
    """Accelerations (nb, 6) and reactions (nj, 6) of one state."""
    arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    found = accelerations_and_reactions(mechanism, load[None], *(array[None] for array in arrays))
    return found[0][0], found[1][0]


def dense(mechanism, state, load):
    """The same by dense least squares of the smallest scaled multipliers, rows written anew in numpy."""
    compiled = mechanism.compiled
    plan, order, nb = compiled.plan, compiled.order, len(compiled.order)
    x, R = pose_of(state)
    v, w = state.velocity[order], state.angular_velocity[order]
    _, G, second = rows_and_derivatives(plan, x[order], R[order], v, w)
    M, f = np.zeros((6 * nb, 6 * nb)), load[order].copy()
    for i in range(nb):
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = plan.bodies.mass[i] * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = plan.bodies.inertia[i]
        f[i, :3] += plan.bodies.mass[i] * plan.bodies.gravity
        f[i, 3:] -= np.cross(w[i], plan.bodies.inertia[i] @ w[i])
    free = np.linalg.solve(M, f.ravel())
    scaled = plan.rows.scale[:, None] * G
    effect = scaled @ np.linalg.solve(M, scaled.T)
    multiplier = np.linalg.lstsq(effect, -plan.rows.scale * (second + G @ free), rcond=1e-10)[0]
    a = free + np.linalg.solve(M, scaled.T @ multiplier)
    reactions = np.zeros((len(mechanism.joints), 6))
    for k, j in enumerate(compiled.joints):
        if j < 0:
            continue
        frames = JointFrames(mechanism, mechanism.joints[j])
        point = x[frames.b] + R[frames.b] @ frames.origin_b
        body, sign = (frames.b, 1.0) if frames.b >= 0 else (frames.a, -1.0)
        slot, rows = compiled.slot[body], slice(plan.joints.rows[k], plan.joints.rows[k + 1])
        wrench = sign * scaled[rows, 6 * slot : 6 * slot + 6].T @ multiplier[rows]
        reactions[j] = *wrench[:3], *(R[body] @ wrench[3:] - np.cross(point - x[body], wrench[:3]))
    return a.reshape(nb, 6)[compiled.slot], reactions


def assert_balanced(mechanism, state, load, acceleration, reactions, tolerance):
    """Newton and Euler at each body, a joint's force and torque on one body taken with the opposite on the other."""
    x, R = pose_of(state)
    force, torque = np.zeros((2, len(x), 3))
    force[:-1] = load[:, :3] + [body.mass * mechanism.gravity for body in mechanism.bodies]
    torque[:-1] = np.einsum("nij,nj->ni", R[:-1], load[:, 3:])
    for joint, (F, T) in zip(mechanism.joints, reactions.reshape(-1, 2, 3), strict=True):
        frames = JointFrames(mechanism, joint)
        point = x[frames.b] + R[frames.b] @ frames.origin_b
        for body, sign in ((frames.b, 1.0), (frames.a, -1.0)):
            force[body] += sign * F
            torque[body] += sign * (T + np.cross(point - x[body], F))
    for i, body in enumerate(mechanism.bodies):
        w = state.angular_velocity[i]
        inertial = body.inertia @ acceleration[i, 3:] + np.cross(w, body.inertia @ w)
        np.testing.assert_allclose(force[i], body.mass * acceleration[i, :3], atol=tolerance)
        np.testing.assert_allclose(torque[i], R[i] @ inertial, atol=tolerance)


def check_against_dense(mechanism, state, rng):
    load = rng.standard_normal((len(mechanism.bodies), 6))
    acceleration, reactions = solved(mechanism, state, load)
    exact_acceleration, exact_reactions = dense(mechanism, state, load)
    size = 1.0 + np.abs(exact_reactions).max(initial=0.0)
    np.testing.assert_allclose(acceleration, exact_acceleration, atol=1e-9 * (1.0 + np.abs(exact_acceleration).max()))
    np.testing.assert_allclose(reactions, exact_reactions, atol=1e-9 * size)
    assert_balanced(mechanism, state, load, acceleration, reactions, 1e-9 * size)


# ------------------------------------------------------------------------------------ against a dense solve


@pytest.mark.parametrize("kind", sorted(REGISTRY))
def test_quadratic_terms_against_differences(kind, rng):
    for ends in (("world", "one"), ("one", "world"), ("one", "two")):
        bodies = [random_body(rng, name) for name in ("one", "two") if name in ends]
        mechanism = vi.Mechanism("pair", bodies, [random_joint(rng, kind, "joint", *ends, rng.standard_normal(3))])
        plan, order, n, h = mechanism.compiled.plan, mechanism.compiled.order, len(bodies), 1e-3
        x, R = pose_of(mechanism.state())
        if kind in LOWER:
            x, R = moved(x, R, *rng.standard_normal((2, n, 3)))  # off the joint as well
        v, w = rng.standard_normal((2, n, 3))
        with_world, ws = np.append(order, -1), joint_workspace(plan)
        follow_products(plan, ws, x[with_world], R[with_world])

        def rows(t, plan=plan, x=x, R=R, v=v, w=w, with_world=with_world, ws=ws):
            g, jacobian = np.zeros(plan.rows.role.size), np.zeros((plan.rows.role.size, 2, 6))
            pose = (np.ascontiguousarray(a[with_world]) for a in moved(x, R, t * v, t * w))
            evaluate_rows(plan, ws, *pose, g, jacobian)
            return g

        out, change = np.full(plan.rows.role.size, np.nan), np.empty((plan.rows.role.size, 2, 6))
        velocity, every = np.hstack([v, w])[order], np.arange(out.size)
        quadratic_terms(plan, ws, every, x[with_world], R[with_world], velocity, change, out)
        fourth = (-rows(2 * h) + 16 * rows(h) - 30 * rows(0) + 16 * rows(-h) - rows(-2 * h)) / (12 * h * h)
        np.testing.assert_allclose(out, fourth, atol=1e-7)


# what `check_against_dense` knows; reactions of products of exponentials: test_products.py
@pytest.mark.parametrize("name", [name for name in HOLONOMIC if name not in COUPLED])
def test_catalogue_against_dense(name, rng):
    mechanism = getattr(vi.mechanisms, name)()
    run = vi.simulate(mechanism, 0.1, 0.01, on_unresolved="ignore")
    for node in (0, 10):
        state = vi.State(run.position[node], run.quat_wxyz[node], run.velocity[node], run.angular_velocity[node])
        check_against_dense(mechanism, state, rng)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "cuts", [("Rod", "PointOnPlane"), ("Revolute", "Spherical", "Fixed")], ids=["few", "redundant"]
)
def test_random_closed_mechanisms_against_dense(seed, cuts):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(3, 8)), int(rng.integers(1, 4)), cuts=cuts)
    check_against_dense(mechanism, random_velocity_state(rng, mechanism), rng)


@pytest.mark.parametrize("floating", [False, True])
def test_random_trees_against_dense(floating, rng):
    mechanism = random_tree(rng, 9, LOWER, floating=floating)
    check_against_dense(mechanism, random_velocity_state(rng, mechanism), rng)


# ------------------------------------------------------------------------------------------ closed forms


def test_pendulum_hinge():
    """F = m (a - g) on a compound pendulum, a from its angle and rate; no torque, by symmetry."""
    mechanism = vi.mechanisms.n_pendulum(n=1)
    run = vi.simulate(mechanism, 2.0, 0.01, state=mechanism.state(rates={"joint 1": 12.0}))  # all round
    angle, rate = np.pi / 4 + run.coordinates["joint 1"], run.angular_velocity[:, 0, 1]
    assert np.ptp(angle) > 4 * np.pi
    second = -GRAVITY * 0.5 * np.sin(angle) / (1.01 / 12 + 0.25)
    outward = np.stack([-np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
    ahead = np.stack([-np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    acceleration = 0.5 * (second[:, None] * ahead - (rate**2)[:, None] * outward)
    force, torque = run.reactions["joint 1"]
    np.testing.assert_allclose(force, acceleration + [0, 0, GRAVITY], atol=1e-9)
    np.testing.assert_allclose(torque, 0.0, atol=1e-9)
    np.testing.assert_allclose(run.acceleration[:, 0], acceleration, atol=1e-9)
    np.testing.assert_allclose(run.angular_acceleration[:, 0, 1], second, atol=1e-9)


@pytest.mark.parametrize("joint", ["revolute", "spherical"])
def test_hanging_links_at_rest(joint):
    """Three links in a symmetric sag: statics by hand, moments about the upper ends give the horizontal pull."""
    sag = np.pi / 6
    mechanism = vi.mechanisms.three_link_loop(joint=joint, span=1 + 2 * np.sin(sag), angle=sag)
    run = vi.simulate(mechanism, 0.01, 0.01)
    W, H = GRAVITY, GRAVITY * np.tan(sag)
    expected = {"joint 1": (-H, 0, 1.5 * W), "joint 2": (-H, 0, 0.5 * W), "joint 3": (-H, 0, -0.5 * W)}
    expected["joint 4"] = -H, 0, -1.5 * W  # on the world
    for name, force in expected.items():
        np.testing.assert_allclose(run.reactions[name].force[0], force, atol=1e-11)
        np.testing.assert_allclose(run.reactions[name].torque[0], 0.0, atol=1e-11)
    np.testing.assert_allclose(run.acceleration[0], 0.0, atol=1e-11)


def test_two_hinges_share_the_weight_of_a_door():
    """Redundant hinges: half the weight each; its moment by forces and torques of least sum of squares."""
    width, height, mass = 0.8, 1.6, 20.0
    door = vi.Body.box("door", (width, 0.04, 2.0), mass, position=(width / 2, 0, 0))
    points = {"low": (0, 0, -height / 2), "high": (0, 0, height / 2)}
    hinges = [vi.Revolute(name, "world", "door", point=point, axis=(0, 0, 1)) for name, point in points.items()]
    mechanism = vi.Mechanism("door", [door], hinges)
    run = vi.simulate(mechanism, 0.01, 0.01)
    weight, length = mass * GRAVITY, mechanism.compiled.length
    factor = weight * width / 2 / (height**2 / 4 + length**2)
    for name, sign in (("low", 1), ("high", -1)):
        np.testing.assert_allclose(run.reactions[name].force[0], (sign * factor * height / 4, 0, weight / 2), atol=1e-9)
        np.testing.assert_allclose(run.reactions[name].torque[0], (0, -factor * length**2 / 2, 0), atol=1e-9)


def test_weld_takes_any_load():
    box = vi.Body.box("box", (0.3, 0.2, 0.1), 2.0, position=(1, 2, 3), quat_wxyz=(0.5, 0.5, 0.5, 0.5))
    mechanism = vi.Mechanism("welded", [box], [vi.Fixed("weld", "world", "box", point=(1, 2, 2))])
    force, torque = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.5])
    run = vi.simulate(mechanism, 0.05, 0.01, force={"box": force}, torque={"box": torque})
    total = force - [0, 0, 2 * GRAVITY]
    about_weld = rotation_matrix(box.quat_wxyz) @ torque + np.cross([0, 0, 1], total)
    np.testing.assert_allclose(run.reactions["weld"].force, np.tile(-total, (6, 1)), atol=1e-11)
    np.testing.assert_allclose(run.reactions["weld"].torque, np.tile(-about_weld, (6, 1)), atol=1e-11)


def test_the_other_way_round_a_joint_exerts_the_opposite(rng):
    tree = random_tree(rng, 4, kinds=("Revolute", "Spherical", "Cylindrical"))  # their anchors stay together
    one, other = (
        vi.Mechanism(
            "tree",
            tree.bodies,
            [
                random_joint(np.random.default_rng(j), type(joint).__name__, joint.name, *ends(joint), joint.point)
                for j, joint in enumerate(tree.joints)
            ],
        )
        for ends in (lambda joint: (joint.body_a, joint.body_b), lambda joint: (joint.body_b, joint.body_a))
    )
    state, load = random_velocity_state(rng, one), rng.standard_normal((4, 6))
    (a, forward), (b, backward) = solved(one, state, load), solved(other, state, load)
    np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(forward, -backward, atol=1e-9 * np.abs(forward).max())


# --------------------------------------------------------------------------------------- along a motion


@cache
def slider_crank_run(dt, order=2):
    t = np.arange(round(0.5 / dt) + 1) * dt
    push = np.stack([30 * np.sin(8 * t), 0 * t, 0 * t], axis=1)
    return vi.simulate(vi.mechanisms.slider_crank(), 0.5, dt, order=order, force={"slider": push})


def imbalance(run, what):
    """Largest difference of force and inertia at a body, accelerations by differences of the trajectory, inside it."""
    mechanism, dt = run.mechanism, run.t[1]
    mass = np.array([body.mass for body in mechanism.bodies])[:, None]
    inertia = np.array([body.inertia for body in mechanism.bodies])
    R = rotation_matrix(run.quat_wxyz)
    balance = -np.gradient(mass * run.velocity, dt, axis=0) + mass * mechanism.gravity + run.load[..., :3]
    spin = np.einsum("tnij,njk,tnk->tni", R, inertia, run.angular_velocity)
    moment = -np.gradient(spin, dt, axis=0) + np.einsum("tnij,tnj->tni", R, run.load[..., 3:])
    pad = np.zeros((len(run.t), 1, 3))
    x, R = (
        np.concatenate([run.position, pad], axis=1),
        np.concatenate([R, np.tile(np.eye(3), (len(R), 1, 1, 1))], axis=1),
    )
    balance, moment = np.concatenate([balance, pad], axis=1), np.concatenate([moment, pad], axis=1)
    for joint in mechanism.joints:
        frames, (F, T) = JointFrames(mechanism, joint), run.reactions[joint.name]
        point = x[:, frames.b] + R[:, frames.b] @ frames.origin_b
        for body, sign in ((frames.b, 1.0), (frames.a, -1.0)):
            balance[:, body] += sign * F
            moment[:, body] += sign * (T + np.cross(point - x[:, body], F))
    return np.abs((balance if what == "force" else moment)[1:-1, :-1]).max()


@pytest.mark.parametrize("what", ["force", "torque"])
def test_reactions_carry_the_inertia_of_a_slider_crank(what):
    coarse, fine = (imbalance(slider_crank_run(dt), what) for dt in (0.002, 0.001))
    assert fine < 0.1
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_reactions_are_of_second_order():
    exact = slider_crank_run(0.00125, order=6).reactions["crank pin"].force[::8]
    errors = [np.abs(slider_crank_run(0.01 / k).reactions["crank pin"].force[::k] - exact).max() for k in (1, 2)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_joints_by_name():
    run = vi.simulate(vi.mechanisms.four_bar(), 0.05, 0.01)
    assert list(run.reactions) == ["crank pivot", "crank pin", "rocker pin", "rocker pivot"]
    assert run.reactions["crank pin"] is run.reactions["crank pin"]
    assert "crank" not in run.reactions
    assert run.reactions.get("crank") is None
    with pytest.raises(vi.MechanismError, match="no joint 'crank pim', did you mean 'crank pin'"):
        _ = run.reactions["crank pim"]


# -------------------------------------------------------------------------------------- loads of a run


def loads_of(kind, steps):
    rng = np.random.default_rng(7)
    shape = (3,) if kind == "constant" else (steps + 1, 3)
    return {"force": {"link 2": rng.standard_normal(shape)}, "torque": {"link 1": rng.standard_normal(3)}}


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("kind", ["constant", "series"])
def test_loads_are_kept_with_the_nodes_and_in_the_file(kind, every, tmp_path):
    given = loads_of(kind, 50)
    run = vi.simulate(vi.mechanisms.double_pendulum(), 0.5, 0.01, every=every, output=tmp_path / "run.h5", **given)
    assert run.load.shape == ((1, 2, 6) if kind == "constant" else (len(run.t), 2, 6))
    everywhere = np.broadcast_to(run.load, (len(run.t), 2, 6))
    force, nodes = given["force"]["link 2"], sorted({*range(0, 51, every), 50})
    np.testing.assert_array_equal(
        everywhere[:, 1, :3], np.broadcast_to(force[nodes] if force.ndim > 1 else force, (len(run.t), 3))
    )
    np.testing.assert_array_equal(everywhere[:, 0, 3:], np.tile(given["torque"]["link 1"], (len(run.t), 1)))
    read = vi.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(read.load, run.load)
    np.testing.assert_array_equal(read.reactions["joint 2"].force, run.reactions["joint 2"].force)


@pytest.mark.slow
def test_loads_of_a_run_that_went_on(tmp_path):
    def stop(done, steps):
        if done > 20:
            raise KeyboardInterrupt

    run = {"mechanism": vi.mechanisms.double_pendulum(), "duration": 1.0, "dt": 0.01, "every": 3}
    run |= loads_of("series", 100) | {"output": tmp_path / "run.h5"}
    with pytest.raises(KeyboardInterrupt):
        vi.simulate(**run, progress=stop)
    left = vi.load(tmp_path / "run.h5")
    assert 5 < len(left.t) < 34
    assert left.load.shape == (len(left.t), 2, 6)
    whole = vi.simulate(**(run | {"output": None}))
    resumed = vi.simulate(**run, resume=True)
    for other in (resumed, vi.load(tmp_path / "run.h5")):
        np.testing.assert_array_equal(other.load, whole.load)
    np.testing.assert_array_equal(left.load, whole.load[: len(left.t)])


def test_loads_up_to_a_failure():
    force = np.zeros((101, 3))
    force[50:] = 1e15, 0, 0
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(vi.mechanisms.double_pendulum(), 1.0, 0.01, force={"link 2": force})
    run = caught.value.trajectory
    assert run.load.shape == (len(run.t), 2, 6)
    assert run.reactions["joint 1"].force.shape == (len(run.t), 3)


def test_run_file_without_its_loads(tmp_path):
    path = tmp_path / "run.h5"
    vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01, output=path)
    with h5py.File(path, "r+") as file:
        del file["steady_load"]
    with pytest.raises(vi.FileError, match="damaged"):
        vi.load(path)
