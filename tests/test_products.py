"""Joints that are products of exponentials: helical, spline curve, spline surface, composite."""

import numpy as np
import pytest
from random_mechanisms import random_joint, random_track, random_tree, random_velocity_state
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation

import varint as vi
from varint.methods.reduced.integrators import INTEGRATORS
from varint.model.joints import REGISTRY
from varint.model.joints.base import ProductJoint

KINDS = tuple(kind for kind, joint in REGISTRY.items() if issubclass(joint, ProductJoint))


def box(name="b", **pose):
    return vi.Body.box(name, (0.1, 0.2, 0.4), 2.0, **pose)


# --------------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize(("lead", "T"), [(0.3, 0.6), (-0.05, 1.0)])
def test_a_nut_turns_down_its_screw(lead, T):
    """m g c = (m c^2 + J) angle'' with c = lead / 2 pi."""
    body, c = box(), lead / (2 * np.pi)
    screw = vi.Helical("screw", "world", "b", point=(0, 0, 0), axis=(0, 0, 1), lead=lead)
    mechanism, rate = vi.Mechanism("nut", [body], [screw]), -2.0 * 9.81 * c / (2.0 * c * c + body.inertia[2, 2])
    runs = [vi.redmax.simulate(mechanism, T, dt=0.01)]
    runs += [vi.simulate(mechanism, T, dt, on_unresolved="ignore") for dt in (0.01, 0.005)]  # up to 0.4 rad a step
    errors = []
    for run in runs:
        angle = run.coordinates["screw"]
        errors.append(np.abs(angle - 0.5 * rate * run.t**2).max())
        assert abs(angle[-1]) > 2 * np.pi  # so that it counts turns
        assert run.position[:, 0, 2] == pytest.approx(c * angle, abs=1e-12)
    assert errors[0] < 1e-9 * abs(rate)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


def test_a_motor_on_a_screw_does_work_along_its_angle():
    screw = vi.Helical("screw", "world", "b", point=(0, 0, 0), axis=(0, 0, 1), lead=0.1)
    motor = vi.Motor("motor", joint="screw", effort=0.5)
    body = box()
    mechanism = vi.Mechanism("jack", [body], [screw], gravity=(0, 0, 0), forces=[motor])
    inertia = body.inertia[2, 2] + 2.0 * (0.1 / (2 * np.pi)) ** 2
    reduced = vi.redmax.simulate(mechanism, 0.5, dt=0.01)
    maximal = vi.simulate(mechanism, 0.5, 0.01, on_unresolved="ignore")  # 0.3 rad in the last step
    assert reduced.coordinates["screw"] == pytest.approx(0.25 / inertia * reduced.t**2, rel=1e-9)
    assert maximal.coordinates["screw"] == pytest.approx(reduced.coordinates["screw"], rel=1e-2)
    assert reduced.kinetic == pytest.approx(0.5 * reduced.coordinates["screw"], rel=1e-9)  # its work


def test_frames_that_do_not_turn_make_the_spline_of_their_origins():
    points = np.random.default_rng(1).standard_normal((7, 3))
    frames = np.tile(np.eye(4), (7, 1, 1))
    frames[:, :3, 3] = points
    spline = BSpline(np.arange(-3.0, 8.0), points, 3)
    for q in np.linspace(0.0, 4.0, 9):
        T = vi.SplineCurve.pose(frames, q, closed=False)
        assert T[:3, :3] == pytest.approx(np.eye(3), abs=1e-15)
        assert T[:3, 3] == pytest.approx(spline(q), abs=1e-14)


def test_a_closed_curve_meets_itself():
    frames = random_track(np.random.default_rng(0))
    for q in (0.0, 0.3, 5.9):
        assert vi.SplineCurve.pose(frames, q + 6.0) == pytest.approx(vi.SplineCurve.pose(frames, q), abs=1e-13)
    h = 1e-5
    slopes = [(vi.SplineCurve.pose(frames, 6 * s + h) - vi.SplineCurve.pose(frames, 6 * s - h)) / h for s in (0, 1)]
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-9)


def test_a_flat_surface_is_a_planar_joint_with_the_controls_as_its_unit():
    """Splines reproduce straight lines: control values at places a k give the place a (q + 1)."""
    i, j = np.mgrid[:6, :7]
    controls = np.moveaxis([0.5 * i, 0.25 * j, 0 * i, 0 * i, 0 * i, 0 * i], 0, 2).astype(float)
    surface = vi.SplineSurface("s", "world", "b", point=(0, 0, 0), controls=controls, at=(1.0, 1.0))
    plane = vi.PlanarTranslation("s", "world", "b", point=(0, 0, 0), axis=(0, 0, 1))
    runs = []
    for joint in (surface, plane):
        mechanism = vi.Mechanism("sheet", [box()], [joint], gravity=(0.3, -0.2, -9.81))
        rates = (0.4, 0.3) if joint is surface else joint.frame.T[:2, :2] @ (0.2, 0.075)
        state = mechanism.state(rates={"s": rates})
        runs.append(vi.simulate(mechanism, 1.0, 0.01, state=state))
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-12)
    place = runs[0].position[:, 0, :2] / (0.5, 0.25) + 1.0
    assert runs[0].coordinates["s"] == pytest.approx(place, abs=1e-11)


def test_a_surface_turns_about_x_then_y_then_z():
    controls = np.zeros((4, 4, 6))
    controls[..., 3:] = (0.3, -0.2, 0.5)
    turned = Rotation.from_euler("XYZ", (0.3, -0.2, 0.5)).as_matrix()
    assert vi.SplineSurface.pose(controls, (0.4, 0.6))[:3, :3] == pytest.approx(turned, abs=1e-14)


# --------------------------------------------------------------------------------------------- the same as others


def same_runs(one, other, q, qdot, name="j", duration=0.5):
    """Both mechanisms, from one motion: runs, accelerations and reactions are the same."""
    runs = []
    for mechanism in (one, other):
        state = mechanism.state(coordinates={name: q}, rates={name: qdot})
        runs.append(vi.simulate(mechanism, duration, 0.005, state=state))
    a, b = runs
    for field in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        size = 1 + np.abs(getattr(b, field)).max()
        assert getattr(a, field) == pytest.approx(getattr(b, field), abs=1e-8 * size), field
    assert a.reactions[name].force == pytest.approx(b.reactions[name].force, abs=1e-6)
    assert a.reactions[name].torque == pytest.approx(b.reactions[name].torque, abs=1e-6)
    reduced = [
        vi.redmax.simulate(m, duration, dt=0.1, rtol=1e-10, state=m.state(coordinates={name: q}, rates={name: qdot}))
        for m in (one, other)
    ]
    assert reduced[0].position == pytest.approx(reduced[1].position, abs=1e-8)
    assert reduced[0].q == pytest.approx(reduced[1].q, abs=1e-7)


def pair(joint):
    return vi.Mechanism("pair", [box(position=(0.3, 0.1, -0.2))], [joint])


def test_components_that_are_equally_good_are_not_chosen_by_round_off():
    """Runs of starts that differ by round-off do so too; by 7.9e-5 rad/s if they choose what is solved for."""
    parts = [{"type": "Revolute", "axis": axis} for axis in ((1, 1, 1), (1, -1, 0))]
    body = vi.Body.box("b", (0.1, 0.2, 0.3), 2.0, position=(0.1, 0.2, 0.3))
    joint = vi.Composite("j", "world", "b", point=(0.0, 0.1, 0.0), parts=parts)
    dampers = [vi.JointDamper(f"d{k}", joint="j", coordinate=k, damping=5.0) for k in range(2)]
    mechanism, rng = vi.Mechanism("m", [body], [joint], forces=dampers), np.random.default_rng(0)
    after = []
    for _ in range(16):
        q = (0.3, -0.7) + 1e-15 * rng.uniform(-1.0, 1.0, 2)
        state = mechanism.state(coordinates={"j": q}, rates={"j": (3.0, -2.0)})
        after.append(vi.simulate(mechanism, 1e-3, 1e-3, state=state).angular_velocity[1])
    assert np.ptp(after, axis=0).max() < 1e-10


def test_a_turn_and_a_slide_are_a_cylindrical_joint():
    given = {"point": (0.1, 0.2, 0.3), "axis": (1.0, 2.0, 2.0)}
    cylindrical = vi.Cylindrical("j", "world", "b", **given)
    order = [{"Slide": "Prismatic", "Turn": "Revolute"}[type(motion).__name__] for motion in cylindrical.allowed]
    parts = [{"type": kind, "axis": given["axis"]} for kind in order]
    composite = vi.Composite("j", "world", "b", point=given["point"], parts=parts)
    same_runs(pair(composite), pair(cylindrical), (0.3, -0.4), (1.0, 2.0))


def test_two_turns_are_a_universal_joint():
    given = {"point": (0.1, 0.2, 0.3), "axis": (0, 0, 1), "axis_b": (0, 1, 0)}
    parts = [{"type": "Revolute", "axis": given["axis"]}, {"type": "Revolute", "axis": given["axis_b"]}]
    composite = vi.Composite("j", "world", "b", point=given["point"], parts=parts)
    same_runs(pair(composite), pair(vi.Universal("j", "world", "b", **given)), (0.3, -0.4), (1.0, 2.0))


def test_a_slide_and_a_ball_keep_a_point_on_a_line():
    parts = [{"type": "Prismatic", "axis": (0, 0, 1)}, {"type": "Spherical"}]
    composite = vi.Composite("j", "world", "b", point=(0.1, 0.2, 0.3), parts=parts)
    line = vi.PointOnLine("j", "world", "b", point=(0.1, 0.2, 0.3), axis=(0, 0, 1))
    turn = np.array([0.3, -0.4, 0.2])
    there, rates = np.append(0.2, line.frame.T @ turn), np.append(0.3, line.frame.T @ (1.0, 2.0, 0.5))
    runs = []
    for joint, q, qdot in (
        (composite, (0.2, *turn), (0.3, 1.0, 2.0, 0.5)),
        (line, there, rates),
    ):
        mechanism = pair(joint)
        state = mechanism.state(coordinates={"j": q}, rates={"j": qdot})
        runs.append(vi.simulate(mechanism, 0.5, 0.005, state=state))
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-9)
    assert runs[0].acceleration == pytest.approx(runs[1].acceleration, abs=1e-6)


def test_a_free_body_in_the_other_order():
    """Turned, then shifted along its own axes: the same flight as shifted, then turned."""
    composite = vi.Composite(
        "j", "world", "b", point=(0.3, 0.1, -0.2), parts=[{"type": "Spherical"}, {"type": "Translational"}]
    )
    state = pair(composite).state(velocity={"b": (0.1, 0.2, 3.0)}, angular_velocity={"b": (3.0, 0.1, 0.2)})
    runs = [
        vi.redmax.simulate(pair(joint), 1.0, dt=0.1, rtol=1e-10, state=state)
        for joint in (composite, vi.Free("j", "world", "b"))
    ]
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-8)
    assert runs[0].quat_wxyz == pytest.approx(runs[1].quat_wxyz, abs=1e-8)


# --------------------------------------------------------------------------------------------- both formulations


def slope(mechanism, state, T, order=2, steps=(100, 200)):
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11, state=state)
    errors = []
    for n in steps:
        run = vi.simulate(mechanism, T, T / n, state=state, tol=1e-12, order=order)
        errors.append(
            [np.abs(getattr(run, field)[-1] - getattr(exact, field)[-1]).max() for field in ("position", "velocity")]
        )
        assert run.drift.max() < 1e-12
    return np.log2(np.divide(*errors)), exact


@pytest.mark.parametrize(("kind", "order"), [*((kind, 2) for kind in KINDS), ("Helical", 4), ("Composite", 4)])
def test_order_on_trees(kind, order, rng):
    """Beyond 2 the ends of a spline's pieces, where its third derivative jumps, would tell."""
    steps = (100, 200) if order == 2 else (20, 40)
    mechanism = random_tree(rng, 3, kinds=(kind,))
    found, exact = slope(mechanism, random_velocity_state(rng, mechanism), 0.3, order, steps)
    assert found == pytest.approx(np.full(2, order), abs=0.3 if order == 4 else 0.1)
    assert np.abs(exact.energy_balance).max() < 1e-8


def loop(rng, kind):
    """Two arms that a joint of that kind joins at their ends, the first on a ball, the second on a Hooke joint."""
    bodies = [box("left", position=(0, 0, -0.5)), box("right", position=(1.0, 0, -0.5))]
    joints = [
        vi.Spherical("ball", "world", "left", point=(0, 0, 0)),
        vi.Universal("hooke", "world", "right", point=(1, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0)),
        random_joint(rng, kind, "cut", "left", "right", np.array([0.5, 0.0, -1.0])),
    ]
    return vi.Mechanism("loop", bodies, joints)


@pytest.mark.parametrize("kind", ["SplineSurface", "Composite"])
def test_order_two_on_loops(kind, rng):
    mechanism = loop(rng, kind)
    found, exact = slope(mechanism, random_velocity_state(rng, mechanism, 0.3), 0.2)
    assert found == pytest.approx(np.full(2, 2.0), abs=0.1)
    assert exact.drift.max() < 1e-9


@pytest.mark.slow
def test_drive_of_a_prescribed_screw():
    """The torque (J + m c^2) angle'' + m g c with c = lead / 2 pi, whose work is the change of energy."""
    body, c = box(), 0.3 / (2 * np.pi)
    screw = vi.Helical("screw", "world", "b", point=(0, 0, 0), axis=(0, 0, 1), lead=0.3)
    mechanism = vi.Mechanism("jack", [body], [screw])

    def turn(t):
        return np.sin(3.0 * t), 3.0 * np.cos(3.0 * t), -9.0 * np.sin(3.0 * t)

    state = mechanism.state(rates={"screw": 3.0})
    run = vi.redmax.simulate(mechanism, 2.0, dt=0.002, prescribed={"screw": turn}, state=state, rtol=1e-9)
    angle, rate, second = (np.array([turn(t)[k] for t in run.t]) for k in range(3))
    assert run.coordinates["screw"] == pytest.approx(angle, abs=1e-9)
    assert run.position[:, 0, 2] == pytest.approx(c * angle, abs=1e-9)
    torque = (body.inertia[2, 2] + 2.0 * c * c) * second + 2.0 * 9.81 * c
    assert run.driving["screw"].ravel() == pytest.approx(torque, abs=1e-7)
    power = torque * rate
    work = np.append(0.0, np.cumsum(0.001 * (power[1:] + power[:-1])))
    assert run.energy - run.energy[0] == pytest.approx(work, abs=1e-5)


@pytest.mark.slow
def test_reduced_efforts_pass_through_a_spline():
    """A prescribed ride: the drive's work is the change of energy."""
    mechanism = vi.mechanisms.roller_coaster()

    def ride(t):
        return 0.5 * t * t, t, 1.0

    run = vi.redmax.simulate(mechanism, 2.0, dt=0.002, prescribed={"track": ride}, state=_at_rest(mechanism), rtol=1e-9)
    assert run.coordinates["track"] == pytest.approx(0.5 * run.t**2, abs=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-4 * run.kinetic.max()


def _at_rest(mechanism):
    return mechanism.state(rates={"track": [0.0]})


@pytest.mark.slow
def test_reduced_accelerations_are_the_maximal_ones(rng):
    for kind in KINDS:
        mechanism = random_tree(rng, 3, kinds=(kind,))
        state = random_velocity_state(rng, mechanism)
        maximal = vi.simulate(mechanism, 0.01, 0.01, state=state)
        reduced = vi.redmax.simulate(mechanism, 1e-4, dt=1e-5, state=state, rtol=1e-11)
        slopes = np.gradient(reduced.velocity, 1e-5, axis=0, edge_order=2)[0]
        assert maximal.acceleration[0] == pytest.approx(slopes, abs=1e-4 * (1 + np.abs(slopes).max())), kind


@pytest.mark.slow
def test_long_rides_keep_their_energy_and_go_on_to_the_same_bits(tmp_path):
    mechanism, path = vi.mechanisms.roller_coaster(), tmp_path / "ride.h5"
    run = vi.simulate(mechanism, 20.0, 0.01)
    assert run.coordinates["track"][-1] > 30.0  # control frames, of 16 a round
    assert run.drift.max() < 1e-11
    halves = np.abs(run.energy_balance[1:].reshape(2, -1)).max(axis=1)
    assert halves[0] < 2e-5 * run.kinetic.max()
    assert halves[1] < 2.0 * halves[0]
    vi.simulate(mechanism, 7.0, 0.01, output=path)
    resumed = vi.simulate(mechanism, 20.0, 0.01, output=path, resume=True)
    for field in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(resumed, field), getattr(run, field))


# --------------------------------------------------------------------------------------------- errors


TURN = {"type": "Revolute", "axis": (0, 0, 1)}
FRAMES = random_track(np.random.default_rng(0))
SKEW = FRAMES.copy()
SKEW[2, 0, 0] += 0.01
WRONG = {
    "needs a lead": (vi.Helical, {"axis": (0, 0, 1), "lead": 0.0}),
    "lead of helical": (vi.Helical, {"axis": (0, 0, 1), "lead": np.nan}),
    "at least 4 poses": (vi.SplineCurve, {"frames": FRAMES[:3]}),
    "frames of splinecurve joint 'j' must be finite": (vi.SplineCurve, {"frames": FRAMES * np.nan}),
    "frame 2 of splinecurve joint 'j' is not a pose": (vi.SplineCurve, {"frames": SKEW}),
    "with n1, n2 from 4": (vi.SplineSurface, {"controls": np.zeros((4, 3, 6))}),
    "at of splinesurface": (vi.SplineSurface, {"controls": np.zeros((4, 4, 6)), "at": (0.0,)}),
    "parts of composite joint 'j' must be a list of joints, got 3": (vi.Composite, {"parts": 3}),
    "parts of composite joint 'j' must be a list of joints, got ..": (vi.Composite, {"parts": []}),
    "part 0 of composite joint 'j' must be a dict": (vi.Composite, {"parts": ["Revolute"]}),
    "no joint type 'Revolut', did you mean 'Revolute'": (vi.Composite, {"parts": [TURN | {"type": "Revolut"}]}),
    "part 1 of composite joint 'j': .*axis": (vi.Composite, {"parts": [TURN, {"type": "Prismatic"}]}),
    "has 7 coordinates": (vi.Composite, {"parts": [TURN] * 7}),
    "part 0 of .*a PointOnLine cannot be one": (vi.Composite, {"parts": [TURN | {"type": "PointOnLine"}]}),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_descriptions(message):
    kind, given = WRONG[message]
    with pytest.raises(vi.MechanismError, match=message):
        kind("j", "world", "b", point=(0, 0, 0), **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", [name for name, kind in INTEGRATORS.items() if kind.fixed and kind.order <= 2 and not kind.trees_only]
)
def test_order_in_reduced_coordinates_on_a_loop_that_a_product_closes(integrator, rng):
    mechanism, order, T = loop(rng, "Composite"), INTEGRATORS[integrator].order, 0.2
    cut = mechanism.compiled.topology.nodes[0][0][1]
    assert isinstance(mechanism.joints[cut[0]], ProductJoint)
    start = {"state": random_velocity_state(rng, mechanism, 0.3)}
    exact, counts = vi.redmax.simulate(mechanism, T, rtol=1e-11, **start), (40, 80, 160)
    found = []
    for n in counts:
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator, every=n, **start)
        errors = (np.abs(getattr(run, name)[-1] - getattr(exact, name)[-1]).max() for name in ("position", "velocity"))
        found.append(list(errors))
        assert run.drift.max() < 1e-3
    slopes = -np.polyfit(np.log(counts), np.log(found), 1)[0]
    assert slopes == pytest.approx(np.full(2, order), abs=0.15)


@pytest.mark.parametrize("order", [2, 4])
def test_steps_near_a_fold_of_a_surface_leave_the_joint_closed(order):
    """Where the coordinates at the end of a step were not found, its rows were none of the joint's: it is halved."""
    rng = np.random.default_rng(17)
    mechanism = random_tree(rng, 3, ("SplineSurface", "Revolute", "Spherical"))
    state = random_velocity_state(rng, mechanism, 0.3)
    run = vi.simulate(mechanism, 1.0, 0.02, state=state, order=order, on_unresolved="ignore")
    assert run.success
    assert run.substeps > 0
    assert run.drift.max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("dt", [0.01, 0.02])
def test_surfaces_stay_closed_where_steps_cross_their_pieces(dt, order):
    crossings = 0
    for seed in (6, 8, 10):
        rng = np.random.default_rng([seed, 34])
        mechanism = random_tree(rng, 2, ("SplineSurface",))
        run = vi.simulate(
            mechanism, 0.8, dt, state=random_velocity_state(rng, mechanism, 3.0), order=order, on_unresolved="ignore"
        )
        assert run.drift.max() < 1e-9 * mechanism.compiled.length
        for joint in mechanism.joints:
            pieces = np.clip(np.floor(run.coordinates[joint.name]), 0, np.array(joint.controls.shape[:2]) - 4)
            crossings += np.count_nonzero(np.diff(pieces, axis=0))
    assert crossings > 10
