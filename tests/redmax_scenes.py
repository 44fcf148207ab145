"""Scenes of the reference implementation of REDMAX (tests/data/redmax_scenes.json) as mechanisms. Units: cm, g, s."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.linalg import expm, logm

import varint as vi
from varint.model.rotation import quat_from_matrix

SCENES = json.loads((Path(__file__).parent / "data" / "redmax_scenes.json").read_text())["scenes"]


def scene(suite, number):
    return next(s for s in SCENES if (s["suite"], s["id"]) == (suite, number))


def build(given, more=()):
    """The mechanism of a scene, with ``more`` forces, at q = 0, and its start as a ReducedState."""
    bodies, joints, forces, start = [], [], [], {}
    frames, poses = {None: np.eye(4)}, {None: np.eye(4)}
    for i, (joint, body) in enumerate(zip(given["joints"], given["bodies"], strict=True)):
        parent = joint["parent"]
        W = frames[i] = frames[parent] @ np.array(joint["rest_transform"], dtype=float)
        if joint["type"] == "spline_curve":
            frames[i] = W @ _spline_start(joint["control_frames"])
        X = poses[i] = frames[i] @ np.array(body["transform_in_joint"], dtype=float)
        bodies.append(
            vi.Body(
                f"b{i}", mass=body["mass"], inertia=np.diag(body["inertia_principal"]), position=X[:3, 3],
                quat_wxyz=quat_from_matrix(X[:3, :3]),
            )
        )  # fmt: skip
        ends = "world" if parent is None else f"b{parent}", f"b{i}"
        made, to_q = _joint(joint, f"j{i}", ends, W)
        joints.append(made)
        start[made.name] = to_q @ np.reshape([joint["q"], joint["qdot"]], (2, -1)).T
        if body.get("damping"):
            forces.append(vi.BodyDamper(f"drag {i}", f"b{i}", linear=body["damping"], angular=body["damping"]))
        if "limits" in joint:
            forces.append(_limits(f"limits {i}", made.name, **joint["limits"]))
        if joint["stiffness"] or joint["damping"]:
            spring = {"stiffness": joint["stiffness"], "damping": joint["damping"], "rest_angle": joint["q"][0]}
            forces.append(vi.TorsionSpring(f"torsion {i}", joint=made.name, **spring))
    for k, loop in enumerate(given.get("constraints", ())):
        if loop["type"] == "q_multiple":
            ends = {"joint_a": f"j{loop['joint_a']}", "joint_b": f"j{loop['joint_b']}"}
            forces.append(vi.Equality(f"equality {k}", **ends, factor=loop["factor"]))
            continue
        a, b = loop["body_a"], loop["body_b"]
        points = [(poses[body] @ [*x, 1.0])[:3] for body, x in ((a, loop["x_a"]), (b, loop["x_b"]))]
        axis = frames[a][:3, :3] @ given["joints"][a]["axis"]
        if all(given["joints"][i]["type"] == "fixed" for i in _chain(given, b)):
            # the reference leaves out that the rows' directions turn with a: exact where they do not
            a, b, points = b, a, points[::-1]
        joints.append(vi.PointOnLine(f"loop {k}", f"b{a}", f"b{b}", point=points[0], point_b=points[1], axis=axis))
    forces += [*more, *(_spring(spring, f"spring {k}", poses) for k, spring in enumerate(given.get("springs", ())))]
    mechanism = vi.Mechanism(given["name"], bodies, joints, gravity=given["gravity"], forces=forces)
    columns = vi.redmax.coordinates(mechanism)
    q, qdot = np.concatenate([start[name] for name in columns] or [np.zeros((0, 2))]).T
    return mechanism, vi.redmax.ReducedState(q, qdot)


def _chain(given, body):
    """The body and those between it and the world."""
    while body is not None:
        yield body
        body = given["joints"][body]["parent"]


def _spring(spring, name, poses):
    """The force of a spring of the scene; ``poses``: of the bodies."""

    def place(body, x):
        return (poses[body] @ [*x, 1.0])[:3]

    if spring["type"] == "constant_world_force":
        size, point = np.linalg.norm(spring["force"]), place(spring["body"], spring["x"])
        direction = np.array(spring["force"]) / size
        return vi.PointForce(name, f"b{spring['body']}", direction=direction, magnitude=size, point=point)
    ends = [spring["body_1"], spring["body_2"]]
    points = [place(body, x) for body, x in zip(ends, (spring["x_1"], spring["x_2"]), strict=True)]
    names = ["world" if body is None else f"b{body}" for body in ends]
    length, stiffness, damping = 0.0, spring["stiffness"], spring.get("damping", 0.0)
    if spring["type"] == "spring_damper_strain":
        length = np.linalg.norm(points[1] - points[0])
        stiffness, damping = stiffness / length, damping / length
    return vi.Spring(
        name, *names, point_a=points[0], point_b=points[1], stiffness=stiffness, damping=damping, rest_length=length
    )


def _limits(name, joint, lower, upper, stiffness, damping):
    """Springs and dampers beyond the limits; unlike a `JointStop` they pull as well as push."""

    def beyond(value):
        return value - upper if value > upper else value - lower if value < lower else 0.0

    def law(value, rate):
        if lower <= value <= upper:
            return 0.0, 0.0, 0.0
        over = value - (upper if value > upper else lower)
        return -stiffness * over - damping * rate, -stiffness, -damping

    return vi.UserJointForce(name, joint=joint, law=law, potential=lambda value: 0.5 * stiffness * beyond(value) ** 2)


def _joint(joint, name, ends, W):
    """The joint, and the matrix that takes the scene's coordinates to its own."""
    R, point, kind = W[:3, :3], W[:3, 3], joint["type"]
    if kind == "fixed":
        return vi.Fixed(name, *ends), np.eye(0)
    if kind in ("revolute", "prismatic"):
        made = vi.Revolute if kind == "revolute" else vi.Prismatic
        return made(name, *ends, point=point, axis=R @ joint["axis"]), np.eye(1)
    if kind == "composite":
        parts = [{"type": part["type"].capitalize(), "axis": R @ part["axis"]} for part in joint["parts"]]
        return vi.Composite(name, *ends, point=point, parts=parts), np.eye(2)
    if kind == "spline_curve":
        turned = np.array(joint["control_frames"], dtype=float)
        turned[:, :3] = R @ turned[:, :3]
        return vi.SplineCurve(name, *ends, point=point, frames=turned), np.eye(1)
    if kind == "universal_xy":
        return vi.Universal(name, *ends, point=point, axis=R[:, 0], axis_b=R[:, 1]), np.eye(2)
    if kind == "spherical_exp":
        return vi.Spherical(name, *ends, point=point), R
    if kind == "free3d_trans_rot":
        return vi.Free(name, *ends, point=point), np.kron(np.eye(2), R)
    made = (vi.Planar if kind == "planar_xy" else vi.Free2D)(name, *ends, point=point, axis=R[:, 2])
    to_frame = made.frame.T @ R
    return made, to_frame[:2, :2] if kind == "planar_xy" else to_frame


def _spline_start(frames):
    """The pose of a spline of frames at zero, by the formula of the file's description."""
    frames = np.array(frames, dtype=float)
    steps = [logm(np.linalg.inv(a) @ b).real for a, b in pairwise(frames)]
    return frames[0] @ expm(steps[0] * 5 / 6) @ expm(steps[1] / 6)


def run(given, integrator, mechanism, start, every=10):
    """The scene's run by ``integrator``, recorded at each ``every``-th step."""
    figures = given["runs"][integrator]
    h, steps = figures["h"], figures["nsteps"]
    return vi.redmax.simulate(
        mechanism, h * (steps + 0.5), dt=h, state=start, integrator=integrator, every=every,
        baumgarte=figures.get("b3", 0.0),
    )  # fmt: skip


def energy(run):
    """H of the scenes: kinetic energy at the end plus the change of the potential."""
    return run.kinetic[-1] + run.potential[-1] - run.potential[0]
