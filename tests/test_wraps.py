"""Paths around spheres and cylinders: lengths, gradients and curvature, against differences and against MuJoCo."""

import dataclasses

import numpy as np
import pytest

import varint as vi
from varint.drawing.wrapped import arc_points, shape_of
from varint.mathematics.wrapping import wrapped_change, wrapped_length
from varint.model.forces.wrapped_path import CylinderSurface, SphereSurface
from varint.results.forces import forces_at

ORIGIN = np.zeros(3)
CYLINDER, SPHERE = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
RADIUS = 0.5


def surface_of(mode, smoothing, side):
    return RADIUS, mode, smoothing, tuple(map(float, side))


def length(p, q, axis, surface):
    return wrapped_length(tuple(map(float, p)), tuple(map(float, q)), axis, surface)


def points(rng):
    """Two points outside the surface."""
    pair = rng.standard_normal((2, 3))
    return pair * (rng.uniform(0.7, 1.6, 2) / np.linalg.norm(pair[:, :2], axis=1))[:, None]


@pytest.mark.parametrize("axis", [CYLINDER, SPHERE])
@pytest.mark.parametrize(("mode", "smoothing"), [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 0.02), (1.0, 0.02)])
def test_gradient_and_curvature_are_derivatives(rng, axis, mode, smoothing):
    wrapped = 0
    for _ in range(150):
        side = rng.standard_normal(3) * (1.0, 1.0, axis[2] == 0.0)
        surface = surface_of(mode, smoothing, side)
        p, q = points(rng)
        dp, dq = rng.standard_normal((2, 3))
        value, by_p, by_q = length(p, q, axis, surface)
        step = 1e-6
        ahead, back = (length(p + s * dp, q + s * dq, axis, surface) for s in (step, -step))
        assert (ahead[0] - back[0]) / (2 * step) == pytest.approx(np.dot(by_p, dp) + np.dot(by_q, dq), abs=1e-7)
        change = np.concatenate(wrapped_change(*(tuple(map(float, v)) for v in (p, q, dp, dq)), axis, surface))
        measured = np.concatenate([np.subtract(ahead[k], back[k]) / (2 * step) for k in (1, 2)])
        assert change == pytest.approx(measured, abs=1e-6 * max(1.0, np.abs(measured).max()))
        wrapped += value > np.linalg.norm(q - p) + 1e-6
    assert wrapped > 20


def test_quarter_turn_around_a_cylinder():
    value, by_p, _ = length([1.0, -2.0, 0.0], [-2.0, 1.0, 3.0], CYLINDER, (1.0, 1.0, 0.0, (5.0, 5.0, 0.0)))
    assert value == pytest.approx(np.hypot(4.0 + np.pi / 2, 3.0), rel=1e-15)
    assert np.linalg.norm(by_p) == pytest.approx(1.0, rel=1e-15)


def test_smooth_radius_tends_to_the_sharp_one(rng):
    apart = []
    for smoothing in (0.02, 0.01, 0.005):
        worst = 0.0
        for seed in range(60):
            p, q = points(np.random.default_rng(seed))
            sharp, smooth = (length(p, q, SPHERE, surface_of(0.0, s, ORIGIN))[0] for s in (0.0, smoothing))
            worst = max(worst, abs(smooth - sharp))
        apart.append(worst)
    assert apart[0] > 1.4 * apart[1] > 2.0 * apart[2] > 0.0


ONE_SURFACE = """<mujoco><worldbody><geom name="s" type="{}" size="1 1"/><site name="p" pos="2 0 0"/>
<site name="q" pos="0 2 0"/><site name="side" pos="0 0 2"/><body><joint type="slide"/><geom size=".1"/></body>
</worldbody><tendon><spatial><site site="p"/><geom geom="s" {}/><site site="q"/></spatial></tendon></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("side", ["", 'sidesite="side"'])
@pytest.mark.parametrize(("kind", "axis"), [("cylinder", CYLINDER), ("sphere", SPHERE)])
def test_sides_are_those_of_mujoco(kind, axis, side, rng):
    """The short way around, the long one and the straight line, each chosen as by MuJoCo 4."""
    mujoco = pytest.importorskip("mujoco", minversion="4.0")
    model = mujoco.MjModel.from_xml_string(ONE_SURFACE.format(kind, side))
    data, count = mujoco.MjData(model), {"straight": 0, "short": 0, "long": 0}
    flat = (1.0, 1.0, 0.0 if kind == "cylinder" else 1.0)
    for _ in range(400):
        at = rng.standard_normal((3, 3))
        model.site_pos[:] = at = at * (rng.uniform(1.05, 3.0, 3) / np.linalg.norm(at * flat, axis=1))[:, None]
        mujoco.mj_fwdPosition(model, data)
        sided, free = (length(*at[:2], axis, (1.0, mode, 0.0, tuple(at[2] * flat)))[0] for mode in (1.0, 0.0))
        assert data.ten_length[0] == pytest.approx(sided if side else free, abs=1e-12)
        way = "straight" if data.ten_wrapnum[0] == 2 else "short" if data.ten_length[0] < free + 1e-6 else "long"
        count[way] += 1
    assert min(count["straight"], count["short"]) > 60
    assert (count["long"] > 60) == bool(side)


def test_inside_a_ring_it_is_the_shortest_over_points_of_the_ring(rng):
    angle = np.linspace(0.0, 2.0 * np.pi, 20001)
    ring = RADIUS * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    touched = 0
    for _ in range(30):
        p, q = points(rng) * (1.0, 1.0, 0.0)
        value = length(p, q, CYLINDER, surface_of(2.0, 0.0, ORIGIN))[0]
        over = (np.linalg.norm(ring - p, axis=1) + np.linalg.norm(ring - q, axis=1)).min()
        straight = np.linalg.norm(q - p)
        inside = np.linalg.norm(np.cross(p, q)) / straight < RADIUS and p @ (p - q) > 0.0 and q @ (q - p) > 0.0
        assert value == pytest.approx(straight if inside else over, abs=1e-6)
        touched += not inside
    assert touched > 5


def two_links(*forces, **more):
    bodies = [
        vi.Body.rod("upper", [0, 0, 0], [0, 0, -1], mass=1.0),
        vi.Body.rod("lower", [0, 0, -1], [0, 0, -2], mass=1.0),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=[0, 0, 0], axis=[0, 1, 0]),
        vi.Revolute("elbow", "upper", "lower", point=[0, 0, -1], axis=[0, 1, 0]),
    ]
    return vi.Mechanism("arm", bodies=bodies, joints=joints, forces=list(forces), **more)


def elbow_path(on="upper"):
    surface = vi.CylinderSurface([0, 0, -1], [0, 1, 0], 0.2, side=[0.5, 0, -1])
    return [vi.At("world", [0.3, 0, 0.2]), vi.Around(on, surface), vi.At("lower", [0.25, 0.05, -1.4])]


def test_moment_arms_are_derivatives_of_the_length():
    """A path of three bodies: the world, the surface's and the lower one."""
    mechanism = two_links(vi.Tendon("t", path=elbow_path(), stiffness=1.0, smoothing=0.005))
    at, step = np.array([0.4, 0.7]), 1e-5

    def state(q):
        return mechanism.state(coordinates={"shoulder": q[0], "elbow": q[1]})

    def of(q):
        each = state(q)
        arrays = [array[None] for array in (each.position, each.quat_wxyz, each.velocity, each.angular_velocity)]
        return forces_at(mechanism, *arrays, np.zeros((1, 1))).value[0, 0]

    arms = vi.moment_arms(mechanism, "t", state=state(at))
    for number, name in enumerate(("shoulder", "elbow")):
        moved = step * np.eye(2)[number]
        assert arms[name] == pytest.approx((of(at + moved) - of(at - moved)) / (2 * step), abs=1e-9)


@pytest.mark.parametrize("smoothing", [0.01, 0.0])
def test_both_formulations_agree(smoothing):
    tendon = vi.Tendon("t", path=elbow_path(), stiffness=20.0, rest_length=0.9, smoothing=smoothing, one_sided=False)
    mechanism = two_links(tendon)
    state = mechanism.state(coordinates={"shoulder": 0.3, "elbow": 0.8})
    exact = vi.simulate(vi.Problem(mechanism, 1.0, state=state), vi.Reduced("dop853", rtol=1e-11))
    assert np.ptp(exact.energy) < (1e-9 if smoothing else 1e-7)
    assert exact.length["t"].max() > 1.2
    for order, steps, least in ((2, 400, 3.5), (4, 200, 10.0)):
        errors = [
            np.abs(vi.simulate(mechanism, 1.0, 1.0 / n, state=state, order=order).position[-1] - exact.position[-1])
            for n in (steps, 2 * steps)
        ]
        assert errors[1].max() < 1e-4
        if smoothing:
            assert errors[0].max() > least * errors[1].max()


@pytest.mark.parametrize("on", ["upper", "lower", "world"])
def test_energy_has_no_trend(on):
    """On the ground, on the body between the ends, and on the body of one end."""
    tendon = vi.Tendon("t", path=elbow_path(on), stiffness=2.0, rest_length=0.9, smoothing=0.01, one_sided=False)
    mechanism = two_links(tendon)
    state = mechanism.state(coordinates={"shoulder": 0.1, "elbow": 0.2})
    energy = vi.simulate(mechanism, 20.0, 0.005, state=state).energy
    assert abs(energy[:1000].mean() - energy[-1000:].mean()) < 2e-5
    assert np.ptp(energy) < 5e-3


def test_gradients_of_runs_have_the_third_body():
    """The exact derivative of a run by the stiffness against differences of runs."""

    def made(stiffness):
        more = {"stiffness": stiffness, "rest_length": 0.9, "smoothing": 0.01, "damping": 1.0, "one_sided": False}
        start = {"coordinates": {"shoulder": 0.3, "elbow": 0.8}, "rates": {"shoulder": 1.0, "elbow": 0.5}}
        return two_links(vi.Tendon("t", path=elbow_path(), **more), start=start)

    def end(state):
        return float(state.position[1, 0])

    exact = vi.gradient(made(20.0), end, 0.2, 0.005, with_respect_to=["t.stiffness"])
    step = 1e-3
    values = [vi.simulate(made(20.0 + s), 0.2, 0.005, tol=1e-13).position[-1, 1, 0] for s in (step, -step)]
    assert exact["t.stiffness"] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6)


def test_pulleys_divide_lengths():
    path = [*elbow_path()[::2], vi.Pulley(2.0), vi.At("upper", [0.1, 0, -0.3]), vi.At("lower", [0.1, 0, -1.6])]
    tendon = vi.Tendon("t", path=path, stiffness=1.0)
    ends = [np.array([0.3, 0, 0.2]), np.array([0.25, 0.05, -1.4])]
    assert tendon.rest_length == pytest.approx(np.linalg.norm(ends[1] - ends[0]) + 0.65, rel=1e-15)
    mechanism = two_links(tendon)
    run = vi.simulate(mechanism, 0.1, 0.01)
    assert run.length["t"][0] == pytest.approx(tendon.rest_length, rel=1e-14)


def test_drawn_arc_is_as_long_as_the_path(rng):
    mechanism = two_links()
    for kind in (SphereSurface, CylinderSurface):
        along = {"axis": [0, 1, 0]} if kind is CylinderSurface else {}
        shape = shape_of(mechanism, "upper", kind(centre=[0, 0, -1], radius=RADIUS, **along), 0.0)
        for _ in range(40):
            p, q = (point * 1.2 / np.linalg.norm(point[[0, 2]]) for point in rng.standard_normal((2, 3)))
            line = np.concatenate([[p], arc_points(shape, p, q), [q]])
            drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
            value = length(p, q, tuple(map(float, shape.axis)), surface_of(0.0, 0.0, ORIGIN))[0]
            assert value * (1 - 3e-3) < drawn <= value * (1 + 1e-12)


def test_wrong_paths():
    inside = [vi.At("upper", [0, 0, -0.9]), elbow_path()[1], vi.At("lower", [0.25, 0, -1.4])]
    with pytest.raises(vi.MechanismError, match="on 'upper' lies within the surface on 'upper': move it out"):
        vi.Tendon("t", path=inside, stiffness=1.0)
    near = [vi.At("upper", [0.21, 0, -1]), elbow_path()[1], vi.At("lower", [0.25, 0, -1.4])]
    vi.Tendon("t", path=near, stiffness=1.0)
    with pytest.raises(vi.MechanismError, match=r"is 0.01 m from the surface on 'upper'.*10 times the smoothing"):
        vi.Tendon("t", path=near, stiffness=1.0, smoothing=0.005)
    ring = vi.Around("upper", vi.SphereSurface([0, 0, -1], 0.1, side=[0.05, 0, -1]))
    with pytest.raises(vi.MechanismError, match="smoothing is for surfaces that the path passes outside"):
        vi.Tendon("t", path=[elbow_path()[0], ring, elbow_path()[2]], stiffness=1.0, smoothing=0.001)
    for path, words in (
        ([elbow_path()[0]], "two points or more"),
        ([], "must follow a vi.At|two points|at least|none"),
        (elbow_path()[:2], "an end must follow a vi.At"),
        (elbow_path()[1:], "must begin with a vi.At"),
        ([elbow_path()[0], *elbow_path()[1:2] * 2, elbow_path()[2]], "Around must follow a vi.At"),
        (["upper"], "must be a list of vi.At, vi.Around and vi.Pulley"),
        (5, "path"),
    ):
        with pytest.raises(vi.MechanismError, match=words):
            vi.Tendon("t", path=path, stiffness=1.0)
    for point in ([0, 0, -1], [0.3, 0, -1.2]):
        with pytest.raises(vi.MechanismError, match="path of tendon 't' has no length: its points are equal"):
            vi.Tendon("t", path=[vi.At("upper", point), vi.At("lower", point)], stiffness=1.0)
    with pytest.raises(vi.MechanismError, match=r"side of a CylinderSurface lies on its axis, 0\.3 m from the centre"):
        vi.CylinderSurface([0, 0, -1], [0, 1, 0], 0.2, side=[0, 0.3, -1])
    assert vi.CylinderSurface([0, 0, -1], [0, 1, 0], 0.2, side=[0, 0.1, -1]).sideways == pytest.approx(0.0)  # a ring
    with pytest.raises(vi.MechanismError, match="side of a SphereSurface must be"):
        vi.SphereSurface([0, 0, 0], 0.1, side=[0, 0])
    still = vi.Tendon("t", path=[vi.At("upper", [0, 0, 0]), vi.At("upper", [0, 0, 1])], stiffness=1.0)
    with pytest.raises(vi.MechanismError, match="must lead from one body to another"):
        two_links(still)
    with pytest.raises(vi.MechanismError, match="no body 'uper', did you mean 'upper'"):
        two_links(vi.Tendon("t", path=[vi.At("uper", [0, 0, 0]), vi.At("lower", [0, 0, 1])], stiffness=1.0))
    with pytest.raises(vi.MechanismError, match="must be a surface"):
        vi.Around("upper", 0.3)
    with pytest.raises(vi.MechanismError, match="radius of a SphereSurface"):
        vi.SphereSurface([0, 0, 0], -1.0)
    with pytest.raises(vi.MechanismError, match="divisor of a Pulley"):
        vi.Pulley(0.0)


MODEL = """<mujoco><compiler angle="radian"/><worldbody>
<site name="o" pos=".3 .1 .2"/>
<body name="upper"><joint name="s" axis="0 1 0"/><joint name="r" axis="1 0 0"/>
<geom name="limb" type="capsule" fromto="0 0 0 0 0 -1" size=".03"/>
<geom name="roll" type="cylinder" pos="0 .02 -1" quat="0.7 0.7 .1 0" size=".15 .2"/>
<geom name="ball" type="sphere" pos=".02 .02 -.5" size=".1"/>
<geom name="ring" type="sphere" pos=".1 0 -.75" size=".08"/>
<site name="out" pos=".4 0 -1"/><site name="in" pos=".1 .01 -.75"/><site name="m" pos=".2 0 -.8"/>
<body name="lower" pos="0 0 -1"><joint name="e" axis="0 1 0"/><joint name="t" type="slide" axis="0 0 1"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size=".03"/><site name="i" pos=".22 .05 -.4"/><site name="j" pos=".3 0 -.2"/>
</body></body></worldbody>
<tendon>
<spatial name="a"><site site="o"/><geom geom="roll" sidesite="out"/><site site="i"/></spatial>
<spatial name="b"><site site="o"/><geom geom="ball"/><site site="m"/><geom geom="roll"/><site site="j"/></spatial>
<spatial name="c"><site site="o"/><geom geom="ring" sidesite="in"/><site site="i"/></spatial>
<spatial name="d"><site site="o"/><site site="m"/><pulley divisor="2"/><site site="m"/><geom geom="roll"
sidesite="out"/><site site="i"/><pulley divisor="3"/><site site="m"/><site site="j"/></spatial>
</tendon>
<actuator>
<!-- curves -- and ranges -->
<muscle name="a" tendon="a" lengthrange=".6 1.8" force="100"/>
<muscle name="b" tendon="b" lengthrange=".6 1.8" force="50" timeconst=".02 .06"/>
<muscle name="c" tendon="c" lengthrange=".5 2" range=".6 1.2" scale="150"/>
<muscle name="d" tendon="d" lengthrange=".4 2" force="80" tausmooth=".2" lmax="1.8" fpmax="1.5" vmax="3"/>
</actuator></mujoco>"""


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    path = tmp_path_factory.mktemp("models") / "arm.xml"
    path.write_text(MODEL)
    return path


@pytest.fixture(scope="module")
def imported(model_path):
    return vi.load_mechanism(model_path)


@pytest.mark.slow
def test_lengths_and_moment_arms_are_those_of_mujoco(model_path, imported, rng):
    mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    model = mujoco.MjModel.from_xml_path(str(model_path))
    data = mujoco.MjData(model)
    assert not imported.import_report.not_understood
    wrapped = 0
    for _ in range(25):
        q = rng.uniform(-1.2, 1.2, 4) * (1, 1, 1, 0.1)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        names = [joint.name for joint in imported.joints]
        state = imported.state(coordinates=dict(zip(names, (q[:2], q[2:]), strict=True)))
        run = [array[None] for array in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)]
        values = forces_at(imported, *run, np.zeros((1, 4))).value[0]
        jacobian = np.zeros((4, 4))
        mujoco.mju_sparse2dense(jacobian, data.ten_J, model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
        for k, name in enumerate("abcd"):
            tolerance = 1e-6 if name == "c" else 1e-9  # MuJoCo stops at 1e-6 inside a ring
            assert values[k] == pytest.approx(data.ten_length[k], abs=1e-12)
            arms = vi.moment_arms(imported, f"actuator {name}", state=state)
            own = np.concatenate([np.ravel(arms[joint]) for joint in names])
            assert own == pytest.approx(jacobian[k], abs=tolerance)
        wrapped += int((data.wrap_obj >= 0).sum())
    assert wrapped > 30


@pytest.mark.slow
def test_accelerations_are_those_of_mujoco(model_path, imported, rng):
    """With the muscles at activations that a run has reached."""
    mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    model = mujoco.MjModel.from_xml_path(str(model_path))
    data = mujoco.MjData(model)
    excited = [
        vi.Musculotendon(
            **{field.name: getattr(force, field.name) for field in dataclasses.fields(force)}
            | {"excitation": 0.2 * (k + 1)}
        )
        for k, force in enumerate(imported.forces)
    ]
    mechanism = vi.Mechanism("arm", bodies=imported.bodies, joints=imported.joints, forces=excited)
    run = vi.simulate(mechanism, 0.1, 0.001, order=4)
    data.qpos[:] = np.concatenate([run.coordinates[joint.name][-1] for joint in mechanism.joints])
    data.qvel[:] = np.concatenate([run.rates[joint.name][-1] for joint in mechanism.joints])
    data.act[:] = [run.law_state[force.name][-1] for force in mechanism.forces]
    data.ctrl[:] = [0.2, 0.4, 0.6, 0.8]
    mujoco.mj_forward(model, data)
    assert [run.force[force.name][-1] for force in mechanism.forces] == pytest.approx(data.actuator_force, rel=1e-6)
    assert data.act_dot[0] > 0.0


@pytest.mark.slow
def test_objects_of_mujoco_are_read(model_path, imported):
    mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    for given in (mujoco.MjSpec.from_file(str(model_path)), mujoco.MjModel.from_xml_path(str(model_path))):
        if hasattr(given, "nbody"):
            for number in range(1, given.nbody):
                assert given.body(number).name
            with pytest.raises(vi.ArgumentError, match="has no name: name it, or give the MjSpec"):
                vi.load_mechanism(mujoco.MjModel.from_xml_string("<mujoco><worldbody><body/></worldbody></mujoco>"))
            continue
        mechanism = vi.load_mechanism(given)
        assert [force.name for force in mechanism.forces] == [force.name for force in imported.forces]
    with pytest.raises(vi.ArgumentError, match="no parameters"):
        vi.load_mechanism(given, {"a": 1.0})
