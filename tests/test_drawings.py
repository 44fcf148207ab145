"""Mechanisms drawn: from where they are seen, and that bodies, joints and springs are where they are."""

from itertools import pairwise

import numpy as np
import pytest
from force_samples import NAMES, OF_RATES, sample_mechanism, samples

import varint as vi
from varint.drawing.mechanism_picture import make_painter
from varint.drawing.paint import rounded, zigzag
from varint.drawing.scene import WORLD, is_retracted, make_scene, placed
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import JointFrames, with_world

SPATIAL = {
    "bennett", "bricard", "cable_between_carts", "delta_robot", "dominoes", "free_body", "governor",
    "parallelogram_flexure", "roller_coaster", "rolling_disc", "sarrus", "snake", "spatial_slider_crank",
    "spinning_top", "starfish", "stewart_platform", "tensegrity", "tree", "two_bones_one_muscle", "woodpecker",
}  # fmt: skip
FROM_ABOVE = {"ball_on_turntable", "chaplygin_sleigh"}
X, Y, Z = np.eye(3)


def scene_of(mechanism, plane=None):
    return make_scene(mechanism, choose_view(mechanism, plane))


def outlines(mechanism, body, plane=None):
    """Points of the outlines of a body, world, reference configuration."""
    scene, number = scene_of(mechanism, plane), mechanism.body_index[body]
    x, R = with_world([b.position for b in mechanism.bodies], [b.quat_wxyz for b in mechanism.bodies])
    return [placed(x, R, number, outline.points) for outline in scene.outlines if outline.body == number]


def near(points, wanted, tolerance=1e-9):
    return min(np.linalg.norm(point - wanted) for point in points) < tolerance


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_is_seen_in_its_plane_and_fits_into_the_picture(name):
    mechanism = getattr(vi.mechanisms, name)()
    figure = mechanism.plot()
    (axes,) = figure.axes
    view = choose_view(mechanism, None)
    assert view.flat == (name not in SPATIAL)
    if view.flat:
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "y (m)" if name in FROM_ABOVE else "z (m)")
    else:
        assert [text.get_text() for text in axes.texts][:3] == ["x", "y", "z"]
        lengths = np.linalg.norm(view.project(np.eye(3)), axis=1)
        assert lengths == pytest.approx(np.sqrt(2 / 3))  # equally short
        gravity = mechanism.gravity if mechanism.gravity.any() else -Z
        assert view.project(gravity)[0] == pytest.approx(0.0, abs=1e-12)
        assert view.project(gravity)[1] < 0
    assert axes.get_aspect() == 1.0
    state = mechanism.state()
    x, R = with_world(state.position, state.quat_wxyz)
    points = [x[:-1]]
    for joint in mechanism.joints:
        frames = JointFrames(mechanism, joint)
        if joint.needs_point and not hasattr(joint, "frames"):
            points += [
                placed(x, R, b, origin)[None]
                for b, origin in ((frames.a, frames.origin_a), (frames.b, frames.origin_b))
            ]
    seen = view.project(np.concatenate(points))
    for places, (low, high) in zip(seen.T, (axes.get_xlim(), axes.get_ylim()), strict=True):
        assert low < places.min()
        assert places.max() < high


def pendulum(axis, gravity, kind=vi.Revolute, **more):
    body = vi.Body.rod("rod", (0, 0, 0), np.cross(axis, (0.3, 0.5, 0.7)), 1.0)
    return vi.Mechanism("m", [body], [kind("j", "world", "rod", point=(0, 0, 0), axis=axis, **more)], gravity=gravity)


@pytest.mark.parametrize(
    ("axis", "gravity", "right", "up"),
    [
        (Y, -9.81 * Z, X, Z),
        (-Y, -9.81 * Z, X, Z),
        (X, -9.81 * Z, Y, Z),
        (Z, -9.81 * Z, X, Y),
        (Z, 0 * Z, X, Y),
        (Z, -9.81 * Y, X, Y),
        (Y, 0 * Z, X, Z),
        (X + Y, -9.81 * Z, (X - Y) / np.sqrt(2), Z),
    ],
)  # fmt: skip
def test_the_plane_is_across_the_axes_with_gravity_downwards(axis, gravity, right, up):
    view = choose_view(pendulum(axis, gravity), None)
    assert view.flat
    assert view.right == pytest.approx(right, abs=1e-12)
    assert view.up == pytest.approx(up, abs=1e-12)
    assert abs(view.towards @ axis) == pytest.approx(np.linalg.norm(axis))


def test_planes_by_name_and_isometric():
    four_bar = vi.mechanisms.four_bar()
    for plane in ("xy", "xz", "yz", "yx", "zx", "zy"):
        view = choose_view(four_bar, plane)
        assert view.labels == tuple(plane)
    assert not choose_view(four_bar, "isometric").flat
    assert not choose_view(pendulum(Y, -Z, vi.Universal, axis_b=X), None).flat
    slanted = choose_view(pendulum(X + Y, -9.81 * Z), None)
    assert slanted.labels == ("along (0.71, -0.71, 0)", "z")
    with pytest.raises(vi.ArgumentError, match=r"plane must be one of xy, .*isometric, got 'side'"):
        four_bar.plot(plane="side")
    with pytest.raises(vi.ArgumentError, match="state must be a State"):
        four_bar.plot(3)
    with pytest.raises(vi.ArgumentError, match="position of the state must be"):
        four_bar.plot(vi.mechanisms.double_pendulum().state())


def test_links_reach_from_joint_to_joint_and_to_their_tips():
    four_bar = vi.mechanisms.four_bar()
    (coupler,) = outlines(four_bar, "coupler")
    assert len(coupler) == 2
    for name in ("crank pin", "rocker pin"):
        assert near(coupler, four_bar.joint(name).point)
    chain = vi.mechanisms.n_pendulum(n=3)
    last = chain.bodies[-1]
    (rod,) = outlines(chain, last.name)
    joint = chain.joints[-1].point
    assert len(rod) == 2
    assert near(rod, joint)
    assert near(rod, 2 * last.position - joint)


def test_feet_that_no_joint_is_at_are_found_by_inertia():
    klann, jansen = vi.mechanisms.klann_leg(), vi.mechanisms.jansen_leg()
    (leg,) = outlines(klann, "leg")
    assert near(leg, np.zeros(3), 0.15)
    (triangle,) = outlines(jansen, "lower triangle")
    assert len(triangle) == 3
    knee, ankle = jansen.joint("knee").point, jansen.joint("ankle").point
    assert near(triangle, knee)
    assert near(triangle, ankle)
    assert near(triangle, 3 * jansen.body("lower triangle").position - knee - ankle)


def test_traced_points_are_corners_unless_they_are_inside():
    jansen = vi.mechanisms.jansen_leg()
    number, view = jansen.body_index["lower triangle"], choose_view(jansen, None)
    plain = [outline for outline in make_scene(jansen, view).outlines if outline.body == number]
    for point, corner in ((np.zeros(3), False), (np.array([0.0, 0.0, -0.5]), True)):
        (outline,) = (o for o in make_scene(jansen, view, [(number, point)]).outlines if o.body == number)
        assert len(outline.points) == 3
        assert near(outline.points, point, 0.01) == corner
        assert np.allclose(outline.points, plain[0].points) != corner


def test_telescopes_sliders_wheels_and_boxes():
    stewart = vi.mechanisms.stewart_platform()
    (cylinder,), (piston,) = outlines(stewart, "cylinder 1"), outlines(stewart, "piston 1")
    foot, head = stewart.joint("foot 1").point, stewart.joint("head 1").point
    assert near(cylinder, foot)
    assert near(cylinder, foot + 0.7 * (head - foot), 1e-3)
    assert near(piston, head)
    assert near(piston, head - 0.7 * (head - foot), 1e-3)
    crank = vi.mechanisms.slider_crank()
    (slider,) = outlines(crank, "slider")
    assert np.ptp(slider, axis=0) == pytest.approx([0.2, 0.0, 0.1])
    (platform,) = outlines(stewart, "platform")
    assert len(platform) == 6
    wheel = vi.Body.cylinder("wheel", 0.3, 0.05, 1.0, quat_wxyz=(np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    on_axle = vi.Mechanism("m", [wheel], [vi.Revolute("j", "world", "wheel", point=(0, 0, 0), axis=Y)])
    (rim,) = outlines(on_axle, "wheel")
    assert np.linalg.norm(rim[:, [0, 2]], axis=1) == pytest.approx(0.3)
    (box,) = outlines(vi.mechanisms.free_body(), vi.mechanisms.free_body().bodies[0].name)
    assert len(box) == 8


@pytest.mark.slow
def test_marks_say_what_a_joint_is():
    symbols = {mark.symbol for mark in scene_of(vi.mechanisms.four_bar()).marks}
    assert symbols == {"pin"}
    stewart = scene_of(vi.mechanisms.stewart_platform())
    assert sorted(mark.symbol for mark in stewart.marks) == ["ball"] * 6 + ["cross"] * 6
    assert sum(mark.grounded for mark in stewart.marks) == 6
    (guide,) = scene_of(vi.mechanisms.cart_pole()).guides
    assert guide.axis == pytest.approx(X)
    (track,) = scene_of(vi.mechanisms.roller_coaster()).tracks
    car = vi.mechanisms.roller_coaster().body("car").position
    assert near(track, car, 1e-6)
    assert np.linalg.norm(track[0] - track[-1]) < 1e-9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::varint.SparseNodesWarning")  # poses alone are drawn
def test_guides_span_the_way_of_the_slider():
    run = vi.simulate(vi.mechanisms.slider_crank(), 1.0, 0.01)
    times = np.linspace(0, 1, 60)
    axes = run.plot("mechanism", times=times).axes[0]
    x, R = with_world(run.at(times).position, run.at(times).quat_wxyz)
    painter = make_painter(run.mechanism, x, R, choose_view(run.mechanism, None))
    guide = painter._guide(painter.scene.guides[0], x, R)[0]
    slider = run.position[:, 2, 0]
    assert guide[:, 0].min() < slider.min() - 0.1 + 1e-3
    assert guide[:, 0].max() > slider.max() + 0.1 - 1e-3
    assert guide[:, 1] == pytest.approx(-0.05)  # under the block of 0.1 m
    assert axes.get_xlim()[0] < guide[:, 0].min()


def test_the_ground_is_below_what_stands_and_above_what_hangs():
    for name, above in (("four_bar", False), ("double_pendulum", True)):
        mechanism = getattr(vi.mechanisms, name)()
        state = mechanism.state()
        x, R = with_world(state.position[None], state.quat_wxyz[None])
        assert make_painter(mechanism, x, R, choose_view(mechanism, None)).rises != above


@pytest.mark.parametrize("name", sorted(set(NAMES) - {*OF_RATES, "Attachment", "UserConstraint"}))
def test_lines_of_forces_end_on_their_bodies(name):
    forces = samples(np.random.default_rng(3))[name]
    mechanism = sample_mechanism(np.random.default_rng(3), forces)
    scene = scene_of(mechanism)
    lines = [force for force in forces if force.course()]
    assert bool(lines) == any(hasattr(forces[0], name) for name in ("point_b", "points", "path")) or not lines
    branches = [course for force in lines for course, _ in force.branches(mechanism)]
    assert len(scene.strands) == len(branches)
    x, R = with_world([b.position for b in mechanism.bodies], [b.quat_wxyz for b in mechanism.bodies])
    for course, strand in zip(branches, scene.strands, strict=True):
        ends = [placed(x, R, body, point) for body, point in zip(strand.bodies, strand.points, strict=True)]
        assert np.array(ends) == pytest.approx(np.array([point for _, point in course]), abs=1e-9)
        assert [mechanism.body_index.get(name, WORLD) for name, _ in course] == list(strand.bodies)
    for force in lines:
        if hasattr(force, "point_b") or hasattr(force, "points"):
            given = force.points if hasattr(force, "points") else [force.point_a, force.point_b]
            assert np.array([point for _, point in force.course()]) == pytest.approx(np.array(given), abs=1e-9)
        surfaces = {each[0] for _, over in force.branches(mechanism) for each in over if each}
        assert {name for name, _ in force.course()} | surfaces == set(force.acts_on(mechanism))
    assert mechanism.plot(
        vi.State(x[:-1], np.array([b.quat_wxyz for b in mechanism.bodies]), 0 * x[:-1], 0 * x[:-1])
    ).axes


def test_springs_are_zigzags_and_cables_lines():
    start, end = np.array([0.0, 0.0]), np.array([3.0, 4.0])
    coil = zigzag(start, end, 0.2)
    assert coil[0] == pytest.approx(start)
    assert coil[-1] == pytest.approx(end)
    aside = (coil - start) @ np.array([-0.8, 0.6])
    assert aside.max() == pytest.approx(0.2)
    assert aside.min() == pytest.approx(-0.2)
    assert len(zigzag(start, start, 0.2)) == 2
    looks = {name: forces[0].look for name, forces in samples(np.random.default_rng(3)).items() if forces[0].course()}
    assert {name for name, look in looks.items() if look == "line"} == {
        "Cable",
        "LengthStop",
        "MultiPointCable",
        "Musculotendon",
        "PathMass",
        "Tendon",
    }


def test_a_beam_is_one_line():
    """Its nodes have no outlines; the body at its tip has."""
    section = vi.Section.rectangle(0.02, 0.01, E=2e9, nu=0.3, density=1200.0)
    leaf = vi.beam("leaf", "world", "tip", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section)
    tip = vi.Body.box("tip", (0.1, 0.1, 0.1), 1.0, position=(1.05, 0, 0))
    mechanism = vi.Mechanism("leaf", [*leaf.bodies, tip], leaf.joints, forces=leaf.forces)
    scene = make_scene(mechanism, choose_view(mechanism, "xz"))
    assert {outline.body for outline in scene.outlines} == {mechanism.body_index["tip"]}
    ends = [strand.points for strand in scene.strands]
    assert [strand.look for strand in scene.strands] == ["beam"] * 4
    x = np.array([body.position for body in mechanism.bodies] + [(0, 0, 0)])
    for strand, following in pairwise(scene.strands):
        assert strand.bodies[1] == following.bodies[0]
    assert not np.concatenate(ends).any()
    assert x[[strand.bodies[1] for strand in scene.strands], 0] == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_rounded_outlines_keep_their_distance(rng):
    points = rng.standard_normal((5, 2))
    corners = rounded(points, 0.1)
    assert np.linalg.norm(corners[:, None] - points, axis=2).min(axis=1) == pytest.approx(0.1)


@pytest.mark.slow
def test_long_chains_and_poses_far_from_the_origin():
    mechanism = vi.mechanisms.n_pendulum(n=60)
    assert len(mechanism.plot().axes[0].patches) >= 180
    state = vi.mechanisms.free_body().state()
    far = vi.State(state.position + 1e6, state.quat_wxyz, state.velocity, state.angular_velocity)
    axes = vi.mechanisms.free_body().plot(far).axes[0]
    assert np.ptp(axes.get_xlim()) < 2.0


def test_bodies_and_joints_are_named_on_request():
    mechanism = vi.mechanisms.jansen_leg()
    (axes,) = mechanism.plot().axes
    assert not axes.texts
    (axes,) = mechanism.plot(labels=True).axes
    names = [name for text in axes.texts for name in text.get_text().split("\n")]
    assert sorted(names) == sorted([*mechanism.body_index, *mechanism.joint_index])
    assert "knee\nlower knee" in {text.get_text() for text in axes.texts}  # two at one place
    state = mechanism.state()
    for text, centre in zip(axes.texts, state.position, strict=False):
        np.testing.assert_allclose(text.xy, centre[[0, 2]])


@pytest.mark.slow
def test_pistons_stay_in_their_cylinders():
    """A rod fills the gap between the links of each leg, and is not drawn where they overlap."""
    mech = vi.mechanisms.stewart_platform()
    rods = [strand for strand in scene_of(mech).strands if strand.look == "piston"]
    assert len(rods) == 6
    run = vi.simulate(mech, 14.0, 0.02, every=10)
    x, R = with_world(run.position, run.quat_wxyz)
    seen = []
    for k, rod in enumerate(rods, start=1):
        foot, head = (mech.joints[mech.joint_index[f"{end} {k}"]].point for end in ("foot", "head"))
        length = np.linalg.norm(head - foot)
        begin, end = (placed(x, R, body, point) for body, point in zip(rod.bodies, rod.points, strict=True))
        assert np.linalg.norm(begin - foot, axis=1) == pytest.approx(0.7 * length)  # open end of the cylinder
        gap = run.coordinates[f"leg {k}"] - 0.4 * length
        assert np.linalg.norm(end - begin, axis=1) == pytest.approx(np.abs(gap), abs=1e-9)
        hidden = [is_retracted(rod, *pose) for pose in zip(x, R, strict=True)]
        assert hidden == (gap <= 0.0).tolist()
        seen.append(not all(hidden))
    assert any(seen)


def test_names_stay_within_the_figure():
    long = "a body with a name that is as long as the picture is wide or so"
    rods = [vi.Body.rod(f"{long} {k}", (k, 0, 0), (k + 1, 0, 0), 1.0) for k in range(2)]
    joints = [
        vi.Revolute(f"hinge of {rod.name}", a, rod.name, point=(k, 0, 0), axis=(0, 1, 0))
        for k, (a, rod) in enumerate(zip(("world", rods[0].name), rods, strict=True))
    ]
    figure = vi.Mechanism("named", rods, joints).plot(labels=True)
    figure.draw_without_rendering()
    renderer = figure._get_renderer()
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        fits = box.width <= figure.bbox.width
        assert box.x0 >= -1e-6
        assert not fits or box.x1 <= figure.bbox.x1 + 1e-6
        assert box.y0 + 1e-6 >= 0.0
        assert box.y1 <= figure.bbox.y1 + 1e-6
