"""Sweeps of linkages against closed forms: positions, limits, branch points."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from poses import moved, pose_of, rows_at
from scipy.spatial.transform import Rotation

import varint as vi
from varint.mechanism.regular_path import RegularPath
from varint.model.rotation_vectors import quat_from_matrix

CRANK_ROCKER = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8, "ground": 1.0}
START = np.pi / 3


def rocker_angle(angle, crank, coupler, rocker, ground):
    """Of the rocker from x towards z, open branch, by the law of cosines at its pivot."""
    x, z = crank * np.cos(angle) - ground, crank * np.sin(angle)
    diagonal = np.hypot(x, z)
    return np.arctan2(z, x) % (2 * np.pi) - np.arccos((diagonal**2 + rocker**2 - coupler**2) / (2 * diagonal * rocker))


@pytest.mark.slow
@pytest.mark.parametrize("values", [np.linspace(0, 4 * np.pi, 25), [0.0, -3.0, 5.0, 5.0, -2.0], [2.5]])
def test_crank_rocker_all_round(values):
    mechanism = vi.mechanisms.four_bar(**CRANK_ROCKER, angle=START)
    sweep = mechanism.sweep("crank pivot", values)
    assert len(sweep) == len(values)
    assert sweep.lockup is None
    assert sweep.branch_points.size == 0
    np.testing.assert_allclose(sweep.coordinates["crank pivot"], values, atol=1e-12)
    start = rocker_angle(START, **CRANK_ROCKER)
    expected = rocker_angle(START + np.array(values), **CRANK_ROCKER) - start
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"], expected, atol=1e-10)
    for i in (0, -1):
        state = sweep.state(i)
        np.testing.assert_array_equal(state.position, sweep.position[i])
        np.testing.assert_allclose(state.quat_wxyz, sweep.quat_wxyz[i], atol=1e-14)
        assert not state.velocity.any()
        assert np.abs(rows_at(mechanism, *pose_of(state))[0]).max() < 1e-12


@pytest.mark.slow
def test_the_crossed_branch_is_kept():
    """Started crossed, the rocker follows the other solution of the law of cosines."""
    mechanism = vi.mechanisms.four_bar(**CRANK_ROCKER, angle=START)
    state = mechanism.state()
    opened, diagonal = rocker_angle(START, **CRANK_ROCKER), np.arctan2(0.4 * np.sin(START), 0.4 * np.cos(START) - 1.0)
    crossed = 2 * diagonal - opened
    tip = np.array([1 + 0.8 * np.cos(crossed), 0, 0.8 * np.sin(crossed)])
    pin = 0.4 * np.array([np.cos(START), 0, np.sin(START)])
    coupler = np.arctan2(*(tip - pin)[[2, 0]])
    x, R = pose_of(state)
    x[1], x[2] = 0.5 * (pin + tip), 0.5 * (tip + (1, 0, 0))
    R[1], R[2] = (Rotation.from_euler("y", np.pi / 2 - angle).as_matrix() for angle in (coupler, crossed))
    guess = mechanism.assemble(replace(state, position=x[:-1], quat_wxyz=quat_from_matrix(R[:-1])))
    np.testing.assert_allclose(guess.position, x[:-1], atol=1e-12)
    values = np.linspace(0, 2 * np.pi, 9)
    sweep = mechanism.sweep("crank pivot", values, guess)
    angle = START + values
    toward = np.arctan2(0.4 * np.sin(angle), 0.4 * np.cos(angle) - 1.0) % (2 * np.pi)
    expected = 2 * toward - rocker_angle(angle, **CRANK_ROCKER)
    found = sweep.coordinates["rocker pivot"]
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [1, -1])
def test_double_rocker_locks(direction):
    """The driven rocker stops where coupler and other rocker are in line, stretched or folded."""
    lengths = {"crank": 1.0, "coupler": 0.4, "rocker": 0.8, "ground": 1.0}
    mechanism = vi.mechanisms.four_bar(**lengths, angle=1.0)
    values = np.linspace(0, direction * 2.0, 41)
    with pytest.warns(vi.LockedWarning, match="the sweep of joint 'crank pivot'") as told:
        sweep = mechanism.sweep("crank pivot", values)
    assert told[0].filename == __file__
    limit = np.arccos(1 - 0.5 * (0.8 + direction * 0.4) ** 2) - 1.0
    assert sweep.lockup == pytest.approx(limit, abs=1e-6)
    np.testing.assert_array_equal(sweep.values, values[np.abs(values) < abs(limit)])
    count, out = len(sweep), values[len(sweep)]
    assert f"ended at {limit:.6g} rad, where" in str(told[0].message)
    assert (
        f"reached {count} of the 41 values, the last {values[count - 1]:.6g}, and its arrays have {count} rows"
        in str(told[0].message)
    )
    assert f" {out:.6g} rad is out of reach" in str(told[0].message)
    assert len(sweep.position) == len(sweep.quat_wxyz) == len(sweep.coordinates["crank pin"]) == len(sweep)
    assert sweep.branch_points.size == 0
    found = sweep.coordinates["rocker pivot"]
    expected = rocker_angle(1.0 + sweep.values, **lengths)
    np.testing.assert_allclose(found, expected - expected[0], atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "end", "count"), [(1.0, 1.0 + 2 * np.pi, 12), (2.0, -4.0, 2), (0.5, np.pi + 1e-4, 9)]
)
def test_parallelogram_goes_straight_on_through_its_change_points(start, end, count):
    mechanism = vi.mechanisms.four_bar(crank=0.5, coupler=1.0, rocker=0.5, ground=1.0, angle=start)
    values = np.linspace(0, end - start, count)
    sweep = mechanism.sweep("crank pivot", values)
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"], values, atol=1e-7)
    np.testing.assert_allclose(sweep.coordinates["crank pin"], -values, atol=1e-7)
    low, high = sorted((start, end))
    expected = np.pi * np.arange(np.ceil(low / np.pi), np.floor(high / np.pi) + 1)
    np.testing.assert_allclose(np.sort(sweep.branch_points + start), expected, atol=1e-6)
    assert sweep.lockup is None


@pytest.mark.slow
def test_a_value_at_a_change_point():
    mechanism = vi.mechanisms.four_bar(crank=0.5, coupler=1.0, rocker=0.5, ground=1.0, angle=1.0)
    values = np.array([0.5, np.pi - 1.0, 2.5])
    sweep = mechanism.sweep("crank pivot", values)
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"], values, atol=1e-5)
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"][[0, 2]], values[[0, 2]], atol=1e-10)
    np.testing.assert_allclose(sweep.branch_points, [np.pi - 1.0], atol=1e-6)


@pytest.mark.slow
def test_slider_crank_driven_at_either_end():
    r, l = 0.3, 1.0
    mechanism = vi.mechanisms.slider_crank(crank=r, rod=l, angle=START)
    values = np.linspace(0, 2 * np.pi, 13)
    sweep = mechanism.sweep("crank pivot", values)
    angle = START + values
    np.testing.assert_allclose(
        sweep.position[:, 2, 0], r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2), atol=1e-10
    )
    assert sweep.lockup is None
    back = mechanism.sweep("slide", sweep.coordinates["slide"][0] - np.linspace(0, 0.5, 11), on_lockup="ignore")
    assert back.lockup == pytest.approx(l - r, abs=1e-6)
    place = back.coordinates["slide"]
    cosine = (r**2 + place**2 - l**2) / (2 * r * place)
    np.testing.assert_allclose(START + back.coordinates["crank pivot"], np.arccos(cosine), atol=1e-10)


def scaled(mechanism, size):
    """The mechanism with all lengths times ``size``, and masses with its cube."""
    bodies = [
        replace(body, mass=size**3 * body.mass, inertia=size**5 * body.inertia, position=size * body.position)
        for body in mechanism.bodies
    ]
    joints = [replace(joint, point=size * joint.point, point_b=size * joint.point_b) for joint in mechanism.joints]
    return vi.Mechanism(mechanism.name, bodies, joints)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3])
def test_any_size(size):
    """What is small or large is so against the parts: limits and branch points of tiny and huge linkages."""
    slider = scaled(vi.mechanisms.slider_crank(crank=0.3, rod=1.0, angle=START), size)
    sweep = slider.sweep("slide", size * np.linspace(1.0, 1.4, 9), on_lockup="ignore")
    assert sweep.lockup == pytest.approx(1.3 * size, abs=1e-6 * size)
    place = sweep.coordinates["slide"] / size
    cosine = (0.3**2 + place**2 - 1) / (0.6 * place)
    np.testing.assert_allclose(START + sweep.coordinates["crank pivot"], np.arccos(cosine), atol=1e-10)
    bar = scaled(vi.mechanisms.four_bar(crank=0.5, coupler=1.0, rocker=0.5, ground=1.0, angle=1.0), size)
    sweep = bar.sweep("crank pivot", np.linspace(0, 6.0, 9))
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"], sweep.values, atol=1e-7)
    np.testing.assert_allclose(sweep.branch_points, [np.pi - 1, 2 * np.pi - 1], atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("ratio", [1e6, 1e-6])
@pytest.mark.slow
def test_masses_do_not_make_a_pose_singular(number, ratio):
    def weighted(mechanism):
        bodies = list(mechanism.bodies)
        body = bodies[number]
        bodies[number] = replace(body, mass=ratio * body.mass, inertia=ratio * body.inertia)
        return replace(mechanism, bodies=bodies)

    bar = weighted(vi.mechanisms.four_bar(crank=0.5, coupler=1.0, rocker=0.5, ground=1.0, angle=1.0))
    sweep = bar.sweep("crank pivot", np.linspace(0, 6.0, 9))
    np.testing.assert_allclose(sweep.coordinates["rocker pivot"], sweep.values, atol=1e-7)
    np.testing.assert_allclose(sweep.branch_points, [np.pi - 1, 2 * np.pi - 1], atol=1e-6)
    rocker = weighted(vi.mechanisms.four_bar(crank=1.0, coupler=0.4, rocker=0.8, ground=1.0, angle=1.0))
    sweep = rocker.sweep("crank pivot", [0.5, 2.0], on_lockup="ignore")
    assert sweep.lockup == pytest.approx(np.arccos(1 - 0.5 * 1.2**2) - 1.0, abs=1e-6)


@pytest.mark.slow
def test_a_floating_linkage_keeps_its_centre_of_mass_and_its_plane():
    bar = vi.mechanisms.four_bar()
    ends = lambda name: "base" if name == "world" else name  # noqa: E731
    joints = [replace(j, body_a=ends(j.body_a), body_b=ends(j.body_b)) for j in bar.joints]
    base = vi.Body.rod("base", (0, 0, 0), (1, 0, 0), 1.0)
    sweep = vi.Mechanism("floating", [*bar.bodies, base], joints).sweep("crank pivot", np.linspace(0, 6.0, 9))
    mass = [body.mass for body in sweep.mechanism.bodies]
    centre = np.einsum("n,tni->ti", mass, sweep.position) / sum(mass)
    np.testing.assert_allclose(centre, centre[[0] * 9], atol=1e-12)
    np.testing.assert_allclose(sweep.position[..., 1], 0.0, atol=1e-12)
    grounded = bar.sweep("crank pivot", sweep.values)
    np.testing.assert_allclose(sweep.coordinates["crank pin"], grounded.coordinates["crank pin"], atol=1e-10)


@pytest.mark.slow
def test_one_of_several_coordinates():
    """The first angle of a universal joint is driven, the second stays."""
    rod = vi.Body.box("rod", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    joint = vi.Universal("hook", "world", "rod", point=(0, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    mechanism = vi.Mechanism("rod", [rod], [joint])
    values = np.array([0.5, 4.0, -2.0])
    sweep = mechanism.sweep(("hook", 0), values, mechanism.state(coordinates={"hook": (0.1, 0.0)}))
    np.testing.assert_allclose(sweep.coordinates["hook"], np.column_stack([values, 0 * values]), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["spherical", "rod"])
def test_a_rotation_vector_goes_on_past_pi(joint):
    """Turned about its first axis a body goes all round, free or in a bearing."""
    body = vi.Body.sphere("body", 0.1, 1.0)
    joints, number = [vi.Spherical("ball", "world", "body", point=(0, 0, 0))], 0
    if joint == "rod":
        joints = [vi.Rod("ball", "world", "body", point=(0, 0, 0), point_b=(0.5, 0, 0))]
        joints.append(vi.Revolute("bearing", "world", "body", point=(0, 0, 0), axis=(1, 0, 0)))
        number = 4
    mechanism = vi.Mechanism("body", [body], joints)
    values = np.linspace(0, 5.5, 7)
    sweep = mechanism.sweep(("ball", number), values)
    assert sweep.lockup is None
    np.testing.assert_allclose(sweep.coordinates["ball"][:, number], values, atol=1e-10)


def test_the_rest_moves_as_little_as_it_can():
    """A driven double pendulum: the change is at right angles, in the kinetic metric, to the free link's turn."""
    mechanism = vi.mechanisms.double_pendulum()
    step = 1e-5
    state = mechanism.state(coordinates={"joint 2": 0.7})
    sweep = mechanism.sweep("joint 1", [0.0, step], state)
    before, after = (sweep.state(i) for i in (0, 1))
    elbow_to_centre = before.position[1] - 2 * before.position[0]
    turn = np.array([0.0, 1.0, 0.0])
    body = mechanism.bodies[1]
    lower = sweep.coordinates["joint 1"] + sweep.coordinates["joint 2"]
    shift = (after.position[1] - before.position[1]) / step
    momentum = body.mass * shift @ np.cross(turn, elbow_to_centre) + body.inertia[1, 1] * np.diff(lower)[0] / step
    assert momentum == pytest.approx(0.0, abs=1e-5)
    assert np.linalg.norm(shift) > 0.1


SWEEPS = {
    "a full turn": ("four_bar", {}, "crank pivot", np.linspace(0.0, 2 * np.pi, 61)),
    "through branch points": (
        "four_bar",
        {"crank": 0.5, "coupler": 1.0, "rocker": 0.5, "ground": 1.0, "angle": 1.0},
        "crank pivot",
        np.linspace(0.0, 6.0, 25),
    ),
    "with free motions": ("double_pendulum", {}, "joint 1", np.linspace(0.0, 3.0, 31)),
    "two loops": ("klann_leg", {}, "shaft", np.linspace(0.0, 0.5, 6)),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SWEEPS)
def test_compiled_steps_are_those_of_the_procedure_they_leave_to_singular_poses(case, monkeypatch):
    name, arguments, joint, values = SWEEPS[case]
    mechanism = getattr(vi.mechanisms, name)(**arguments)
    compiled = mechanism.sweep(joint, values)
    made = []
    original = RegularPath.follow
    monkeypatch.setattr(RegularPath, "follow", lambda *args: made.append(original(*args)) or made[-1])
    mechanism.sweep(joint, values)
    assert sum(len(part.reached) for part in made) > 0.6 * len(values)
    monkeypatch.setattr(RegularPath, "supports", staticmethod(lambda *args: False))
    plain = mechanism.sweep(joint, values)
    np.testing.assert_allclose(compiled.position, plain.position, atol=1e-9)
    np.testing.assert_allclose(compiled.branch_points, plain.branch_points, atol=1e-9)
    for each in mechanism.joints:
        np.testing.assert_allclose(compiled.coordinates[each.name], plain.coordinates[each.name], atol=1e-9)


def geared_five_bar():
    """A five-bar whose two cranks are geared together, so that it moves one way."""
    pins = {"A": (0, 0), "B": (1, 0), "a": (0.2, 0.4), "b": (1.1, 0.4), "c": (0.7, 1.0)}
    at = {name: np.array([x, 0.0, z]) for name, (x, z) in pins.items()}
    links = {"left": "Aa", "right": "Bb", "left rod": "ac", "right rod": "bc"}
    ends = {"A": ("world", "left"), "B": ("world", "right"), "a": ("left", "left rod"), "b": ("right", "right rod"),
            "c": ("left rod", "right rod")}  # fmt: skip
    bodies = [
        vi.Body(name, mass=1.0, inertia=0.1 * np.eye(3), position=0.5 * (at[first] + at[second]))
        for name, (first, second) in links.items()
    ]
    joints = [vi.Revolute(pin, *pair, point=at[pin], axis=(0, -1, 0)) for pin, pair in ends.items()]
    gear = vi.Gear("gear", joint_a="A", joint_b="B", radius_a=0.5, radius_b=0.5)
    return vi.Mechanism("geared five-bar", bodies, joints, forces=[gear])


def test_compiled_steps_take_rows_of_several_bodies(monkeypatch):
    mechanism, values = geared_five_bar(), np.linspace(0.0, 0.5, 20)
    compiled = mechanism.sweep("A", values)
    np.testing.assert_allclose(compiled.coordinates["B"], -values, atol=1e-12)
    monkeypatch.setattr(RegularPath, "supports", staticmethod(lambda *args: False))
    plain = geared_five_bar().sweep("A", values)
    np.testing.assert_allclose(compiled.position, plain.position, atol=1e-12)


def test_sweeps_of_one_mechanism_do_not_depend_on_those_before():
    values = np.linspace(0.0, 2 * np.pi, 61)
    mechanism = vi.mechanisms.four_bar(**CRANK_ROCKER)
    first = mechanism.sweep("crank pivot", values)
    away = mechanism.sweep("crank pivot", [4.0], first.state(30))
    mechanism.sweep("rocker pivot", [0.1, 0.2])
    again = mechanism.sweep("crank pivot", values)
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: mechanism.sweep("crank pivot", values), range(8)))
    fresh = vi.mechanisms.four_bar(**CRANK_ROCKER).sweep("crank pivot", [4.0], first.state(30))
    np.testing.assert_array_equal(away.position, fresh.position)
    for sweep in (again, *several):
        np.testing.assert_array_equal(sweep.position, first.position)
        np.testing.assert_array_equal(sweep.coordinates["rocker pivot"], first.coordinates["rocker pivot"])


def test_no_number_of_a_planar_sweep_becomes_subnormal():
    """Round-off across the plane becomes smaller with each correction, and subnormal numbers take ten times as long."""
    mechanism = vi.mechanisms.four_bar(**CRANK_ROCKER)
    state = mechanism.state(coordinates={"crank pivot": 0.3})
    sweep = mechanism.sweep("crank pivot", np.linspace(0.3, 2 * np.pi, 181), state)
    numbers = np.abs(np.concatenate([sweep.position.ravel(), sweep.quat_wxyz.ravel()]))
    assert not ((numbers > 0.0) & (numbers < 1e-60)).any()


def test_the_start_is_closed_first():
    mechanism = vi.mechanisms.four_bar(**CRANK_ROCKER)
    state = mechanism.state()
    x, R = moved(*pose_of(state), 0.02 * np.eye(3), 0.02 * np.eye(3))
    rough = replace(state, position=x[:-1], quat_wxyz=quat_from_matrix(R[:-1]))
    one, two = (mechanism.sweep("crank pivot", [1.0], start) for start in (state, rough))
    np.testing.assert_allclose(two.position, one.position, atol=1e-11)


BAD = {
    "unknown joint": (("crank pim", [0.0]), "sweep: no joint 'crank pim', did you mean 'crank pin'"),
    "no such coordinate": ((("crank pin", 1), [0.0]), "'crank pin' has no coordinate 1"),
    "number": ((5, [0.0]), "name a joint, or write .*, got 5"),
    "three": ((("crank pin", 0, 1), [0.0]), "name a joint, or write"),
    "nan": (("crank pin", [0.0, np.nan]), "'crank pin' must be finite"),
    "text": (("crank pin", "all"), "'crank pin' must be one row of numbers, got 'all'"),
    "a number": (("crank pin", 1.0), "'crank pin' must be one row of numbers"),
    "none": (("crank pin", []), "'crank pin' must be one row of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    arguments, message = BAD[case]
    with pytest.raises(vi.ArgumentError, match=message):
        vi.mechanisms.four_bar().sweep(*arguments)


def test_joints_with_several_coordinates_need_a_number():
    with pytest.raises(vi.ArgumentError, match=r"'tip' has 3 coordinates: write \('tip', k\)"):
        vi.mechanisms.spinning_top().sweep("tip", [0.0])


@pytest.mark.slow
def test_the_picture_of_a_sweep(tmp_path):
    mechanism = vi.mechanisms.slider_crank()
    sweep = mechanism.sweep("crank pivot", np.linspace(0, 3, 16))
    figure = sweep.plot(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 0
    angles, place = figure.axes
    assert (angles.get_ylabel(), place.get_ylabel()) == ("Coordinates (rad)", "Coordinates (m)")
    assert place.get_xlabel() == "crank pivot (rad)"
    names = [text.get_text() for text in angles.get_legend().get_texts()]
    assert names == ["crank pin", "wrist pin"]  # the driven one is the axis
    for line, name in zip(angles.lines, names, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), sweep.values)
        np.testing.assert_array_equal(line.get_ydata(), sweep.coordinates[name])
    (axes,) = sweep.plot(of=["slide"]).axes
    assert len(axes.lines) == 1
    with pytest.raises(vi.ArgumentError, match="of: no joint 'slid', did you mean 'slide'"):
        sweep.plot(of="slid")


@pytest.mark.slow
def test_the_picture_of_a_sweep_that_locks_and_of_one_that_passes_a_branch_point():
    locked = vi.mechanisms.four_bar(case="double-rocker").sweep(
        "crank pivot", np.linspace(0, 3, 16), on_lockup="ignore"
    )
    (axes,) = locked.plot().axes
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == "locked"
    assert axes.lines[0].get_xdata()[0] == locked.lockup
    flat = vi.mechanisms.four_bar(case="change-point").sweep("crank pivot", np.linspace(0, -2, 16))
    assert len(flat.branch_points) == 1
    (axes,) = flat.plot().axes
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == "branch point"
    assert axes.lines[0].get_xdata()[0] == flat.branch_points[0]
    nowhere = vi.mechanisms.four_bar(case="double-rocker").sweep("crank pivot", [3.0], on_lockup="ignore")
    with pytest.raises(vi.ArgumentError, match="nothing to draw"):
        nowhere.plot()


def test_the_picture_of_a_sweep_of_one_coordinate_of_several():
    mechanism = vi.mechanisms.stewart_platform()
    (axes,) = mechanism.sweep(("foot 1", 0), [0.0, 0.01]).plot(of="foot 1").axes
    assert axes.get_xlabel() == "foot 1 0 (rad)"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["foot 1 0", "foot 1 1"]


def test_path_of_a_point_is_that_of_the_poses():
    """The pin between crank and coupler goes round; a point of the coupler is where its state has it."""
    mechanism = vi.mechanisms.four_bar()
    sweep = mechanism.sweep("crank pivot", np.linspace(0.0, 2 * np.pi, 13))
    pin = mechanism.joint("crank pin").point
    circle = sweep.path("coupler", pin)
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 0.4, atol=1e-12)
    np.testing.assert_allclose(circle, sweep.path("crank", pin), atol=1e-12)
    assert np.array_equal(sweep.point("coupler", pin), circle)
    np.testing.assert_array_equal(sweep.path("crank"), sweep.position[:, mechanism.body_index["crank"]])
    with pytest.raises(vi.ArgumentError, match="no body 'cupler', did you mean 'coupler'"):
        sweep.path("cupler")
    with pytest.raises(vi.ArgumentError, match="point of body 'crank'"):
        sweep.path("crank", (1.0, 2.0))
