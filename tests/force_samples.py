"""Forces along coordinates and between points, for tests."""

import dataclasses

import numpy as np
from random_mechanisms import random_closed

import varint as vi
from varint.analysis.forces import forces_at
from varint.model.forces import FORCES
from varint.model.forces.base import coordinate_measure
from varint.model.forces.spring import BetweenPoints

PARAMETERS = {
    "TorsionSpring": {"stiffness": 3.0, "rest_angle": 0.4, "damping": 0.2},
    "JointDamper": {"damping": 0.3},
    "JointFriction": {"effort": 0.5, "smoothing": 0.2},
    "JointStop": {"lower": -0.3, "upper": -0.05, "stiffness": 40.0, "damping": 0.1},
    "Motor": {"effort": 0.7},
    "JointServo": {"target": 0.3, "stiffness": 5.0, "damping": 0.4},
    "VelocityMotor": {"speed": 0.4, "max_effort": 0.6, "smoothing": 0.3},
    "Spring": {"stiffness": 30.0, "damping": 0.2},
    "Cable": {"stiffness": 30.0, "damping": 0.2},
}
KINDS = tuple(PARAMETERS)  # along coordinates and between points; the others: test_more_forces.py
NO_TABLE = np.zeros((0, 6))
CONSERVATIVE = ("TorsionSpring", "JointStop", "Spring", "Cable")


def with_forces(mechanism, *forces):
    return dataclasses.replace(mechanism, forces=forces)


def gauged(mechanism):
    """(joint name, coordinate) wherever a force along a coordinate can act."""
    return [
        (joint.name, k)
        for joint in mechanism.joints
        for k in range(joint.dof)
        if coordinate_measure(joint, k, *mechanism.anchors(joint))
    ]


def random_force(rng, kind, name, mechanism, **parameters):
    """A force of type ``kind`` between random points or along a random coordinate of ``mechanism``."""
    parameters = PARAMETERS[kind] | parameters
    if issubclass(FORCES[kind], BetweenPoints):
        ends = rng.choice([*mechanism.body_index, "world"], 2, replace=False)
        a, b = ((mechanism.body(end).position if end != "world" else 0.0) + rng.standard_normal(3) for end in ends)
        rest = {"rest_length": rng.uniform(0.5, 0.9) * np.linalg.norm(b - a)}
        return FORCES[kind](name, *map(str, ends), point_a=a, point_b=b, **rest | parameters)
    joint, coordinate = gauged(mechanism)[rng.integers(len(gauged(mechanism)))]
    return FORCES[kind](name, joint=joint, coordinate=coordinate, **parameters)


def one_of_each(rng, mechanism, names=KINDS, **parameters):
    return with_forces(
        mechanism, *(random_force(rng, kind, f"f{k}", mechanism, **parameters) for k, kind in enumerate(names))
    )


def forces_of(mechanism, state, command=None):
    """`forces_at` of one state."""
    arrays = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
    command = np.zeros(len(mechanism.forces)) if command is None else command
    return forces_at(mechanism, *(array[None] for array in arrays), command[None])


def coupled_everywhere(rng, **parameters):
    """Random mechanism with loops whose gauges have rows in tree joints and in closures, and blocks of their own."""
    mechanism = random_closed(rng, 8, 2, kinds=("Spherical", "Universal", "Cylindrical"))
    names = ["TorsionSpring"] * 5 + ["Spring"] * 6 + ["TorsionSpring"] * 5
    mechanism = one_of_each(rng, mechanism, names, **parameters)
    tree = mechanism.bodies[0].position, mechanism.joints[0].point
    ends = {"point_a": tree[0], "point_b": tree[1] + 1.0}
    world = vi.Spring("to the world", "b0", "world", **ends, **PARAMETERS["Spring"] | parameters)
    return with_forces(mechanism, *mechanism.forces, world)
