"""Damping and friction of ball joints, dampers of points, and ball joints of files with armature, damping, friction."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import varint as vi
from varint.files.own.mechanism_data import to_data
from varint.step.measures import curve_transposed, measure_at, weighted_curvature
from varint.step.workspace import workspace

OUTER, INNER, DAMPING = 0.02, 0.01, 0.01  # kg m^2, kg m^2, N m s/rad


def two_balls(*forces):
    """Two bodies without axes of their own, about one centre, that spin about different axes."""
    bodies = [
        vi.Body("a", mass=1.0, inertia=OUTER * np.eye(3)),
        vi.Body("b", mass=0.5, inertia=INNER * np.eye(3), quat_wxyz=(0.8, 0, 0.6, 0)),
    ]
    joints = [vi.Free("free", "world", "a"), vi.Spherical("ball", "a", "b", point=(0, 0, 0))]
    spins = {"a": (0.4, -0.3, 1.0), "b": (3.0, 1.0, -2.0)}
    start = {"angular_velocity": spins}
    return vi.Mechanism("two", bodies, joints, forces=forces, gravity=(0, 0, 0), start=start)


def runs(mechanism, duration, dt, orders=(1, 2, 4), **arguments):
    """Name to run, in both formulations."""
    yield from ((order, vi.simulate(mechanism, duration, dt, order=order, **arguments)) for order in orders)
    yield "reduced", vi.redmax.simulate(mechanism, duration, dt, integrator="sdirk2")
    yield "adaptive", vi.redmax.simulate(mechanism, duration, integrator="dop853", rtol=1e-10)


def spins(run):
    """(T, nb, 3) angular velocities, world."""
    turns = Rotation.from_quat(np.roll(run.quat_wxyz, -1, axis=2).reshape(-1, 4))
    return turns.apply(run.angular_velocity.reshape(-1, 3)).reshape(run.angular_velocity.shape)


def test_a_damper_of_a_ball_is_the_same_about_all_axes():
    """The relative angular velocity decays as exp(-c (1 / I + 1 / J) t), whatever the orientations."""
    mechanism = two_balls(vi.JointDamper("d", joint="ball", damping=DAMPING))
    for name, run in runs(mechanism, 1.0, 0.01):
        spin = spins(run)
        apart = spin[:, 1] - spin[:, 0]
        exact = apart[0] * np.exp(-DAMPING * (1 / OUTER + 1 / INNER) * run.t)[:, None]
        assert apart == pytest.approx(exact, abs={1: 0.05, 4: 1e-6, "adaptive": 1e-7}.get(name, 3e-4)), name
        momentum = OUTER * spin[:, 0] + INNER * spin[:, 1]
        kept = 1e-12 if name in (2, 4) else 1e-5
        assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=kept), name
        assert run.work[-1, 0] == pytest.approx(run.energy[-1] - run.energy[0], rel=2e-3 if name == 1 else 1e-4)


def test_a_coordinate_that_is_named_is_that_of_the_rotation_vector(tmp_path):
    along = two_balls(vi.JointDamper("d", joint="ball", coordinate=0, damping=DAMPING))
    about = two_balls(vi.JointDamper("d", joint="ball", damping=DAMPING))
    assert [len(mechanism.compiled.plan.laws.element) for mechanism in (along, about)] == [1, 3]
    for mechanism in (along, about):
        for suffix in ("json", "toml"):
            vi.save_mechanism(mechanism, tmp_path / f"m.{suffix}")
            assert to_data(vi.load_mechanism(tmp_path / f"m.{suffix}")) == to_data(mechanism)


def test_other_joints_have_their_first_coordinate_without_a_name():
    bodies = [vi.Body.sphere("b", 0.1, 1.0)]
    joint = vi.Cylindrical("j", "world", "b", point=(0, 0, 0), axis=(0, 0, 1))
    found = []
    for coordinate in (None, 0, 1):
        damper = vi.JointDamper("d", joint="j", coordinate=coordinate, damping=0.1)
        start = {"rates": {"j": (1.0, 2.0)}}
        mechanism = vi.Mechanism("m", bodies, [joint], forces=[damper], gravity=(0, 0, 0), start=start)
        found.append(vi.simulate(mechanism, 0.1, 0.01).rates["j"][-1])
    assert np.array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def test_friction_of_a_ball_stops_about_each_axis_of_its_body():
    """A ball that spins about no axis of its own slows down by effort / I about each, from its start until it stops."""
    spin, effort, inertia = np.array([3.0, -2.0, 1.0]), 0.01, 0.02
    ball = vi.Body("b", mass=1.0, inertia=inertia * np.eye(3), quat_wxyz=(0.6, 0.0, 0.8, 0.0))
    friction = vi.JointFriction("f", joint="j", effort=effort, smoothing=1e-3)
    start = {"angular_velocity": {"b": spin}}
    joint = vi.Spherical("j", "world", "b", point=(0, 0, 0))
    mechanism = vi.Mechanism("m", [ball], [joint], forces=[friction], gravity=(0, 0, 0), start=start)
    for name, run in runs(mechanism, 1.5, 0.005, orders=(2,)):
        exact = np.sign(spin) * np.maximum(np.abs(spin) - effort / inertia * run.t[:, None], 0.0)
        clear = run.t < 1.0 * np.abs(spin).min() * inertia / effort  # the last of them stops later
        assert run.angular_velocity[clear, 0] == pytest.approx(exact[clear], abs=2e-3), name
    fast = dataclasses.replace(mechanism, start={"angular_velocity": {"b": (0.0, 0.0, 0.5)}})
    assert np.abs(vi.simulate(fast, 1.5, 0.005).angular_velocity[-1, 0]).max() < 2e-3


def flying(*forces):
    """Two bodies that fly apart, points beside their centres."""
    bodies = [vi.Body.box("a", (0.1, 0.2, 0.3), 1.0), vi.Body.box("b", (0.3, 0.1, 0.2), 2.0, position=(0.5, 0.2, 0))]
    joints = [vi.Free(f"free {name}", "world", name) for name in "ab"]
    start = {
        "velocity": {"a": (0.5, 0, 0), "b": (0, 1.0, -0.3)},
        "angular_velocity": {"a": (0, 0.5, 0), "b": (1.0, -2.0, 0.3)},
    }
    return vi.Mechanism("flying", bodies, joints, forces=forces, gravity=(0, 0, 0), start=start)


def test_a_damper_of_points_is_the_same_in_all_directions():
    """Of the centres: the relative velocity decays as exp(-c (1 / m + 1 / M) t), also across the line between them."""
    damper = vi.PointDamper("d", "a", "b", point_a=(0, 0, 0), point_b=(0.5, 0.2, 0), damping=0.4)
    for name, run in runs(flying(damper), 1.0, 0.01):
        apart = run.velocity[:, 1] - run.velocity[:, 0]
        exact = apart[0] * np.exp(-0.4 * 1.5 * run.t)[:, None]
        assert apart == pytest.approx(exact, abs={1: 5e-3, 4: 1e-9, "adaptive": 1e-8}.get(name, 1e-5)), name
        momentum = run.velocity[:, 0] + 2.0 * run.velocity[:, 1]
        assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=1e-12)
        assert run.work[-1, 0] == pytest.approx(run.energy[-1] - run.energy[0], rel=5e-3)


def test_the_force_of_a_damper_of_points_is_that_of_their_velocities():
    """Newton's and Euler's equations of both bodies, at points away from the centres (DIFF, equation 1.45)."""
    point_a, point_b = np.array([0.1, -0.2, 0.3]), np.array([0.7, 0.1, -0.2])
    mechanism = flying(vi.PointDamper("d", "a", "b", point_a=point_a, point_b=point_b, damping=0.4))
    state = mechanism.state()
    levers = point_a - state.position[0], point_b - state.position[1]
    at = [v + np.cross(w, r) for v, w, r in zip(state.velocity, state.angular_velocity, levers, strict=True)]
    force = -0.4 * (at[1] - at[0])
    found = vi.accelerations(mechanism, state)
    for i, (body, sign) in enumerate(zip(mechanism.bodies, (-1.0, 1.0), strict=True)):
        w = state.angular_velocity[i]
        turning = np.linalg.solve(body.inertia, sign * np.cross(levers[i], force) - np.cross(w, body.inertia @ w))
        assert found.linear[i] == pytest.approx(sign * force / body.mass, abs=1e-12)
        assert found.angular[i] == pytest.approx(turning, abs=1e-12)


@pytest.mark.slow
def test_the_change_of_a_spin_and_its_transpose():
    """Along motions of both bodies by differences, and as the matrix of the transpose."""
    mechanism = two_balls(vi.JointDamper("d", joint="ball", damping=1.0))
    plan, rng = mechanism.compiled.plan, np.random.default_rng(2)
    ws, m = workspace(plan), int(plan.laws.sum_first[0])
    x = np.zeros((3, 3))
    R = np.concatenate([Rotation.random(2, rng=rng).as_matrix(), np.eye(3)[None]])
    changes, transposed, gradient = np.zeros((2, 12, 12)), np.zeros((12, 12)), np.zeros((2, 6))
    measure_at(plan, ws, m, x, R, gradient)
    for j, unit in enumerate(np.eye(12)):
        motion, ends = unit.reshape(2, 6), []
        out = np.zeros((2, 6))
        weighted_curvature(plan, ws, m, x, R, motion, out)
        changes[0, :, j] = out.ravel()
        curve_transposed(plan, ws, m, x, R, gradient, motion, out)
        transposed[:, j] = out.ravel()
        for size in (1e-5, -1e-5):
            turned, end = R.copy(), np.zeros((2, 6))
            for side, slot in enumerate(plan.measures.body[m]):
                turned[slot] = R[slot] @ Rotation.from_rotvec(size * motion[side, 3:]).as_matrix()
            measure_at(plan, ws, m, x, turned, end)
            ends.append(end.ravel())
        changes[1, :, j] = (ends[0] - ends[1]) / 2e-5
    assert changes[0] == pytest.approx(changes[1], abs=1e-9)
    assert transposed == pytest.approx(changes[0].T, abs=1e-14)
    assert np.abs(changes[0]).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("reduced", [False, True])
def test_gradients_are_those_of_the_run(reduced):
    """By the numbers of each force, against differences of the run."""
    gradient, simulate = (vi.redmax.gradient, vi.redmax.simulate) if reduced else (vi.gradient, vi.simulate)
    method = {"scheme": "sdirk2"} if reduced else {}
    arguments = {"integrator": "sdirk2"} if reduced else {}

    def made(damping=0.01, effort=0.005, between=0.02):
        ends = {"point_a": (0.1, 0.2, 0), "point_b": (0, 0.1, 0.3)}
        return two_balls(
            vi.JointDamper("d", joint="ball", damping=damping),
            vi.JointFriction("f", joint="ball", effort=effort, smoothing=0.5),
            vi.PointDamper("p", "a", "b", damping=between, **ends),
        )

    def objective(state):
        return float(state.angular_velocity[1, 0] + 0.3 * state.quat_wxyz[0, 2] + state.position[1, 2])

    found = gradient(made(), objective, 0.3, 0.01, with_respect_to=["d.damping", "f.effort", "p.damping"], **method)
    for name, argument, value in (
        ("d.damping", "damping", 0.01),
        ("f.effort", "effort", 0.005),
        ("p.damping", "between", 0.02),
    ):
        ends = [
            objective(simulate(made(**{argument: value + sign * 1e-5}), 0.3, 0.01, **arguments).state(-1))
            for sign in (1, -1)
        ]
        assert found[name] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6), name


def test_sdf_and_urdf_have_damping_and_friction_of_balls(tmp_path):
    inertial = "<inertial><mass{}1</mass><inertia>{}</inertia></inertial>".format(
        ">", "".join(f"<{k}>{int(k[1] == k[2])}</{k}>" for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    )
    axis = "<axis><xyz>0 0 1</xyz><dynamics><damping>0.3</damping><friction>0.1</friction></dynamics></axis>"
    joint = f'<joint name="j" type="ball"><parent>world</parent><child>a</child>{axis}</joint>'
    sdf = tmp_path / "m.sdf"
    sdf.write_text(f'<sdf version="1.9"><model name="m"><link name="a">{inertial}</link>{joint}</model></sdf>')
    numbers = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
    links = f'<link name="b"/><link name="a"><inertial><mass value="1"/><inertia {numbers}/></inertial></link>'
    ends = '<parent link="b"/><child link="a"/>'
    urdf = tmp_path / "m.urdf"
    dynamics = '<dynamics damping="0.3" friction="0.1"/>'
    urdf.write_text(f'<robot name="m">{links}<joint name="j" type="spherical">{ends}{dynamics}</joint></robot>')
    drake = tmp_path / "drake.urdf"
    dynamics = '<dynamics damping="0.3"/>'
    drake.write_text(f'<robot name="m">{links}<drake:joint name="j" type="ball">{ends}{dynamics}</drake:joint></robot>')
    for path in (sdf, urdf, drake):
        mechanism = vi.load_mechanism(path, strict=True)
        forces = {type(force): force for force in mechanism.forces}
        assert (forces[vi.JointDamper].coordinate, forces[vi.JointDamper].damping) == (None, 0.3)
        if path is not drake:
            assert (forces[vi.JointFriction].coordinate, forces[vi.JointFriction].effort) == (None, 0.1)
