"""Scenes of the reference implementation of REDMAX with their figures: energies, final poses, an adjoint's gradients.

Its presets 0 to 35 are mechanisms of the catalogue (mechanisms/redmax_*.py), in SI units. The others, most of its
differentiable form, are described in tests/data/redmax_scenes.json and built here in its units: cm, g, s.
"""

import json
from pathlib import Path

import numpy as np

import varint as vi
from varint.model.rotation_vectors import quat_from_matrix

SCENES = json.loads((Path(__file__).parent / "data" / "redmax_scenes.json").read_text())["scenes"]


def scene(suite, number):
    return next(s for s in SCENES if (s["suite"], s["id"]) == (suite, number))


def of_catalogue(given):
    """The name of the scene in the catalogue; None where it is not there."""
    return f"redmax_{given['id']:02d}" if given["suite"] == "matlab" and given["id"] >= 0 else None


def mechanism_of(given):
    """The mechanism of a scene, its start (None: its own), and cm and erg in its units."""
    name = of_catalogue(given)
    return (getattr(vi.mechanisms, name)(), None, 1e-2, 1e-7) if name else (*build(given), 1.0, 1.0)


def build(given, more=()):
    """The mechanism of a scene that is described in the file, with ``more`` forces, at q = 0, and its start."""
    bodies, joints, forces, start = [], [], [], {}
    frames, poses = {None: np.eye(4)}, {None: np.eye(4)}
    for i, (joint, body) in enumerate(zip(given["joints"], given["bodies"], strict=True)):
        parent = joint["parent"]
        W = frames[i] = frames[parent] @ np.array(joint["rest_transform"], dtype=float)
        X = poses[i] = W @ np.array(body["transform_in_joint"], dtype=float)
        bodies.append(
            vi.Body(
                f"b{i}", mass=body["mass"], inertia=np.diag(body["inertia_principal"]), position=X[:3, 3],
                quat_wxyz=quat_from_matrix(X[:3, :3]),
            )
        )  # fmt: skip
        made, to_q = _joint(joint, f"j{i}", ("world" if parent is None else f"b{parent}", f"b{i}"), W)
        joints.append(made)
        start[made.name] = to_q @ np.reshape([joint["q"], joint["qdot"]], (2, -1)).T
        if "limits" in joint:
            forces.append(_limits(f"limits {i}", made.name, **joint["limits"]))
        if joint["stiffness"] or joint["damping"]:
            spring = {"stiffness": joint["stiffness"], "damping": joint["damping"], "rest_angle": joint["q"][0]}
            forces.append(vi.TorsionSpring(f"torsion {i}", joint=made.name, **spring))
    forces += [*more, *(_spring(spring, f"spring {k}", poses) for k, spring in enumerate(given.get("springs", ())))]
    mechanism = vi.Mechanism(given["name"], bodies, joints, gravity=given["gravity"], forces=forces)
    columns = vi.redmax.coordinates(mechanism)
    q, qdot = np.concatenate([start[name] for name in columns]).T
    return mechanism, vi.redmax.ReducedState(q, qdot)


def _spring(spring, name, poses):
    """The force of a spring of the scene; ``poses``: of the bodies."""
    ends = [spring["body_1"], spring["body_2"]]
    points = [(poses[body] @ [*x, 1.0])[:3] for body, x in zip(ends, (spring["x_1"], spring["x_2"]), strict=True)]
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
    if kind == "revolute":
        return vi.Revolute(name, *ends, point=point, axis=R @ joint["axis"]), np.eye(1)
    if kind == "universal_xy":
        return vi.Universal(name, *ends, point=point, axis=R[:, 0], axis_b=R[:, 1]), np.eye(2)
    made = (vi.PlanarTranslation if kind == "planar_xy" else vi.Planar)(name, *ends, point=point, axis=R[:, 2])
    to_frame = made.frame.T @ R
    return made, to_frame[:2, :2] if kind == "planar_xy" else to_frame


def energy(run):
    """H of the scenes: kinetic energy at the end plus the change of the potential."""
    return run.kinetic[-1] + run.potential[-1] - run.potential[0]
