"""Models of OpenSim: the arm against the same written by hand, joints of all kinds, what is refused by name."""

import re
from itertools import pairwise

import numpy as np
import osim_arm
import pytest
from osim_arm import CONSTANT, LINEAR, SPLINE, arm, axis, body, custom, muscle, point, wrap

import varint as vi
from varint.model.rotation_vectors import matrix_from_vector, quat_from_matrix, rotation_matrix

X, Y, Z = np.eye(3)


@pytest.fixture
def load(tmp_path):
    def loaded(text, **given):
        file = tmp_path / "arm.osim"
        file.write_text(text)
        return vi.load_mechanism(file, **given)

    return loaded


def turned(*turns):
    """Product of turns about the axes x, y, z one after another, each (axis, angle)."""
    R = np.eye(3)
    for direction, angle in turns:
        R = R @ matrix_from_vector(np.array(direction) / np.linalg.norm(direction) * angle)
    return R


def by_hand():
    """The arm with all coordinates at zero, as OpenSim defines its frames."""
    H = turned((Y, 0.3))  # the constant second rotation of the shoulder
    shoulder = np.array([-0.01, 0.02, 0.17]) + [0.004, 0.0, 0.0]
    elbow = shoulder + H @ [0.006, -0.29, -0.012]
    bodies = [
        vi.Body(
            name, mass=mass, position=at + H @ centre, quat_wxyz=quat_from_matrix(H),
            inertia=[[xx, xy, 0], [xy, yy, 0], [0, 0, zz]],
        )
        for name, mass, at, centre, (xx, yy, zz, xy) in (
            ("humerus", 1.8, shoulder, [0, -0.18, 0], (0.0148, 0.0045, 0.0131, 0.0001)),
            ("forearm", 1.5, elbow, [0, -0.18, 0.01], (0.0193, 0.0016, 0.0206, 0.0)),
        )
    ]  # fmt: skip
    joints = [
        vi.Revolute("shoulder", "world", "humerus", point=shoulder, axis=[0.1, 0, 1]),
        vi.Revolute("elbow", "humerus", "forearm", point=elbow, axis=H @ [0.04, 0.05, 0.99]),
    ]
    roll = turned((X, 0.1), (Y, -0.2), (Z, 0.3))
    centre = shoulder + H @ [0.002, -0.288, 0.001]
    cylinder = vi.CylinderSurface(centre, H @ roll[:, 2], 0.02, side=centre + 0.05 * H @ roll[:, 0])
    ball = vi.SphereSurface(shoulder + H @ [0, -0.01, 0], 0.025)
    common = {
        "max_force": 620.0, "optimal_length": 0.13, "slack_length": 0.15, "pennation": 0.1, "max_velocity": 9.0,
        "activation_times": (0.015, 0.05), "activation": 0.05,
    }  # fmt: skip
    muscles = [
        vi.Musculotendon(
            "flexor",
            path=[
                vi.At("humerus", shoulder + H @ [0.01, -0.1, 0.01]),
                vi.Around("humerus", cylinder),
                vi.At("forearm", elbow + H @ [0.02, -0.06, 0]),
            ],
            **common,
        ),
        vi.Musculotendon(
            "biceps",
            path=[
                vi.At("world", [0.03, 0.05, 0.02]),
                vi.Around("humerus", ball),
                vi.At("humerus", shoulder + H @ [0.03, -0.2, 0.01]),
                vi.At("forearm", elbow + H @ [0.02, -0.05, 0]),
            ],
            **common,
        ),
    ]
    return vi.Mechanism("arm", bodies, joints, gravity=(0, -9.8, 0), forces=muscles)


def test_the_arm_is_that_written_by_hand(load, rng):
    mechanism, other = load(arm()), by_hand()
    assert not mechanism.import_report.not_understood
    wrapped = 0
    for _ in range(12):
        angles = dict(zip(("shoulder", "elbow"), rng.uniform(-0.4, 2.0, 2), strict=True))
        rates = dict(zip(("shoulder", "elbow"), rng.uniform(-2.0, 2.0, 2), strict=True))
        states = [each.state(coordinates=angles, rates=rates) for each in (mechanism, other)]
        assert states[0].position == pytest.approx(states[1].position, abs=1e-12)
        for name in ("flexor", "biceps"):
            found = [
                vi.moment_arms(*each, name, state=state)
                for *each, state in zip((mechanism, other), states, strict=True)
            ]
            assert found[0] == pytest.approx(found[1], abs=1e-12)
    state = other.state(coordinates={"shoulder": 0.3, "elbow": -0.35})
    runs = [vi.simulate(each, 0.05, 0.001, state=state) for each in (mechanism, other)]
    for name in ("flexor", "biceps"):
        assert runs[0].length[name] == pytest.approx(runs[1].length[name], abs=1e-12)
        assert runs[0].force[name] == pytest.approx(runs[1].force[name], rel=1e-9)
        points = [entry for entry in other.force(name).path if isinstance(entry, vi.At)]
        places = [p.point[None] if p.body == "world" else runs[1].path(p.body, p.point).position for p in points]
        straight = sum(np.linalg.norm(q[0] - p[0]) for p, q in pairwise(places))
        wrapped += runs[1].length[name][0] > straight + 1e-6
    assert wrapped >= 1


def test_defaults_are_the_start(load):
    mechanism = load(arm())
    run = vi.simulate(mechanism, 0.002, 0.001)
    assert run.coordinates["elbow"][0] == pytest.approx(0.2)
    assert run.coordinates["shoulder"][0] == pytest.approx(0.2)
    assert run.law_state["biceps"][0] == 0.05


def plain(kind, coordinates, parent="forearm"):
    listed = "".join(f'<Coordinate name="{name}"><default_value>{value}</default_value></Coordinate>'
                     for name, value in coordinates.items())  # fmt: skip
    return (
        f'<{kind} name="wrist"><socket_parent_frame>/bodyset/{parent}</socket_parent_frame><socket_child_frame>'
        f"/bodyset/hand</socket_child_frame><coordinates>{listed}</coordinates></{kind}>"
    )


HAND = body("hand", 0.4, "0 -0.05 0", "0.001 0.0005 0.001 0 0 0")


@pytest.mark.parametrize(
    ("kind", "coordinates", "R", "p"),
    [
        ("WeldJoint", {}, np.eye(3), [0, 0, 0]),
        ("PinJoint", {"a": 0.4}, turned((Z, 0.4)), [0, 0, 0]),
        ("SliderJoint", {"a": 0.1}, np.eye(3), [0.1, 0, 0]),
        ("UniversalJoint", {"a": 0.4, "b": 0.3}, turned((X, 0.4), (Y, 0.3)), [0, 0, 0]),
        ("GimbalJoint", {"a": 0.4, "b": 0.3, "c": -0.2}, turned((X, 0.4), (Y, 0.3), (Z, -0.2)), [0, 0, 0]),
        ("PlanarJoint", {"a": 0.4, "b": 0.1, "c": 0.2}, turned((Z, 0.4)), [0.1, 0.2, 0]),
        ("BallJoint", {"a": 0, "b": 0, "c": 0}, np.eye(3), [0, 0, 0]),
        ("FreeJoint", dict.fromkeys("abcdef", 0), np.eye(3), [0, 0, 0]),
    ],
)
def test_plain_joints(load, kind, coordinates, R, p):
    """Where the hand is in axes of the forearm, at the default values."""
    mechanism = load(arm(joints=plain(kind, coordinates), bodies=HAND))
    state = mechanism.state()
    fore = mechanism.bodies[mechanism.body_index["forearm"]]
    if kind == "WeldJoint":
        assert mechanism.import_report.body_of["hand"] == "forearm"
        assert fore.mass == pytest.approx(1.9)
        return
    k, h = mechanism.body_index["forearm"], mechanism.body_index["hand"]
    F = rotation_matrix(state.quat_wxyz[k])
    origin = state.position[k] - F @ [0, -0.18, 0.01]
    assert rotation_matrix(state.quat_wxyz[h]) == pytest.approx(F @ R, abs=1e-12)
    assert state.position[h] == pytest.approx(origin + F @ (np.array(p) + R @ [0, -0.05, 0]), abs=1e-12)


def hand_on(*functions, more=""):
    """A hand whose joint turns and slides by one coordinate."""
    turn = axis("rotation1", "0 0 1", functions[0], "bend")
    slide = axis("translation2", "0 1 0", functions[1], "bend") if len(functions) > 1 else ""
    return custom("wrist", "forearm", "hand", "0 -0.3 0", "bend", turn, slide, more)


def test_a_coordinate_that_slides_and_turns_is_coupled(load):
    mechanism = load(arm(joints=hand_on(LINEAR.format(2, 0), LINEAR.format(0.05, 0)), bodies=HAND))
    run = vi.simulate(mechanism, 0.1, 0.001, on_unresolved="ignore")  # the hand turns by 0.25 rad in a step
    slide, turn = run.coordinates["wrist"].T
    assert turn[0] == pytest.approx(0.4)
    assert slide == pytest.approx(0.025 * turn, abs=1e-9)
    assert abs(np.ptp(turn)) > 1e-3


def test_locked_coordinates_stay(load):
    mechanism = load(arm(joints=hand_on(LINEAR.format(1, 0), more="<locked>true</locked>"), bodies=HAND))
    assert mechanism.import_report.body_of["hand"] == "forearm"


def test_couplers(load):
    coupler = (
        '<CoordinateCouplerConstraint name="together"><isEnforced>true</isEnforced><coupled_coordinates_function>'
        f"{LINEAR.format(0.5, 0)}</coupled_coordinates_function><independent_coordinate_names>flexion"
        "</independent_coordinate_names><dependent_coordinate_name>bend</dependent_coordinate_name>"
        "</CoordinateCouplerConstraint>"
    )
    joints = hand_on(LINEAR.format(1, 0)).replace("<default_value>0.2<", "<default_value>0.1<")
    mechanism = load(arm(joints=joints, bodies=HAND, constraints=coupler))
    run = vi.simulate(mechanism, 0.1, 0.001)
    assert run.coordinates["wrist"] == pytest.approx(0.5 * run.coordinates["elbow"], abs=1e-9)
    with pytest.warns(vi.LeftOutWarning, match="constraint 'together' by another than a linear function"):
        other = load(arm(joints=joints, bodies=HAND, constraints=coupler.replace(LINEAR.format(0.5, 0), SPLINE)))
    assert "'together' by another than a linear function" in other.import_report.not_understood[0].what


FORE = point("i", "forearm", "0.02 -0.05 0")


@pytest.mark.parametrize(
    ("forces", "words"),
    [
        (muscle("m", point("o", "humerus", "0 -0.1 0.05", "ConditionalPathPoint") + FORE), "a ConditionalPathPoint"),
        (muscle("m", point("o", "humerus", "0 -0.1 0.05", "MovingPathPoint") + FORE), "a MovingPathPoint"),
        (muscle("m", osim_arm.FLEXOR, wrap("egg")), "'egg' is a WrapEllipsoid"),
        (muscle("m", osim_arm.FLEXOR, wrap("eg")), "'eg' is not there"),
        (muscle("m", point("o", "finger", "0 -0.1 0.05") + FORE), "on 'finger', which is no body"),
        (muscle("m", FORE + point("j", "forearm", "0.1 0 0")), "stays on one body"),
        (muscle("m", osim_arm.FLEXOR, kind="Schutte1993Muscle_Deprecated"), "force 'm' (Schutte1993"),
        ('<CoordinateLimitForce name="l"/>', "force 'l' (CoordinateLimitForce)"),
    ],
)
def test_forces_that_are_not_understood_are_named(load, forces, words):
    with pytest.warns(vi.LeftOutWarning, match=re.escape(words)) as told:
        mechanism = load(arm(forces=forces))
    assert len(told) == 1
    assert len(mechanism.forces) == 2
    (entry,) = mechanism.import_report.left_out
    assert words in entry.what
    assert entry in mechanism.import_report.not_understood
    with pytest.raises(vi.FileError, match=re.escape(words)):
        load(arm(forces=forces), strict=True)


def test_a_quadrant_that_is_none_is_named(load):
    with pytest.warns(vi.LeftOutWarning, match=r"arm\.osim', line \d+: muscle 'flexor'"):
        mechanism = load(arm().replace("<quadrant>x<", "<quadrant>w<"))
    assert "muscle 'flexor'" in mechanism.import_report.not_understood[0].what
    assert "quadrant of 'roll' must be all" in mechanism.import_report.not_understood[0].what
    assert [force.name for force in mechanism.forces] == ["biceps"]


def test_muscles_that_do_not_apply_or_have_no_dynamics(load):
    off = muscle("m", osim_arm.FLEXOR, more="<appliesForce>false</appliesForce>")
    assert len(load(arm(forces=off)).forces) == 2
    once = muscle("m", osim_arm.FLEXOR, more="<ignore_activation_dynamics>true</ignore_activation_dynamics>")
    assert load(arm(forces=once)).force("m").activation_times == ()
    for kind, times in (("Millard2012EquilibriumMuscle", (0.01, 0.04)), ("DeGrooteFregly2016Muscle", (0.015, 0.06))):
        assert load(arm(forces=muscle("m", osim_arm.FLEXOR, kind=kind))).force("m").activation_times == times


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (arm().replace("40000", "30000"), "a file of OpenSim 4 is needed, this is of version 30000"),
        (arm(joints=hand_on(SPLINE), bodies=HAND), "'rotation1' of joint 'wrist' is a SimmSpline"),
        (arm(joints=plain("EllipsoidJoint", {}), bodies=HAND), "joint 'wrist' is a EllipsoidJoint, which is not read"),
        (arm(joints=plain("PinJoint", {}), bodies=HAND), "needs 1 coordinates, has 0"),
        (arm(bodies=HAND), "no joint leads to the bodies"),
        (arm(joints=plain("PinJoint", {"a": 0.0})), "on a body 'hand', which is not there"),
        (arm(joints=plain("PinJoint", {"a": 0.0}).replace("/bodyset/hand", "/bodyset/humerus")), "closes a loop"),
        (arm().replace("0.1 0 1</axis>", "0 0 0</axis>"), "an axis of joint 'shoulder' is zero"),
    ],
)
def test_models_that_are_refused(load, text, words):
    with pytest.raises(vi.VarintError, match=words):
        load(text)


def test_constants_move_frames(load):
    """A constant translation along x is where the hand is."""
    turn = axis("rotation1", "0 0 1", LINEAR.format(1, 0.5), "bend")
    slide = axis("translation1", "1 0 0", CONSTANT.format(0.02))
    joints = custom("wrist", "forearm", "hand", "0 -0.3 0", "bend", turn, slide)
    mechanism = load(arm(joints=joints.replace("<default_value>0.2", "<default_value>0.0"), bodies=HAND))
    state = mechanism.state()
    k, h = mechanism.body_index["forearm"], mechanism.body_index["hand"]
    F = rotation_matrix(state.quat_wxyz[k])
    origin = state.position[k] - F @ [0, -0.18, 0.01] + F @ [0.02, -0.3, 0]
    assert state.position[h] == pytest.approx(origin + F @ turned((Z, 0.5)) @ [0, -0.05, 0], abs=1e-12)
