"""Assembly modes against closed forms and searches of their own, their names, displays and errors."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from planar_links import four_bar
from poses import pose_of, rows_at
from scipy.spatial.transform import Rotation
from six_bars import intersections, stephenson

import varint as vi

SIZES = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8, "ground": 1.0}


def in_plane(points):
    """x + i z of points (..., 3)."""
    return points[..., 0] + 1j * points[..., 2]


def check_closed(mechanism, modes):
    for mode in modes:
        assert np.abs(rows_at(mechanism, *pose_of(mode))[0]).max() < 1e-11
        assert not mode.velocity.any()
        for name, q in modes.hold.items():
            np.testing.assert_allclose(np.atleast_1d(mechanism.coordinates(mode)[name]), q, atol=1e-11)


@pytest.mark.parametrize("angle", [0.3, 2.0, -1.0])
def test_four_bar_has_two_named_by_the_sense_of_its_dyad(angle):
    mechanism = vi.mechanisms.four_bar(**SIZES, angle=np.pi / 3)
    modes = mechanism.assembly_modes({"crank pivot": angle - np.pi / 3}, starts=20)
    assert modes.names == ["+", "-"]
    check_closed(mechanism, modes)
    for mode, side in zip(modes, (-1, 1), strict=True):  # left of the diagonal its triangle is clockwise
        links = four_bar(0.4, 1.0, 0.8, 1.0, side)(angle)[0]
        np.testing.assert_allclose(in_plane(mode.position), links.mean(axis=-1), atol=1e-11)
    assert modes["-"] is modes[1]
    assert modes.closed == 10  # the others start from a known mode
    assert sum(mode.hits for mode in modes) == modes.closed
    assert modes.unseen == 0
    assert modes.last_new <= 10


def test_a_mode_is_a_state_to_start_from():
    mechanism = vi.mechanisms.four_bar(**SIZES)
    for mode in mechanism.assembly_modes({"crank pivot": 0.2}, starts=20):
        assert isinstance(mode, vi.State)
        run = vi.simulate(mechanism, 0.02, 0.01, state=mode)
        np.testing.assert_array_equal(run.position[0], mode.position)
        assert mechanism.sweep("crank pivot", [0.3], mode).lockup is None
        copy = pickle.loads(pickle.dumps(mode))
        assert (copy.name, copy.hits) == (mode.name, mode.hits)


@pytest.mark.slow
def test_stephenson_six_bar_has_six_where_its_coupler_curve_meets_a_circle():
    expected = sorted(np.real(modes[0]) for modes in intersections())
    assert len(expected) == 6
    mechanism = stephenson()
    modes = mechanism.assembly_modes({"input pivot": 0.0}, starts=60)
    check_closed(mechanism, modes)
    np.testing.assert_allclose(sorted(2 * in_plane(mode.position[0]).real for mode in modes), expected, atol=1e-6)
    assert modes.names == list("123456")  # its loops close together only, so that signs do not suffice
    assert modes.last_new < 30


@pytest.mark.slow
def test_stephenson_six_bar_driven_at_the_four_bar_has_a_sign_for_each_dyad():
    modes = stephenson().assembly_modes({"crank pivot": 0.0}, starts=60)
    assert modes.names == ["++", "+-", "-+", "--"]


@pytest.mark.slow
def test_jansen_leg_has_all_signs_of_its_three_dyads():
    modes = vi.mechanisms.jansen_leg().assembly_modes({"crank pivot": 0.5}, starts=120)
    assert modes.names == [a + b + c for a in "+-" for b in "+-" for c in "+-"]


@pytest.mark.long
@pytest.mark.slow
def test_signs_are_constant_on_a_branch():
    mechanism = vi.mechanisms.slider_crank()
    for angle in (0.0, 1.0, 2.5):
        for mode in mechanism.assembly_modes({"crank pivot": angle}, starts=30):
            swept = mechanism.sweep("crank pivot", [angle + 2.0], mode)
            again = mechanism.assembly_modes({"crank pivot": angle + 2.0}, starts=30)[mode.name]
            np.testing.assert_allclose(swept.position[-1], again.position, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("a", [0.3, 2.0])
def test_bricard_has_the_two_of_its_closed_form(a):
    """Every other hinge has the same angle, sin a + sin b + sin a sin b = 0 of both."""
    mechanism = vi.mechanisms.bricard()
    modes = mechanism.assembly_modes({"hinge 1": a}, starts=100)
    check_closed(mechanism, modes)
    b = np.arcsin(-np.sin(a) / (1 + np.sin(a)))
    other = (np.pi - b + np.pi) % (2 * np.pi) - np.pi
    expected = [[a, angle] * 3 for angle in sorted([b, other])]
    angles = [[mechanism.coordinates(mode)[f"hinge {k}"] for k in range(1, 7)] for mode in modes]
    np.testing.assert_allclose(angles, expected, atol=1e-9)
    assert [mode.mobility for mode in modes] == [0, 0]


@pytest.mark.long
@pytest.mark.slow
def test_stewart_platform_has_those_that_its_six_lengths_have():
    """Six equations of the platform's pose alone, solved from many starts by Newton's method, all at once."""
    mechanism = vi.mechanisms.stewart_platform()
    feet, heads = vi.mechanisms.module("stewart_platform").feet_and_heads(1.0, 0.6, 0.25).swapaxes(0, 1)
    squares = np.sum((heads + [0, 0, 1.2] - feet) ** 2, axis=1)

    def legs(places, turns):
        return places[:, None] + heads @ turns.swapaxes(1, 2) - feet

    rng = np.random.default_rng(3)
    places = rng.uniform(-1.5, 1.5, (1000, 3))
    turns = Rotation.random(len(places), random_state=rng).as_matrix()
    for _ in range(100):
        along = legs(places, turns)
        slopes = 2 * np.concatenate([along, np.cross(heads, along @ turns)], axis=2)
        change = np.linalg.solve(slopes, (squares - np.sum(along**2, axis=2))[..., None])[..., 0]
        change /= np.maximum(1, 2 * np.abs(change).max(axis=1, keepdims=True))  # half a metre or radian at most
        places = places + change[:, :3]
        turns = turns @ Rotation.from_rotvec(change[:, 3:]).as_matrix()
    solved = np.abs(np.sum(legs(places, turns) ** 2, axis=2) - squares).max(axis=1) < 1e-10
    poses = []
    for pose in np.column_stack([places, turns.reshape(-1, 9)])[solved]:
        if all(np.abs(pose - other).max() > 1e-4 for other in poses):
            poses.append(pose)
    modes = mechanism.assembly_modes({f"leg {i}": 0.0 for i in range(1, 7)}, starts=200, bodies="platform")
    assert len(modes) == len(poses) == 8
    for mode in modes:
        turn = Rotation.from_quat(mode.quat_wxyz[0], scalar_first=True).as_matrix()
        pose = np.concatenate([mode.position[0], turn.ravel()])
        assert min(np.abs(pose - other).max() for other in poses) < 1e-6
    assert modes.unseen == 0


@pytest.mark.slow
@pytest.mark.parametrize("wrist", ["universal", "spherical"])
def test_bodies_whose_poses_distinguish_modes(wrist):
    """The slider has two places on its line; the rod may be turned about itself, and spins between two balls."""
    mechanism = vi.mechanisms.spatial_slider_crank(wrist=wrist)
    modes = mechanism.assembly_modes({"crank pivot": 0.4}, starts=60, bodies="slider")
    place = mechanism.state(coordinates={"crank pivot": 0.4}).position[2]
    ends = sorted((mode.position[2] for mode in modes), key=lambda end: end[0])
    np.testing.assert_allclose(ends, [-place, place], atol=1e-10)
    assert [mode.mobility for mode in modes] == [0, 0]
    if wrist == "spherical":
        with pytest.raises(vi.ArgumentError, match=r"hold fixes 1 of 2 degrees .* or name in bodies="):
            mechanism.assembly_modes({"crank pivot": 0.4})
    else:
        assert len(mechanism.assembly_modes({"crank pivot": 0.4}, starts=60)) == 4


@pytest.mark.slow
def test_a_coupling_takes_part():
    """Geared hips leave a five-bar one degree of freedom, and a dyad to put together."""
    leg = vi.mechanisms.minitaur_leg()
    gear = vi.Gear("gear", joint_a="left hip", joint_b="right hip", radius_a=0.1, radius_b=0.1)
    geared = replace(leg, forces=[gear], start={})
    modes = geared.assembly_modes({"left hip": 0.2}, starts=30)
    assert modes.names == ["1", "2"]
    for mode in modes:
        q = geared.coordinates(mode)
        assert q["left hip"] == pytest.approx(0.2)
        assert abs(q["right hip"]) == pytest.approx(0.2)
    free = leg.assembly_modes(
        {name: geared.coordinates(modes[0])[name] for name in ("left hip", "right hip")}, starts=30
    )
    for mode in modes:
        assert min(np.abs(mode.position - other.position).max() for other in free) < 1e-8


def test_joints_in_no_loop_keep_their_coordinates():
    mechanism = vi.mechanisms.n_pendulum(n=2)
    (mode,) = mechanism.assembly_modes({}, starts=3)
    state = mechanism.state()
    np.testing.assert_allclose(mode.position, state.position, atol=1e-12)
    assert mode.name == "1"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits():
    first, again, other = (stephenson().assembly_modes({"input pivot": 0.1}, starts=30, seed=k) for k in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.position, two.position)
        assert one.hits == two.hits
    assert [mode.hits for mode in first] != [mode.hits for mode in other]


def test_coordinates_that_no_mode_has():
    """The double rocker does not reach this far."""
    mechanism = vi.mechanisms.four_bar(case="double-rocker")
    modes = mechanism.assembly_modes({"crank pivot": 2.0}, starts=6)
    assert len(modes) == modes.closed == modes.last_new == 0
    assert modes.unseen == 1.0
    assert "no modes" in repr(modes)
    with pytest.raises(vi.ArgumentError, match="no assembly mode to draw"):
        modes.plot()


@pytest.mark.parametrize(
    ("name", "hold", "message"),
    [
        ("four_bar", {}, "hold fixes 0 of 1 degree of freedom of mechanism 'four-bar': hold 1 coordinate more"),
        ("minitaur_leg", {"left hip": 0.0}, "hold fixes 1 of 2 degrees of freedom"),
        ("stewart_platform", {"leg 1": 0.0}, "hold fixes 1 of 6 degrees of freedom .* hold 5 coordinates more"),
        ("bricard", {}, "hold fixes 0 of 1 degree"),
        ("four_bar", {"crank": 0.0}, "no joint 'crank'"),
        ("four_bar", {"crank pivot": (0.0, 1.0)}, "shape"),
    ],
)
def test_what_hold_must_fix(name, hold, message):
    with pytest.raises(vi.ArgumentError, match=message):
        getattr(vi.mechanisms, name)().assembly_modes(hold)


@pytest.mark.slow
def test_coordinates_of_one_loop_do_not_fix_the_other():
    """Two four-bars side by side, each with one degree of freedom: both coordinates held are of the first."""
    one, pivots = vi.mechanisms.four_bar(), ("crank pivot", "rocker pivot")
    q = {name: one.coordinates(one.state())[name] for name in pivots}
    bodies = [*one.bodies, *(replace(body, name=f"{body.name} 2") for body in one.bodies)]
    joints = [*one.joints]
    for joint in one.joints:
        ends = (end if end == "world" else f"{end} 2" for end in (joint.body_a, joint.body_b))
        joints.append(replace(joint, name=f"{joint.name} 2", **dict(zip(("body_a", "body_b"), ends, strict=True))))
    both = vi.Mechanism("two four-bars", bodies, joints)
    with pytest.raises(vi.ArgumentError, match=r"hold leaves 1 degree of freedom .* hold 1 coordinate more"):
        both.assembly_modes(q, starts=10)
    modes = both.assembly_modes({"crank pivot": 0.0, "crank pivot 2": 0.0}, starts=60)
    assert modes.names == ["++", "+-", "-+", "--"]
    held = both.assembly_modes(q, starts=40, bodies=["crank", "coupler", "rocker"])
    assert len(held) == 1  # both pivots held, the second four-bar is free and does not count


def test_a_flat_linkage_has_one_that_is_singular():
    """At zero of the crank the two modes of a change-point linkage meet; closing leaves its pose open to 1e-6."""
    mechanism = vi.mechanisms.four_bar(case="change-point", angle=0.0)
    (mode,) = mechanism.assembly_modes({"crank pivot": 0.0}, starts=12)
    assert (mode.name, mode.mobility) == ("0", 0)
    np.testing.assert_allclose(mode.position[:, 2], 0.0, atol=1e-5)


def test_a_kite_whose_pins_coincide_can_still_move():
    mechanism = vi.mechanisms.four_bar(crank=0.5, coupler=0.8, rocker=0.8, ground=0.5)
    with pytest.raises(vi.ArgumentError, match="hold leaves 1 degree of freedom"):
        mechanism.assembly_modes({"crank pivot": -np.pi / 3}, starts=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"bodies": ["plank"]}, "no body 'plank'"),
        ({"bodies": []}, "bodies must name one body at least"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.mechanisms.four_bar().assembly_modes({"crank pivot": 0.0}, **options)


@pytest.mark.slow
def test_displays_and_pictures(tmp_path):
    mechanism = vi.mechanisms.four_bar()
    modes = mechanism.assembly_modes({"crank pivot": 0.25}, starts=20)
    text = repr(modes)
    assert text.startswith("AssemblyModes of 'four-bar': 2 modes, + -, holding 'crank pivot' at 0.25, starts 20")
    assert repr(modes[0]).startswith("AssemblyMode '+': 3 bodies, ")
    page = modes._repr_html_()
    for word in ("Assembly modes of", "rocker pivot", "crank pivot, held", "starts since the last new mode"):
        assert word in page
    figure = modes.plot(tmp_path / "modes.png", labels=True)
    assert (tmp_path / "modes.png").stat().st_size > 0
    assert [axes.get_title() for axes in figure.axes] == ["+", "-"]
    limits = {(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes}
    assert len(limits) == 1  # to one scale
    names = {text.get_text() for text in figure.axes[0].texts}
    assert names == {*mechanism.body_index, *mechanism.joint_index}
    with pytest.raises(vi.ArgumentError, match="no assembly mode 'x'"):
        modes["x"]
    assert modes[0:1] == (modes[0],)
