"""Every joint, body a the parent and body a the child, written in every format and read again: the same motion."""

import dataclasses

import numpy as np
import pytest
from random_mechanisms import random_body, random_joint

import varint as vi
from varint.files.formats import FORMATS
from varint.model.joints import REGISTRY
from varint.model.motion import Slide
from varint.model.rotation_vectors import rotation_matrix

SAME = 1e-9  # m, m/s, rad/s: over the motion; the start agrees to 1e-12
WRITTEN = tuple(suffix for suffix, format_ in FORMATS.items() if format_.save and suffix != ".mjcf")  # as .xml
NOT_IN_MJCF = ("Helical", "Rod", "SplineCurve", "SplineSurface")
FIRST = pytest.mark.parametrize("first", [True, False], ids=["body_a_parent", "body_a_child"])
KINDS = pytest.mark.parametrize("kind", tuple(REGISTRY))


def described(kind, first, parent="base", seed=3):
    """Three bodies in a row, the joint in the middle; no coordinate or rate of the start is zero."""
    rng = np.random.default_rng(seed)
    bodies = [random_body(rng, name, 0.3) for name in ("base", "link", "tip")]
    ends = (parent, "link") if first else ("link", parent)
    joints = [
        random_joint(rng, one, name, *pair, 0.3 * rng.standard_normal(3))
        for one, name, pair in (
            ("Revolute", "stand", ("world", "base")),
            (kind, "joint", ends),
            ("Revolute", "hand", ("tip", "link")),
        )
    ]
    start = {"coordinates": {}, "rates": {}}
    for joint in joints:
        for key, low, high in (("coordinates", 0.2, 0.5), ("rates", 0.3, 1.0)):
            values = rng.uniform(low, high, joint.dof) * rng.choice([-1, 1], joint.dof)
            if joint.dof:
                start[key][joint.name] = values + (getattr(joint, "at", 0.0) if key == "coordinates" else 0.0)
    return vi.Mechanism("described", bodies, joints, start=start)


def read_again(given, folder, suffix):
    """The mechanism of a written file; of a URDF that of the TOML file beside it, where there is one."""
    path = folder / f"m{suffix}"
    vi.save_mechanism(given, path)
    beside = path.with_suffix(".toml")
    return vi.load_mechanism(beside if beside.exists() else path, strict=True)


def motion(mechanism):
    """Name of a body to its positions, velocities and angular velocities over 0.3 s, (4, 3, 3)."""
    times = vi.Recording(output_times=np.linspace(0.0, 0.3, 4))
    run = vi.simulate(vi.Problem(mechanism, 0.3), vi.Reduced("dop853", rtol=1e-12), times)
    spin = np.einsum("tnij,tnj->tni", rotation_matrix(run.quat_wxyz), run.angular_velocity)
    moved = np.stack([run.position, run.velocity, spin], axis=2)
    return {name: moved[:, row] for name, row in mechanism.body_index.items()}


def check_same_motion(given, read, moved=None):
    """Bodies that are bodies of both move alike; a body that is fixed to another is part of that one in MJCF.

    ``moved``: `motion` of ``given``, where it is known.
    """
    alike = [
        body.name
        for body in given.bodies
        if body.name in read.body_index and np.allclose(read.body(body.name).position, body.position, atol=1e-9)
    ]
    assert alike
    moved, again = moved or motion(given), motion(read)
    for name in alike:
        np.testing.assert_allclose(again[name][0], moved[name][0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(again[name], moved[name], rtol=0, atol=SAME)


@pytest.mark.many
@pytest.mark.slow
@FIRST
@KINDS
@pytest.mark.parametrize("parent", ["base", "world"])
def test_every_joint_in_every_format(kind, first, parent, tmp_path):
    given = described(kind, first, parent)
    moved = motion(given)
    for suffix in WRITTEN:
        folder = tmp_path / suffix[1:]
        folder.mkdir()
        if suffix == ".xml":
            pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
            if kind in NOT_IN_MJCF:
                with pytest.raises(vi.FileError, match=f"MJCF does not hold joint 'joint', a {kind}"):
                    vi.save_mechanism(given, folder / "m.xml")
                continue
        check_same_motion(given, read_again(given, folder, suffix), moved)


@pytest.mark.many
@pytest.mark.slow
@FIRST
@pytest.mark.parametrize("kind", [kind for kind in REGISTRY if kind not in (*NOT_IN_MJCF, "Fixed", "Free")])
def test_efforts_along_every_hinge_and_slide_in_mjcf(kind, first, tmp_path):
    """The effort acts along the coordinate that it names, wherever the joint's motions are in the file."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    given = described(kind, first)
    joint = given.joint("joint")
    singles = [number for number, one in enumerate(joint.allowed) if one.size == 1]  # a ball comes last
    forces = [
        vi.TorsionSpring(f"spring {k}", joint="joint", coordinate=k, stiffness=20.0 + k, rest_angle=0.3, damping=0.4)
        for k in singles
    ]
    forces += [vi.Motor(f"motor {k}", joint="joint", coordinate=k, effort=1.0 + k) for k in singles]
    if not singles:
        forces = [vi.TorsionSpring("spring", joint="joint", stiffness=3.0)]
        with pytest.raises(vi.FileError, match="force 'spring', a TorsionSpring on a joint that has no such hinge"):
            vi.save_mechanism(dataclasses.replace(given, forces=forces), tmp_path / "m.xml")
        return
    given = dataclasses.replace(given, forces=forces)
    check_same_motion(given, read_again(given, tmp_path, ".xml"))


@pytest.mark.slow
@FIRST
def test_a_ball_between_two_turns_is_refused_in_mjcf(first, tmp_path):
    """MuJoCo turns nothing after a ball: such a joint is held where the ball is the last turn from the parent."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    turn, ball = {"type": "Revolute", "axis": (0, 0, 1), "point": (0.1, 0, 0)}, {"type": "Spherical"}
    given = described("Revolute", first)
    ends = given.joint("joint").body_a, given.joint("joint").body_b
    for parts in ([turn, ball], [ball, turn]):
        joint = vi.Composite("joint", *ends, point=(0.1, 0.2, 0.3), parts=parts)
        start = {"coordinates": {"joint": [0.3, -0.2, 0.4, 0.1]}, "rates": {"joint": [0.5, -0.4, 0.3, 0.6]}}
        made = vi.Mechanism("m", given.bodies, [given.joints[0], joint, given.joints[2]], start=start)
        if (parts[0] is ball) == first:
            with pytest.raises(vi.FileError, match="joint 'joint', a Composite that turns after a ball"):
                vi.save_mechanism(made, tmp_path / "m.xml")
        else:
            check_same_motion(made, read_again(made, tmp_path, ".xml"))


@pytest.mark.many
@pytest.mark.slow
@FIRST
@pytest.mark.parametrize(
    "kind",
    ["Prismatic", "Cylindrical", "Planar", "PlanarTranslation", "Translational", "PointOnLine", "PointOnPlane", "Free"],
)
def test_anchors_apart_along_slides(kind, first, tmp_path):
    """Coordinates are not zero in the reference configuration there."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    given = described(kind, first, "world")
    joint = given.joint("joint")
    slides = [one.axis for one in joint.allowed if isinstance(one, Slide)]
    apart = dataclasses.replace(joint, point_b=joint.point + joint.frame[:, slides] @ [0.2, -0.1, 0.3][: len(slides)])
    given = dataclasses.replace(given, joints=[given.joints[0], apart, given.joints[2]])
    moved = motion(given)
    for suffix in (".urdf", ".xml"):
        check_same_motion(given, read_again(given, tmp_path, suffix), moved)


@pytest.mark.slow
@FIRST
def test_anchors_apart_in_the_tree_are_refused_in_mjcf(first, tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    given = described("Universal", first)
    joint = dataclasses.replace(given.joint("joint"), point_b=given.joint("joint").point + [0.1, 0.0, 0.0])
    given = vi.Mechanism("open", given.bodies, [given.joints[0], joint, given.joints[2]])
    with pytest.raises(vi.FileError, match="joint 'joint', whose point and point_b are apart"):
        vi.save_mechanism(given, tmp_path / "m.xml")
